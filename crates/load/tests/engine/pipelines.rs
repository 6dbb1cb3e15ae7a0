//! Several requests at a time on an HTTP/1.1 connection, whose answers come in order, or do not.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_load::options::{
    ConnectionPolicy, Data, DataOrder, Executor, ExpectBody, Options, Pace, Pool, Protocol, Request,
};
use tolok_load::record::Record;
use tolok_testkit::{Framing, Reply, ScriptedServer};

use crate::stage::{BODY, ENDLESS, options, rate, run};

const DEPTH: u32 = 16;

/// Options for `users` users, `depth` of which share a connection, and `requests` requests in total.
fn piped(server: &ScriptedServer, users: u32, depth: u32, requests: u64) -> Options {
    let mut options = options(server);
    options.protocol = Protocol::Pipelined { requests_in_flight: depth };
    options.executor = Executor::SharedIterations { vus: users, iterations: requests, max_duration: ENDLESS };
    options
}

/// 16 users on one connection send one request each; the script selects the server's reply by the request's number.
fn batch(script: impl Fn(usize) -> Reply + Send + Sync + 'static, change: impl FnOnce(&mut Options)) -> Record {
    let server = ScriptedServer::start(move |request| script(request.number));
    let mut options = piped(&server, DEPTH, DEPTH, 0);
    options.executor = Executor::PerVuIterations { vus: DEPTH, iterations: 1, max_duration: ENDLESS };
    change(&mut options);
    run(&options)
}

fn outcomes(record: &Record) -> (u64, BTreeMap<ErrorClass, u64>, u64) {
    (record.ledger.good, record.ledger.failed_by_class.clone(), record.connections.opened)
}

#[test]
fn each_connection_has_that_many_users_and_the_last_one_the_rest() {
    for (users, depth, connections) in [(6, 1, 6), (7, 3, 3), (16, 16, 1), (5, 100, 1)] {
        let server = ScriptedServer::answering(BODY);
        let record = run(&piped(&server, users, depth, 300));
        assert_eq!(outcomes(&record), (300, BTreeMap::new(), connections), "{users} users, {depth} deep");
        // Plus the initial probe.
        assert_eq!((server.requests(), server.connections()), (300, connections as usize + 1));
    }
}

#[test]
fn arrivals_by_the_clock_have_places_on_shared_connections() {
    let server = ScriptedServer::answering(BODY);
    let mut options = piped(&server, 0, 4, 0);
    options.executor = rate(400.0, Duration::from_millis(250));
    (options.pool, options.grace) = (Pool::Bounded(8), Some(ENDLESS));
    let record = run(&options);
    assert_eq!((record.ledger.good + record.drain.good, record.ledger.failed), (100, 0));
    assert!(record.connections.opened <= 2, "{}", record.connections.opened);
}

/// A batch arrives with one read(2) because it left with one send(2). Its answers arrive cut at arbitrary positions.
#[test]
fn a_batch_goes_out_at_once_and_answers_may_be_cut_anywhere() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hello", listener.local_addr().unwrap());
    let peer = thread::spawn(move || {
        // The first connection is the initial probe.
        let mut stream = listener.incoming().nth(1).unwrap().unwrap();
        stream.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 64 * 1024];
        let mut batches = Vec::new();
        let mut cut = 1;
        loop {
            let length = stream.read(&mut buffer).unwrap();
            if length == 0 {
                return batches;
            }
            let asked = String::from_utf8_lossy(&buffer[..length]).matches("GET /hello").count();
            batches.push(asked);
            let answers = format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{BODY}").repeat(asked);
            let (first, rest) = answers.as_bytes().split_at(cut);
            stream.write_all(first).unwrap();
            if cut > 1 {
                // So that the two pieces are read separately.
                thread::yield_now();
            }
            stream.write_all(rest).unwrap();
            cut = (cut + 7) % 40 + 1;
        }
    });
    let mut options = Options::new(&url).unwrap();
    options.protocol = Protocol::Pipelined { requests_in_flight: DEPTH };
    options.requests[0].expect.body = ExpectBody::Exactly(BODY.as_bytes().into());
    options.executor = Executor::PerVuIterations { vus: DEPTH, iterations: 20, max_duration: ENDLESS };
    let record = run(&options);
    assert_eq!(outcomes(&record), (320, BTreeMap::new(), 1));
    let batches = peer.join().unwrap();
    assert_eq!((batches[0], batches.iter().sum::<usize>()), (16, 320), "{batches:?}");
}

#[test]
fn answers_may_come_together_or_byte_by_byte() {
    let framings = [Framing::Length, Framing::Chunked(vec![2, 1], vec!["X: y"])];
    for framing in framings {
        let answer = Reply::with(200, BODY, framing, &[]);
        let all = (1..DEPTH).fold(answer.clone(), |all, _| all.joined_with(answer.clone()));
        let together = batch(move |number| if number == 15 { all.clone() } else { Reply::raw("") }, |_| {});
        assert_eq!(outcomes(&together), (16, BTreeMap::new(), 1));
        let dribbled = Reply::with(200, BODY, Framing::Chunked(vec![1], vec![]), &[]).dribbled();
        let apart = batch(move |_| dribbled.clone(), |_| {});
        assert_eq!(outcomes(&apart), (16, BTreeMap::new(), 1));
    }
}

