//! What is stored of a trial's tool: which one it was, and what passed over the wire while it counted.

use serde::{Deserialize, Serialize};

use crate::record::resources::{Disturbance, HostWindow};

/// The tool that measured, as far as a record needs to know it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUsed {
    /// Its name: `wrk`.
    pub name: String,
    /// Its version, as it says itself.
    pub version: String,
}

/// Answers that the subject sent, counted by the kernel on their way to the generator: no tool's word, and no subject's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WireCount {
    /// Answers of any status that began in the window.
    pub answers: u64,
    /// Those of a status from 200 to 299.
    pub answers_2xx: u64,
    /// Length of the window that was counted in, in seconds: of a tool whose window is the life of its process, that.
    pub window_s: f64,
    /// When the last of them was seen, in seconds after the window's start; as exact as a reading every 100 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_answer_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramTiming {
    pub timer: ToolUsed,
    /// The finest step of its wall times, in seconds.
    pub resolution_s: f64,
    /// Runs that count, in the order in which they were made.
    pub runs: Vec<ProgramRun>,
    /// Runs that did none of the work, each right before or after one that counts, or `None` for timers other than tolok's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floor: Vec<ProgramRun>,
    /// Runs before them that do not count.
    pub warmup_runs: u32,
    /// What the timer says of all runs together, where it says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<TimerSummary>,
    /// From the first run that counts to the end of the last, in seconds.
    pub window_s: f64,
    /// The rest of the machine during that time.
    pub host: HostWindow,
    /// What disturbed it although it had been measured again as often as the plan allows; empty if nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
}

impl ProgramTiming {
    /// The median time of the runs that count, from start to end, in seconds, or `None` without a run.
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

/// One run of a program. What the timer does not tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramRun {
    /// From its start to its end, in seconds.
    pub wall_s: f64,
    /// CPU time in user mode of it and of its children that it waited for, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// CPU time in the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// Largest resident set of any of its processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes_max: Option<u64>,
}

/// What a timer says of all runs together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerSummary {
    /// Mean of the wall times, in seconds.
    pub mean_s: f64,
    /// Their standard deviation, or `None` for a single run.
    pub sd_s: Option<f64>,
    /// Mean CPU time in user mode, in seconds.
    pub user_s: Option<f64>,
    /// Mean CPU time in the kernel, in seconds.
    pub system_s: Option<f64>,
}

impl ProgramRun {
    /// CPU time, user and system.
    pub fn cpu_s(&self) -> Option<f64> {
        Some(self.user_s? + self.system_s?)
    }
}
