//! The outage of the database.

use serde::Serialize;

use crate::JsonSchema;

/// An outage in the scored trials of a case. Times are medians over the trials that have them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OutageFinding {
    /// Trials with an outage.
    pub trials: u32,
    /// When it was killed, in seconds after the window began.
    pub gone_at_s: f64,
    /// When it accepted a login again, in seconds after the window began; absent if it never did.
    pub back_at_s: Option<f64>,
    /// Trials in which it never recovered.
    pub never_back: u32,
    /// From the kill to the subject's first response with a status of 500 or above; absent without one.
    pub first_error_after_s: Option<f64>,
    /// The distinct statuses of these responses.
    pub error_statuses: Vec<u16>,
    /// Trials without such a response.
    pub never_answered_error: u32,
    /// Longest time without any response to a request.
    pub longest_silence_s: f64,
    /// The same in the worst trial.
    pub longest_silence_s_max: f64,
    /// From the database's return to the subject's next correct response; absent without one.
    pub recovered_after_s: Option<f64>,
    /// Trials in which the subject never recovered, although the database did.
    pub never_recovered: u32,
    /// What it should have done and did not, in words; absent if it did everything.
    pub failing: Option<String>,
}
