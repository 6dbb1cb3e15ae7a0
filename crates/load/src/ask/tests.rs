//! Answers of a scripted server, and how they are judged.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tolok_testkit::{Act, Framing, Http2Server, Reply, ScriptedServer};

use super::*;
use crate::options::ExpectBody;

/// Nothing here takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Long enough for a server in the same process to answer, if it answered at all.
const SHORT: Duration = Duration::from_millis(200);

fn ask_for(reply: Reply, method: &str, patience: Duration) -> Result<Answer, ProbeError> {
    let server = ScriptedServer::start(move |_| reply.clone());
    ask(ProbeTarget::directly(server.address()), Question::plain(method, "/hello"), patience)
}

fn body_of(reply: Reply) -> String {
    let answer = ask_for(reply, "GET", PATIENCE).unwrap();
    assert_eq!(answer.status, 200);
    String::from_utf8(answer.body).unwrap()
}

fn error_of(reply: Reply, patience: Duration) -> String {
    ask_for(reply, "GET", patience).unwrap_err().to_string()
}

/// The same body in every framing that HTTP/1.1 has.
fn framed() -> [Reply; 4] {
    [
        Reply::ok("hello"),
        Reply::with(200, "hello", Framing::Chunked(vec![3], vec![]), &[]),
        Reply::with(200, "hello", Framing::Chunked(vec![1, 2], vec!["Trailer: x", "Other: y"]), &[]),
        Reply::with(200, "hello", Framing::UntilClose, &[]),
    ]
}

#[test]
fn every_framing_gives_the_same_body() {
    for reply in framed() {
        assert_eq!(body_of(reply.clone()), "hello", "{reply:?}");
        assert_eq!(body_of(reply.clone().dribbled()), "hello", "byte by byte: {reply:?}");
    }
}

#[test]
fn a_whole_answer_is_taken_although_the_connection_stays_open() {
    let [length, chunked, trailers, _] = framed();
    for reply in [length, chunked, trailers] {
        // The server keeps the connection open until this side closes it. So waiting for the end would use up all the time.
        assert_eq!(body_of(reply.then_hang()), "hello");
    }
}

#[test]
fn an_empty_body_is_a_body() {
    assert_eq!(body_of(Reply::ok("")), "");
    assert_eq!(body_of(Reply::with(200, "", Framing::Chunked(vec![], vec![]), &[])), "");
    assert_eq!(body_of(Reply::with(200, "", Framing::UntilClose, &[])), "");
}

#[test]
fn a_large_answer_comes_whole() {
    let body = "0123456789".repeat(60_000);
    assert_eq!(body_of(Reply::ok(&body)), body);
    assert_eq!(body_of(Reply::with(200, &body, Framing::Chunked(vec![40_000], vec![]), &[])), body);
}

#[test]
fn the_answer_to_head_ends_with_its_head() {
    let reply = Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Y:  z \r\n\r\n").then_hang();
    let answer = ask_for(reply, "HEAD", PATIENCE).unwrap();
    assert_eq!((answer.status, answer.header("x-y"), answer.body.as_slice()), (200, Some("z"), &b""[..]));
}

