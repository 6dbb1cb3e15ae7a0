//! Response times by percentile.

use serde::Serialize;

use crate::JsonSchema;

/// Response times by percentile: a curve, and the band of the trials around it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LatencyCurve {
    /// Its points, by quantile; no further than every trial has 10 answers beyond.
    pub points: Vec<CurvePoint>,
    /// Trials that it rests on.
    pub trials: u32,
    /// Good answers of all of them.
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

/// Good answers that came late. They are good, and no failures.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SlowAnswers {
    /// Later than this, in seconds: the bound of the scenario's objective on response times (the highest, if it has several), or
    /// else a second.
    pub bound_s: f64,
    /// How many, of all scored trials.
    pub answers: u64,
    /// As a share of the good answers of these trials, from 0 to 1.
    pub share: f64,
}
