//! The arguments for h2load, and the interpretation of its outputs. `documented-…` was written after the source of that
//! version; the others were recorded by running it.

use tolok_model::{Executor, LoadProfile, Pool};

use super::*;
use crate::jobs::{
    called, closed, every_beginning_is_refused_or_says_the_same, failures, job, latency_s, refused, scenario,
    tool_output, understood,
};

const HELLO: &str = include_str!("../recorded/h2load/1.52.0-hello.txt");
const MIXED: &str = include_str!("../recorded/h2load/1.52.0-mixed.txt");
const RATE: &str = include_str!("../recorded/h2load/1.52.0-rate.txt");
const DROP: &str = include_str!("../recorded/h2load/1.52.0-drop.txt");
const REFUSED: &str = include_str!("../recorded/h2load/1.52.0-refused.txt");
const NUMBER: &str = include_str!("../recorded/h2load/1.52.0-number.txt");
const NUMBER_HANG: &str = include_str!("../recorded/h2load/1.52.0-number-hang.txt");
const NUMBER_DROP: &str = include_str!("../recorded/h2load/1.52.0-number-drop.txt");
const DOCUMENTED: &str = include_str!("../recorded/h2load/documented-1.70.0.txt");

fn at_a_rate() -> LoadProfile {
    let executor = Executor::ConstantArrivalRate { rate_rps: 402.0, arrivals: tolok_model::Arrivals::Uniform };
    LoadProfile { executor, pool: Some(Pool::Bounded(8)), ..closed() }
}

fn a_number(iterations: u64) -> LoadProfile {
    LoadProfile { executor: Executor::SharedIterations { vus: 9, iterations }, ..closed() }
}

#[test]
fn the_warm_up_is_a_run_of_its_own() {
    let (warm_up, counted) = called(&H2load, LoadProfile { duration_s: 1.5, warmup_s: 0.25, ..closed() });
    assert_eq!(counted, "--h1 -t 2 -c 8 -D 1500ms http://127.0.0.1:8080/hello");
    assert_eq!(warm_up.unwrap(), "--h1 -t 2 -c 8 -D 250ms http://127.0.0.1:8080/hello");
}

#[test]
fn a_rate_is_shared_by_the_connections() {
    assert_eq!(called(&H2load, at_a_rate()).1, "--h1 -t 2 -c 8 -D 2000ms --rps 50.25 http://127.0.0.1:8080/hello");
}

#[test]
fn a_number_of_requests_ends_with_the_timeout_if_need_be() {
    assert_eq!(called(&H2load, a_number(900)).1, "--h1 -t 2 -c 9 -n 900 -N 1000ms http://127.0.0.1:8080/hello");
    let few = called(&H2load, a_number(1)).1;
    assert_eq!(
        few, "--h1 -t 1 -c 1 -n 1 -N 1000ms http://127.0.0.1:8080/hello",
        "it refuses more clients than requests"
    );
}

#[test]
fn goodput_is_the_rate_that_it_prints() {
    let report = understood(&H2load, HELLO).unwrap();
    assert_eq!(report.ledger.good, 157_006);
    assert!((report.goodput_rps - 78_503.0).abs() < 1e-6, "{}", report.goodput_rps);
    assert!((report.window_s - 2.0).abs() < 1e-9, "the configured time, not 2.01 s: {}", report.window_s);
    assert_eq!((report.ledger.sent, report.ledger.in_flight_at_end), (Some(157_014), Some(8)));
    assert_eq!(report.ledger.unaccounted(), Some(0));
    assert_eq!((report.latency.mean_s, report.latency.max_s), (Some(0.000_101), Some(0.006_57)));
    assert!(report.latency.percentiles.is_empty() && report.latency.marks.is_empty());
    assert_eq!(report.tool_warnings, []);
}

#[test]
fn newer_versions_print_percentiles() {
    let report = understood(&H2load, DOCUMENTED).unwrap();
    assert_eq!((latency_s(&report, 0.5), latency_s(&report, 0.95)), (Some(0.000_088), Some(0.000_21)));
    assert_eq!(latency_s(&report, 0.99), Some(0.001_21));
    assert_eq!((report.latency.mean_s, report.latency.max_s), (Some(0.000_101), Some(0.006_57)));
}

