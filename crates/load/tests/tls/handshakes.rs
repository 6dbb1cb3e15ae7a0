//! Handshakes that fail during a run: each costs its request, and the run goes on.

use std::collections::BTreeMap;
use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_load::options::Protocol;

use crate::certificates::Certificates;
use crate::server::{Act, Conduct, TlsServer, answer, play, refusal};

/// The first connection of the run fails; the initial probe and later connections succeed.
fn check(conduct: Conduct, class: ErrorClass, text: &str) {
    let script = move |number| match number {
        1 => conduct.clone(),
        _ => Conduct::Serve(Act::Answer(answer(b"hello"))),
    };
    let server = TlsServer::start(Certificates::issued(), rustls::DEFAULT_VERSIONS, script);
    let mut options = server.options(4);
    options.connect_timeout = Duration::from_millis(500);
    let record = play(&options);
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from([(class, 1)]), "{:?}", record.error_examples);
    assert_eq!((record.ledger.good, record.connections.opened, record.connections.failed), (3, 1, 1));
    assert!(record.error_examples[0].text.contains(text), "{:?}", record.error_examples);
}

/// The initial probe fails.
fn check_refused(conduct: Conduct, text: &str) {
    let script = move |_| conduct.clone();
    let server = TlsServer::start(Certificates::issued(), rustls::DEFAULT_VERSIONS, script);
    let mut options = server.options(4);
    options.connect_timeout = Duration::from_millis(200);
    let refusal = refusal(&options);
    assert!(refusal.contains(text), "{refusal}");
}

#[test]
fn a_target_that_speaks_no_http2_says_so() {
    // It supports HTTP/1.1 only, and gives up when it is offered only HTTP/2.
    let server = TlsServer::serving(Act::Answer(answer(b"hello")));
    let mut options = server.options(4);
    options.protocol = Protocol::Http2 { streams_per_connection: 1 };
    let refusal = refusal(&options);
    assert!(refusal.starts_with("agree on TLS with the target at 127.0.0.1:"), "{refusal}");
    assert!(refusal.ends_with("; leave out --http2 if it speaks HTTP/1.1 only"), "{refusal}");
}

#[test]
fn the_target_hangs_up() {
    check(Conduct::HangUp, ErrorClass::Tls, "closed the connection during the handshake");
    check_refused(Conduct::HangUp, "closed the connection during the handshake");
}

#[test]
fn the_target_speaks_something_else() {
    let plain = Conduct::Say(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    check(plain.clone(), ErrorClass::Tls, "is no TLS");
    check_refused(plain, "begin the URL with http://");
}

#[test]
fn the_target_gives_up_with_an_alert() {
    // A fatal alert, number 40.
    let alert = Conduct::Say(&[21, 3, 3, 0, 2, 2, 40]);
    check(alert.clone(), ErrorClass::Tls, "HandshakeFailure");
    check_refused(alert, "HandshakeFailure");
}

#[test]
fn the_target_ends_in_the_middle_of_a_record() {
    check(Conduct::Say(&[22, 3, 3, 0, 100, 2, 0]), ErrorClass::Tls, "closed the connection during the handshake");
}

#[test]
fn the_target_is_silent() {
    check(Conduct::Silence, ErrorClass::ConnectTimeout, "within the connect timeout");
    check_refused(Conduct::Silence, "no handshake within 0.2 s");
}
