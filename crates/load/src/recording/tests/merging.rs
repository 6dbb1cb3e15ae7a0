//! The records of several threads, on any machines, add up to the record of a single thread that handled all requests.

use super::*;
use crate::generators::clocks::ClockOffset;

/// Number of threads that share a run.
const THREADS: u32 = 3;

/// A request of a simulated run. Times are in microseconds.
#[derive(Debug, Clone)]
struct Imagined {
    thread: u32,
    planned: u64,
    /// How long it waits for a connection.
    queued: u64,
    late: u64,
    connecting: Option<u64>,
    took: u64,
    fault: Option<Fault>,
}

fn requests() -> impl Strategy<Value = Vec<Imagined>> {
    let fault = prop::sample::select(vec![
        None,
        None,
        None,
        Some(Fault::Timeout),
        Some(Fault::BadStatus(500)),
        Some(Fault::ClosedBeforeAnswer),
    ]);
    let one = (
        (0..THREADS, 0u64..5_000_000, prop_oneof![Just(0), 1u64..900_000]),
        (0u64..20_000, prop::option::of(1u64..5_000), 1u64..1_500_000, fault),
    );
    let imagined = one.prop_map(|((thread, planned, queued), (late, connecting, took, fault))| Imagined {
        thread,
        planned,
        queued,
        late,
        connecting,
        took,
        fault,
    });
    prop::collection::vec(imagined, 0..80)
}

/// An event of the request with this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Send,
    Connect,
    End,
    Abandon,
    NeverSend,
}

/// The span of every run here, and its end: 2 s of warm-up, 3 s of window, half a second of grace.
fn span() -> (Span, MonotonicNs) {
    let span = Span::new(START, SECOND * 2, SECOND * 3);
    (span, span.window_end + MS * 500)
}

fn at(us: u64) -> MonotonicNs {
    START + Duration::from_micros(us)
}

/// All events in order. `stop` ends the window early; nothing is planned from there on.
fn happenings(requests: &[Imagined], stop: Option<MonotonicNs>) -> Vec<(MonotonicNs, usize, Step)> {
    let (span, end) = span();
    let span = stop.map_or(span, |stop| span.cut_at(stop));
    let mut happenings = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        if at(request.planned) >= span.window_end {
            continue;
        }
        let acted = at(request.planned + request.queued + request.late);
        if acted > end {
            happenings.push((end, number, Step::NeverSend));
            continue;
        }
        happenings.push((acted, number, Step::Send));
        let connected = acted + Duration::from_micros(request.connecting.unwrap_or(0));
        if request.connecting.is_some() && connected <= end {
            happenings.push((connected, number, Step::Connect));
        }
        match connected + Duration::from_micros(request.took) {
            ended if ended <= end => happenings.push((ended, number, Step::End)),
            _ => happenings.push((end, number, Step::Abandon)),
        }
    }
    happenings.sort();
    happenings
}

/// What a recorder holds for all requests, or for those of one thread.
fn record(requests: &[Imagined], stop: Option<MonotonicNs>, thread: Option<u32>) -> (Recorded, Kept) {
    let (planned_span, _) = span();
    let kept = Kept::default();
    let mut recorder = Recorder::new(planned_span, kept.clone());
    let mut attempts: BTreeMap<usize, Attempt> = BTreeMap::new();
    let mut stop = stop.filter(|stop| *stop < planned_span.window_end);
    let span = stop.map_or(planned_span, |stop| planned_span.cut_at(stop));
    for (now, number, step) in happenings(requests, stop) {
        let request = &requests[number];
        if let Some(at) = stop.take_if(|stop| *stop <= now) {
            recorder.stop(at);
        }
        // Time passes for every thread, busy or not.
        recorder.advance(now);
        if thread.is_some_and(|thread| thread != request.thread) {
            continue;
        }
        match step {
            Step::Send => {
                let ready = at(request.planned + request.queued).min(now);
                attempts.insert(number, recorder.sent(at(request.planned), ready, now));
                recorder.transmitted(60, now);
            }
            Step::Connect => {
                let attempt = attempts.get_mut(&number).unwrap();
                recorder.connected(attempt.acted, now);
                attempt.sent = now;
            }
            Step::End => end(&mut recorder, &attempts[&number], now, request.fault),
            Step::Abandon => recorder.abandoned(&attempts[&number], now),
            Step::NeverSend if span.phase_of(at(request.planned)) == Phase::Measure => {
                recorder.never_sent(at(request.planned), now);
            }
            Step::NeverSend => {}
        }
    }
    if let Some(at) = stop {
        recorder.stop(at);
    }
    (recorder.finish(), kept)
}

