//! Protocols of a scenario: what can be named, which tools refuse them, and which subjects are skipped.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use examples::{catalogue, everything, listed};
use insta::assert_snapshot;
use tolok_model::{Catalogue, Plan, PlanError, Protocol, Study, Subject};

const LOAD: &str = "executor = 'constant-vus', vus = 8, duration = '1s'";

fn text(protocol: &str, load: &str, more: &str) -> String {
    format!(
        "title = 'T'\nsubjects = ['bun/serve', 'go/nethttp']\n[[scenario]]\nworkload = 'hello'\n\
         protocol = {protocol}\nload = {{ {LOAD}{load} }}\n{more}\n"
    )
}

fn study(protocol: &str, load: &str) -> Study {
    Study::read(&text(protocol, load, ""), &catalogue()).unwrap()
}

fn problems(protocol: &str, load: &str, more: &str) -> String {
    let text = text(protocol, load, more);
    listed(&text, &Study::read(&text, &catalogue()).unwrap_err())
}

/// `go/nethttp` also speaks these.
fn catalogue_with(protocols: &[Protocol]) -> Catalogue {
    let mut catalogue = catalogue();
    let subject = catalogue.subjects.iter_mut().find(|subject| subject.id == "go/nethttp").unwrap();
    subject.variants.values_mut().for_each(|variant| variant.protocols = protocols.to_vec());
    catalogue
}

