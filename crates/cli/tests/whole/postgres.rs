//! Studies whose workloads use PostgreSQL.

use rustix::process::Signal;
use tolok_lab::toolbox::Toolbox;
use tolok_testkit::require;

use crate::databases::{assert_blames_the_database, place, run, servers, struck_under_load};
use crate::place::{assert_all_gone, shared_turn};

pub fn are_ready(programs: &[&str]) -> bool {
    let toolbox = Toolbox::open_default().unwrap();
    programs.iter().all(|name| toolbox.detect(name).unwrap().ready().is_some())
}

/// Skips a test, with a message, if there is no PostgreSQL.
macro_rules! require_postgres {
    () => {
        require!(
            $crate::postgres::are_ready(&["postgres", "go"]),
            "there is no PostgreSQL; `tolok setup postgres` fetches it"
        )
    };
}
pub(crate) use require_postgres;

#[test]
fn an_outage_of_postgresql_ends_and_the_subject_recovers() {
    require_postgres!();
    let _turn = shared_turn();
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
    let _turn = shared_turn();
    let load = "vus = 4, duration = '20s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { engine = 'postgres', pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::KILL).finish();
    assert_blames_the_database(&place, (code, &said), "the database ended with signal 9");
    assert!(servers(&place).is_empty());
}

#[test]
fn a_run_that_is_stopped_leaves_no_postgresql() {
    require_postgres!();
    let _turn = shared_turn();
    let load = "vus = 4, duration = '600s', warmup = '100ms'";
    let place = place("['go/nethttp']", "'query'", load, "database = { engine = 'postgres', pool = 4 }");
    let (said, code) = struck_under_load(&place, Signal::STOP).stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert_all_gone(|| place.processes());
    assert!(servers(&place).is_empty(), "a stopped server is killed as well");
}
