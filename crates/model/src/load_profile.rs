//! A load profile: an executor, with k6's names, and its parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::format_duration;

/// How requests are sent in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadProfile {
    /// Who decides when the next request is sent.
    pub executor: Executor,
    /// Length of the measured window, in seconds.
    pub duration_s: f64,
    /// Length of the load that is discarded before it, in seconds.
    pub warmup_s: f64,
    /// Whether a connection serves many requests or one.
    pub connection: Connection,
    /// After this many seconds an unanswered request counts as failed.
    pub timeout_s: f64,
}

/// Who decides when the next request is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Executor {
    /// A closed loop: each of `vus` virtual users sends its next request when the last one is answered.
    ConstantVus {
        /// Number of virtual users, each with one connection.
        vus: u32,
    },
}

/// Whether a connection serves many requests or one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// Each virtual user keeps its connection as long as the server does.
    KeepAlive,
    /// Each request opens a connection of its own.
    PerRequest,
}

impl LoadProfile {
    /// Short words for tables: `closed loop, 64 virtual users, keep-alive, 1s`.
    pub fn describe(&self) -> String {
        let Executor::ConstantVus { vus } = self.executor;
        let connection = match self.connection {
            Connection::KeepAlive => "keep-alive",
            Connection::PerRequest => "a connection per request",
        };
        format!("closed loop, {vus} virtual users, {connection}, {}", format_duration(self.duration_s))
    }
}
