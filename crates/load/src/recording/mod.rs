//! What happened in a run, in constant memory: ledger, histograms, timeline. Takes instants as arguments and reads no clock.
//!
//! Every request belongs to the phase of its planned start. The ledger is the account of the window: sends, correct responses and failures
//! count if they happen inside it. So `scheduled = sent + unsent` and `sent = good + failed + in flight` always hold. The drain is the
//! account of the rest. Histograms contain every request of the window that ended in the window or in the drain: leaving out the last ones
//! would leave out the slowest. Requests of the warm-up are counted separately and enter no histogram.

mod clients;
mod collect;
mod instants;
mod parts;
mod row;
mod timeline;
mod times;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;
use crate::fault::{ErrorClass, Fault};
use crate::histogram::{Durations, seconds};
use crate::record::{Connections, Drain, ErrorExample, Ledger, WarmUpLedger, WholeRun};
use crate::schedule::{Phase, Span};
pub(crate) use clients::Clients;
pub(crate) use collect::Collector;
pub(crate) use instants::{Instants, Slowest};
pub(crate) use parts::{NO_PART, Part, records as part_records};
pub(crate) use row::{ROW, Row};
pub(crate) use timeline::Rows;
use timeline::{Level, Timeline};
pub(crate) use times::{RESPONSE, Times};

/// A request in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// When it was meant to start.
    pub intended: MonotonicNs,
    /// When the engine acted on it, that is, began to connect or to send.
    pub acted: MonotonicNs,
    /// When its first byte was handed to the kernel.
    pub sent: MonotonicNs,
    /// The phase it belongs to. Stored, because an early stop moves the borders.
    pub phase: Phase,
    /// How late the engine acted, up to 4 s.
    pub late_ns: u32,
    /// The part of the mix that its request belongs to, or [`NO_PART`].
    pub part: u16,
    /// Whether it is a slow client's, if those are counted separately.
    pub is_slow: bool,
}

/// Everything a thread's recorder has at the end of a run, besides the rows it has sent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// The actual window.
    pub span: Span,
    pub last_good: Option<MonotonicNs>,
    pub ledger: Ledger,
    pub warm_up: WarmUpLedger,
    pub drain: Drain,
    pub whole_run: WholeRun,
    /// Those of `drain.sent` that had a connection when they were due: only the window's end made them late.
    pub cut_off: u64,
    /// The row of the time after the window.
    pub drain_row: Row,
    /// Waiting times, from the intended start, of requests of the window that had no outcome when the run ended.
    pub unanswered: Durations,
    pub occupancy: Occupancy,
    pub queue_max: u64,
    pub connections: Connections,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    pub error_examples: BTreeMap<ErrorClass, ErrorExample>,
    /// Failures in all phases.
    pub failures: u64,
    pub parts: Vec<Part>,
    pub clients: Option<Box<Clients>>,
}

/// Requests in flight over the window, counted in two ways to check Little's law.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Occupancy {
    /// By level: the number of requests in flight, summed over every nanosecond of the window.
    pub area_ns: u128,
    /// By request: the sum of their times in flight inside the window.
    pub time_ns: u128,
}

/// Records all events of a run.
#[derive(Debug)]
pub(crate) struct Recorder<R> {
    span: Span,
    timeline: Timeline<R>,
    level: Level,
    /// When the level of requests in flight last changed.
    level_since: MonotonicNs,
    occupancy: Occupancy,
    queue_max: u64,
    /// When the last correct response inside the window came.
    last_good: Option<MonotonicNs>,
    sent: u64,
    good: u64,
    failed: [u64; ErrorClass::ALL.len()],
    warm_up: WarmUpLedger,
    drain: Drain,
    /// Requests acted on that ended before any of their bytes was handed to the kernel.
    unsent: u64,
    /// Those of `warm_up.carried_over_waiting` with a correct response after the window.
    answered_late: u64,
    cut_off: u64,
    unanswered: Durations,
    /// Whether response times are also kept without the engine's lateness.
    splits_lateness: bool,
    connections: Connections,
    received_bytes: u64,
    sent_bytes: u64,
    error_examples: BTreeMap<ErrorClass, ErrorExample>,
    failures: u64,
    parts: Vec<Part>,
    clients: Option<Box<Clients>>,
}

