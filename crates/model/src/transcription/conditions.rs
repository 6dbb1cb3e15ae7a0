//! The conditions under which a source measured.

use serde::{Deserialize, Serialize};

use crate::JsonSchema;

/// Declares the conditions, and how those of a row complete those of its setting.
macro_rules! conditions {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$meta:meta])* pub $field:ident: Option<$type:ty>,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Default, Serialize)]
        pub struct $name {
            $($(#[$meta])* pub $field: Option<$type>,)*
        }

        impl $name {
            /// These conditions, completed by those of `outer`.
            pub fn within(self, outer: &Self) -> Self {
                Self { $($field: self.$field.or_else(|| outer.$field.clone()),)* }
            }
        }
    };
}

conditions! {
    /// What a source says of how it measured. Absent: it does not say.
    pub struct Conditions {
        /// The load generator or timer: `wrk`, `k6`, `ab`, `hyperfine`.
        pub tool: Option<String>,
        pub loop_model: Option<LoopModel>,
        /// Connections or virtual users at the same time; the most of them where they ramp.
        pub connections: Option<u64>,
        /// Requests in flight on a connection at a time: 1 without pipelining, batches and streams.
        pub streams: Option<u64>,
        /// Of which requests the response times are.
        pub latency_of: Option<LatencyOf>,
        /// Whether their number grew during the run, so that it was below `connections` for a part of it.
        pub ramp: Option<bool>,
        /// Pause of a user between an answer and the next request.
        pub think_time_s: Option<f64>,
        pub duration_s: Option<f64>,
        /// Requests of a run, where their number was set.
        pub requests: Option<u64>,
        /// Warm-up before the figures.
        pub warmup_s: Option<f64>,
        pub repetitions: Option<u64>,
        /// Whether each run began with a fresh server.
        pub fresh_start: Option<bool>,
        /// After how long the tool gave an answer up.
        pub timeout_s: Option<f64>,
        pub keep_alive: Option<bool>,
        pub generator_threads: Option<u64>,
        /// CPUs that the subject could use.
        pub subject_cpus: Option<f64>,
        /// Processes or threads of the subject that served requests.
        pub subject_workers: Option<u64>,
        /// Memory that the subject could use.
        pub subject_memory_bytes: Option<f64>,
        /// Of what `cpu_percent` is a share.
        pub cpu_scope: Option<CpuScope>,
        /// Round-trip time to the server.
        pub rtt_s: Option<f64>,
        pub link_bits_per_s: Option<f64>,
        /// Bytes of an answer's body: from the smallest to the largest that the source allows for.
        pub body_bytes: Option<(f64, f64)>,
    }
}

/// Of which requests response times are, and from which instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyOf {
    /// Of all that were answered or given up, from the sending of each.
    All,
    /// Of correct responses only.
    Good,
    /// From the planned instant of a request, so that the wait of a late one counts.
    Planned,
    /// Of requests of their own, beside the load.
    Probe,
}

/// A length that is printed twice may be the planned one and the measured one.
const SAME_LENGTH: f64 = 0.03;

impl Conditions {
    /// Whether two rows were measured alike. Lengths of a run may differ by 3%, as 30 s and 30.08 s do.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let is_close = match (self.duration_s, other.duration_s) {
            (Some(a), Some(b)) => (a - b).abs() <= SAME_LENGTH * a.max(b),
            (a, b) => a == b,
        };
        is_close && Self { duration_s: None, ..self.clone() } == Self { duration_s: None, ..other.clone() }
    }
}

/// Whether requests wait for answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoopModel {
    /// Each user sends its next request after the answer to the one before.
    Closed,
    /// Requests start by the clock.
    Open,
}

/// Of what a CPU percentage is a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuScope {
    /// Of one core: 400% are four of them.
    Core,
    /// Of the whole machine: 100% is all.
    Machine,
}
