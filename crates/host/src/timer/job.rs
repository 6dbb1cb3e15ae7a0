//! The timer's job and its report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The runs to make.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimerJob {
    pub work: Task,
    /// The same program without its work. If set, each run of the work has a run of this beside it.
    pub floor: Option<Task>,
    /// The runs' whole environment.
    pub env: BTreeMap<String, String>,
    /// Their working folder, which also holds their standard output while they run.
    pub cwd: PathBuf,
    /// The file to which their standard error is appended.
    pub log: PathBuf,
    /// The file for the report.
    pub report: PathBuf,
    /// The number of warm-up runs, which do not count.
    pub warmup_runs: u32,
    /// The most runs that count.
    pub runs: u32,
    /// No more runs begin once those that count have taken this long. At least one is made, if any are requested.
    pub at_most_s: f64,
    /// A run that takes longer is killed with everything it started.
    pub timeout_s: f64,
    /// The FIFOs for turns, if the timer must wait for a turn before each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
}

/// Two FIFOs between the lab and a timer that takes turns with others. A byte in one is a [`Turn`]; a byte in the other
/// is its [outcome](Came). When the first closes, there are no more turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// Read by the timer.
    pub given: PathBuf,
    /// Written by the timer.
    pub taken: PathBuf,
}

/// What a timer must do: one run, with its floor beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Turn {
    WarmUp = b'w',
    Counts = b'c',
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Came {
    /// The run was made, and another may follow.
    Made = b'm',
    /// The run was made, and the time for all of them is up.
    Last = b'l',
    /// The run failed, and no other will be made.
    Fault = b'f',
}

impl Turn {
    pub(super) fn read(byte: u8) -> Option<Self> {
        [Self::WarmUp, Self::Counts].into_iter().find(|turn| *turn as u8 == byte)
    }
}

impl Came {
    /// Parses what a timer wrote.
    pub fn read(byte: u8) -> Option<Self> {
        [Self::Made, Self::Last, Self::Fault].into_iter().find(|came| *came as u8 == byte)
    }
}

/// A command and its expected output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub argv: Vec<String>,
    /// Exactly what it must write to its standard output.
    pub output: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerReport {
    /// All successful runs, in the order in which they were made.
    pub runs: Vec<TimedRun>,
    /// The failed run, after which no other was made.
    pub fault: Option<FaultyRun>,
    /// Why the timer itself could not continue, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// One successful run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// Whether it is a warm-up, which does not count.
    pub warm_up: bool,
    /// Whether it did none of the work.
    pub floor: bool,
    /// When it began, on the monotonic clock, in nanoseconds: right before `execve`.
    pub began_ns: u64,
    /// From there until `wait4` returned, in seconds.
    pub wall_s: f64,
    /// CPU time in user mode of the run and of the children it waited for, in seconds.
    pub user_s: f64,
    /// CPU time in the kernel, in seconds.
    pub system_s: f64,
    /// The largest resident set of any of these processes. `None` if it may be what the process had before it executed
    /// the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes_max: Option<u64>,
}

/// A failed run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyRun {
    /// Its number, from 1, counting warm-up and floor runs.
    pub number: u32,
    /// Whether it was a floor run, without the work.
    pub floor: bool,
    /// What was wrong with it.
    pub fault: Fault,
}

/// What was wrong with a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Fault {
    /// The program could not be started.
    NotStarted { reason: String },
    /// It did not end in time.
    Hung,
    /// It ended with an exit code other than 0.
    Exited { code: i32 },
    /// A signal ended it.
    Killed { signal: i32 },
    /// Its output differs from what was expected.
    WrongOutput {
        /// What it wrote, shortened.
        came: String,
        /// What was expected, shortened.
        owed: String,
    },
}
