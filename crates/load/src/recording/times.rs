//! How long things took, measured in several ways.

use crate::histogram::Durations;

/// The distributions of a second of a thread, or of sums of such.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    /// Good answers, from the intended start.
    pub response: Durations,
    /// The same answers, from the send.
    pub service: Durations,
    /// How long the engine took to act once it could.
    pub lateness: Durations,
    /// Waiting for a connection of the pool.
    pub queue: Durations,
    /// Establishing a connection.
    pub connect: Durations,
    /// From the send to the first byte of the answer.
    pub first_byte: Durations,
    /// Failed requests, from the intended start.
    pub failure: Durations,
}

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
        }
    }

    pub fn clear(&mut self) {
        let Times { response, service, lateness, queue, connect, first_byte, failure } = self;
        for durations in [response, service, lateness, queue, connect, first_byte, failure] {
            durations.clear();
        }
    }

    pub fn add(&mut self, other: &Times) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.lateness.add(&other.lateness);
        self.queue.add(&other.queue);
        self.connect.add(&other.connect);
        self.first_byte.add(&other.first_byte);
        self.failure.add(&other.failure);
    }
}
