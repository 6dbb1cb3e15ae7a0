//! The arguments for ab, and the interpretation of its outputs. `documented-…` was written after public outputs of
//! other versions; the others were recorded by running it.

use tolok_model::{Connection, Executor, LoadProfile};

use super::*;
use crate::jobs::{
    called, closed, every_beginning_is_refused_or_says_the_same, failures, job, latency_s, refused, scenario,
    tool_output, understood,
};

const HELLO: &str = include_str!("../recorded/ab/2.3-hello.txt");
const HELLO_PERCENTILES: &str = include_str!("../recorded/ab/2.3-hello-percentiles.csv");
const MIXED: &str = include_str!("../recorded/ab/2.3-mixed.txt");
const ERR: &str = include_str!("../recorded/ab/2.3-err.txt");
const CLOSE: &str = include_str!("../recorded/ab/2.3-close.txt");
const KILLED: &str = include_str!("../recorded/ab/2.3-killed.txt");
const LENGTHS: &str = include_str!("../recorded/ab/2.3-lengths.txt");
const VARIABLE: &str = include_str!("../recorded/ab/2.3-variable.txt");
const SLOW: &str = include_str!("../recorded/ab/2.3-slow.txt");
const GAVE_UP: &str = include_str!("../recorded/ab/2.3-gave-up.txt");
const GAVE_UP_LOG: &str = include_str!("../recorded/ab/2.3-gave-up.log");
const DOCUMENTED: &str = include_str!("../recorded/ab/documented-2.3-of-httpd-2.4.52.txt");

/// The report of an output whose correct responses have this many bytes, or differ in length.
fn with_body(output: &str, body_bytes: Option<u64>) -> ToolReport {
    let scenario = scenario(closed());
    Ab.report(&tool_output(output), &LoadJob { body_bytes, ..job(&scenario) }).unwrap()
}

#[test]
fn a_number_follows_the_time_because_the_time_sets_one() {
    let (warm_up, counted) = called(&Ab, LoadProfile { duration_s: 1.5, warmup_s: 0.5, timeout_s: 0.25, ..closed() });
    assert_eq!(counted, "-e ab-percentiles.csv -q -r -k -c 8 -s 1 -t 2 -n 600000 http://127.0.0.1:8080/hello");
    assert_eq!(warm_up.unwrap(), "-q -r -k -c 8 -s 1 -t 1 -n 300000 http://127.0.0.1:8080/hello");
    let hour = called(&Ab, LoadProfile { duration_s: 3600.0, ..closed() }).1;
    assert!(hour.contains("-t 3600 -n 50000000 "), "{hour}");
}

#[test]
fn iterations_are_a_number_and_the_window_its_limit() {
    let executor = Executor::SharedIterations { vus: 8, iterations: 1_000 };
    let load = LoadProfile { executor, connection: Connection::PerRequest, warmup_s: 1.0, ..closed() };
    let (warm_up, counted) = called(&Ab, load);
    assert_eq!(counted, "-e ab-percentiles.csv -q -r -c 8 -s 1 -t 2 -n 1000 http://127.0.0.1:8080/hello");
    assert!(warm_up.unwrap().contains("-t 1 -n 300000 "));
}

#[test]
fn lengths_are_compared_only_where_all_are_the_same() {
    let scenario = scenario(closed());
    let arguments = Ab.invocation(&LoadJob { body_bytes: None, ..job(&scenario) }).arguments;
    assert!(arguments.contains(&"-l".to_owned()), "{arguments:?}");
}

#[test]
fn goodput_is_the_rate_that_it_prints_and_percentiles_are_those_of_its_file() {
    let scenario = scenario(closed());
    let written = ToolOutput { beside: HELLO_PERCENTILES.to_owned(), ..tool_output(HELLO) };
    let report = Ab.report(&written, &job(&scenario)).unwrap();
    assert_eq!(report.ledger.good, 135_376);
    assert!((report.goodput_rps - 67_688.0).abs() < 1e-6, "{}", report.goodput_rps);
    assert_eq!(latency_s(&report, 0.99), Some(0.002_703));
    assert_eq!(report.latency.max_s, Some(0.009_432));
    assert_eq!(report.latency.mean_s, Some(0.000_118));
    assert_eq!(report.latency.marks, [LatencyMark::DerivedMean]);
    assert_eq!((report.ledger.sent, report.ledger.in_flight_at_end), (None, None));
    assert_eq!((failures(&report), report.tool_warnings.len()), (vec![], 0));
}

