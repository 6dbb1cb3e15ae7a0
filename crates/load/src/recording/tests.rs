//! The recorder under a manual clock.

mod crossing;
mod merging;
mod stall;

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;
use rustix::io::Errno;

use super::*;
use crate::clock::{Clock, ManualClock};
use crate::histogram;
use crate::record::SecondRow;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const START: MonotonicNs = MonotonicNs(7_000_000_123);

/// Keeps the rows it receives, even after the recorder is gone.
#[derive(Debug, Clone, Default)]
struct Kept(Rc<RefCell<Vec<Row>>>);

impl Rows for Kept {
    fn exchange(&mut self, row: &mut Box<Row>) {
        self.0.borrow_mut().push(*mem::replace(row, Box::new(Row::new())));
    }
}

/// The results of a run.
#[derive(Debug)]
struct Told {
    recorded: Recorded,
    totals: Times,
    timeline: Vec<SecondRow>,
}

impl Told {
    /// Collects the records of one thread.
    fn by(recorder: Recorder<Kept>, kept: &Kept, span: Span) -> Told {
        let recorded = recorder.finish();
        let mut collector = Collector::new(span, 1, true);
        kept.0.borrow().iter().for_each(|row| collector.row(0, row));
        collector.ended(0, recorded);
        Told::from(collector)
    }

    /// Collects the results after all threads have ended.
    fn from(mut collector: Collector) -> Told {
        let timeline = std::iter::from_fn(|| collector.next_second()).collect();
        let (recorded, totals) = collector.finish().unwrap();
        Told { recorded, totals, timeline }
    }

    fn cuts(&self) -> Vec<(f64, f64)> {
        self.timeline.iter().map(|row| (row.start_s, row.duration_s)).collect()
    }

    fn each(&self, figure: impl Fn(&SecondRow) -> u64) -> Vec<u64> {
        self.timeline.iter().map(figure).collect()
    }
}

/// A run with 2 s of warm-up and a window of 3 s, and its clock.
struct Run {
    clock: ManualClock,
    span: Span,
    recorder: Recorder<Kept>,
    kept: Kept,
}

impl Run {
    fn new() -> Run {
        Run::of(SECOND * 2, SECOND * 3)
    }

    fn of(warm_up: Duration, window: Duration) -> Run {
        let (span, kept) = (Span::new(START, warm_up, window), Kept::default());
        Run { clock: ManualClock::at(START), span, recorder: Recorder::new(span, kept.clone()), kept }
    }

    /// Advances to an instant relative to the start of the window.
    fn go_to_window(&self, offset: Duration) -> &Run {
        self.clock.advance_to(self.span.window_start + offset);
        self
    }

    fn send(&mut self) -> Attempt {
        let now = self.clock.now();
        self.recorder.sent(now, now, now)
    }

    fn answer(&mut self, attempt: Attempt, after: Duration) {
        self.clock.advance(after);
        self.recorder.good(&attempt, self.clock.now());
    }

    fn fail(&mut self, attempt: Attempt, fault: &Fault) {
        self.recorder.failed(&attempt, self.clock.now(), fault);
    }

    fn abandon(&mut self, attempt: Attempt) {
        self.recorder.abandoned(&attempt, self.clock.now());
    }

    fn end(self) -> Told {
        Told::by(self.recorder, &self.kept, self.span)
    }
}

#[test]
fn requests_of_the_warm_up_are_shown_and_not_counted() {
    let mut run = Run::new();
    let attempt = run.send();
    run.answer(attempt, MS);
    run.go_to_window(Duration::ZERO);
    let attempt = run.send();
    run.answer(attempt, MS * 2);
    let told = run.end();
    assert_eq!((told.recorded.ledger.sent, told.recorded.ledger.good), (1, 1));
    assert_eq!((told.recorded.warm_up.sent, told.recorded.warm_up.good, told.recorded.warm_up.carried_over), (1, 1, 0));
    assert_eq!(told.totals.response.max_s(), Some(0.002));
    let phases: Vec<(u32, Phase, u64)> = told.timeline.iter().map(|row| (row.second, row.phase, row.good)).collect();
    use Phase::{Measure, WarmUp};
    assert_eq!(phases, [(0, WarmUp, 1), (1, WarmUp, 0), (2, Measure, 1), (3, Measure, 0), (4, Measure, 0)]);
}

