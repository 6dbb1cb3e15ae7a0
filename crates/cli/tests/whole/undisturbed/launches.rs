//! Tests that check the slices of a launch one by one.

use rustix::process::{Signal, geteuid};
use tolok_testkit::require;

use crate::launches::{kill, loaded, loads, run, study, two};
use crate::place::{assert_all_gone, my_turn};

#[test]
fn a_launch_gives_every_case_a_record_whose_figures_can_be_made_again() {
    let _turn = my_turn();
    let place = two();
    let said = run(&place, "['test/one', 'test/other']");
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let records = place.records();
    assert_eq!(records.len(), 4, "{}", said.progress);
    for record in &records {
        let measured = &record["outcome"];
        assert_eq!(measured["kind"], "completed", "{record}");
        let slices = &measured["slices"];
        let rows = slices["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 4, "two rounds of two halves: {slices}");
        let sum = |of: &str| rows.iter().map(|row| row[of].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("good"), measured["ledger"]["good"].as_u64().unwrap());
        assert!(sum("good") > 0 && sum("whole_good") >= sum("good"));
        assert_eq!(slices["whole_good"], slices["sent"], "nothing failed: {slices}");
    }
    let whole = place.tolok(&["report", "-v"]).output;
    assert!(whole.contains("in slices of 20 ms"), "{}", whole);
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.output, verified.progress);
    assert_all_gone(|| place.processes());
}

#[test]
fn whoever_is_not_asked_stands_still() {
    require!(geteuid().is_root(), "only root has the kernel's freezer for sure");
    let _turn = my_turn();
    let place = two();
    let said = run(&place, "['test/one', 'test/other']");
    let records = place.records();
    for record in &records {
        let slices = &record["outcome"]["slices"];
        assert_eq!(slices["frozen"], true, "{}\n{record}", said.progress);
        let rows = slices["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["cpu_s"].as_f64().unwrap() > 0.0), "each slice has a bill: {slices}");
    }
}

#[test]
fn a_machine_that_stands_still_for_seconds_costs_a_slice_and_not_the_launch() {
    let _turn = my_turn();
    let place = two();
    study(&place, "['test/one', 'test/other']", 1, "1s");
    let started = loaded(&place, &["run", "try"]);
    let load = loads(&place)[0];
    kill(load, Signal::STOP);
    // Longer than any slice and than a request's time-out.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    kill(load, Signal::CONT);
    let (said, code) = started.finish();
    assert_eq!(code, Some(0), "{said}");
    let records = place.records();
    assert_eq!(records.len(), 4, "{said}");
    for record in &records {
        let slices = &record["outcome"]["slices"];
        let sum =
            ["whole_good", "whole_failed", "unanswered"].map(|of| slices[of].as_u64().unwrap()).iter().sum::<u64>();
        assert_eq!(slices["sent"].as_u64(), Some(sum), "every request has one outcome: {slices}");
        let rows = slices["rows"].as_array().unwrap();
        assert!(rows.iter().filter(|row| row["good"].as_u64() > Some(0)).count() >= rows.len() - 1, "{slices}");
    }
    assert_all_gone(|| place.processes());
}
