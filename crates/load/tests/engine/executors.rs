//! Virtual users: each executor does exactly what is documented, on one thread and on several.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tolok_load::event::Event;
use tolok_load::options::{Executor, Mix, Options, Request, Stage, ThinkTime};
use tolok_load::record::Record;
use tolok_load::schedule::Phase;
use tolok_testkit::{Reply, ScriptedServer};

use crate::stage::{BODY, ENDLESS, MS, check_account, options, rows, run};

fn per_vu(vus: u32, iterations: u64) -> Executor {
    Executor::PerVuIterations { vus, iterations, max_duration: ENDLESS }
}

fn shared(vus: u32, iterations: u64) -> Executor {
    Executor::SharedIterations { vus, iterations, max_duration: ENDLESS }
}

/// Runs against a server that answers immediately. Returns the record, and how many requests each connection carried.
fn play(executor: Executor, threads: u32, change: impl FnOnce(&mut Options)) -> (Record, Vec<usize>) {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = executor;
    options.generator.threads = threads;
    change(&mut options);
    let record = run(&options);
    let mut requests = server.requests_by_connection();
    // The engine's initial probe of the target.
    assert_eq!(requests.remove(0), 0);
    (record, requests)
}

#[test]
fn every_user_does_its_own_iterations() {
    for threads in [1, 3] {
        let (record, requests) = play(per_vu(5, 20), threads, |_| {});
        assert_eq!(requests, [20; 5], "{threads} threads");
        let ledger = &record.ledger;
        assert_eq!((ledger.scheduled, ledger.good, ledger.in_flight_at_end), (100, 100, 0));
        // The window ends with the last iteration, not after the maximum duration.
        assert!(!record.interrupted && record.window_s < 60.0, "{}", record.window_s);
    }
}

#[test]
fn users_share_iterations_to_the_last_one() {
    for threads in [1, 3] {
        let (record, requests) = play(shared(7, 1_000), threads, |_| {});
        assert_eq!(requests.iter().sum::<usize>(), 1_000, "{threads} threads");
        assert_eq!((record.ledger.scheduled, record.ledger.good), (1_000, 1_000));
        assert!(record.window_s < 60.0);
    }
}

#[test]
fn fewer_iterations_than_users_are_shared_as_well() {
    for threads in [1, 3] {
        let server = ScriptedServer::answering(BODY);
        let mut options = options(&server);
        options.executor = shared(6, 2);
        options.generator.threads = threads;
        let mut started = None;
        let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |event| {
            if let Event::WindowStarted { monotonic_ns, .. } = event {
                started = Some(monotonic_ns);
            }
        })
        .unwrap();
        check_account(&record);
        assert_eq!((record.ledger.good, server.requests()), (2, 2));
        // A thread without work ends its window when the window begins, not before.
        assert_eq!(started, Some(record.window_start_monotonic_ns), "{threads} threads");
    }
}

#[test]
fn iterations_of_the_warm_up_are_not_counted() {
    for (executor, expected) in [(per_vu(3, 20), 60), (shared(3, 50), 50)] {
        let (record, requests) = play(executor, 1, |options| options.warm_up = MS * 50);
        assert_eq!((record.ledger.scheduled, record.ledger.good), (expected, expected));
        assert!(record.warm_up.sent > 0 && record.warm_up_s == 0.05);
        assert_eq!(requests.iter().sum::<usize>() as u64, record.warm_up.sent + expected);
    }
}

#[test]
fn iterations_that_are_not_done_in_time_are_left() {
    let server = ScriptedServer::start(|_| Reply::ok(BODY).after(MS * 50));
    let mut options = options(&server);
    options.executor = Executor::PerVuIterations { vus: 2, iterations: 1_000, max_duration: MS * 220 };
    options.grace = None;
    let record = run(&options);
    // An answer takes at least 50 ms, so a user gets at most 4 in the window and sends at most 5.
    assert!((2..=10).contains(&record.ledger.sent), "{:?}", record.ledger);
    assert_eq!((record.window_s, record.drain.good), (0.22, record.ledger.in_flight_at_end));
}

