//! What a subject used.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

worded! {
    /// What is called memory in a scenario's tables.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum MemorySource by words {
        /// Anonymous and kernel memory of the subject's control group, the most of it in the window.
        Group = "anonymous + kernel",
        /// Proportional set sizes of the subject's processes when the window ended.
        Pss = "PSS",
    }
}

/// What a quota took from a case, over all scored trials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct ThrottlingFinding {
    /// Periods of the quota.
    pub periods: u64,
    /// Those in which the subject was stopped because its share was used up.
    pub throttled_periods: u64,
    /// The second as a share of the first, from 0 to 1.
    pub share: f64,
    /// How long its CPUs were stopped, summed over them, in seconds.
    pub throttled_s: f64,
}
