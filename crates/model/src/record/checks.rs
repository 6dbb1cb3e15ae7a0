//! What a record stores to check its figures: the load tool's report on itself, and the window second by second.

use serde::{Deserialize, Serialize};

/// What a load tool reports about itself. Values that it does not report are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadChecks {
    /// Mean requests in flight over the window, sampled over time rather than computed from other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// Mean time from sending to the last byte of a correct response, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_mean_s: Option<f64>,
    /// Median delay of the generator before it acts on a request, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p50_s: Option<f64>,
    /// The 99th percentile of the same delay, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p99_s: Option<f64>,
    /// Percentiles of the response time that the generator's lateness enlarged by more than 5%. They are not reported.
    /// Absent in closed loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_percentiles: Option<Vec<LatePercentile>>,
    /// Share of the window in which the generator's busiest thread was busy, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_thread: Option<f64>,
    /// How response bodies were checked: `exactly`, `length`, `json`, `discard`, `anything`, or `mixed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_check: Option<String>,
}

/// A percentile that is not the subject's alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatePercentile {
    /// From 0 to 1.
    pub quantile: f64,
    /// The share of it that the generator's lateness added.
    pub moved: f64,
}

/// The window second by second. Every list has one entry for each whole second; a partial second is left
/// out. Values that were not read are absent. A list is empty without its part. If the load tool reports no seconds,
/// `good` is empty, and the other lists still hold the use of resources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondSeries {
    /// Start of the first second after the start of the window, in seconds: 0 in the window, negative in the warm-up.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub start_s: f64,
    /// Correct responses in each second.
    pub good: Vec<u64>,
    /// Failed requests in each second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u64>,
    /// Median response time of the correct responses of each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_p50_s: Vec<Option<f64>>,
    /// CPU time of the subject in each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subject_cpu_s: Vec<Option<f64>>,
    /// Memory of the subject at the end of each second: anonymous and kernel memory of its control group, or the sum of its
    /// resident sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subject_memory_bytes: Vec<Option<u64>>,
    /// CPU time of the load generator in each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generator_cpu_s: Vec<Option<f64>>,
    /// CPU time of the database in each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_cpu_s: Vec<Option<f64>>,
    /// Memory of the database at the end of each second, from the same source as the subject's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_memory_bytes: Vec<Option<u64>>,
    /// The long tail of the window over time; absent if fewer than two spans have enough responses, and for other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailSeries>,
    /// The whole seconds of the warm-up before it. Reports show them, but no figure uses them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Box<SecondSeries>>,
}

/// The 99.9th percentile of the response times over time. A second has too few responses for it, so it uses the shortest
/// spans of whole seconds that hold enough. The first span begins with the window; the remainder at its end is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TailSeries {
    /// Whole seconds in each span.
    pub span_s: u32,
    /// The fewest correct responses of a span.
    pub fewest_answers: u64,
    /// The percentile of each span, in seconds.
    pub latency_p999_s: Vec<f64>,
}
