//! Every fault of a target is counted in its class of the ledger, and the run goes on.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_load::options::Executor;
use tolok_load::verdict::Gate;
use tolok_testkit::{Framing, Reply, ScriptedServer};

use crate::stage::{BODY, check_account, options, play, play_script, play_with};

fn good() -> Reply {
    Reply::ok(BODY)
}

/// One fault among correct responses costs exactly one request and one connection.
fn check(fault: Reply, class: ErrorClass, text: &str) {
    check_connections(fault, class, text, 2);
}

fn check_connections(fault: Reply, class: ErrorClass, text: &str, connections: u64) {
    let played = play(vec![good(), good(), fault.clone(), good(), good()]);
    let ledger = &played.record.ledger;
    assert_eq!(ledger.failed_by_class, BTreeMap::from([(class, 1)]), "{fault:?}");
    assert_eq!((ledger.sent, ledger.good, ledger.in_flight_at_end), (6, 4, 1), "{fault:?}");
    assert_eq!(played.record.connections.opened, connections, "{fault:?}");
    let examples = &played.record.error_examples;
    assert_eq!(examples.len(), 1);
    assert!(examples[0].text.contains(text), "{}", examples[0].text);
}

/// An unusual but valid answer.
fn check_good(answer: Reply, connections: u64) {
    let played = play(vec![good(), answer.clone(), good()]);
    let ledger = &played.record.ledger;
    assert_eq!((ledger.sent, ledger.good, ledger.failed), (4, 3, 0), "{answer:?}: {:?}", played.record.error_examples);
    assert_eq!(played.record.connections.opened, connections, "{answer:?}");
}

#[test]
fn strange_but_lawful_answers_are_good() {
    check_good(Reply::with(200, BODY, Framing::Chunked(vec![2], vec!["X-Sum: 1"]), &[]), 1);
    check_good(Reply::with(200, BODY, Framing::UntilClose, &[]), 2);
    check_good(good().preceded_by("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), 1);
    check_good(good().dribbled(), 1);
    check_good(Reply::with(200, BODY, Framing::Chunked(vec![1], vec![]), &[]).dribbled(), 1);
    check_good(Reply::ok_and_close(BODY), 2);
}

#[test]
fn a_close_before_the_answer() {
    check(Reply::close(), ErrorClass::Closed, "before answering");
}

#[test]
fn a_close_inside_the_answer() {
    check(good().cut_by(2).then_close(), ErrorClass::Closed, "inside the answer");
    let chunked = Reply::with(200, BODY, Framing::Chunked(vec![2], vec![]), &[]);
    check(chunked.cut_by(5).then_close(), ErrorClass::Closed, "inside the answer");
}

#[test]
fn a_reset() {
    check(Reply::reset(), ErrorClass::Reset, "reset");
}

#[test]
fn a_reset_inside_the_answer() {
    // Bytes received before the reset may be lost, so the text is one of two.
    check(good().cut_by(2).then_reset(), ErrorClass::Reset, "reset");
    let chunked = Reply::with(200, BODY, Framing::Chunked(vec![2], vec![]), &[]);
    check(chunked.cut_by(8).then_reset(), ErrorClass::Reset, "reset");
}

#[test]
fn a_close_inside_the_head() {
    check(Reply::raw("HTTP/1.1 200 OK\r\nContent-Le").then_close(), ErrorClass::Closed, "inside the answer");
    check(Reply::raw("H").then_close(), ErrorClass::Closed, "inside the answer");
}

/// The end of the stream may arrive with the last bytes or after them, and must be noticed in both cases.
#[test]
fn a_close_that_comes_together_with_the_last_bytes() {
    let replies = vec![Reply::with(200, "hel", Framing::UntilClose, &[]); 100];
    let played = play_with(replies, |options| options.timeout = Duration::from_secs(60));
    assert_eq!(played.record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::BadBody, 100)]));
    assert!(played.record.failure_time.max_s.unwrap() < 60.0);
    let played = play(vec![Reply::with(200, BODY, Framing::UntilClose, &[]); 100]);
    assert_eq!((played.record.ledger.good, played.record.connections.opened), (100, 101));
}

#[test]
fn an_answer_that_stalls_in_the_head_or_in_a_chunk_is_a_timeout() {
    let head = Reply::raw("HTTP/1.1 200 OK\r\nContent-Le").then_hang();
    let chunk = Reply::with(200, BODY, Framing::Chunked(vec![2], vec![]), &[]).cut_by(9).then_hang();
    let played = play_with(vec![good(), head, chunk, good()], |options| options.timeout = Duration::from_millis(300));
    let ledger = &played.record.ledger;
    assert_eq!(ledger.failed_by_class, BTreeMap::from([(ErrorClass::Timeout, 2)]));
    assert_eq!((ledger.sent, ledger.good, played.record.connections.opened), (5, 2, 3));
}

