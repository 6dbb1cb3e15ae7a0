//! Adds up what the threads have recorded. Histograms are added bucket by bucket, so the result equals that of a single recorder for all
//! requests.

use std::collections::{BTreeMap, VecDeque};

use hdrhistogram::Histogram;

use super::times::CONNECT;
use super::{Recorded, Row, Times};
use crate::fault::ErrorClass;
use crate::histogram::{encode, quantile_s};
use crate::record::{ErrorExample, SecondRow};
use crate::schedule::{Phase, Span};
use crate::threshold::{Figures, Threshold};

/// Sums of the rows of the window.
#[derive(Debug, Clone, Copy, Default)]
struct SoFar {
    duration_s: f64,
    good: u64,
    failed: u64,
}

/// Collects rows and, at the end, everything else that was recorded.
#[derive(Debug)]
pub(crate) struct Collector {
    span: Span,
    /// Number of rows received from each thread; `None` once it has ended.
    told: Vec<Option<u64>>,
    /// Rows not yet received from all threads, oldest first.
    pending: VecDeque<Row>,
    complete: u64,
    second_histograms: bool,
    /// Over the window and the drain; for connections also over the warm-up.
    totals: Times,
    /// The part of the window that all threads have reported.
    so_far: SoFar,
    sum: Option<Recorded>,
}

impl Collector {
    pub fn new(span: Span, threads: u32, second_histograms: bool) -> Collector {
        Collector {
            span,
            told: vec![Some(0); threads as usize],
            pending: VecDeque::new(),
            complete: 0,
            second_histograms,
            totals: Times::counting_instants(),
            so_far: SoFar::default(),
            sum: None,
        }
    }

    /// Adds the next row of a thread.
    pub fn row(&mut self, thread: u32, row: &Row) {
        let Some(told) = &mut self.told[thread as usize] else { return };
        let at = (*told - self.complete) as usize;
        *told += 1;
        match self.pending.get_mut(at) {
            Some(sum) => sum.add(row),
            None => self.pending.push_back(row.clone()),
        }
    }

    /// Marks a thread as ended; it sends no more rows.
    pub fn ended(&mut self, thread: u32, recorded: Recorded) {
        self.told[thread as usize] = None;
        match &mut self.sum {
            Some(sum) => sum.add(recorded),
            None => self.sum = Some(recorded),
        }
    }

    /// The next second that all threads have reported, if any.
    pub fn next_second(&mut self) -> Option<SecondRow> {
        let told_by_all = self.told.iter().flatten().min().copied().unwrap_or(u64::MAX);
        if told_by_all <= self.complete {
            return None;
        }
        let row = self.pending.pop_front()?;
        let second = second_row(self.complete as u32, &row, &self.span, self.second_histograms);
        self.complete += 1;
        match row.phase {
            Phase::WarmUp => {
                self.totals.connect.add(&row.times.connect);
                self.totals.connect.add_instants(&row.slowest[CONNECT], row.start);
            }
            Phase::Measure => {
                self.totals.add(&row.times);
                self.totals.add_instants(&row.slowest, row.start);
                self.so_far.duration_s += second.duration_s;
                self.so_far.good += second.good;
                self.so_far.failed += second.failed;
            }
        }
        Some(second)
    }

    /// Whether the seconds so far cross one of these thresholds, so the run can end.
    pub fn crosses(&self, thresholds: &[Threshold]) -> bool {
        let SoFar { duration_s, good, failed } = self.so_far;
        let figures = Figures {
            window_s: duration_s,
            good_in_window: good,
            failed_in_window: failed,
            good,
            failed,
            never_sent: 0,
            times: &self.totals,
        };
        thresholds.iter().any(|threshold| threshold.ends(&figures))
    }

    /// The sum over all threads. All must have ended.
    pub fn finish(mut self) -> Option<(Recorded, Times)> {
        let sum = self.sum?;
        self.totals.add(&sum.drain_row.times);
        self.totals.add_instants(&sum.drain_row.slowest, sum.drain_row.start);
        Some((sum, self.totals))
    }
}

fn second_row(second: u32, row: &Row, span: &Span, with_histograms: bool) -> SecondRow {
    let Times { response, service, lateness, connect, first_byte, .. } = &row.times;
    let response_time = response.histogram();
    let by_class = ErrorClass::ALL.iter().copied().zip(row.failed).filter(|(_, count)| *count > 0);
    let kept = |histogram: &Histogram<u64>| if with_histograms { encode(histogram) } else { String::new() };
    SecondRow {
        second,
        phase: row.phase,
        start_s: (row.start.0 as i64 - span.window_start.0 as i64) as f64 / 1e9,
        duration_s: row.end.since(row.start).as_secs_f64(),
        sent: row.sent,
        good: row.good,
        failed: row.failed.iter().sum(),
        failed_by_class: by_class.collect(),
        received_bytes: row.received_bytes,
        sent_bytes: row.sent_bytes,
        p50_s: quantile_s(&response_time, 0.5),
        p99_s: quantile_s(&response_time, 0.99),
        max_s: response.max_s(),
        first_byte_p50_s: first_byte.quantile_s(0.5),
        first_byte_p99_s: first_byte.quantile_s(0.99),
        first_byte_max_s: first_byte.max_s(),
        new_connections: row.new_connections,
        connect_p50_s: connect.quantile_s(0.5),
        connect_max_s: connect.max_s(),
        in_flight: row.in_flight,
        queued: row.queued,
        response_time: kept(&response_time),
        service_time: kept(&service.histogram()),
        lateness: kept(&lateness.histogram()),
    }
}

impl Recorded {
    /// Adds what another thread has recorded over the same span.
    fn add(&mut self, other: Recorded) {
        // Threads that run out of iterations end at different instants; the window ends with the last one.
        self.span.window_end = self.span.window_end.max(other.span.window_end);
        self.last_good = self.last_good.max(other.last_good);
        self.ledger.add(&other.ledger);
        self.warm_up.add(&other.warm_up);
        self.drain.add(&other.drain);
        self.whole_run.add(&other.whole_run);
        self.cut_off += other.cut_off;
        self.drain_row.add(&other.drain_row);
        self.unanswered.add(&other.unanswered);
        self.occupancy.area_ns += other.occupancy.area_ns;
        self.occupancy.time_ns += other.occupancy.time_ns;
        self.queue_max += other.queue_max;
        self.connections.add(&other.connections);
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.failures += other.failures;
        self.parts.iter_mut().zip(other.parts).for_each(|(sum, part)| sum.add(part));
        self.clients.iter_mut().zip(other.clients).for_each(|(sum, clients)| sum.add(*clients));
        add_examples(&mut self.error_examples, other.error_examples);
    }
}

/// Keeps the earliest example of each class.
fn add_examples(sum: &mut BTreeMap<ErrorClass, ErrorExample>, others: BTreeMap<ErrorClass, ErrorExample>) {
    for (class, example) in others {
        match sum.get_mut(&class) {
            Some(first) if first.at_s <= example.at_s => {}
            _ => drop(sum.insert(class, example)),
        }
    }
}
