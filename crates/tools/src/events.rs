//! The JSON lines that tolok's load engine writes on standard error while it runs.

use serde::{Deserialize, Serialize};

/// A moment in a tool's run. `tolok load --events` writes one JSON line each on its standard error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ToolEvent {
    WindowStarted {
        /// When the tool came to it, on `CLOCK_MONOTONIC`; the event is heard somewhat later.
        monotonic_ns: u64,
    },
    /// A second of the run is over, or the rest of one at the end of a phase.
    Second {
        /// What was seen in it.
        #[serde(flatten)]
        second: LoadSecond,
        /// Whether it ended with its phase. Then the border, whose line came before it, is what matters.
        at_border: bool,
    },
    /// Some slices are over.
    Slices { done: u32, of: u32 },
    /// A machine that generates load is gone. There is no record.
    GeneratorLost { generator: String, reason: String },
    WindowEnded {
        /// When it was to close, on `CLOCK_MONOTONIC`: whatever the tool does later is no load.
        monotonic_ns: u64,
    },
}

/// A second of a tool's load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadSecond {
    /// `warming-up` or `measuring`.
    pub phase: LoadPhase,
    /// Its start after that of the window, in seconds; negative in the warm-up.
    pub start_s: f64,
    /// Its length, which is less than a second where its phase ends.
    pub duration_s: f64,
    /// Correct responses that came in it.
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
