//! What a record stores of a trial's tool, and of the responses on the wire.

use serde::{Deserialize, Serialize};

use crate::record::resources::{Disturbance, HostWindow};

/// The tool that measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUsed {
    /// Its name: `wrk`.
    pub name: String,
    /// Its version, as it reports it.
    pub version: String,
}

/// Responses that the kernel counted on their way to the generator, independent of tool and subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WireCount {
    /// Responses of any status that began in the window.
    pub answers: u64,
    /// Responses with a status of 200 to 299.
    pub answers_2xx: u64,
    /// Length of the counted window, in seconds; for some tools the whole life of their process.
    pub window_s: f64,
    /// Time of the last response, in seconds after the window's start, to the nearest 100 ms reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer_s: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramTiming {
    pub timer: ToolUsed,
    /// The resolution of its wall times, in seconds.
    pub resolution_s: f64,
    /// Counted runs, in order.
    pub runs: Vec<ProgramRun>,
    /// Runs without the work, each next to a counted one, or `None` for timers other than tolok's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floor: Vec<ProgramRun>,
    /// Uncounted runs before them.
    pub warmup_runs: u32,
    /// The timer's summary of all runs, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<TimerSummary>,
    /// From the start of the first counted run to the end of the last, in seconds.
    pub window_s: f64,
    /// The rest of the machine during that time.
    pub host: HostWindow,
    /// What disturbed the last permitted attempt; empty if nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// The turns of the runs, if cases took turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<ProgramTurns>,
}

/// The turns of a case in one launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTurns {
    /// Number of the launch.
    pub launch: u32,
    /// Round and half of each counted run, in order.
    pub places: Vec<(u32, u32)>,
}

impl ProgramTiming {
    /// The median wall time of the counted runs, in seconds, or `None` without a run.
    pub fn median_wall_s(&self) -> Option<f64> {
        let mut walls: Vec<f64> = self.runs.iter().map(|run| run.wall_s).collect();
        walls.sort_by(f64::total_cmp);
        let middle = walls.len() / 2;
        match walls.get(middle)? {
            upper if walls.len().is_multiple_of(2) => Some((walls[middle - 1] + upper) / 2.0),
            only => Some(*only),
        }
    }
}

/// One run of a program. What the timer does not report is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramRun {
    /// From its start to its end, in seconds.
    pub wall_s: f64,
    /// CPU time in user mode of the program and the children it waited for, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// CPU time in kernel mode, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// Largest resident set of any of its processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes_max: Option<u64>,
}

/// A timer's summary of all runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerSummary {
    /// Mean of the wall times, in seconds.
    pub mean_s: f64,
    /// Their standard deviation, or `None` for a single run.
    pub sd_s: Option<f64>,
    /// Mean CPU time in user mode, in seconds.
    pub user_s: Option<f64>,
    /// Mean CPU time in kernel mode, in seconds.
    pub system_s: Option<f64>,
}

impl ProgramRun {
    /// CPU time, user and system, in seconds.
    pub fn cpu_s(&self) -> Option<f64> {
        Some(self.user_s? + self.system_s?)
    }
}
