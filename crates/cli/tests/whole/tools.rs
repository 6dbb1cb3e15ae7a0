//! Established load generators: what each records of the same server, and what happens when a server or a tool fails.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tolok_lab::toolbox::{Program, ProgramState, Toolbox};
use tolok_testkit::{require, skip, test_name};

use crate::place::{Place, Said, assert_all_gone, assert_done, shared_turn};

/// All tools except tolok's own.
const TOOLS: [&str; 6] = ["k6", "wrk", "ab", "h2load", "hey", "oha"];

fn program(name: &str) -> Option<Program> {
    match Toolbox::open_default().unwrap().detect(name).unwrap() {
        ProgramState::Ready(program) => Some(program),
        _ => None,
    }
}

/// The installed tools. A test continues without the others, with a message.
pub fn ready(test: &str) -> Vec<&'static str> {
    let (here, missing): (Vec<&str>, Vec<&str>) = TOOLS.into_iter().partition(|name| program(name).is_some());
    missing.iter().for_each(|name| skip(test, &format!("its part with {name}: there is no {name} here")));
    here
}

/// A place whose study sends `hello` with these tools, in windows of one second.
pub fn place(fault: &str, tools: &[&str], more: &str) -> Place {
    let place = Place::new().with_faulty("one", fault);
    write_study(&place, &format!("{tools:?}"), more);
    place
}

fn write_study(place: &Place, tools: &str, more: &str) {
    let study = format!(
        "title = 'Try'\nsubjects = ['test/one']\nblocks = 1\nseed = 7\nceiling = false\nreruns = 0\n[[scenario]]\nworkload = 'hello'\n\
         load = {{ executor = 'constant-vus', vus = 4, duration = '1s', warmup = '1s', timeout = '2s' }}\ntool = {tools}\n{more}\n"
    );
    fs::write(place.path().join("studies/try.toml"), study).unwrap();
}

pub fn run(place: &Place) -> (Said, Vec<Value>) {
    let said = place.tolok(&["run", "try"]);
    let records = place.records();
    assert_all_gone(|| place.processes());
    (said, records)
}

/// The tool in the id of a record's case: `hello-c4-wrk--test-one-default`.
pub fn tool_of(record: &Value) -> &str {
    let case = record["case"].as_str().unwrap();
    case.strip_prefix("hello-c4").unwrap().split("--").next().unwrap().trim_start_matches('-')
}

/// Asserts that a server with this fault is a failed trial with the same reason under each of these tools and tolok's own.
fn fails_under_each(tools: &[&str], fault: &str, reason: &str) {
    let _turn = shared_turn();
    let place = place(fault, &[&["tolok"], tools].concat(), "");
    let (said, records) = run(&place);
    assert_eq!((said.code, records.len()), (Some(5), tools.len() + 1), "{}", said.progress);
    for record in &records {
        let (tool, found) = (tool_of(record), &record["outcome"]);
        assert_eq!(
            (found["kind"].as_str(), found["reason"].as_str()),
            (Some("failed"), Some(reason)),
            "{tool}: {found}"
        );
    }
}

#[test]
fn a_server_that_dies_under_load_is_a_failed_trial_under_every_tool() {
    let tools = ready(test_name!());
    require!(!tools.is_empty(), "no load generator is here; `tolok setup tools` fetches them");
    // So few that even the slowest tool on a busy machine sends more within its warm-up and window.
    fails_under_each(&tools, "crash-after=500", "crashed");
}

#[test]
fn a_server_that_falls_silent_is_a_failed_trial_under_every_tool() {
    let tools = ready(test_name!());
    require!(!tools.is_empty(), "no load generator is here; `tolok setup tools` fetches them");
    fails_under_each(&tools, "hang-after=500", "hung");
}

