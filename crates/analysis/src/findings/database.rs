//! The database of a scenario, and what a case and its database did.

use serde::Serialize;

use tolok_model::Engine;

use crate::JsonSchema;

/// The database of a scenario, as it was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DatabaseFinding {
    /// In words: `MariaDB · pool of 16 · rtt 20ms`.
    pub words: String,
    /// Which server.
    pub engine: Engine,
    /// The versions that its servers said of themselves, each once.
    pub versions: Vec<String>,
    /// Connections that a subject may have to it, over all its processes.
    pub pool: u32,
    /// Rows in a good answer; none where the workload does not say.
    pub rows_per_answer: Option<u32>,
    /// Numbers of the CPUs that it ran on; empty for a server that is not ours.
    pub on_cpus: Vec<u32>,
    /// Who had any of these CPUs as well: `subject`, `generator`.
    pub shares_cpus_with: Vec<String>,
    /// Round-trip time between subject and database, in seconds.
    pub rtt_s: f64,
    /// The way between them in words: `loopback`, `rtt 20ms`.
    pub link: String,
    /// Limit of its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Connections that it accepts.
    pub max_connections: u32,
    /// What it may keep of its tables in memory, in bytes.
    pub buffer_pool_bytes: u64,
    /// When it was to be killed, in seconds after the window began.
    pub outage_at_s: Option<f64>,
    /// How long it was to be gone, in seconds.
    pub outage_for_s: Option<f64>,
}

/// A subject's pool of connections over all scored trials, as the subject tells.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PoolUse {
    /// Connections that it may have, over all its processes.
    pub size: u32,
    /// Times that a request had to wait for a connection, per good answer.
    pub waits_per_good: Option<f64>,
    /// How long such a wait took on average, in seconds; none where nobody waited, or waits are as long as the window.
    pub wait_s_mean: Option<f64>,
}