#[test]
fn a_request_planned_in_the_warm_up_and_acted_on_just_after_it_is_in_its_rows() {
    let mut run = Run::new();
    let planned = MonotonicNs(run.span.window_start.0 - 1);
    run.go_to_window(MS);
    let attempt = run.recorder.sent(planned, planned, run.clock.now());
    run.answer(attempt, MS);
    let told = run.end();
    assert_eq!((told.each(|row| row.sent), told.recorded.warm_up.sent), (vec![0, 1, 0, 0, 0], 1));
    assert_eq!(told.recorded.ledger, Ledger::default());
}

#[test]
fn a_request_planned_in_the_window_and_acted_on_after_it_was_unsent_when_it_ended() {
    let mut run = Run::new();
    let planned = run.span.window_start + SECOND;
    run.go_to_window(SECOND * 3 + MS);
    let now = run.clock.now();
    let attempt = run.recorder.sent(planned, now, now);
    run.answer(attempt, MS);
    let end = run.clock.now();
    (0..2).for_each(|_| run.recorder.never_sent(planned, end));
    let told = run.end();
    let Recorded { ledger, drain, .. } = &told.recorded;
    assert_eq!(*drain, Drain { sent: 1, good: 1, never_sent: 2, ..Drain::default() });
    assert_eq!((ledger.scheduled, ledger.sent, ledger.unsent, ledger.in_flight_at_end), (3, 0, 3, 0));
    assert!(ledger.closes());
    assert_eq!(told.each(|row| row.sent), [0; 5]);
    // It waited 2.001 s for a connection and 1 ms for its answer. Its response time includes both.
    assert_eq!((told.totals.queue.max_s(), told.totals.lateness.max_s()), (Some(2.001), Some(0.0)));
    assert_eq!((told.totals.response.max_s(), told.totals.service.max_s()), (Some(2.002), Some(0.001)));
}

#[test]
fn a_request_carried_over_from_the_warm_up_is_in_no_ledger_and_no_row() {
    let mut run = Run::new();
    let attempt = run.send();
    run.go_to_window(Duration::ZERO);
    run.answer(attempt, MS);
    let told = run.end();
    assert_eq!(told.recorded.ledger, Ledger::default());
    let expected = WarmUpLedger { sent: 1, carried_over: 1, carried_over_good: 1, ..WarmUpLedger::default() };
    assert_eq!(told.recorded.warm_up, expected);
    assert_eq!(told.each(|row| row.good), [0; 5]);
    assert_eq!((told.totals.response.summary().count, told.totals.first_byte.summary().count), (0, 0));
}

#[test]
fn the_last_good_answer_of_the_window_is_timed_whoever_asked() {
    let mut run = Run::new();
    let (carried, early) = (run.send(), run.send());
    run.answer(early, MS);
    run.go_to_window(MS * 250);
    run.answer(carried, MS * 50);
    let mut asking = run.send();
    // Neither a failure nor a response after the window counts as a correct response of the window.
    run.recorder.failed(&asking, run.clock.now() + MS, &Fault::Timeout);
    run.clock.advance(MS);
    asking = run.send();
    let mut silent = Run::new();
    let only_before = silent.send();
    silent.answer(only_before, MS);
    assert_eq!(silent.end().recorded.last_good, None);
    run.go_to_window(SECOND * 3);
    run.answer(asking, MS);
    let expected = run.span.window_start + MS * 300;
    assert_eq!(run.end().recorded.last_good, Some(expected));
}

