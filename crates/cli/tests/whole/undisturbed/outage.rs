//! An outage of the database: when it begins, when it ends, and when the server recovers.

use tolok_testkit::require;

use crate::databases::{place, require_mariadb, run};
use crate::place::my_turn;

#[test]
fn an_outage_is_asked_for_and_both_its_ends_are_recorded() {
    require_mariadb!();
    let _turn = my_turn();
    let place = place(
        "['go/nethttp']",
        "'query'",
        "vus = 4, duration = '6s', warmup = '200ms', timeout = '5s'",
        "database = { pool = 4, outage = { at = '1s', for = '500ms' } }",
    );
    let (said, records) = run(&place, &[]);
    assert!(!records.is_empty(), "{}", said.progress);
    let outage = &records[0]["outcome"]["database"]["outage"];
    let moment = |name: &str| outage[name].as_f64().unwrap_or_else(|| panic!("no {name} in {outage}"));
    assert!(moment("began_s") >= 1.0 && moment("ended_s") >= moment("began_s") + 0.5, "{outage}");
    assert!(moment("first_error_s") >= moment("began_s"), "{outage}");
    assert!(moment("recovered_s") >= moment("ended_s"), "{outage}");
    assert_eq!(outage["error_status"], 503, "{outage}");
    assert!(moment("longest_silence_s") < 5.0, "{outage}");
}
