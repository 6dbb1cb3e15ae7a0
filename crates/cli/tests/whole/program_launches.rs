//! Launches of programs, whose runs alternate, and their failures.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::interruptions::box_of;
use super::place::{PATIENCE, Place, Started, assert_all_gone, assert_done, shared_turn};
use super::programs::{length, place, rows};

fn study(subjects: &str, launches: u32, program: &str) -> String {
    format!(
        "title = 'Try'\nsubjects = {subjects}\nblocks = {launches}\nseed = 7\nreruns = 0\naa-pair = false\ndesign = 'slices'\n\
         [[program]]\nworkload = 'sum'\n{program}\n"
    )
}

fn folders(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.run_folder().join("trials")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn outcome<'r>(records: &'r [Value], subject: &str) -> &'r Value {
    let is_meant = |record: &&Value| record["case"].as_str().unwrap().contains(subject);
    &records.iter().find(is_meant).unwrap()["outcome"]
}

#[test]
fn programs_take_turns_run_by_run_and_every_case_has_a_record_that_can_be_made_again() {
    let _turn = shared_turn();
    let place = place(&["sound", "slow"], &study("['test/sound', 'test/slow']", 1, "runs = 5\nwarmup-runs = 1"));
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let records = place.records();
    assert_eq!(records.len(), 2);
    let places = serde_json::json!([[1, 1], [1, 2], [2, 1], [2, 2], [3, 1]]);
    for record in &records {
        let outcome = &record["outcome"];
        assert_eq!((&outcome["kind"], &outcome["warmup_runs"]), (&"timed".into(), &1.into()), "{record}");
        assert_eq!((length(&outcome["runs"]), length(&outcome["floor"])), (5, 5));
        assert_eq!((&outcome["turns"]["launch"], &outcome["turns"]["places"]), (&1.into(), &places));
    }
    // The second half of a round mirrors the first, and the runs happen in that order.
    let of_case = |(case, folder): (usize, PathBuf)| {
        let measured = rows(&folder).into_iter().filter(|row| row["warm_up"] == false && row["floor"] == false);
        measured.map(|row| (row["began_ns"].as_u64().unwrap(), case)).collect::<Vec<_>>()
    };
    let mut runs: Vec<(u64, usize)> = folders(&place).into_iter().enumerate().flat_map(of_case).collect();
    runs.sort_unstable();
    let order: Vec<usize> = runs.into_iter().map(|(_, case)| case).collect();
    for round in order[..8].chunks(4) {
        assert_eq!((round[0], round[1]), (round[3], round[2]), "{order:?}");
        assert_ne!(round[0], round[1], "{order:?}");
    }
    assert_ne!(order[8], order[9], "{order:?}");
    assert!(said.output.contains("Programs took turns, run by run."), "{}", said.output);
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.output, verified.progress);
    assert_all_gone(|| place.processes());
}

#[test]
fn a_turn_that_was_changed_is_found_by_verify() {
    let _turn = shared_turn();
    let place = place(&["sound", "slow"], &study("['test/sound', 'test/slow']", 1, "runs = 2\nwarmup-runs = 0"));
    assert_done(place.tolok(&["run", "try"]).code, "");
    let file = folders(&place)[0].join("runs.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen(r#""turn":[1,1]"#, r#""turn":[9,1]"#, 2)).unwrap();
    let verified = place.tolok(&["verify", "latest"]);
    assert_eq!(verified.code, Some(5), "{}", verified.output);
    assert!(verified.output.contains("turn"), "{}", verified.output);
}

#[test]
fn a_program_that_fails_hangs_or_does_not_start_fails_alone() {
    let _turn = shared_turn();
    let subjects = "['test/exit', 'test/hang', 'test/gone', 'test/sound', 'test/wrong']";
    let text = study(subjects, 1, "runs = 3\nwarmup-runs = 0\ntimeout = '2s'");
    let gone = "title = 'Gone'\nruntime = 'test'\nworkloads = ['sum']\n[program]\ncommand = ['/nowhere/program']\n";
    let place = place(&["exit", "hang", "sound", "wrong"], &text).with_subject("gone", gone);
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    assert_eq!(records.len(), 5);
    let check = |subject: &str, reason: &str, words: &str| {
        let outcome = outcome(&records, subject);
        assert_eq!(outcome["reason"], reason, "{outcome}");
        assert!(outcome["message"].as_str().unwrap().contains(words), "{outcome}");
    };
    check("test-exit", "crashed", "ended with exit code 3");
    check("test-hang", "hung", "did not end within 2 s");
    check("test-wrong", "wrong-answer", "wrote");
    check("test-gone", "did-not-start", "could not be started");
    let sound = outcome(&records, "test-sound");
    assert_eq!((&sound["kind"], length(&sound["runs"])), (&"timed".into(), 3), "{sound}");
    assert_all_gone(|| place.processes());
}

#[test]
fn a_program_whose_time_is_up_takes_no_further_turns() {
    let _turn = shared_turn();
    let text = study("['test/sound', 'test/slow']", 1, "runs = 4\nwarmup-runs = 0\nat-most = '150ms'");
    let place = place(&["sound", "slow"], &text);
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let records = place.records();
    assert_eq!(length(&outcome(&records, "test-slow")["runs"]), 1, "at least one run is made");
    assert_eq!(place.tolok(&["verify", "latest"]).code, Some(0));
}

/// Processes of tolok's timer for a case of this place.
fn timers(place: &Place, case: &str) -> Vec<u32> {
    let run = place.path().display().to_string();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_meant = |pid: &u32| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("program-timer") && command.contains(&run) && command.contains(case)
    };
    pids.filter(is_meant).collect()
}

