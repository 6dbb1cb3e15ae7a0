//! Checks of an invented run: its contents, manipulations, and what verification finds.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use tolok_model::{
    Case, CheckOutcome, Failure, FailureKind, LedgerCounts, Measurement, Outcome, Plan, PlannedTrial, RECORD_FORMAT,
    Role, RunRecord, SubjectChoice, TrialRecord,
};

use super::*;
use crate::made::{self, empty_plan};

fn case(name: &str) -> Case {
    let subject = SubjectChoice {
        subject: format!("test/{name}"),
        variant: "default".to_owned(),
        parameters: Default::default(),
        label: format!("test/{name}"),
    };
    Case { id: format!("hello--{name}"), scenario: "hello".to_owned(), subject, role: Role::Subject, twin_of: None }
}

/// Two cases in two blocks, in the order of their seed.
fn plan() -> Plan {
    let mut plan = Plan { cases: vec![case("one"), case("two")], ..empty_plan() };
    plan.trials = plan.order_by_seed();
    plan
}

fn run_record(plan: &Plan) -> RunRecord {
    let tolok_version = env!("CARGO_PKG_VERSION").to_owned();
    RunRecord { tolok_version, plan_sha256: plan.hash(), ..made::run_record("made") }
}

fn failed(planned: &PlannedTrial, reason: FailureKind) -> TrialRecord {
    let outcome = Outcome::Failed(Failure { reason, message: "it ended".to_owned(), log_tail: Vec::new() });
    record(planned, outcome)
}

fn record(planned: &PlannedTrial, outcome: Outcome) -> TrialRecord {
    TrialRecord {
        format: RECORD_FORMAT,
        number: planned.number,
        block: planned.block,
        case: planned.case.clone(),
        started_at: "2026-11-21T10:00:01Z".to_owned(),
        took_s: 0.5,
        attempts: 1,
        isolation: None,
        commands: Vec::new(),
        outcome,
    }
}

/// Adds a trial with nothing but a failure.
fn fail(folder: &RunFolder, planned: &PlannedTrial, reason: FailureKind) {
    let trial = folder.begin_trial(planned).unwrap();
    trial.write("subject.log", b"listening\n").unwrap();
    trial.finish(&failed(planned, reason)).unwrap();
}

/// A run whose trials have all crashed, which is a valid result.
fn made() -> (TempDir, PathBuf, Plan) {
    let (runs, plan) = (tempfile::tempdir().unwrap(), plan());
    let folder = RunFolder::create(runs.path(), &run_record(&plan), &plan, "title = \"Example\"\n", &()).unwrap();
    plan.trials.iter().for_each(|planned| fail(&folder, planned, FailureKind::Crashed));
    let path = folder.path().to_owned();
    (runs, path, plan)
}

fn found(path: &Path) -> Verification {
    verify(&RunFolder::open(path))
}

fn check<'a>(found: &'a Verification, name: &str) -> &'a Check {
    found.checks.iter().find(|check| check.name == name).unwrap()
}

/// The first difference of each check that found any: the check's name, the file, and the words.
fn differences(path: &Path) -> Vec<String> {
    let found = found(path);
    let firsts = found.checks.iter().filter_map(|check| Some((check, check.differences.first()?)));
    firsts.map(|(check, first)| format!("{}: {}: {}", check.name, first.file, first.said)).collect()
}

fn first_trial(path: &Path, plan: &Plan) -> PathBuf {
    path.join(RunFolder::trial_name(&plan.trials[0]))
}

#[test]
fn a_store_that_nobody_has_touched_has_no_difference() {
    let (_runs, path, _) = made();
    let found = found(&path);
    assert_eq!(differences(&path), [""; 0]);
    assert!(found.is_equal && found.records_sha256.is_some());
    let compared: Vec<u64> = found.checks.iter().map(|check| check.compared).collect();
    assert_eq!(compared, [5, 12, 4, 4, 4], "lines, files, trials twice, and attempts");
    assert!(check(&found, "manifest").notes.is_empty());
}

#[test]
fn a_file_that_was_changed_taken_away_or_put_in_is_named() {
    let (_runs, path, plan) = made();
    let log = first_trial(&path, &plan).join("subject.log");
    let name = format!("{}/subject.log", RunFolder::trial_name(&plan.trials[0]));
    fs::write(&log, "listeninG\n").unwrap();
    let changed = format!("files: {name}: it was changed: its SHA-256 differs from the recorded one");
    assert_eq!(differences(&path), [changed]);
    fs::write(&log, "longer than it was\n").unwrap();
    assert!(differences(&path)[0].ends_with("it has 19 bytes instead of the recorded 10"));
    fs::remove_file(&log).unwrap();
    assert_eq!(differences(&path), [format!("files: {name}: it is gone")]);
    fs::write(&log, "listening\n").unwrap();
    fs::write(log.with_file_name("more.log"), "").unwrap();
    assert!(differences(&path)[0].ends_with("more.log: it was not there when its folder was recorded"));
}

