//! Judges objectives from the report of a tool that does not judge them itself. If the report lacks the figure, the outcome is
//! unknown.

use tolok_model::{Limit, Metric, Objective, ObjectiveOutcome, ObjectiveRecord, Part};

use tolok_tools::ToolReport;

/// The outcome of each objective of a scenario.
pub fn judged(objectives: &[Objective], report: &ToolReport) -> Vec<ObjectiveRecord> {
    objectives.iter().map(|objective| record(objective, figure(objective, report))).collect()
}

fn record(objective: &Objective, value: Option<f64>) -> ObjectiveRecord {
    let outcome = match value {
        None => ObjectiveOutcome::Unknown,
        Some(value) if objective.holds(value) => ObjectiveOutcome::Kept,
        Some(_) => ObjectiveOutcome::Crossed,
    };
    ObjectiveRecord { objective: objective.to_string(), value, outcome }
}

/// The figure of an objective, in base units.
fn figure(objective: &Objective, report: &ToolReport) -> Option<f64> {
    let (ledger, latency) = (&report.ledger, &report.latency);
    // Other tools measure one time per request, and no other part of it.
    let is_told = matches!(objective.part, None | Some(Part::Response | Part::Service));
    let is_share = matches!(objective.value, Limit::Share(_));
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    match objective.metric {
        _ if !is_told => None,
        Metric::Quantile(quantile) => latency.at(quantile),
        Metric::Mean => latency.mean_s,
        Metric::Max => latency.max_s,
        Metric::Min => None,
        Metric::Goodput if is_share => share(ledger.good, ledger.finished() + ledger.unsent),
        Metric::Goodput => Some(report.goodput_rps),
        // As in tolok's own tool and k6: all finished requests, good or failed.
        Metric::Rate => Some(ledger.finished() as f64 / report.window_s),
        Metric::Failed if is_share => share(ledger.failed_total(), ledger.finished()),
        Metric::Failed => Some(ledger.failed_total() as f64),
    }
}

#[cfg(test)]
mod tests {
    use tolok_model::{Latency, LedgerCounts, Percentile};

    use super::*;

    /// 90 correct responses out of 100 in 2 s, and 20 requests that were never sent.
    fn report() -> ToolReport {
        let failed = [("bad_status".to_owned(), 6), ("timeout".to_owned(), 4)].into();
        ToolReport {
            window_s: 2.0,
            goodput_rps: 45.0,
            ledger: LedgerCounts { good: 90, failed, unsent: 20, ..LedgerCounts::default() },
            latency: Latency {
                percentiles: vec![Percentile::new(0.95, Some(0.04))],
                mean_s: Some(0.01),
                ..Latency::default()
            },
            ..ToolReport::default()
        }
    }

    fn of(text: &str) -> (Option<f64>, ObjectiveOutcome) {
        let found = judged(&[Objective::parse(text).unwrap()], &report()).remove(0);
        (found.value, found.outcome)
    }

    #[test]
    fn what_the_tool_tells_is_held_against_the_objective() {
        assert_eq!(of("p95 < 50ms"), (Some(0.04), ObjectiveOutcome::Kept));
        assert_eq!(of("service.p95 < 30ms"), (Some(0.04), ObjectiveOutcome::Crossed));
        assert_eq!(of("mean < 20ms"), (Some(0.01), ObjectiveOutcome::Kept));
        assert_eq!(of("goodput >= 99%"), (Some(0.75), ObjectiveOutcome::Crossed), "unsent requests count as offered");
        assert_eq!(of("goodput > 40/s"), (Some(45.0), ObjectiveOutcome::Kept));
        assert_eq!(of("rate > 40/s"), (Some(50.0), ObjectiveOutcome::Kept), "requests of any outcome count");
        assert_eq!(of("failed < 1%"), (Some(0.1), ObjectiveOutcome::Crossed));
        assert_eq!(of("failed <= 10"), (Some(10.0), ObjectiveOutcome::Kept));
    }

    #[test]
    fn what_the_tool_does_not_tell_is_unknown() {
        for text in ["p99 < 50ms", "max < 1s", "min < 1s", "connect.p95 < 1ms", "lateness.mean < 1ms"] {
            assert_eq!(of(text), (None, ObjectiveOutcome::Unknown), "{text}");
        }
        let nothing = ToolReport { window_s: 1.0, ..ToolReport::default() };
        let found = judged(&[Objective::parse("failed < 1%").unwrap()], &nothing).remove(0);
        assert_eq!((found.value, found.outcome), (None, ObjectiveOutcome::Unknown), "nothing was finished");
    }
}
