//! One row a second. Rows are cut at the phases' borders too, so that no row holds something of both.

use std::time::Duration;

use crate::clock::MonotonicNs;
use crate::histogram::Durations;
use crate::record::SecondRow;
use crate::schedule::{Phase, Span};

/// The row that is being filled.
#[derive(Debug)]
pub(super) struct OpenRow {
    phase: Phase,
    start: MonotonicNs,
    end: MonotonicNs,
    pub sent: u64,
    pub good: u64,
    pub failed: u64,
    pub received_bytes: u64,
    pub new_connections: u64,
    pub response_time: Durations,
}

impl OpenRow {
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Makes it the row that starts at `start`.
    fn restart(&mut self, start: MonotonicNs, span: &Span) {
        self.phase = span.phase_of(start);
        let phase_end = if self.phase == Phase::WarmUp { span.window_start } else { span.window_end };
        (self.start, self.end) = (start, phase_end.min(start + Duration::from_secs(1)));
        (self.sent, self.good, self.failed) = (0, 0, 0);
        (self.received_bytes, self.new_connections) = (0, 0);
        self.response_time.clear();
    }
}

/// All rows of a run.
#[derive(Debug)]
pub(super) struct Timeline {
    span: Span,
    /// Where rows count from. The planned start of the window, which an early stop does not move.
    origin: MonotonicNs,
    rows: Vec<SecondRow>,
    open: OpenRow,
}

impl Timeline {
    pub fn new(span: Span) -> Timeline {
        let mut open = OpenRow {
            phase: Phase::WarmUp,
            start: span.start,
            end: span.start,
            sent: 0,
            good: 0,
            failed: 0,
            received_bytes: 0,
            new_connections: 0,
            response_time: Durations::new(),
        };
        open.restart(span.start, &span);
        // Reserved so that completing a row allocates nothing; a longer run than this may well allocate once in a while.
        let seconds = span.window_end.since(span.start).as_secs().min(100_000) as usize;
        Timeline { span, origin: span.window_start, rows: Vec::with_capacity(seconds + 2), open }
    }

    pub fn rows(&self) -> &[SecondRow] {
        &self.rows
    }

    pub fn into_rows(self) -> Vec<SecondRow> {
        self.rows
    }

    fn is_complete(&self) -> bool {
        self.open.start >= self.span.window_end
    }

    /// End of the row that is being filled.
    pub fn next_row_end(&self) -> Option<MonotonicNs> {
        (!self.is_complete()).then_some(self.open.end)
    }

    /// Whether `now` lies beyond the row that is being filled.
    pub fn is_behind(&self, now: MonotonicNs) -> bool {
        now >= self.open.end && !self.is_complete()
    }

    /// Completes all rows that end at or before `now`. Response times of the window go to `total`.
    pub fn advance(&mut self, now: MonotonicNs, total: &mut Durations) {
        while self.is_behind(now) {
            self.close_row(total);
        }
    }

    /// Ends the timeline at `at`, in the midst of a row.
    pub fn stop(&mut self, at: MonotonicNs, total: &mut Durations) {
        self.span = self.span.cut_at(at);
        if !self.is_complete() {
            self.open.end = self.open.end.min(at);
            self.close_row(total);
        }
        self.open.start = self.span.window_end;
    }

    fn close_row(&mut self, total: &mut Durations) {
        let open = &self.open;
        self.rows.push(SecondRow {
            second: self.rows.len() as u32,
            phase: open.phase,
            start_s: (open.start.0 as i64 - self.origin.0 as i64) as f64 / 1e9,
            duration_s: open.end.since(open.start).as_secs_f64(),
            sent: open.sent,
            good: open.good,
            failed: open.failed,
            received_bytes: open.received_bytes,
            p50_s: open.response_time.quantile_s(0.5),
            p99_s: open.response_time.quantile_s(0.99),
            max_s: open.response_time.max_s(),
            new_connections: open.new_connections,
        });
        if open.phase == Phase::Measure {
            total.add(&open.response_time);
        }
        self.open.restart(self.open.end, &self.span);
    }

    /// The row that is being filled.
    pub fn current(&mut self) -> Option<&mut OpenRow> {
        if self.is_complete() { None } else { Some(&mut self.open) }
    }

    /// The same, if it belongs to the phase of the request that is to be counted: what a request of the warm-up does
    /// inside the window is no row's.
    pub fn row_of(&mut self, phase: Phase) -> Option<&mut OpenRow> {
        self.current().filter(|row| row.phase == phase)
    }
}