#[test]
fn a_list_makes_one_scenario_for_each() {
    let line = |scenario: &tolok_model::Scenario| format!("{}: {}", scenario.id, scenario.describe_load());
    let lines: Vec<String> =
        study("['http1', 'https', 'h2', 'h2c']", ", streams = 4").scenarios.iter().map(line).collect();
    assert_snapshot!(lines.join("\n"), @"
    hello-c8: closed loop, 8 virtual users, keep-alive, 1 s
    hello-c8-https: closed loop, 8 virtual users, keep-alive, 1 s, over HTTP/1.1 with TLS
    hello-c8-h2-streams4: closed loop, 8 virtual users, keep-alive, 1 s, over HTTP/2 with TLS, 4 streams a connection
    hello-c8-h2c-streams4: closed loop, 8 virtual users, keep-alive, 1 s, over HTTP/2 without TLS, 4 streams a connection
    ");
}

#[test]
fn the_usual_protocol_leaves_no_trace_so_that_plans_from_before_have_the_same_fingerprint() {
    let written = |protocol: &str, load: &str| serde_json::to_value(&study(protocol, load).scenarios[0]).unwrap();
    let usual = written("'http1'", "");
    assert_eq!((usual.get("protocol"), usual.get("streams")), (None, None));
    let other = written("'h2'", ", streams = 4");
    assert_eq!((&other["protocol"], &other["streams"]), (&serde_json::json!("h2"), &serde_json::json!(4)));
    assert_eq!(serde_json::from_value::<tolok_model::Scenario>(usual).unwrap(), study("'http1'", "").scenarios[0]);
}

#[test]
fn mistakes_are_said_at_their_places() {
    assert_snapshot!(problems("'h3'", "", ""), @"5:12 «'h3'» unknown value `h3` (known here: http1, https, h2, h2c)");
    assert_snapshot!(problems("['h2', 'h2']", "", ""), @"5:19 «'h2'» protocol `h2` is listed twice");
    assert_snapshot!(problems("[]", "", ""), @r#"5:12 «[]» no protocol is listed (for example: protocol = ["http1", "h2"])"#);
    assert_snapshot!(problems("['http1', 'https']", ", streams = 4", ""), @r#"6:73 «4» over HTTP/1.1 a connection has one request at a time (only requests of HTTP/2 share a connection: protocol = "h2")"#);
    assert_snapshot!(problems("'h2'", ", streams = 0", ""), @"6:73 «0» `streams` must be at least 1");
    assert_snapshot!(problems("'h2'", ", read-rate = '64KiB/s'", ""), @"5:12 «'h2'» requests of HTTP/2 share a connection, so none has a `read-rate` or `write-rate` (leave it out here, or give it a [[scenario]] of its own)");
    assert_snapshot!(problems("['http1', 'h2']", "", "design = 'slices'"), @r#"7:10 «'slices'» `hello-c8-h2` cannot be sliced: slices need HTTP/1.1 without TLS (`design = "trials"` in this [[scenario]] gives each case a window of its own)"#);
}

#[test]
fn a_tool_that_does_not_speak_it_is_refused_before_anything_runs() {
    let all = "tool = ['tolok', 'k6', 'wrk', 'ab', 'h2load', 'hey', 'oha']";
    assert_eq!(Study::read(&text("'https'", "", all), &catalogue()).unwrap().scenarios.len(), 7);
    assert_snapshot!(problems("'h2'", "", all), @"
    7:24 «'wrk'» wrk does not speak HTTP/2; tolok, h2load, oha and k6 do (leave it out here, or give it a [[scenario]] of its own)
    7:31 «'ab'» ab does not speak HTTP/2; tolok, h2load, oha and k6 do (leave it out here, or give it a [[scenario]] of its own)
    7:47 «'hey'» hey sends all requests of HTTP/2 over one connection; h2load and oha do not (leave it out here, or give it a [[scenario]] of its own)
    ");
    assert_snapshot!(problems("'h2c'", "", "tool = ['k6', 'h2load', 'oha']"), @"7:9 «'k6'» k6 speaks HTTP/2 with TLS only (leave it out here, or give it a [[scenario]] of its own)");
    assert_snapshot!(problems("'h2'", ", streams = 3", "tool = ['k6', 'h2load', 'oha']"), @"
    7:9 «'k6'» each user of k6 has a connection of its own, so `streams` is 1 (leave it out here, or give it a [[scenario]] of its own)
    7:15 «'h2load'» h2load has equally many requests on each connection, and 8 is no multiple of 3 (leave it out here, or give it a [[scenario]] of its own)
    7:25 «'oha'» oha has equally many requests on each connection, and 8 is no multiple of 3 (leave it out here, or give it a [[scenario]] of its own)
    ");
    assert_snapshot!(problems("'h2'", ", connection = 'per-request'", "tool = ['tolok', 'oha']"), @"7:18 «'oha'» oha keeps its connections of HTTP/2 (leave it out here, or give it a [[scenario]] of its own)");
}

#[test]
fn a_subject_that_does_not_speak_it_is_left_out_with_a_reason() {
    let asked = study("['http1', 'h2', 'h2c']", "");
    let catalogue = catalogue_with(&[Protocol::Http1, Protocol::H2]);
    let plan = Plan::expand(&asked, &catalogue, everything(), 1).unwrap();
    let cases: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_snapshot!(cases.join("\n"), @"
    hello-c8--bun-serve-default
    hello-c8--go-nethttp-default
    hello-c8--rust-ceiling-default
    hello-c8-h2--go-nethttp-default
    hello-c8--bun-serve-default--again
    hello-c8--go-nethttp-default--again
    ");
    let left_out: Vec<String> = plan.skipped.iter().map(|one| format!("{}: {}", one.subject, one.reason)).collect();
    assert_snapshot!(left_out.join("\n"), @"
    bun/serve:default: it speaks http1 only, so it is not in hello-c8-h2, hello-c8-h2c
    go/nethttp:default: it speaks http1, h2 only, so it is not in hello-c8-h2c
    rust/ceiling:default: it speaks http1 only, so it is not in hello-c8-h2, hello-c8-h2c
    ");
    let error = Plan::expand(&study("'h2c'", ""), &catalogue, everything(), 1).unwrap_err();
    assert!(matches!(&error, PlanError::NoProtocol(left_out) if left_out.len() == 3), "{error:?}");
    assert_snapshot!(error.to_string(), @"none of the study's subjects speaks the `protocol` that its scenarios ask for; `protocols` of a subject.toml names what it speaks");
}

#[test]
fn a_variant_may_speak_less_than_its_subject() {
    let read = |more: &str| {
        let text = format!(
            "title = 'T'\nruntime = 'r'\nworkloads = ['hello']\ndefault = 'plain'\n{more}\n\
             process = [{{ name = 's', command = ['s'] }}]\n[variant.plain]\n[variant.old]\nprotocols = ['http1']\n"
        );
        Subject::read("r/s", &text).map_err(|problems| listed(&text, &problems))
    };
    let subject = read("protocols = ['https', 'h2']").unwrap();
    assert_eq!(subject.protocols("plain"), [Protocol::Https, Protocol::H2]);
    assert_eq!(subject.protocols("old"), [Protocol::Http1]);
    assert_eq!(read("").unwrap().protocols("plain"), [Protocol::Http1]);
    assert_snapshot!(read("protocols = []").unwrap_err(), @"5:13 «[]» no protocol is listed");
}

#[test]
fn requests_of_http1_stand_in_line_where_their_workload_wants_it() {
    let mut catalogue = catalogue();
    let hello = catalogue.workloads.iter_mut().find(|workload| workload.name == "hello").unwrap();
    hello.pipeline = 16;
    let read = |protocol: &str, load: &str, more: &str| {
        let text = text(protocol, load, more);
        Study::read(&text, &catalogue).map_err(|problems| listed(&text, &problems))
    };
    let found = read("['http1', 'https']", "", "").unwrap();
    let line = |scenario: &tolok_model::Scenario| format!("{}: {}", scenario.id, scenario.describe_load());
    assert_snapshot!(found.scenarios.iter().map(line).collect::<Vec<_>>().join("\n"), @"
    hello-c8: closed loop, 8 virtual users, keep-alive, 1 s, 16 pipelined requests a connection
    hello-c8-https: closed loop, 8 virtual users, keep-alive, 1 s, over HTTP/1.1 with TLS, 16 pipelined requests a connection
    ");
    let wrong = [
        ("['http1', 'h2']", "", ""),
        ("'http1'", "", "tool = ['tolok', 'wrk']"),
        ("'http1'", ", connection = 'per-request'", ""),
        ("'http1'", ", read-rate = '64KiB/s'", ""),
        ("'http1'", "", "design = 'slices'"),
    ];
    let said = wrong.map(|(protocol, load, more)| read(protocol, load, more).unwrap_err().trim().to_owned());
    assert_snapshot!(said.join("\n"), @r#"
    5:12 «['http1', 'h2']» the workload pipelines requests of HTTP/1.1; HTTP/2 has `streams` instead (leave it out here, or give it a [[scenario]] of its own)
    7:18 «'wrk'» the workload pipelines requests, which only tolok's own load engine does here (leave it out here, or give it a [[scenario]] of its own)
    5:12 «'http1'» the workload pipelines requests, for which connections stay open (leave it out here, or give it a [[scenario]] of its own)
    5:12 «'http1'» requests in line share a connection, so none has a `read-rate` or `write-rate` (leave it out here, or give it a [[scenario]] of its own)
    7:10 «'slices'» `hello-c8` cannot be sliced: slices need a connection for each user (`design = "trials"` in this [[scenario]] gives each case a window of its own)
    "#);
}
