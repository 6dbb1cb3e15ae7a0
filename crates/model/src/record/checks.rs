//! What is stored of a window so that its figures can be checked: what the load tool tells of itself, and its seconds.

use serde::{Deserialize, Serialize};

/// What a load tool tells of itself. What it does not tell is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadChecks {
    /// Requests in flight, on average over the window, counted by clock and not computed from anything below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_mean: Option<f64>,
    /// Mean time from the send to the last byte of a good answer, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_mean_s: Option<f64>,
    /// Median time that the generator took to act on a request once it could, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p50_s: Option<f64>,
    /// The 99th percentile of the same, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness_p99_s: Option<f64>,
    /// Share of the window in which the generator's busiest thread had work to do, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_thread: Option<f64>,
    /// How bodies of answers were checked: `exactly`, `length`, `json`, `discard`, `anything`, or `mixed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_check: Option<String>,
}

/// The window second by second. All lists are as long as the whole seconds of the window; a second that is not whole is left
/// out. What was not read is absent, and a list is empty where no part was followed, or the load tool tells no seconds: then
/// `good` is empty too, and the others tell what was used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondSeries {
    /// Start of the first second after the start of the window, in seconds: 0 in the window, negative in the warm-up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub start_s: f64,
    /// Good answers that came in each second.
    pub good: Vec<u64>,
    /// Requests that failed in each second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<u64>,
    /// Median response time of the good answers of each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency_p50_s: Vec<Option<f64>>,
    /// CPU time of the subject in each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subject_cpu_s: Vec<Option<f64>>,
    /// Memory of the subject at the end of each second: anonymous and kernel memory of its control group, or else the sum of its
    /// resident sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subject_memory_bytes: Vec<Option<u64>>,
    /// CPU time of the load generator in each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generator_cpu_s: Vec<Option<f64>>,
    /// CPU time of the database in each second, in seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_cpu_s: Vec<Option<f64>>,
    /// Memory of the database at the end of each second, read as that of the subject is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database_memory_bytes: Vec<Option<u64>>,
    /// The long tail of the window over time; absent where no two spans of it have answers enough, and of other tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailSeries>,
    /// The whole seconds of the warm-up before it, which are shown and in no figure; it has no warm-up of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<Box<SecondSeries>>,
}

/// The 99.9th percentile of the response times over time. A second has too few answers for it, so it is told of spans of several,
/// as short as each holds enough. The first span begins with the window; what is left at its end is in none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TailSeries {
    /// Whole seconds in each span.
    pub span_s: u32,
    /// Good answers of the span that has fewest.
    pub fewest_answers: u64,
    /// The percentile of each span, in seconds.
    pub latency_p999_s: Vec<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