#[test]
fn requests_of_the_warm_up_without_an_outcome_in_the_window_are_counted_as_waiting() {
    let mut run = Run::new();
    let requests: [Attempt; 5] = std::array::from_fn(|_| run.send());
    run.go_to_window(SECOND);
    run.recorder.good(&requests[0], run.clock.now());
    run.fail(requests[1], &Fault::Timeout);
    run.go_to_window(SECOND * 3);
    run.recorder.good(&requests[2], run.clock.now());
    run.fail(requests[3], &Fault::Timeout);
    run.abandon(requests[4]);
    let expected = WarmUpLedger {
        sent: 5,
        carried_over: 5,
        carried_over_good: 1,
        carried_over_waiting: 3,
        ..WarmUpLedger::default()
    };
    let recorded = run.end().recorded;
    assert_eq!(recorded.warm_up, expected);
    // Over the whole run, late answers count.
    assert_eq!(recorded.whole_run, WholeRun { sent: 5, good: 2 });
}

#[test]
fn an_outcome_after_the_window_is_a_request_in_flight_at_its_end() {
    let mut run = Run::new();
    run.go_to_window(SECOND * 3 - MS);
    let (answered, failing, lost) = (run.send(), run.send(), run.send());
    run.answer(answered, MS);
    run.fail(failing, &Fault::Reset(Errno::CONNRESET));
    run.abandon(lost);
    let told = run.end();
    assert_eq!(told.recorded.drain, Drain { good: 1, failed: 1, abandoned: 1, ..Drain::default() });
    assert_eq!((told.recorded.ledger.sent, told.recorded.ledger.in_flight_at_end), (3, 3));
    assert!(told.recorded.ledger.closes());
    // Leaving out the last requests would leave out the slowest: they are in the histograms, but in no row.
    assert_eq!((told.totals.response.summary().count, told.totals.failure.summary().count), (1, 1));
    assert_eq!(told.each(|row| row.good + row.failed), [0; 5]);
}

#[test]
fn queue_lateness_connecting_and_service_add_up_to_the_response_time() {
    let mut run = Run::new();
    run.go_to_window(Duration::ZERO);
    let intended = run.clock.now();
    let ready = intended + MS * 2;
    run.clock.advance(MS * 5);
    let acted = run.clock.now();
    let attempt = Attempt { sent: acted + MS * 4, ..run.recorder.sent(intended, ready, acted) };
    run.recorder.first_byte(&attempt, acted + MS * 6);
    run.answer(attempt, MS * 9);
    let told = run.end();
    assert_eq!(told.totals.queue.max_s(), Some(0.002));
    assert_eq!(told.totals.lateness.max_s(), Some(0.003));
    assert_eq!(told.totals.first_byte.max_s(), Some(0.002));
    assert_eq!(told.totals.service.max_s(), Some(0.005));
    assert_eq!(told.totals.response.max_s(), Some(0.014));
}

#[test]
fn failures_have_a_histogram_of_their_own_and_one_example_a_class() {
    let mut run = Run::new();
    run.go_to_window(Duration::ZERO);
    for status in [500, 502, 503] {
        let attempt = run.send();
        run.clock.advance(MS * 10);
        run.fail(attempt, &Fault::BadStatus(status));
    }
    let told = run.end();
    assert_eq!(told.recorded.ledger.failed_by_class, BTreeMap::from([(ErrorClass::BadStatus, 3)]));
    assert_eq!((told.totals.failure.summary().count, told.totals.response.summary().count), (3, 0));
    let examples: Vec<_> =
        told.recorded.error_examples.values().map(|example| (example.class, example.text.as_str())).collect();
    assert_eq!(examples, [(ErrorClass::BadStatus, "status 500 is not the expected one")]);
    assert_eq!(told.recorded.error_examples[&ErrorClass::BadStatus].at_s, 2.01);
}

#[test]
fn a_phase_that_is_no_whole_number_of_seconds_ends_in_a_shorter_row() {
    let run = Run::of(MS * 1_500, MS * 2_250);
    assert_eq!(run.end().cuts(), [(-1.5, 1.0), (-0.5, 0.5), (0.0, 1.0), (1.0, 1.0), (2.0, 0.25)]);
}

