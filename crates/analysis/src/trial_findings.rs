//! What each trial found by itself: the observations from which all figures of a case are made.
//!
//! Figures of a case are absent where a single trial lacks them. Here every trial has what it has, so that others can compute
//! with the observations themselves.

use tolok_model::{Measurement, Outcome, TrialRecord};

use crate::findings::{MemorySource, TrialFinding, TrialOutcome};
use crate::observations::{Found, Trials, answers, goodput, per_answer};

/// A figure of a trial: its name and its value.
type TrialFigure = (&'static str, Option<f64>);

/// Those of a server.
pub(crate) fn of_server(trials: &Trials<Measurement>, memory: Option<MemorySource>) -> Vec<TrialFinding> {
    of_trials(trials, &|trial| server_figures(trial, memory))
}

fn server_figures(trial: &Measurement, memory: Option<MemorySource>) -> Vec<TrialFigure> {
    let ledger = &trial.ledger;
    let database_cpu = || Some(trial.database.as_ref()?.resources.as_ref()?.cpu_s / answers(trial)?);
    vec![
        ("goodput_rps", goodput(trial)),
        ("offered_rps", trial.offered_rps),
        ("window_s", Some(trial.window_s)),
        ("sent_requests", ledger.sent.map(|sent| sent as f64)),
        ("good_requests", Some(ledger.good as f64)),
        ("failed_requests", Some(ledger.failed.values().sum::<u64>() as f64)),
        ("body_bytes_per_s", Some(trial.body_bytes as f64 / trial.window_s)),
        ("cpu_s_per_good", per_answer(trial)),
        ("database_cpu_s_per_good", database_cpu()),
        ("memory_bytes", memory.and_then(|source| source.bytes(trial))),
        ("latency_mean_s", trial.latency.mean_s),
        ("latency_p50_s", trial.latency.at(0.5)),
        ("latency_p90_s", trial.latency.at(0.9)),
        ("latency_p99_s", trial.latency.at(0.99)),
        ("latency_p999_s", trial.latency.at(0.999)),
        ("cold_start_s", trial.cold_start_s),
    ]
}

/// The figures of each trial, as `figures` reads them.
pub(crate) fn of_trials<T: Found>(trials: &Trials<T>, figures: &dyn Fn(&T) -> Vec<TrialFigure>) -> Vec<TrialFinding> {
    let of_trial = |record: &&TrialRecord| {
        let (outcome, reason, found) = match (T::of(&record.outcome), &record.outcome) {
            (Some(found), _) if found.disturbances().is_empty() => (TrialOutcome::Scored, None, figures(found)),
            (Some(found), _) => {
                let kinds: Vec<&str> = found.disturbances().iter().map(|cause| cause.kind.as_str()).collect();
                (TrialOutcome::Disturbed, Some(kinds.join(" ")), figures(found))
            }
            (None, Outcome::Failed(failure)) => {
                (TrialOutcome::Failed, Some(failure.reason.word().to_owned()), Vec::new())
            }
            // A case is of a server or of a program, and so are all of its trials.
            (None, _) => return None,
        };
        // A value that is no number (of a damaged record) could not be written as one.
        let known = found.into_iter().filter_map(|(name, value)| Some((name, value.filter(|it| it.is_finite())?)));
        let figures = known.map(|(name, value)| (name.to_owned(), value)).collect();
        Some(TrialFinding { trial: record.number, block: record.block, outcome, reason, figures })
    };
    trials.records.iter().filter_map(of_trial).collect()
}