#[test]
fn answers_of_a_bad_status_are_not_good() {
    let report = understood(&H2load, MIXED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (30_622, vec![("bad_status", 3_402)]));
    assert_eq!(report.latency.marks, [LatencyMark::WithFailures]);
    assert_eq!(report.ledger.unaccounted(), Some(0));
}

#[test]
fn at_a_rate_times_begin_when_a_request_was_sent() {
    let scenario = scenario(at_a_rate());
    let report = H2load.report(&tool_output(RATE), &job(&scenario)).unwrap();
    assert_eq!((report.offered_rps, report.latency.model.as_str()), (Some(402.0), "open"));
    assert_eq!(report.latency.marks, [LatencyMark::FromSend]);
    assert!((report.goodput_rps - 400.0).abs() < 1e-9);
}

#[test]
fn requests_of_closed_connections_stay_in_flight_in_a_run_for_a_time() {
    let report = understood(&H2load, DROP).unwrap();
    assert_eq!((report.ledger.good, failures(&report), report.ledger.in_flight_at_end), (153, vec![], Some(9)));
}

#[test]
fn a_number_of_requests_tells_the_unsent_from_the_failed() {
    let scenario = scenario(a_number(900));
    let hang = H2load.report(&tool_output(NUMBER_HANG), &job(&scenario)).unwrap().ledger;
    assert_eq!((hang.scheduled, hang.sent, hang.unsent, hang.good), (Some(900), Some(603), 297, 600));
    assert_eq!(hang.failed, [("timeout".to_owned(), 3)].into());
    assert_eq!((hang.in_flight_at_end, hang.unaccounted()), (Some(0), Some(0)));
    let drop = H2load.report(&tool_output(NUMBER_DROP), &job(&scenario)).unwrap().ledger;
    assert_eq!((drop.sent, drop.unsent, drop.good), (Some(166), 837, 157));
    assert_eq!(drop.failed, [("closed".to_owned(), 9)].into());
    assert_eq!(drop.unaccounted(), Some(0));
    let all = H2load.report(&tool_output(NUMBER), &job(&scenario)).unwrap();
    assert_eq!((all.ledger.good, all.ledger.unsent), (1_000, 0));
    assert!((all.window_s - 0.035_763).abs() < 1e-6, "{}", all.window_s);
}

#[test]
fn without_an_answer_there_is_no_latency() {
    let report = understood(&H2load, REFUSED).unwrap();
    assert_eq!((report.goodput_rps, report.window_s), (0.0, 1.0));
    assert_eq!((report.latency.mean_s, report.latency.max_s), (None, None));
}

#[test]
fn bodies_of_another_length_are_warned_of() {
    let scenario = scenario(closed());
    let report = H2load.report(&tool_output(HELLO), &LoadJob { body_bytes: Some(13), ..job(&scenario) }).unwrap();
    assert_eq!(report.tool_warnings[0].gate, "body");
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(&H2load, ""), "h2load's output is empty");
    assert_eq!(refused(&H2load, "starting benchmark...\n"), "h2load's output has no line `requests:`");
    assert_eq!(refused(&H2load, &HELLO.replace("done,", ",")), "h2load's output has no `done` in its line `requests:`");
    assert!(refused(&H2load, &HELLO.replace("5xx", "6xx")).contains("`5xx` in its line `status codes:`"));
    assert!(refused(&H2load, &HELLO.replace("2.01s", "NaNs")).contains("`finished in`"));
    assert!(refused(&H2load, &HELLO.replace("time for request", "time")).contains("`time for request:`"));
    assert!(refused(&H2load, &HELLO.replace("6.57ms", "-")).contains("`max` of the times of requests"));
    assert!(refused(&H2load, HELLO.split("\nreq/s").next().unwrap()).contains("`req/s`"));
    assert!(refused(&H2load, include_str!("../recorded/oha/1.16.0-hello.json")).contains("`requests:`"));
}

#[test]
fn no_beginning_of_an_output_passes_for_the_whole() {
    for output in [HELLO, MIXED, DROP, NUMBER_HANG, DOCUMENTED] {
        every_beginning_is_refused_or_says_the_same(&H2load, output);
    }
}
