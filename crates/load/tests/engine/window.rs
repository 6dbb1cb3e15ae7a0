//! Warm-up, window, grace, and their events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tolok_load::clock::{Clock, SystemClock};
use tolok_load::event::Event;
use tolok_load::options::{ConnectionPolicy, Executor, ThinkTime};
use tolok_load::record::{Drain, Record, SecondRow};
use tolok_load::schedule::Phase;
use tolok_testkit::{Reply, ScriptedServer};

use crate::stage::{BODY, MS, check_account, options, play, rate};

fn users(vus: u32, duration: Duration) -> Executor {
    Executor::ConstantVus { vus, duration }
}

fn iterations(iterations: u64) -> Executor {
    Executor::SharedIterations { vus: 1, iterations, max_duration: MS }
}

fn pause(time: Duration) -> ThinkTime {
    ThinkTime { least: time, most: time }
}

fn requests_per_connection(requests_per_connection: u32) -> ConnectionPolicy {
    ConnectionPolicy::Requests { requests_per_connection }
}

#[test]
fn a_run_has_a_warm_up_and_a_window_and_tells_both() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = users(4, MS * 1_250);
    options.warm_up = MS * 300;
    options.grace = None;
    let before = SystemClock.now();
    let mut events = Vec::new();
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |event| events.push(event)).unwrap();
    check_account(&record);

    let rows: Vec<SecondRow> = record.timeline.clone();
    let cuts: Vec<_> = rows.iter().map(|row| (row.second, row.phase, row.start_s, row.duration_s)).collect();
    use Phase::{Measure, WarmUp};
    assert_eq!(cuts, [(0, WarmUp, -0.3, 0.3), (1, Measure, 0.0, 1.0), (2, Measure, 1.0, 0.25)]);
    let (start, end) = (record.window_start_monotonic_ns, record.window_end_monotonic_ns);
    let Event::WindowStarted { reached_monotonic_ns, .. } = events[2] else { panic!("{events:?}") };
    assert!((start..end).contains(&reached_monotonic_ns));
    let expected = [
        Event::WarmupStarted,
        Event::Second(Box::new(rows[0].clone())),
        Event::WindowStarted { monotonic_ns: start, reached_monotonic_ns },
        Event::Second(Box::new(rows[1].clone())),
        Event::Second(Box::new(rows[2].clone())),
        Event::WindowEnded { monotonic_ns: end },
    ];
    assert_eq!(events, expected);

    assert!(before.0 < start && end < SystemClock.now().0);
    assert_eq!((end - start, record.window_s, record.warm_up_s), (1_250_000_000, 1.25, 0.3));
    let answered = record.ledger.good + record.warm_up.carried_over_good;
    assert_eq!(record.goodput_rps, Some(answered as f64 / 1.25));
    assert_eq!(server.requests() as u64, record.warm_up.sent + record.ledger.sent);
    assert!(record.ledger.good > 0 && record.warm_up.good > 0 && record.ledger.failed == 0);
    assert!(!record.interrupted && record.format == Record::FORMAT);
    assert_eq!(record.ledger.scheduled, record.ledger.sent);
    assert!(record.cpu_user_s + record.cpu_system_s > 0.0);
    let thread = &record.generator.threads[0];
    assert_eq!((thread.cpu_user_s, thread.cpu_system_s), (record.cpu_user_s, record.cpu_system_s));
    let busy_s = (record.cpu_user_s + record.cpu_system_s - thread.spin_s).max(0.0);
    assert_eq!(record.generator_busy, Some(busy_s / 1.25));
    let median = record.response_time.percentiles[0];
    assert!(median.latency_s.is_some() && median.instants.unwrap() >= 10, "{median:?}");
}

#[test]
fn without_a_warm_up_the_window_starts_at_once() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = users(1, MS * 100);
    let mut events = Vec::new();
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |event| events.push(event)).unwrap();
    check_account(&record);
    assert!(matches!(events[0], Event::WindowStarted { .. }));
    assert_eq!((record.warm_up_s, record.warm_up.sent), (0.0, 0));
}

