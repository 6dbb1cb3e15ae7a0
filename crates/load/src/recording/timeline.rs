//! Cuts time into rows, usually of a second. Rows are also cut at the borders of phases, so no row spans two phases.

use std::time::Duration;

use super::instants::SLOT;
use super::row::{ROW, Row};
use crate::clock::MonotonicNs;
use crate::schedule::{Phase, Span};

/// Takes full rows and returns empty ones.
pub(crate) trait Rows {
    /// Takes a complete row and puts an empty one in its place.
    fn exchange(&mut self, row: &mut Box<Row>);

    /// Length of the rows.
    fn length(&self) -> Duration {
        ROW
    }
}

/// Current requests in flight and in the queue; stored at the end of each row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub in_flight: u64,
    pub queued: u64,
}

/// The current row. After the window it is the drain's row, which is never handed over.
#[derive(Debug)]
pub(super) struct Timeline<R> {
    span: Span,
    open: Box<Row>,
    /// The current millisecond of the row, and its end.
    slot: usize,
    slot_end: MonotonicNs,
    /// Whether the window is over, so the open row is the drain's.
    drains: bool,
    rows: R,
}

impl<R: Rows> Timeline<R> {
    pub fn new(span: Span, rows: R) -> Timeline<R> {
        let mut open = Box::new(Row::new());
        open.begin(span.start, &span, rows.length());
        let slot_end = open.end.min(span.start + SLOT);
        Timeline { span, open, slot: 0, slot_end, drains: false, rows }
    }

    /// End of the current row; `None` after the window.
    pub fn next_row_end(&self) -> Option<MonotonicNs> {
        (!self.drains).then_some(self.open.end)
    }

    /// Whether `now` is past the current millisecond.
    pub fn is_behind(&self, now: MonotonicNs) -> bool {
        now >= self.slot_end
    }

    /// Completes the current millisecond, and all rows that end at or before `now`.
    #[inline(never)]
    pub fn advance(&mut self, now: MonotonicNs, level: Level) {
        self.open.cut(self.slot);
        while now >= self.open.end && !self.drains {
            self.close_row(level);
        }
        let slot = now.ns_since(self.open.start) / SLOT.as_nanos() as u64;
        self.slot = slot as usize;
        self.slot_end = self.open.start + SLOT * (slot as u32 + 1);
        if !self.drains {
            self.slot_end = self.slot_end.min(self.open.end);
        }
    }

    /// Ends the timeline at `at`, which may be inside a row but not in the past.
    pub fn stop(&mut self, at: MonotonicNs) {
        self.span = self.span.cut_at(at);
        if !self.drains {
            self.open.end = self.open.end.min(at);
            self.slot_end = self.slot_end.min(at);
        }
    }

    fn close_row(&mut self, level: Level) {
        (self.open.in_flight, self.open.queued) = (level.in_flight, level.queued);
        let end = self.open.end;
        self.rows.exchange(&mut self.open);
        self.open.begin(end, &self.span, self.rows.length());
        self.drains = end >= self.span.window_end;
    }

    /// The current row; after the window, the drain's row.
    pub fn current(&mut self) -> &mut Row {
        &mut self.open
    }

    /// Whether the window is over.
    pub fn drains(&self) -> bool {
        self.drains
    }

    /// The row for a request of this phase. Events of a warm-up request inside the window belong to no row.
    pub fn row_of(&mut self, phase: Phase) -> Option<&mut Row> {
        (self.open.phase == phase).then_some(&mut *self.open)
    }

    /// The receiver of the rows.
    pub fn rows(&mut self) -> &mut R {
        &mut self.rows
    }

    /// The row of the time after the window.
    pub fn into_drain(mut self) -> Row {
        self.open.cut(self.slot);
        *self.open
    }
}
