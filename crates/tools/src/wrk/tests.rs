//! The arguments for wrk, and the interpretation of its outputs. `documented-…` was written after wrk's documentation;
//! the others were recorded by running it.

use tolok_model::Connection;

use super::*;
use crate::jobs::{
    called, closed, every_beginning_is_refused_or_says_the_same, failures, job, latency_s, refused, scenario,
    tool_output, understood,
};

const HELLO: &str = include_str!("../recorded/wrk/4.1.0-hello.txt");
const MIXED: &str = include_str!("../recorded/wrk/4.1.0-mixed.txt");
const LATE: &str = include_str!("../recorded/wrk/4.1.0-late.txt");
const DROP: &str = include_str!("../recorded/wrk/4.1.0-drop.txt");
const KILLED: &str = include_str!("../recorded/wrk/4.1.0-killed.txt");
const PER_REQUEST: &str = include_str!("../recorded/wrk/4.1.0-per-request.txt");
const DOCUMENTED: &str = include_str!("../recorded/wrk/documented-4.2.0.txt");

#[test]
fn times_are_whole_seconds_and_no_shorter_than_asked_for() {
    let load = tolok_model::LoadProfile { duration_s: 1.5, warmup_s: 0.2, timeout_s: 0.25, ..closed() };
    let (warm_up, counted) = called(&Wrk, load);
    assert_eq!(counted, "-t2 -c8 -d2s --timeout 1s --latency http://127.0.0.1:8080/hello");
    assert_eq!(warm_up.unwrap(), "-t2 -c8 -d1s --timeout 1s --latency http://127.0.0.1:8080/hello");
    assert_eq!(called(&Wrk, closed()).0, None, "no warm-up unless one is requested");
}

#[test]
fn a_connection_for_each_request_is_asked_for_by_a_header() {
    let load = tolok_model::LoadProfile { connection: Connection::PerRequest, ..closed() };
    let scenario = scenario(load);
    let arguments = Wrk.invocation(&job(&scenario)).arguments;
    assert_eq!(arguments[arguments.len() - 3..arguments.len() - 1], ["-H", "Connection: close"]);
}

#[test]
fn threads_divide_the_connections_because_wrk_drops_the_rest() {
    for (cpus, connections, expected) in [(2, 8, 2), (2, 9, 1), (4, 9, 3), (8, 4, 4), (16, 1, 1), (3, 64, 2), (0, 7, 1)]
    {
        assert_eq!(threads(cpus, connections), expected, "{cpus} CPUs, {connections} connections");
    }
}

#[test]
fn goodput_is_the_rate_that_it_prints() {
    let report = understood(&Wrk, HELLO).unwrap();
    assert_eq!(report.ledger.good, 198_586);
    assert!((report.goodput_rps - 99_009.68).abs() < 1e-6, "{}", report.goodput_rps);
    assert!((report.window_s - 2.0057).abs() < 1e-4, "more of it than `2.01s`: {}", report.window_s);
    assert_eq!((report.latency.mean_s, report.latency.max_s), (Some(0.000_804_3), Some(0.020_12)));
    assert_eq!(latency_s(&report, 0.5), Some(0.000_059));
    assert_eq!(latency_s(&report, 0.9), Some(0.002_62));
    assert_eq!(latency_s(&report, 0.99), Some(0.010_52));
    assert_eq!(report.latency.marks, [LatencyMark::BackFilled]);
    assert_eq!(report.latency.model, "closed");
    assert_eq!((report.ledger.sent, report.ledger.in_flight_at_end, report.waiting_at_end), (None, None, None));
    assert_eq!(report.body_bytes, 198_586 * 12);
}

#[test]
fn answers_of_a_bad_status_are_not_good() {
    let report = understood(&Wrk, MIXED).unwrap();
    assert_eq!(report.ledger.good, 73_258 - 7_326);
    assert_eq!(failures(&report), [("bad_status", 7_326)]);
    assert_eq!(report.latency.marks, [LatencyMark::BackFilled, LatencyMark::WithFailures]);
    assert!(report.goodput_rps < 65_600.0, "{}", report.goodput_rps);
}

