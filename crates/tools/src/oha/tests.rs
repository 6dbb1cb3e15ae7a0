//! The arguments for oha, and the interpretation of its outputs. `documented-…` was written after the source of that
//! version; the others were recorded by running it.

use tolok_model::{Arrivals, Connection, Executor, LoadProfile, Pool};

use super::*;
use crate::jobs::{
    called, closed, every_beginning_is_refused_or_says_the_same, failures, job, latency_s, refused, scenario,
    tool_output, understood,
};

const HELLO: &str = include_str!("../recorded/oha/1.16.0-hello.json");
const MIXED: &str = include_str!("../recorded/oha/1.16.0-mixed.json");
const HANG: &str = include_str!("../recorded/oha/1.16.0-hang.json");
const DROP: &str = include_str!("../recorded/oha/1.16.0-drop.json");
const RATE: &str = include_str!("../recorded/oha/1.16.0-rate.json");
const REFUSED: &str = include_str!("../recorded/oha/1.16.0-refused.json");
const NUMBER: &str = include_str!("../recorded/oha/1.16.0-number.json");
const DOCUMENTED: &str = include_str!("../recorded/oha/documented-1.9.0.json");

const REST: &str = "--no-tui --output-format json --redirect 0 --disable-compression http://127.0.0.1:8080/hello";

#[test]
fn a_closed_loop_is_a_time_and_connections() {
    let (warm_up, counted) = called(&Oha, LoadProfile { duration_s: 1.5, warmup_s: 0.25, timeout_s: 2.5, ..closed() });
    assert_eq!(counted, format!("-z 1500ms -c 8 -t 2500ms {REST}"));
    assert_eq!(warm_up.unwrap(), format!("-z 250ms -c 8 -t 2500ms {REST}"));
    let scenario = scenario(closed());
    assert_eq!(Oha.invocation(&job(&scenario)).env, [("TOKIO_WORKER_THREADS".to_owned(), "2".to_owned())].into());
}

#[test]
fn at_a_rate_times_are_corrected() {
    let executor = Executor::ConstantArrivalRate { rate_rps: 100.5, arrivals: Arrivals::Uniform };
    let load = LoadProfile { executor, pool: Some(Pool::Bounded(4)), ..closed() };
    assert_eq!(called(&Oha, load.clone()).1, format!("-z 2000ms -c 4 -q 100.5 --latency-correction -t 1000ms {REST}"));
    let scenario = scenario(load);
    let report = Oha.report(&tool_output(RATE), &job(&scenario)).unwrap();
    assert_eq!((report.offered_rps, report.latency.model.as_str()), (Some(100.5), "open"));
    assert_eq!(report.latency.marks, []);
    assert_eq!(latency_s(&report, 0.95), Some(0.000_125_64));
    assert_eq!(latency_s(&report, 0.99), None, "201 samples are too few");
}

#[test]
fn a_number_of_requests_and_a_connection_for_each() {
    let executor = Executor::SharedIterations { vus: 8, iterations: 1_000 };
    let load = LoadProfile { executor, connection: Connection::PerRequest, ..closed() };
    let counted = called(&Oha, load).1;
    assert!(counted.starts_with("-n 1000 -c 8 ") && counted.contains(" --disable-keepalive "), "{counted}");
    let ledger = understood(&Oha, NUMBER).unwrap().ledger;
    assert_eq!((ledger.sent, ledger.good, ledger.in_flight_at_end), (Some(1_000), 1_000, Some(0)));
}

#[test]
fn goodput_leaves_out_what_the_deadline_interrupted() {
    let report = understood(&Oha, HELLO).unwrap();
    assert_eq!((report.ledger.good, report.ledger.in_flight_at_end), (210_005, Some(5)));
    // oha's printed rate includes those in flight: 104,902.76 = (210,005 + 5) / 2.0019492 s.
    assert!((report.goodput_rps - 210_005.0 / 2.001_949_2).abs() < 1e-6, "{}", report.goodput_rps);
    assert_eq!(failures(&report), []);
    assert_eq!(report.ledger.unaccounted(), Some(0));
    assert_eq!(latency_s(&report, 0.5), Some(0.000_036_67));
    assert_eq!(latency_s(&report, 0.999), Some(0.005_105_24));
    assert_eq!(latency_s(&report, 0.9999), Some(0.012_697_689));
    assert_eq!(report.latency.max_s, Some(0.018_542_919));
    assert_eq!((report.latency.marks.len(), report.tool_warnings.len()), (0, 0));
}

#[test]
fn answers_of_a_bad_status_are_not_good() {
    for output in [MIXED, DOCUMENTED] {
        let report = understood(&Oha, output).unwrap();
        assert_eq!((report.ledger.good, failures(&report)), (48_818, vec![("bad_status", 5_425)]));
        assert_eq!(report.latency.marks, [LatencyMark::WithFailures]);
    }
}

#[test]
fn errors_have_classes_and_the_first_of_each_is_an_example() {
    let report = understood(&Oha, HANG).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (169_789, vec![("timeout", 4)]));
    assert_eq!((report.examples, report.ledger.in_flight_at_end), (vec!["timeout".to_owned()], Some(9)));
    let report = understood(&Oha, DROP).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (15_643, vec![("closed", 823)]));
}

#[test]
fn without_an_answer_there_is_no_latency() {
    let report = understood(&Oha, REFUSED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (0, vec![("connect", 6)]));
    assert_eq!((report.latency.mean_s, report.latency.max_s, report.latency.percentiles.len()), (None, None, 0));
}

#[test]
fn bodies_of_another_length_are_warned_of() {
    let scenario = scenario(closed());
    let report = Oha.report(&tool_output(HELLO), &LoadJob { body_bytes: Some(13), ..job(&scenario) }).unwrap();
    assert_eq!(report.tool_warnings[0].gate, "body");
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(&Oha, ""), "oha's output is empty");
    assert!(refused(&Oha, "Summary:\n").contains("no JSON as its versions from 1.9 on have it"));
    assert!(refused(&Oha, &HELLO.replace("errorDistribution", "errors")).contains("missing field `errorDistribution`"));
    assert!(refused(&Oha, &HELLO.replace("2.0019492", "1e999")).contains("number out of range"));
    assert!(refused(&Oha, &HELLO.replace("2.0019492", "0.0")).contains("measured for no time"));
    assert!(refused(&Oha, &HELLO.replace("210005", "18446744073709551615")).contains("too large to be added"));
    assert!(refused(&Oha, &HELLO.replace("\"200\"", "\"OK\"")).contains("number for the status `OK`"));
    assert!(refused(&Oha, include_str!("../recorded/h2load/1.52.0-hello.txt")).contains("no JSON"));
    let scenario = scenario(closed());
    let old = ToolOutput {
        stderr: "error: unexpected argument '--output-format' found\n".to_owned(),
        ..ToolOutput::default()
    };
    let error = Oha.report(&old, &job(&scenario)).unwrap_err().to_string();
    assert!(error.ends_with("its last word was: error: unexpected argument '--output-format' found"), "{error}");
}

#[test]
fn no_beginning_of_an_output_passes_for_the_whole() {
    for output in [HELLO, MIXED, REFUSED] {
        every_beginning_is_refused_or_says_the_same(&Oha, output);
    }
}
