//! `window.json`: the lab's one-time readings of a trial, and where its window is among the periodic readings.
//!
//! All figures of the trial derive from this and the trial's other files, so tolok can recompute them.

use serde::{Deserialize, Serialize};

use crate::record::database::{CounterCheck, DatabaseWindow, PoolWindow};
use crate::record::resources::HostWindow;
use crate::record::slices::RawSlices;
use crate::record::tool::ToolUsed;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RawWindow {
    /// Version of the format, which all records share.
    pub format: u32,
    /// Origin of the times in `samples.jsonl`, in nanoseconds of `CLOCK_MONOTONIC`.
    pub clock_zero_ns: i64,
    /// When the window began, in nanoseconds of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    pub ended_ns: u64,
    /// The load generator or the timer.
    pub tool: ToolUsed,
    pub machine_cpus: u32,
    /// Load average over one minute when the trial began.
    pub load_average: f64,
    /// Random extra length of the subject's environment variables, in bytes; absent if tolok did not start it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding_bytes: Option<u32>,
    /// For a server's trial; `None` for a timed program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<RawServer>,
    /// For a program whose runs alternated with those of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<RawTurns>,
}

/// The lab's own readings of a launch of programs. The window is the launch's, and the runs of the case are in
/// `runs.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RawTurns {
    /// Number of the launch.
    pub launch: u32,
    /// The rest of the machine from the first turn to the last.
    pub host: HostWindow,
}

/// What the lab itself observed of a server and its requests, apart from the load generator's report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RawServer {
    /// Whether it is external, so that only its responses are known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    /// Whether it is external but its processes were observed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub followed: bool,
    /// From the start of the first process to the first correct response, in seconds, or `None` for an external server
    /// and for one that started together with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start_s: Option<f64>,
    /// The status of a correct response.
    pub status: u16,
    /// Body length of every correct response, or `None` if lengths differ or no body was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
    /// Mean body length, if many requests are drawn evenly; otherwise 0.
    #[serde(default)]
    pub mean_body_bytes: u64,
    /// Proportional set sizes of the subject, read once after the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
    /// Processes and threads that the subject failed to start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_tasks: Option<u64>,
    /// What the subject reported about its connection pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolWindow>,
    /// Result of the counter check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<CounterCheck>,
    /// What the database reported about itself, without its resources and link, which have periodic readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseWindow>,
    /// Readings of the launch, if the window was cut into slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<RawSlices>,
}
