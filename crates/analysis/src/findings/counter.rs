//! Whether a number that must be exact was exact.

use serde::Serialize;

use crate::JsonSchema;

/// The counters of all measured trials of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CounterFinding {
    /// Trials that checked the number.
    pub trials: u32,
    /// Trials in which it was wrong.
    pub wrong: u32,
    /// Concurrent increments requested after the load, over all trials.
    pub asked: u64,
    /// How much the number grew from them.
    pub grew: u64,
    /// Numbers that were returned more than once or were out of range.
    pub wrong_answers: u64,
    /// How far the load's own increments lie outside the range of its ledger, over all trials.
    pub load_off: u64,
    /// What was wrong in the worst trial; absent if every trial was right.
    pub worst: Option<String>,
}
