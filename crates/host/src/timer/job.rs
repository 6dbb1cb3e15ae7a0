//! The timer's job and its report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Runs that are to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimerJob {
    pub work: Task,
    /// The same program, doing none of the work: one run beside each of the others, if there is a task.
    pub floor: Option<Task>,
    /// The whole environment of the runs.
    pub env: BTreeMap<String, String>,
    /// Their working folder, in which their standard output is kept while they run.
    pub cwd: PathBuf,
    /// File that their standard error is appended to.
    pub log: PathBuf,
    /// File for the report.
    pub report: PathBuf,
    /// Runs that do not count, first.
    pub warmup_runs: u32,
    /// Runs that count, at most.
    pub runs: u32,
    /// No further run is begun when those that count have taken this long. One is run in any case, if any is asked for.
    pub at_most_s: f64,
    /// A run that takes longer is ended with everything it started.
    pub timeout_s: f64,
    /// Where it hears of its turns, if it is to wait for one before each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Turns>,
}

/// Two FIFOs between the lab and a timer that takes turns with others. A byte in one is a [`Turn`], a byte in the other what
/// [`came`](Came) of it. The end of the first is the end of all turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns {
    /// Read by the timer.
    pub given: PathBuf,
    /// Written by the timer.
    pub taken: PathBuf,
}

/// What a timer is to do: one run, with its floor beside it.
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
    /// The run did not end well, and no other will be made.
    Fault = b'f',
}

impl Turn {
    pub(super) fn read(byte: u8) -> Option<Self> {
        [Self::WarmUp, Self::Counts].into_iter().find(|turn| *turn as u8 == byte)
    }
}

impl Came {
    /// What a timer wrote.
    pub fn read(byte: u8) -> Option<Self> {
        [Self::Made, Self::Last, Self::Fault].into_iter().find(|came| *came as u8 == byte)
    }
}

/// A command and what it owes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub argv: Vec<String>,
    /// All that it must write to its standard output.
    pub output: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TimerReport {
    /// All runs that ended well, in the order in which they were made.
    pub runs: Vec<TimedRun>,
    /// The run that did not, after which no other was made.
    pub fault: Option<FaultyRun>,
    /// Why the timer itself could not go on, if it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

/// One run that ended well.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// Whether it is of those that do not count.
    pub warm_up: bool,
    /// Whether it did none of the work.
    pub floor: bool,
    /// When it began, on the monotonic clock, in nanoseconds: right before `execve`.
    pub began_ns: u64,
    /// From there to the return of `wait4`, in seconds.
    pub wall_s: f64,
    /// CPU time in user mode of it and of its children that it waited for, in seconds.
    pub user_s: f64,
    /// CPU time in the kernel.
    pub system_s: f64,
    /// Largest resident set of any of these processes, or `None` if that may be what its process had before
    /// it was the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes_max: Option<u64>,
}

/// A run that did not end well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyRun {
    /// Which one, from 1, warm-up and floor counted.
    pub number: u32,
    /// Whether it was to do none of the work.
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
    /// It wrote something else than it owed.
    WrongOutput {
        /// What came, shortened.
        came: String,
        /// What was owed, shortened.
        owed: String,
    },
}
