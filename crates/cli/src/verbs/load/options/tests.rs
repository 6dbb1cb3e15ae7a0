//! From arguments to options: what the engine gets, and what is refused.

use std::time::Duration;

use clap::Parser;
use tolok_load::options::{Arrivals, Executor, Stage, ThinkTime, Timer};

use super::*;
use crate::args::{Args, Verb};

const URL: &str = "http://127.0.0.1:8080/";

/// Parses arguments. They are separated by spaces; those that contain spaces are in `'` quotes.
fn ask(words: &str) -> Result<Asked, String> {
    let mut arguments: Vec<String> = ["tolok", "load"].map(str::to_owned).to_vec();
    for (at, piece) in words.split('\'').enumerate() {
        match at % 2 {
            0 => arguments.extend(piece.split_whitespace().map(str::to_owned)),
            _ => arguments.push(piece.to_owned()),
        }
    }
    if !words.contains("://") {
        arguments.push(URL.to_owned());
    }
    let parsed = Args::try_parse_from(arguments).map_err(|error| error.to_string())?;
    let Verb::Load(args) = parsed.verb else { panic!("{words} is not a valid load") };
    asked(&args).map_err(|complaint| complaint.text)
}

fn options(words: &str) -> Options {
    ask(words).unwrap_or_else(|error| panic!("{words}: {error}")).options
}

const S: fn(u64) -> Duration = Duration::from_secs;

#[test]
fn the_executor_follows_from_the_words() {
    let check = |words: &str, executor: Executor| assert_eq!(options(words).executor, executor, "{words}");
    let stage = |target: f64, seconds: u64| Stage { target, duration: S(seconds) };
    let arrivals = Arrivals::Uniform;
    check("", Executor::ConstantVus { vus: 64, duration: S(10) });
    check("-c 500 -d 30s", Executor::ConstantVus { vus: 500, duration: S(30) });
    check("--connections 5 -z 1s", Executor::ConstantVus { vus: 5, duration: S(1) });
    check("-n 10k", Executor::SharedIterations { vus: 64, iterations: 10_000, max_duration: S(600) });
    check("-n 10", Executor::SharedIterations { vus: 10, iterations: 10, max_duration: S(600) });
    check("-n 10 -c 20 -d 5s", Executor::SharedIterations { vus: 20, iterations: 10, max_duration: S(5) });
    check("--requests 100 -c 4", Executor::SharedIterations { vus: 4, iterations: 100, max_duration: S(600) });
    check("--iterations-per-vu 3 -c 2", Executor::PerVuIterations { vus: 2, iterations: 3, max_duration: S(600) });
    check("-R 2000", Executor::ConstantArrivalRate { rate_rps: 2000.0, duration: S(10), arrivals });
    check("--qps 120/m -d 2s", Executor::ConstantArrivalRate { rate_rps: 2.0, duration: S(2), arrivals });
    let poisson = Arrivals::Poisson;
    check(
        "-R 5 --arrivals poisson",
        Executor::ConstantArrivalRate { rate_rps: 5.0, duration: S(10), arrivals: poisson },
    );
    let stages = vec![stage(200.0, 30), stage(0.0, 10)];
    check("--stage 200:30s --stage 10s:0", Executor::RampingVus { start_vus: 0, stages });
    check("--stage 5:1s -c 3", Executor::RampingVus { start_vus: 3, stages: vec![stage(5.0, 1)] });
    let stages = vec![stage(5000.0, 60), stage(2.0, 1)];
    check(
        "-R 0 --stage 5k:1m --stage 120/m:1s",
        Executor::RampingArrivalRate { start_rate_rps: 0.0, stages, arrivals },
    );
    check(
        "--executor shared-iterations -n 64",
        Executor::SharedIterations { vus: 64, iterations: 64, max_duration: S(600) },
    );
}

