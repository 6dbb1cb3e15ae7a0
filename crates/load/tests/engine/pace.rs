//! Clients on slow links, and deadlines.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tolok_load::fault::ErrorClass;
use tolok_load::options::{ConnectionPolicy, Executor, ExpectBody, Method, Options, Request};
use tolok_testkit::{Reply, ScriptedServer};

use crate::stage::{BODY, ENDLESS, MS, options, run};

fn once() -> Executor {
    Executor::SharedIterations { vus: 1, iterations: 1, max_duration: ENDLESS }
}

/// Serves the connection after the engine's initial probe. Returns the time and size of each read.
fn reads(listener: TcpListener) -> JoinHandle<Vec<(Instant, usize)>> {
    thread::spawn(move || {
        listener.accept().unwrap();
        let mut stream: TcpStream = listener.accept().unwrap().0;
        let (mut reads, mut received) = (Vec::new(), Vec::new());
        let mut buffer = [0; 65_536];
        while !received.ends_with(b"END") {
            let bytes = stream.read(&mut buffer).unwrap();
            assert!(bytes > 0, "it ended after {} bytes", received.len());
            reads.push((Instant::now(), bytes));
            received.extend_from_slice(&buffer[..bytes]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        reads
    })
}

#[test]
fn a_slow_writer_sends_in_rations() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut options = Options::new(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let body = [vec![b'x'; 1_997], b"END".to_vec()].concat();
    options.requests = vec![Request { method: Method::Post, body, ..Request::get("/") }];
    options.executor = once();
    options.pace.write_bytes_per_s = Some(4_000);
    let served = reads(listener);
    let record = run(&options);
    assert_eq!((record.ledger.good, record.sent_bytes > 2_000), (1, true));
    let reads = served.join().unwrap();
    // 200 bytes every 50 ms. Late bytes may arrive together with the next ration, but none is ever early.
    let whole: usize = reads.iter().map(|(_, bytes)| bytes).sum();
    let mut received = 0;
    for (at, bytes) in &reads {
        received += bytes;
        let earliest = MS * 50 * (received as u32).div_ceil(200).saturating_sub(1);
        // The first read is later than the first write, by at most the delay of the server on this machine.
        let since_first = at.duration_since(reads[0].0);
        assert!(since_first + MS * 40 >= earliest, "{received} bytes after {since_first:?}");
    }
    // The first ration is sent immediately.
    assert!(record.service_time.min_s.unwrap() >= 0.050 * (whole.div_ceil(200) - 1) as f64);
}

#[test]
fn a_slow_reader_takes_its_time_for_an_answer() {
    let body: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let answer = body.clone();
    let server = ScriptedServer::start(move |_| Reply::ok(&answer));
    let mut options = options(&server);
    options.requests[0].expect.body = ExpectBody::Exactly(body.into());
    options.executor = Executor::PerVuIterations { vus: 2, iterations: 1, max_duration: ENDLESS };
    options.pace.read_bytes_per_s = Some(200_000);
    let record = run(&options);
    assert_eq!((record.ledger.good, record.ledger.failed), (2, 0));
    // 10,000 bytes every 50 ms, the first 50 ms after the request.
    assert!(record.service_time.min_s.unwrap() >= 0.5, "{:?}", record.service_time.min_s);
    assert_eq!(record.plan.read_bytes_per_s, Some(200_000));
}

#[test]
fn a_slow_reader_sees_that_the_target_closes_the_connection() {
    let server = ScriptedServer::start(|_| Reply::ok_and_close(BODY));
    let mut options = options(&server);
    options.connection = ConnectionPolicy::PerRequest;
    options.executor = Executor::PerVuIterations { vus: 1, iterations: 3, max_duration: ENDLESS };
    options.pace.read_bytes_per_s = Some(1_000_000);
    let record = run(&options);
    assert_eq!((record.ledger.good, record.connections.opened), (3, 3));
    assert_eq!(record.connections.not_closed_by_target, 0);
}

#[test]
fn slow_users_do_not_slow_each_other_down() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = Executor::PerVuIterations { vus: 20, iterations: 1, max_duration: ENDLESS };
    (options.pace.read_bytes_per_s, options.pace.write_bytes_per_s) = (Some(400), Some(400));
    let record = run(&options);
    assert_eq!((record.ledger.good, record.ledger.failed), (20, 0));
    // A request of about 50 bytes and an answer of about 45 are two or three rations of 20 bytes each.
    assert!(record.service_time.min_s.unwrap() >= 0.2, "{:?}", record.service_time.min_s);
    assert!(record.window_s < 20.0 * 0.2, "one after the other: {} s", record.window_s);
}

#[test]
fn a_slow_reader_is_not_excused_from_the_timeout() {
    let server = ScriptedServer::start(|_| Reply::ok(vec![b'x'; 100_000]));
    let mut options = options(&server);
    options.requests[0].expect.body = ExpectBody::Anything;
    options.executor = once();
    options.timeout = MS * 200;
    options.pace.read_bytes_per_s = Some(10_000);
    let record = run(&options);
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::Timeout, 1)]));
    assert!(record.failure_time.min_s.unwrap() >= 0.2);
}

