//! Requests and answers on connections after a successful handshake.

use std::collections::BTreeMap;
use std::time::Duration;

use rustls::version::{TLS12, TLS13};
use tolok_load::fault::ErrorClass;
use tolok_load::options::{ConnectionPolicy, ExpectBody, Method, Options, ThinkTime};
use tolok_load::record::Record;

use crate::certificates::Certificates;
use crate::server::{Act, Conduct, TlsServer, answer, answer_until_close, play};

/// As long as the large-answer workload's image, and aperiodic, so a shift would be detected.
fn large_body() -> Vec<u8> {
    (0..546_816u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn check_good(record: &Record, good: u64, connections: u64) {
    assert_eq!((record.ledger.good, record.ledger.failed), (good, 0), "{:?}", record.error_examples);
    assert_eq!(record.connections.opened, connections);
    assert_eq!(record.connect_time.count, connections);
}

#[test]
fn a_connection_is_kept() {
    for version in [&TLS12, &TLS13] {
        let serve = |_| Conduct::Serve(Act::Answer(answer(b"hello")));
        let server = TlsServer::start(Certificates::issued(), &[version], serve);
        let mut options = server.options(500);
        options.requests[0].expect.body = ExpectBody::Exactly(b"hello".as_slice().into());
        let record = play(&options);
        check_good(&record, 500, 1);
        assert_eq!((server.connections(), server.requests()), (1, 500));
        // Counts HTTP bytes, not those that TLS adds.
        assert_eq!(record.received_bytes, 500 * answer(b"hello").len() as u64);
    }
}

#[test]
fn a_connection_for_each_request() {
    for version in [&TLS12, &TLS13] {
        let serve = |_| {
            Conduct::Serve(Act::AnswerAndClose(
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok".to_vec(),
            ))
        };
        let server = TlsServer::start(Certificates::issued(), &[version], serve);
        let mut options = server.options(50);
        options.connection = ConnectionPolicy::PerRequest;
        let record = play(&options);
        check_good(&record, 50, 50);
        assert_eq!(server.connections(), 50);
        assert_eq!(record.connections.not_closed_by_target, 0);
    }
}

#[test]
fn a_large_body_arrives_as_it_was_sent() {
    let server = TlsServer::serving(Act::Answer(answer(&large_body())));
    let mut options = server.options(20);
    options.requests[0].expect.body = ExpectBody::Exactly(large_body().into());
    check_good(&play(&options), 20, 1);
}

#[test]
fn a_body_that_nobody_looks_at_is_read_and_dropped() {
    let server = TlsServer::serving(Act::Answer(answer(&large_body())));
    let mut options = server.options(20);
    options.requests[0].expect.body = ExpectBody::Discard { length: Some(546_816) };
    check_good(&play(&options), 20, 1);
}

#[test]
fn a_large_request_is_sent_as_a_whole() {
    let server = TlsServer::serving(Act::Answer(answer(b"ok")));
    let mut options = server.options(5);
    options.requests[0].method = Method::Post;
    options.requests[0].body = vec![b'x'; 3_000_000];
    let record = play(&options);
    check_good(&record, 5, 1);
    assert!(record.sent_bytes > 15_000_000, "{}", record.sent_bytes);
}

#[test]
fn readers_and_writers_by_the_clock() {
    let server = TlsServer::serving(Act::Answer(answer(&large_body()[..60_000])));
    let mut options = server.options(2);
    options.pace.read_bytes_per_s = Some(1_000_000);
    options.pace.write_bytes_per_s = Some(1_000);
    options.requests[0].expect.body = ExpectBody::Exactly(large_body()[..60_000].into());
    let record = play(&options);
    check_good(&record, 2, 1);
    // 60 kB plus TLS overhead, at 50 kB every 50 ms.
    assert!(record.service_time.min_s.unwrap() >= 0.05, "{:?}", record.service_time.min_s);
}

#[test]
fn what_tls_says_between_two_answers_does_no_harm() {
    let serve = |_| Conduct::Serve(Act::AnswerAndChangeKeys(answer(b"hello")));
    let server = TlsServer::start(Certificates::issued(), &[&TLS13], serve);
    let mut options = server.options(20);
    let pause = Duration::from_millis(2);
    options.think_time = ThinkTime { least: pause, most: pause };
    check_good(&play(&options), 20, 1);
}

#[test]
fn a_body_that_ends_with_the_stream_is_good_if_the_stream_ends_as_it_should() {
    for act in [Act::AnswerAndClose, Act::AnswerAndSayClose] {
        let server = TlsServer::serving(act(answer_until_close("hello")));
        check_good(&play(&hello(&server)), 4, 4);
    }
}

#[test]
fn a_body_that_ends_with_the_stream_may_be_cut_off_if_the_stream_just_ends() {
    let server = TlsServer::serving(Act::AnswerAndCut(answer_until_close("hello")));
    let record = play(&hello(&server));
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::Closed, 4)]));
    assert!(record.error_examples[0].text.contains("without TLS's close_notify"), "{:?}", record.error_examples);
}

#[test]
fn an_answer_that_is_complete_needs_no_word_at_the_end() {
    let server = TlsServer::serving(Act::AnswerAndCut(answer(b"hello")));
    let record = play(&hello(&server));
    assert_eq!(record.ledger.failed_by_class.get(&ErrorClass::Tls), None);
    assert!(record.ledger.good > 0, "{:?}", record.error_examples);
}

fn hello(server: &TlsServer) -> Options {
    let mut options = server.options(4);
    options.requests[0].expect.body = ExpectBody::Exactly(b"hello".as_slice().into());
    options
}