#[test]
fn the_pool_is_that_of_the_users_unless_it_is_said() {
    assert_eq!(options("-R 5").pool, Pool::Bounded(64));
    assert_eq!(options("-R 5 -c 8").pool, Pool::Bounded(8));
    assert_eq!(options("-R 5 --pool 100").pool, Pool::Bounded(100));
    assert_eq!(options("-R 5 --pool unbounded:9").pool, Pool::Unbounded { at_most: Some(9) });
}

#[test]
fn connections_and_times() {
    let plain = options("");
    assert_eq!((plain.timeout, plain.connect_timeout, plain.grace, plain.warm_up), (S(10), S(5), None, S(0)));
    assert_eq!(plain.sources, Sources::Rotated(32));
    assert_eq!(options("--timeout 2s").connect_timeout, S(2));
    assert_eq!(options("--no-keepalive").connection, ConnectionPolicy::PerRequest);
    assert_eq!(options("--disable-keepalive").connection, ConnectionPolicy::PerRequest);
    let several = ConnectionPolicy::Requests { requests_per_connection: 7 };
    assert_eq!(options("--requests-per-connection 7").connection, several);
    assert_eq!(options("--read-rate 10KB/s").pace, Pace { read_bytes_per_s: Some(10_000), ..Pace::default() });
    assert_eq!(options("--think 1s..2s").think_time, ThinkTime { least: S(1), most: S(2) });
    let generator = options("--unix-socket /run/a --timer spin").generator;
    assert_eq!((generator.unix_socket, generator.timer), (Some("/run/a".into()), Some(Timer::Spin)));
}

#[test]
fn threads_are_those_of_the_cpus_and_never_more_than_users() {
    let threads = |words: &str| options(words).generator.threads;
    assert_eq!(["", "-t 3", "--cpus 0,2-3", "--cpus 0-3 -c 2", "--cpus 0-3 -t 2"].map(threads), [1, 3, 3, 2, 2]);
    assert_eq!((threads("-t auto -c 1"), threads("-t auto -R 5 --pool 1"), threads("-t auto -n 1")), (1, 1, 1));
    assert_eq!(threads("-t auto -c 9999"), sched_getaffinity(None).unwrap().count());
}

