//! What happened when the database was taken away.

use serde::Serialize;

use crate::JsonSchema;

/// An outage in the scored trials of a case. Times are medians over those trials that have them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OutageFinding {
    /// Trials in which the database was taken away.
    pub trials: u32,
    /// When it was killed, in seconds after the window began.
    pub gone_at_s: f64,
    /// When it let somebody log in again; none if it never did.
    pub back_at_s: Option<f64>,
    /// Trials in which it never came back.
    pub never_back: u32,
    /// From its end to the subject's first answer with a status from 500 on; none if there was none.
    pub first_error_after_s: Option<f64>,
    /// The statuses of these answers, each once.
    pub error_statuses: Vec<u16>,
    /// Trials in which the subject never gave such an answer.
    pub never_answered_error: u32,
    /// Longest time that a question went without any answer.
    pub longest_silence_s: f64,
    /// The same in the worst of the trials.
    pub longest_silence_s_max: f64,
    /// From the database's return to the subject's next good answer; none if there was none.
    pub recovered_after_s: Option<f64>,
    /// Trials in which the subject never gave a good answer again, although the database came back.
    pub never_recovered: u32,
    /// What it owed and did not do, in words; none if it did all of it.
    pub failing: Option<String>,
}
