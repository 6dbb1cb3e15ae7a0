//! One second of one thread. The measuring thread fills rows. The collecting thread adds up the rows of all threads and gives the empty
//! ones back, so the measuring thread neither sorts nor encodes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Times;
use super::instants::Slowest;
use super::times::PRINTED;
use crate::clock::MonotonicNs;
use crate::fault::ErrorClass;
use crate::schedule::{Phase, Span};

/// Default length of a row.
pub(crate) const ROW: Duration = Duration::from_secs(1);

/// What happened in one second.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub phase: Phase,
    pub start: MonotonicNs,
    pub end: MonotonicNs,
    pub sent: u64,
    pub good: u64,
    /// Failures by class.
    pub failed: [u64; ErrorClass::ALL.len()],
    pub received_bytes: u64,
    pub sent_bytes: u64,
    pub new_connections: u64,
    /// Requests in flight at the end of the row.
    pub in_flight: u64,
    /// Arrivals waiting for a connection at the end of the row.
    pub queued: u64,
    pub times: Times,
    /// The slowest values of each millisecond, for the distributions with reported percentiles.
    pub slowest: [Slowest; PRINTED],
}

impl Row {
    /// An empty row.
    pub fn new() -> Row {
        let nothing = MonotonicNs(0);
        Row {
            phase: Phase::WarmUp,
            start: nothing,
            end: nothing,
            sent: 0,
            good: 0,
            failed: Default::default(),
            received_bytes: 0,
            sent_bytes: 0,
            new_connections: 0,
            in_flight: 0,
            queued: 0,
            times: Times::new(),
            slowest: std::array::from_fn(|_| Slowest::with_room()),
        }
    }

    /// Starts an empty row at `start`. It ends after `longest`, or with its phase if that is earlier.
    pub fn begin(&mut self, start: MonotonicNs, span: &Span, longest: Duration) {
        self.phase = span.phase_of(start);
        let phase_end = if self.phase == Phase::WarmUp { span.window_start } else { span.window_end };
        (self.start, self.end) = (start, phase_end.min(start + longest));
    }

    /// Ends a millisecond of the row: notes its slowest values.
    pub fn cut(&mut self, at: usize) {
        for (slowest, durations) in self.slowest.iter_mut().zip(self.times.printed()) {
            slowest.note(at, durations.cut());
        }
    }

    /// Clears its content.
    pub fn clear(&mut self) {
        (self.sent, self.good, self.failed) = (0, 0, Default::default());
        (self.received_bytes, self.sent_bytes, self.new_connections) = (0, 0, 0);
        (self.in_flight, self.queued) = (0, 0);
        self.times.clear();
        self.slowest.iter_mut().for_each(Slowest::clear);
    }

    /// Adds the same second of another thread.
    pub fn add(&mut self, other: &Row) {
        self.end = self.end.max(other.end);
        self.sent += other.sent;
        self.good += other.good;
        self.failed.iter_mut().zip(other.failed).for_each(|(sum, count)| *sum += count);
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.new_connections += other.new_connections;
        self.in_flight += other.in_flight;
        self.queued += other.queued;
        self.times.add(&other.times);
        self.slowest.iter_mut().zip(&other.slowest).for_each(|(sum, other)| sum.add(other));
    }
}
