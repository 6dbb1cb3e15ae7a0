//! Arrivals by the clock: exactly the planned number, whatever the target does, and an account of those that had to wait.

use std::collections::BTreeMap;
use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_load::options::{Arrivals, ConnectionPolicy, Executor, Mix, Options, Pool, Request, Stage, ThinkTime, Timer};
use tolok_load::record::{Drain, LoopModel, Record};
use tolok_load::schedule::Phase;
use tolok_load::verdict::Gate;
use tolok_testkit::{EventServer, Pattern, Reply, ScriptedServer};

use crate::stage::{BODY, ENDLESS, MS, options, rate, run, sum};

/// Long enough for every answer.
const PATIENT: Option<Duration> = Some(Duration::from_secs(60));

fn poisson(rate_rps: f64, duration: Duration) -> Executor {
    Executor::ConstantArrivalRate { rate_rps, duration, arrivals: Arrivals::Poisson }
}

fn ramp(start_rate_rps: f64, stages: &[(u64, f64)]) -> Executor {
    let stage = |(ms, target): &(u64, f64)| Stage { duration: MS * *ms as u32, target: *target };
    Executor::RampingArrivalRate {
        start_rate_rps,
        stages: stages.iter().map(stage).collect(),
        arrivals: Arrivals::Uniform,
    }
}

fn play(executor: Executor, change: impl FnOnce(&mut Options)) -> Record {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    (options.executor, options.grace) = (executor, PATIENT);
    options.pool = Pool::Bounded(8);
    change(&mut options);
    let record = run(&options);
    assert_eq!(server.requests() as u64, record.warm_up.sent + record.ledger.sent + record.drain.sent);
    record
}

/// Every arrival got a correct response, in the window or just after it.
fn check_all_good(record: &Record, scheduled: u64) {
    let Record { ledger, drain, .. } = record;
    assert_eq!((ledger.scheduled, ledger.good + drain.good), (scheduled, scheduled), "{ledger:?} {drain:?}");
}

fn gates(record: &Record) -> Vec<Gate> {
    record.verdict.reasons.iter().map(|reason| reason.gate).collect()
}

#[test]
fn as_many_arrive_as_the_rate_says() {
    for threads in [1, 3] {
        let record = play(rate(500.0, MS * 400), |options| options.generator.threads = threads);
        check_all_good(&record, 200);
        assert_eq!(record.offered_rps, Some(500.0));
        assert_eq!((record.plan.loop_model, record.plan.vus), (LoopModel::Open, 8));
        assert_eq!(record.generator.threads.len(), threads as usize);
    }
}

#[test]
fn the_plan_of_random_arrivals_is_the_same_for_every_number_of_threads() {
    let scheduled = |threads, seed| {
        let record = play(poisson(600.0, MS * 300), |options| {
            (options.generator.threads, options.seed) = (threads, seed);
        });
        check_all_good(&record, record.ledger.scheduled);
        record.ledger.scheduled
    };
    let one = scheduled(1, 7);
    assert_eq!([scheduled(2, 7), scheduled(4, 7)], [one, one]);
    // 180 on average, with a standard deviation of 13.
    assert!((120..=240).contains(&one), "{one}");
    assert_ne!(scheduled(1, 8), one, "another seed draws others");
}

#[test]
fn a_ramp_offers_the_area_under_its_line() {
    // A ramp of 300 ms up to 400 a second, a plateau of 200 ms, a drop to 100 a second for 100 ms.
    let stages = [(300, 400.0), (200, 400.0), (0, 100.0), (100, 100.0)];
    for threads in [1, 2] {
        let record = play(ramp(0.0, &stages), |options| options.generator.threads = threads);
        check_all_good(&record, 60 + 80 + 10);
        assert_eq!(record.window_s, 0.6);
    }
}

#[test]
fn arrivals_of_the_warm_up_come_at_the_rate_the_window_begins_with() {
    let record = play(ramp(200.0, &[(200, 0.0)]), |options| options.warm_up = MS * 250);
    check_all_good(&record, 20);
    assert_eq!((record.warm_up.sent, sum(&record, Phase::Measure, |row| row.sent)), (50, record.ledger.sent));
}

#[test]
fn the_timers_differ_in_nothing_that_is_counted() {
    for timer in [Timer::Sleep, Timer::Hybrid, Timer::Spin] {
        let record = play(rate(300.0, MS * 100), |options| options.generator.timer = Some(timer));
        check_all_good(&record, 30);
        assert_eq!(record.generator.timer, timer);
        // Only polling the clock is spinning, and it does not count as work. The hybrid timer has no time for it on a machine that always
        // wakes it late.
        if timer != Timer::Hybrid {
            assert_eq!(timer == Timer::Sleep, record.generator.threads[0].spin_s == 0.0);
        }
    }
}

