//! The database of a scenario, and what a case and its database did.

use schemars::JsonSchema;
use serde::Serialize;

use super::counter::CounterFinding;
use super::estimate::Estimate;
use super::link::LinkUse;
use super::outage::OutageFinding;
use tolok_model::Engine;

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

/// What a case and its database did in the scored trials. Where it says per good, it is for each good answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DatabaseUse {
    /// Rows in good answers, per second.
    pub rows_per_s: Option<Estimate>,
    /// CPU time of the subject for each of these rows, in seconds.
    pub subject_cpu_s_per_row: Option<Estimate>,
    /// CPU time of the database for each of these rows, in seconds.
    pub cpu_s_per_row: Option<Estimate>,
    /// CPU time of the database per good answer, in seconds.
    pub cpu_s_per_good: Option<Estimate>,
    /// Share of its CPUs that the database used, from 0 to 1.
    pub busy: Option<f64>,
    /// Most anonymous and kernel memory of the database's control group, in bytes.
    pub memory_bytes: Option<Estimate>,
    /// The highest usage of that group in any trial, page cache included.
    pub peak_bytes: Option<f64>,
    /// That peak as a share of its limit; none without a limit.
    pub peak_of_limit: Option<f64>,
    /// Statements carried out per second.
    pub queries_per_s: Option<f64>,
    /// Statements per good answer.
    pub queries_per_good: Option<f64>,
    /// Bytes sent to its clients per second.
    pub sent_bytes_per_s: Option<f64>,
    /// Connections that were opened to it in the window.
    pub connections_opened: Option<f64>,
    /// Most connections that were open at a reading.
    pub connections_max: Option<u64>,
    /// Most threads that were busy with a statement at a reading.
    pub running_max: Option<u64>,
    /// Threads that were busy with a statement, on average over the readings.
    pub running_mean: Option<f64>,
    /// Most connections that it refused in a trial, because there were as many as it accepts.
    pub refused_connections: Option<u64>,
    /// The subject's pool of connections; none where no subject tells of it.
    pub pool: Option<PoolUse>,
    /// Whether the number that the workload counts was right; none where it counts none.
    pub counter: Option<CounterFinding>,
    /// The link between subject and database; none where tolok emulated none.
    pub link: Option<LinkUse>,
    /// What became of the subject when the database was taken away; none where the study did not ask for that.
    pub outage: Option<OutageFinding>,
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