#[test]
fn a_ramp_with_thresholds_is_judged_by_k6_itself() {
    require!(program("k6").is_some(), "k6 is not here; `tolok setup k6` fetches it");
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none");
    let study = "title = 'Try'\nsubjects = ['test/one']\nblocks = 1\nseed = 7\nceiling = false\nreruns = 0\n[[scenario]]\nworkload = 'hello'\n\
        load = { executor = 'ramping-vus', stages = [{ target = 8, duration = '1s' }, { target = 8, duration = '500ms' }] }\n\
        tool = 'k6'\nobjective = ['p95 < 30s', 'p95 < 1us', 'failed < 0.5%']\n";
    fs::write(place.path().join("studies/try.toml"), study).unwrap();
    let (said, records) = run(&place);
    let found = &records[0]["outcome"];
    let outcomes: Vec<(&str, &str)> = found["objectives"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["objective"].as_str().unwrap(), one["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(outcomes, [("p95 < 30s", "kept"), ("p95 < 1us", "crossed"), ("failed < 0.5%", "kept")], "{found}");
    assert!(matches!(said.code, Some(3 | 5)), "{:?}: {}", said.code, said.progress);
    let trial = fs::read_dir(place.run_folder().join("trials")).unwrap().next().unwrap().unwrap().path();
    assert!(trial.join("k6.js").is_file(), "the script is kept");
}

#[test]
fn a_script_of_the_users_own_says_what_a_virtual_user_does() {
    require!(program("k6").is_some(), "k6 is not here; `tolok setup k6` fetches it");
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none");
    write_study(&place, "{ name = 'k6', script = 'users.js' }", "");
    let missing = place.tolok(&["plan", "try"]);
    assert!(
        missing.code == Some(2) && missing.progress.contains("users.js"),
        "{:?}: {}",
        missing.code,
        missing.progress
    );
    let script = "import http from 'k6/http'\nexport default function () {\n  http.get(`${__ENV.TOLOK_BASE}/hello`)\n  http.get(__ENV.TOLOK_URL)\n}\n";
    fs::write(place.path().join("studies/users.js"), script).unwrap();
    let (said, records) = run(&place);
    assert_done(said.code, &said.progress);
    let found = &records[0]["outcome"];
    assert!(found["kind"] == "completed" && found["ledger"]["good"].as_u64().unwrap() > 0, "{found}");
    let plan = fs::read_to_string(place.run_folder().join("plan.json")).unwrap();
    assert!(plan.contains("__ENV.TOLOK_BASE"), "the script is a part of the plan");
}

/// Puts a fake program for a tool first on PATH.
fn impostor(place: &Place, name: &str, shell: &str) {
    let folder = place.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{shell}\n")).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
}

fn run_with_impostor(place: &Place) -> Said {
    run_command(before_all_others(place))
}

fn run_without_toolbox(place: &Place) -> Said {
    let mut command = before_all_others(place);
    command.env("XDG_CACHE_HOME", place.path().join("no-cache"));
    run_command(command)
}

/// tolok with the fake tools first on PATH.
fn before_all_others(place: &Place) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = place.command(&["run", "try"]);
    command.env("PATH", format!("{}:{path}", place.path().join("bin").display()));
    command
}

fn run_command(mut command: Command) -> Said {
    let output = command.output().unwrap();
    Said {
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        progress: String::from_utf8_lossy(&output.stderr).into_owned(),
        code: output.status.code(),
    }
}

const SAYS_ITS_VERSION: &str =
    "case \"$*\" in *--version*) echo 'wrk 4.2.0 [epoll] Copyright (C) 2012 Will Glozer'; exit 1;; esac";

fn failure_of(place: &Place) -> (String, String) {
    let records = place.records();
    let found = &records[0]["outcome"];
    assert_eq!((found["kind"].as_str(), found["reason"].as_str()), (Some("failed"), Some("tool-failed")), "{found}");
    let trial = fs::read_dir(place.run_folder().join("trials")).unwrap().next().unwrap().unwrap().path();
    (found["message"].as_str().unwrap().to_owned(), said_in(&trial))
}

fn said_in(trial: &Path) -> String {
    fs::read_to_string(trial.join("tool.out")).unwrap()
}

#[test]
fn a_tool_that_prints_something_else_is_a_failed_trial_that_keeps_what_it_printed() {
    let _turn = shared_turn();
    let place = place("none", &["wrk"], "");
    impostor(&place, "wrk", &format!("{SAYS_ITS_VERSION}\necho 'Everything is fine.'; echo oops >&2; exit 0"));
    let said = run_with_impostor(&place);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let (message, kept) = failure_of(&place);
    assert!(message.starts_with("wrk 4.2.0 was not understood: "), "{message}");
    assert!(message.contains("it said: oops") && message.contains("tool.out"), "{message}");
    assert_eq!(kept, "Everything is fine.\n");
}

#[test]
fn a_run_does_not_go_on_without_a_tool_that_it_needs() {
    let _turn = shared_turn();
    let place = place("none", &["wrk"], "");
    impostor(&place, "wrk", &format!("{SAYS_ITS_VERSION}\necho 'Everything is fine.'"));
    assert_eq!(run_with_impostor(&place).code, Some(5));
    let trial = fs::read_dir(place.run_folder().join("trials")).unwrap().next().unwrap().unwrap().path();
    fs::remove_dir_all(trial).unwrap();
    // The search path and the toolbox contain no other wrk.
    let mut resume = place.command(&["resume", "latest"]);
    resume.env("PATH", place.path().join("empty")).env("XDG_CACHE_HOME", place.path().join("no-cache"));
    let output = resume.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("cannot resume: tool [wrk]: wrk is missing"), "{said}");
}

#[test]
fn a_tool_that_hangs_is_killed_and_named() {
    // The server gets no load while tolok waits, so other tests need not wait.
    let place = place("none", &["wrk"], "");
    impostor(&place, "wrk", &format!("{SAYS_ITS_VERSION}\necho 'Running 1s test'; exec sleep 1000"));
    let said = run_with_impostor(&place);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let (message, kept) = failure_of(&place);
    assert!(message.starts_with("wrk did not end within "), "{message}");
    assert_eq!(kept, "Running 1s test\n");
    assert_all_gone(|| place.processes());
}

#[test]
fn a_tool_that_is_missing_or_does_not_say_its_version_is_left_out_by_name() {
    let _turn = shared_turn();
    let place = place("none", &["tolok", "wrk"], "");
    impostor(&place, "wrk", "echo 'wrk of somebody else'");
    // Without a toolbox: its wrk would be used instead.
    let said = run_without_toolbox(&place);
    assert_done(said.code, &said.progress);
    assert!(said.progress.contains("left out: tool [wrk]: wrk does not work"), "{}", said.progress);
    assert_eq!(place.records().len(), 1);
}