#[test]
fn requests_in_flight_at_the_end_may_finish_and_are_told_with_the_slowest() {
    let server = ScriptedServer::start(|_| Reply::ok(BODY).after(MS * 2_000));
    let mut options = options(&server);
    options.executor = users(3, MS * 1_000);
    options.grace = Some(Duration::from_secs(60));
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    assert_eq!(record.drain, Drain { good: 3, ..Drain::default() });
    assert!(record.response_time.min_s.unwrap() >= 2.0);
    assert_eq!((record.ledger.sent, record.ledger.good, record.ledger.in_flight_at_end), (3, 0, 3));
    assert_eq!((record.goodput_rps, record.window_s), (Some(0.0), 1.0));
}

#[test]
fn requests_without_an_answer_are_abandoned_when_the_grace_is_over() {
    let server = ScriptedServer::start(|_| Reply::never());
    let mut options = options(&server);
    options.executor = users(3, MS * 100);
    options.grace = Some(MS * 50);
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    assert_eq!(record.drain, Drain { abandoned: 3, ..Drain::default() });
    assert_eq!((record.connections.opened, record.connections.never_answered), (3, 3));
}

#[test]
fn a_warm_up_request_answered_in_the_window_is_carried_over() {
    let server = ScriptedServer::start(|_| Reply::ok(BODY).after(MS * 300));
    let mut options = options(&server);
    options.warm_up = MS * 100;
    // The second request is sent at 300 ms at the earliest and answered after 600 ms, that is, after the end of the window.
    options.executor = users(1, MS * 450);
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    assert_eq!((record.warm_up.sent, record.warm_up.good, record.warm_up.carried_over), (1, 0, 1));
    assert_eq!(record.ledger.good, 0);
}

#[test]
fn a_stop_in_the_window_leaves_a_shorter_one() {
    let played = play(vec![Reply::ok(BODY); 10]);
    let record = &played.record;
    assert!(record.interrupted && record.window_s < record.plan.window_s);
    let ns = record.window_end_monotonic_ns - record.window_start_monotonic_ns;
    assert_eq!(record.window_s, Duration::from_nanos(ns).as_secs_f64());
    assert_eq!(record.goodput_rps, Some(10.0 / record.window_s));
}

#[test]
fn a_stop_in_the_warm_up_leaves_no_window() {
    let stop = Arc::new(AtomicBool::new(false));
    let server = ScriptedServer::start({
        let stop = Arc::clone(&stop);
        move |request| {
            stop.store(request.number == 3, Ordering::Relaxed);
            if request.number == 3 { Reply::never() } else { Reply::ok(BODY) }
        }
    });
    let mut options = options(&server);
    options.warm_up = Duration::from_secs(3600);
    let record = tolok_load::run(&options, &stop, &mut |_| {}).unwrap();
    check_account(&record);
    assert!(record.interrupted);
    assert_eq!((record.window_s, record.goodput_rps, record.generator_busy), (0.0, None, None));
    assert_eq!((record.warm_up.good, record.warm_up.carried_over, record.ledger.sent), (3, 1, 0));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let server = ScriptedServer::answering(BODY);
    let check = |change: &dyn Fn(&mut tolok_load::options::Options), text: &str| {
        let mut options = options(&server);
        change(&mut options);
        let error = tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    check(&|options| options.executor = users(0, MS), "at least 1 virtual user");
    check(&|options| options.executor = users(1, Duration::ZERO), "longer than 0 s");
    check(&|options| options.executor = rate(0.0, MS), "more than 0");
    check(&|options| options.executor = rate(f64::NAN, MS), "a number from 0");
    check(&|options| options.executor = iterations(0), "at least 1 iteration");
    check(&|options| options.requests.clear(), "at least one request");
    check(&|options| options.requests[0].weight = 0, "at least one request");
    check(&|options| options.generator.threads = 0, "at least 1 thread");
    check(&|options| options.generator.threads = 2, "use fewer threads or more connections");
    check(&|options| options.pace.read_bytes_per_s = Some(0), "at 0 bytes a second");
    check(&|options| options.connection = requests_per_connection(0), "at least 1 request");
    check(&|options| options.think_time = ThinkTime { least: MS * 2, most: MS }, "the shortest pause comes first");
    check(&|options| (options.executor, options.think_time) = (rate(1.0, MS), pause(MS)), "wait for no user");
    check(&|options| options.timeout = Duration::ZERO, "within 0 s");
    check(&|options| options.warm_up = Duration::from_secs(100_000), "longer than a day");
    check(&|options| options.requests[0].headers = vec![("Host".into(), "x".into())], "belongs to the engine");
    // Requests are checked when they are rendered, before anything is sent.
    assert_eq!(server.requests(), 0);
}
