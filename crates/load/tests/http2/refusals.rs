//! Errors that keep a run from starting.

use tolok_load::options::{ExpectBody, Options, Protocol};
use tolok_testkit::{Http2Server, Reply, ScriptedServer};

use crate::stage::{good, options, refusal};

const HTTP2: Protocol = Protocol::Http2 { streams_per_connection: 1 };

#[test]
fn a_target_that_speaks_http1_only_is_refused_in_one_sentence() {
    let server = ScriptedServer::start(|_| Reply::raw("HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n").then_close());
    let mut options = Options::new(&server.url("/")).unwrap();
    options.protocol = HTTP2;
    let refused = refusal(&options);
    let reason = "it answers `HTTP/1.1 505 HTTP Version Not Supported`; leave out --http2 if it speaks HTTP/1.1 only";
    assert!(refused.starts_with("agree on HTTP/2 with the target at 127.0.0.1:"), "{refused}");
    assert!(refused.ends_with(reason), "{refused}");
}

#[test]
fn a_target_that_says_nothing_is_given_up_in_time() {
    let server = ScriptedServer::start(|_| Reply::never());
    let mut options = Options::new(&server.url("/")).unwrap();
    options.protocol = HTTP2;
    options.connect_timeout = std::time::Duration::from_millis(200);
    let refused = refusal(&options);
    assert!(refused.ends_with(": no word of HTTP/2 within 0.2 s"), "{refused}");
}

#[test]
fn options_that_cannot_mean_anything_are_refused() {
    let server = Http2Server::start(|_| good());
    let check = |change: fn(&mut Options), reason: &str| {
        let mut options = options(&server, 1, 1, 1);
        change(&mut options);
        let refused = refusal(&options);
        assert!(refused.contains(reason), "{refused}");
    };
    check(|options| options.protocol = Protocol::Http2 { streams_per_connection: 0 }, "at least 1 request");
    check(|options| options.pace.read_bytes_per_s = Some(1), "several requests share a connection");
    check(|options| options.pace.write_bytes_per_s = Some(1), "several requests share a connection");
    check(
        |options| options.requests[0].expect.body = ExpectBody::Discard { length: None },
        "other bytes come behind a body",
    );
    check(|options| options.requests[0].headers.push(("Keep-Alive".into(), "1".into())), "is about the connection");
    assert_eq!(server.requests(), 0);
}
