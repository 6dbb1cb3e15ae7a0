//! What happened, in constant memory: ledger, histograms, timeline. Takes instants as arguments and reads no clock.
//!
//! Every request belongs to the phase in which it was meant to start. A request of the window is good or failed if its
//! outcome comes inside the window, and in flight at the end otherwise, so that `sent = good + failed + in flight`
//! whatever happens. Requests of the warm-up are counted apart and enter no histogram.

mod timeline;

use std::collections::BTreeMap;

use crate::clock::MonotonicNs;
use crate::fault::{ErrorClass, Fault};
use crate::histogram::{Durations, seconds};
use crate::record::{Connections, Distribution, Drain, ErrorExample, Ledger, SecondRow, WarmUpLedger};
use crate::schedule::{Phase, Span};
use timeline::Timeline;

/// A request on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// When it was meant to start.
    pub intended: MonotonicNs,
    /// When the engine acted on it: began to connect, or to send.
    pub acted: MonotonicNs,
    /// When its first byte was handed to the kernel.
    pub sent: MonotonicNs,
    /// The phase it belongs to. Kept, because an early stop moves the borders.
    pub phase: Phase,
}

/// Everything the recorder knows at the end of a run.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub last_good_s: Option<f64>,
    pub ledger: Ledger,
    pub warm_up: WarmUpLedger,
    pub drain: Drain,
    pub response_time: Distribution,
    pub service_time: Distribution,
    pub lateness: Distribution,
    pub failure_time: Distribution,
    pub connect_time: Distribution,
    pub timeline: Vec<SecondRow>,
    pub connections: Connections,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    pub error_examples: Vec<ErrorExample>,
}

/// Takes note of everything.
#[derive(Debug)]
pub(crate) struct Recorder {
    span: Span,
    /// When the last good answer inside the window came.
    last_good: Option<MonotonicNs>,
    scheduled: u64,
    sent: u64,
    good: u64,
    failed: [u64; ErrorClass::ALL.len()],
    warm_up: WarmUpLedger,
    drain: Drain,
    response_time: Durations,
    service_time: Durations,
    lateness: Durations,
    failure_time: Durations,
    connect_time: Durations,
    timeline: Timeline,
    connections: Connections,
    received_bytes: u64,
    sent_bytes: u64,
    error_examples: BTreeMap<ErrorClass, ErrorExample>,
}

impl Recorder {
    pub fn new(span: Span) -> Recorder {
        Recorder {
            span,
            last_good: None,
            scheduled: 0,
            sent: 0,
            good: 0,
            failed: Default::default(),
            warm_up: WarmUpLedger::default(),
            drain: Drain::default(),
            response_time: Durations::new(),
            service_time: Durations::new(),
            lateness: Durations::new(),
            failure_time: Durations::new(),
            connect_time: Durations::new(),
            timeline: Timeline::new(span),
            connections: Connections::default(),
            received_bytes: 0,
            sent_bytes: 0,
            error_examples: BTreeMap::new(),
        }
    }

    /// Time has come to `now`: completes the rows that end at or before it.
    pub fn advance(&mut self, now: MonotonicNs) {
        if self.timeline.is_behind(now) {
            self.timeline.advance(now, &mut self.response_time);
        }
    }

    /// End of the row that is being filled; nothing when the timeline is complete.
    pub fn next_row_end(&self) -> Option<MonotonicNs> {
        self.timeline.next_row_end()
    }

    /// The rows completed so far.
    pub fn rows(&self) -> &[SecondRow] {
        self.timeline.rows()
    }

    /// Ends the run at `at`; no request may be counted before this instant any more.
    pub fn stop(&mut self, at: MonotonicNs) {
        self.advance(at);
        self.span = self.span.cut_at(at);
        self.timeline.stop(at, &mut self.response_time);
    }

    /// The engine acts on a request: what it is known by from here on.
    pub fn sent(&mut self, intended: MonotonicNs, acted: MonotonicNs) -> Attempt {
        let phase = self.span.phase_of(intended);
        // A request planned just before its phase ends and acted on just after is the phase's all the same, so it must
        // find the row of its phase still open.
        let phase_end = if phase == Phase::WarmUp { self.span.window_start } else { self.span.window_end };
        self.advance(acted.min(MonotonicNs(phase_end.0.saturating_sub(1))));
        match phase {
            Phase::WarmUp => self.warm_up.sent += 1,
            Phase::Measure => {
                self.scheduled += 1;
                self.sent += 1;
                self.lateness.record(acted.ns_since(intended));
            }
        }
        if let Some(row) = self.timeline.row_of(phase) {
            row.sent += 1;
        }
        Attempt { intended, acted, sent: acted, phase }
    }

