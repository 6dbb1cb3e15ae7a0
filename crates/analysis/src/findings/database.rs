//! The database of a scenario, and the work of a case and its database.

use serde::Serialize;

use tolok_model::Engine;

use crate::JsonSchema;

/// The database of a scenario, as requested.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DatabaseFinding {
    /// In words: `MariaDB · pool of 16 · rtt 20ms`.
    pub words: String,
    /// Which server.
    pub engine: Engine,
    /// The distinct versions that its servers reported.
    pub versions: Vec<String>,
    /// The most connections a subject may open to it, over all its processes.
    pub pool: u32,
    /// Rows in a correct response; absent if the workload does not state them.
    pub rows_per_answer: Option<u32>,
    /// Numbers of its CPUs; empty for an external server.
    pub on_cpus: Vec<u32>,
    /// Parts that share any of these CPUs: `subject`, `generator`.
    pub shares_cpus_with: Vec<String>,
    /// Round-trip time between subject and database, in seconds.
    pub rtt_s: f64,
    /// The path between them: `loopback`, `rtt 20ms`.
    pub link: String,
    /// Limit of its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// The most connections it accepts.
    pub max_connections: u32,
    /// Size of its buffer pool, in bytes.
    pub buffer_pool_bytes: u64,
    /// Planned kill, in seconds after the window began.
    pub outage_at_s: Option<f64>,
    /// Planned length of the outage, in seconds.
    pub outage_for_s: Option<f64>,
}

/// A subject's connection pool over all scored trials, as the subject reports it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PoolUse {
    /// The most connections it may have, over all its processes.
    pub size: u32,
    /// Waits for a connection per correct response.
    pub waits_per_good: Option<f64>,
    /// Mean length of a wait, in seconds; absent without waits, or if they are as long as the window.
    pub wait_s_mean: Option<f64>,
}
