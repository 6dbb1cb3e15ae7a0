//! Other timers: the command lines of hyperfine and GNU time, and the interpretation of their output.

mod gnu_time;
mod hyperfine;

pub use gnu_time::{GNU_TIME_FORMAT, gnu_time_runs};
pub use hyperfine::{HyperfineReport, hyperfine_arguments, hyperfine_report};

/// The output of a timer is not what its reader expects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what {tool} wrote cannot be understood: {why}")]
pub struct TimerNotUnderstood {
    pub tool: &'static str,
    /// What is missing or wrong.
    pub why: String,
}
