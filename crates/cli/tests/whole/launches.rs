//! Launches: servers loaded in slices, and their failures.

use std::fs;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::interruptions::{box_of, temporary};
use crate::place::{PATIENCE, Place, Said, Started, assert_all_gone, shared_turn};

/// A study of these subjects in slices, each measured for `duration` per launch.
pub fn study(place: &Place, subjects: &str, launches: u32, duration: &str) {
    let text = format!(
        "title = 'Try'\nsubjects = {subjects}\nblocks = {launches}\nseed = 7\nreruns = 0\nceiling = false\naa-pair = false\ndesign = 'slices'\n\
         [[scenario]]\nworkload = ['hello', 'json']\nslices = {{ window = '20ms', lead-in = '5ms' }}\n\
         load = {{ executor = 'constant-vus', vus = 4, duration = '{duration}', warmup = '20ms', timeout = '1s' }}\n"
    );
    fs::write(place.path().join("studies/try.toml"), text).unwrap();
}

pub fn two() -> Place {
    Place::new().with_faulty("one", "none").with_faulty("other", "none")
}

pub fn run(place: &Place, subjects: &str) -> Said {
    study(place, subjects, 1, "80ms");
    place.tolok(&["run", "try"])
}

fn outcome<'r>(records: &'r [Value], case: &str) -> &'r Value {
    let is_meant = |record: &&Value| record["case"].as_str().unwrap().contains(case);
    &records.iter().find(is_meant).unwrap()["outcome"]
}

#[test]
fn a_slice_that_was_changed_is_found_by_verify() {
    let _turn = shared_turn();
    let place = two();
    assert_eq!(run(&place, "['test/one', 'test/other']").code, Some(0));
    let folder = fs::read_dir(place.run_folder().join("trials")).unwrap().next().unwrap().unwrap().path();
    let file = folder.join("slices.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(0, 1);
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(5), "{}", verified.output);
    assert!(verified.output.contains("slices.jsonl"), "{}", verified.output);
}

#[test]
fn a_server_that_does_not_start_fails_alone() {
    let _turn = shared_turn();
    let place = two().with_faulty("dead", "exit-at-start").with_faulty("wrong", "wrong-body");
    let said = run(&place, "['test/one', 'test/dead', 'test/wrong', 'test/other']");
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    assert_eq!(records.len(), 8);
    for (case, reason) in [("test-dead", "did-not-start"), ("test-wrong", "wrong-answer")] {
        let failed = outcome(&records, case);
        assert_eq!((&failed["kind"], &failed["reason"]), (&"failed".into(), &reason.into()), "{failed}");
    }
    for case in ["hello-c4--test-one", "json-c4--test-one", "hello-c4--test-other"] {
        assert_eq!(outcome(&records, case)["kind"], "completed", "{}", outcome(&records, case));
    }
    assert_all_gone(|| place.processes());
}

#[test]
fn a_server_that_ends_or_falls_silent_under_load_fails_alone() {
    let _turn = shared_turn();
    let place = Place::new()
        .with_faulty("one", "none")
        .with_faulty("crash", "crash-after=100")
        .with_faulty("hang", "hang-after=100");
    // Long enough for a hundred requests on a busy machine.
    study(&place, "['test/one', 'test/crash', 'test/hang']", 1, "400ms");
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    let crashed = outcome(&records, "test-crash");
    assert_eq!((&crashed["kind"], &crashed["reason"]), (&"failed".into(), &"crashed".into()), "{crashed}");
    let silent = outcome(&records, "hello-c4--test-hang");
    assert_eq!(silent["kind"], "failed", "{silent}");
    assert_eq!(outcome(&records, "hello-c4--test-one")["kind"], "completed");
    assert_all_gone(|| place.processes());
}

/// Starts a study whose launch outlasts anything that happens to it, and waits for its load.
fn in_the_midst(place: &Place) -> Started {
    study(place, "['test/one', 'test/other']", 1, "600s");
    loaded(place, &["run", "try"])
}