#[test]
fn seconds_without_any_event_still_have_their_row() {
    let mut run = Run::of(Duration::ZERO, SECOND * 4);
    run.go_to_window(MS * 3_500);
    let attempt = run.send();
    run.answer(attempt, MS);
    assert_eq!(run.kept.0.borrow().len(), 3);
    assert_eq!(run.end().each(|row| row.sent), [0, 0, 0, 1]);
}

#[test]
fn a_stop_in_the_window_ends_the_row_and_the_count() {
    let mut run = Run::new();
    run.go_to_window(MS * 1_200);
    let (before, after) = (run.send(), run.send());
    run.answer(before, MS * 50);
    run.clock.advance(MS * 50);
    run.recorder.stop(run.clock.now());
    run.answer(after, MS);
    let told = run.end();
    assert_eq!((told.recorded.ledger.good, told.recorded.ledger.in_flight_at_end), (1, 1));
    assert_eq!((told.totals.response.summary().count, told.recorded.drain.good), (2, 1));
    let last = told.timeline.last().unwrap();
    assert_eq!((told.timeline.len(), last.start_s, last.good), (4, 1.0, 1));
    assert!((last.duration_s - 0.3).abs() < 1e-9);
}

#[test]
fn a_stop_in_the_warm_up_leaves_rows_of_the_warm_up_only() {
    let mut run = Run::new();
    let attempt = run.send();
    run.answer(attempt, MS * 500);
    run.recorder.stop(run.clock.now());
    let told = run.end();
    assert_eq!(told.recorded.ledger, Ledger::default());
    let row = &told.timeline[0];
    assert_eq!((told.timeline.len(), row.phase, row.good, row.start_s), (1, Phase::WarmUp, 1, -2.0));
}

/// The property test below found this: the stop moves the start of the window to the instant of the request.
#[test]
fn a_stop_at_the_instant_of_a_request_does_not_change_its_phase() {
    let mut run = Run::new();
    run.clock.advance(MS);
    let attempt = run.send();
    run.recorder.stop(run.clock.now());
    run.abandon(attempt);
    let told = run.end();
    assert_eq!(told.recorded.ledger, Ledger::default());
    assert_eq!((told.recorded.warm_up.sent, told.recorded.warm_up.carried_over), (1, 1));
}

#[test]
fn bytes_and_connections_count_in_the_second_in_which_they_come() {
    let mut run = Run::new();
    run.recorder.connected(run.clock.now(), run.clock.now() + MS);
    run.go_to_window(SECOND);
    run.recorder.received(100, run.clock.now());
    run.recorder.transmitted(10, run.clock.now());
    run.recorder.connected(run.clock.now(), run.clock.now() + MS);
    run.go_to_window(SECOND * 3);
    run.recorder.received(7, run.clock.now());
    run.recorder.transmitted(7, run.clock.now());
    let told = run.end();
    assert_eq!((told.recorded.received_bytes, told.recorded.sent_bytes), (100, 10));
    assert_eq!(told.each(|row| row.received_bytes), [0, 0, 0, 100, 0]);
    assert_eq!(told.each(|row| row.sent_bytes), [0, 0, 0, 10, 0]);
    assert_eq!(told.each(|row| row.new_connections), [1, 0, 0, 1, 0]);
    assert_eq!((told.recorded.connections.opened, told.recorded.connections.opened_in_window), (2, 1));
    assert_eq!(told.totals.connect.summary().count, 2);
    let longest: Vec<_> = told.timeline.iter().map(|row| row.connect_max_s).collect();
    assert_eq!(longest, [Some(0.001), None, None, Some(0.001), None]);
}

