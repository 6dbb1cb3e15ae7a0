//! The findings of each trial.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

/// One trial of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialFinding {
    /// Number of the trial.
    pub trial: u32,
    /// Number of its round.
    pub block: u32,
    /// Its outcome.
    pub outcome: TrialOutcome,
    /// Why it is not scored, as words: `did not start`, `foreign-cpu steal`; absent for a scored trial.
    pub reason: Option<String>,
    /// Its figures by name; each name ends in its unit. Empty for a failed trial.
    pub figures: BTreeMap<String, f64>,
}

worded! {
    /// Outcome of a trial.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum TrialOutcome by word {
        /// It was measured without disturbance, and every figure uses it.
        Scored = "scored",
        /// It was measured but disturbed, so no figure uses it.
        Disturbed = "disturbed",
        /// It failed.
        Failed = "failed",
    }
}

/// Outcomes of a run's trials, all cases together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialCounts {
    /// Trials of the plan.
    pub planned: u32,
    /// Measured trials, disturbed or not.
    pub measured: u32,
    /// Failed trials.
    pub failed: u32,
    /// Trials that stayed disturbed: measured, but used by no figure.
    pub disturbed: u32,
    /// Trials that were repeated because of disturbances.
    pub measured_anew: u32,
    /// Measurements that were discarded because of disturbances.
    pub measurements_discarded: u32,
}

/// What others took of the machine's CPU time in the median scored trial of the case that suffered most.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OthersFinding {
    /// Share that other programs used; absent where no trial tells.
    pub used: Option<f64>,
    /// Share that the hypervisor took; absent where no trial tells.
    pub stolen: Option<f64>,
    /// What that means for the figures, and what to do; absent if both keep their limits.
    pub caution: Option<String>,
}

/// A disturbed trial: it was measured, but no figure uses it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedTrial {
    /// Number of the trial.
    pub trial: u32,
    /// How often it was measured.
    pub attempts: u32,
    /// Its correct responses per second.
    pub goodput_rps: f64,
    /// What disturbed it, as words: `foreign-cpu`, `steal`.
    pub kinds: Vec<String>,
    /// The same in sentences, with figures.
    pub causes: Vec<String>,
}

/// A disturbed trial: it was measured, but no figure uses it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedProgramTrial {
    /// Number of the trial.
    pub trial: u32,
    /// How often it was measured.
    pub attempts: u32,
    /// Its median wall time, in seconds.
    pub wall_s: Option<f64>,
    /// What disturbed it, as words: `foreign-cpu`, `steal`.
    pub kinds: Vec<String>,
    /// The same in sentences, with figures.
    pub causes: Vec<String>,
}
