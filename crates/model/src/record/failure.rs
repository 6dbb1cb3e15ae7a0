//! Why a trial could not be measured.

use serde::{Deserialize, Serialize};

use crate::reading::wording::words;

/// Why a trial could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub reason: FailureKind,
    pub message: String,
    /// The last lines of the subject's logs.
    pub log_tail: Vec<String>,
}

/// Why a trial could not be measured, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    BuildFailed,
    /// It ended before its first correct response, or never gave one in time.
    DidNotStart,
    /// It is external and did not answer when the trial began.
    Unreachable,
    /// It answered, but not as the workload's contract requires.
    WrongAnswer,
    /// It ended while it was measured.
    Crashed,
    /// It exceeded its memory limit, and the kernel killed some of it.
    OutOfMemory,
    /// The database did not start, ended, or refused the subject's connections.
    DatabaseFailed,
    /// The study's link carries less than one response to each user in the whole window.
    LinkTooSlow,
    /// It stopped answering: no response in the window, or a silence too long for any other cause.
    Hung,
    ToolFailed,
    /// The lab itself could not do its part (a full disk, no permission).
    LabFailed,
}

words!(FailureKind {
    BuildFailed: "build failed",
    DidNotStart: "did not start",
    Unreachable: "unreachable",
    WrongAnswer: "wrong answer",
    Crashed: "crashed",
    OutOfMemory: "out of memory",
    DatabaseFailed: "database failed",
    LinkTooSlow: "link too slow",
    Hung: "hung",
    ToolFailed: "tool failed",
    LabFailed: "lab failed",
});
