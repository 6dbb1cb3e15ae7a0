//! The environment of a scenario's trials.

use std::collections::BTreeMap;

use serde::Serialize;

use tolok_model::CpuMode;

use crate::JsonSchema;

/// The environment of one scenario's trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EnvironmentFinding {
    /// Its id: `lan-wifi`; empty if the study has only one environment.
    pub id: String,
    /// In words: `1 dedicated CPU · 512MiB of memory · link lan-wifi (…)`, plus the database if there is one.
    pub words: String,
    /// How the subject's CPUs were limited. A table never mixes the two modes.
    pub mode: CpuMode,
    /// The subject's limits.
    pub subject: PartFinding,
    /// The generator's limits.
    pub generator: PartFinding,
    /// Nodes that generated load, the server's excluded; absent if the server's node did.
    pub generator_nodes: Option<u32>,
    /// The path between them: `loopback`, `lan-wifi (rtt 2ms, …)`.
    pub link: String,
    /// CPUs of the link emulator; empty without one.
    pub link_cpus: Vec<u32>,
    /// The requested TCP congestion control.
    pub congestion: String,
    /// Requested kernel settings, by name.
    pub sysctls: BTreeMap<String, String>,
}

/// The limits of a part of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartFinding {
    /// In words: `a quota of 0.5 CPUs · 512MiB of memory`.
    pub words: String,
    /// How its CPUs were limited.
    pub mode: CpuMode,
    /// Number of dedicated CPUs, or the CPUs of a quota.
    pub cpus: f64,
    /// Numbers of the CPUs that it ran on.
    pub on_cpus: Vec<u32>,
    /// Limit of its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Limit of its processes and threads.
    pub pids: Option<u32>,
}

/// The requested link between client and subject.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkFinding {
    /// In words: `lan-wifi (rtt 2ms, …)`.
    pub words: String,
    /// Its preset.
    pub preset: Option<String>,
    /// Its backend: `emulator`, `netem` or `veth`.
    pub backend: String,
    /// Whether it changes packets at all.
    pub emulates: bool,
    /// Round-trip time, half of it each way, in seconds.
    pub rtt_s: f64,
    /// The largest delay added to a round trip, in seconds.
    pub jitter_s: f64,
    /// Bits of IP packets per second in each direction; absent without a limit.
    pub rate_bps: Option<f64>,
    /// Probability that a packet is lost, in each direction.
    pub loss: f64,
    /// Bytes in the queue; absent if the queue follows from the rate.
    pub queue_bytes: Option<u64>,
    /// The TCP congestion control of the connections over it.
    pub congestion: String,
}