fn end(recorder: &mut Recorder<Kept>, attempt: &Attempt, now: MonotonicNs, fault: Option<Fault>) {
    match fault {
        Some(fault) => {
            recorder.failed(attempt, now, &fault);
            recorder.disconnected(false);
            recorder.not_connected();
        }
        None => {
            recorder.first_byte(attempt, now);
            recorder.received(100, now);
            recorder.unasked(1);
            recorder.good(attempt, now);
        }
    }
}

/// Collects the threads one after another, or row by row.
fn collect(parts: Vec<(Recorded, Kept)>, in_turn: bool) -> Told {
    let mut collector = Collector::new(span().0, parts.len() as u32, true);
    let mut timeline = Vec::new();
    let longest = parts.iter().map(|(_, kept)| kept.0.borrow().len()).max().unwrap_or(0);
    if in_turn {
        for number in 0..longest {
            for (thread, (_, kept)) in (0..).zip(&parts) {
                kept.0.borrow().get(number).into_iter().for_each(|row| collector.row(thread, row));
                timeline.extend(std::iter::from_fn(|| collector.next_second()));
            }
        }
    }
    for (thread, (recorded, kept)) in (0..).zip(parts) {
        if !in_turn {
            kept.0.borrow().iter().for_each(|row| collector.row(thread, row));
        }
        collector.ended(thread, recorded);
        timeline.extend(std::iter::from_fn(|| collector.next_second()));
    }
    let Told { recorded, totals, timeline: rest } = Told::from(collector);
    timeline.extend(rest);
    Told { recorded, totals, timeline }
}

/// The records of a thread on another machine whose clock is ahead, converted to this clock.
fn from_afar((recorded, kept): (Recorded, Kept), ahead_ns: i64) -> (Recorded, Kept) {
    let clock = |offset_ns| ClockOffset { offset_ns, error_ns: 0 };
    let there = |row: &Row| row.clone().read_here(clock(-ahead_ns));
    let rows: Vec<Row> = kept.0.borrow().iter().map(there).collect();
    let written = serde_json::to_string(&(recorded.read_here(clock(-ahead_ns)), rows)).unwrap();
    let (recorded, rows): (Recorded, Vec<Row>) = serde_json::from_str(&written).unwrap();
    let kept = Kept::default();
    kept.0.borrow_mut().extend(rows.into_iter().map(|row| row.read_here(clock(ahead_ns))));
    (recorded.read_here(clock(ahead_ns)), kept)
}

proptest! {
    #[test]
    fn threads_add_up_to_the_one_that_would_have_done_it_all(
        requests in requests(),
        stop_ms in prop::option::of(1u64..5_500),
        in_turn: bool,
        ahead_ns in prop::option::of(-400_000i64..1 << 40),
    ) {
        let stop = stop_ms.map(|ms| at(ms * 1_000));
        let whole = collect(vec![record(&requests, stop, None)], in_turn);
        let parts = (0..THREADS).map(|thread| record(&requests, stop, Some(thread)));
        let parts = parts.map(|part| match ahead_ns {
            Some(ahead_ns) => from_afar(part, ahead_ns),
            None => part,
        });
        let parts = parts.collect();
        let sum = collect(parts, in_turn);
        prop_assert_eq!(&sum.timeline, &whole.timeline);
        for (sum, whole) in [
            (&sum.totals.response, &whole.totals.response),
            (&sum.totals.service, &whole.totals.service),
            (&sum.totals.lateness, &whole.totals.lateness),
            (&sum.totals.queue, &whole.totals.queue),
            (&sum.totals.failure, &whole.totals.failure),
            (&sum.totals.connect, &whole.totals.connect),
            (&sum.totals.first_byte, &whole.totals.first_byte),
        ] {
            prop_assert_eq!(sum.summary(), whole.summary());
        }
        let (sum, whole) = (sum.recorded, whole.recorded);
        prop_assert!(whole.ledger.closes());
        prop_assert_eq!(whole.warm_up.sent, whole.warm_up.good + whole.warm_up.failed + whole.warm_up.carried_over);
        prop_assert_eq!(sum.span, whole.span);
        prop_assert_eq!(sum.last_good, whole.last_good);
        prop_assert_eq!(sum.ledger, whole.ledger);
        prop_assert_eq!(sum.warm_up, whole.warm_up);
        prop_assert_eq!(sum.drain, whole.drain);
        prop_assert_eq!(sum.occupancy, whole.occupancy);
        prop_assert_eq!(sum.connections, whole.connections);
        prop_assert_eq!((sum.received_bytes, sum.sent_bytes), (whole.received_bytes, whole.sent_bytes));
        prop_assert_eq!(sum.error_examples, whole.error_examples);
    }
}