    /// A complete answer, as expected.
    pub fn good(&mut self, attempt: &Attempt, at: MonotonicNs) {
        self.advance(at);
        let inside = at < self.span.window_end;
        match attempt.phase {
            Phase::Measure if inside => {
                self.good += 1;
                self.service_time.record(at.ns_since(attempt.sent));
            }
            Phase::Measure => self.drain.good += 1,
            Phase::WarmUp if at < self.span.window_start => self.warm_up.good += 1,
            Phase::WarmUp if inside => self.warm_up.carried_over_good += 1,
            Phase::WarmUp => self.warm_up.carried_over_waiting += 1,
        }
        if inside && at >= self.span.window_start {
            self.last_good = Some(at);
        }
        let response_ns = at.ns_since(attempt.intended);
        // Response times enter the total when their row is complete: one histogram less to touch for each request.
        if let Some(row) = self.timeline.row_of(attempt.phase) {
            row.good += 1;
            row.response_time.record(response_ns);
        }
    }

    /// A request failed.
    pub fn failed(&mut self, attempt: &Attempt, at: MonotonicNs, fault: &Fault) {
        self.advance(at);
        let class = fault.class();
        match attempt.phase {
            Phase::Measure if at < self.span.window_end => {
                self.failed[class as usize] += 1;
                self.failure_time.record(at.ns_since(attempt.intended));
            }
            Phase::Measure => self.drain.failed += 1,
            Phase::WarmUp if at < self.span.window_start => self.warm_up.failed += 1,
            Phase::WarmUp => self.warm_up.carried_over_waiting += u64::from(at >= self.span.window_end),
        }
        if let Some(row) = self.timeline.row_of(attempt.phase) {
            row.failed += 1;
        }
        let at_s = seconds(at.ns_since(self.span.start));
        self.error_examples.entry(class).or_insert_with(|| ErrorExample { class, text: fault.to_string(), at_s });
    }

    /// The run ends and this request has no outcome.
    pub fn abandoned(&mut self, attempt: &Attempt) {
        match attempt.phase {
            Phase::Measure => self.drain.abandoned += 1,
            Phase::WarmUp => self.warm_up.carried_over_waiting += 1,
        }
    }

    /// Bytes came in.
    pub fn received(&mut self, bytes: usize, at: MonotonicNs) {
        self.advance(at);
        if let Some(row) = self.timeline.current() {
            row.received_bytes += bytes as u64;
            if row.phase() == Phase::Measure {
                self.received_bytes += bytes as u64;
            }
        }
    }

    /// Bytes went out.
    pub fn transmitted(&mut self, bytes: usize, at: MonotonicNs) {
        if at >= self.span.window_start && at < self.span.window_end {
            self.sent_bytes += bytes as u64;
        }
    }

    /// A connection was established, begun at `since`.
    pub fn connected(&mut self, since: MonotonicNs, at: MonotonicNs) {
        self.advance(at);
        self.connect_time.record(at.ns_since(since));
        self.connections.opened += 1;
        if let Some(row) = self.timeline.current() {
            row.new_connections += 1;
            self.connections.opened_in_window += u64::from(row.phase() == Phase::Measure);
        }
    }

    /// A connection could not be established.
    pub fn not_connected(&mut self) {
        self.connections.failed += 1;
    }

    /// An established connection is gone.
    pub fn disconnected(&mut self, brought_an_answer: bool) {
        self.connections.never_answered += u64::from(!brought_an_answer);
    }

    /// The target had announced to close a connection and has not done so in time.
    pub fn not_closed_by_target(&mut self) {
        self.connections.not_closed_by_target += 1;
    }

    /// Bytes came after the last answer of a connection.
    pub fn unasked(&mut self, bytes: usize) {
        self.connections.unasked_bytes += bytes as u64;
    }

    /// The sum of it all. The timeline must have been advanced or stopped to the end of the window.
    pub fn finish(mut self) -> Recorded {
        self.advance(self.span.window_end);
        let drained = self.drain.good + self.drain.failed + self.drain.abandoned;
        self.warm_up.carried_over = self.warm_up.sent - self.warm_up.good - self.warm_up.failed;
        let by_class = ErrorClass::ALL.iter().copied().zip(self.failed).filter(|(_, count)| *count > 0);
        let ledger = Ledger {
            scheduled: self.scheduled,
            sent: self.sent,
            good: self.good,
            failed: self.failed.iter().sum(),
            failed_by_class: by_class.collect(),
            in_flight_at_end: drained,
        };
        let window_start = self.span.window_start;
        Recorded {
            last_good_s: self.last_good.map(|at| seconds(at.ns_since(window_start))),
            ledger,
            warm_up: self.warm_up,
            drain: self.drain,
            response_time: self.response_time.summary(),
            service_time: self.service_time.summary(),
            lateness: self.lateness.summary(),
            failure_time: self.failure_time.summary(),
            connect_time: self.connect_time.summary(),
            timeline: self.timeline.into_rows(),
            connections: self.connections,
            received_bytes: self.received_bytes,
            sent_bytes: self.sent_bytes,
            error_examples: self.error_examples.into_values().collect(),
        }
    }
}

#[cfg(test)]
mod tests;
