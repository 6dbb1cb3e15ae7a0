//! Correct and wrong responses.

use std::sync::Arc;

use tolok_load::fault::ErrorClass;
use tolok_load::options::{Capture, Data, DataOrder, ExpectBody, Method, Mix, Request};
use tolok_testkit::{Act, Http2Server};

use crate::stage::{failures, good, options, play, words};

#[test]
fn every_request_is_answered_and_accounted_for() {
    let server = Http2Server::start(|_| good());
    let record = play(&options(&server, 4, 2, 500));
    assert_eq!((record.ledger.sent, record.ledger.good, record.ledger.failed), (500, 500, 0));
    assert_eq!((record.connections.opened, record.connections.never_answered), (2, 0));
    assert_eq!((server.connections(), server.requests()), (2, 500));
    assert_eq!((record.connect_time.count, record.time_to_first_byte.count), (2, 500));
    assert_eq!(record.whole_run.sent, 500);
    // A frame adds nine bytes to the five of the body; heads come on top.
    assert!(record.received_bytes > 500 * 14, "{}", record.received_bytes);
    assert!(record.sent_bytes > 500 * 9, "{}", record.sent_bytes);
}

#[test]
fn a_large_body_comes_in_pieces_through_windows_that_are_opened_again() {
    let body: Vec<u8> = (0..5_000_000_u32).map(|number| (number % 251) as u8).collect();
    let answer = Act::Answer(200, body.clone().into());
    let server = Http2Server::start(move |_| answer.clone());
    let mut options = options(&server, 4, 4, 12);
    options.requests[0].expect.body = ExpectBody::Exactly(body.into());
    let record = play(&options);
    assert_eq!((record.ledger.good, record.connections.opened), (12, 1));
    assert!(record.received_bytes > 60_000_000);
}

#[test]
fn a_wrong_body_fails_its_request_and_not_its_connection() {
    let server = Http2Server::start(|request| match request.number {
        3 => Act::Answer(200, "help!".into()),
        5 => Act::Answer(200, "longer than hello".into()),
        _ => good(),
    });
    let record = play(&options(&server, 1, 1, 10));
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (8, &failures([(ErrorClass::BadBody, 2)])));
    assert_eq!(words(&record, ErrorClass::BadBody), {
        "the body is not the expected one: it differs from byte 3 on; expected `hello`, got `help!`"
    });
    assert_eq!((record.connections.opened, server.connections()), (1, 1));
}

#[test]
fn a_wrong_status_is_read_to_its_end() {
    let server = Http2Server::start(|request| match request.number {
        2 => Act::Answer(503, "come back later".into()),
        4 => Act::Answer(404, "".into()),
        _ => good(),
    });
    let record = play(&options(&server, 1, 1, 6));
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (4, &failures([(ErrorClass::BadStatus, 2)])));
    assert_eq!(record.connections.opened, 1);
}

#[test]
fn methods_bodies_and_sequences_are_what_they_are_with_http1() {
    let server = Http2Server::start(|request| match (request.line.as_str(), request.body_bytes) {
        ("HEAD /head", 0) | ("POST /post", 100_000) | ("PUT /put", 0) => Act::Answer(200, "".into()),
        _ => Act::Answer(400, "".into()),
    });
    let request = |method, path: &str| Request { method, ..Request::get(path) };
    let mut options = options(&server, 1, 1, 5);
    options.mix = Mix::Sequence;
    options.requests = vec![
        request(Method::Head, "/head"),
        Request { body: vec![b'x'; 100_000], ..request(Method::Post, "/post") },
        request(Method::Put, "/put"),
    ];
    let record = play(&options);
    assert_eq!((record.ledger.sent, record.ledger.good), (15, 15));
}

#[test]
fn places_are_filled_with_rows_and_captured_values_as_with_http1() {
    let server = Http2Server::start(|request| match request.line.as_str() {
        "GET /login/a%2F1" => Act::Answer(200, "{\"token\":\"one two\"}".into()),
        "GET /me/one%20two" => Act::Answer(200, "[]".into()),
        _ => Act::Answer(400, "".into()),
    });
    let mut options = options(&server, 2, 2, 5);
    let values = vec!["a/1".into()];
    options.data = Some(Arc::new(Data { columns: vec!["id".to_owned()], values, order: DataOrder::Random }));
    options.mix = Mix::Sequence;
    let captures = vec![Capture { name: "token".to_owned(), pointer: "/token".to_owned() }];
    options.requests = vec![Request { captures, ..Request::get("/login/{{id}}") }, Request::get("/me/{{token}}")];
    let record = play(&options);
    assert_eq!((record.ledger.sent, record.ledger.good), (10, 10));
}

/// The longest possible path of an HTTP/2 request is 64 KiB here.
#[test]
fn a_value_too_long_for_a_path_fails_its_requests_and_no_others() {
    let server = Http2Server::start(|_| good());
    let mut options = options(&server, 1, 1, 6);
    let values = vec!["1".into(), "x".repeat(70_000).into()];
    options.data = Some(Arc::new(Data { columns: vec!["id".to_owned()], values, order: DataOrder::InOrder }));
    options.requests = vec![Request::get("/{{id}}")];
    let record = play(&options);
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (3, &failures([(ErrorClass::Local, 3)])));
}

#[test]
fn a_socket_in_the_file_system_is_a_target_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let server = Http2Server::on_unix_socket(&path, |_| good());
    let mut options = options(&server, 2, 2, 20);
    options.generator.unix_socket = Some(path);
    let record = play(&options);
    assert_eq!((record.ledger.good, record.connections.opened), (20, 1));
}
