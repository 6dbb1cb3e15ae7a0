//! Studies whose workloads use PostgreSQL.

use rustix::process::{Signal, geteuid};
use serde_json::Value;
use tolok_lab::toolbox::Toolbox;
use tolok_testkit::require;

use crate::databases::{assert_blames_the_database, place, run, servers, struck_under_load};
use crate::place::{assert_all_gone, assert_done, my_turn};

fn are_ready(programs: &[&str]) -> bool {
    let toolbox = Toolbox::open_default().unwrap();
    programs.iter().all(|name| toolbox.detect(name).unwrap().ready().is_some())
}

/// Skips a test, with a message, if there is no PostgreSQL.
macro_rules! require_postgres {
    () => {
        require!(are_ready(&["postgres", "go"]), "there is no PostgreSQL; `tolok setup postgres` fetches it")
    };
}

#[test]
fn a_trial_with_postgresql_records_what_it_did_beside_one_with_mariadb() {
    require_postgres!();
    require!(are_ready(&["mariadb", "node", "mysql2", "pg"]), "MariaDB, Node.js, mysql2 or pg is missing");
    let _turn = my_turn();
    let place = place(
        "['go/nethttp', 'go/nethttp:prepared', 'node/http', 'php/swoole']",
        "['rows?limit=1000', 'query']",
        "vus = 8, duration = '1s', warmup = '300ms'",
        "database = { engine = ['mariadb', 'postgres'], pool = 4 }",
    );
    let (said, records) = run(&place, &[]);
    assert_done(said.code, &said.progress);
    let with_postgres = |record: &&Value| record["case"].as_str().unwrap().contains("postgres");
    assert_eq!(records.iter().filter(with_postgres).count(), 6, "{}", said.progress);
    for record in records.iter().filter(with_postgres) {
        let outcome = &record["outcome"];
        let database = &outcome["database"];
        assert!(database["version"].as_str().unwrap().starts_with(char::is_numeric), "{database}");
        let good = outcome["ledger"]["good"].as_u64().unwrap();
        // Without pg_stat_statements in its package, the number of statements is unknown.
        if let Some(queries) = database["queries"].as_u64() {
            // The borders of the window are between two readings.
            assert!(good > 0 && (0.8..1.25).contains(&(queries as f64 / good as f64)), "{good} answers, {database}");
            assert!(database["rows_sent"].as_u64().unwrap() >= queries / 2, "{database}");
        }
        assert!((1..=4).contains(&database["connections_max"].as_u64().unwrap()), "a pool of 4: {database}");
        assert!(database["running_mean"].as_f64().unwrap() <= 4.0, "{database}");
        assert!(database["resources"]["cpu_s"].as_f64().unwrap() > 0.0, "{database}");
    }
    let left_out = "left out: php/swoole: for workloads that ask a database, it has no driver for PostgreSQL";
    assert!(!are_ready(&["swoole", "swoole_mysql"]) || said.progress.contains(left_out), "{}", said.progress);
}

#[test]
fn the_way_to_a_postgresql_takes_its_time() {
    require_postgres!();
    require!(geteuid().is_root(), "links are tried as root here; other users have tests of their own");
    let _turn = my_turn();
    let load = "vus = 4, duration = '1s', warmup = '300ms'";
    let environment = "database = { engine = 'postgres', pool = 4, rtt = '40ms', memory = '512MiB' }";
    let place = place("['go/nethttp', 'go/nethttp:prepared']", "'query'", load, environment);
    let (said, records) = run(&place, &[]);
    assert_done(said.code, &said.progress);
    for record in &records {
        let median = record["outcome"]["latency"]["percentiles"][0]["latency_s"].as_f64().unwrap();
        assert!((0.04..0.08).contains(&median), "one round trip: {median} in {}", record["case"]);
    }
}

#[test]
fn an_outage_of_postgresql_ends_and_the_subject_recovers() {
    require_postgres!();
    let _turn = my_turn();
    let load = "vus = 4, duration = '6s', warmup = '200ms', timeout = '5s'";
    let environment = "database = { engine = 'postgres', pool = 4, outage = { at = '1s', for = '500ms' } }";
    let (said, records) = run(&place("['go/nethttp']", "'query'", load, environment), &[]);
    assert!(!records.is_empty(), "{}", said.progress);
    let outage = &records[0]["outcome"]["database"]["outage"];
    let moment = |name: &str| outage[name].as_f64().unwrap_or_else(|| panic!("no {name} in {outage}"));
    assert!(moment("began_s") >= 1.0 && moment("ended_s") >= moment("began_s") + 0.5, "{outage}");
    assert!(moment("recovered_s") >= moment("ended_s"), "{outage}");
    assert_eq!(outage["error_status"], 503, "{outage}");
    assert!(moment("longest_silence_s") < 5.0, "{outage}");
}

#[test]
fn a_postgresql_that_dies_under_load_is_to_blame_and_nothing_of_it_is_left() {
    require_postgres!();
    let _turn = my_turn();
    let load = "vus = 4, duration = '20s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { engine = 'postgres', pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::KILL).finish();
    assert_blames_the_database(&place, (code, &said), "the database ended with signal 9");
    assert!(servers(&place).is_empty());
}

#[test]
fn a_run_that_is_stopped_leaves_no_postgresql() {
    require_postgres!();
    let _turn = my_turn();
    let load = "vus = 4, duration = '600s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { engine = 'postgres', pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::STOP).stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert_all_gone(|| place.processes());
    assert!(servers(&place).is_empty(), "a stopped server is killed as well");
}
