//! What is recorded of a pool of machines.

use serde::{Deserialize, Serialize};

/// What a run asks of Slurm.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Features that nodes must have, as Slurm writes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// The account that is charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// How many blocks may run at once, each on a node of its own.
    pub max_jobs: u32,
    /// Whether blocks may run on hardware that differs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed_hardware: bool,
}

/// The machine of a pool that ran a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Number of the job.
    pub job: String,
}
