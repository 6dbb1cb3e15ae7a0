//! How objectives are written, and the messages about invalid ones.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_model::{Limit, Metric, Objective, Part, Relation};

/// The canonical form, or the error and its help.
fn check(text: &str) -> String {
    match Objective::parse(text) {
        Ok(objective) => objective.to_string(),
        Err(error) => format!("{error}; {}", error.help()),
    }
}

#[test]
fn an_objective_has_a_part_a_metric_a_comparison_and_a_value() {
    let expect = |part, metric, comparison, value| Objective { part, metric, comparison, value };
    let parse = |text| Objective::parse(text).unwrap();
    let response = Some(Part::Response);
    assert_eq!(parse("p95 < 50ms"), expect(response, Metric::Quantile(0.95), Relation::Below, Limit::Seconds(0.05)));
    let service = expect(Some(Part::Service), Metric::Quantile(0.999), Relation::AtMost, Limit::Seconds(1.5));
    assert_eq!(parse("service.p99.9 <= 1.5s"), service);
    assert_eq!(parse("goodput >= 99.9%"), expect(None, Metric::Goodput, Relation::AtLeast, Limit::Share(0.999)));
    assert_eq!(parse("rate > 30000/m"), expect(None, Metric::Rate, Relation::Above, Limit::PerSecond(500.0)));
    assert_eq!(parse("failed < 5"), expect(None, Metric::Failed, Relation::Below, Limit::Count(5)));
}

#[test]
fn what_is_written_in_many_ways_has_one_canonical_form() {
    let form = |text: &str, expect: &str| assert_eq!(check(text), expect, "{text}");
    form("p95<50ms", "p95 < 50ms");
    form("  response.p95   <   0.05s ", "p95 < 50ms");
    form("p(95) < 50ms", "p95 < 50ms");
    form("med <= 1m 30s", "p50 <= 1m 30s");
    form("median ≤ 90s", "p50 <= 1m 30s");
    form("avg < 1ms", "mean < 1ms");
    form("service.p99.9 < 1.5s", "service.p99.9 < 1s 500ms");
    form("first-byte.min > 10us", "first-byte.min > 10us");
    form("queue.max < 1s", "queue.max < 1s");
    form("lateness.p99 < 100us", "lateness.p99 < 100us");
    form("connect.mean < 1ms", "connect.mean < 1ms");
    form("failure.p50 < 1s", "failure.p50 < 1s");
    form("goodput >= 99.90%", "goodput >= 99.9%");
    form("goodput>=1000/s", "goodput >= 1000/s");
    form("rate ≥ 36000/h", "rate >= 10/s");
    form("failed <= 0", "failed <= 0");
    form("failed < 0.1%", "failed < 0.1%");
}

#[test]
fn the_words_of_k6_are_understood() {
    let form = |text: &str, expect: &str| assert_eq!(check(text), expect, "{text}");
    form("http_req_duration p(95)<200", "p95 < 200ms");
    form("http_req_duration: p(99.9) < 1.5s", "p99.9 < 1s 500ms");
    form("http_req_duration avg<100.5", "mean < 100ms 500us");
    form("http_req_waiting med<20", "first-byte.p50 < 20ms");
    form("http_req_connecting max<20", "connect.max < 20ms");
    form("http_req_failed rate<0.01", "failed < 1%");
    form("http_req_failed: rate<=1%", "failed <= 1%");
    form("http_reqs rate>=100", "rate >= 100/s");
}

#[test]
fn an_invalid_objective_is_answered_with_a_valid_example() {
    assert_snapshot!(check(""), @"`` compares nothing; for example: p95 < 50ms, service.p99 <= 1s, goodput >= 99.9%, failed < 0.1%");
    assert_snapshot!(check("p95"), @"`p95` compares nothing; for example: p95 < 50ms, service.p99 <= 1s, goodput >= 99.9%, failed < 0.1%");
    assert_snapshot!(check("p95 = 50ms"), @"`=` is no comparison that an objective has; known here: <, <=, >, >=");
    assert_snapshot!(check("p95 =< 50ms"), @"`=<` is no comparison that an objective has; known here: <, <=, >, >=");
    assert_snapshot!(check("< 50ms"), @"there is no metric ``; known here: p50, p90, p95, p99, p99.9, mean, median, max, min, goodput, rate, failed");
    assert_snapshot!(check("goodputt > 1/s"), @"there is no metric `goodputt`; did you mean `goodput`? known here: p50, p90, p95, p99, p99.9, mean, median, max, min, goodput, rate, failed");
    assert_snapshot!(check("p99th < 50ms"), @"there is no metric `p99th`; did you mean `p99`? known here: p50, p90, p95, p99, p99.9, mean, median, max, min, goodput, rate, failed");
    assert_snapshot!(check("p100 < 50ms"), @"`p100` is no percentile; p1 to p99.999 are; for the ends write `min` or `max`");
    assert_snapshot!(check("response < 50ms"), @"`response` is a distribution, and one figure of it is needed; for example: response.p95, response.mean or response.max");
    assert_snapshot!(check("servce.p95 < 50ms"), @"there is no part `servce`; did you mean `service`? known here: response, service, lateness, queue, connect, first-byte, failure");
    assert_snapshot!(check("service.goodput > 1/s"), @"`goodput` counts requests and is no time, so it has no part; write `goodput` alone");
    assert_snapshot!(check("http_req_duraton p(95)<200"), @"there is no metric `http_req_duraton`; did you mean `http_req_duration`? known here: http_req_duration, http_req_waiting, http_req_connecting, http_req_failed, http_reqs");
    assert_snapshot!(check("http_req_failed p(95)<200"), @"there is no metric `http_req_failed p(95)`; http_req_failed and http_reqs have `rate`, the others have p(95), avg, med, max and min");
    assert_snapshot!(check("http_req_duration<200"), @"`http_req_duration` is a distribution, and one figure of it is needed; for example: http_req_duration p(95)");
    assert_snapshot!(check("checks rate>0.99"), @"there is no metric `checks rate`; known here: p50, p90, p95, p99, p99.9, mean, median, max, min, goodput, rate, failed");
}

