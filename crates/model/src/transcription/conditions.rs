//! The conditions under which a source measured.

use serde::{Deserialize, Serialize};

use super::Work;
use crate::JsonSchema;

/// Declares the conditions, and completes a row's with those of its setting.
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
    /// How a source says it measured. Absent: the source does not say.
    pub struct Conditions {
        /// The load generator or timer: `wrk`, `k6`, `ab`, `hyperfine`.
        pub tool: Option<String>,
        pub loop_model: Option<LoopModel>,
        /// Simultaneous connections or virtual users; the maximum if they ramp.
        pub connections: Option<u64>,
        /// Simultaneous requests on one connection: 1 without pipelining, batches and streams.
        pub streams: Option<u64>,
        /// Which requests the response times are from.
        pub latency_of: Option<LatencyOf>,
        /// Whether their number grew during the run, and so was below `connections` for a part of it.
        pub ramp: Option<bool>,
        /// Pause of a user between an answer and the next request, in seconds.
        pub think_time_s: Option<f64>,
        pub duration_s: Option<f64>,
        /// Requests of a run, if their number was set.
        pub requests: Option<u64>,
        /// Warm-up before the figures, in seconds.
        pub warmup_s: Option<f64>,
        pub repetitions: Option<u64>,
        /// Whether each run began with a fresh server.
        pub fresh_start: Option<bool>,
        /// Time after which the tool gave up on an answer, in seconds.
        pub timeout_s: Option<f64>,
        pub keep_alive: Option<bool>,
        pub generator_threads: Option<u64>,
        /// CPUs that the subject could use.
        pub subject_cpus: Option<f64>,
        /// Processes or threads of the subject that served requests.
        pub subject_workers: Option<u64>,
        /// Memory that the subject could use.
        pub subject_memory_bytes: Option<f64>,
        /// What `cpu_percent` is a share of.
        pub cpu_scope: Option<CpuScope>,
        /// Round-trip time to the server, in seconds.
        pub rtt_s: Option<f64>,
        pub link_bits_per_s: Option<f64>,
        /// Bytes of an answer's body: the smallest and the largest that the source allows.
        pub body_bytes: Option<(f64, f64)>,
        /// Work of one response, compared between settings.
        pub work: Option<Work>,
    }
}

/// Which requests response times are from, and where they begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyOf {
    /// All requests that were answered or given up, each from its sending.
    All,
    /// Correct responses only.
    Good,
    /// All requests from their planned start, so that the wait of a late one counts.
    Planned,
    /// Separate requests alongside the load.
    Probe,
}

/// A length that is printed twice may be the planned and the measured one.
const SAME_LENGTH: f64 = 0.03;

impl Conditions {
    /// Whether two rows were measured under the same conditions. Durations may differ by 3%, like 30 s and 30.08 s.
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
    /// Each user sends its next request after the previous answer.
    Closed,
    /// Requests start by the clock.
    Open,
}

/// What a CPU percentage is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuScope {
    /// One core: 400% is four cores.
    Core,
    /// The whole machine: 100% is all of it.
    Machine,
}
