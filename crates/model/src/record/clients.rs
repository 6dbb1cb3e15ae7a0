//! Slow and fast clients of one load, and which figures cases are compared by.

use serde::{Deserialize, Serialize};

use super::{Latency, Measurement};

/// The clients of a load whose `slow-share` makes some of them slow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Clients {
    /// Clients without a rate limit.
    pub fast: ClientFigures,
    /// Clients that read or write at the load's rates.
    pub slow: ClientFigures,
}

/// One kind of client: its requests of the window, including those that ended after it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientFigures {
    /// Virtual users.
    pub users: u32,
    /// Correct responses per second of the window.
    pub goodput_rps: f64,
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    pub failed: u64,
    pub latency: Latency,
}

impl Measurement {
    /// The goodput that cases are compared by: the fast clients', if others are slow.
    pub fn compared_goodput_rps(&self) -> f64 {
        self.clients.as_ref().map_or(self.goodput_rps, |clients| clients.fast.goodput_rps)
    }

    /// The latency that cases are compared by: the fast clients', if others are slow.
    pub fn compared_latency(&self) -> &Latency {
        self.clients.as_ref().map_or(&self.latency, |clients| &clients.fast.latency)
    }
}
