//! The server as a process, driven by hand and by the load engine.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tolok_load::options::{ConnectionPolicy, Executor, ExpectBody, Options};

/// A running server. Dropping this stops it.
struct Ceiling {
    process: Child,
    /// Answers to the lines on its standard input.
    counts: BufReader<ChildStdout>,
    port: u16,
    assets: TempDir,
}

impl Ceiling {
    fn start(threads: u16) -> Ceiling {
        let assets = tempfile::tempdir().unwrap();
        fs::write(assets.path().join("hello"), "<h1>hello</h1>").unwrap();
        fs::write(assets.path().join("json"), r#"{"message":"Hello, World!"}"#).unwrap();
        let large: Vec<u8> = (0..546_816u32).map(|at| (at % 251) as u8).collect();
        fs::write(assets.path().join("file-534k.png"), large).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_ceiling"))
            .args(["--port", "0", "--counts", "--threads", &threads.to_string(), "--assets"])
            .arg(assets.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.split_once("127.0.0.1:").unwrap().1.split_once(',').unwrap().0.parse().unwrap();
        let counts = BufReader::new(process.stdout.take().unwrap());
        Ceiling { process, counts, port, assets }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Sends bytes, ends the stream, and returns everything that the server answers.
    fn talk(&self, request: &str) -> String {
        String::from_utf8_lossy(&self.answers_to(request)).into_owned()
    }

    fn answers_to(&self, request: &str) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }

    /// The whole answer whose body is sent from its file.
    fn large(&self, header: &str) -> Vec<u8> {
        let body = fs::read(self.assets.path().join("file-534k.png")).unwrap();
        [large_head(header).as_bytes(), &body].concat()
    }

    fn load(&self, name: &str, connection: ConnectionPolicy) -> tolok_load::record::Record {
        let mut options = Options::new(&format!("http://127.0.0.1:{}/{name}", self.port)).unwrap();
        options.executor = Executor::ConstantVus { vus: 4, duration: Duration::from_millis(300) };
        options.connection = connection;
        options.requests[0].expect.body = ExpectBody::Exactly(fs::read(self.assets.path().join(name)).unwrap().into());
        tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap()
    }
}

impl Drop for Ceiling {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\n\r\n<h1>hello</h1>";

fn large_head(header: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 546816\r\n{header}\r\n")
}

#[test]
fn requests_are_answered_by_the_contract() {
    let ceiling = Ceiling::start(1);
    let check = |request: &str, answer: &str| assert_eq!(ceiling.talk(request), answer, "{request:?}");
    check("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", HELLO);
    check("HEAD /hello HTTP/1.1\r\n\r\n", HELLO.strip_suffix("<h1>hello</h1>").unwrap());
    let closing = HELLO.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    check("GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n", &closing);
    check("GET /hello HTTP/1.0\r\n\r\n", &closing);
    let keeping = HELLO.replace("\r\n\r\n", "\r\nConnection: keep-alive\r\n\r\n");
    check("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &keeping);
    for (request, status) in [
        ("GET /nothing HTTP/1.1\r\n\r\n", "404 Not Found"),
        ("GET /quicksort HTTP/1.1\r\n\r\n", "404 Not Found"),
        ("POST /hello HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
        ("nonsense\r\n\r\n", "400 Bad Request"),
    ] {
        let answer = ceiling.talk(request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request:?}: {answer}");
    }
    assert!(ceiling.talk("POST /hello HTTP/1.1\r\n\r\n").contains("Allow: GET, HEAD\r\n"));
    assert!(!ceiling.talk("HEAD /nothing HTTP/1.1\r\n\r\n").ends_with("404 Not Found"));
}

#[test]
fn pipelined_requests_are_answered_in_order_however_many_and_however_cut() {
    let ceiling = Ceiling::start(1);
    let requests = "GET /hello HTTP/1.1\r\n\r\n".repeat(200);
    assert_eq!(ceiling.talk(&requests), HELLO.repeat(200));
    let mut stream = ceiling.connect();
    stream.set_nodelay(true).unwrap();
    for byte in "GET /hello HTTP/1.1\r\n\r\nGET /hello HTTP/1.1\r\n\r\n".bytes() {
        stream.write_all(&[byte]).unwrap();
    }
    let mut answers = vec![0; HELLO.len() * 2];
    stream.read_exact(&mut answers).unwrap();
    assert_eq!(String::from_utf8(answers).unwrap(), HELLO.repeat(2));
}

#[test]
fn a_head_without_end_is_refused() {
    let ceiling = Ceiling::start(1);
    let mut stream = ceiling.connect();
    // 16 KiB and one byte, so nothing is left unread when the server closes: that would reset the connection.
    stream.write_all(format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(16 * 1024 - 18)).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[test]
fn answers_that_do_not_fit_into_the_socket_arrive_whole_though_read_late() {
    let ceiling = Ceiling::start(1);
    let mut stream = ceiling.connect();
    // Twenty answers of half a megabyte are more than the buffers of both ends hold.
    stream.write_all("GET /file-534k.png HTTP/1.1\r\n\r\n".repeat(20).as_bytes()).unwrap();
    // Meanwhile, other connections are served.
    assert_eq!(ceiling.talk("GET /hello HTTP/1.1\r\n\r\n"), HELLO);
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).unwrap();
    assert!(answers == ceiling.large("").repeat(20), "{} bytes", answers.len());
}

#[test]
fn answers_arrive_whole_though_read_slowly() {
    let ceiling = Ceiling::start(1);
    let mut stream = ceiling.connect();
    let last = "GET /file-534k.png HTTP/1.1\r\nConnection: close\r\n\r\n";
    stream.write_all(("GET /file-534k.png HTTP/1.1\r\n\r\n".repeat(15) + last).as_bytes()).unwrap();
    let (mut answers, mut piece) = (Vec::new(), vec![0; 50_000]);
    loop {
        match stream.read(&mut piece).unwrap() {
            0 => break,
            bytes => answers.extend_from_slice(&piece[..bytes]),
        }
        thread::sleep(Duration::from_millis(1));
    }
    let expected = [ceiling.large("").repeat(15), ceiling.large("Connection: close\r\n")].concat();
    assert!(answers == expected, "{} bytes", answers.len());
}

#[test]
fn a_large_body_obeys_the_contract_like_a_small_one() {
    let ceiling = Ceiling::start(1);
    let check = |request: &str, answer: &[u8]| assert!(ceiling.answers_to(request) == answer, "{request:?}");
    check("GET /file-534k.png HTTP/1.1\r\n\r\n", &ceiling.large(""));
    check("GET /file-534k.png HTTP/1.0\r\n\r\n", &ceiling.large("Connection: close\r\n"));
    check("HEAD /file-534k.png HTTP/1.1\r\n\r\n", large_head("").as_bytes());
    assert!(ceiling.talk("POST /file-534k.png HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
}

#[test]
fn pipelined_requests_of_large_and_small_answers_are_answered_in_order() {
    let ceiling = Ceiling::start(1);
    // The same file twice in a row; small answers before, between and after; and more parts than are queued at once.
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\n\r\n");
    let (hello, large) = (get("/hello"), get("/file-534k.png"));
    let head_only = "HEAD /file-534k.png HTTP/1.1\r\n\r\n";
    let requests = [&hello, &hello, &large, &large, head_only, &hello].concat().repeat(15);
    let (file, head) = (ceiling.large(""), large_head(""));
    let round = [HELLO.as_bytes(), HELLO.as_bytes(), &file, &file, head.as_bytes(), HELLO.as_bytes()];
    let answers = ceiling.answers_to(&requests);
    assert!(answers == round.concat().repeat(15), "{} bytes", answers.len());
}

#[test]
fn a_file_that_became_shorter_ends_the_connection() {
    let ceiling = Ceiling::start(1);
    fs::File::options().write(true).open(ceiling.assets.path().join("file-534k.png")).unwrap().set_len(1000).unwrap();
    let answer = ceiling.answers_to("GET /file-534k.png HTTP/1.1\r\n\r\n");
    assert_eq!(answer.len(), large_head("").len() + 1000);
    assert_eq!(ceiling.talk("GET /hello HTTP/1.1\r\n\r\n"), HELLO);
}

#[test]
fn the_load_engine_gets_nothing_but_good_answers() {
    let ceiling = Ceiling::start(2);
    for name in ["hello", "json", "file-534k.png"] {
        for connection in [ConnectionPolicy::KeepAlive, ConnectionPolicy::PerRequest] {
            let record = ceiling.load(name, connection);
            assert!(record.ledger.good > 0 && record.ledger.failed == 0, "{name} {connection:?}: {:?}", record.ledger);
            assert!(record.ledger.closes());
            assert_eq!(record.connections.not_closed_by_target, 0, "{name} {connection:?}");
        }
    }
}

#[test]
fn counts_of_answers_refusals_and_connections_are_printed_on_request() {
    let mut ceiling = Ceiling::start(2);
    let counts = |ceiling: &mut Ceiling| {
        ceiling.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = String::new();
        ceiling.counts.read_line(&mut line).unwrap();
        line
    };
    assert_eq!(counts(&mut ceiling), "{\"answers\":0,\"refusals\":0,\"connections\":0}\n");
    ceiling.talk(&"GET /hello HTTP/1.1\r\n\r\n".repeat(200));
    ceiling.talk("GET /file-534k.png HTTP/1.1\r\n\r\nGET /nothing HTTP/1.1\r\n\r\n");
    assert_eq!(counts(&mut ceiling), "{\"answers\":202,\"refusals\":1,\"connections\":2}\n");
}

#[test]
fn an_answer_that_was_not_sent_whole_is_not_counted() {
    let mut ceiling = Ceiling::start(1);
    let mut stream = ceiling.connect();
    // Twenty answers of half a megabyte exceed the buffers of both ends, and none is read.
    stream.write_all("GET /file-534k.png HTTP/1.1\r\n\r\n".repeat(20).as_bytes()).unwrap();
    // An answer in a later turn of the loop shows that this turn is over.
    assert_eq!(ceiling.talk("GET /hello HTTP/1.1\r\n\r\n"), HELLO);
    drop(stream);
    assert_eq!(ceiling.talk("GET /hello HTTP/1.1\r\n\r\n"), HELLO);
    ceiling.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let mut line = String::new();
    ceiling.counts.read_line(&mut line).unwrap();
    assert_eq!(line, "{\"answers\":2,\"refusals\":0,\"connections\":3}\n");
}

#[test]
fn an_http_1_0_client_may_keep_its_connection_also_for_large_bodies() {
    let ceiling = Ceiling::start(1);
    let request = "GET /file-534k.png HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
    let answers = ceiling.answers_to(&request.repeat(3));
    assert!(answers == ceiling.large("Connection: keep-alive\r\n").repeat(3), "{} bytes", answers.len());
}

#[test]
fn without_any_asset_it_says_what_is_missing_and_ends() {
    let empty = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ceiling"))
        .args(["--port", "0", "--assets"])
        .arg(empty.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("holds none of hello, json, quicksort, file-534k.png"), "{text}");
}
