//! What each trial found by itself.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

/// One trial of a case, as it was observed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialFinding {
    /// Number of the trial.
    pub trial: u32,
    /// Number of its block.
    pub block: u32,
    /// What became of it.
    pub outcome: TrialOutcome,
    /// Why it is not scored, as words: `did not start`, `foreign-cpu steal`; none of a scored trial.
    pub reason: Option<String>,
    /// What it found, by the name of the figure, which ends in its unit; empty of a trial that failed.
    pub figures: BTreeMap<String, f64>,
}

worded! {
    /// What became of a trial.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum TrialOutcome by word {
        /// It was measured, nobody disturbed it, and all figures rest on it.
        Scored = "scored",
        /// It was measured and is in no figure, because others disturbed it.
        Disturbed = "disturbed",
        /// It failed.
        Failed = "failed",
    }
}

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

/// A trial that was measured and is in no figure, because others disturbed it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedTrial {
    /// Number of the trial.
    pub trial: u32,
    /// How often it was measured.
    pub attempts: u32,
    /// Good answers per second that were seen, nevertheless.
    pub goodput_rps: f64,
    /// What disturbed it, as words: `foreign-cpu`, `steal`.
    pub kinds: Vec<String>,
    /// The same in sentences, with the figures seen.
    pub causes: Vec<String>,
}

/// A trial that was measured and is in no figure, because others disturbed it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedProgramTrial {
    /// Number of the trial.
    pub trial: u32,
    /// How often it was measured.
    pub attempts: u32,
    /// Median wall time that was seen, nevertheless, in seconds.
    pub wall_s: Option<f64>,
    /// What disturbed it, as words: `foreign-cpu`, `steal`.
    pub kinds: Vec<String>,
    /// The same in sentences, with the figures seen.
    pub causes: Vec<String>,
}
