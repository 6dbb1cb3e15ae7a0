//! How many connections are opened, from which addresses, and which side closes them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tolok_load::options::{ConnectionPolicy, Executor, ExpectBody, Method, Options, Sources};
use tolok_load::verdict::Gate;
use tolok_testkit::{Framing, Reply, Request, ScriptedServer};

use crate::stage::{BODY, ENDLESS, check_account, options, play, play_script, play_with, run};

/// The engine's initial probe of the target.
const PROBE: usize = 1;

fn per_request(options: &mut Options) {
    options.connection = ConnectionPolicy::PerRequest;
}

#[test]
fn kept_connections_are_one_a_user() {
    let played = play(vec![Reply::ok(BODY); 50]);
    assert_eq!(played.record.connections.opened, 1);
    assert_eq!(played.server.connections(), 1 + PROBE);
    assert_eq!(played.record.ledger.good, 50);
}

#[test]
fn a_connection_per_request_is_closed_by_the_target_first() {
    let played = play_with(vec![Reply::ok_and_close(BODY); 50], per_request);
    let connections = &played.record.connections;
    assert_eq!((connections.opened, connections.opened_in_window), (51, 51));
    assert_eq!(connections.not_closed_by_target, 0);
    assert_eq!(played.server.connections(), 51 + PROBE);
    assert_eq!((played.record.ledger.good, played.record.ledger.failed), (50, 0));
}

#[test]
fn a_target_that_ignores_the_wish_to_close_is_closed_on() {
    let played = play_with(vec![Reply::ok(BODY); 20], per_request);
    assert_eq!(played.record.connections.opened, 21);
    assert_eq!(played.record.ledger.good, 20);
}

/// An answer that announces the end of the connection.
fn announcing() -> Reply {
    Reply::with(200, BODY, Framing::Length, &["Connection: close"])
}

/// An answer after a delay: keeps a run going for `ms` while something else happens.
fn later(ms: u64) -> Reply {
    Reply::ok(BODY).after(Duration::from_millis(ms))
}

#[test]
fn a_target_that_announces_the_end_and_does_not_come_to_it_is_left_after_a_while() {
    let played = play(vec![announcing().then_hang(), announcing().then_hang(), later(400)]);
    let connections = &played.record.connections;
    assert_eq!((connections.opened, connections.not_closed_by_target), (3, 2));
    assert_eq!(played.record.ledger.good, 3);
}

#[test]
fn nobody_waits_for_a_target_that_closes_late() {
    let late = || announcing().joined_with(Reply::close().after(Duration::from_millis(200)));
    let played = play((0..20).map(|_| late()).chain([later(400)]).collect());
    let record = &played.record;
    assert_eq!((record.ledger.good, record.connections.opened), (21, 21));
    assert_eq!((record.connections.not_closed_by_target, record.connections.never_answered), (0, 0));
    // Sequentially they would take 4 s.
    assert!(record.window_s < 2.0 && record.in_flight_mean.unwrap() > 0.5, "{} s", record.window_s);
}

#[test]
fn a_target_that_closes_nothing_fills_no_more_than_a_certain_number_of_files() {
    let played = play((0..300).map(|_| announcing().then_hang()).chain([later(400)]).collect());
    let connections = &played.record.connections;
    assert_eq!((connections.opened, connections.not_closed_by_target), (301, 300));
}

#[test]
fn bytes_after_the_last_answer_are_counted() {
    // The wait puts them into a separate segment, after the answer was processed; in the same segment they are a fault.
    let late = Reply::raw("XYZ").after(Duration::from_millis(100)).then_close();
    let played = play(vec![announcing().joined_with(late), later(300)]);
    let connections = &played.record.connections;
    assert_eq!((connections.unasked_bytes, connections.not_closed_by_target), (3, 0));
    assert_eq!((played.record.ledger.good, played.record.connections.opened), (2, 2));
}

#[test]
fn users_that_wait_after_dead_connections_are_no_load() {
    let server = ScriptedServer::start(|_| Reply::close());
    let mut options = options(&server);
    options.executor = Executor::ConstantVus { vus: 4, duration: Duration::from_millis(500) };
    let record = run(&options);
    assert!(record.idle_users_mean.unwrap() > 3.0, "{:?}", record.idle_users_mean);
    assert!(record.verdict.reasons.iter().any(|reason| reason.gate == Gate::IdleUsers), "{:?}", record.verdict);
}

#[test]
fn listed_source_addresses_take_turns() {
    let addresses: Vec<IpAddr> = (1..=4).map(|last| IpAddr::from([127, 0, 0, last])).collect();
    let played = play_with(vec![Reply::ok_and_close(BODY); 11], |options| {
        per_request(options);
        options.sources = Sources::Listed(addresses.clone());
    });
    assert_eq!(played.record.plan.source_addresses, 4);
    let expected: Vec<IpAddr> = addresses.into_iter().cycle().take(12).collect();
    assert_eq!(played.server.peers()[PROBE..], expected);
}

