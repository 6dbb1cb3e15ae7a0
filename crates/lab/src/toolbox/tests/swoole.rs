//! Swoole's second build, whose coroutines wait for PostgreSQL.

use super::fetching::program_apt;
use super::*;

const PLAIN: &str = "echo 'Version => 6.2.2'";
const WITH_POSTGRES: &str = "echo 'Version => 6.2.2'; echo 'coroutine_pgsql => enabled'";
const WITHOUT_SWOOLE: &str = "echo \"Extension 'swoole' not present.\"; exit 1";

/// A PHP without pdo that does `said` for these arguments, and has no Swoole otherwise.
fn program_php(lab: &Lab, said: &[(String, &str)]) {
    let cases: Vec<String> = said.iter().map(|(arguments, said)| format!("'{arguments}') {said} ;;")).collect();
    let cases = cases.join("\n");
    lab.program(
        "bin/php",
        &format!("case \"$*\" in\n'-n -i') {PHP_INFO} ;;\n'-m') echo Core ;;\n{cases}\n*) {WITHOUT_SWOOLE} ;;\nesac"),
    );
}

/// The arguments that ask PHP about Swoole, with these files loaded.
fn question(files: &[&Path]) -> String {
    let load: Vec<String> = files.iter().map(|file| format!("-d extension={} ", file.display())).collect();
    format!("{}--ri swoole", load.concat())
}

/// A machine with the toolbox's Swoole.
fn lab_with_swoole() -> (Lab, String) {
    let lab = Lab::debian();
    lab.write("toolbox/swoole/swoole.so", "");
    let plain = question(&[&lab.path("toolbox/swoole/swoole.so")]);
    program_php(&lab, &[(plain.clone(), PLAIN)]);
    (lab, plain)
}

fn program_tools(lab: &Lab) {
    for name in ["phpize", "php-config", "c++", "strip"] {
        lab.program(&format!("bin/{name}"), "exit 0");
    }
    lab.program("bin/make", "mkdir modules && cat options > modules/swoole.so");
    lab.program(
        "bin/pecl",
        r#"mkdir swoole-6.2.2; printf '#!/bin/sh\necho "$@" > options\n' > swoole-6.2.2/configure
        chmod +x swoole-6.2.2/configure; touch swoole-6.2.2/config.m4; tar -czf swoole-6.2.2.tgz swoole-6.2.2"#,
    );
}

#[test]
fn swoole_without_its_second_build_is_ready_and_lacks_postgresql() {
    let (lab, plain) = lab_with_swoole();
    lab.program("bin/unshare", "exit 0");
    lab.ready("swoole");
    let (reason, remedy) = lab.missing("swoole_pgsql");
    assert!(reason.contains("toolbox/swoole/swoole.so 6.2.2 is here, built without PostgreSQL"), "{reason}");
    assert!(matches!(&remedy, Remedy::Fetch { program, .. } if program == "swoole_pgsql"), "{remedy}");

    let [pdo, second] = ["system/usr/lib/php/20220829/pdo.so", "toolbox/swoole/swoole_pgsql.so"];
    lab.write(pdo, "");
    lab.write(second, "");
    let (pdo, second) = (lab.path(pdo), lab.path(second));
    program_php(&lab, &[(plain.clone(), PLAIN), (question(&[&pdo, &second]), WITH_POSTGRES)]);
    let part = lab.ready("swoole_pgsql");
    assert_eq!((part.version.as_str(), &part.path), ("6.2.2", &second));
    assert_eq!([&part.extras["pdo"], &part.extras["extension"]], [pdo.to_str().unwrap(), second.to_str().unwrap()]);
    assert!(lab.ready("swoole").extras["extension"].ends_with("/swoole.so"), "other trials load the first build");

    program_php(&lab, &[(plain, PLAIN), (question(&[&pdo, &second]), "echo 'libpq.so.5: cannot open'; exit 1")]);
    assert!(lab.broken("swoole_pgsql").contains("libpq.so.5: cannot open"));
}

#[test]
fn a_users_own_swoole_counts_as_it_was_built() {
    let lab = Lab::debian();
    program_php(&lab, &[(question(&[]), WITH_POSTGRES)]);
    let part = lab.ready("swoole_pgsql");
    assert_eq!((part.path, part.extras["extension"].as_str()), (lab.path("bin/php"), ""), "PHP loads it by itself");

    program_php(&lab, &[(question(&[]), PLAIN)]);
    let (reason, remedy) = lab.missing("swoole_pgsql");
    assert!(reason.ends_with("bin/php was built without --enable-swoole-pgsql"), "{reason}");
    assert!(matches!(&remedy, Remedy::ByHand { command } if command.contains("TOLOK_SWOOLE_SO")), "{remedy}");

    lab.program("bin/unshare", "exit 0");
    let plan = lab.toolbox().plan(&["swoole_pgsql"]).unwrap();
    assert!(
        plan.steps.is_empty() && plan.by_hand[0].reason.ends_with("loads a Swoole that tolok did not build"),
        "{plan}"
    );
}

#[test]
fn the_second_build_needs_the_headers_of_libpq() {
    let (lab, _) = lab_with_swoole();
    program_tools(&lab);
    let reason = lab.missing("swoole_pgsql").0;
    assert!(reason.contains("this machine has no /usr/include/postgresql/libpq-fe.h"), "{reason}");

    lab.program("bin/unshare", "exit 0");
    let plan = lab.toolbox().plan(&["swoole_pgsql"]).unwrap();
    let [libraries, build] = plan.steps.as_slice() else { panic!("{plan}") };
    assert!(libraries.commands[1].ends_with("install php-pgsql"), "{plan}");
    assert!(build.optional && build.commands[1].ends_with(" zlib1g-dev libpq-dev"), "{plan}");

    let record = r#"{ "format_version": 1, "apt_asked": ["php-pgsql"], "apt": [], "npm": {}, "swoole": null }"#;
    lab.write("toolbox/installed.json", record);
    assert_eq!(lab.toolbox().plan(&["swoole_pgsql"]).unwrap().steps.len(), 1, "the libraries are here already");
}

#[test]
fn the_second_build_stands_beside_the_first() {
    let (lab, _) = lab_with_swoole();
    program_tools(&lab);
    program_apt(&lab);
    lab.write("system/usr/include/libpq-fe.h", "");
    let (outcome, _) = fetch(&lab.toolbox(), &["swoole_pgsql"]);
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert_eq!(entries(&lab.path("toolbox/swoole")), ["swoole.so", "swoole_pgsql.so"]);
    let options = fs::read_to_string(lab.path("toolbox/swoole/swoole_pgsql.so")).unwrap();
    assert!(options.starts_with("--enable-swoole-pgsql LIBPQ_CFLAGS="), "{options}");
    let record = fs::read_to_string(lab.path("toolbox/installed.json")).unwrap();
    assert!(record.contains(r#""swoole_pgsql": "swoole-6.2.2.tgz""#), "{record}");
}
