//! `window.json`: what the lab itself read of a trial once, and where the window lies among the readings.
//!
//! With the other files of the trial this is all that its figures are made of, so that they can be made again.

use serde::{Deserialize, Serialize};

use crate::record::database::{CounterCheck, DatabaseWindow, PoolWindow};
use crate::record::slices::RawSlices;
use crate::record::tool::ToolUsed;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RawWindow {
    /// Version of the format, that of all records.
    pub format: u32,
    /// Where the times of `samples.jsonl` count from, in nanoseconds of `CLOCK_MONOTONIC`.
    pub clock_zero_ns: i64,
    /// When the window began, in nanoseconds of `CLOCK_MONOTONIC`.
    pub began_ns: u64,
    pub ended_ns: u64,
    /// The load generator or the timer.
    pub tool: ToolUsed,
    pub machine_cpus: u32,
    /// Load average over one minute when the trial began.
    pub load_average: f64,
    /// Of a trial of a server, or `None` for a program that is timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<RawServer>,
}

/// What is known of a server and of what it was asked beside what the load generator tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RawServer {
    /// Whether tolok did not start it, so that nothing is known of it but its answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    /// From the start of the first process to the first good answer, in seconds, or `None` for a server that tolok did not start,
    /// or that others were started beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start_s: Option<f64>,
    /// The status that a good answer has.
    pub status: u16,
    /// Length of the body that every good answer has, or `None` where they differ or none was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_bytes: Option<u64>,
    /// Mean length of the bodies where many requests are drawn evenly; 0 elsewhere.
    #[serde(default)]
    pub mean_body_bytes: u64,
    /// Proportional set sizes of the subject, read once after the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
    /// Processes and threads of the subject that could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_tasks: Option<u64>,
    /// What the subject told of its pool of connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolWindow>,
    /// What came of the counter's check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<CounterCheck>,
    /// What the database told of itself, without its resources and its link, of which there are readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseWindow>,
    /// What was read of the launch, where the window was cut into slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<RawSlices>,
}