#[test]
fn requests_bodies_and_what_is_expected() {
    let one = &options("-m post --body a=1 -H 'X-A: b' --expect-status 201 http://127.0.0.1/a?b=c").requests[0];
    assert_eq!((one.method, one.path.as_str(), one.body.as_slice()), (Method::Post, "/a?b=c", b"a=1".as_slice()));
    assert_eq!(one.headers, [("X-A".to_owned(), "b".to_owned())]);
    assert_eq!(one.expect.status, ExpectStatus::Exactly(201));
    let mixed = options("--sequence --body x --request '3 GET /a' --request 'POST /b'");
    assert_eq!(mixed.mix, Mix::Sequence);
    let seen: Vec<_> = mixed.requests.iter().map(|one| (one.weight, one.path.as_str(), one.body.len())).collect();
    assert_eq!(seen, [(3, "/a", 0), (1, "/b", 1)]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[1]").unwrap();
    let name = file.path().display();
    let body = |words: &str| options(words).requests.remove(0).expect.body;
    assert!(matches!(body(&format!("--expect-body {name}")), ExpectBody::Exactly(bytes) if bytes.as_ref() == b"[1]"));
    assert!(matches!(body(&format!("--expect-json {name} --check-every 9")), ExpectBody::Json { every: 9, .. }));
    assert!(matches!(body("--expect-length 3"), ExpectBody::Length(3)));
    assert!(matches!(body("--discard --expect-length 3"), ExpectBody::Discard { length: Some(3) }));
    assert_eq!(options(&format!("-m PUT --body @{name}")).requests[0].body, b"[1]");
}

#[test]
fn with_http2_users_share_connections_where_they_are_to() {
    assert_eq!(options("").protocol, Protocol::Http1);
    assert_eq!(options("--http2").protocol, Protocol::Http2 { streams_per_connection: 1 });
    assert_eq!(options("--http2 --streams 10").protocol, Protocol::Http2 { streams_per_connection: 10 });
    assert_eq!(options("--pipeline 16").protocol, Protocol::Pipelined { requests_in_flight: 16 });
    assert!(ask("--streams 10").is_err_and(|said| said.contains("--http2")));
    assert!(ask("--http2 --streams 0").is_err());
}

#[test]
fn every_contradiction_is_one_sentence() {
    let wrong = [
        "-n 10 --iterations-per-vu 5",
        "-n 200 -R 100",
        "--iterations-per-vu 2 -R 100",
        "--stage 5:1s -n 10",
        "--stage 5:1s -d 10s",
        "-R 5 --think 1s",
        "-R 5 -c 8 --pool 9",
        "--arrivals poisson",
        "--pool 5",
        "-c 0",
        "-R 5 -c 0",
        "--stage 5/s:1s",
        "--stage 1.5:1s",
        "--executor ramping-vus",
        "--executor per-vu-iterations -n 100",
        "--executor constant-vus -R 5",
        "--no-keepalive --requests-per-connection 5",
        "--timeout 1s --connect-timeout 2s",
        "--http2 --write-rate 1KB/s",
        "--http2 --discard",
        "--expect-length 3 --expect-body a",
        "--discard --expect-body a",
        "--check-every 3",
        "-m GET --request 'GET /a'",
        "--sequence",
        "--body a=1",
        "--body a=1 --request 'GET /a'",
        "--unix-socket /a --congestion reno",
        "--abort",
        "--abort --threshold 'rate >= 100/s' --threshold 'p99 > 1ms'",
        "--request 'GET /a' http://127.0.0.1/b",
        "--request-file a http://127.0.0.1/b",
        "--request-file a -m GET",
        "--request-file a --request 'GET /a'",
        "--request-file a --body b",
        "--request-file no-such-file",
        "--expect-body no-such-file",
        "-o /no-such-folder/file",
        "ftp://127.0.0.1/",
    ];
    let said: Vec<String> = wrong
        .iter()
        .map(|words| format!("{words}\n    {}", ask(words).err().unwrap_or_else(|| panic!("{words} is accepted"))))
        .collect();
    insta::assert_snapshot!("contradictions", said.join("\n"));
}

#[test]
fn values_that_are_none_are_refused_with_what_would_be_one() {
    let wrong = ["-d 10", "-R fast", "--stage 5", "-c many", "--pool all", "-t 0", "-m FETCH", "--threshold 'p99 < 5'"];
    let said: Vec<String> = wrong
        .iter()
        .map(|words| {
            let message = ask(words).err().unwrap_or_else(|| panic!("{words} is accepted"));
            message.lines().next().unwrap_or_default().to_owned()
        })
        .collect();
    insta::assert_snapshot!("values", said.join("\n"));
}

/// A folder with a request file and the bodies that it refers to.
fn request_file(lines: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("requests.jsonl", lines);
    write("a.json", "[1]");
    write("same.json", "[1]");
    write("no.json", "[1");
    let words = format!("--request-file {}", folder.path().join("requests.jsonl").display());
    (folder, words)
}

#[test]
fn a_file_of_requests_says_of_each_what_is_good() {
    let (_folder, words) = request_file(concat!(
        r#"{"path":"/a"}"#,
        "\n\n",
        r#"{"weight":3,"method":"POST","path":"/b?c=d","headers":{"X-A":"c"},"body":"ä","expect_status":201}"#,
        "\n",
        r#"{"path":"/c","expect_body":"a.json"}"#,
        "\r\n",
        r#"{"path":"/d","expect_body":"same.json"}"#,
        "\n",
        r#"{"path":"/e","expect_json":"a.json"}"#,
        "\n",
        r#"{"path":"/f","expect_length":9,"part":"six"}"#,
    ));
    let asked = options(&format!("{words} --expect-length 7 --check-every 5 -H 'X-A: b' -H 'X-B: b' --seed 3"));
    assert_eq!((asked.mix, asked.seed), (Mix::Weighted, 3));
    assert_eq!(options(&format!("{words} --sequence")).mix, Mix::Sequence);
    let seen: Vec<_> = asked.requests.iter().map(|one| (one.weight, one.method, one.path.as_str())).collect();
    let get = |path| (1, Method::Get, path);
    assert_eq!(seen, [get("/a"), (3, Method::Post, "/b?c=d"), get("/c"), get("/d"), get("/e"), get("/f")]);
    let [plain, post, exactly, same, json, length] = asked.requests.as_slice() else { panic!("expected six requests") };
    assert!(matches!(plain.expect, Expect { status: ExpectStatus::Success, body: ExpectBody::Length(7) }));
    assert_eq!(plain.headers, [("X-A", "b"), ("X-B", "b")].map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!((post.body.as_slice(), post.expect.status), ("ä".as_bytes(), ExpectStatus::Exactly(201)));
    assert_eq!(post.headers, [("X-B", "b"), ("X-A", "c")].map(|(name, value)| (name.to_owned(), value.to_owned())));
    let (ExpectBody::Exactly(one), ExpectBody::Exactly(other)) = (&exactly.expect.body, &same.expect.body) else {
        panic!("both are compared")
    };
    assert_eq!(one.as_ref(), b"[1]");
    assert!(std::sync::Arc::ptr_eq(one, other), "equal bodies are held once");
    assert!(matches!(&json.expect.body, ExpectBody::Json { document, every: 5 } if document.as_ref() == b"[1]"));
    assert!(matches!(length.expect.body, ExpectBody::Length(9)));
    assert_eq!((plain.part.as_deref(), length.part.as_deref()), (None, Some("six")));
    let (_folder, words) = request_file(r#"{"path":"/f","expect_length":9}"#);
    let discard = options(&format!("{words} --discard")).requests.remove(0).expect.body;
    assert!(matches!(discard, ExpectBody::Discard { length: Some(9) }));
}

#[test]
fn everything_wrong_with_a_file_of_requests_is_said_at_once_with_its_line() {
    let wrong = [
        r#"{"path":"/good"}"#,
        "{\"path\":",
        "[1]",
        r#"{"pfad":"/a"}"#,
        r#"{"path":"/a","path":"/b"}"#,
        r#"{"path":"a b","weight":0,"method":"FETCH"}"#,
        r#"{"path":"/a","weight":1.5,"headers":{"Host":"x","A B":"c","D":7}}"#,
        r#"{"path":"/a","body":"b","expect_status":99}"#,
        r#"{"path":"/a","expect_length":-1}"#,
        r#"{"path":"/a","expect_body":"a.json","expect_length":3}"#,
        r#"{"path":"/a","expect_body":"missing.json"}"#,
        r#"{"path":"/a","expect_json":"no.json"}"#,
        r#"{"path":7}"#,
        r#"{"path":"/a","part":""}"#,
    ];
    let (folder, words) = request_file(&wrong.join("\n"));
    let said = ask(&words).unwrap_err().replace(&folder.path().display().to_string(), "FOLDER");
    let (empty, words) = request_file("\n");
    let nothing = ask(&words).unwrap_err().replace(&empty.path().display().to_string(), "FOLDER");
    let (thrown, words) = request_file(r#"{"path":"/a","expect_body":"a.json"}"#);
    let discard =
        ask(&format!("{words} --discard")).unwrap_err().replace(&thrown.path().display().to_string(), "FOLDER");
    insta::assert_snapshot!("request_file", [said, nothing, discard].join("\n\n"));
    let (_folder, words) = request_file(&"{}\n".repeat(70));
    let many = ask(&words).unwrap_err();
    assert!(many.contains("\n… and 20 more\n") && many.ends_with("has 70 problems"), "{many}");
}