#[test]
fn an_answer_that_is_only_slow_is_good() {
    let slow = Reply::raw("HTTP/1.1 200 OK\r\n")
        .joined_with(Reply::raw("Content-Length: 5\r\n\r\nhe").after(Duration::from_millis(30)))
        .joined_with(Reply::raw("llo").after(Duration::from_millis(30)));
    let played = play(vec![good(), slow, good()]);
    assert_eq!((played.record.ledger.good, played.record.connections.opened), (3, 1));
    assert!(played.record.response_time.max_s.unwrap() >= 0.06);
}

#[test]
fn interim_answers_without_end() {
    let early = "HTTP/1.1 103 Early Hints\r\n\r\n";
    check_good(good().preceded_by(early.repeat(32)), 1);
    check(good().preceded_by(early.repeat(33)), ErrorClass::Malformed, "more than 32 interim answers");
    check(Reply::raw(early.repeat(10_000)).then_hang(), ErrorClass::Malformed, "interim");
    check(Reply::raw(early).then_close(), ErrorClass::Closed, "inside the answer");
    check(Reply::raw("HTTP/1.1 101 Switching Protocols\r\n\r\n").then_hang(), ErrorClass::Malformed, "protocol");
}

#[test]
fn a_head_without_end() {
    let head = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(4 << 20));
    check(Reply::raw(head).then_hang(), ErrorClass::Malformed, "");
}

#[test]
fn a_length_that_is_none() {
    for length in ["-1", "5, 6", "0x5", "99999999999999999999999", ""] {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nhello");
        check(Reply::raw(answer).then_hang(), ErrorClass::Malformed, "");
    }
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nhello";
    check(Reply::raw(chunks).then_hang(), ErrorClass::Malformed, "");
}

#[test]
fn a_wrong_length_too_short_for_the_body() {
    check(Reply::with(200, BODY, Framing::WrongLength(-2), &[]), ErrorClass::BadBody, "3 bytes announced, 5 expected");
}

#[test]
fn a_wrong_length_too_long_for_the_body() {
    check(Reply::with(200, BODY, Framing::WrongLength(2), &[]), ErrorClass::BadBody, "7 bytes announced, 5 expected");
}

#[test]
fn a_body_that_ends_early_at_the_end_of_the_stream() {
    check(Reply::with(200, "hel", Framing::UntilClose, &[]), ErrorClass::BadBody, "after 3 of 5 bytes");
}

#[test]
fn a_body_in_which_one_byte_is_wrong() {
    check(Reply::ok("hellO"), ErrorClass::BadBody, "from byte 4 on");
    check(Reply::with(200, "hEllo", Framing::Chunked(vec![3], vec![]), &[]), ErrorClass::BadBody, "from byte 1 on");
}

#[test]
fn a_status_that_is_not_the_expected_one_costs_no_connection() {
    let status = |reply, connections| check_connections(reply, ErrorClass::BadStatus, "status 503", connections);
    status(Reply::status(503), 1);
    status(Reply::with(503, "sorry", Framing::Chunked(vec![2], vec![]), &[]), 1);
    status(Reply::with(503, "until the end", Framing::UntilClose, &[]), 2);
}

#[test]
fn garbage() {
    check(Reply::raw(vec![0u8; 100_000]).then_hang(), ErrorClass::Malformed, "does not begin with HTTP/1.");
    check(Reply::raw("HTTP/2 200 OK\r\n\r\n").then_hang(), ErrorClass::Malformed, "");
    check(Reply::raw("HTTP/1.1 2OO OK\r\n\r\n").then_hang(), ErrorClass::Malformed, "");
    check(Reply::raw("220 mail.example ESMTP\r\n"), ErrorClass::Malformed, "does not begin with HTTP/1.");
}

