//! The outcomes of a run's trials, counted in one place, so all parts of a report give the same numbers.

use tolok_model::{Outcome, Plan, TrialRecord};

use crate::findings::TrialCounts;

impl TrialCounts {
    pub(crate) fn of(plan: &Plan, trials: &[TrialRecord]) -> Self {
        let is_failed = |trial: &&TrialRecord| matches!(trial.outcome, Outcome::Failed(_));
        let failed = trials.iter().filter(is_failed).count() as u32;
        Self {
            planned: plan.trials.len() as u32,
            measured: trials.len() as u32 - failed,
            failed,
            disturbed: trials.iter().filter(|trial| is_disturbed(&trial.outcome)).count() as u32,
            measured_anew: trials.iter().filter(|trial| trial.attempts > 1).count() as u32,
            measurements_discarded: trials.iter().map(|trial| trial.attempts.saturating_sub(1)).sum(),
        }
    }
}

fn is_disturbed(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Completed(measurement) => !measurement.disturbances.is_empty(),
        Outcome::Timed(timing) => !timing.disturbances.is_empty(),
        Outcome::Failed(_) => false,
    }
}
