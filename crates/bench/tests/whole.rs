//! The whole bench with tiny measurements: tolok and the floor.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

/// The test script sets this after building all programs of the workspace. Another build would compile their dependencies with other
/// features, and replace tolok during later tests.
const PROGRAMS_ARE_BUILT: &str = "TOLOK_PROGRAMS_ARE_BUILT";

/// Builds tolok and the ceiling next to the bench.
fn build(program: &Path) {
    let profile = program.parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "--quiet", "-p", "tolok-cli", "-p", "tolok-ceiling", "--target-dir"]);
    cargo.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success());
}

/// The bench, with tolok and the ceiling next to it.
fn bench(folder: &Path) -> Command {
    static BUILD: Once = Once::new();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_bench-load"));
    BUILD.call_once(|| {
        if std::env::var_os(PROGRAMS_ARE_BUILT).is_none() {
            build(&program);
        }
        let beside = |name: &str| program.with_file_name(name).is_file();
        assert!(
            beside("tolok") && beside("ceiling"),
            "tolok and the ceiling are not in the folder of {}",
            program.display()
        );
    });
    let mut command = Command::new(program);
    // Any leftover files would be here.
    command.env("TMPDIR", folder);
    command
}

/// Server and generator each need a CPU of their own.
fn has_two_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|count| count.get() > 1)
}

/// A bench that runs for a long time, past its first measurement.
fn started(folder: &Path) -> Child {
    let mut command = bench(folder);
    command.args(["--seconds", "0.2", "--rounds", "1000", "--only", "hello-64", "--generators", "floor"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().map(Result::unwrap).any(|line| line.starts_with("round 1/1000")));
    // Read to the end, so the bench can keep writing.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

/// Programs with this folder in their command lines.
fn running_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&*folder.to_string_lossy())).collect()
}

