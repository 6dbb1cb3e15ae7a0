//! Streams and connections that fail.

use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_testkit::{Act, Http2Server};

use crate::stage::{failures, good, options, play, words};

const REFUSED_STREAM: u32 = 7;
const ENHANCE_YOUR_CALM: u32 = 11;

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let server = Http2Server::start(|request| match request.number {
        4 => Act::Reset(REFUSED_STREAM),
        _ => good(),
    });
    let record = play(&options(&server, 2, 2, 20));
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (19, &failures([(ErrorClass::Reset, 1)])));
    assert_eq!(words(&record, ErrorClass::Reset), "the target reset the stream with the HTTP/2 error REFUSED_STREAM");
    assert_eq!((record.connections.opened, server.connections()), (1, 1));
}

#[test]
fn a_truncated_answer_is_a_failure() {
    let server = Http2Server::start(|request| match request.number {
        1 => Act::AnswerHalf("hello".into(), 2),
        _ => good(),
    });
    let mut options = options(&server, 1, 1, 5);
    options.requests[0].expect.body = tolok_load::options::ExpectBody::Anything;
    let record = play(&options);
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (4, &failures([(ErrorClass::Reset, 1)])));
    assert_eq!(record.connections.opened, 1);
}

#[test]
fn a_request_without_an_answer_times_out_and_the_others_go_on() {
    let server = Http2Server::start(|request| match request.number {
        2 | 5 => Act::Silence,
        _ => good(),
    });
    let mut options = options(&server, 2, 2, 40);
    options.timeout = Duration::from_millis(300);
    let record = play(&options);
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (38, &failures([(ErrorClass::Timeout, 2)])));
    assert_eq!((record.connections.opened, server.connections(), server.requests()), (1, 1, 40));
}

#[test]
fn a_connection_that_dies_takes_its_requests_along_and_the_next_ones_have_another() {
    let server = Http2Server::start(|request| match request.number {
        6 => Act::Die("he".into()),
        _ => good(),
    });
    let mut options = options(&server, 1, 1, 20);
    options.requests[0].expect.body = tolok_load::options::ExpectBody::Anything;
    let record = play(&options);
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (19, &failures([(ErrorClass::Closed, 1)])));
    assert_eq!(words(&record, ErrorClass::Closed), "the target closed the connection inside the answer");
    assert_eq!((record.connections.opened, server.connections()), (2, 2));
}

#[test]
fn a_connection_that_is_given_up_in_anger_says_why() {
    let server = Http2Server::start(|request| match request.number {
        3 => Act::GoAway(ENHANCE_YOUR_CALM),
        _ => good(),
    });
    let record = play(&options(&server, 1, 1, 10));
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (9, &failures([(ErrorClass::Closed, 1)])));
    assert_eq!(
        words(&record, ErrorClass::Closed),
        "the target gave the connection up (GOAWAY) with the HTTP/2 error ENHANCE_YOUR_CALM"
    );
    assert_eq!(record.connections.opened, 2);
}

#[test]
fn a_target_that_resets_every_stream_fails_every_request_and_no_more() {
    let server = Http2Server::start(|_| Act::Reset(REFUSED_STREAM));
    let record = play(&options(&server, 2, 2, 12));
    assert_eq!((record.ledger.good, &record.ledger.failed_by_class), (0, &failures([(ErrorClass::Reset, 12)])));
    assert_eq!((record.connections.opened, record.connections.never_answered), (1, 1));
}
