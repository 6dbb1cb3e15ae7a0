//! The windows of a case, second by second.

use serde::Serialize;

use crate::JsonSchema;

/// A case second by second, over its scored trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SecondsFinding {
    /// Start of each second after the start of the window; negative in the warm-up.
    pub start_s: Vec<f64>,
    /// Correct responses in each second.
    pub good_rps: Vec<Band>,
    /// Failed requests in each second; empty if none failed.
    pub failed_rps: Vec<Band>,
    /// Median response time of each second.
    pub latency_p50_s: Vec<Band>,
    /// CPUs that the subject used: 1 is one whole CPU.
    pub subject_cpus: Vec<Band>,
    /// Memory of the subject.
    pub subject_memory_bytes: Vec<Band>,
    /// CPUs that the generator used.
    pub generator_cpus: Vec<Band>,
    /// CPUs that the database used; empty without one.
    pub database_cpus: Vec<Band>,
    /// Memory of the database; empty without one.
    pub database_memory_bytes: Vec<Band>,
    /// The long tail over time; absent if fewer than two spans of the window have enough responses.
    pub tail: Option<TailFinding>,
}

/// The 99.9th percentile over time, in the shortest spans that hold 10,000 responses each.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TailFinding {
    /// Length of each span. The first begins with the window, and each begins where the previous one ends.
    pub span_s: f64,
    /// The fewest correct responses of a span in any trial.
    pub fewest_answers: u64,
    /// Trials behind it: those with spans of this length.
    pub trials: u32,
    /// The percentile of each span.
    pub latency_p999_s: Vec<Band>,
}

/// One second of the trials. Each list of [`SecondsFinding`] is empty if it was not read, and otherwise as long as
/// `start_s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Band {
    /// Median over the trials; absent if no trial has it.
    pub value: Option<f64>,
    /// The lowest.
    pub low: Option<f64>,
    /// The highest.
    pub high: Option<f64>,
}
