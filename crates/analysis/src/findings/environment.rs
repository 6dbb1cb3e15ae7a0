//! What surrounded the trials of a scenario.

use std::collections::BTreeMap;

use serde::Serialize;

use tolok_model::CpuMode;

use crate::JsonSchema;

/// What surrounded the trials of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EnvironmentFinding {
    /// Its id: `lan-wifi`; empty where the study has one environment only.
    pub id: String,
    /// In words: `1 dedicated CPU · 512MiB of memory · link lan-wifi (…)`, and of scenarios that ask a database, that one.
    pub words: String,
    /// How the subject's CPUs were limited. Figures of the two modes never stand in one table.
    pub mode: CpuMode,
    /// What the subject might use.
    pub subject: PartFinding,
    /// What the generator might use.
    pub generator: PartFinding,
    /// The way between them in words: `loopback`, `lan-wifi (rtt 2ms, …)`.
    pub link: String,
    /// CPUs of the link's emulator, where there was one.
    pub link_cpus: Vec<u32>,
    /// The TCP congestion control that was asked for.
    pub congestion: String,
    /// Kernel settings that were asked for, by name.
    pub sysctls: BTreeMap<String, String>,
}

/// What a part of a trial might use.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartFinding {
    /// In words: `a quota of 0.5 CPUs · 512MiB of memory`.
    pub words: String,
    /// How its CPUs were limited.
    pub mode: CpuMode,
    /// CPUs: a number of dedicated ones, or the share of time of a quota.
    pub cpus: f64,
    /// Numbers of the CPUs that it ran on.
    pub on_cpus: Vec<u32>,
    /// Limit of its memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// Limit of its processes and threads.
    pub pids: Option<u32>,
}

/// A link between client and subject, as it was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkFinding {
    /// In words: `lan-wifi (rtt 2ms, …)`.
    pub words: String,
    /// The preset that it comes from.
    pub preset: Option<String>,
    /// What carried it: `emulator`, `netem` or `veth`.
    pub backend: String,
    /// Whether anything was to happen to a packet.
    pub emulates: bool,
    /// Round-trip time, half of it each way, in seconds.
    pub rtt_s: f64,
    /// The most that was added to a round trip, in seconds.
    pub jitter_s: f64,
    /// Bits of IP packets a second in each direction; none without a limit.
    pub rate_bps: Option<f64>,
    /// Probability that a packet is lost, in each direction.
    pub loss: f64,
    /// Bytes that could wait; none for a queue that fits the rate.
    pub queue_bytes: Option<u64>,
    /// The TCP congestion control of the connections over it.
    pub congestion: String,
}
