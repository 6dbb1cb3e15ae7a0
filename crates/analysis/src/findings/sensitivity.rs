//! The factors of a study.

use serde::Serialize;

use super::estimate::Estimate;
use crate::JsonSchema;

/// Scenarios that differ in one factor only, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorPanel {
    /// Name of the factor: `database-rtt`, `pool`, `link-rtt`, `link-rate`, `link-loss`, `connections` (users of a closed
    /// loop), `offered-rate`, `subject-cpus`, `subject-memory`, or `parameter:` with the name of a workload's parameter
    /// (`parameter:limit`).
    pub factor: String,
    /// The factor in words: `round-trip time to the database`.
    pub title: String,
    /// Unit of its values: `s`, `bytes`, `per_s`, `bit_per_s`, `share` (0 to 1), or empty for a count.
    pub unit: String,
    /// The workload, without the parameter that varies.
    pub workload: String,
    /// Its title.
    pub workload_title: String,
    /// What these scenarios share and other panels do not, in words; empty with a single panel.
    pub fixed: String,
    /// The values, the smallest first, each with its scenario.
    pub levels: Vec<FactorLevel>,
    /// A line for each subject with a figure at two or more levels.
    pub lines: Vec<FactorLine>,
    /// Where the order of two subjects flips between neighbouring levels.
    pub crossovers: Vec<FactorCrossover>,
    /// The effect of the factor, in a sentence.
    pub sentence: String,
}

/// A value of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorLevel {
    /// The value, in the panel's unit.
    pub value: f64,
    /// The value in words: `20 ms`.
    pub label: String,
    /// Id of the scenario.
    pub scenario: String,
}

/// A subject across the values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorLine {
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// A point for each level at which it was measured and ranked.
    pub points: Vec<FactorPoint>,
}

/// A subject at a value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorPoint {
    /// The value, in the panel's unit.
    pub value: f64,
    /// Correct responses per second.
    pub goodput_rps: Estimate,
    /// Goodput relative to the lowest level in the same round; absent at that level.
    pub of_lowest: Option<Estimate>,
    /// What limited it there, as a word.
    pub limited_by: Option<String>,
}

/// Two subjects whose order flips between two neighbouring levels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorCrossover {
    /// The subject that is faster at the lower level.
    pub faster_below: String,
    /// The subject that is faster at the higher level.
    pub faster_above: String,
    /// The two neighbouring levels, in the panel's unit.
    pub between: (f64, f64),
    /// Where their lines cross, in the panel's unit. Lines are straight over the logarithm of the factor, or over the factor
    /// itself in a panel with 0.
    pub at: f64,
    /// Lower end of its interval; absent if it reaches beyond the levels.
    pub at_low: Option<f64>,
    /// Upper end.
    pub at_high: Option<f64>,
    /// Whether a verdict confirms the order at both levels. Otherwise the crossing is uncertain.
    pub sure: bool,
}

/// How much of the differences between a workload's cases each factor explains.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VarianceFinding {
    /// The workload, without the parameters that vary.
    pub workload: String,
    /// Its title.
    pub workload_title: String,
    /// What distinguishes its scenarios from others of the workload: `closed loop, keep-alive, 5s`; empty without others.
    pub fixed: String,
    /// Cases behind it, one for each combination of the factors.
    pub cases: u32,
    /// Rounds behind it.
    pub blocks: u32,
    /// Trials without a figure. The means of their case and round replace these figures.
    pub filled: u32,
    /// One share for each factor, including the subject, the largest first; then interactions, then the residual.
    pub shares: Vec<VarianceShare>,
    /// Subjects that are left out, because one of their combinations is missing or not ranked.
    pub left_out: Vec<String>,
    /// How the factors compare, in a sentence.
    pub sentence: String,
}

/// The share of the variance of log goodput that one factor explains.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VarianceShare {
    /// The factor as in [`FactorPanel`], or `subject`, `link`, `database-link`, `database`, `network` (whatever else of these
    /// differs, or all of it if its parts are not combined with each other), `interactions`, `residual`.
    pub factor: String,
    /// In words.
    pub title: String,
    /// From 0 to 1, with its interval over rounds; interactions and residual have no interval. `trials` is empty.
    pub share: Estimate,
    /// Goodput at the factor's best level over that at its worst, averaged over the other factors; absent for interactions and
    /// residual.
    pub range_ratio: Option<f64>,
}
