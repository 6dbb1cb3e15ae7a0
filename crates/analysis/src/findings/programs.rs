//! The findings of timed programs.

use serde::Serialize;

use super::case::{PairComparison, ProgramCaseFinding};
use super::environment::EnvironmentFinding;
use super::estimate::Estimate;
use super::judgement::{NoiseFloor, PowerNote};
use super::slices::TurnsFinding;
use crate::JsonSchema;

/// A program's workload under one timer: its cases and how they compare.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProgramFinding {
    /// Its id: `queue-sync-n1000`.
    pub id: String,
    /// Its workload: `queue-sync?n=1000`.
    pub workload: String,
    /// Title of its workload.
    pub title: String,
    /// How often a trial runs it, in words.
    pub runs: String,
    /// Its timer: `tolok`, `hyperfine`, `time`.
    pub timer: String,
    /// Versions of the timer, from its trials.
    pub timer_versions: Vec<String>,
    /// The resolution of its wall times, the coarsest of all trials, in seconds.
    pub timer_resolution_s: Option<f64>,
    /// The environment of its trials. They use no generator and no link, although the environment has both.
    pub environment: EnvironmentFinding,
    /// One sentence that answers the question for this scenario; never a bare winner.
    pub verdict: String,
    /// Its cases by wall time, the shortest first and unranked ones last.
    pub cases: Vec<ProgramCaseFinding>,
    /// Every pair of ranked cases, the one with the shorter time first.
    pub comparisons: Vec<ProgramComparison>,
    /// The difference of wall times between the halves of the noise check; absent without a pair.
    pub noise_floor: Option<NoiseFloor>,
    /// How its cases took turns; absent if each had its own trials.
    pub turns: Option<TurnsFinding>,
    /// How many rounds would detect a difference of wall times that matters; absent with fewer than two ranked cases.
    pub power: Option<PowerNote>,
}

/// How two cases of a scenario compare. A shorter time is faster.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProgramComparison {
    /// Subject of the first case.
    pub a: String,
    /// Subject of the second case.
    pub b: String,
    /// By wall time.
    pub wall: PairComparison,
    /// By the time above the start; absent if either has no such time, is indistinguishable from its start, or was not above it
    /// in a shared round.
    pub above_floor: Option<PairComparison>,
}

/// Scenarios that differ only in one parameter of their workload (and in how often they run).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProgramSeries {
    /// Name of the workload: `queue-sync`.
    pub workload: String,
    /// Title of the workload.
    pub title: String,
    /// The parameter: `n`.
    pub parameter: String,
    /// Its other parameters, in words; empty if there are none.
    pub fixed: String,
    /// Their timer.
    pub timer: String,
    /// Id of their environment; empty if the study has only one.
    pub environment: String,
    /// The values of the parameter, the smallest first.
    pub values: Vec<u32>,
    /// The subjects, in the order of the last scenario's table.
    pub lines: Vec<SeriesLine>,
    /// Where the order of two subjects flips.
    pub crossovers: Vec<Crossover>,
}

/// A subject in a series.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesLine {
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime.
    pub runtime: String,
    /// A point for each value that it ran with.
    pub points: Vec<SeriesPoint>,
}

/// A subject at one value of the parameter.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesPoint {
    /// Value of the parameter.
    pub value: u32,
    /// Id of the scenario.
    pub scenario: String,
    /// Wall time, in seconds.
    pub wall_s: Option<Estimate>,
    /// Wall time above the start, in seconds; absent if it is indistinguishable from the start.
    pub above_floor_s: Option<Estimate>,
    /// Whether the case is ranked there.
    pub ranked: bool,
}

/// Where the order of two subjects flips: between two values at which it is certain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Crossover {
    /// Subject with the shorter time at the lower value.
    pub a: String,
    /// Subject with the shorter time at the higher value.
    pub b: String,
    /// The time that orders them.
    pub by: CrossoverBy,
    /// The higher of the values below it.
    pub below: u32,
    /// The lower of the values above it.
    pub above: u32,
    /// Time of `a` over time of `b` at the lower value.
    pub ratio_below: Estimate,
    /// The same at the higher value.
    pub ratio_above: Estimate,
    /// The same in a sentence.
    pub sentence: String,
}

/// The time that orders two subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CrossoverBy {
    /// From start to end.
    Wall,
    /// Above the start.
    AboveFloor,
}

/// What several timers report of the same programs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimersFinding {
    /// The workload: `queue-sync?n=1000`.
    pub workload: String,
    /// Its title.
    pub title: String,
    /// Id of the environment; empty if the study has only one.
    pub environment: String,
    /// How often a trial runs it, in words.
    pub runs: String,
    /// What each timer reports of each subject.
    pub readings: Vec<TimerReading>,
    /// What readers must know when comparing them.
    pub notes: Vec<String>,
}

/// What one timer reports of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TimerReading {
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime.
    pub runtime: String,
    /// The timer: `tolok`, `hyperfine`, `time`.
    pub timer: String,
    /// Id of the scenario.
    pub scenario: String,
    /// The resolution of its wall times, in seconds.
    pub resolution_s: Option<f64>,
    /// Median wall time, in seconds.
    pub wall_s: Option<Estimate>,
    /// Mean wall time of a trial, as the timer reports it or else computed from the runs.
    pub mean_s: Option<Estimate>,
    /// CPU time, in seconds.
    pub cpu_s: Option<Estimate>,
    /// Largest resident set, in bytes.
    pub rss_bytes: Option<Estimate>,
    /// Its median wall time over that of tolok's own timer, within rounds; absent for tolok's own.
    pub of_own: Option<Estimate>,
    /// Counted runs, in all scored trials.
    pub runs: u32,
}