/// Starts a run in whose launch a program waits at a gate that never opens.
fn at_the_gate(place: &Place) -> Started {
    let started = place.start(&["run", "try"]);
    let deadline = Instant::now() + PATIENCE;
    // The program logs a line as soon as it waits.
    while !logs(place).contains("gated 200") {
        assert!(Instant::now() < deadline, "{:?}", place.processes());
        std::thread::yield_now();
    }
    started
}

/// The output of all programs so far.
fn logs(place: &Place) -> String {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let trials = entries(place.path().join("runs")).flat_map(|run| entries(run.join("trials")));
    trials.map(|folder| fs::read_to_string(folder.join("subject.log")).unwrap_or_default()).collect()
}

fn kill(pid: u32) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

fn gated() -> Place {
    place(&["gated", "sound"], &study("['test/gated', 'test/sound']", 1, "runs = 3\nwarmup-runs = 0"))
}

#[test]
fn kill_9_of_a_timer_costs_its_case_and_no_other() {
    let _turn = shared_turn();
    let place = gated();
    let started = at_the_gate(&place);
    let timer = timers(&place, "gated");
    assert_eq!(timer.len(), 1, "{:?}", place.processes());
    kill(timer[0]);
    let (said, code) = started.finish();
    assert_eq!(code, Some(5), "{said}");
    let records = place.records();
    let failed = outcome(&records, "test-gated");
    assert_eq!(failed["reason"], "tool-failed", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("signal 9"), "{failed}");
    assert_eq!(length(&outcome(&records, "test-sound")["runs"]), 3, "{}", outcome(&records, "test-sound"));
    assert_all_gone(|| place.processes());
}

#[test]
fn ctrl_c_twice_ends_a_launch_of_programs_and_leaves_no_record() {
    let _turn = shared_turn();
    let place = gated();
    let started = at_the_gate(&place);
    let (said, code) = started.stop_at_once();
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(place.records().len(), 0, "an interrupted launch leaves no record");
    assert_all_gone(|| place.processes());
}

#[test]
fn kill_9_of_a_block_leaves_nothing_running_and_resume_runs_whole_launches() {
    let _turn = shared_turn();
    let place = gated();
    let started = at_the_gate(&place);
    kill(box_of(started.child.id()).block);
    let (said, code) = started.finish();
    assert_eq!(code, Some(5), "{said}");
    assert!(place.records().iter().all(|record| record["outcome"]["reason"] == "lab-failed"), "{said}");
    assert_all_gone(|| place.processes());
    fs::write(place.path().join("gate"), "").unwrap();
    let again = place.tolok(&["resume", "latest"]);
    assert!(again.progress.contains("2 of 2 trials left"), "{}", again.progress);
    assert!(place.records().iter().all(|record| record["outcome"]["kind"] == "timed"), "{}", again.progress);
    // One missing record costs the whole launch, because its runs alternated with the others.
    fs::remove_dir_all(&folders(&place)[0]).unwrap();
    let again = place.tolok(&["resume", "latest"]);
    assert!(again.progress.contains("2 of 2 trials left"), "{}", again.progress);
    assert_eq!(place.records().len(), 2);
    assert_all_gone(|| place.processes());
}
