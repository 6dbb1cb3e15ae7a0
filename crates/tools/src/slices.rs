//! Slices of tolok's own load engine: the arguments for a case, and the interpretation of its lines and its record.

use serde::{Deserialize, Serialize};
use tolok_load::slices::{SliceLine, SlicedTarget, TargetRecord};
use tolok_model::{Latency, LedgerCounts, LoadChecks};

use super::driver::{LoadJob, ToolReport};
use super::tolok::arguments;

/// A line of `slices.jsonl`: a slice and its place in the design.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredSlice {
    /// The turn of its scenario, from 1.
    pub round: u32,
    /// 1 for the permutation, 2 for its mirror.
    pub half: u32,
    /// The engine's line about it.
    #[serde(flatten)]
    pub line: SliceLine,
}

/// A case as a target of the engine.
pub fn target(job: &LoadJob<'_>, name: &str, server: usize) -> SlicedTarget {
    // Grace, events and format are options of the whole run.
    let is_own =
        |argument: &String| !["--grace=", "--format=", "--events"].iter().any(|whole| argument.starts_with(whole));
    let arguments = arguments(job).into_iter().skip(1).filter(is_own).collect();
    SlicedTarget { name: name.to_owned(), server, arguments }
}

/// The report of a case over all of its slices. The error states what is wrong with them.
pub fn report(record: &TargetRecord, slices: &[StoredSlice]) -> Result<ToolReport, String> {
    let lines = || slices.iter().map(|slice| &slice.line);
    let window_s: f64 = lines().map(|line| line.window_s).sum();
    if window_s.is_nan() || window_s <= 0.0 {
        return Err("none of its slices has a window".to_owned());
    }
    if let Some(open) = lines().find(|line| !line.closes()) {
        return Err(format!("slice {} has requests without an outcome", open.slice));
    }
    let sum = |of: fn(&SliceLine) -> u64| lines().map(of).sum::<u64>();
    let good = sum(|line| line.good);
    let failed = record.failed_by_class.iter().map(|(class, count)| (class.name().to_owned(), *count)).collect();
    let response = &record.response_time;
    Ok(ToolReport {
        window_s,
        goodput_rps: good as f64 / window_s,
        body_bytes: good * record.expected_body_bytes.unwrap_or_default(),
        sent_in_all: Some(sum(|line| line.sent) + record.warm_up.good + record.warm_up.failed),
        answered_in_all: Some(sum(|line| line.whole_good) + record.warm_up.good),
        ledger: LedgerCounts {
            good,
            failed,
            connections: Some(record.connections_opened),
            connections_unanswered: Some(record.connections_never_answered),
            ..LedgerCounts::default()
        },
        latency: Latency {
            model: "closed".to_owned(),
            percentiles: response.percentiles.iter().map(super::tolok::percentile).collect(),
            mean_s: response.mean_s,
            max_s: response.max_s,
            histogram: Some(response.histogram.clone()),
            marks: Vec::new(),
        },
        parts: record.parts.iter().map(super::tolok::part).collect(),
        examples: record.error_examples.iter().map(|example| example.text.clone()).collect(),
        checks: Some(LoadChecks { body_check: Some(record.body_check.clone()), ..LoadChecks::default() }),
        ..ToolReport::default()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tolok_load::fault::ErrorClass;
    use tolok_load::histogram;
    use tolok_load::record::Distribution;
    use tolok_load::slices::WarmUp;

    use super::*;

    fn record() -> TargetRecord {
        TargetRecord {
            name: "json-c64--go-nethttp".to_owned(),
            warm_up: WarmUp { good: 7, failed: 1, ..WarmUp::default() },
            failed_by_class: BTreeMap::from([(ErrorClass::Timeout, 1)]),
            response_time: Distribution {
                count: 0,
                min_s: None,
                mean_s: None,
                max_s: None,
                percentiles: Vec::new(),
                histogram: histogram::encode(&histogram::empty()),
            },
            connections_opened: 64,
            connections_never_answered: 1,
            error_examples: Vec::new(),
            body_check: "exactly".to_owned(),
            expected_body_bytes: Some(10),
            parts: Vec::new(),
        }
    }

    fn slice(slice: u32, good: u64) -> StoredSlice {
        let whole_good = good + 5;
        let line = SliceLine { slice, window_s: 0.1, good, sent: whole_good, whole_good, ..SliceLine::default() };
        StoredSlice { round: 1, half: slice + 1, line }
    }

    #[test]
    fn a_case_is_the_sum_of_its_windows() {
        let found = report(&record(), &[slice(0, 10), slice(1, 30)]).unwrap();
        assert!((found.window_s - 0.2).abs() < 1e-12 && (found.goodput_rps - 200.0).abs() < 1e-9);
        assert_eq!((found.ledger.good, found.ledger.failed_total(), found.body_bytes), (40, 1, 400));
        assert_eq!((found.sent_in_all, found.answered_in_all), (Some(58), Some(57)));
        assert_eq!(found.ledger.unaccounted(), None, "requests in flight belong to no slice's window");
    }

    #[test]
    fn slices_whose_ledger_does_not_close_are_refused() {
        let mut open = slice(4, 10);
        open.line.sent += 1;
        assert_eq!(report(&record(), &[open]).unwrap_err(), "slice 4 has requests without an outcome");
        assert_eq!(report(&record(), &[]).unwrap_err(), "none of its slices has a window");
    }

    #[test]
    fn a_line_is_written_flat() {
        let text = serde_json::to_string(&slice(0, 10)).unwrap();
        assert!(text.starts_with(r#"{"round":1,"half":1,"slice":0,"target":0,"#), "{text}");
        assert_eq!(serde_json::from_str::<StoredSlice>(&text).unwrap(), slice(0, 10));
    }
}
