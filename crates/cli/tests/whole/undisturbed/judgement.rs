//! Verdicts on differences that are known because the servers are paced.

use std::fs;

use serde_json::Value;
use tolok_host::group::{Controller, Hierarchies};
use tolok_testkit::{require, skip, test_name};

use crate::place::{Place, Said, assert_done, my_turn};

/// A place with servers at these rates per second, and a study of them in windows of one second.
fn paced(rates: &[u32], study: &str) -> Place {
    let named = |rate: &u32| format!("'test/at-{rate}'");
    let subjects = rates.iter().map(named).collect::<Vec<_>>().join(", ");
    let add = |place: Place, rate: &u32| place.with_faulty(&format!("at-{rate}"), &format!("paced={rate}"));
    let place = rates.iter().fold(Place::new(), add);
    let text = format!(
        "title = 'Try'\nsubjects = [{subjects}]\nseed = 7\nceiling = false\nreruns = 0\n{study}\n[[scenario]]\n\
         workload = 'hello'\nload = {{ executor = 'constant-vus', vus = 16, duration = '1s', warmup = '100ms' }}\n"
    );
    fs::write(place.path().join("studies/try.toml"), text).unwrap();
    place
}

fn set_window(place: &Place, duration: &str) {
    let study = place.path().join("studies/try.toml");
    let text = fs::read_to_string(&study).unwrap().replace("duration = '1s'", &format!("duration = '{duration}'"));
    fs::write(&study, text).unwrap();
}

fn run(place: &Place) -> (Said, Value) {
    let said = place.tolok(&["run", "try"]);
    let text = fs::read_to_string(place.run_folder().join("report.json")).unwrap();
    (said, serde_json::from_str(&text).unwrap())
}

/// The comparison of two subjects: ratio, interval, and verdict.
fn compared(report: &Value, a: &str, b: &str) -> (f64, f64, f64, String) {
    let comparisons = report["scenarios"][0]["comparisons"].as_array().unwrap();
    let of = |pair: &Value| (pair["a"].as_str().unwrap() == a, pair["b"].as_str().unwrap() == b);
    let found = comparisons.iter().find(|pair| of(pair) == (true, true)).unwrap_or_else(|| panic!("{comparisons:?}"));
    let figure = |name: &str| found["ratio"][name].as_f64().unwrap();
    (figure("value"), figure("low"), figure("high"), found["verdict"].as_str().unwrap().to_owned())
}

#[test]
fn servers_that_are_slower_by_a_known_part_are_found_and_the_interval_holds_it() {
    let _turn = my_turn();
    let place = paced(&[2000, 1900, 1600], "blocks = 7");
    let (said, report) = run(&place);
    assert_done(said.code, &said.progress);
    let comparisons = report["scenarios"][0]["comparisons"].as_array().unwrap();
    if comparisons.len() < 3 || comparisons.iter().any(|pair| pair["blocks"].as_u64() < Some(5)) {
        // The report states this, and decides nothing.
        assert!(said.progress.contains("CPU busy, discarded"), "{}", said.progress);
        return skip(test_name!(), "its part on verdicts: others disturbed too many rounds");
    }
    for (slower, truth) in [(1900, 2000.0 / 1900.0), (1600, 2000.0 / 1600.0)] {
        let label = |rate: u32| format!("test/at-{rate}:default");
        let (ratio, low, high, verdict) = compared(&report, &label(2000), &label(slower));
        assert_eq!(verdict, "faster", "{ratio} ({low}-{high})");
        // A paced server deviates from its pace by the responses at the borders of a one-second window.
        assert!(low - 0.005 <= truth && truth <= high + 0.005, "{truth} in {low}-{high}?");
    }
    let noise = &report["scenarios"][0]["noise_floor"];
    assert!(noise["size"].as_f64().unwrap() < 0.03, "{noise}");
    let tiers: Vec<&str> =
        report["scenarios"][0]["cases"].as_array().unwrap().iter().map(|case| case["tier"].as_str().unwrap()).collect();
    assert_eq!(tiers, ["a", "b", "c"]);
}

#[test]
fn a_run_ends_by_its_own_rule_once_it_is_sure_enough() {
    let _turn = my_turn();
    let place = paced(&[2000, 1000], "blocks = { until = '60%', at-most = 9 }");
    set_window(&place, "300ms");
    let (said, report) = run(&place);
    assert_done(said.code, &said.progress);
    let blocks = place.records().iter().filter_map(|record| record["block"].as_u64()).max().unwrap();
    let is_settled = said.progress.contains(&format!("ended after {blocks} of at most 9 rounds"));
    // If other work disturbs the machine, the rule may never hold.
    assert!(is_settled || blocks == 9, "{}", said.progress);
    assert_eq!(report["trials_missing"], 0);
    assert!(report["run"]["stopping"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{report}");
    let again = place.tolok(&["resume", "latest"]);
    assert!(again.progress.contains("nothing is left to run"), "{}", again.progress);
}

#[test]
fn records_hold_the_window_second_by_second_and_by_what_it_can_be_checked() {
    let _turn = my_turn();
    let place = paced(&[500], "blocks = 1");
    set_window(&place, "2500ms");
    let (said, _) = run(&place);
    assert_done(said.code, &said.progress);
    let measured = &place.records()[0]["outcome"];
    let series = &measured["series"];
    for list in ["good", "failed", "latency_p50_s", "subject_cpu_s", "subject_memory_bytes"] {
        assert_eq!(series[list].as_array().map(Vec::len), Some(2), "{list}: {series}");
    }
    let good = series["good"].as_array().unwrap().iter().map(|good| good.as_f64().unwrap());
    assert!(good.clone().all(|good| (good - 500.0).abs() < 50.0), "{series}");
    assert!(series["subject_memory_bytes"][1].as_u64() > Some(100_000), "{series}");
    let checks = &measured["checks"];
    // Sixteen users, each waiting nearly all of the time.
    assert!((checks["in_flight_mean"].as_f64().unwrap() - 16.0).abs() < 0.5, "{checks}");
    assert_eq!(checks["body_check"], "exactly");
}

#[test]
fn a_generator_that_is_capped_is_named_as_what_limits() {
    require!(
        [Controller::Cpu, Controller::CpuSet].iter().all(|one| Hierarchies::find().usable().contains(one)),
        "no control group can limit CPUs here"
    );
    let _turn = my_turn();
    let place = Place::new().with_faulty("server", "none");
    let text = "title = 'Try'\nsubjects = ['test/server']\nblocks = 2\nseed = 7\nceiling = false\nreruns = 0\n[[scenario]]\n\
                workload = 'hello'\nload = { executor = 'constant-vus', vus = 16, duration = '2s', warmup = '200ms' }\n\
                [environment]\ngenerator = { cpus = 0.05, mode = 'quota' }\n";
    fs::write(place.path().join("studies/try.toml"), text).unwrap();
    let (said, report) = run(&place);
    let case = &report["scenarios"][0]["cases"][0];
    assert!(
        place.records()[0]["outcome"]["generator"]["throttling"]["throttled_periods"].as_u64() > Some(10),
        "{case}"
    );
    if case["trials_scored"].as_u64() == Some(0) {
        return skip(test_name!(), "its part on the bottleneck: others disturbed both trials");
    }
    assert_eq!(case["bottleneck"]["kind"], "generator", "{case}\n{}", said.progress);
    assert_eq!(case["ranked"], false, "{case}");
}
