//! The record of a run in slices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fault::ErrorClass;
use crate::record::{Distribution, ErrorExample, PartRecord};

/// One slice. Values that could not be read are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SliceLine {
    /// Its place in the order, from 0.
    pub slice: u32,
    /// Index of its target in the list.
    pub target: usize,
    /// When its server was thawed, in seconds after the first slice began.
    pub start_s: f64,
    /// From the first request to the beginning of the window, in seconds.
    pub lead_in_s: f64,
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// From the end of the window to the last response, in seconds.
    pub drain_s: f64,
    /// How long it took to thaw the server, in seconds.
    pub thaw_s: f64,
    /// How long it took to freeze the server, in seconds.
    pub freeze_s: f64,
    /// Whether all requests finished within the limit.
    pub drained: bool,
    /// Whether the server was frozen after the slice; absent if it cannot be frozen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen: Option<bool>,
    /// Correct responses that came in the window.
    pub good: u64,
    /// Requests of the window that failed in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: u64,
    /// Requests of the whole slice, lead-in included: `sent = whole_good + whole_failed + unanswered`.
    pub sent: u64,
    /// Those with a correct response.
    pub whole_good: u64,
    /// Those that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub whole_failed: u64,
    /// Those without an outcome when the time for draining was over; their connections were closed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: u64,
    /// Connections that were opened.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub opened: u64,
    /// CPU time of the server from its thaw to the last response, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// CPU time of the database over the same period, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_cpu_s: Option<f64>,
    /// CPU time of the generator over the same period, in seconds.
    pub generator_cpu_s: f64,
    /// Mean response time of requests that began in the window, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_mean_s: Option<f64>,
    /// The median of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_p50_s: Option<f64>,
    /// The longest of the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_max_s: Option<f64>,
}

impl SliceLine {
    /// Whether every request has exactly one outcome.
    pub fn closes(&self) -> bool {
        self.sent == self.whole_good + self.whole_failed + self.unanswered
    }
}

/// The results of all slices of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetRecord {
    /// Its name in the job.
    pub name: String,
    /// Its warm-up before the first slice.
    pub warm_up: WarmUp,
    /// Failures of its slices' windows, by class.
    pub failed_by_class: BTreeMap<ErrorClass, u64>,
    /// Correct responses to requests that began in a window.
    pub response_time: Distribution,
    /// Connections that were opened, warm-up included.
    pub connections_opened: u64,
    /// Those that never brought a response.
    pub connections_never_answered: u64,
    /// The first failure of each class.
    pub error_examples: Vec<ErrorExample>,
    /// How bodies were checked: `exactly`, `gzip`, `length`, `json`, `discard`, `anything`, or `mixed`.
    pub body_check: String,
    /// Length of the expected bodies, if all have the same length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_body_bytes: Option<u64>,
    /// Its parts, if requests name their part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRecord>,
}

/// Load on a target before its first slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Correct responses.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Correct responses in each whole 10 ms. A report derives the necessary length of slices from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub good_by_10ms: Vec<u32>,
}

/// A run in slices. Another file holds the slices, one per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlicesRecord {
    /// Version of this format: [`SlicesRecord::FORMAT`].
    pub format: u32,
    /// Name and version of the engine.
    pub engine: String,
    /// The run was stopped before its last slice.
    pub interrupted: bool,
    /// When the first slice began, in nanoseconds of `CLOCK_MONOTONIC`.
    pub began_monotonic_ns: u64,
    /// When the last slice ended, in nanoseconds of `CLOCK_MONOTONIC`.
    pub ended_monotonic_ns: u64,
    /// Number of slices that took place.
    pub slices: u32,
    /// The results of each target.
    pub targets: Vec<TargetRecord>,
}

impl SlicesRecord {
    /// The version that this crate writes.
    pub const FORMAT: u32 = 1;
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
