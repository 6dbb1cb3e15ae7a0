//! `tolok load` alone: what it prints, and how it leaves.

use serde_json::Value;
use tolok_testkit::{Reply, ScriptedServer};

use crate::place::{Place, Said};

/// Loads a scripted server for a moment.
fn load(server: &ScriptedServer, arguments: &[&str]) -> Said {
    let url = format!("http://{}/hello", server.address());
    let all = [&["load", &url, "-c", "4", "-d", "300ms", "--timeout", "200ms", "--grace", "1s"], arguments].concat();
    Place::new().tolok(&all)
}

#[test]
fn good_answers_leave_with_0_and_the_ledger_closes() {
    let server = ScriptedServer::start(|_| Reply::ok("hello"));
    let said = load(&server, &["--format", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let record: Value = serde_json::from_str(&said.output).unwrap();
    let count = |name: &str| record["ledger"][name].as_u64().unwrap();
    assert!(count("good") > 0);
    assert_eq!(count("sent"), count("good") + count("failed") + count("in_flight_at_end"));
    assert_eq!(record["format"], 1);
}

#[test]
fn the_summary_for_people_names_the_loop_and_the_ledger() {
    let server = ScriptedServer::start(|_| Reply::ok("hello"));
    let said = load(&server, &[]);
    for words in
        ["good answers", "closed loop", "response time", "sent", "in flight at the end", "connections 4 opened"]
    {
        assert!(said.output.contains(words), "{words:?} is missing:\n{}", said.output);
    }
    assert_eq!(said.progress, "", "without a terminal nothing is said on the way");
}

#[test]
fn one_failed_request_leaves_with_5_and_says_what_happened() {
    let server =
        ScriptedServer::start(|request| if request.number == 3 { Reply::status(500) } else { Reply::ok("hello") });
    let said = load(&server, &[]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.output.contains("1 bad_status"), "{}", said.output);
}

#[test]
fn another_body_than_the_expected_one_is_no_good_answer() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "hello").unwrap();
    let server = ScriptedServer::start(|_| Reply::ok("jello"));
    let said = load(&server, &["--expect-body", file.path().to_str().unwrap()]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.output.contains("bad_body"), "{}", said.output);
}

#[test]
fn a_server_that_never_answers_is_not_a_rate_of_zero_but_a_failure() {
    let server = ScriptedServer::start(|_| Reply::never());
    let said = load(&server, &[]);
    assert_eq!(said.code, Some(5), "{}", said.output);
    assert!(said.output.contains("timeout"), "{}", said.output);
    assert!(said.output.contains("never answered"), "{}", said.output);
}

#[test]
fn where_nobody_listens_is_one_sentence() {
    // A port that was free a moment ago, and that nobody has been told of.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let said = Place::new().tolok(&["load", &format!("http://127.0.0.1:{port}/")]);
    assert_eq!(said.code, Some(2), "{}", said.output);
    assert!(said.progress.starts_with("error: "), "{}", said.progress);
    assert!(said.progress.contains(&format!("127.0.0.1:{port}")), "{}", said.progress);
}

#[test]
fn a_url_that_is_none_is_a_usage_error() {
    let said = Place::new().tolok(&["load", "ftp://127.0.0.1/"]);
    assert_eq!(said.code, Some(2), "{}", said.output);
    assert!(said.progress.contains("http://"), "{}", said.progress);
}