#[test]
fn a_second_has_its_failures_by_class_and_its_first_bytes() {
    let mut run = Run::new();
    run.go_to_window(MS * 900);
    let faults = [Fault::BadStatus(500), Fault::Timeout, Fault::BadStatus(503)];
    for (fault, pause) in faults.iter().zip([0, 500, 0]) {
        run.clock.advance(MS * pause);
        let attempt = run.send();
        run.clock.advance(MS * 20);
        run.recorder.first_byte(&attempt, run.clock.now());
        run.fail(attempt, fault);
    }
    let told = run.end();
    let by_class: Vec<_> = told.timeline[2..].iter().map(|row| row.failed_by_class.clone()).collect();
    let (status, timeout) = ((ErrorClass::BadStatus, 1), (ErrorClass::Timeout, 1));
    assert_eq!(by_class, [BTreeMap::from([status]), BTreeMap::from([status, timeout]), BTreeMap::new()]);
    assert_eq!(told.each(|row| row.failed), [0, 0, 1, 2, 0]);
    // Twenty values give a median; fewer give only the maximum.
    let second = &told.timeline[3];
    assert_eq!((second.first_byte_p50_s, second.first_byte_max_s), (None, Some(0.02)));
    assert_eq!((told.timeline[4].first_byte_max_s, told.totals.first_byte.count()), (None, 3));
}

#[test]
fn a_row_ends_with_what_is_going_on() {
    let mut run = Run::of(Duration::ZERO, SECOND * 3);
    let [first, second] = [(); 2].map(|()| run.send());
    run.recorder.queued(5);
    run.go_to_window(MS * 1_500);
    run.answer(first, Duration::ZERO);
    run.recorder.queued(2);
    run.go_to_window(MS * 2_500);
    run.answer(second, Duration::ZERO);
    run.recorder.queued(0);
    let told = run.end();
    assert_eq!((told.each(|row| row.in_flight), told.each(|row| row.queued)), (vec![2, 1, 0], vec![5, 2, 0]));
    assert_eq!(told.recorded.queue_max, 5);
    // 2 requests for 1.5 s and 1 for 1 s.
    let expected = Occupancy { area_ns: 4_000_000_000, time_ns: 4_000_000_000 };
    assert_eq!(told.recorded.occupancy, expected);
}

#[test]
fn only_the_window_counts_for_the_queue_and_for_littles_law() {
    let mut run = Run::new();
    let carried = run.send();
    run.recorder.queued(7);
    run.go_to_window(SECOND);
    run.recorder.advance(run.clock.now());
    run.recorder.queued(3);
    let crossing = run.send();
    run.answer(carried, Duration::ZERO);
    run.go_to_window(SECOND * 4);
    run.recorder.advance(run.clock.now());
    run.recorder.queued(9);
    run.answer(crossing, Duration::ZERO);
    let told = run.end();
    assert_eq!(told.recorded.queue_max, 3);
    // Inside the window, one request is in flight for one second and another for two.
    let expected = Occupancy { area_ns: 3_000_000_000, time_ns: 3_000_000_000 };
    assert_eq!(told.recorded.occupancy, expected);
}

#[test]
fn a_stop_that_is_heard_of_late_takes_nothing_back() {
    let mut run = Run::of(Duration::ZERO, SECOND * 3);
    run.go_to_window(MS * 900);
    let stop = run.clock.now();
    let (answered, waiting) = (run.send(), run.send());
    // The thread did not run until the next row had begun.
    run.answer(answered, MS * 300);
    run.recorder.stop(stop);
    run.abandon(waiting);
    let told = run.end();
    assert_eq!((told.recorded.ledger.good, told.recorded.ledger.in_flight_at_end), (1, 1));
    assert!(told.recorded.ledger.closes());
    assert_eq!(told.each(|row| row.good).iter().sum::<u64>(), 1);
    assert_eq!(told.recorded.span.window(), MS * 900);
}

/// Outcomes of requests to a simulated target: the duration, and whether the request fails.
fn outcomes() -> impl Strategy<Value = Vec<(u64, bool)>> {
    prop::collection::vec((1u64..700, prop::bool::weighted(0.2)), 1..60)
}