#[test]
fn the_system_chooses_where_connections_come_from_if_it_is_asked_to() {
    let played = play_with(vec![Reply::ok_and_close(BODY); 5], |options| {
        per_request(options);
        options.sources = Sources::System;
    });
    assert_eq!(played.record.plan.source_addresses, 0);
    assert_eq!(played.server.peers().into_iter().collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn a_connection_carries_as_many_requests_as_it_may_and_says_so_in_the_last() {
    let closes = |request: &Request| request.header("Connection") == Some("close");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let script = {
        let seen = Arc::clone(&seen);
        move |request: &Request| {
            seen.lock().unwrap().push((request.connection - PROBE, request.request, closes(request)));
            let answer = if closes(request) { Reply::ok_and_close(BODY) } else { Reply::ok(BODY) };
            (request.number < 10).then_some(answer)
        }
    };
    let played = play_script(script, 10, |options| {
        options.connection = ConnectionPolicy::Requests { requests_per_connection: 4 };
    });
    let expected: Vec<_> = (0..11).map(|number| (number / 4, number % 4, number % 4 == 3)).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
    assert_eq!((played.record.ledger.good, played.record.connections.opened), (10, 3));
    assert_eq!(played.record.connections.not_closed_by_target, 0);
}

#[test]
fn a_socket_in_the_file_system_is_a_target_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    for connection in [ConnectionPolicy::KeepAlive, ConnectionPolicy::PerRequest] {
        let _ = std::fs::remove_file(&path);
        let server = ScriptedServer::on_unix_socket(&path, |request| match request.header("Connection") {
            Some("close") => Reply::ok_and_close(BODY),
            _ => Reply::ok(BODY),
        });
        let mut options = Options::new("http://unix.example/hello").unwrap();
        options.generator.unix_socket = Some(path.clone());
        options.requests[0].expect.body = ExpectBody::Exactly(BODY.as_bytes().into());
        options.connection = connection;
        options.executor = Executor::SharedIterations { vus: 3, iterations: 30, max_duration: ENDLESS };
        let record = run(&options);
        assert_eq!((record.ledger.scheduled, record.ledger.good), (30, 30));
        let expected = if connection == ConnectionPolicy::KeepAlive { 3 } else { 30 };
        assert_eq!(record.connections.opened, expected);
        assert_eq!(server.connections() as u64, expected + PROBE as u64);
        assert_eq!(record.plan.address, format!("unix:{}", path.display()));
        assert_eq!((record.plan.congestion_control, record.connections.not_closed_by_target), (None, 0));
    }
}

#[test]
fn the_request_says_what_the_options_say() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let stop = Arc::new(AtomicBool::new(false));
    let server = ScriptedServer::start({
        let (heads, stop) = (Arc::clone(&heads), Arc::clone(&stop));
        move |request| {
            heads.lock().unwrap().push(request.head.clone());
            stop.store(true, Ordering::Relaxed);
            Reply::never()
        }
    });
    let mut options = options(&server);
    options.requests[0].method = Method::Head;
    options.requests[0].headers = vec![("Accept".into(), "text/html".into())];
    per_request(&mut options);
    tolok_load::run(&options, &stop, &mut |_| {}).unwrap();
    let expected =
        format!("HEAD /hello HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\nConnection: close\r\n\r\n", server.address());
    assert_eq!(*heads.lock().unwrap(), [expected]);
}

#[test]
fn answers_to_head_are_good_without_a_body() {
    let head_only = || Reply::ok(BODY).cut_by(BODY.len());
    let played = play_with(vec![head_only(); 5], |options| options.requests[0].method = Method::Head);
    assert_eq!((played.record.ledger.good, played.record.connections.opened), (5, 1));
    assert_eq!(played.record.plan.expected_body_bytes, None);
}

#[test]
fn a_request_that_does_not_fit_into_the_socket_is_sent_in_pieces() {
    // More than the buffers of both ends hold, so the kernel cannot take it at once.
    let value = "x".repeat(16 << 20);
    let played =
        play_with(vec![Reply::ok(BODY); 3], |options| options.requests[0].headers = vec![("X-Large".into(), value)]);
    assert_eq!((played.record.ledger.good, played.record.ledger.failed), (3, 0));
    assert_eq!(played.record.connections.opened, 1);
}

#[test]
fn large_bodies_are_compared_as_they_stream_through() {
    let body: Vec<u8> = (0..3_000_000u32).map(|at| (at % 251) as u8).collect();
    let mut wrong = body.clone();
    wrong[2_999_999] ^= 1;
    let chunked = Reply::with(200, &body, Framing::Chunked(vec![65_536, 1, 300_000], vec![]), &[]);
    let replies = vec![Reply::ok(&body), chunked, Reply::ok(&wrong), Reply::ok(&body)];
    let played = play_with(replies, |options| options.requests[0].expect.body = ExpectBody::Exactly(body.into()));
    assert_eq!((played.record.ledger.good, played.record.ledger.failed), (3, 1));
    let text = &played.record.error_examples[0].text;
    assert!(text.contains("from byte 2999999 on"), "{text}");
    assert!(played.record.received_bytes > 12_000_000);
}

#[test]
fn many_users_have_a_connection_each() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = Executor::ConstantVus { vus: 100, duration: Duration::from_millis(500) };
    options.grace = None;
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    assert_eq!((record.connections.opened, record.ledger.failed), (100, 0));
    assert_eq!(server.connections(), 100 + PROBE);
    assert_eq!(server.requests() as u64, record.ledger.sent);
}
