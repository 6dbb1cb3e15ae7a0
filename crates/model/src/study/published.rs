//! A published comparison of two subjects, to compare with the measured one.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::reading::wording::words;

/// A published ratio of two subjects in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedRatio {
    /// Who published it: `a blog, 2026`.
    pub source: String,
    /// Where in the source: `Table 5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Id of the plan's scenario.
    pub scenario: String,
    pub metric: PublishedMetric,
    /// The first subject, with its variant: `go/nethttp:encoder`.
    pub a: String,
    /// The second.
    pub b: String,
    /// The first over the second.
    pub ratio: f64,
}

/// The metric of a published ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedMetric {
    /// Correct responses per second.
    Goodput,
    /// Median response time.
    LatencyP50,
    /// 99th percentile of response times.
    LatencyP99,
    /// CPU time per correct response.
    Cpu,
    /// Memory of the subject.
    Memory,
    /// From the start to the first correct response.
    ColdStart,
}

words!(PublishedMetric {
    Goodput: "goodput",
    LatencyP50: "latency-p50",
    LatencyP99: "latency-p99",
    Cpu: "cpu",
    Memory: "memory",
    ColdStart: "cold-start",
});
