//! Judgements about a case or a scenario besides its figures: how far to trust them, and how certain a comparison is.

use serde::Serialize;
use tolok_model::ObjectiveOutcome;

use super::estimate::{Estimate, Verdict};
use crate::JsonSchema;

/// The difference between the two halves of the scenario's noise check, which are the same subject.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NoiseFloor {
    /// The subjects that were entered twice, as users write them.
    pub subject: String,
    /// The second half over the first, within rounds, over all of these subjects. The true value is 1.
    pub ratio: Estimate,
    /// Rounds that measured both.
    pub blocks: u32,
    /// How far apart the halves are in a round, as a fraction: the root mean square of the logarithms.
    pub scatter: Option<f64>,
    /// The factor by which this widens all intervals of the scenario: 1 unless the halves scatter significantly more than the
    /// cases.
    pub widening: f64,
    /// The same for each subject, with an interval if it has enough rounds.
    pub pairs: Vec<NoisePair>,
    /// Distance from 1: the larger of the ratio and its reciprocal, minus 1.
    pub size: f64,
    /// The verdict that these figures would give two different subjects. *Faster* or *slower* means that this run finds
    /// differences that do not exist.
    pub verdict: Verdict,
    /// The same in a sentence.
    pub sentence: String,
}

/// A subject of the noise check.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NoisePair {
    /// The subject, as users write it.
    pub subject: String,
    /// Rounds in which it was entered twice.
    pub blocks: u32,
    /// The second half over the first.
    pub ratio: Estimate,
}

/// How many rounds are enough to detect a difference of twice the smallest effect.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PowerNote {
    /// The difference, as a fraction.
    pub effect: f64,
    /// The probability of the verdict *faster* with that many rounds, from 0 to 1.
    pub power: f64,
    /// Rounds that the median pair of the scenario needs; absent above 10,000.
    pub blocks_needed: Option<u32>,
    /// Rounds that the pair with the largest scatter needs; absent above 10,000.
    pub blocks_needed_worst: Option<u32>,
    /// The smallest difference that this run's rounds detect with that probability in the median pair, as a fraction.
    pub smallest_found: f64,
    /// The same in a sentence.
    pub sentence: String,
}

/// A check that every scored trial of a case must pass; for `disturbance`, every measured trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateFinding {
    /// Name of the gate: `ledger`, `little`, `utilisation`, `link-bytes`, `body-samples`, `generator-headroom`,
    /// `offered-rate`, `lateness`, `disturbance`, `steady-state`.
    pub gate: String,
    /// Its outcome over all trials.
    pub outcome: GateOutcome,
    /// Trials that passed.
    pub trials_passed: u32,
    /// Numbers of the trials that failed.
    pub trials_failed: Vec<u32>,
    /// Trials in which the check has no answer.
    pub trials_unknown: u32,
    /// The value furthest beyond its limit, or closest to it, in the unit of `limit`; absent if it is not a number.
    pub worst: Option<f64>,
    /// The limit of that value in its trial; absent if it is not a number.
    pub limit: Option<f64>,
    /// What the trials showed, with figures, or why the check has no answer.
    pub message: String,
    /// Whether the failure excludes the case from comparisons. A flag then says so as well.
    pub bars: bool,
}

/// Outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// Every trial with an answer passed, and at least one has an answer.
    Passed,
    /// No trial has an answer.
    Unknown,
    /// A trial failed.
    Failed,
}

/// Whether the window was steady, second by second.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SteadyFinding {
    /// The class of all judged trials; `inconsistent` if they differ.
    pub class: SteadyClass,
    /// Trials by class, the most frequent first.
    pub trials: Vec<(SteadyClass, u32)>,
    /// Trials that are not judged: their windows are too short or have no seconds.
    pub trials_unknown: u32,
    /// Seconds until the median trial was steady, among those that warmed up or slowed down.
    pub steady_after_s: Option<f64>,
    /// Growth of the subject's memory over the window, in bytes per second: the median over trials of the Theil–Sen slopes.
    /// Absent if memory was not read often enough.
    pub memory_growth_bytes_per_s: Option<Estimate>,
    /// The same in a sentence.
    pub sentence: String,
}

/// The course of a window's seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyClass {
    /// One level throughout.
    Flat,
    /// It became faster and stayed there.
    WarmUp,
    /// It became slower and stayed there.
    Slowdown,
    /// It had not settled when the window ended.
    NoSteadyState,
    /// Trials of the case differ.
    Inconsistent,
}

/// What each correct response takes of a resource, by the utilisation law D = U / X.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ServiceDemand {
    /// Which: `subject-cpu`, `database-cpu`, `generator-cpu`, `link`, `database-link`, `pool`.
    pub resource: String,
    /// Time that each correct response takes of it, in seconds.
    pub demand_s: Estimate,
    /// Number of servers: CPUs or connections; 1 for one direction of a link.
    pub servers: f64,
    /// Share of it that was used, from 0 to 1.
    pub utilisation: f64,
    /// The most correct responses per second that it allows: servers / demand.
    pub most_rps: f64,
}

/// An objective in all trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ObjectiveFinding {
    /// The objective: `p95 < 50ms`.
    pub objective: String,
    /// Crossed if any trial crossed it; kept if every trial kept it and none failed; otherwise unknown.
    pub outcome: ObjectiveOutcome,
    /// Its worst figure in any trial.
    pub worst: Option<f64>,
    /// Unit of that figure: `s`, `share` (0 to 1), `per_s` or `requests`.
    pub unit: String,
    /// Trials that kept it.
    pub trials_kept: u32,
    /// Trials that crossed it.
    pub trials_crossed: u32,
}
