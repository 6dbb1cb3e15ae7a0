//! Durations of requests, measured in several ways.

use serde::{Deserialize, Serialize};

use super::instants::Slowest;
use crate::clock::MonotonicNs;
use crate::histogram::Durations;

/// The distributions of one thread in one second, or sums of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Times {
    /// Correct responses, from the intended start.
    pub response: Durations,
    /// The same answers, from sending.
    pub service: Durations,
    /// How long the engine took to act on a request once it could.
    pub lateness: Durations,
    /// Waiting for a connection from the pool.
    pub queue: Durations,
    /// Establishing a connection.
    pub connect: Durations,
    /// From sending to the first byte of the answer.
    pub first_byte: Durations,
    /// Failed requests, from the intended start.
    pub failure: Durations,
    /// Response times without the engine's own lateness; open loops only.
    pub punctual: Durations,
}

/// Number of distributions with reported percentiles.
pub(super) const PRINTED: usize = 7;
/// Index of the response times among them.
pub(crate) const RESPONSE: usize = 0;
/// Index of the connect times among them.
pub(super) const CONNECT: usize = 4;

impl Times {
    pub fn new() -> Times {
        Times {
            response: Durations::new(),
            service: Durations::new(),
            lateness: Durations::new(),
            queue: Durations::new(),
            connect: Durations::new(),
            first_byte: Durations::new(),
            failure: Durations::new(),
            punctual: Durations::new(),
        }
    }

    /// The same, set up to count instants.
    pub fn counting_instants() -> Times {
        let mut times = Times::new();
        times.printed().into_iter().for_each(Durations::count_instants);
        times
    }

    /// The distributions with reported percentiles.
    pub(super) fn printed(&mut self) -> [&mut Durations; PRINTED] {
        let Times { response, service, lateness, queue, connect, first_byte, failure, .. } = self;
        [response, service, lateness, queue, connect, first_byte, failure]
    }

    pub fn clear(&mut self) {
        self.printed().into_iter().for_each(Durations::clear);
        self.punctual.clear();
    }

    /// Adds the instants of a row that began at `start`. Rows must come in chronological order.
    pub(super) fn add_instants(&mut self, slowest: &[Slowest; PRINTED], start: MonotonicNs) {
        self.printed().into_iter().zip(slowest).for_each(|(durations, slowest)| durations.add_instants(slowest, start));
    }

    pub fn add(&mut self, other: &Times) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lateness.add(&other.lateness);
        self.queue.add(&other.queue);
        self.connect.add(&other.connect);
        self.first_byte.add(&other.first_byte);
        self.failure.add(&other.failure);
        self.punctual.add(&other.punctual);
    }
}