#[test]
fn connections_per_request_keep_the_rate() {
    let server = ScriptedServer::start(|_| Reply::ok_and_close(BODY));
    let mut options = options(&server);
    (options.executor, options.grace) = (rate(300.0, MS * 200), PATIENT);
    options.connection = ConnectionPolicy::PerRequest;
    let record = run(&options);
    check_all_good(&record, 60);
    assert_eq!((record.connections.opened, record.connections.not_closed_by_target), (60, 0));
}

#[test]
fn arrivals_that_find_no_connection_wait_and_are_counted() {
    let server = ScriptedServer::start(|_| Reply::ok(BODY).after(MS * 50));
    let mut options = options(&server);
    // Two connections can carry 40 requests a second, but 200 arrive.
    (options.executor, options.grace) = (rate(200.0, MS * 400), PATIENT);
    options.pool = Pool::Bounded(2);
    let record = run(&options);
    check_all_good(&record, 80);
    let Record { ledger, drain, .. } = &record;
    assert_eq!((record.connections.opened, server.requests()), (2, 80));
    // Each connection has completed at most 8 requests and is busy with a ninth.
    assert!(ledger.unsent >= 80 - 18, "{ledger:?}");
    assert_eq!((drain.sent, drain.never_sent), (ledger.unsent, 0));
    // The queue is measured whenever the engine runs, which may not have been at the very end of the window.
    assert!(record.queue_max >= ledger.unsent / 2 && record.queue_time.count >= ledger.unsent, "{}", record.queue_max);
    // The last one arrived at 395 ms and was answered after 40 sequential answers of 50 ms.
    assert!(record.response_time.max_s.unwrap() >= 40.0 * 0.050 - 0.395);
    assert!(record.queue_time.max_s.unwrap() >= 39.0 * 0.050 - 0.395);
    assert!(record.service_time.min_s.unwrap() >= 0.050);
    assert!(gates(&record).contains(&Gate::OfferedRate), "{:?}", record.verdict);
    let text = &record.verdict.reasons.iter().find(|reason| reason.gate == Gate::OfferedRate).unwrap().text;
    assert!(text.contains(&format!("{} of 80 requests", ledger.unsent)), "{text}");
}

#[test]
fn arrivals_that_still_wait_when_the_grace_is_over_are_never_sent() {
    let server = ScriptedServer::start(|_| Reply::never());
    let mut options = options(&server);
    (options.executor, options.grace) = (rate(100.0, MS * 200), Some(MS * 30));
    options.pool = Pool::Bounded(3);
    let record = run(&options);
    assert_eq!((record.ledger.scheduled, record.ledger.sent, record.ledger.unsent), (20, 3, 17));
    assert_eq!(record.drain, Drain { abandoned: 3, never_sent: 17, ..Drain::default() });
    assert_eq!((record.queue_max, record.timeline.last().unwrap().queued), (17, 17));
    assert!(gates(&record).contains(&Gate::OfferedRate) && gates(&record).contains(&Gate::NoAnswers));
}

#[test]
fn arrivals_of_the_warm_up_that_are_never_sent_are_not_the_windows() {
    let server = ScriptedServer::start(|_| Reply::never());
    let mut options = options(&server);
    (options.executor, options.grace) = (rate(100.0, MS * 200), Some(MS * 30));
    (options.pool, options.warm_up) = (Pool::Bounded(3), MS * 100);
    let record = run(&options);
    assert_eq!((record.warm_up.sent, record.warm_up.carried_over_waiting), (3, 3));
    assert_eq!((record.ledger.scheduled, record.ledger.sent, record.ledger.unsent), (20, 0, 20));
    assert_eq!(record.drain, Drain { never_sent: 20, ..Drain::default() });
    assert_eq!(record.offered_rps, Some(100.0));
}

#[test]
fn waiting_behind_a_connection_that_fails_is_the_queues_and_not_the_generators() {
    let server = ScriptedServer::start(|_| Reply::close().after(MS * 40));
    let mut options = options(&server);
    (options.executor, options.grace) = (rate(100.0, MS * 200), PATIENT);
    options.pool = Pool::Bounded(1);
    let record = run(&options);
    assert_eq!(record.ledger.failed + record.drain.failed, 20);
    // Sequentially they take 800 ms, so the last one, planned at 190 ms, waits at least 570 ms.
    let queued_s = record.queue_time.max_s.unwrap_or_default();
    assert!(queued_s >= 0.570, "{queued_s} s, and {:?} s of lateness", record.lateness.max_s);
}