#[test]
fn an_iteration_that_fails_is_one_all_the_same() {
    let server = ScriptedServer::start(|request| match request.number % 3 {
        0 => Reply::status(500),
        _ => Reply::ok(BODY),
    });
    let mut options = options(&server);
    options.executor = shared(1, 9);
    let record = run(&options);
    assert_eq!((record.ledger.sent, record.ledger.good, record.ledger.failed), (9, 6, 3));
}

#[test]
fn a_ramp_of_users_lets_them_in_and_out() {
    // 0 to 4 users in 400 ms, so one joins every 100 ms; all of them for 200 ms; then none at once.
    let up = Stage { duration: MS * 400, target: 4.0 };
    let stay = Stage { duration: MS * 200, target: 4.0 };
    let down = Stage { duration: Duration::ZERO, target: 0.0 };
    let none = Stage { duration: MS * 500, target: 0.0 };
    for threads in [1, 2] {
        let executor = Executor::RampingVus { start_vus: 0, stages: vec![up, stay, down, none] };
        let (record, requests) = play(executor, threads, |_| {});
        assert_eq!((record.window_s, record.connections.opened, record.ledger.failed), (1.1, 4, 0));
        assert!(requests.iter().all(|requests| *requests > 0), "{requests:?}");
        // The last 100 ms are a separate row, without users.
        let last = rows(&record, Phase::Measure).last().unwrap();
        assert_eq!((last.sent, last.in_flight), (0, 0), "{threads} threads");
    }
}

#[test]
fn a_ramp_begins_with_the_users_it_starts_with_also_in_the_warm_up() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.warm_up = MS * 100;
    let stages = vec![Stage { duration: MS * 200, target: 3.0 }, Stage { duration: MS * 200, target: 3.0 }];
    options.executor = Executor::RampingVus { start_vus: 2, stages };
    let record = run(&options);
    let opened = |phase| rows(&record, phase).map(|row| row.new_connections).sum::<u64>();
    assert_eq!((opened(Phase::WarmUp), opened(Phase::Measure)), (2, 1));
    assert!(record.warm_up.sent > 0 && record.plan.vus == 3);
}

#[test]
fn users_think_after_a_failure_too() {
    let server = ScriptedServer::start(|_| Reply::ok("not what is expected"));
    let mut options = options(&server);
    options.executor = per_vu(1, 4);
    options.think_time = ThinkTime { least: MS * 40, most: MS * 40 };
    let record = run(&options);
    assert_eq!((record.ledger.failed, record.ledger.good), (4, 0));
    assert!(record.window_s >= 0.12, "{}", record.window_s);
}

#[test]
fn users_think_between_iterations() {
    let think_time = ThinkTime { least: MS * 30, most: MS * 50 };
    for threads in [1, 2] {
        let (record, _) = play(per_vu(2, 6), threads, |options| options.think_time = think_time);
        assert_eq!(record.ledger.good, 12);
        // Six iterations have five pauses of at least 30 ms in between. Think time is neither lateness nor response time.
        assert!(record.window_s >= 0.150, "{}", record.window_s);
        assert!(record.response_time.min_s.unwrap() < 0.030);
        assert_eq!(record.plan.think_time_s, [0.03, 0.05]);
    }
}

/// How often each path was requested.
fn paths(mix: Mix, weights: &[(&str, u32)], executor: Executor, threads: u32) -> (Record, BTreeMap<String, u64>) {
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let server = ScriptedServer::start({
        let asked = std::sync::Arc::clone(&asked);
        move |request| {
            asked.lock().unwrap().push((request.connection, request.path().to_owned()));
            Reply::ok(BODY)
        }
    });
    let mut options = options(&server);
    options.requests = weights.iter().map(|(path, weight)| Request { weight: *weight, ..Request::get(path) }).collect();
    (options.mix, options.executor, options.generator.threads) = (mix, executor, threads);
    let record = run(&options);
    let asked = asked.lock().unwrap().clone();
    let mut counts = BTreeMap::new();
    asked.iter().for_each(|(_, path)| *counts.entry(path.clone()).or_insert(0) += 1);
    if mix == Mix::Sequence {
        check_sequences(&asked, weights);
    }
    (record, counts)
}