#[test]
fn a_target_that_never_answers_costs_each_user_a_timeout_and_no_more() {
    let server = ScriptedServer::start(|_| Reply::never());
    let mut options = options(&server);
    options.executor = Executor::PerVuIterations { vus: 5, iterations: 2, max_duration: ENDLESS };
    options.timeout = MS * 100;
    options.grace = Some(Duration::from_secs(60));
    let record = run(&options);
    assert_eq!(record.ledger.failed_by_class, BTreeMap::from([(ErrorClass::Timeout, 10)]));
    assert_eq!((record.connections.opened, record.connections.never_answered), (10, 10));
    assert!(record.failure_time.min_s.unwrap() >= 0.1 && record.window_s >= 0.2);
}

/// The rate at which a slow writer's requests reach the server, in bytes a second, from the first request to the last.
fn written_bytes_per_s(connection: ConnectionPolicy) -> f64 {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let server = ScriptedServer::start({
        let seen = Arc::clone(&seen);
        move |request| {
            seen.lock().unwrap().push((Instant::now(), request.head.len() + request.body.len()));
            match request.header("Connection") {
                Some("close") => Reply::ok_and_close(BODY),
                _ => Reply::ok(BODY),
            }
        }
    });
    let mut options = options(&server);
    let expect = options.requests[0].expect.clone();
    options.requests = vec![Request { method: Method::Post, body: vec![b'x'; 20_000], expect, ..Request::get("/") }];
    options.executor = Executor::PerVuIterations { vus: 5, iterations: 6, max_duration: ENDLESS };
    options.connection = connection;
    options.pace.write_bytes_per_s = Some(1_000_000);
    let record = run(&options);
    assert_eq!((record.ledger.good, record.ledger.failed), (30, 0));
    assert!(record.service_time.min_s.unwrap() >= 0.018, "{:?}", record.service_time.min_s);
    let seen = seen.lock().unwrap();
    let after_the_first: usize = seen.iter().skip(5).map(|(_, bytes)| bytes).sum();
    after_the_first as f64 / seen.last().unwrap().0.duration_since(seen[0].0).as_secs_f64()
}

#[test]
fn small_requests_of_a_slow_writer_keep_to_the_rate_too() {
    for connection in [ConnectionPolicy::KeepAlive, ConnectionPolicy::PerRequest] {
        let bytes_per_s = written_bytes_per_s(connection);
        // Five lines of 1 MB/s. The first requests arrive together, but delays on the way to the server do not make them faster.
        assert!(bytes_per_s <= 5_500_000.0, "{bytes_per_s} with {connection:?}");
    }
}

#[test]
fn requests_of_a_slow_writer_that_are_smaller_than_a_segment_keep_to_the_rate_too() {
    let server = ScriptedServer::answering(BODY);
    let mut options = options(&server);
    options.executor = Executor::PerVuIterations { vus: 2, iterations: 11, max_duration: ENDLESS };
    options.pace.write_bytes_per_s = Some(5_000);
    let record = run(&options);
    let request_bytes = record.sent_bytes as f64 / 22.0;
    // Before each request except the first, the line carries the previous one.
    assert!(record.window_s >= 10.0 * request_bytes / 5_000.0, "{} s for {request_bytes} bytes each", record.window_s);
}

#[test]
fn a_slow_reader_takes_no_longer_for_an_answer_than_its_bytes_do() {
    let body = vec![b'x'; 300_000];
    let answer = body.clone();
    let server = ScriptedServer::start(move |request| match request.path() {
        "/large" => Reply::ok(&answer),
        _ => Reply::ok(BODY),
    });
    let mut options = options(&server);
    options.executor = Executor::PerVuIterations { vus: 1, iterations: 40, max_duration: ENDLESS };
    options.pace.read_bytes_per_s = Some(10_000_000);
    let small = run(&options).service_time;
    // 45 bytes take 5 µs. A busy machine may delay some answers, but not all.
    assert!(small.min_s.unwrap() < 0.005, "{:?}", small.min_s);
    options.requests = vec![Request::get("/large")];
    options.requests[0].expect.body = ExpectBody::Exactly(body.into());
    let large = run(&options);
    let (shortest_s, first_byte_s) = (large.service_time.min_s.unwrap(), large.time_to_first_byte.min_s.unwrap());
    assert!((0.030..0.036).contains(&shortest_s), "{shortest_s}");
    assert!(first_byte_s < 0.005, "{first_byte_s}");
}

#[test]
fn a_slow_reader_of_discarded_bodies_takes_no_longer_either() {
    let server = ScriptedServer::start(|_| Reply::ok(vec![b'x'; 300_000]));
    let mut options = options(&server);
    options.requests[0].expect.body = ExpectBody::Discard { length: Some(300_000) };
    options.executor = Executor::PerVuIterations { vus: 1, iterations: 10, max_duration: ENDLESS };
    options.pace.read_bytes_per_s = Some(10_000_000);
    let shortest_s = run(&options).service_time.min_s.unwrap();
    assert!((0.030..0.036).contains(&shortest_s), "{shortest_s}");
}