#[test]
fn what_is_lost_with_a_connection_fails_once_each() {
    let after = |end: Reply| move |number| if number < 3 { Reply::ok(BODY) } else { end.clone() };
    let lost = |class| (3, BTreeMap::from([(class, 13)]), 1);
    assert_eq!(outcomes(&batch(after(Reply::close()), |_| {})), lost(ErrorClass::Closed));
    let cut = Reply::ok(BODY).cut_by(2).then_close();
    assert_eq!(outcomes(&batch(after(cut), |_| {})), lost(ErrorClass::Closed));
    let reset = batch(after(Reply::reset()), |_| {});
    assert_eq!(reset.ledger.failed + reset.ledger.good, 16, "{:?}", outcomes(&reset));
    assert_eq!(reset.ledger.failed_by_class.keys().collect::<Vec<_>>(), [&ErrorClass::Reset]);
    let nonsense = batch(after(Reply::raw("nonsense\r\n").then_hang()), |_| {});
    assert_eq!(outcomes(&nonsense), lost(ErrorClass::Malformed));
    let silent = batch(after(Reply::never()), |options| options.timeout = Duration::from_millis(300));
    assert_eq!(outcomes(&silent), lost(ErrorClass::Timeout));
}

#[test]
fn requests_behind_an_announced_close_move_to_the_next_connection_once() {
    let closing = |number: usize| match number {
        2 => Reply::ok_and_close(BODY),
        _ => Reply::ok(BODY),
    };
    assert_eq!(outcomes(&batch(closing, |_| {})), (16, BTreeMap::new(), 2));
    // The second connection closes as well, and no request moves twice.
    let again = batch(|_| Reply::ok_and_close(BODY), |_| {});
    assert_eq!(outcomes(&again), (2, BTreeMap::from([(ErrorClass::Closed, 14)]), 2));
}

#[test]
fn a_wrong_answer_is_one_failure_and_those_behind_it_are_read() {
    let wrong = [
        (Reply::ok("HELLO"), ErrorClass::BadBody),
        (Reply::ok("hello!"), ErrorClass::BadBody),
        (Reply::ok(""), ErrorClass::BadBody),
        (Reply::with(200, "hEllo, world", Framing::Chunked(vec![3], vec![]), &[]), ErrorClass::BadBody),
        (Reply::with(200, "hel", Framing::Chunked(vec![2], vec![]), &[]), ErrorClass::BadBody),
        (Reply::with(500, "no", Framing::Length, &[]), ErrorClass::BadStatus),
    ];
    for (wrong, class) in wrong {
        for reply in [wrong.clone(), wrong.dribbled()] {
            let record = batch(move |number| if number == 5 { reply.clone() } else { Reply::ok(BODY) }, |_| {});
            assert_eq!(outcomes(&record), (15, BTreeMap::from([(class, 1)]), 1));
        }
    }
}

#[test]
fn answers_in_another_order_are_wrong_bodies() {
    let held: Arc<Mutex<(Vec<String>, u64)>> = Arc::default();
    let swapped = Arc::clone(&held);
    let server = ScriptedServer::start(move |request| {
        let mut held = swapped.lock().unwrap();
        held.0.push(request.path().to_owned());
        let [first, second] = held.0.as_slice() else { return Reply::raw("") };
        let reply = Reply::ok(second).joined_with(Reply::ok(first));
        let differ = first != second;
        held.1 += 2 * u64::from(differ);
        held.0.clear();
        reply
    });
    let mut options = piped(&server, DEPTH, DEPTH, 160);
    let request = |path: &str| {
        let mut request = Request::get(path);
        request.expect.body = ExpectBody::Exactly(path.as_bytes().into());
        request
    };
    options.requests = vec![request("/a"), request("/b")];
    let record = run(&options);
    let wrong = held.lock().unwrap().1;
    assert!(wrong > 20, "{wrong}");
    assert_eq!(outcomes(&record), (160 - wrong, BTreeMap::from([(ErrorClass::BadBody, wrong)]), 1));
}

#[test]
fn requests_in_line_are_filled_with_values_each() {
    let server = ScriptedServer::start(|request| Reply::ok(request.path()));
    let mut options = piped(&server, 4, 4, 40);
    let values = ["1", "2", "3", "4"].map(Box::from).to_vec();
    options.data = Some(Arc::new(Data { columns: vec!["id".to_owned()], values, order: DataOrder::InOrder }));
    options.requests = vec![Request::get("/{{id}}")];
    options.requests[0].expect.body = ExpectBody::Length(2);
    assert_eq!(outcomes(&run(&options)), (40, BTreeMap::new(), 1));
}

#[test]
fn what_cannot_be_pipelined_is_refused() {
    let server = ScriptedServer::answering(BODY);
    let refused = |change: fn(&mut Options)| {
        let mut options = piped(&server, 4, 4, 4);
        change(&mut options);
        tolok_load::run(&options, &AtomicBool::new(false), &mut |_| {}).unwrap_err().to_string()
    };
    let depth = refused(|options| options.protocol = Protocol::Pipelined { requests_in_flight: 0 });
    assert!(depth.contains("at least 1"), "{depth}");
    let short = refused(|options| options.connection = ConnectionPolicy::PerRequest);
    assert!(short.contains("stays open"), "{short}");
    let slow = refused(|options| options.pace = Pace { read_bytes_per_s: Some(9), ..Pace::default() });
    assert!(slow.contains("pace"), "{slow}");
    let discard = refused(|options| options.requests[0].expect.body = ExpectBody::Discard { length: None });
    assert!(discard.contains("behind"), "{discard}");
}