/// On every connection the requests come in sequence, over and over.
fn check_sequences(asked: &[(usize, String)], weights: &[(&str, u32)]) {
    let sequence: Vec<&str> = weights.iter().flat_map(|(path, weight)| vec![*path; *weight as usize]).collect();
    let mut steps: BTreeMap<usize, usize> = BTreeMap::new();
    for (connection, path) in asked {
        let step = steps.entry(*connection).or_default();
        assert_eq!(path, sequence[*step % sequence.len()]);
        *step += 1;
    }
}

#[test]
fn weighted_requests_come_as_often_as_they_weigh() {
    let (record, counts) = paths(Mix::Weighted, &[("/often", 3), ("/never", 0), ("/once", 1)], shared(4, 800), 2);
    assert_eq!((record.ledger.good, counts.values().sum::<u64>()), (800, 800));
    assert_eq!(counts.len(), 2, "{counts:?}");
    // 600 expected, with a standard deviation of 12. The seed is fixed, but not how often each thread draws.
    assert!((530..=670).contains(&counts["/often"]), "{counts:?}");
}

#[test]
fn each_part_has_its_own_account_and_is_drawn_by_the_seed() {
    let server = ScriptedServer::start(|request| match request.path() {
        "/broken" => Reply::status(500),
        _ => Reply::ok(BODY),
    });
    let of = |part: &str, path: &str, weight| Request { part: Some(part.into()), weight, ..Request::get(path) };
    let mut options = options(&server);
    options.requests = vec![of("list", "/a", 3), of("form", "/broken", 2), of("list", "/b", 3), of("row", "/c", 2)];
    (options.executor, options.seed) = (shared(1, 100), 7);
    let record = run(&options);
    let part = |at: usize| {
        let part = &record.parts[at];
        (part.part.as_str(), part.asked_share, part.sent, part.good, part.failed)
    };
    // One user draws all requests, so the seed determines the counts.
    assert_eq!(
        [part(0), part(1), part(2)],
        [("list", 0.6, 62, 62, 0), ("form", 0.2, 16, 0, 16), ("row", 0.2, 22, 22, 0)]
    );
    assert_eq!(record.parts.iter().map(|part| part.sent).sum::<u64>(), record.ledger.sent + record.drain.sent);
    assert_eq!(record.parts.iter().map(|part| part.good).sum::<u64>(), record.response_time.count);
    assert_eq!(record.parts[1].response_time.percentiles[0].latency_s, None);
    let server = ScriptedServer::start(|_| Reply::ok(BODY));
    let mut plain = crate::stage::options(&server);
    plain.executor = shared(1, 10);
    assert!(run(&plain).parts.is_empty(), "requests without parts have none");
}

#[test]
fn a_sequence_is_sent_in_order_and_whole() {
    let sequence = [("/login", 1), ("/look", 3), ("/leave", 1)];
    for threads in [1, 2] {
        let (record, counts) = paths(Mix::Sequence, &sequence, per_vu(3, 4), threads);
        // 12 iterations of 5 requests.
        assert_eq!((record.ledger.scheduled, record.ledger.good, record.connections.opened), (60, 60, 3));
        let expected = [("/leave", 12), ("/login", 12), ("/look", 36)];
        assert!(counts.iter().map(|(path, count)| (path.as_str(), *count)).eq(expected), "{counts:?}");
        assert_eq!(record.plan.requests.len(), 3);
    }
}

#[test]
fn a_sequence_ends_with_the_request_that_fails() {
    let server = ScriptedServer::start(|request| match (request.path(), request.number) {
        ("/b", 1) => Reply::status(500),
        _ => Reply::ok(BODY),
    });
    let mut options = options(&server);
    options.requests = ["/a", "/b", "/c"].map(Request::get).to_vec();
    options.mix = Mix::Sequence;
    options.executor = per_vu(1, 2);
    let record = run(&options);
    // The first iteration has one correct response and one failure, the second three correct responses.
    assert_eq!((record.ledger.sent, record.ledger.good, record.ledger.failed), (5, 4, 1));
}
