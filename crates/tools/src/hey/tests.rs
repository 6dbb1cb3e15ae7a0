//! The arguments for hey, and the interpretation of its outputs. All were recorded by running it.

use tolok_model::{Arrivals, Connection, Executor, LoadProfile, Pool};

use super::*;
use crate::jobs::{
    called, closed, every_beginning_is_refused_or_says_the_same, failures, job, latency_s, refused, scenario,
    tool_output, understood,
};

const HELLO: &str = include_str!("../recorded/hey/0.1.5-hello.txt");
const MIXED: &str = include_str!("../recorded/hey/0.1.5-mixed.txt");
const HANG: &str = include_str!("../recorded/hey/0.1.5-hang.txt");
const RATE: &str = include_str!("../recorded/hey/0.1.5-rate.txt");
const KILLED: &str = include_str!("../recorded/hey/0.1.5-killed.txt");
const MILLION: &str = include_str!("../recorded/hey/0.1.5-million.txt");
const REFUSED: &str = include_str!("../recorded/hey/0.1.5-refused.txt");
const OLD_HELLO: &str = include_str!("../recorded/hey/0.1.4-hello.txt");
const OLD_MIXED: &str = include_str!("../recorded/hey/0.1.4-mixed.txt");
const OLD_HANG: &str = include_str!("../recorded/hey/0.1.4-hang.txt");

const REST: &str = "-cpus 2 -disable-compression -disable-redirects http://127.0.0.1:8080/hello";

#[test]
fn a_closed_loop_is_a_time_and_workers() {
    let (warm_up, counted) = called(&Hey, LoadProfile { duration_s: 1.5, warmup_s: 0.25, timeout_s: 0.25, ..closed() });
    assert_eq!(counted, format!("-z 1500ms -c 8 -t 1 {REST}"));
    assert_eq!(warm_up.unwrap(), format!("-z 250ms -c 8 -t 1 {REST}"));
}

#[test]
fn a_rate_is_shared_by_the_workers() {
    let executor = Executor::ConstantArrivalRate { rate_rps: 102.0, arrivals: Arrivals::Uniform };
    let load = LoadProfile { executor, pool: Some(Pool::Bounded(4)), ..closed() };
    assert_eq!(called(&Hey, load.clone()).1, format!("-z 2000ms -c 4 -q 25.5 -t 1 {REST}"));
    let scenario = scenario(load);
    let report = Hey.report(&tool_output(RATE), &job(&scenario)).unwrap();
    assert_eq!((report.offered_rps, report.latency.model.as_str()), (Some(102.0), "open"));
    assert_eq!(report.latency.marks, [LatencyMark::Coarse, LatencyMark::FromSend]);
}

#[test]
fn a_number_of_requests_and_a_connection_for_each() {
    let executor = Executor::SharedIterations { vus: 8, iterations: 1_000 };
    let load = LoadProfile { executor, connection: Connection::PerRequest, ..closed() };
    let counted = called(&Hey, load).1;
    assert!(counted.starts_with("-n 1000 -c 8 -t 1 ") && counted.contains(" -disable-keepalive "), "{counted}");
}

#[test]
fn goodput_is_the_rate_that_it_prints() {
    for (output, good, rate_rps) in [(HELLO, 75_123, 37_552.286), (OLD_HELLO, 65_191, 32_589.370_9)] {
        let report = understood(&Hey, output).unwrap();
        assert_eq!(report.ledger.good, good);
        assert!((report.goodput_rps / rate_rps - 1.0).abs() < 1e-4, "{}", report.goodput_rps);
        assert_eq!((report.ledger.sent, report.ledger.in_flight_at_end), (None, None));
        assert_eq!((failures(&report), report.tool_warnings.len()), (vec![], 0));
        assert_eq!(report.latency.marks, [LatencyMark::Coarse]);
        assert_eq!(latency_s(&report, 0.5), Some(0.000_1));
        assert_eq!(latency_s(&report, 0.1), None, "it is printed as 0.0000, which is not a valid time");
    }
}

#[test]
fn answers_of_a_bad_status_are_not_good() {
    for (output, good, bad) in [(MIXED, 20_626, 2_291), (OLD_MIXED, 21_123, 2_347)] {
        let report = understood(&Hey, output).unwrap();
        assert_eq!((report.ledger.good, failures(&report)), (good, vec![("bad_status", bad)]));
        assert_eq!(report.latency.marks, [LatencyMark::Coarse, LatencyMark::WithFailures]);
    }
}

#[test]
fn errors_have_classes_and_the_first_of_each_is_an_example() {
    let report = understood(&Hey, HANG).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (64_473, vec![("timeout", 6)]));
    assert_eq!(report.examples, ["context deadline exceeded (Client.Timeout exceeded while awaiting headers)"]);
    assert_eq!(report.window_s, 3.8164, "0.1.5 waits for answers that are under way");
    assert_eq!(understood(&Hey, OLD_HANG).unwrap().window_s, 3.0004, "0.1.4 does not");
    let report = understood(&Hey, KILLED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (5_000, vec![("connect", 20_189), ("reset", 1)]));
}

#[test]
fn without_an_answer_there_is_no_latency() {
    let report = understood(&Hey, REFUSED).unwrap();
    assert_eq!((report.ledger.good, failures(&report)), (0, vec![("connect", 10)]));
    assert_eq!((report.latency.mean_s, report.latency.max_s), (None, None));
}

#[test]
fn beyond_the_first_million_it_tells_no_status() {
    let report = understood(&Hey, MILLION).unwrap();
    assert_eq!(report.ledger.good, 1_040_000);
    assert_eq!(report.tool_warnings[0].gate, "statuses");
    assert!(
        report.tool_warnings[0].text.contains("40000 more are counted as good"),
        "{}",
        report.tool_warnings[0].text
    );
}

#[test]
fn bodies_of_another_length_are_warned_of() {
    let scenario = scenario(closed());
    let report = Hey.report(&tool_output(HELLO), &LoadJob { body_bytes: Some(13), ..job(&scenario) }).unwrap();
    assert_eq!(report.tool_warnings[0].gate, "body");
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(refused(&Hey, ""), "hey's output is empty");
    assert_eq!(refused(&Hey, "Usage: hey\n"), "hey's output has no line `Total:` with a figure");
    assert!(refused(&Hey, &HELLO.replace("37552.2860", "NaN")).contains("`Requests/sec:`"));
    assert!(
        refused(&Hey, &HELLO.replace("75123 responses", "x responses")).contains("below `Status code distribution:`")
    );
    assert!(refused(&Hey, HELLO.split("Status code").next().unwrap()).contains("part `Status code distribution:`"));
    assert!(refused(&Hey, KILLED.split("Error distribution").next().unwrap()).contains("not as many as its rate says"));
    assert!(refused(&Hey, include_str!("../recorded/ab/2.3-hello.txt")).contains("`Total:`"));
}

#[test]
fn no_beginning_of_an_output_passes_for_the_whole() {
    for output in [HELLO, MIXED, RATE, MILLION, OLD_HELLO, REFUSED] {
        every_beginning_is_refused_or_says_the_same(&Hey, output);
    }
}
