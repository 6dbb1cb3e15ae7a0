//! What is said of the factors of a study.

use serde::Serialize;

use super::estimate::Estimate;
use crate::JsonSchema;

/// Scenarios that differ in one factor only, beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorPanel {
    /// The factor as a stable word: `database-rtt`, `pool`, `link-rtt`, `link-rate`, `link-loss`, `connections` (users of a closed
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
    /// What is the same in all of these scenarios and differs from other panels, in words; empty if there is one only.
    pub fixed: String,
    /// The values, the smallest first, each with its scenario.
    pub levels: Vec<FactorLevel>,
    /// One for each subject that has a figure at two levels at least.
    pub lines: Vec<FactorLine>,
    /// Where the order of two subjects flips between neighbouring levels.
    pub crossovers: Vec<FactorCrossover>,
    /// In a sentence, what the factor does.
    pub sentence: String,
}

/// A value of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorLevel {
    /// The value, in the panel's unit.
    pub value: f64,
    /// As a person writes it: `20 ms`.
    pub label: String,
    /// The scenario.
    pub scenario: String,
}

/// A subject across the values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorLine {
    /// The subject as a person would write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// One for each level at which it was measured and may be ranked.
    pub points: Vec<FactorPoint>,
}

/// A subject at a value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorPoint {
    /// The value, in the panel's unit.
    pub value: f64,
    /// Good answers per second.
    pub goodput_rps: Estimate,
    /// Goodput relative to the lowest level in the same block; none at that level.
    pub of_lowest: Option<Estimate>,
    /// What limited it there, in a word.
    pub limited_by: Option<String>,
}

/// Two subjects whose order flips between two neighbouring levels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorCrossover {
    /// The subject that is faster below.
    pub faster_below: String,
    /// The subject that is faster above.
    pub faster_above: String,
    /// The levels between which it happens, in the panel's unit.
    pub between: (f64, f64),
    /// Where the lines between them cross, in the panel's unit: straight over logarithms, or over the factor itself in a panel with 0.
    pub at: f64,
    /// Lower end of the interval of that; none where it reaches beyond the levels.
    pub at_low: Option<f64>,
    /// Upper end.
    pub at_high: Option<f64>,
    /// Whether each of the two is faster by its own verdict: a crossing that is no more than two undecided pairs is not sure.
    pub sure: bool,
}

/// How much of the differences between the cases of a workload each factor makes up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VarianceFinding {
    /// The workload, without the parameters that vary.
    pub workload: String,
    /// Its title.
    pub workload_title: String,
    /// What keeps its scenarios apart from others of the workload, in words: `closed loop, keep-alive, 5s`; empty if there are none.
    pub fixed: String,
    /// Cases that it rests on, one for each combination of the factors.
    pub cases: u32,
    /// Blocks that it rests on.
    pub blocks: u32,
    /// Trials of these without a figure, for which the means of their case and of their block stand in.
    pub filled: u32,
    /// One for each factor, the subject among them, the largest first; then what factors do together, and then what is left.
    pub shares: Vec<VarianceShare>,
    /// Subjects that are left out, because a combination of theirs is missing or may not be ranked.
    pub left_out: Vec<String>,
    /// In a sentence, which factor matters how many times as much as which.
    pub sentence: String,
}

/// The part of the variance of the logarithm of goodput that one factor makes up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VarianceShare {
    /// The factor as in [`FactorPanel`], or `subject`, `link`, `database-link`, `database`, `network` (whatever else of these
    /// differs, or all of it where its parts are not combined with each other), `interactions`, `residual`.
    pub factor: String,
    /// In words.
    pub title: String,
    /// From 0 to 1, with its interval over blocks; without one for interactions and residual. No values by block.
    pub share: Estimate,
    /// Goodput at the best of its levels over that at the worst, the others averaged; none for interactions and residual.
    pub range_ratio: Option<f64>,
}