#[test]
fn bytes_that_nobody_asked_for() {
    check(good().followed_by("X"), ErrorClass::Malformed, "bytes after the answer");
    check(good().followed_by("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), ErrorClass::Malformed, "after");
}

#[test]
fn an_answer_that_never_comes_is_a_timeout() {
    let replies = vec![good(), Reply::never(), good().cut_by(1).then_hang(), good()];
    let played = play_with(replies, |options| options.timeout = Duration::from_secs(1));
    let ledger = &played.record.ledger;
    assert_eq!(ledger.failed_by_class, BTreeMap::from([(ErrorClass::Timeout, 2)]));
    assert_eq!((ledger.sent, ledger.good, ledger.in_flight_at_end), (5, 2, 1));
    assert_eq!(played.record.connections.opened, 3);
    assert!(played.record.failure_time.min_s.unwrap() >= 1.0);
}

#[test]
fn faults_of_many_classes_are_counted_each_in_its_own() {
    let faults = [Reply::close(), Reply::reset(), Reply::status(500), Reply::ok("wrong"), Reply::raw("?")];
    let replies = (0..25).map(|number| if number % 2 == 0 { good() } else { faults[number / 2 % 5].clone() }).collect();
    let played = play(replies);
    let ledger = &played.record.ledger;
    use ErrorClass::{BadBody, BadStatus, Closed, Malformed, Reset};
    let expected = [(Closed, 3), (Reset, 3), (BadStatus, 2), (BadBody, 2), (Malformed, 2)];
    assert_eq!(ledger.failed_by_class, BTreeMap::from(expected));
    assert_eq!((ledger.sent, ledger.good, ledger.failed), (26, 13, 12));
    assert_eq!(played.record.error_examples.len(), 5);
    // Each fault costs a connection, except the two wrong statuses.
    assert_eq!(played.record.connections.opened, 11);
}

#[test]
fn connections_that_never_bring_an_answer_are_counted_and_not_hammered() {
    // Between the five failures are at least 10 + 20 + 40 + 80 ms of pauses, on any machine.
    let played = play(vec![Reply::close(), Reply::reset(), Reply::raw("?"), Reply::close(), good()]);
    let connections = &played.record.connections;
    assert_eq!((connections.opened, connections.never_answered), (5, 4));
    assert!(played.record.window_s >= 0.150, "{}", played.record.window_s);
    assert_eq!((played.record.ledger.good, played.record.ledger.failed), (1, 4));
}

#[test]
fn a_wrong_answer_is_an_answer_and_brings_no_pause() {
    let played = play(vec![Reply::status(500); 200]);
    assert_eq!((played.record.connections.opened, played.record.connections.never_answered), (1, 0));
    assert_eq!(played.record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::BadStatus, 200)]));
}

#[test]
fn nothing_answered_at_all_is_a_record_that_says_so() {
    let played = play_script(|request| (request.number < 3).then(Reply::close), 3, |_| {});
    let record = &played.record;
    assert_eq!((record.ledger.good, record.goodput_rps), (0, Some(0.0)));
    assert_eq!((record.response_time.count, record.response_time.max_s), (0, None));
    assert!(record.response_time.percentiles.iter().all(|percentile| percentile.latency_s.is_none()));
    assert_eq!(record.connections.never_answered, record.connections.opened);
}

#[test]
fn a_target_that_cannot_be_reached_at_the_start_is_an_error_that_says_what_to_check() {
    let mut server = tolok_testkit::ScriptedServer::answering(BODY);
    let options = options(&server);
    server.stop();
    let error = tolok_load::run(&options, &Default::default(), &mut |_| {}).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&server.address().to_string()) && text.contains("check that the server"), "{text}");
}

#[test]
fn a_target_that_dies_in_the_run_is_a_record_of_refused_connections() {
    let mut server = tolok_testkit::ScriptedServer::answering(BODY);
    let mut options = options(&server);
    let window = Duration::from_millis(1_400);
    options.executor = tolok_load::options::Executor::ConstantVus { vus: 2, duration: window };
    let record = tolok_load::run(&options, &Default::default(), &mut |event| {
        if let tolok_load::event::Event::Second(_) = event {
            server.stop();
        }
    })
    .unwrap();
    check_account(&record);
    let refused = record.ledger.failed_by_class[&ErrorClass::Connect];
    // Two users have 0.4 s for pauses of 10, 20, 40, 80, 160 and 320 ms: at most 12 attempts, including the first.
    assert!((1..=12).contains(&refused), "{refused}");
    assert_eq!(record.connections.failed, refused);
    assert!(record.ledger.good > 0 && !record.interrupted);
}

#[test]
fn a_server_that_falls_silent_for_good_is_not_one_that_is_slow() {
    let server = ScriptedServer::start(|request| if request.number < 20 { good() } else { Reply::never() });
    let mut options = options(&server);
    options.executor = Executor::ConstantVus { vus: 2, duration: Duration::from_millis(1_200) };
    let record = tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap();
    check_account(&record);
    assert_eq!(record.ledger.good, 20);
    let gates: Vec<Gate> = record.verdict.reasons.iter().map(|reason| reason.gate).collect();
    assert!(gates.contains(&Gate::Silent), "{gates:?}");
}
