//! The JSON lines that tolok's load engine writes to standard error while it runs.

use serde::{Deserialize, Serialize};

/// A moment in a tool's run. `tolok load --events` writes each as a JSON line to its standard error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ToolEvent {
    WindowStarted {
        /// When the tool started it, on `CLOCK_MONOTONIC`. The event arrives somewhat later.
        monotonic_ns: u64,
    },
    /// A second of the run is over, or the rest of one at the end of a phase.
    Second {
        /// The figures of the second.
        #[serde(flatten)]
        second: LoadSecond,
        /// Whether it ended with its phase. Then the preceding event for the border is what matters.
        at_border: bool,
    },
    /// Some slices are over.
    Slices { done: u32, of: u32 },
    /// A generator machine is gone. There is no record.
    GeneratorLost { generator: String, reason: String },
    WindowEnded {
        /// When it was due to end, on `CLOCK_MONOTONIC`. What the tool does later is not load.
        monotonic_ns: u64,
    },
}

/// A second of a tool's load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSecond {
    /// `warming-up` or `measuring`.
    pub phase: LoadPhase,
    /// Its start relative to that of the window, in seconds. Negative in the warm-up.
    pub start_s: f64,
    /// Its length, which is less than a second at the end of a phase.
    pub duration_s: f64,
    /// Correct responses that arrived in it.
    pub good: u64,
    /// Requests that failed in it.
    pub failed: u64,
    /// Median response time of its correct responses.
    pub p50_s: Option<f64>,
    /// The 99th percentile of the same.
    pub p99_s: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadPhase {
    /// It is discarded.
    WarmingUp,
    /// It counts.
    Measuring,
}
