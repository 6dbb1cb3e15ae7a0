//! The windows of a case, second by second.

use serde::Serialize;

use crate::JsonSchema;

/// A case second by second, over its scored trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SecondsFinding {
    /// Start of each second after the start of the window; negative in the warm-up.
    pub start_s: Vec<f64>,
    /// Good answers in each second.
    pub good_rps: Vec<Band>,
    /// Requests that failed in each second; empty where none did.
    pub failed_rps: Vec<Band>,
    /// Median response time of each second.
    pub latency_p50_s: Vec<Band>,
    /// CPUs that the subject kept busy: 1 is one whole CPU.
    pub subject_cpus: Vec<Band>,
    /// Memory of the subject.
    pub subject_memory_bytes: Vec<Band>,
    /// CPUs that the generator kept busy.
    pub generator_cpus: Vec<Band>,
    /// CPUs that the database kept busy; empty without one.
    pub database_cpus: Vec<Band>,
    /// Memory of the database; empty without one.
    pub database_memory_bytes: Vec<Band>,
    /// The long tail over time; none where no two spans of the window have answers enough.
    pub tail: Option<TailFinding>,
}

/// The 99.9th percentile over time, of spans that are as short as each has 10,000 answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TailFinding {
    /// Length of each span; one begins where the one before it ends, the first with the window.
    pub span_s: f64,
    /// Good answers of the span that has fewest in any trial.
    pub fewest_answers: u64,
    /// Trials that it rests on: those whose spans have this length.
    pub trials: u32,
    /// The percentile of each span.
    pub latency_p999_s: Vec<Band>,
}

/// What the trials had in one second. Each list of [`SecondsFinding`] is empty where nothing of it was read, or else as long as
/// `start_s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Band {
    /// Median over the trials; none where no trial has it.
    pub value: Option<f64>,
    /// The lowest.
    pub low: Option<f64>,
    /// The highest.
    pub high: Option<f64>,
}