#[test]
fn a_value_is_of_the_kind_that_the_metric_has() {
    assert_snapshot!(check("p95 <"), @"`p95` is compared with nothing; write a duration with its unit, such as 50ms or 1.5s");
    assert_snapshot!(check("p95 < 50"), @"`50` is no value of `p95`; write a duration with its unit, such as 50ms or 1.5s");
    assert_snapshot!(check("p95 < 0s"), @"`0s` is no value of `p95`; write a duration with its unit, such as 50ms or 1.5s");
    assert_snapshot!(check("p95 < 99%"), @"`99%` is no value of `p95`; write a duration with its unit, such as 50ms or 1.5s");
    assert_snapshot!(check("goodput >= 1000"), @"`1000` is no value of `goodput`; write 1000/s for correct responses a second, or 99.9% for a share of the scheduled requests");
    assert_snapshot!(check("goodput >= 101%"), @"`101%` is no value of `goodput`; write 1000/s for correct responses a second, or 99.9% for a share of the scheduled requests");
    assert_snapshot!(check("goodput >= 1000/d"), @"`1000/d` is no value of `goodput`; write 1000/s for correct responses a second, or 99.9% for a share of the scheduled requests");
    assert_snapshot!(check("rate >= 99%"), @"`99%` is no value of `rate`; write a number per second, minute or hour, such as 1000/s");
    assert_snapshot!(check("failed < 0.01"), @"`0.01` is no value of `failed`; write 0.1% for a share of the finished requests, or a whole number for so many of them");
    assert_snapshot!(check("failed < -1"), @"`-1` is no value of `failed`; write 0.1% for a share of the finished requests, or a whole number for so many of them");
    assert_snapshot!(check("http_req_failed rate<1.5"), @"`1.5` is no value of `http_req_failed rate`; write 0.1% for a share of the finished requests, or a whole number for so many of them");
}

#[test]
fn an_objective_holds_on_its_side_of_the_value_only() {
    let holds = |text: &str, measured| Objective::parse(text).unwrap().holds(measured);
    assert!(holds("p95 < 50ms", 0.0499) && !holds("p95 < 50ms", 0.05));
    assert!(holds("p95 <= 50ms", 0.05) && !holds("p95 <= 50ms", 0.0501));
    assert!(holds("goodput > 10/s", 10.5) && !holds("goodput > 10/s", 10.0));
    assert!(holds("goodput >= 10/s", 10.0) && !holds("goodput >= 10/s", 9.9));
    assert!(!holds("goodput >= 10/s", f64::NAN) && !holds("p95 < 50ms", f64::NAN));
}

#[test]
fn values_are_in_base_units() {
    let value = |text: &str| Objective::parse(text).unwrap().value;
    let check =
        |text: &str, number: f64, unit: &str| assert_eq!((value(text).number(), value(text).unit()), (number, unit));
    check("p95 < 50ms", 0.05, "s");
    check("goodput > 99%", 0.99, "1");
    check("failed < 7", 7.0, "1");
    check("rate > 60/m", 1.0, "per_s");
}

/// Pieces of objectives, some of which fit together.
fn piece() -> impl Strategy<Value = &'static str> {
    let pieces = [
        "p95",
        "p(99.9)",
        "p",
        ".",
        "response",
        "service.",
        "first-byte.",
        "http_req_duration ",
        "http_req_failed ",
        "rate",
        "goodput",
        "failed",
        "<",
        "<=",
        ">",
        "=",
        "≥",
        " ",
        "50ms",
        "1.5s",
        "0.1%",
        "1e9",
        "1000/s",
        "1/m",
        "7",
        "-",
        "é",
    ];
    prop::sample::select(pieces.to_vec())
}

proptest! {
    // The seed is fixed, so that a failure is the same for everyone.
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(83850),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_canonical_form_is_read_back_as_itself(pieces in prop::collection::vec(piece(), 0..8)) {
        if let Ok(objective) = Objective::parse(&pieces.concat()) {
            let form = objective.to_string();
            prop_assert_eq!(Objective::parse(&form).map(|read| read.to_string()), Ok(form));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,30}") {
        let _ = Objective::parse(&text).map_err(|error| error.help());
    }
}
