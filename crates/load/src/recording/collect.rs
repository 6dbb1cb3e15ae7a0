//! Adds up what the threads have recorded. Histograms are added bucket by bucket, so that the result is the one that a
//! single recorder of all requests would have had.

use std::collections::{BTreeMap, VecDeque};

use hdrhistogram::Histogram;

use super::{Recorded, Row};
use crate::fault::ErrorClass;
use crate::histogram::{Durations, encode, quantile_s};
use crate::record::{ErrorExample, SecondRow};
use crate::schedule::{Phase, Span};

/// The three distributions that rows hold, over the whole window and the drain.
#[derive(Debug)]
pub(crate) struct Totals {
    pub response_time: Durations,
    pub service_time: Durations,
    pub lateness: Durations,
}

impl Totals {
    fn add(&mut self, row: &Row) {
        self.response_time.add(&row.response_time);
        self.service_time.add(&row.service_time);
        self.lateness.add(&row.lateness);
    }
}

/// Collects rows and, at the end, what else was recorded.
#[derive(Debug)]
pub(crate) struct Collector {
    span: Span,
    /// Rows told by each thread so far; nothing once it has ended.
    told: Vec<Option<u64>>,
    /// Rows that not all threads have told yet, the oldest first.
    pending: VecDeque<Row>,
    complete: u64,
    second_histograms: bool,
    pub totals: Totals,
    sum: Option<Recorded>,
}

impl Collector {
    pub fn new(span: Span, threads: u32, second_histograms: bool) -> Collector {
        let totals =
            Totals { response_time: Durations::new(), service_time: Durations::new(), lateness: Durations::new() };
        let told = vec![Some(0); threads as usize];
        Collector { span, told, pending: VecDeque::new(), complete: 0, second_histograms, totals, sum: None }
    }

    /// Takes the next row of a thread.
    pub fn row(&mut self, thread: u32, row: &Row) {
        let Some(told) = &mut self.told[thread as usize] else { return };
        let at = (*told - self.complete) as usize;
        *told += 1;
        match self.pending.get_mut(at) {
            Some(sum) => sum.add(row),
            None => self.pending.push_back(row.clone()),
        }
    }

    /// A thread has come to its end and tells no more rows.
    pub fn ended(&mut self, thread: u32, recorded: Recorded) {
        self.told[thread as usize] = None;
        match &mut self.sum {
            Some(sum) => sum.add(recorded),
            None => self.sum = Some(recorded),
        }
    }

    /// The next second that all threads have told, if there is one.
    pub fn next_second(&mut self) -> Option<SecondRow> {
        let told_by_all = self.told.iter().flatten().min().copied().unwrap_or(u64::MAX);
        if told_by_all <= self.complete {
            return None;
        }
        let row = self.pending.pop_front()?;
        let second = second_row(self.complete as u32, &row, &self.span, self.second_histograms);
        self.complete += 1;
        if row.phase == Phase::Measure {
            self.totals.add(&row);
        }
        Some(second)
    }

    /// The sum of all threads, which all must have ended.
    pub fn finish(mut self) -> Option<(Recorded, Totals)> {
        let sum = self.sum?;
        self.totals.add(&sum.drain_row);
        Some((sum, self.totals))
    }
}

fn second_row(second: u32, row: &Row, span: &Span, with_histograms: bool) -> SecondRow {
    let response_time = row.response_time.histogram();
    let kept = |histogram: &Histogram<u64>| if with_histograms { encode(histogram) } else { String::new() };
    SecondRow {
        second,
        phase: row.phase,
        start_s: (row.start.0 as i64 - span.window_start.0 as i64) as f64 / 1e9,
        duration_s: row.end.since(row.start).as_secs_f64(),
        sent: row.sent,
        good: row.good,
        failed: row.failed,
        received_bytes: row.received_bytes,
        p50_s: quantile_s(&response_time, 0.5),
        p99_s: quantile_s(&response_time, 0.99),
        max_s: row.response_time.max_s(),
        new_connections: row.new_connections,
        in_flight: row.in_flight,
        queued: row.queued,
        response_time: kept(&response_time),
        service_time: kept(&row.service_time.histogram()),
        lateness: kept(&row.lateness.histogram()),
    }
}

impl Recorded {
    /// Adds what another thread has recorded over the same span.
    fn add(&mut self, other: Recorded) {
        // Threads that end with their iterations end at different instants; the window is over when the last one is.
        self.span.window_end = self.span.window_end.max(other.span.window_end);
        self.last_good = self.last_good.max(other.last_good);
        self.ledger.add(&other.ledger);
        self.warm_up.add(&other.warm_up);
        self.drain.add(&other.drain);
        self.whole_run.add(&other.whole_run);
        self.cut_off += other.cut_off;
        self.drain_row.add(&other.drain_row);
        self.queue_time.add(&other.queue_time);
        self.failure_time.add(&other.failure_time);
        self.connect_time.add(&other.connect_time);
        self.time_to_first_byte.add(&other.time_to_first_byte);
        self.occupancy.area_ns += other.occupancy.area_ns;
        self.occupancy.time_ns += other.occupancy.time_ns;
        self.queue_max += other.queue_max;
        self.connections.add(&other.connections);
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        add_examples(&mut self.error_examples, other.error_examples);
    }
}

/// Of each class the example that came first.
fn add_examples(sum: &mut BTreeMap<ErrorClass, ErrorExample>, others: BTreeMap<ErrorClass, ErrorExample>) {
    for (class, example) in others {
        match sum.get_mut(&class) {
            Some(first) if first.at_s <= example.at_s => {}
            _ => drop(sum.insert(class, example)),
        }
    }
}