impl<R: Rows> Recorder<R> {
    pub fn new(span: Span, rows: R) -> Recorder<R> {
        Recorder {
            span,
            timeline: Timeline::new(span, rows),
            level: Level::default(),
            level_since: span.start,
            occupancy: Occupancy::default(),
            queue_max: 0,
            last_good: None,
            sent: 0,
            good: 0,
            failed: Default::default(),
            warm_up: WarmUpLedger::default(),
            drain: Drain::default(),
            unsent: 0,
            answered_late: 0,
            cut_off: 0,
            unanswered: Durations::new(),
            splits_lateness: false,
            connections: Connections::default(),
            received_bytes: 0,
            sent_bytes: 0,
            error_examples: BTreeMap::new(),
            failures: 0,
            parts: Vec::new(),
            clients: None,
        }
    }

    /// Counts slow and fast clients separately, if `are_apart`.
    pub fn with_clients(self, are_apart: bool) -> Recorder<R> {
        Recorder { clients: are_apart.then(Box::default), ..self }
    }

    /// Sets the parts that requests may belong to.
    pub fn with_parts(self, parts: Vec<Part>) -> Recorder<R> {
        Recorder { parts, ..self }
    }

    /// Takes the parts, for another recorder of the same run.
    pub fn take_parts(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.parts)
    }

    /// Marks a request that was just sent as one of a slow or a fast client.
    pub fn mark_client(&mut self, attempt: Attempt, is_slow: bool) -> Attempt {
        let attempt = Attempt { is_slow, ..attempt };
        self.client_of(&attempt).into_iter().for_each(Part::sent);
        attempt
    }

    /// The figures of the client's kind for a request of the window, if they are counted separately.
    fn client_of(&mut self, attempt: &Attempt) -> Option<&mut Part> {
        self.clients.as_mut().filter(|_| attempt.phase == Phase::Measure).map(|clients| clients.of(attempt))
    }

    /// The part of a request of the window, if it belongs to one.
    fn part_of(&mut self, attempt: &Attempt) -> Option<&mut Part> {
        // Without parts the lookup costs one comparison.
        self.parts.get_mut(usize::from(attempt.part)).filter(|_| attempt.phase == Phase::Measure)
    }

    /// Assigns a request that was just sent to a part.
    pub fn belongs(&mut self, attempt: Attempt, part: u16) -> Attempt {
        let attempt = Attempt { part, ..attempt };
        self.part_of(&attempt).into_iter().for_each(Part::sent);
        attempt
    }

    /// For an open loop, where a request may be sent late.
    pub fn splitting_lateness(self, splits_lateness: bool) -> Recorder<R> {
        Recorder { splits_lateness, ..self }
    }

    /// Advances to `now` and completes the rows that end at or before it.
    pub fn advance(&mut self, now: MonotonicNs) {
        if self.timeline.is_behind(now) {
            self.timeline.advance(now, self.level);
        }
    }

    /// End of the current row; `None` once the timeline is complete.
    pub fn next_row_end(&self) -> Option<MonotonicNs> {
        self.timeline.next_row_end()
    }

    /// Ends the window at `at`, which may be in the future.
    pub fn stop(&mut self, at: MonotonicNs) {
        self.span = self.span.cut_at(at);
        self.timeline.stop(at);
    }

    /// The receiver of the rows.
    pub fn rows(&mut self) -> &mut R {
        self.timeline.rows()
    }

    /// Sets the number of arrivals that wait for a connection.
    pub fn queued(&mut self, arrivals: u64) {
        self.level.queued = arrivals;
        if !self.timeline.drains() && self.timeline.current().phase == Phase::Measure {
            self.queue_max = self.queue_max.max(arrivals);
        }
    }

    /// Records that the engine acts on a request. It could be sent from `ready` on: the planned instant or, if later, the instant at which
    /// a connection was free. Returns the handle for all later calls.
    pub fn sent(&mut self, intended: MonotonicNs, ready: MonotonicNs, acted: MonotonicNs) -> Attempt {
        let phase = self.span.phase_of(intended);
        // A request planned just before the warm-up ends and acted on just after still belongs to the warm-up. So it must find the row of
        // its phase open.
        match phase {
            Phase::WarmUp => self.advance(acted.min(MonotonicNs(self.span.window_start.0.saturating_sub(1)))),
            Phase::Measure => self.advance(acted),
        }
        self.occupy(acted);
        self.level.in_flight += 1;
        match phase {
            Phase::WarmUp => self.warm_up.sent += 1,
            Phase::Measure if acted < self.span.window_end => self.sent += 1,
            Phase::Measure => {
                self.drain.sent += 1;
                self.cut_off += u64::from(ready == intended);
            }
        }
        let late_ns = acted.ns_since(ready);
        if let Some(row) = self.timeline.row_of(phase) {
            row.sent += 1;
            row.times.lateness.record(late_ns);
            if ready > intended {
                row.times.queue.record(ready.ns_since(intended));
            }
        }
        let late_ns = u32::try_from(late_ns).unwrap_or(u32::MAX);
        Attempt { intended, acted, sent: acted, phase, late_ns, part: NO_PART, is_slow: false }
    }

    /// Records the first byte of an answer.
    pub fn first_byte(&mut self, attempt: &Attempt, at: MonotonicNs) {
        self.advance(at);
        if let Some(row) = self.timeline.row_of(attempt.phase) {
            row.times.first_byte.record(at.ns_since(attempt.sent));
        }
    }

    /// Records a correct response.
    pub fn good(&mut self, attempt: &Attempt, at: MonotonicNs) {
        self.advance(at);
        self.ended(attempt, at);
        let inside = at < self.span.window_end;
        match attempt.phase {
            Phase::Measure if inside => self.good += 1,
            Phase::Measure => self.drain.good += 1,
            Phase::WarmUp if at < self.span.window_start => self.warm_up.good += 1,
            Phase::WarmUp if inside => self.warm_up.carried_over_good += 1,
            Phase::WarmUp => {
                self.warm_up.carried_over_waiting += 1;
                self.answered_late += 1;
            }
        }
        if inside && at >= self.span.window_start {
            self.last_good = Some(at);
            self.clients.iter_mut().for_each(|clients| clients.answered_in_window(attempt));
        }
        if let Some(row) = self.timeline.row_of(attempt.phase) {
            row.good += 1;
            row.times.response.record(at.ns_since(attempt.intended));
            row.times.service.record(at.ns_since(attempt.sent));
            if self.splits_lateness {
                row.times.punctual.record(at.ns_since(attempt.intended) - u64::from(attempt.late_ns));
            }
        }
        let took_ns = at.ns_since(attempt.intended);
        self.part_of(attempt).into_iter().for_each(|part| part.good(took_ns));
        self.client_of(attempt).into_iter().for_each(|clients| clients.good(took_ns));
    }

    /// Records a failed request.
    pub fn failed(&mut self, attempt: &Attempt, at: MonotonicNs, fault: &Fault) {
        self.advance(at);
        self.ended(attempt, at);
        self.failures += 1;
        let class = fault.class();
        match attempt.phase {
            Phase::Measure if at < self.span.window_end => self.failed[class as usize] += 1,
            Phase::Measure => self.drain.failed += 1,
            Phase::WarmUp if at < self.span.window_start => self.warm_up.failed += 1,
            Phase::WarmUp => self.warm_up.carried_over_waiting += u64::from(at >= self.span.window_end),
        }
        if let Some(row) = self.timeline.row_of(attempt.phase) {
            row.failed[class as usize] += 1;
            row.times.failure.record(at.ns_since(attempt.intended));
        }
        self.part_of(attempt).into_iter().for_each(Part::failed);
        self.client_of(attempt).into_iter().for_each(Part::failed);
        self.exemplify(class, at, || fault.to_string());
    }

    /// Stores an example of a class of failures, if it is the first.
    pub fn exemplify(&mut self, class: ErrorClass, at: MonotonicNs, text: impl FnOnce() -> String) {
        let at_s = seconds(at.ns_since(self.span.start));
        self.error_examples.entry(class).or_insert_with(|| ErrorExample { class, text: text(), at_s });
    }

    /// Counts a request that is about to end before any of its bytes was handed to the kernel.
    pub fn unsent(&mut self) {
        self.unsent += 1;
    }

    /// The run ends at `at`, while this request has no outcome.
    pub fn abandoned(&mut self, attempt: &Attempt, at: MonotonicNs) {
        self.ended(attempt, at);
        match attempt.phase {
            Phase::Measure => {
                self.drain.abandoned += 1;
                self.unanswered.record(at.ns_since(attempt.intended));
            }
            Phase::WarmUp => self.warm_up.carried_over_waiting += 1,
        }
        if let Some(part) = self.part_of(attempt) {
            part.abandoned(attempt.intended, at);
        }
    }

    /// The run ends at `at`, and a request of the window was not sent.
    pub fn never_sent(&mut self, intended: MonotonicNs, at: MonotonicNs) {
        self.drain.never_sent += 1;
        self.unanswered.record(at.ns_since(intended));
    }

    /// Counts received bytes.
    pub fn received(&mut self, bytes: usize, at: MonotonicNs) {
        self.advance(at);
        if self.timeline.drains() {
            return;
        }
        let row = self.timeline.current();
        row.received_bytes += bytes as u64;
        if row.phase == Phase::Measure {
            self.received_bytes += bytes as u64;
        }
    }

    /// Counts sent bytes. They belong to the open row: a late request of the warm-up must not close its row for the requests after it.
    pub fn transmitted(&mut self, bytes: usize, at: MonotonicNs) {
        if at >= self.span.window_end || self.timeline.drains() {
            return;
        }
        let row = self.timeline.current();
        row.sent_bytes += bytes as u64;
        if row.phase == Phase::Measure {
            self.sent_bytes += bytes as u64;
        }
    }

    /// Counts an established connection; connecting began at `since`.
    pub fn connected(&mut self, since: MonotonicNs, at: MonotonicNs) {
        self.advance(at);
        self.timeline.current().times.connect.record(at.ns_since(since));
        self.connections.opened += 1;
        if self.timeline.drains() {
            return;
        }
        let row = self.timeline.current();
        row.new_connections += 1;
        self.connections.opened_in_window += u64::from(row.phase == Phase::Measure);
    }

    /// Counts a failed attempt to connect.
    pub fn not_connected(&mut self) {
        self.connections.failed += 1;
    }

    /// Counts a closed connection.
    pub fn disconnected(&mut self, brought_an_answer: bool) {
        self.connections.never_answered += u64::from(!brought_an_answer);
    }

    /// The target announced to close a connection but did not in time.
    pub fn not_closed_by_target(&mut self) {
        self.connections.not_closed_by_target += 1;
    }

    /// Counts bytes that came after the last answer of a connection.
    pub fn unasked(&mut self, bytes: usize) {
        self.connections.unasked_bytes += bytes as u64;
    }

    /// The level of requests in flight changes at `at`: adds the time at the old level.
    fn occupy(&mut self, at: MonotonicNs) {
        let from = self.level_since.max(self.span.window_start);
        let for_ns = at.min(self.span.window_end).ns_since(from);
        self.occupancy.area_ns += u128::from(self.level.in_flight) * u128::from(for_ns);
        self.level_since = at;
    }

    /// Takes a request out of flight.
    fn ended(&mut self, attempt: &Attempt, at: MonotonicNs) {
        self.occupy(at);
        self.level.in_flight -= 1;
        let inside = at.min(self.span.window_end).ns_since(attempt.acted.max(self.span.window_start));
        self.occupancy.time_ns += u128::from(inside);
    }

    /// The totals. The window must be over.
    pub fn finish(mut self) -> Recorded {
        self.advance(self.span.window_end);
        self.occupy(self.span.window_end.max(self.level_since));
        let unsent = self.drain.sent + self.drain.never_sent;
        let settled = self.drain.good + self.drain.failed + self.drain.abandoned;
        self.warm_up.carried_over = self.warm_up.sent - self.warm_up.good - self.warm_up.failed;
        let (warm_up, drain) = (&self.warm_up, &self.drain);
        let whole_run = WholeRun {
            sent: warm_up.sent + self.sent + drain.sent - self.unsent,
            good: warm_up.good + warm_up.carried_over_good + self.answered_late + self.good + drain.good,
        };
        let by_class = ErrorClass::ALL.iter().copied().zip(self.failed).filter(|(_, count)| *count > 0);
        let ledger = Ledger {
            scheduled: self.sent + unsent,
            sent: self.sent,
            unsent,
            good: self.good,
            failed: self.failed.iter().sum(),
            failed_by_class: by_class.collect(),
            in_flight_at_end: settled - self.drain.sent,
        };
        Recorded {
            span: self.span,
            last_good: self.last_good,
            ledger,
            warm_up: self.warm_up,
            drain: self.drain,
            whole_run,
            cut_off: self.cut_off,
            unanswered: self.unanswered,
            drain_row: self.timeline.into_drain(),
            occupancy: self.occupancy,
            queue_max: self.queue_max,
            connections: self.connections,
            received_bytes: self.received_bytes,
            sent_bytes: self.sent_bytes,
            error_examples: self.error_examples,
            failures: self.failures,
            parts: self.parts,
            clients: self.clients,
        }
    }
}

#[cfg(test)]
mod tests;