#[test]
fn an_unbounded_pool_opens_a_connection_for_every_arrival_that_finds_none_free() {
    let stalls = Pattern::Stalls { first: MS * 50, every: Duration::from_secs(3600), length: MS * 300 };
    for (at_most, expected) in [(None, 45..=60), (Some(20), 20..=20)] {
        let server = EventServer::start(BODY, stalls);
        let mut options = Options::new(&server.url("/hello")).unwrap();
        (options.executor, options.grace) = (rate(200.0, MS * 300), PATIENT);
        options.pool = Pool::Unbounded { at_most };
        let record = run(&options);
        check_all_good(&record, 60);
        let opened = record.connections.opened;
        let log = server.finish();
        assert_eq!(log.connections as u64, opened + 1);
        // From 50 ms until the end of the window nothing is answered. So each of the 50 arrivals needs its own connection, except those
        // before the server reads the time.
        assert!(expected.contains(&opened), "{opened}");
        assert_eq!((record.plan.pool_unbounded, record.plan.vus), (true, at_most.unwrap_or(0)));
        assert_eq!(record.queue_time.count > 0, at_most.is_some(), "{at_most:?}");
        assert_eq!(record.queue_max > 0, at_most.is_some(), "{at_most:?}");
    }
}

#[test]
fn an_arrival_may_be_a_sequence() {
    let server = ScriptedServer::start(|request| match request.path() {
        "/b" => Reply::status(500),
        _ => Reply::ok(BODY),
    });
    let mut options = options(&server);
    options.requests = ["/a", "/b", "/c"].map(Request::get).to_vec();
    (options.mix, options.executor, options.grace) = (Mix::Sequence, rate(100.0, MS * 100), PATIENT);
    // Every iteration begins on a free connection, sends two requests, and ends when the second fails.
    let record = run(&options);
    let (good, failed) = (record.ledger.good + record.drain.good, record.ledger.failed + record.drain.failed);
    assert!(good == 10 && failed >= 9, "{:?} {:?}", record.ledger, record.drain);
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::BadStatus, record.ledger.failed)]));
}

#[test]
fn users_that_think_are_refused_where_arrivals_come_by_the_clock() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = rate(1.0, MS);
    options.think_time = ThinkTime { least: MS, most: MS };
    let error = tolok_load::run(&options, &Default::default(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("think"), "{error}");
}

/// A server that stops answering for 400 ms, 50 ms before the end of a window of one second, under 1,000 requests a second.
fn stalled_at_the_end(grace: Duration) -> Record {
    let stall = Pattern::Stalls { first: MS * 950, every: ENDLESS, length: MS * 400 };
    let server = EventServer::start(BODY, stall);
    let mut options = Options::new(&server.url("/")).unwrap();
    (options.executor, options.grace) = (rate(1_000.0, Duration::from_secs(1)), Some(grace));
    run(&options)
}

#[test]
fn a_stall_at_the_end_of_the_window_is_in_the_percentiles() {
    let p99 = |record: &Record| *record.response_time.percentiles.iter().find(|it| it.quantile == 0.99).unwrap();
    // A run that waits for the end of the stall sees all of it. It is one instant, so the value holds for this run only.
    let waited = stalled_at_the_end(Duration::from_secs(5));
    let seen_s = p99(&waited).once_s.or(p99(&waited).latency_s).unwrap();
    assert!(waited.unanswered_time.is_none() && seen_s > 0.3, "{:?}", p99(&waited));
    // A run that does not wait reports a lower bound, marked as such.
    let cut = stalled_at_the_end(Duration::ZERO);
    let unanswered = cut.unanswered_time.as_ref().unwrap();
    assert!(unanswered.count >= 10 && cut.drain.abandoned + cut.drain.never_sent == unanswered.count);
    let least_s = p99(&cut).at_least_s.unwrap();
    assert!(p99(&cut).latency_s.is_none() && least_s > 0.02, "{:?}", p99(&cut));
}

#[test]
fn a_threshold_that_missing_answers_decide_is_neither_kept_nor_crossed() {
    use tolok_load::threshold::{Comparison, KeptOrCrossed, Metric, Part, Threshold};
    let server = ScriptedServer::start(|request| if request.number < 50 { Reply::ok(BODY) } else { Reply::never() });
    let mut options = options(&server);
    (options.executor, options.pool) = (rate(200.0, MS * 500), Pool::Bounded(64));
    let below = |limit| Threshold {
        text: String::new(),
        metric: Metric::Quantile(Part::Response, 0.99),
        comparison: Comparison::Below,
        limit,
    };
    let judgement = tolok_load::Judgement { thresholds: vec![below(3600.0), below(0.05)], abort: false };
    let record = tolok_load::run_with(&options, &judgement, &Default::default(), &mut |_| {}).unwrap();
    let outcomes: Vec<_> = record.thresholds.iter().map(|it| (it.outcome, it.at_least)).collect();
    assert_eq!(outcomes, [(KeptOrCrossed::Unknown, true), (KeptOrCrossed::Crossed, true)]);
}