#[test]
fn where_a_404_is_good_the_others_are_not() {
    let scenario = scenario(closed());
    let report = Wrk.report(&tool_output(MIXED), &crate::LoadJob { status: 404, ..job(&scenario) }).unwrap();
    assert_eq!(report.ledger.good, 7_326);
    assert_eq!(failures(&report), [("bad_status", 73_258 - 7_326)]);
}

#[test]
fn answers_that_came_too_late_are_among_those_it_counts() {
    let report = understood(&Wrk, LATE).unwrap();
    assert_eq!(report.ledger.good, 1_309 - 18);
    assert_eq!(failures(&report), [("timeout", 18)]);
    assert_eq!(report.examples, ["wrk's socket errors: connect 0, read 0, write 0, timeout 18"]);
}

#[test]
fn closed_connections_are_not_among_those_it_counts() {
    let report = understood(&Wrk, DROP).unwrap();
    assert_eq!(report.ledger.good, 56_219);
    assert_eq!(failures(&report), [("closed", 2_958)]);
    let report = understood(&Wrk, KILLED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (5_000, vec![("closed", 16), ("reset", 158_481)]));
    assert_eq!(failures(&understood(&Wrk, PER_REQUEST).unwrap()), []);
}

#[test]
fn long_windows_and_latencies_have_other_units() {
    let report = understood(&Wrk, DOCUMENTED).unwrap();
    assert!((report.window_s - 120.0).abs() < 1e-9, "{}", report.window_s);
    assert_eq!(report.latency.max_s, Some(1.02));
}

#[test]
fn without_an_answer_there_is_no_latency() {
    let silent = HELLO
        .replace("198586 requests in 2.01s", "0 requests in 2.01s")
        .replace("99009.68", "0.00")
        .replace("804.30us    1.98ms  20.12ms   90.68%", "0.00us    0.00us   0.00us    -nan%");
    let report = understood(&Wrk, &silent).unwrap();
    assert_eq!((report.goodput_rps, report.window_s), (0.0, 2.01));
    assert_eq!((report.latency.mean_s, report.latency.percentiles.len()), (None, 0));
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(&Wrk, ""), "wrk's output is empty");
    assert_eq!(refused(&Wrk, "hello\n"), "wrk's output has no line `… requests in …`");
    let cut = HELLO.split("Requests/sec").next().unwrap();
    assert_eq!(refused(&Wrk, cut), "wrk's output has no line `Requests/sec:` with a figure");
    let cut = HELLO.split("Transfer/sec").next().unwrap();
    assert_eq!(refused(&Wrk, cut), "wrk's output has no line `Transfer/sec:`");
    assert!(refused(&Wrk, &HELLO.replace("Latency Distribution", "")).contains("`Latency Distribution`"));
    assert!(refused(&Wrk, &HELLO.replace("99009.68", "nan")).contains("`Requests/sec:` with a figure"));
    assert!(refused(&Wrk, &HELLO.replace("198586", "99999999999999999999")).contains("requests in"));
    assert!(refused(&Wrk, &DROP.replace("timeout 0", "late 0")).contains("`timeout` in its line `Socket errors:`"));
    assert!(refused(&Wrk, &HELLO.replace("804.30us", "-nan%")).contains("`Latency` with a mean"));
    assert!(refused(&Wrk, include_str!("../recorded/hey/0.1.5-hello.txt")).contains("requests in"));
    let scenario = scenario(closed());
    let log = ToolOutput {
        stderr: "unable to connect to 127.0.0.1:1 Connection refused\n".to_owned(),
        ..ToolOutput::default()
    };
    let error = Wrk.report(&log, &job(&scenario)).unwrap_err().to_string();
    assert_eq!(error, "wrk's output is empty; its last word was: unable to connect to 127.0.0.1:1 Connection refused");
}

#[test]
fn no_beginning_of_an_output_passes_for_the_whole() {
    for output in [HELLO, MIXED, LATE, KILLED, DOCUMENTED] {
        every_beginning_is_refused_or_says_the_same(&Wrk, output);
    }
}
