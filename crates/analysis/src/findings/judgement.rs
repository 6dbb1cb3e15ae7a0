//! What is said of a case or a scenario beyond its figures: whether they may be believed, and how sure a comparison is.

use serde::Serialize;
use tolok_model::ObjectiveOutcome;

use super::estimate::{Estimate, Verdict};
use crate::JsonSchema;

/// How far apart the two halves of the scenario's A/A pair came out, which are the same subject entered twice.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NoiseFloor {
    /// The subject, as a person would write it.
    pub subject: String,
    /// The second half over the first, within blocks; 1 is what it truly is.
    pub ratio: Estimate,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// How far from equal it came out: the larger of the ratio and its reciprocal, less 1.
    pub size: f64,
    /// What would have been said of two subjects with these figures. *Faster* or *slower* means that this run finds
    /// differences where none are.
    pub verdict: Verdict,
    /// The same in a sentence.
    pub sentence: String,
}

/// How many blocks would have told a difference of the smallest size that matters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PowerNote {
    /// The difference, as a fraction.
    pub effect: f64,
    /// The chance to find it that the number is for, from 0 to 1.
    pub power: f64,
    /// Blocks that the median pair of the scenario would need; none if more than 10,000.
    pub blocks_needed: Option<u32>,
    /// Blocks that the pair with the largest scatter would need; none if more than 10,000.
    pub blocks_needed_worst: Option<u32>,
    /// The smallest difference that the blocks of this run would have found with that chance in the median pair, as a fraction.
    pub smallest_found: f64,
    /// The same in a sentence.
    pub sentence: String,
}

/// A check that every scored trial of a case has to pass; of `disturbance`, every measured one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GateFinding {
    /// Which one, as a stable word: `ledger`, `little`, `utilisation`, `link-bytes`, `body-samples`, `generator-headroom`,
    /// `offered-rate`, `lateness`, `disturbance`, `steady-state`.
    pub gate: String,
    /// What became of it over all trials.
    pub outcome: GateOutcome,
    /// Trials that passed.
    pub trials_passed: u32,
    /// Numbers of the trials that did not.
    pub trials_failed: Vec<u32>,
    /// Trials of which it cannot be told.
    pub trials_unknown: u32,
    /// The value that was furthest beyond its limit, or nearest to it, in the unit that `limit` has; none where it is no number.
    pub worst: Option<f64>,
    /// What that value may be at most, in the trial that it is of; none where it is no number.
    pub limit: Option<f64>,
    /// What was seen, in words with figures; if it cannot be told, why.
    pub message: String,
    /// Whether it failed so that the case is kept out of comparisons; a flag says so as well.
    pub bars: bool,
}

/// What became of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateOutcome {
    /// Every trial of which it can be told passed, and it can be told of one at least.
    Passed,
    /// It can be told of no trial.
    Unknown,
    /// A trial failed.
    Failed,
}

/// Whether the window was steady, second by second.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SteadyFinding {
    /// What all trials that could be judged were; `inconsistent` where they differ.
    pub class: SteadyClass,
    /// Trials by class, the most frequent first.
    pub trials: Vec<(SteadyClass, u32)>,
    /// Trials whose windows are too short to be judged, or have no seconds.
    pub trials_unknown: u32,
    /// In the median trial of those that warmed up or slowed down: seconds of the window after which it was steady.
    pub steady_after_s: Option<f64>,
    /// Growth of the subject's memory over the window, in bytes per second: median over trials of the Theil–Sen slopes. None
    /// where memory was not read often enough.
    pub memory_growth_bytes_per_s: Option<Estimate>,
    /// The same in a sentence.
    pub sentence: String,
}

/// What the seconds of a window say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyClass {
    /// One level throughout.
    Flat,
    /// It became faster, and then stayed so.
    WarmUp,
    /// It became slower, and then stayed so.
    Slowdown,
    /// It had no level at its end.
    NoSteadyState,
    /// Trials of the case differ.
    Inconsistent,
}

/// What each good answer takes of a resource: by the utilisation law D = U / X.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ServiceDemand {
    /// Which: `subject-cpu`, `database-cpu`, `generator-cpu`, `link`, `database-link`, `pool`.
    pub resource: String,
    /// Time of it that each good answer takes, in seconds.
    pub demand_s: Estimate,
    /// How many there are of it: CPUs, connections; 1 for a direction of a link.
    pub servers: f64,
    /// Share of it that was used, from 0 to 1.
    pub utilisation: f64,
    /// Good answers per second that it allows: servers / demand.
    pub most_rps: f64,
}

/// An objective in all trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ObjectiveFinding {
    /// The objective: `p95 < 50ms`.
    pub objective: String,
    /// Crossed if it was crossed in any trial; kept if it was kept in every trial, of which none failed; else unknown.
    pub outcome: ObjectiveOutcome,
    /// Its worst figure in any trial.
    pub worst: Option<f64>,
    /// Unit of that figure: `s`, `share` (0 to 1), `per_s` or `requests`.
    pub unit: String,
    /// Trials in which it was kept.
    pub trials_kept: u32,
    /// Trials in which it was crossed.
    pub trials_crossed: u32,
}
