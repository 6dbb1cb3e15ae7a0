//! Counters from unscored trials.

use serde::Serialize;

use crate::JsonSchema;

/// The unscored trial of one case. Counters that could not be read are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct DiagnosisFinding {
    /// Name of the case.
    pub case: String,
    /// Title of its subject.
    pub title: String,
    /// Why there are no figures, in a sentence.
    pub failure: Option<String>,
    /// Correct responses while the counters ran.
    pub answers: Option<u64>,
    /// Length of the window, in seconds.
    pub window_s: Option<f64>,
    /// Correct responses per second while the counters ran. Not a result.
    pub goodput_rps: Option<f64>,
    /// That goodput over the median of the scored trials: the cost of counting.
    pub of_scored: Option<f64>,
    /// CPU cycles of the subject per correct response.
    pub cycles_per_good: Option<f64>,
    /// Instructions per correct response.
    pub instructions_per_good: Option<f64>,
    /// Instructions per cycle.
    pub instructions_per_cycle: Option<f64>,
    /// Mispredicted branches per correct response.
    pub branch_misses_per_good: Option<f64>,
    /// Accesses that missed the last cache, per correct response.
    pub cache_misses_per_good: Option<f64>,
    /// System calls per correct response.
    pub syscalls_per_good: Option<f64>,
    /// Garbage collections in the window.
    pub collections: Option<u64>,
    /// Share of the window in which they stopped the program.
    pub pause_share: Option<f64>,
    /// Their longest stop, in seconds.
    pub pause_s_max: Option<f64>,
    /// Counters that could not be read and why, one sentence each.
    pub unavailable: Vec<String>,
}
