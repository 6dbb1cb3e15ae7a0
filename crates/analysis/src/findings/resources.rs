//! What a subject used.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

worded! {
    /// The kind of memory in a scenario's tables.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum MemorySource by words {
        /// Highest anonymous and kernel memory of the subject's control group in the window.
        Group = "anonymous + kernel",
        /// Proportional set sizes of the subject's processes when the window ended.
        Pss = "PSS",
    }
}

/// Throttling by a quota, over all scored trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct ThrottlingFinding {
    /// Periods of the quota.
    pub periods: u64,
    /// Periods in which the quota stopped the subject.
    pub throttled_periods: u64,
    /// Stopped periods as a share of all periods, from 0 to 1.
    pub share: f64,
    /// How long its CPUs were stopped, summed over CPUs, in seconds.
    pub throttled_s: f64,
}