#[test]
fn the_server_and_tolok_count_the_same() {
    tolok_testkit::require!(has_two_cpus(), "two CPUs");
    let folder = tempfile::tempdir().unwrap();
    let (json, markdown) = (folder.path().join("figures.json"), folder.path().join("load.md"));
    let scratch = folder.path().join("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut command = bench(&scratch);
    // No other generators: some run for whole seconds.
    command
        .args([
            "--seconds",
            "0.2",
            "--rounds",
            "1",
            "--only",
            "hello-64,hello-512,big,close",
            "--generators",
            "tolok",
            "--json",
        ])
        .arg(&json)
        .arg("--markdown")
        .arg(&markdown);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // On a machine that constantly changes its speed, no figure can be shown, and the text says so.
    let is_shown = text.contains(" tolok ") || text.contains("saw the machine change");
    assert!(text.contains("hello, a connection per request, 64 at a time") && is_shown, "{text}");
    let figures: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let cells = figures["exercises"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        for entry in cell["entries"].as_array().unwrap() {
            let one = &entry["rounds"][0];
            let (answers, claimed) = (one["server"]["answers"].as_u64(), one["claim"]["requests"].as_u64());
            assert_eq!(one["server"]["refusals"], 0, "{cell}");
            // A few ticks of CPU time may count for either mode by chance.
            let cpu_s = |kind: &str| one[kind].as_f64().unwrap();
            assert!(one["problem"].is_null() && cpu_s("cpu_user_s") + cpu_s("cpu_system_s") > 0.0, "{entry}");
            let transfer_ns = |when: &str| one["transfer"][when].as_f64().unwrap();
            assert!(transfer_ns("before_ns") > 1.0 && transfer_ns("after_ns") > 1.0, "{entry}");
            assert!(answers >= claimed && claimed > Some(0), "{entry}");
            if entry["generator"] == "tolok" {
                // It waits for requests in flight at the end, so nothing is left over.
                assert_eq!(answers, claimed, "{entry}");
                assert_eq!(one["claim"]["failed"], 0, "{entry}");
            }
        }
        for name in ["tolok", "floor"] {
            assert!(cell["entries"].as_array().unwrap().iter().any(|entry| entry["generator"] == name), "{cell}");
        }
    }
    let document = fs::read_to_string(markdown).unwrap();
    assert!(document.contains("tolok load http://127.0.0.1:PORT/hello --vus=512 --duration=200000us"), "{document}");
    assert!(!document.contains(&*folder.path().to_string_lossy()), "{document}");
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn what_tolok_reports_of_a_server_whose_stalls_are_known_is_true() {
    tolok_testkit::require!(has_two_cpus(), "two CPUs");
    let folder = tempfile::tempdir().unwrap();
    let (json, markdown) = (folder.path().join("figures.json"), folder.path().join("load.md"));
    let mut command = bench(folder.path());
    command.args(["--seconds", "0.1", "--rounds", "1", "--honesty-seconds", "1.28", "--generators", "tolok"]);
    command.args(["--only", "lateness,honesty", "--json"]).arg(&json).arg("--markdown").arg(&markdown);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let figures: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let exercises = figures["exercises"].as_array().unwrap();
    assert_eq!(exercises.len(), 4);
    let entries = |place: usize| exercises[place]["entries"].as_array().unwrap().as_slice();
    let lateness = [entries(0), entries(1)].concat();
    assert_eq!(lateness.len(), 6, "three timers at two rates");
    for entry in &lateness {
        let one = &entry["rounds"][0];
        assert_eq!(one["server"]["answers"], one["offered"], "{entry}");
        assert!(one["record"]["lateness"]["max_s"].as_f64().unwrap() > 0.0, "{entry}");
    }
    let (stalls, too_slow) = (entries(2), entries(3));
    let max_s = |one: &Value, whose: &str| one[whose]["max_s"].as_f64().unwrap();
    assert_eq!((stalls.len(), too_slow.len()), (2, 1));
    for entry in stalls {
        let one = &entry["rounds"][0];
        assert_eq!(one["server"]["answers"], one["offered"], "{entry}");
        assert!(one["stalls_ns"].as_array().unwrap().len() >= 3, "{entry}");
        // The first arrival in a stall of 40 ms waited for most of it: random arrivals leave gaps, and a busy machine starts late.
        assert!(max_s(one, "truth") > 0.030 && max_s(one, "reported") > 0.030, "{entry}");
    }
    let slow = &too_slow[0]["rounds"][0];
    assert_eq!(slow["code"], 5, "{slow}");
    assert_eq!(slow["record"]["gates"].as_array().unwrap()[0], "offered-rate", "{slow}");
    // In 0.4 s, 480 arrive and 400 are served, so more wait at the end than there are connections.
    assert!((max_s(slow, "truth") - 0.081).abs() < 0.002 && max_s(slow, "reported") > 0.07, "{slow}");
    let document = fs::read_to_string(markdown).unwrap();
    for words in ["## lateness", "honesty: 2000/s for 1.28 s", "--timer=spin", "(hybrid, Poisson)"] {
        assert!(document.contains(words), "{words:?} in {document}");
    }
    assert!(!document.contains(&*folder.path().to_string_lossy()), "{document}");
}

#[test]
fn interrupted_it_shows_what_there_is_and_leaves_nothing_behind() {
    tolok_testkit::require!(has_two_cpus(), "two CPUs");
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // If the machine changed during the only measurement, this is all there is to show.
    let saw_a_change = text.contains("no measurement to show") && text.contains("saw the machine change");
    assert!(text.contains("hello, keep-alive, 64 connections") || saw_a_change, "{text}");
    assert_eq!(running_in(folder.path()), Vec::<String>::new());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn killed_it_takes_its_programs_along() {
    tolok_testkit::require!(has_two_cpus(), "two CPUs");
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path());
    let pid = child.id();
    // Between two measurements there are briefly no children.
    let children = loop {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let pids = text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().unwrap()));
        let found: Vec<_> = pids.filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).collect();
        if !found.is_empty() {
            break found;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    for one in &children {
        let mut files = [PollFd::new(one, PollFlags::IN)];
        let patience = Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(poll(&mut files, Some(&patience)).unwrap(), 1, "it is still there");
    }
}
