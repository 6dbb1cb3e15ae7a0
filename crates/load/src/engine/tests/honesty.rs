//! Checks that the reported response times are true where most load generators report far smaller ones: against a server that stalls, and
//! against one that is too slow for the rate. The truth is computed from the planned arrivals and the server's own log, both on the same
//! clock and independent of the engine's measurements.
//!
//! The engine reads an answer only when this machine lets it run. So a witness thread measures how late a thread wakes that only sleeps.
//! The tests allow for this, and for the engine's own lateness.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tolok_testkit::{EventServer, Hiccups, Log, Pattern};

use super::*;
use crate::histogram;
use crate::record::{Drain, Record};
use crate::schedule::planned_arrivals;
use crate::verdict::Gate;

const MS: Duration = Duration::from_millis(1);

/// Engine and server need a CPU each, so these tests must not run at the same time.
static MACHINE: Mutex<()> = Mutex::new(());

fn machine() -> MutexGuard<'static, ()> {
    // A failed test leaves no state behind, so a poisoned lock is fine.
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A run, and everything needed to compute the truth about it.
struct Observed {
    record: Record,
    /// Planned instants of all arrivals.
    planned_ns: Vec<u64>,
    log: Log,
    /// The delay that this machine may have added to any response time.
    allowance_ns: f64,
}

/// `rate_rps` arrivals a second for `window`, over 64 connections.
fn observe(pattern: Pattern, rate_rps: f64, window: Duration, arrivals: Arrivals) -> Observed {
    let server = EventServer::start("hello", pattern);
    let mut options = Options::new(&server.url("/")).unwrap();
    options.executor = Executor::ConstantArrivalRate { rate_rps, duration: window, arrivals };
    options.pool = PoolOption::Bounded(64);
    options.grace = Some(Duration::from_secs(60));
    options.timeout = Duration::from_secs(60);
    let hiccups = Hiccups::start();
    let record = crate::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let hiccup = hiccups.longest();
    let lateness_s = record.lateness.max_s.unwrap();
    let allowance_ns = lateness_s * 1e9 + hiccup.as_nanos() as f64;
    let planned = planned_arrivals(&options, MonotonicNs(record.window_start_monotonic_ns));
    let planned_ns = planned.into_iter().map(|at| at.0).collect();
    Observed { record, planned_ns, log: server.finish(), allowance_ns }
}

impl Observed {
    /// Every arrival was sent and answered.
    fn check_offered(&self) {
        let Record { ledger, drain, .. } = &self.record;
        assert!(ledger.closes(), "{ledger:?}");
        assert_eq!(ledger.scheduled, self.planned_ns.len() as u64);
        assert_eq!(ledger.good + drain.good, self.planned_ns.len() as u64, "{ledger:?} {drain:?}");
        assert_eq!(self.log.answers.len(), self.planned_ns.len());
    }

    /// The reported response times are the true ones.
    fn check_response_times(&self, mut truth_ns: Vec<u64>) {
        truth_ns.sort_unstable();
        let told = histogram::decode(&self.record.response_time.histogram).unwrap();
        assert_eq!(told.len(), truth_ns.len() as u64);
        let check = |what: &str, told_ns: f64, truth_ns: u64| {
            let off_ns = (told_ns - truth_ns as f64).abs();
            let allowed_ns = truth_ns as f64 * 0.01 + self.allowance_ns;
            let (told_ms, truth_ms, allowed_ms) = (told_ns / 1e6, truth_ns as f64 / 1e6, allowed_ns / 1e6);
            assert!(off_ns <= allowed_ns, "{what}: {told_ms} ms reported, {truth_ms} ms true, {allowed_ms} ms allowed");
        };
        for quantile in [0.5, 0.9, 0.99, 0.999] {
            let rank = (truth_ns.len() as f64 * quantile).ceil() as usize;
            check(&quantile.to_string(), told.value_at_quantile(quantile) as f64, truth_ns[rank - 1]);
        }
        check("max", self.record.response_time.max_s.unwrap() * 1e9, *truth_ns.last().unwrap());
    }

    /// The allowance is small enough to reveal a false report. Without the wait before sending, hardly any answer is reported to take
    /// longer than a few milliseconds.
    fn is_conclusive(&self) -> bool {
        self.allowance_ns < 60e6
    }
}

/// Arrivals inside a stall wait until it ends; the others do not wait.
fn check_stalls(arrivals: Arrivals, test: &str) {
    let _machine = machine();
    let pattern = Pattern::Stalls { first: MS * 500, every: MS * 1_500, length: MS * 300 };
    let observed = observe(pattern, 1_000.0, MS * 4_500, arrivals);
    observed.check_offered();
    assert_eq!(observed.log.stalls.len(), 3);
    let wait = |planned: &u64| {
        let stall = observed.log.stalls.iter().find(|(begun, ended)| (*begun..*ended).contains(planned));
        stall.map_or(0, |(_, ended)| ended - planned)
    };
    if !observed.is_conclusive() {
        return tolok_testkit::skip(test, &format!("this machine stalls as well: {} ms", observed.allowance_ns / 1e6));
    }
    observed.check_response_times(observed.planned_ns.iter().map(wait).collect());
}

#[test]
fn uniform_arrivals_at_a_server_that_stalls_are_told_truly() {
    check_stalls(Arrivals::Uniform, tolok_testkit::test_name!());
}

#[test]
fn poisson_arrivals_at_a_server_that_stalls_are_told_truly() {
    check_stalls(Arrivals::Poisson, tolok_testkit::test_name!());
}

#[test]
fn arrivals_at_a_server_that_is_too_slow_are_told_truly() {
    let _machine = machine();
    let pattern = Pattern::OneAtATime { service: MS * 4 };
    let observed = observe(pattern, 400.0, MS * 2_000, Arrivals::Uniform);
    observed.check_offered();
    assert_eq!(observed.record.ledger.scheduled, 800);
    // The server handles 500 of 800 arrivals in the window. Of the rest, 64 are in flight and the others queue.
    let Record { ledger, drain, verdict, queue_max, .. } = &observed.record;
    assert!(ledger.good <= 500 && ledger.unsent >= 800 - 500 - 64, "{ledger:?}");
    assert_eq!((drain.sent, drain.never_sent, drain.abandoned), (ledger.unsent, 0, 0));
    let queued = observed.record.queue_time.count;
    // The queue is measured whenever the engine runs, which may not have been at the very end of the window.
    assert!(*queue_max >= ledger.unsent / 2 && queued >= ledger.unsent, "{queue_max} {queued} {ledger:?}");
    assert!(verdict.reasons.iter().any(|reason| reason.gate == Gate::OfferedRate), "{verdict:?}");
    // The server answers in the order of the requests, so the n-th answer belongs to the n-th arrival.
    let truth = observed.planned_ns.iter().zip(&observed.log.answers).map(|(planned, answered)| answered - planned);
    observed.check_response_times(truth.collect());
    assert_ne!(*drain, Drain::default());
}