#[test]
fn a_record_in_the_place_of_another_is_named() {
    let (_runs, path, plan) = made();
    let file = first_trial(&path, &plan).join("trial.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"block\": 1", "\"block\": 2")).unwrap();
    assert!(differences(&path)[1].ends_with("trial.json: block is 2 there, and 1 by plan.json"));
    fs::write(&file, "{").unwrap();
    assert!(differences(&path)[1].contains("is not a trial record of this version of tolok"));
}

#[test]
fn a_trial_that_the_plan_does_not_know_is_named() {
    let (_runs, path, plan) = made();
    let copy = path.join("trials/0099-hello--one-b1");
    fs::create_dir(&copy).unwrap();
    fs::copy(first_trial(&path, &plan).join("trial.json"), copy.join("trial.json")).unwrap();
    let found = differences(&path);
    assert!(
        found[0].starts_with("files: trials/0099-hello--one-b1: it is finished, but the manifest has no line"),
        "{found:?}"
    );
    assert_eq!(found[1], "trials: trials/0099-hello--one-b1: the plan has no such trial");
}

#[test]
fn an_order_that_the_seed_does_not_give_is_named_whatever_the_hashes() {
    let runs = tempfile::tempdir().unwrap();
    let mut plan = plan();
    // The first block has one case twice, so somebody has manipulated the order.
    plan.trials[0].case = plan.trials[1].case.clone();
    let folder = RunFolder::create(runs.path(), &run_record(&plan), &plan, "", &()).unwrap();
    let found = found(folder.path());
    let first = &check(&found, "plan").differences[0];
    assert_eq!(first.at.as_deref(), Some("trials[0].case"));
    assert!(first.said.ends_with("by the seed 7; and not every block has every case once"), "{}", first.said);
    let missing = &check(&found, "trials").notes[0];
    assert!(missing.starts_with("4 of the planned trials have no record"), "{missing}");
}

#[test]
fn a_trial_may_be_measured_anew_where_the_lab_has_failed_and_only_there() {
    let measured_again = |reason: FailureKind| {
        let (runs, plan) = (tempfile::tempdir().unwrap(), plan());
        let folder = RunFolder::create(runs.path(), &run_record(&plan), &plan, "", &()).unwrap();
        fail(&folder, &plan.trials[0], reason);
        let path = folder.path().to_owned();
        drop(folder);
        let folder = RunFolder::open_to_write(&path).unwrap();
        fail(&folder, &plan.trials[0], FailureKind::Crashed);
        (differences(&path), found(&path), runs)
    };
    let (differences, sound, _runs) = measured_again(FailureKind::LabFailed);
    assert_eq!(differences, [""; 0]);
    assert_eq!(check(&sound, "manifest").compared, 4, "the run, the trial, its withdrawal, and the trial again");
    assert!(check(&sound, "manifest").notes[0].ends_with("was repeated, because the lab had failed"));
    let (differences, ..) = measured_again(FailureKind::WrongAnswer);
    assert!(differences[0].ends_with("was measured again although it was wrong-answer"), "{differences:?}");
}

#[test]
fn a_run_that_another_tolok_still_writes_is_not_taken_for_one_that_was_stopped() {
    let (_runs, path, plan) = made();
    let planned = &plan.trials[3];
    fs::remove_dir_all(path.join(RunFolder::trial_name(planned))).unwrap();
    let note = |found: &Verification| check(found, "trials").notes[0].clone();
    assert!(note(&found(&path)).contains("the run was stopped before them"));
    let writer = RunFolder::open_to_write(&path).unwrap();
    let of_running = note(&found(&path));
    assert!(of_running.starts_with("1 of the planned trials have no record"), "{of_running}");
    assert!(of_running.contains("the run is still going, because another tolok holds its lock"), "{of_running}");
    drop(writer);
}