#[test]
fn the_request_says_what_is_asked() {
    let server = ScriptedServer::start(|request| Reply::ok(&request.head));
    let address = server.address();
    let answer = ask(ProbeTarget::directly(address), Question::plain("GET", "/json"), PATIENCE).unwrap();
    let expect = format!("GET /json HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    assert_eq!(String::from_utf8(answer.body).unwrap(), expect);
}

#[test]
fn a_server_of_another_network_is_asked_through_the_connection_that_is_handed_in() {
    let server = ScriptedServer::start(|request| Reply::ok(&request.head));
    let connect = |asked: SocketAddr, patience: Duration| {
        assert_eq!((asked, patience), ("198.18.0.2:80".parse().unwrap(), PATIENCE));
        TcpStream::connect(server.address())
    };
    let address = "198.18.0.2:80".parse().unwrap();
    let asked = ProbeTarget { address, connect: &connect, speech: Speech::default() };
    let answer = ask(asked, Question::plain("GET", "/json"), PATIENCE).unwrap();
    assert!(String::from_utf8(answer.body).unwrap().contains("\r\nHost: 198.18.0.2:80\r\n"));

    let no_way = |_: SocketAddr, _: Duration| Err(io::Error::other("no socket was handed over"));
    let error = ask(ProbeTarget { connect: &no_way, ..asked }, Question::plain("GET", "/json"), PATIENCE).unwrap_err();
    assert_eq!(error.to_string(), "no socket was handed over");
}

#[test]
fn a_slow_answer_is_waited_for_and_a_silent_server_is_not() {
    assert_eq!(body_of(Reply::ok("hello").after(Duration::from_millis(300))), "hello");
    assert_eq!(error_of(Reply::never(), SHORT), "no complete response within 0.2 s");
    assert_eq!(error_of(Reply::ok("hello").cut_by(2).then_hang(), SHORT), "no complete response within 0.2 s");
}

#[test]
fn an_answer_that_is_not_wanted_any_more_is_not_waited_for() {
    let server = ScriptedServer::start(|_| Reply::never());
    let asked = ask_while(ProbeTarget::directly(server.address()), Question::plain("GET", "/hello"), PATIENCE, &|| {
        server.requests() == 0
    });
    assert!(matches!(asked, Err(ProbeError::Silent { .. })), "{asked:?}");
}

#[test]
fn a_server_that_closes_early_has_not_answered() {
    let check = |reply, received| {
        let expect = format!("the connection was closed after {received} bytes, before the answer was whole");
        assert_eq!(error_of(reply, PATIENCE), expect);
    };
    check(Reply::close(), 0);
    check(Reply::raw("HTTP/1.1 200 O").then_close(), 14);
    let length = "HTTP/1.1 200 Scripted\r\nContent-Length: 5\r\n\r\nhel".len();
    check(Reply::ok("hello").cut_by(2).then_close(), length);
    let chunked = "HTTP/1.1 200 Scripted\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n".len();
    check(Reply::with(200, "hello", Framing::Chunked(vec![], vec![]), &[]).cut_by(2).then_close(), chunked);
    assert!(error_of(Reply::reset(), PATIENCE).contains("reset"));
}

#[test]
fn where_nobody_listens_the_connection_is_refused() {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    // Bound but never listening, so no other process can get the port meanwhile.
    let bound = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&bound, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = SocketAddr::try_from(getsockname(&bound).unwrap()).unwrap();
    let refused = ask(ProbeTarget::directly(address), Question::plain("GET", "/hello"), PATIENCE).unwrap_err();
    assert_eq!(refused.to_string(), "Connection refused (os error 111)");
}

#[test]
fn what_is_not_http_is_told_at_once() {
    let check = |reply: Reply, what: &str| {
        // Nothing is closed, so the error cannot come from the end of the connection.
        let expect = format!("the answer is not HTTP/1.1: {what}");
        assert_eq!(error_of(reply.then_hang(), PATIENCE), expect);
    };
    check(Reply::raw("SSH-2.0-OpenSSH\r\n"), "no status line");
    check(Reply::raw("HTTP/2 200 OK\r\n\r\n"), "no status line");
    check(Reply::raw("HTTP/1.1 fine\r\n\r\n"), "the status line has no status of three digits");
    check(Reply::raw("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello"), "Content-Length is not a number");
    check(Reply::ok("hello").followed_by("more"), "more bytes than announced");
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    check(Reply::raw(format!("{chunk}five\r\nhello\r\n")), "a chunk size is not a hexadecimal number");
    check(Reply::raw(format!("{chunk}2\r\nhello\r\n")), "chunk data goes on after its size");
}

#[test]
fn a_request_says_what_its_body_is_and_what_it_accepts() {
    let question = Question {
        method: "POST",
        path: "/validate",
        body: Some(("application/json", b"{}")),
        gzip: true,
        headers: &[],
    };
    let expect = "POST /validate HTTP/1.1\r\nHost: here\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\
                  Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(String::from_utf8(question.bytes("here")).unwrap(), expect);
    let plain = String::from_utf8(Question::plain("GET", "/hello").bytes("here")).unwrap();
    assert_eq!(plain, "GET /hello HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
}

#[test]
fn asked_in_line_it_is_said_how_many_answers_were_right() {
    let right = |script: fn(usize) -> Reply| {
        let server = ScriptedServer::start(move |request| script(request.number));
        let mut request = Request::get("/hello");
        request.expect.body = ExpectBody::Exactly(b"hello".as_slice().into());
        ask_in_line(ProbeTarget::directly(server.address()), &request, 16, PATIENCE).unwrap()
    };
    assert_eq!(right(|_| Reply::ok("hello")), None);
    assert_eq!(right(|number| if number < 3 { Reply::ok("hello") } else { Reply::close() }), Some(3));
    assert_eq!(right(|number| Reply::ok(if number == 7 { "hullo" } else { "hello" })), Some(7));
    assert_eq!(right(|_| Reply::ok_and_close("hello")), Some(1));
}

/// Settings of a server that offers these protocols and signs its own certificate.
fn tls(protocols: &[&str]) -> ServerConfig {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    config
}

/// Asks an HTTP/2 server, with a body, for an answer of several flow-control windows.
fn ask_over_http2(config: Option<ServerConfig>, act: Act, patience: Duration) -> Result<Answer, ProbeError> {
    let is_encrypted = config.is_some();
    let server = Http2Server::with(u32::MAX, config, move |request| match request.body_bytes {
        5 => act.clone(),
        bytes => Act::Answer(400, format!("{} with {bytes} bytes", request.line).into_bytes().into()),
    });
    let speech = Speech { tls: is_encrypted, http2: true };
    let asked = ProbeTarget { speech, ..ProbeTarget::directly(server.address.unwrap()) };
    ask(
        asked,
        Question { method: "POST", path: "/json?n=1", body: Some(("text/plain", b"hello")), gzip: false, headers: &[] },
        patience,
    )
}

#[test]
fn over_http2_the_whole_answer_comes_with_tls_and_without() {
    let body = "0123456789".repeat(300_000);
    for config in [None, Some(tls(&["h2"]))] {
        let answer = ask_over_http2(config, Act::Answer(201, body.clone().into()), PATIENCE).unwrap();
        assert_eq!((answer.status, answer.body.len()), (201, body.len()));
        assert_eq!(answer.header("content-length"), Some("3000000"));
    }
}

#[test]
fn over_http2_a_server_is_silent_or_ends_or_does_not_choose_it() {
    let error = |config, act, patience| ask_over_http2(config, act, patience).unwrap_err().to_string();
    for config in [None, Some(tls(&["h2"]))] {
        assert_eq!(error(config, Act::Silence, SHORT), "no complete response within 0.2 s");
    }
    assert!(error(None, Act::Reset(8), PATIENCE).contains("stream error"), "it says what happened");
    assert!(ask_over_http2(None, Act::Die("half".into()), PATIENCE).is_err());
    let expect = "the server does not choose HTTP/2 in TLS's handshake (h2 by ALPN)";
    assert_eq!(error(Some(tls(&[])), Act::Silence, PATIENCE), expect);
}

#[test]
fn a_server_without_tls_is_no_server_with_it() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let speech = Speech { tls: true, http2: false };
    let asked = ProbeTarget { speech, ..ProbeTarget::directly(server.local_addr().unwrap()) };
    thread::spawn(move || {
        let mut client = server.accept().unwrap().0;
        // Real servers answer invalid requests as soon as they arrive.
        let _ = client.read(&mut [0; 1024]).unwrap();
        client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let error = ask(asked, Question::plain("GET", "/hello"), PATIENCE).unwrap_err().to_string();
    assert!(error.contains("corrupt message"), "{error}");
}
