//! One second of one thread. Rows are filled by the thread that measures and read by the one that collects, which adds the
//! rows of all threads up and gives the emptied ones back: the measuring thread neither sorts nor encodes.

use crate::clock::MonotonicNs;
use crate::histogram::Durations;
use crate::schedule::{Phase, Span};

/// Longest row.
pub(crate) const ROW: std::time::Duration = std::time::Duration::from_secs(1);

/// What happened in one second.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub phase: Phase,
    pub start: MonotonicNs,
    pub end: MonotonicNs,
    pub sent: u64,
    pub good: u64,
    pub failed: u64,
    pub received_bytes: u64,
    pub new_connections: u64,
    /// Requests in flight at the end of the row.
    pub in_flight: u64,
    /// Arrivals waiting for a connection at the end of the row.
    pub queued: u64,
    pub response_time: Durations,
    pub service_time: Durations,
    pub lateness: Durations,
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
            failed: 0,
            received_bytes: 0,
            new_connections: 0,
            in_flight: 0,
            queued: 0,
            response_time: Durations::new(),
            service_time: Durations::new(),
            lateness: Durations::new(),
        }
    }

    /// Makes it the row that begins at `start`, empty as it must be.
    pub fn begin(&mut self, start: MonotonicNs, span: &Span) {
        self.phase = span.phase_of(start);
        let phase_end = if self.phase == Phase::WarmUp { span.window_start } else { span.window_end };
        (self.start, self.end) = (start, phase_end.min(start + ROW));
    }

    /// Forgets what it holds.
    pub fn clear(&mut self) {
        (self.sent, self.good, self.failed) = (0, 0, 0);
        (self.received_bytes, self.new_connections) = (0, 0);
        (self.in_flight, self.queued) = (0, 0);
        for durations in [&mut self.response_time, &mut self.service_time, &mut self.lateness] {
            durations.clear();
        }
    }

    /// Adds the same second of another thread.
    pub fn add(&mut self, other: &Row) {
        self.end = self.end.max(other.end);
        self.sent += other.sent;
        self.good += other.good;
        self.failed += other.failed;
        self.received_bytes += other.received_bytes;
        self.new_connections += other.new_connections;
        self.in_flight += other.in_flight;
        self.queued += other.queued;
        self.response_time.add(&other.response_time);
        self.service_time.add(&other.service_time);
        self.lateness.add(&other.lateness);
    }
}
