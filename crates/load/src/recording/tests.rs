//! The recorder under a clock that is moved by hand.

use std::time::Duration;

use proptest::prelude::*;
use rustix::io::Errno;

use super::*;
use crate::clock::{Clock, ManualClock};
use crate::histogram;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A run with 2 s of warm-up and a window of 3 s, and the clock that leads through it.
struct Run {
    clock: ManualClock,
    span: Span,
    recorder: Recorder,
}

impl Run {
    fn new() -> Run {
        Run::of(SECOND * 2, SECOND * 3)
    }

    fn of(warm_up: Duration, window: Duration) -> Run {
        let start = MonotonicNs(7_000_000_123);
        let span = Span::new(start, warm_up, window);
        Run { clock: ManualClock::at(start), span, recorder: Recorder::new(span) }
    }

    /// Goes to an instant relative to the start of the window.
    fn go_to_window(&self, offset: Duration) -> &Run {
        self.clock.advance_to(self.span.window_start + offset);
        self
    }

    fn send(&mut self) -> Attempt {
        let now = self.clock.now();
        self.recorder.sent(now, now)
    }

    fn answer(&mut self, attempt: Attempt, after: Duration) {
        self.clock.advance(after);
        self.recorder.good(&attempt, self.clock.now());
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
    let recorded = run.recorder.finish();
    assert_eq!((recorded.ledger.sent, recorded.ledger.good), (1, 1));
    assert_eq!((recorded.warm_up.sent, recorded.warm_up.good, recorded.warm_up.carried_over), (1, 1, 0));
    assert_eq!(recorded.response_time.max_s, Some(0.002));
    let phases: Vec<(u32, Phase, u64)> =
        recorded.timeline.iter().map(|row| (row.second, row.phase, row.good)).collect();
    use Phase::{Measure, WarmUp};
    assert_eq!(phases, [(0, WarmUp, 1), (1, WarmUp, 0), (2, Measure, 1), (3, Measure, 0), (4, Measure, 0)]);
}

#[test]
fn a_request_planned_in_a_phase_and_acted_on_after_its_end_is_in_its_rows() {
    let mut run = Run::new();
    for border in [run.span.window_start, run.span.window_end] {
        let planned = MonotonicNs(border.0 - 1);
        run.recorder.sent(planned, border + MS);
    }
    let recorded = run.recorder.finish();
    let sent = |phase| recorded.timeline.iter().filter(|row| row.phase == phase).map(|row| row.sent).sum::<u64>();
    assert_eq!((sent(Phase::WarmUp), recorded.warm_up.sent), (1, 1));
    assert_eq!((sent(Phase::Measure), recorded.ledger.sent), (1, 1));
}

#[test]
fn a_request_carried_over_from_the_warm_up_is_in_no_ledger_and_no_row() {
    let mut run = Run::new();
    let attempt = run.send();
    run.go_to_window(Duration::ZERO);
    run.answer(attempt, MS);
    let recorded = run.recorder.finish();
    assert_eq!(recorded.ledger, Ledger::default());
    let expected = WarmUpLedger { sent: 1, carried_over: 1, carried_over_good: 1, ..WarmUpLedger::default() };
    assert_eq!(recorded.warm_up, expected);
    assert_eq!(recorded.timeline.iter().map(|row| row.good).sum::<u64>(), 0);
}

#[test]
fn the_last_good_answer_of_the_window_is_timed_whoever_asked() {
    let mut run = Run::new();
    let (carried, early) = (run.send(), run.send());
    run.answer(early, MS);
    run.go_to_window(MS * 250);
    run.answer(carried, MS * 50);
    let mut asking = run.send();
    // Neither a failure nor an answer that comes after the window is one of its good answers.
    run.recorder.failed(&asking, run.clock.now() + MS, &Fault::Timeout);
    run.clock.advance(MS);
    asking = run.send();
    let mut silent = Run::new();
    let only_before = silent.send();
    silent.answer(only_before, MS);
    assert_eq!(silent.recorder.finish().last_good_s, None);
    run.go_to_window(SECOND * 3);
    run.answer(asking, MS);
    assert_eq!(run.recorder.finish().last_good_s, Some(0.3));
}

#[test]
fn requests_of_the_warm_up_without_an_outcome_in_the_window_are_counted_as_waiting() {
    let mut run = Run::new();
    let requests: [Attempt; 5] = std::array::from_fn(|_| run.send());
    run.go_to_window(SECOND);
    run.recorder.good(&requests[0], run.clock.now());
    run.recorder.failed(&requests[1], run.clock.now(), &Fault::Timeout);
    run.go_to_window(SECOND * 3);
    run.recorder.good(&requests[2], run.clock.now());
    run.recorder.failed(&requests[3], run.clock.now(), &Fault::Timeout);
    run.recorder.abandoned(&requests[4]);
    let expected = WarmUpLedger {
        sent: 5,
        carried_over: 5,
        carried_over_good: 1,
        carried_over_waiting: 3,
        ..WarmUpLedger::default()
    };
    assert_eq!(run.recorder.finish().warm_up, expected);
}

#[test]
fn an_outcome_after_the_window_is_a_request_in_flight_at_its_end() {
    let mut run = Run::new();
    run.go_to_window(SECOND * 3 - MS);
    let (answered, failing, lost) = (run.send(), run.send(), run.send());
    run.answer(answered, MS);
    run.recorder.failed(&failing, run.clock.now(), &Fault::Reset(Errno::CONNRESET));
    run.recorder.abandoned(&lost);
    let recorded = run.recorder.finish();
    assert_eq!(recorded.drain, Drain { good: 1, failed: 1, abandoned: 1 });
    assert_eq!((recorded.ledger.sent, recorded.ledger.in_flight_at_end), (3, 3));
    assert!(recorded.ledger.closes());
    assert_eq!((recorded.response_time.count, recorded.failure_time.count), (0, 0));
}

#[test]
fn response_service_and_lateness_are_three_things() {
    let mut run = Run::new();
    run.go_to_window(Duration::ZERO);
    let intended = run.clock.now();
    run.clock.advance(MS * 3);
    let acted = run.clock.now();
    let attempt = Attempt { sent: acted + MS * 4, ..run.recorder.sent(intended, acted) };
    run.answer(attempt, MS * 9);
    let recorded = run.recorder.finish();
    assert_eq!(recorded.lateness.max_s, Some(0.003));
    assert_eq!(recorded.service_time.max_s, Some(0.005));
    assert_eq!(recorded.response_time.max_s, Some(0.012));
}

#[test]
fn failures_have_a_histogram_of_their_own_and_one_example_a_class() {
    let mut run = Run::new();
    run.go_to_window(Duration::ZERO);
    for status in [500, 502, 503] {
        let attempt = run.send();
        run.clock.advance(MS * 10);
        run.recorder.failed(&attempt, run.clock.now(), &Fault::BadStatus(status));
    }
    let recorded = run.recorder.finish();
    assert_eq!(recorded.ledger.failed_by_class, BTreeMap::from([(ErrorClass::BadStatus, 3)]));
    assert_eq!((recorded.failure_time.count, recorded.response_time.count), (3, 0));
    let examples: Vec<_> =
        recorded.error_examples.iter().map(|example| (example.class, example.text.as_str())).collect();
    assert_eq!(examples, [(ErrorClass::BadStatus, "status 500 is not the expected one")]);
    assert_eq!(recorded.error_examples[0].at_s, 2.01);
}

#[test]
fn a_phase_that_is_no_whole_number_of_seconds_ends_in_a_shorter_row() {
    let run = Run::of(MS * 1_500, MS * 2_250);
    let rows = run.recorder.finish().timeline;
    let cuts: Vec<(f64, f64)> = rows.iter().map(|row| (row.start_s, row.duration_s)).collect();
    assert_eq!(cuts, [(-1.5, 1.0), (-0.5, 0.5), (0.0, 1.0), (1.0, 1.0), (2.0, 0.25)]);
}

#[test]
fn seconds_without_any_event_still_have_their_row() {
    let mut run = Run::of(Duration::ZERO, SECOND * 4);
    run.go_to_window(MS * 3_500);
    let attempt = run.send();
    run.answer(attempt, MS);
    assert_eq!(run.recorder.rows().len(), 3);
    let sent: Vec<u64> = run.recorder.finish().timeline.iter().map(|row| row.sent).collect();
    assert_eq!(sent, [0, 0, 0, 1]);
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
    let recorded = run.recorder.finish();
    assert_eq!((recorded.ledger.good, recorded.ledger.in_flight_at_end), (1, 1));
    assert_eq!(recorded.response_time.count, 1);
    let last = recorded.timeline.last().unwrap();
    assert_eq!((recorded.timeline.len(), last.start_s, last.good), (4, 1.0, 1));
    assert!((last.duration_s - 0.3).abs() < 1e-9);
}

#[test]
fn a_stop_in_the_warm_up_leaves_rows_of_the_warm_up_only() {
    let mut run = Run::new();
    let attempt = run.send();
    run.answer(attempt, MS * 500);
    run.recorder.stop(run.clock.now());
    let recorded = run.recorder.finish();
    assert_eq!(recorded.ledger, Ledger::default());
    let row = &recorded.timeline[0];
    assert_eq!((recorded.timeline.len(), row.phase, row.good, row.start_s), (1, Phase::WarmUp, 1, -2.0));
}

/// Found by the property below: the stop moves the start of the window to the very instant of the request.
#[test]
fn a_stop_at_the_instant_of_a_request_does_not_change_its_phase() {
    let mut run = Run::new();
    run.clock.advance(MS);
    let attempt = run.send();
    run.recorder.stop(run.clock.now());
    run.recorder.abandoned(&attempt);
    let recorded = run.recorder.finish();
    assert_eq!(recorded.ledger, Ledger::default());
    assert_eq!((recorded.warm_up.sent, recorded.warm_up.carried_over), (1, 1));
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
    let recorded = run.recorder.finish();
    assert_eq!((recorded.received_bytes, recorded.sent_bytes), (100, 10));
    assert_eq!(recorded.timeline.iter().map(|row| row.received_bytes).collect::<Vec<_>>(), [0, 0, 0, 100, 0]);
    assert_eq!(recorded.timeline.iter().map(|row| row.new_connections).collect::<Vec<_>>(), [1, 0, 0, 1, 0]);
    assert_eq!((recorded.connections.opened, recorded.connections.opened_in_window), (2, 1));
    assert_eq!(recorded.connect_time.count, 2);
}

/// What a simulated target does with a request: how long it takes, and whether it fails.
fn outcomes() -> impl Strategy<Value = Vec<(u64, bool)>> {
    prop::collection::vec((1u64..700, prop::bool::weighted(0.2)), 1..60)
}

proptest! {
    /// A closed loop of one user against a simulated target: whatever it does, the account closes and the rows add up.
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
                run.recorder.abandoned(&attempt);
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
        let recorded = run.recorder.finish();
        let ledger = &recorded.ledger;
        prop_assert!(ledger.closes(), "{ledger:?}");
        let warm_up = &recorded.warm_up;
        prop_assert_eq!(warm_up.sent, warm_up.good + warm_up.failed + warm_up.carried_over);
        let sums = |phase| recorded.timeline.iter().filter(move |row| row.phase == phase)
            .fold((0, 0, 0), |sum, row| (sum.0 + row.sent, sum.1 + row.good, sum.2 + row.failed));
        prop_assert_eq!(sums(Phase::Measure), (ledger.sent, ledger.good, ledger.failed));
        prop_assert_eq!(sums(Phase::WarmUp), (warm_up.sent, warm_up.good, warm_up.failed));
        prop_assert_eq!(recorded.response_time.count, ledger.good);
        prop_assert_eq!(recorded.service_time.count, ledger.good);
        prop_assert_eq!(recorded.failure_time.count, ledger.failed);
        prop_assert_eq!(recorded.lateness.count, ledger.sent);
        let decoded = histogram::decode(&recorded.response_time.histogram).unwrap();
        prop_assert_eq!(decoded.len(), ledger.good);
    }
}
