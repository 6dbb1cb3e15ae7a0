//! Response times by percentile.

use serde::Serialize;

use crate::JsonSchema;

/// Response times by percentile: a curve, and the band of the trials around it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencyCurve {
    /// Its points, by quantile. They end where any trial has fewer than 10 responses beyond.
    pub points: Vec<CurvePoint>,
    /// Trials behind it.
    pub trials: u32,
    /// Correct responses of all of them.
    pub answers: u64,
}

/// The response time at one quantile.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CurvePoint {
    /// From 0 to 1: 0.99 for p99.
    pub quantile: f64,
    /// Median over the trials, in seconds.
    pub latency_s: f64,
    /// The lowest of the trials, in seconds.
    pub low_s: f64,
    /// The highest of the trials, in seconds.
    pub high_s: f64,
}

/// Late correct responses. They count as correct, not as failures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SlowAnswers {
    /// A response is late after this time, in seconds: the highest bound of the scenario's objectives on response times, or
    /// one second without such an objective.
    pub bound_s: f64,
    /// Their number over all scored trials.
    pub answers: u64,
    /// Their share of the correct responses, from 0 to 1.
    pub share: f64,
}
