//! Whether a number that must be exactly right was right.

use serde::Serialize;

use crate::JsonSchema;

/// The counters of all measured trials of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CounterFinding {
    /// Trials in which the number was looked at.
    pub trials: u32,
    /// Trials in which it was wrong.
    pub wrong: u32,
    /// Increments that were asked for at once after the load, over all trials.
    pub asked: u64,
    /// By how much the number grew from them.
    pub grew: u64,
    /// Numbers that were answered more than once, or that lie outside what was counted.
    pub wrong_answers: u64,
    /// By how much the load's own increments lie outside what its ledger allows, over all trials.
    pub load_off: u64,
    /// What was wrong in the worst trial, in words; none if nothing was.
    pub worst: Option<String>,
}
