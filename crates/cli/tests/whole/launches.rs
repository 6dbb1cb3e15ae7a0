//! Launches: servers loaded in slices, and their failures.

use std::fs;
use std::time::Instant;

use rustix::process::{Pid, Signal, geteuid, kill_process};
use serde_json::Value;
use tolok_testkit::require;

use crate::interruptions::box_of;
use crate::place::{PATIENCE, Place, Said, Started, assert_all_gone, my_turn};

/// A study of these subjects in slices, each measured for `duration` per launch.
pub fn study(place: &Place, subjects: &str, launches: u32, duration: &str) {
    let text = format!(
        "title = 'Try'\nsubjects = {subjects}\nblocks = {launches}\nseed = 7\nreruns = 0\nceiling = false\naa-pair = false\ndesign = 'slices'\n\
         [[scenario]]\nworkload = ['hello', 'json']\nslices = {{ window = '20ms', lead-in = '5ms' }}\n\
         load = {{ executor = 'constant-vus', vus = 4, duration = '{duration}', warmup = '20ms', timeout = '1s' }}\n"
    );
    fs::write(place.path().join("studies/try.toml"), text).unwrap();
}

fn two() -> Place {
    Place::new().with_faulty("one", "none").with_faulty("other", "none")
}

fn run(place: &Place, subjects: &str) -> Said {
    study(place, subjects, 1, "80ms");
    place.tolok(&["run", "try"])
}

fn outcome<'r>(records: &'r [Value], case: &str) -> &'r Value {
    let is_meant = |record: &&Value| record["case"].as_str().unwrap().contains(case);
    &records.iter().find(is_meant).unwrap()["outcome"]
}

#[test]
fn a_launch_gives_every_case_a_record_whose_figures_can_be_made_again() {
    let _turn = my_turn();
    let place = two();
    let said = run(&place, "['test/one', 'test/other']");
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let records = place.records();
    assert_eq!(records.len(), 4, "{}", said.progress);
    for record in &records {
        let measured = &record["outcome"];
        assert_eq!(measured["kind"], "completed", "{record}");
        let slices = &measured["slices"];
        let rows = slices["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 4, "two rounds of two halves: {slices}");
        let sum = |of: &str| rows.iter().map(|row| row[of].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("good"), measured["ledger"]["good"].as_u64().unwrap());
        assert!(sum("good") > 0 && sum("whole_good") >= sum("good"));
        assert_eq!(slices["whole_good"], slices["sent"], "nothing failed: {slices}");
    }
    let whole = place.tolok(&["report", "-v"]).output;
    assert!(whole.contains("in slices of 20 ms"), "{}", whole);
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.output, verified.progress);
    assert_all_gone(|| place.processes());
}

#[test]
fn all_servers_but_the_measured_one_are_frozen() {
    require!(geteuid().is_root(), "only root has the kernel's freezer for sure");
    let _turn = my_turn();
    let place = two();
    let said = run(&place, "['test/one', 'test/other']");
    let records = place.records();
    for record in &records {
        let slices = &record["outcome"]["slices"];
        assert_eq!(slices["frozen"], true, "{}\n{record}", said.progress);
        let rows = slices["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["cpu_s"].as_f64().unwrap() > 0.0), "each slice has a bill: {slices}");
    }
}

#[test]
fn a_slice_that_was_changed_is_found_by_verify() {
    let _turn = my_turn();
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
    let _turn = my_turn();
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
    let _turn = my_turn();
    let place = Place::new()
        .with_faulty("one", "none")
        .with_faulty("crash", "crash-after=100")
        .with_faulty("hang", "hang-after=100");
    let said = run(&place, "['test/one', 'test/crash', 'test/hang']");
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
    let started = place.start(&["run", "try"]);
    wait_for_load(place);
    started
}

fn wait_for_load(place: &Place) {
    let deadline = Instant::now() + PATIENCE;
    while loads().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", place.processes());
        std::thread::yield_now();
    }
}

/// Load engines that run slices.
fn loads() -> Vec<u32> {
    pids().into_iter().filter(|pid| command_line(*pid).contains("load\0--slices\0")).collect()
}

/// Servers of the tests.
fn servers() -> Vec<u32> {
    pids().into_iter().filter(|pid| command_line(*pid).contains("faulty-subject\0--port\0")).collect()
}

fn pids() -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).collect()
}

fn command_line(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

fn kill(pid: u32, signal: Signal) {
    // A process that has just ended needs no signal.
    let _ = kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal);
}

#[test]
fn ctrl_c_twice_ends_a_launch_and_leaves_nothing_frozen_and_no_record() {
    let _turn = my_turn();
    let place = two();
    let started = in_the_midst(&place);
    let (said, code) = started.stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(place.records().len(), 0, "an interrupted launch leaves no record");
    assert_all_gone(|| place.processes());
    assert_all_gone(|| loads().into_iter().map(command_line).collect());
}

#[test]
fn kill_9_of_each_part_leaves_nothing_frozen_and_nothing_running() {
    let _turn = my_turn();
    for victim in ["load", "keeper", "init", "block", "run", "server"] {
        let place = two();
        let started = in_the_midst(&place);
        let run = started.child.id();
        let boxed = box_of(run);
        let pid = match victim {
            "run" => run,
            "load" => loads()[0],
            // A frozen server ends once it is thawed.
            "server" => servers()[0],
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
        assert_all_gone(|| loads().into_iter().map(command_line).collect());
    }
}

#[test]
fn a_launch_whose_block_was_killed_is_run_again_as_a_whole() {
    let _turn = my_turn();
    let place = two();
    let started = in_the_midst(&place);
    kill(box_of(started.child.id()).block, Signal::KILL);
    let (said, code) = started.finish();
    assert_eq!(code, Some(5), "{said}");
    assert!(place.records().iter().all(|record| record["outcome"]["reason"] == "lab-failed"), "{said}");
    assert_all_gone(|| place.processes());
    let again = place.start(&["resume", "latest"]);
    wait_for_load(&place);
    assert_eq!(place.records().len(), 0, "all of its cases run again");
    again.stop_at_once();
    assert_all_gone(|| place.processes());
}

#[test]
fn ctrl_c_once_ends_after_the_launch_at_hand_and_resume_runs_the_others() {
    let _turn = my_turn();
    let place = two();
    study(&place, "['test/one', 'test/other']", 3, "1s");
    let started = place.start(&["run", "try"]);
    wait_for_load(&place);
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

#[test]
fn a_machine_that_stands_still_for_seconds_costs_a_slice_and_not_the_launch() {
    let _turn = my_turn();
    let place = two();
    study(&place, "['test/one', 'test/other']", 1, "1s");
    let started = place.start(&["run", "try"]);
    wait_for_load(&place);
    let load = loads()[0];
    kill(load, Signal::STOP);
    // Longer than any slice, and than the time-out of a request.
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    kill(load, Signal::CONT);
    let (said, code) = started.finish();
    assert_eq!(code, Some(0), "{said}");
    let records = place.records();
    assert_eq!(records.len(), 4, "{said}");
    for record in &records {
        let slices = &record["outcome"]["slices"];
        let sum =
            ["whole_good", "whole_failed", "unanswered"].map(|of| slices[of].as_u64().unwrap()).iter().sum::<u64>();
        assert_eq!(slices["sent"].as_u64(), Some(sum), "every request has one outcome: {slices}");
        let rows = slices["rows"].as_array().unwrap();
        assert!(rows.iter().filter(|row| row["good"].as_u64() > Some(0)).count() >= rows.len() - 1, "{slices}");
    }
    assert_all_gone(|| place.processes());
}
