//! The long tail over time, from the histograms of single seconds.

use tolok_load::histogram::{HistogramError, VALUES_BEYOND, merge, quantile_s};
use tolok_load::record::SecondRow;
use tolok_model::TailSeries;

/// The percentile of the tail.
const QUANTILE: f64 = 0.999;
/// The fewest responses of a span. Enough of them must be beyond the percentile.
const FEWEST: u64 = VALUES_BEYOND * 1000;
/// Lengths of a span to try, in seconds, shortest first. They are few and round, so that trials of one case use the
/// same.
const SPANS_S: [u32; 13] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600];
/// Fewer spans show no development.
const FEWEST_SPANS: usize = 2;

/// The tail of consecutive whole seconds, or `None` if no two spans of them have enough responses.
pub(super) fn tail(seconds: &[&SecondRow]) -> Result<Option<TailSeries>, HistogramError> {
    if seconds.iter().any(|row| row.response_time.is_empty()) {
        return Ok(None);
    }
    let spans = |span_s: &u32| seconds.chunks_exact(*span_s as usize);
    let answers = |span: &[&SecondRow]| span.iter().map(|row| row.good).sum::<u64>();
    let fewest = |span_s: &u32| spans(span_s).map(answers).min().unwrap_or_default();
    let is_told = |span_s: &u32| spans(span_s).len() >= FEWEST_SPANS && fewest(span_s) >= FEWEST;
    let Some(span_s) = SPANS_S.into_iter().find(is_told) else { return Ok(None) };
    // One histogram at a time: those of a whole day would take gigabytes.
    let percentile = |span: &[&SecondRow]| {
        merge(span.iter().map(|row| row.response_time.as_str())).map(|sum| quantile_s(&sum, QUANTILE))
    };
    let percentiles = spans(&span_s).map(percentile).collect::<Result<Vec<Option<f64>>, _>>()?;
    let percentiles: Option<Vec<f64>> = percentiles.into_iter().collect();
    Ok(percentiles.map(|latency_p999_s| TailSeries { span_s, fewest_answers: fewest(&span_s), latency_p999_s }))
}

#[cfg(test)]
mod tests {
    use tolok_load::histogram::{empty, encode};

    use super::*;

    /// A second of responses that take `ns`, of which `slow` take a hundred times as long.
    fn second(good: u64, slow: u64, ns: u64) -> SecondRow {
        let mut histogram = empty();
        histogram.record_n(ns, good - slow).unwrap();
        histogram.record_n(100 * ns, slow).unwrap();
        let response_time = encode(&histogram);
        let row = serde_json::json!({
            "second": 0, "phase": "measure", "start_s": 0.0, "duration_s": 1.0, "sent": good, "good": good, "failed": 0,
            "failed_by_class": {}, "received_bytes": 0, "sent_bytes": 0, "p50_s": null, "p99_s": null, "max_s": null,
            "first_byte_p50_s": null, "first_byte_p99_s": null, "first_byte_max_s": null, "connect_p50_s": null, "connect_max_s": null,
            "new_connections": 0, "in_flight": 0, "queued": 0,
            "response_time": response_time, "service_time": "", "lateness": "",
        });
        serde_json::from_value(row).unwrap()
    }

    fn found(seconds: &[SecondRow]) -> Option<TailSeries> {
        tail(&seconds.iter().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn spans_are_as_short_as_each_has_answers_enough() {
        // 2,500 a second: 4 s would suffice, and the next round length is 5 s. The last two seconds are in no span.
        let rows: Vec<SecondRow> = (0..12).map(|at| second(2500, if at < 5 { 0 } else { 10 }, 1_000_000)).collect();
        let tail = found(&rows).unwrap();
        assert_eq!((tail.span_s, tail.fewest_answers, tail.latency_p999_s.len()), (5, 12_500, 2));
        let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.001;
        assert!(near(tail.latency_p999_s[0], 0.001) && near(tail.latency_p999_s[1], 0.1), "{tail:?}");
    }

    #[test]
    fn a_second_is_a_span_where_it_has_answers_enough() {
        let rows = [second(10_000, 0, 1000), second(12_000, 0, 1000)];
        assert_eq!(found(&rows).map(|tail| tail.span_s), Some(1));
    }

    #[test]
    fn one_poor_span_makes_all_of_them_longer() {
        let mut rows: Vec<SecondRow> = (0..8).map(|_| second(6000, 0, 1000)).collect();
        assert_eq!(found(&rows).map(|tail| tail.span_s), Some(2));
        rows[3] = second(10, 0, 1000);
        assert_eq!(found(&rows), None, "5 s would be enough, but there is only one such span");
    }

    #[test]
    fn too_few_answers_have_no_tail() {
        let rows: Vec<SecondRow> = (0..10).map(|_| second(900, 0, 1000)).collect();
        assert_eq!(found(&rows), None);
        assert_eq!(found(&[]), None);
    }

    #[test]
    fn a_broken_histogram_is_an_error() {
        let rows = [SecondRow { response_time: "?".to_owned(), ..second(20_000, 0, 1000) }, second(20_000, 0, 1000)];
        assert!(tail(&rows.iter().collect::<Vec<_>>()).is_err());
    }
}
