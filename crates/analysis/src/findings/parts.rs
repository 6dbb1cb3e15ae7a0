//! The parts of a mixed workload.

use serde::Serialize;

use super::estimate::Estimate;
use crate::JsonSchema;

/// One part of a mixed workload, over all scored trials. It counts the requests of the window, even if they ended after it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MixedPartFinding {
    /// Its workload.
    pub part: String,
    /// Share of the requests by its weight, from 0 to 1.
    pub asked_share: f64,
    /// Its share of the sent requests; absent if none was sent.
    pub sent_share: Option<f64>,
    /// Requests sent.
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Median of the trials' p50, in seconds; absent if any trial has too few responses beyond it.
    pub latency_p50_s: Option<Estimate>,
    /// Median of the trials' p99, in seconds; absent if any trial has too few responses beyond it.
    pub latency_p99_s: Option<Estimate>,
}
