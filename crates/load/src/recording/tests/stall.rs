//! Schedule and recorder together in simulated time, against a target that stalls. The tests take no real time and are deterministic, so
//! every figure is exact to the precision of a histogram.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::*;
use crate::options::{Arrivals, Executor, Options};
use crate::schedule::{Schedule, Share};

/// Duration of every answer.
const SERVICE: Duration = MS;

/// A target that does nothing between these two instants and otherwise answers immediately.
struct Target {
    stall_start: MonotonicNs,
    stall_end: MonotonicNs,
}

impl Target {
    fn answers(&self, asked: MonotonicNs) -> MonotonicNs {
        let begins = if asked >= self.stall_start { asked.max(self.stall_end) } else { asked };
        begins + SERVICE
    }
}

/// 1,000 arrivals a second for 10 s over `connections` connections; from 2 s to 2.5 s the target stalls. Also returns the planned instants.
fn simulate(arrivals: Arrivals, connections: usize) -> (Told, Vec<MonotonicNs>, Target) {
    let mut options = Options::new("http://127.0.0.1:1/").unwrap();
    options.executor = Executor::ConstantArrivalRate { rate_rps: 1_000.0, duration: SECOND * 10, arrivals };
    let span = Span::new(START, Duration::ZERO, SECOND * 10);
    let Schedule::Open(mut cursor) = Schedule::new(&options, span, Share::ALL, &Arc::new(AtomicU64::new(0))) else {
        unreachable!("an arrival rate has an open schedule");
    };
    let target = Target { stall_start: START + SECOND * 2, stall_end: START + MS * 2_500 };
    let kept = Kept::default();
    let mut recorder = Recorder::new(span, kept.clone());
    // Requests in flight, by the instants of their answers; earliest first, because all take the same time.
    let mut in_flight: std::collections::VecDeque<(MonotonicNs, Attempt)> = Default::default();
    let mut planned = Vec::new();
    while let Some(arrival) = cursor.next() {
        cursor.advance();
        planned.push(arrival.planned);
        let mut ready = arrival.planned;
        while let Some((at, attempt)) = in_flight.front().copied() {
            if at > arrival.planned && in_flight.len() < connections {
                break;
            }
            in_flight.pop_front();
            recorder.good(&attempt, at);
            ready = ready.max(at);
        }
        let attempt = recorder.sent(arrival.planned, ready, ready);
        in_flight.push_back((target.answers(ready), attempt));
    }
    in_flight.into_iter().for_each(|(at, attempt)| recorder.good(&attempt, at));
    (Told::by(recorder, &kept, span), planned, target)
}

/// The value itself, even if one event caused all values beyond it.
fn at(durations: &Durations, quantile: f64) -> Option<f64> {
    durations.value_s(quantile).map(|(value_s, _)| value_s)
}

fn ms(seconds: Option<f64>) -> f64 {
    seconds.unwrap() * 1e3
}

fn check_ms(given: Option<f64>, expected: f64) {
    // A quantile is the upper end of its bucket: up to a thousandth above the value.
    assert!((0.0..=expected * 1e-3 + 1e-6).contains(&(ms(given) - expected)), "{given:?} s for {expected} ms");
}

#[test]
fn a_stall_is_felt_by_all_who_arrive_in_it() {
    let (told, planned, _) = simulate(Arrivals::Uniform, usize::MAX);
    assert_eq!((planned.len(), told.recorded.ledger.scheduled, told.recorded.ledger.sent), (10_000, 10_000, 10_000));
    // Of the 10,000, those planned at 2.000, 2.001 … 2.499 s wait 500, 499 … 1 ms more than the others.
    let response = &told.totals.response;
    assert_eq!(response.max_s(), Some(0.501));
    check_ms(at(response, 0.999), 491.0);
    check_ms(at(response, 0.99), 401.0);
    // One stall caused all of these values, and another run need not have one.
    let p99 = response.percentile(0.99);
    assert_eq!((p99.latency_s, p99.once_s, p99.instants), (None, at(response, 0.99), Some(1)));
    check_ms(response.quantile_s(0.95), 1.0);
    assert!((response.mean_s().unwrap() * 1e3 - (1.0 + 500.0 * 501.0 / 2.0 / 10_000.0)).abs() < 1e-9);
    assert_eq!(told.totals.queue.summary().count, 0);
    assert_eq!(told.totals.lateness.max_s(), Some(0.0));
}

#[test]
fn a_pool_that_is_too_small_hides_a_stall_from_the_service_time_only() {
    let (told, _, _) = simulate(Arrivals::Uniform, 64);
    let (response, service) = (&told.totals.response, &told.totals.service);
    // 64 requests were in the stall, less than a hundredth of all: coordinated omission.
    check_ms(at(service, 0.99), 1.0);
    assert_eq!(service.max_s(), Some(0.501));
    // The others waited for a connection, so their users waited as long. After the stall, 64 answers come per millisecond. 436 requests are
    // waiting then and 7 more arrive; the last is answered 7 ms after the stall.
    assert_eq!(told.totals.queue.summary().count, 436 + 7);
    assert_eq!(response.max_s(), Some(0.501));
    let queue = &told.totals.queue;
    assert_eq!(queue.max_s(), Some((2_501.0 - 2_064.0) / 1e3));
    assert!(ms(at(response, 0.99)) >= 401.0, "{response:?}");
}

#[test]
fn poisson_arrivals_wait_as_the_plan_says() {
    let (told, planned, target) = simulate(Arrivals::Poisson, usize::MAX);
    let mut waits: Vec<u64> = planned.iter().map(|planned| target.answers(*planned).ns_since(*planned)).collect();
    waits.sort_unstable();
    let response = &told.totals.response;
    assert_eq!(response.max_s(), waits.last().map(|ns| *ns as f64 / 1e9));
    for quantile in [0.5, 0.9, 0.99, 0.999] {
        let rank = (waits.len() as f64 * quantile).ceil() as usize;
        check_ms(at(response, quantile), waits[rank - 1] as f64 / 1e6);
    }
}
