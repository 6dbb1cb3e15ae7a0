//! Several requests with different answers, the evidence shown for a bad answer, and the account of the whole run.

use std::time::Duration;

use tolok_load::fault::ErrorClass;
use tolok_load::options::{
    ConnectionPolicy, Executor, Expect, ExpectBody, ExpectStatus, Method, Mix, Options, Request,
};
use tolok_load::record::Record;
use tolok_testkit::{Framing, Reply, ScriptedServer};

use crate::stage::{BODY, ENDLESS, MS, options, play, play_script, play_with, run};

/// A request whose correct response has this status and body.
fn request(path: &str, status: u16, body: ExpectBody) -> Request {
    Request { expect: Expect { status: ExpectStatus::Exactly(status), body }, ..Request::get(path) }
}

/// One request for each kind of expectation, distinguishable from every other.
fn requests() -> Vec<Request> {
    let large = "x".repeat(200_000);
    vec![
        request("/a", 200, ExpectBody::Exactly(b"answer a".as_slice().into())),
        request("/b", 201, ExpectBody::Exactly(b"answer b".as_slice().into())),
        request("/json", 200, ExpectBody::Json { document: br#"{"a":1,"b":2}"#.as_slice().into(), every: 1 }),
        request("/length", 404, ExpectBody::Length(3)),
        request("/large", 200, ExpectBody::Exactly(large.into_bytes().into())),
    ]
}

/// The correct response to each of them.
fn answer(path: &str) -> Reply {
    match path {
        "/a" => Reply::ok("answer a"),
        "/b" => Reply::with(201, "answer b", Framing::Chunked(vec![3], vec![]), &[]),
        "/json" => Reply::ok(r#"{ "b": 2, "a": 1 }"#),
        "/length" => Reply::with(404, "xyz", Framing::Length, &[]),
        _ => Reply::ok("x".repeat(200_000)),
    }
}

fn iterations(iterations: u64) -> Executor {
    Executor::PerVuIterations { vus: 1, iterations, max_duration: ENDLESS }
}

fn several(server: &ScriptedServer, mix: Mix, executor: Executor) -> Options {
    let mut options = options(server);
    (options.requests, options.mix, options.executor) = (requests(), mix, executor);
    options
}

#[test]
fn every_answer_is_judged_by_what_its_own_request_expects() {
    let server = ScriptedServer::start(|request| answer(request.path()));
    for mix in [Mix::Sequence, Mix::Weighted] {
        let record = run(&several(&server, mix, iterations(40)));
        let sent = if mix == Mix::Sequence { 200 } else { 40 };
        assert_eq!((record.ledger.good, record.connections.opened), (sent, 1), "{:?}", record.error_examples);
        assert_eq!(record.plan.iteration_requests, sent / 40);
        assert_eq!((record.plan.body_check.as_str(), record.plan.expected_body_bytes), ("mixed", None));
    }
}

#[test]
fn answers_that_are_good_for_another_request_are_not() {
    for (wrong, class) in [
        ("/a", ErrorClass::BadBody),
        ("/b", ErrorClass::BadStatus),
        ("/json", ErrorClass::BadBody),
        ("/length", ErrorClass::BadStatus),
        ("/large", ErrorClass::BadBody),
    ] {
        let number = requests().iter().position(|request| request.path == wrong).unwrap();
        // In the second iteration, this request gets an answer that belongs to another request.
        let server = ScriptedServer::start(move |request| match request.number {
            at if at == 5 + number => answer(if wrong == "/a" { "/large" } else { "/a" }),
            _ => answer(request.path()),
        });
        let record = run(&several(&server, Mix::Sequence, iterations(3)));
        assert_eq!(record.ledger.failed_by_class, [(class, 1)].into(), "{wrong}");
        // The failure ends its iteration; the iterations before and after are complete.
        assert_eq!(record.ledger.good, 10 + number as u64, "{wrong}");
        let text = &record.error_examples[0].text;
        assert!(text.starts_with(&format!("GET {wrong}: ")), "{text}");
    }
}

#[test]
fn equal_seeds_draw_equal_requests() {
    let draw = |seed: u64| {
        let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let server = ScriptedServer::start({
            let asked = std::sync::Arc::clone(&asked);
            move |request| {
                asked.lock().unwrap().push(request.path().to_owned());
                answer(request.path())
            }
        });
        let mut options = several(&server, Mix::Weighted, iterations(30));
        options.seed = seed;
        assert_eq!(run(&options).ledger.good, 30);
        asked.lock().unwrap().clone()
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}

#[test]
fn many_requests_are_counted_and_not_listed() {
    let server = ScriptedServer::start(|_| Reply::ok(BODY));
    for (count, listed) in [(20, 20), (21, 0)] {
        let mut options = options(&server);
        let expect = options.requests[0].expect.clone();
        let one = |number| Request { expect: expect.clone(), ..Request::get(&format!("/{number}")) };
        options.requests = (0..count).map(one).collect();
        options.executor = iterations(1);
        let plan = run(&options).plan;
        assert_eq!((plan.requests.len(), plan.request_count), (listed, count));
        assert_eq!((plan.body_check.as_str(), plan.expected_body_bytes), ("exactly", Some(5)));
    }
}

/// The example shown for one bad body, with this expectation.
fn shown(expect: ExpectBody, reply: Reply) -> String {
    let played = play_with(vec![reply], |options| options.requests[0].expect.body = expect);
    assert_eq!(played.record.ledger.failed_by_class, [(ErrorClass::BadBody, 1)].into());
    let text = played.record.error_examples[0].text.clone();
    text.strip_prefix("the body is not the expected one: ").unwrap().to_owned()
}

#[test]
fn a_bad_body_is_shown_where_it_differs() {
    let owed = r#"[{"id":1,"name":"Anna"}]"#;
    let exactly = |reply| shown(ExpectBody::Exactly(owed.as_bytes().into()), reply);
    let differs = "expected `…\"name\":\"Anna\"}]`, got `…\"name\":\"Olga\"}]`";
    let olga = r#"[{"id":1,"name":"Olga"}]"#;
    assert_eq!(exactly(Reply::ok(olga)), format!("it differs from byte 17 on; {differs}"));
    // The bytes after the first chunk are still unknown.
    let part = Reply::with(200, olga, Framing::Chunked(vec![18], vec![]), &[]);
    let first = "expected `…\"name\":\"Anna\"}]`, got `…\"name\":\"O`";
    assert_eq!(exactly(part), format!("it differs from byte 17 on; {first}"));
    let chunked = |body: &str| Reply::with(200, body, Framing::Chunked(vec![100], vec![]), &[]);
    assert_eq!(exactly(chunked(&owed[..20])), "it ended after 20 of 24 bytes; expected `…me\":\"Anna\"}]`");
    assert_eq!(
        exactly(chunked(&format!("{owed}\n"))),
        "it goes on after the expected 24 bytes; expected its end, got `…\"Anna\"}]\\n`"
    );
    assert_eq!(
        exactly(Reply::ok("<html>500</html>")),
        "16 bytes announced, 24 expected, and differs from byte 0 on; expected `[{\"id\":1,\"name\":\"Anna\"}]`, got \
         `<html>500</html>`"
    );
    assert_eq!(exactly(Reply::ok(&owed[..20])), "20 bytes announced, 24 expected");
}

#[test]
fn a_difference_in_a_long_body_is_shown_too() {
    let mut owed = b"0123456789".repeat(20_000);
    let body = ExpectBody::Exactly(owed.as_slice().into());
    owed[123_456] = 0;
    let text = shown(body, Reply::ok(owed));
    let expect = "it differs from byte 123456 on; expected `…89012345678901234567890123456789…`, got `…89012345\\0";
    assert!(text.starts_with(expect), "{text}");
}

#[test]
fn bad_json_is_shown_with_the_expected_value() {
    let json = |came: &str| {
        let document = br#"{"id":1,"ratio":-1.50,"names":["Anna","Bert"],"none":null}"#.as_slice().into();
        shown(ExpectBody::Json { document, every: 1 }, Reply::ok(came))
    };
    let differs = |came: &str, words: &str| assert_eq!(json(came), format!("its JSON differs at {words}"));
    differs(r#"{"id":2}"#, "byte 6: another number; expected `1`, got `{\"id\":2}`");
    differs(r#"{"ratio":1.5}"#, "byte 9: another number; expected `-1.5`, got `…\"ratio\":1.5}`");
    differs(
        r#"{"names":["Anna","Olga"]}"#,
        "byte 17: another string; expected `\"Bert\"`, got `…[\"Anna\",\"Olga\"]}`",
    );
    differs(r#"{"names":["Anna"]}"#, "byte 16: elements are missing; expected `\"Bert\"`, got `…:[\"Anna\"]}`");
    differs(r#"{"names":{}}"#, "byte 9: a value of another type; expected an array of length 2, got `…\"names\":{}}`");
    differs(
        r#"{"id":1,"names":["Anna","Bert"]}"#,
        "byte 31: a key is missing; expected the key `none`, got `…,\"Bert\"]}`",
    );
    assert_eq!(json("<html>"), "it is no JSON at byte 0: unexpected byte; got `<html>`");
}

fn whole(record: &Record) -> (u64, u64) {
    let whole = record.whole_run;
    (whole.sent, whole.good)
}

#[test]
fn the_whole_run_counts_what_the_target_counts() {
    // The last request is in flight when the run ends: the target received it, but its answer never arrived.
    let played = play(vec![Reply::ok(BODY), Reply::status(500), Reply::ok("other"), Reply::close(), Reply::ok(BODY)]);
    assert_eq!(whole(&played.record), (played.server.requests() as u64, 2));
}

#[test]
fn the_whole_run_has_the_warm_up_and_what_comes_after_the_window() {
    let server = ScriptedServer::start(|_| Reply::ok(BODY));
    for connection in [ConnectionPolicy::KeepAlive, ConnectionPolicy::PerRequest] {
        let before = server.requests();
        let mut options = options(&server);
        options.requests[0].method = Method::Post;
        options.connection = connection;
        options.generator.threads = 2;
        options.executor = Executor::ConstantVus { vus: 4, duration: MS * 50 };
        (options.warm_up, options.grace) = (MS * 50, Some(Duration::from_secs(60)));
        let record = run(&options);
        // Everything is answered within a minute.
        let served = (server.requests() - before) as u64;
        assert_eq!(whole(&record), (served, served));
    }
}

#[test]
fn what_never_left_the_generator_was_not_sent() {
    // The script closes the listener after three answers: later requests find no server, and the last one ends the run.
    let played = play_script(
        |request| (request.number < 3).then(|| Reply::ok_and_close(BODY)),
        3,
        |options| options.connection = ConnectionPolicy::PerRequest,
    );
    assert_eq!(whole(&played.record), (4, 3));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        // The first connection is the engine's initial probe.
        drop(listener.accept().unwrap());
        drop(listener);
    });
    let mut options = Options::new(&format!("http://{address}/")).unwrap();
    options.executor = iterations(3);
    options.timeout = Duration::from_secs(60);
    let record = run(&options);
    answering.join().unwrap();
    assert_eq!((record.ledger.sent, record.ledger.failed), (3, 3));
    assert_eq!(whole(&record).1, 0);
    assert!(whole(&record).0 <= 1, "at most the request that met the listener's end: {record:?}");
}