#[test]
fn a_run_that_ends_while_it_is_verified_is_judged_by_its_state_at_the_start() {
    let (runs, plan) = (tempfile::tempdir().unwrap(), plan());
    let writer = RunFolder::create(runs.path(), &run_record(&plan), &plan, "", &()).unwrap();
    let reader = RunFolder::open(writer.path());
    let (is_at_work, manifest) = (RunFolder::is_at_work(reader.path()), reader.manifest().unwrap().unwrap());
    fail(&writer, &plan.trials[0], FailureKind::Crashed);
    drop(writer);
    let files = files::check(&reader, &manifest, is_at_work);
    assert!(files.differences.is_empty(), "the manifest was read before the trial ended: {files:?}");
    let note = &plan::trials(&reader, &plan, is_at_work).notes[0];
    assert!(note.starts_with("3 of the planned trials have no record") && note.contains("still going"), "{note}");
}

#[test]
fn what_a_kill_has_left_out_is_entered_late_and_says_so() {
    let (_runs, path, plan) = made();
    let manifest = path.join("manifest.jsonl");
    let text = fs::read_to_string(&manifest).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(&manifest, &text[..text.len() - last.len() / 2]).unwrap();
    let torn = differences(&path);
    assert!(torn[0].starts_with("manifest: manifest.jsonl: its last line is torn"), "{torn:?}");
    assert!(torn[1].contains("the manifest has no line for it"), "{torn:?}");

    drop(RunFolder::open_to_write(&path).unwrap());
    let found = found(&path);
    assert!(found.is_equal, "{found:?}");
    let last = RunFolder::trial_name(&plan.trials[3]);
    let note = &check(&found, "manifest").notes[0];
    assert!(note.starts_with(&format!("entered late, when the run resumed: {last};")), "{note}");
}

#[test]
fn a_run_without_a_manifest_says_so_and_is_given_one_that_came_late_when_it_goes_on() {
    let (_runs, path, _) = made();
    fs::remove_file(path.join("manifest.jsonl")).unwrap();
    let without = found(&path);
    assert!(without.is_equal && without.records_sha256.is_none());
    assert_eq!(check(&without, "manifest").outcome, CheckOutcome::NotChecked);
    assert!(check(&without, "manifest").said.starts_with("manifest.jsonl is missing"));
    drop(RunFolder::open_to_write(&path).unwrap());
    let late = found(&path);
    assert!(late.is_equal && late.records_sha256.is_some());
    let note = &check(&late, "manifest").notes[0];
    assert!(note.starts_with("entered late, when the run resumed: the run's own files and 4 more;"), "{note}");
}

#[test]
fn a_record_of_which_nothing_raw_is_left_is_named() {
    let (_runs, path, plan) = made();
    let outcome = Outcome::Completed(Box::new(measurement()));
    let file = first_trial(&path, &plan).join("trial.json");
    fs::write(&file, serde_json::to_string_pretty(&record(&plan.trials[0], outcome)).unwrap()).unwrap();
    let found = differences(&path);
    let of_figures = found.iter().find(|found| found.starts_with("figures")).unwrap();
    assert!(of_figures.contains("its figures cannot be recomputed: the plan has no such scenario"), "{found:?}");
}

#[test]
fn recorded_commands_are_those_that_were_written_down() {
    let (_runs, path, plan) = made();
    let trial = first_trial(&path, &plan);
    let agree = |outcome: Outcome, recorded: &[&str], written: &str| {
        let commands = recorded.iter().map(|command| (*command).to_owned()).collect();
        let record = TrialRecord { commands, ..record(&plan.trials[0], outcome) };
        fs::write(trial.join("trial.json"), serde_json::to_string_pretty(&record).unwrap()).unwrap();
        fs::write(trial.join("command.txt"), written).unwrap();
        let found = found(&path);
        let mut differences = check(&found, "figures").differences.iter();
        !differences.any(|one| one.at.as_deref() == Some("commands"))
    };
    let server = || Outcome::Completed(Box::new(measurement()));
    assert!(agree(server(), &["bun app.js"], "bun app.js\ntolok load\n"), "the load tool's own command follows");
    assert!(!agree(server(), &["bun other.js"], "bun app.js\ntolok load\n"));
    assert!(!agree(server(), &[], "bun app.js\ntolok load\n"), "tolok started the server");
    let program = || Outcome::Timed(Box::default());
    assert!(agree(program(), &["./queue"], "./queue\n"));
    assert!(!agree(program(), &["./queue"], "./queue\n./another\n"));
}

fn measurement() -> Measurement {
    let text = json!({
        "cold_start_s": 0.1, "window_s": 1.0, "goodput_rps": 1.0, "body_bytes": 1, "ledger": LedgerCounts::default(),
        "latency": { "loop": "closed", "percentiles": [] },
        "subject": tolok_model::Resources::default(), "generator": tolok_model::Resources::default(),
        "host": tolok_model::HostWindow::default()
    });
    serde_json::from_value(text).unwrap()
}