/// Starts tolok, and waits until its load has begun. Its folder for temporary files tells this place's
/// processes from others'.
pub fn loaded(place: &Place, arguments: &[&str]) -> Started {
    let mut command = place.command(arguments);
    command.env("TMPDIR", temporary(place));
    let started = Started::of(command);
    wait_for_load(place);
    started
}

fn wait_for_load(place: &Place) {
    let deadline = Instant::now() + PATIENCE;
    while loads(place).is_empty() {
        assert!(Instant::now() < deadline, "{:?}", place.processes());
        std::thread::yield_now();
    }
}

/// Load engines of this place that run slices.
pub fn loads(place: &Place) -> Vec<u32> {
    pids(place, "load\0--slices\0")
}

/// Servers of this place.
fn servers(place: &Place) -> Vec<u32> {
    pids(place, "faulty-subject\0--port\0")
}

/// Processes whose command line contains these words and this place's folder for temporary files.
fn pids(place: &Place, words: &str) -> Vec<u32> {
    let folder = temporary(place).display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_meant = |line: String| line.contains(words) && line.contains(&folder);
    pids.filter(|pid| is_meant(command_line(*pid))).collect()
}

fn command_line(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

pub fn kill(pid: u32, signal: Signal) {
    // A process that has just ended needs no signal.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

#[test]
fn ctrl_c_twice_ends_a_launch_and_leaves_nothing_frozen_and_no_record() {
    let _turn = shared_turn();
    let place = two();
    let started = in_the_midst(&place);
    let (said, code) = started.stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(place.records().len(), 0, "an interrupted launch leaves no record");
    assert_all_gone(|| place.processes());
}

#[test]
fn kill_9_of_each_part_leaves_nothing_frozen_and_nothing_running() {
    let _turn = shared_turn();
    for victim in ["load", "keeper", "init", "block", "run", "server"] {
        let place = two();
        let started = in_the_midst(&place);
        let run = started.child.id();
        let boxed = box_of(run);
        let pid = match victim {
            "run" => run,
            "load" => loads(&place)[0],
            // A frozen server ends once it is thawed.
            "server" => servers(&place)[0],
            "keeper" => boxed.keeper,
            "init" => boxed.init,
            _ => boxed.block,
        };
        kill(pid, Signal::KILL);
        if victim == "run" {
            started.finish()
        } else {
            started.stop_at_once()
        };
        assert_all_gone(|| place.processes());
    }
}

#[test]
fn a_launch_whose_block_was_killed_is_run_again_as_a_whole() {
    let _turn = shared_turn();
    let place = two();
    let started = in_the_midst(&place);
    kill(box_of(started.child.id()).block, Signal::KILL);
    let (said, code) = started.finish();
    assert_eq!(code, Some(5), "{said}");
    assert!(place.records().iter().all(|record| record["outcome"]["reason"] == "lab-failed"), "{said}");
    assert_all_gone(|| place.processes());
    let again = loaded(&place, &["resume", "latest"]);
    assert_eq!(place.records().len(), 0, "all of its cases run again");
    again.stop_at_once();
    assert_all_gone(|| place.processes());
}

#[test]
fn ctrl_c_once_ends_after_the_launch_at_hand_and_resume_runs_the_others() {
    let _turn = shared_turn();
    let place = two();
    study(&place, "['test/one', 'test/other']", 3, "1s");
    let started = loaded(&place, &["run", "try"]);
    started.signal(Signal::INT);
    let (said, code) = started.finish();
    assert_eq!(code, Some(130), "{said}");
    let first = place.records();
    assert_eq!(first.len(), 4, "the current launch is complete: {said}");
    assert!(first.iter().all(|record| record["outcome"]["kind"] == "completed"), "{said}");
    assert!(said.contains("launch 1 of 3: 4 cases in "), "one line for a launch: {said}");
    assert!(!said.contains("correct responses/s · "), "and none for each of its cases: {said}");
    let again = place.tolok(&["resume", "latest"]);
    assert_eq!(again.code, Some(0), "{}", again.progress);
    assert!(again.progress.contains("launch 3 of 3: 4 cases in "), "{}", again.progress);
    assert_eq!(place.records().len(), 12);
    assert_eq!(place.tolok(&["verify", "latest"]).code, Some(0));
    assert_all_gone(|| place.processes());
}
