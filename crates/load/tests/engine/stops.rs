//! Runs that end early: stopped from outside, or by a crossed threshold.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tolok_load::event::Event;
use tolok_load::options::{Executor, Options, Pool};
use tolok_load::record::Record;
use tolok_load::schedule::Phase;
use tolok_load::threshold::{Comparison, KeptOrCrossed, Metric, Part, Threshold};
use tolok_load::{Judgement, run_with};
use tolok_testkit::{Reply, ScriptedServer};

use crate::stage::{BODY, ENDLESS, MS, check_account, options, rate, rows};

fn threads(executor: Executor, server: &ScriptedServer, threads: u32) -> Options {
    let mut options = options(server);
    (options.executor, options.generator.threads, options.pool) = (executor, threads, Pool::Bounded(6));
    options
}

fn users() -> Executor {
    Executor::ConstantVus { vus: 6, duration: ENDLESS }
}

/// Runs until the server has received `number` requests.
fn stopped_at(number: usize, executor: Executor, thread_count: u32, warm_up: Duration) -> (Record, usize) {
    let stop = Arc::new(AtomicBool::new(false));
    let server = ScriptedServer::start({
        let stop = Arc::clone(&stop);
        move |request| {
            stop.fetch_or(request.number >= number, Ordering::Relaxed);
            Reply::ok(BODY).after(MS)
        }
    });
    let mut options = threads(executor, &server, thread_count);
    (options.warm_up, options.grace) = (warm_up, None);
    let mut borders = Vec::new();
    let record = tolok_load::run(&options, &stop, &mut |event| match event {
        Event::WindowStarted { monotonic_ns, .. } | Event::WindowEnded { monotonic_ns } => borders.push(monotonic_ns),
        Event::WarmupStarted | Event::Second(_) => {}
    })
    .unwrap();
    check_account(&record);
    assert_eq!(borders, [record.window_start_monotonic_ns, record.window_end_monotonic_ns]);
    (record, server.requests())
}

#[test]
fn all_threads_end_at_the_same_instant() {
    for thread_count in [1, 3] {
        for executor in [users(), rate(400.0, ENDLESS)] {
            let (record, requests) = stopped_at(50, executor.clone(), thread_count, Duration::ZERO);
            assert!(record.interrupted && !record.aborted, "{executor:?}");
            assert!(record.window_s < record.plan.window_s && record.ledger.sent >= 50);
            assert_eq!(requests as u64, record.ledger.sent + record.drain.sent);
            assert_eq!(record.ledger.scheduled, record.ledger.good + record.drain.good, "{executor:?}");
        }
    }
}

#[test]
fn a_stop_in_the_warm_up_leaves_no_window_on_any_thread() {
    for thread_count in [1, 3] {
        for executor in [users(), rate(400.0, ENDLESS)] {
            let (record, requests) = stopped_at(20, executor.clone(), thread_count, ENDLESS);
            assert!(record.interrupted);
            assert_eq!((record.window_s, record.goodput_rps, record.offered_rps), (0.0, None, None));
            assert_eq!((record.ledger.scheduled, rows(&record, Phase::Measure).count()), (0, 0));
            assert_eq!(record.warm_up.sent, requests as u64, "{executor:?}");
            assert!(!record.verdict.trusted);
        }
    }
}

#[test]
fn a_stop_after_the_window_only_shortens_the_grace() {
    let server = ScriptedServer::start(|_| Reply::never());
    let mut options = threads(Executor::ConstantVus { vus: 6, duration: MS * 100 }, &server, 3);
    options.grace = Some(ENDLESS);
    let stop = AtomicBool::new(false);
    let record = tolok_load::run(&options, &stop, &mut |event| {
        if let Event::WindowEnded { .. } = event {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    check_account(&record);
    assert!(!record.interrupted);
    assert_eq!((record.window_s, record.drain.abandoned), (0.1, 6));
}

fn threshold(text: &str, metric: Metric, comparison: Comparison, limit: f64) -> Threshold {
    Threshold { text: text.into(), metric, comparison, limit }
}

/// A target whose every other answer is wrong, and a threshold that allows none.
fn judged(abort: bool, thread_count: u32, duration: Duration) -> Record {
    let server = ScriptedServer::start(|request| match request.number % 2 {
        0 => Reply::status(500),
        _ => Reply::ok(BODY),
    });
    let options = threads(rate(100.0, duration), &server, thread_count);
    let thresholds = vec![
        threshold("failed < 10 %", Metric::FailedShare, Comparison::Below, 0.1),
        threshold("response-time p50 < 60 s", Metric::Quantile(Part::Response, 0.5), Comparison::Below, 60.0),
    ];
    let judgement = Judgement { thresholds, abort };
    let record = run_with(&options, &judgement, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    let outcomes: Vec<_> = record.thresholds.iter().map(|judged| judged.outcome).collect();
    assert_eq!(outcomes, [KeptOrCrossed::Crossed, KeptOrCrossed::Kept]);
    record
}

#[test]
fn a_threshold_that_is_crossed_ends_the_run() {
    for thread_count in [1, 3] {
        let record = judged(true, thread_count, ENDLESS);
        // The first judgement is after the first full second.
        assert!(record.aborted && !record.interrupted && record.window_s >= 1.0);
    }
}

#[test]
fn a_threshold_that_is_crossed_only_tells_unless_it_may_end_the_run() {
    let record = judged(false, 1, MS * 1_100);
    assert!(!record.aborted && !record.interrupted && record.window_s == 1.1);
}
