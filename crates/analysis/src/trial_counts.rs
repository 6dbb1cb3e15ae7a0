//! What became of the trials of a run, counted in one place, so that no two parts of a report give different numbers.

use schemars::JsonSchema;
use serde::Serialize;
use tolok_model::{Outcome, Plan, TrialRecord};

/// What became of the trials of a run, all cases together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialCounts {
    /// Trials of the plan.
    pub planned: u32,
    /// Those that were measured, disturbed or not.
    pub measured: u32,
    /// Those that failed.
    pub failed: u32,
    /// Those that others disturbed to the end: measured, and in no figure.
    pub disturbed: u32,
    /// Those that were measured more than once, because others had disturbed them.
    pub measured_anew: u32,
    /// Measurements that were thrown away for that.
    pub measurements_discarded: u32,
}

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