proptest! {
    /// A closed loop of one user against a simulated target: in any case the account balances and the rows add up.
    #[test]
    fn the_account_closes_and_the_rows_add_up(outcomes in outcomes(), stop_ms in prop::option::of(1u64..6_000)) {
        let mut run = Run::new();
        let stop = stop_ms.map(|ms| run.span.start + Duration::from_millis(ms));
        let mut outcomes = outcomes.into_iter().cycle();
        loop {
            let attempt = run.send();
            let (took_ms, fails) = outcomes.next().unwrap();
            let done = attempt.acted + Duration::from_millis(took_ms);
            if let Some(stop) = stop.filter(|stop| done > *stop && *stop < run.span.window_end) {
                run.recorder.stop(stop);
                run.abandon(attempt);
                break;
            }
            run.clock.advance_to(done);
            match fails {
                true => run.recorder.failed(&attempt, done, &Fault::Timeout),
                false => run.recorder.good(&attempt, done),
            }
            if done >= run.span.window_end {
                break;
            }
        }
        let told = run.end();
        let ledger = &told.recorded.ledger;
        prop_assert!(ledger.closes(), "{ledger:?}");
        let warm_up = &told.recorded.warm_up;
        prop_assert_eq!(warm_up.sent, warm_up.good + warm_up.failed + warm_up.carried_over);
        let sums = |phase| told.timeline.iter().filter(move |row| row.phase == phase)
            .fold((0, 0, 0), |sum, row| (sum.0 + row.sent, sum.1 + row.good, sum.2 + row.failed));
        prop_assert_eq!(sums(Phase::Measure), (ledger.sent, ledger.good, ledger.failed));
        let classes: u64 = told.timeline.iter().flat_map(|row| row.failed_by_class.values()).sum();
        prop_assert_eq!(classes, ledger.failed + warm_up.failed);
        prop_assert_eq!(sums(Phase::WarmUp), (warm_up.sent, warm_up.good, warm_up.failed));
        let drain = &told.recorded.drain;
        prop_assert_eq!(ledger.in_flight_at_end + ledger.unsent, drain.good + drain.failed + drain.abandoned);
        prop_assert_eq!(told.totals.response.summary().count, ledger.good + drain.good);
        prop_assert_eq!(told.totals.service.summary().count, ledger.good + drain.good);
        prop_assert_eq!(told.totals.failure.summary().count, ledger.failed + drain.failed);
        prop_assert_eq!(told.totals.lateness.summary().count, ledger.sent + drain.sent);
        let decoded = histogram::decode(&told.totals.response.summary().histogram).unwrap();
        prop_assert_eq!(decoded.len(), ledger.good + drain.good);
    }
}

/// Days of load need no more memory than the plain numbers of their rows.
#[test]
fn seconds_without_histograms_are_small() {
    let seconds = 20;
    let span = Span::new(MonotonicNs(0), Duration::ZERO, Duration::from_secs(seconds));
    let bytes_a_second = |second_histograms| {
        let mut collector = Collector::new(span, 1, second_histograms);
        let mut row = Row::new();
        row.phase = Phase::Measure;
        (1..2_000).for_each(|number| row.times.response.record(number * 7_000));
        let mut bytes = 0;
        for second in 0..seconds {
            (row.start, row.end) = (MonotonicNs(second * 1_000_000_000), MonotonicNs((second + 1) * 1_000_000_000));
            collector.row(0, &row);
            // With one thread, no row waits for others.
            let told = collector.next_second().unwrap();
            let histograms = [&told.response_time, &told.service_time, &told.lateness];
            bytes += size_of::<SecondRow>() + histograms.map(String::capacity).iter().sum::<usize>();
            assert!(told.p99_s.is_some());
        }
        bytes / seconds as usize
    };
    assert!(bytes_a_second(false) < 500);
    assert!(bytes_a_second(true) > 1_000);
}
