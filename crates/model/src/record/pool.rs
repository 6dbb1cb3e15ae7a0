//! The stored record of a pool of machines.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::record::{BlockRecord, CpuMap, MachineSummary};

/// What a run requests from Slurm.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRequest {
    /// The file of a pool that tolok set up; if absent, the Slurm that this machine is configured for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Features that nodes must have, in Slurm's syntax.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// The account to charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// How many blocks may run at once, each on its own node.
    pub max_jobs: u32,
    /// How many more nodes generate load for each block; 0 if the server's node generates it.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub generators: u32,
    /// Whether blocks may run on differing hardware.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mixed_hardware: bool,
}

/// A machine of a pool that generated load for a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratorMachine {
    pub name: String,
    pub machine: MachineSummary,
}

/// The machine of a pool that ran a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    /// Number of the Slurm job.
    pub job: String,
}

impl BlockRecord {
    /// The machines of a pool that it ran on: `n1`, or `n1 with n2, n3` if those generated its load.
    pub(super) fn nodes(&self) -> Option<String> {
        let server = &self.node.as_ref()?.name;
        let generators: Vec<&str> = self.generators.iter().map(|generator| generator.name.as_str()).collect();
        Some(if generators.is_empty() { server.clone() } else { format!("{server} with {}", generators.join(", ")) })
    }
}

impl CpuMap {
    /// The lab's CPUs. The lab stays off the subject's.
    pub fn of_lab(&self) -> &[u32] {
        if self.lab.is_empty() { &self.generator } else { &self.lab }
    }
}
