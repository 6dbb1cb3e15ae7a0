//! `tolok fidelity`, with real drivers and a real database.

use std::os::unix::fs::symlink;

use serde_json::Value;
use tolok_lab::toolbox::{ProgramState, Toolbox};
use tolok_testkit::require;

use crate::place::{Place, assert_all_gone, repository, shared_turn};

/// Whether all of these programs are installed.
fn are_ready(programs: &[&str]) -> bool {
    let toolbox = Toolbox::open_default().unwrap();
    programs.iter().all(|name| matches!(toolbox.detect(name), Ok(ProgramState::Ready(_))))
}

/// A driver's conversion of a type.
fn sentence<'a>(driver: &'a Value, column: &str) -> &'a str {
    let types = driver["types"].as_array().unwrap();
    types.iter().find(|verdict| verdict["column"] == column).unwrap()["sentence"].as_str().unwrap()
}

#[test]
fn two_drivers_tell_what_they_make_of_types_and_of_one_connection() {
    require!(are_ready(&["mariadb", "go", "node", "mysql2"]), "needs MariaDB, Go, Node.js and mysql2");
    let _turn = shared_turn();
    let place = Place::new();
    for runtime in ["go", "node"] {
        symlink(repository().join("subjects").join(runtime), place.path().join("subjects").join(runtime)).unwrap();
    }
    let asked = ["fidelity", "go/nethttp:encoder", "node/http", "--no-aborts", "--pool", "4"];
    let said = place.tolok(&[&asked[..], &["--format", "json"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.progress);
    assert!(said.progress.contains("asking go/nethttp:encoder …"), "{}", said.progress);
    assert_all_gone(|| place.processes());

    let report: Value = serde_json::from_str(&said.output).unwrap();
    assert!(report["database"].as_str().unwrap().contains("MariaDB"), "{report}");
    let [go, node] = report["drivers"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&go["subject"], &node["subject"]), (&"go/nethttp:encoder".into(), &"node/http:single".into()));
    // Go has 64-bit integers; JavaScript numbers are exact only to 53 bits.
    assert_eq!(sentence(go, "bigint_signed"), "a number, exact");
    assert_eq!(sentence(node, "bigint_signed"), "a number, rounded: 9007199254740993 became 9007199254740992");
    for driver in [go, node] {
        assert_eq!(sentence(driver, "int_"), "a number, exact");
        assert_eq!(driver["one_connection"]["outcome"], "one-after-the-other", "{driver}");
        let one = driver["one_connection"]["elapsed_s"].as_f64().unwrap();
        let two = driver["two_connections"]["elapsed_s"].as_f64().unwrap();
        assert!(two < one, "{two} s on two connections, {one} s on one");
        assert!(driver["aborts"].is_null() && driver["failure"].is_null(), "{driver}");
    }
}

#[test]
fn drivers_of_postgresql_tell_what_they_make_of_its_types() {
    require!(are_ready(&["postgres", "go", "node", "pg"]), "needs PostgreSQL, Go, Node.js and pg");
    let _turn = shared_turn();
    let place = Place::new();
    for runtime in ["go", "node"] {
        symlink(repository().join("subjects").join(runtime), place.path().join("subjects").join(runtime)).unwrap();
    }
    let asked = ["fidelity", "go/nethttp:encoder", "node/http", "--engine", "postgres", "--no-aborts", "--pool", "4"];
    let said = place.tolok(&[&asked[..], &["--format", "json"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.progress);
    assert_all_gone(|| place.processes());

    let report: Value = serde_json::from_str(&said.output).unwrap();
    assert!(report["database"].as_str().unwrap().starts_with("PostgreSQL 1"), "{report}");
    let [go, node] = report["drivers"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(sentence(go, "bigint_"), "a number, exact");
    assert_eq!(sentence(go, "numeric_"), "a string, exact");
    assert_eq!(sentence(node, "bigint_"), "a string, exact");
    assert_eq!(sentence(node, "bigints"), "an array of strings or an array, depending on the value");
    for driver in [go, node] {
        assert_eq!(sentence(driver, "uuid_"), "a string, exact");
        assert_eq!(driver["one_connection"]["outcome"], "one-after-the-other", "{driver}");
        assert!(driver["failure"].is_null(), "{driver}");
    }
}

#[test]
fn coroutines_of_swoole_wait_for_postgresql_side_by_side() {
    require!(are_ready(&["postgres", "swoole_pgsql"]), "needs PostgreSQL and swoole_pgsql");
    let _turn = shared_turn();
    let place = Place::new();
    symlink(repository().join("subjects/php"), place.path().join("subjects/php")).unwrap();
    let asked = ["fidelity", "php/swoole:base", "--engine", "postgres", "--no-aborts", "--pool", "8"];
    let said = place.tolok(&[&asked[..], &["--format", "json"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.progress);

    let report: Value = serde_json::from_str(&said.output).unwrap();
    let [swoole] = report["drivers"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(sentence(swoole, "bigint_"), "a number, exact");
    assert_eq!(sentence(swoole, "numeric_"), "a string, exact");
    assert_eq!(swoole["two_connections"]["outcome"], "side-by-side", "one worker, two coroutines: {swoole}");
    assert!(swoole["failure"].is_null(), "{swoole}");
}

#[test]
fn a_subject_that_fails_is_named_with_its_reason_and_is_no_good_end() {
    require!(are_ready(&["mariadb"]), "there is no MariaDB; `tolok setup mariadb` fetches it");
    let _turn = shared_turn();
    let text = "title = 'Gone'\nruntime = 'test'\nworkloads = ['fidelity']\n[[process]]\nname = 'server'\n\
                command = ['sh', '-c', 'echo no driver here; exit 3']\n";
    let place = Place::new().with_subject("gone", text);
    let said = place.tolok(&["fidelity"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(
        said.output.contains("test/gone:default: did not start: process server ended with exit code 3"),
        "{}",
        said.output
    );
    assert!(said.output.contains("no driver here"), "{}", said.output);
    assert_all_gone(|| place.processes());
}

#[test]
fn where_nobody_can_be_asked_the_code_says_so() {
    require!(are_ready(&["mariadb"]), "there is no MariaDB; `tolok setup mariadb` fetches it");
    let text = "title = 'Small'\nruntime = 'test'\nworkloads = ['hello']\n[[process]]\nname = 'server'\ncommand = ['server']\n";
    let said = Place::new().with_subject("small", text).tolok(&["fidelity"]);
    assert_eq!(said.code, Some(6), "{}", said.progress);
    assert!(said.progress.contains("no subject serves the workload `fidelity`"), "{}", said.progress);
}