#[test]
fn without_its_file_times_are_coarse() {
    for output in [HELLO, DOCUMENTED] {
        let report = understood(&Ab, output).unwrap();
        assert_eq!(latency_s(&report, 0.99), Some(0.003));
        assert_eq!(report.latency.max_s, Some(0.009));
        assert_eq!(report.latency.marks, [LatencyMark::DerivedMean, LatencyMark::Coarse]);
    }
}

#[test]
fn the_mean_that_was_taken_is_preferred_where_it_is_fine_enough() {
    let report = understood(&Ab, SLOW).unwrap();
    assert_eq!(report.latency.mean_s, Some(0.102), "not 0.11185, which is 8 connections ÷ 71.52 per second");
    assert_eq!(report.latency.marks, []);
    assert_eq!(latency_s(&report, 0.5), Some(0.101));
    assert_eq!(latency_s(&report, 0.99), None, "146 samples are too few");
}

#[test]
fn answers_of_a_bad_status_count_once_although_their_length_is_another_too() {
    let report = understood(&Ab, MIXED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (52_643 - 5_265, vec![("bad_status", 5_265)]));
    assert_eq!(report.tool_warnings, []);
    let report = with_body(&MIXED.replace("Length: 5265", "Length: 5300"), Some(12));
    assert_eq!(
        (report.ledger.good, failures(&report)),
        (52_643 - 5_300, vec![("bad_body", 35), ("bad_status", 5_265)])
    );
    assert_eq!(report.tool_warnings.len(), 1, "the two counts may overlap");
}

#[test]
fn more_refusals_than_answers_are_those_that_were_under_way_at_the_end() {
    let report = understood(&Ab, ERR).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (0, vec![("bad_status", 7_835)]));
}

#[test]
fn connections_that_were_closed_or_reset_are_among_its_answers() {
    let report = understood(&Ab, CLOSE).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (73_352, vec![("bad_body", 3_861)]));
    assert_eq!(report.examples, ["ab's failures: (Connect: 0, Receive: 0, Length: 3861, Exceptions: 0)"]);
    let report = understood(&Ab, KILLED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (5_000, vec![("bad_body", 1), ("reset", 208_113)]));
}

#[test]
fn its_first_answer_may_be_the_wrong_one() {
    let all_wrong = with_body(HELLO, Some(13));
    assert_eq!((all_wrong.ledger.good, failures(&all_wrong)), (0, vec![("bad_body", 135_376)]));
    assert_eq!(all_wrong.tool_warnings, [], "certainly none was good");
    let some_wrong = with_body(LENGTHS, Some(5));
    assert_eq!((some_wrong.ledger.good, failures(&some_wrong)), (857, vec![("bad_body", 143)]));
    assert!(some_wrong.tool_warnings[0].text.contains("first answer, of 6 bytes"), "{:?}", some_wrong.tool_warnings);
    assert_eq!(with_body(LENGTHS, Some(6)).ledger.good, 143);
    assert_eq!(with_body(VARIABLE, None).ledger.good, 1_000);
}

#[test]
fn a_server_that_does_not_keep_connections_is_warned_of() {
    let report =
        understood(&Ab, &HELLO.replace("Keep-Alive requests:    135376", "Keep-Alive requests:    0")).unwrap();
    assert_eq!(report.tool_warnings[0].gate, "keep-alive");
    let load = LoadProfile { connection: Connection::PerRequest, ..closed() };
    let scenario = scenario(load);
    assert_eq!(Ab.report(&tool_output(ERR), &job(&scenario)).unwrap().tool_warnings, []);
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(&Ab, ""), "ab's output is empty");
    let scenario = scenario(closed());
    let gave_up = ToolOutput { stderr: GAVE_UP_LOG.to_owned(), ..tool_output(GAVE_UP) };
    assert_eq!(
        Ab.report(&gave_up, &job(&scenario)).unwrap_err().to_string(),
        "ab's output has no line `Time taken for tests:` with a figure; its last word was: apr_pollset_poll: The timeout \
         specified has expired (70007)"
    );
    assert!(refused(&Ab, &HELLO.replace("135376", "135,376")).contains("`Complete requests:`"));
    assert!(refused(&Ab, &HELLO.replace("67688.00", "inf")).contains("`Requests per second:`"));
    assert!(refused(&Ab, &MIXED.replace("Exceptions", "Others")).contains("Exceptions"));
    assert!(refused(&Ab, HELLO.split(" 100%").next().unwrap()).contains("longest request"));
    assert!(refused(&Ab, include_str!("../recorded/wrk/4.1.0-hello.txt")).contains("`Time taken for tests:`"));
}

#[test]
fn no_beginning_of_an_output_passes_for_the_whole() {
    for output in [HELLO, MIXED, CLOSE, KILLED, SLOW, DOCUMENTED] {
        every_beginning_is_refused_or_says_the_same(&Ab, output);
    }
}
