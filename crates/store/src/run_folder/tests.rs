//! Runs on disk: written, read back, interrupted, claimed twice.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use tolok_model::{Failure, FailureKind, Outcome};

use super::*;
use crate::Attempt;
use crate::made::{empty_plan, run_record};

/// Two trials of one case. The store only needs their names.
fn plan() -> Plan {
    let trial = |number| PlannedTrial { number, block: number, case: "json-c64--go-nethttp".to_owned(), launch: None };
    Plan { trials: vec![trial(1), trial(2)], ..empty_plan() }
}

fn trial_record(trial: &PlannedTrial) -> TrialRecord {
    let failure = Failure { reason: FailureKind::Crashed, message: "it ended".to_owned(), log_tail: Vec::new() };
    TrialRecord {
        format: RECORD_FORMAT,
        number: trial.number,
        block: trial.block,
        case: trial.case.clone(),
        started_at: "2026-11-21T10:00:01Z".to_owned(),
        took_s: 0.1 + 0.2,
        attempts: 1,
        isolation: None,
        commands: vec!["server --port 1".to_owned()],
        outcome: Outcome::Failed(failure),
    }
}

/// A run that has just begun. The folder that contains it comes first, so it outlives the run.
fn begun() -> (TempDir, RunFolder, Plan) {
    let runs = tempfile::tempdir().unwrap();
    let folder =
        RunFolder::create(runs.path(), &run_record("first"), &plan(), "title = \"Example\"\n", &["Go", "Bun"]).unwrap();
    (runs, folder, plan())
}

fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_reads_back_as_it_was_written() {
    let (_runs, folder, plan) = begun();
    let trial = folder.begin_trial(&plan.trials[0]).unwrap();
    trial.write("command.txt", b"server --port 1\n").unwrap();
    trial.write_lines("samples.jsonl", &[serde_json::json!({ "at_s": 1 }), serde_json::json!({ "at_s": 2 })]).unwrap();
    trial.finish(&trial_record(&plan.trials[0])).unwrap();

    let stored = RunFolder::open(folder.path()).read().unwrap();
    assert_eq!(stored.run, run_record("first"));
    assert_eq!(stored.plan, plan);
    assert_eq!(stored.trials, [trial_record(&plan.trials[0])]);
    let kept = folder.path().join("trials/0001-json-c64--go-nethttp-b1");
    assert_eq!(names_in(&kept), ["command.txt", "samples.jsonl", "trial.json"]);
    assert_eq!(fs::read_to_string(kept.join("samples.jsonl")).unwrap(), "{\"at_s\":1}\n{\"at_s\":2}\n");
    assert_eq!(
        names_in(folder.path()),
        [".lock", "manifest.jsonl", "names.json", "plan.json", "run.json", "study.toml", "trials"]
    );
}

#[test]
fn values_of_other_crates_are_kept_under_the_format_of_the_run() {
    let (_runs, folder, _) = begun();
    assert_eq!(folder.names::<Vec<String>>().unwrap(), ["Go", "Bun"]);
}

#[test]
fn reports_replace_earlier_ones_and_leave_nothing_beside_them() {
    let (_runs, folder, _) = begun();
    for text in ["old and long", "new"] {
        let path = folder.write("report.md", text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    let names = [".lock", "manifest.jsonl", "names.json", "plan.json", "report.md", "run.json", "study.toml"];
    assert_eq!(names_in(folder.path()), names);
}

#[test]
fn a_format_of_another_version_is_refused() {
    let (_runs, folder, _) = begun();
    let path = folder.path().join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    let check = |text: &str, reason: &str| {
        fs::write(&path, text).unwrap();
        let expect = format!("{} is not a run of this version of tolok: {reason}", path.display());
        assert_eq!(folder.read().unwrap_err().to_string(), expect);
    };
    let newer = "its format is 99, and 4 is known; read it with the version that wrote it";
    check(&text.replace("\"format\": 4", "\"format\": 99"), newer);
    let older = "its format is 3, and 4 is known; read it with the version that wrote it";
    check(&text.replace("\"format\": 4", "\"format\": 3"), older);
    check("{}", "it has no `format`");
    check("{ \"format\"", "EOF while parsing an object at line 1 column 10");
    check("{ \"format\": 4 }", "missing field `id` at line 1 column 15");
}

#[test]
fn a_trial_without_its_record_is_not_finished_and_is_begun_anew() {
    let (_runs, folder, plan) = begun();
    // The state after a kill: begun, with a log, and with a record that was never renamed.
    let killed = folder.begin_trial(&plan.trials[0]).unwrap();
    killed.write("subject.log", b"listening\n").unwrap();
    killed.write(".trial.json.4711", b"{ \"format\": 1, \"num").unwrap();
    assert!(!folder.is_finished(&plan.trials[0]));
    assert_eq!(folder.read().unwrap().trials, []);

    let again = folder.begin_trial(&plan.trials[0]).unwrap();
    assert_eq!(names_in(again.path()), [""; 0]);
    again.finish(&trial_record(&plan.trials[0])).unwrap();
    assert!(folder.is_finished(&plan.trials[0]) && !folder.is_finished(&plan.trials[1]));
}

#[test]
fn an_abandoned_trial_leaves_nothing() {
    let (_runs, folder, plan) = begun();
    let trial = folder.begin_trial(&plan.trials[0]).unwrap();
    trial.write("subject.log", b"listening\n").unwrap();
    trial.abandon().unwrap();
    assert_eq!(names_in(&folder.path().join("trials")), [""; 0]);
}

#[test]
fn a_run_can_be_read_while_it_is_written() {
    let (_runs, folder, plan) = begun();
    assert!(matches!(RunFolder::open_to_write(folder.path()), Err(StoreError::Busy { .. })));
    assert_eq!(RunFolder::open(folder.path()).read().unwrap().plan, plan);
}

#[test]
fn whether_a_run_is_at_work_can_be_asked_without_taking_its_lock() {
    let (_runs, folder, _) = begun();
    let path = folder.path().to_owned();
    assert!(RunFolder::is_at_work(&path));
    drop(folder);
    assert!(!RunFolder::is_at_work(&path));
    // A check does not count as a writer: two checks can run at once, and the next writer is not blocked.
    assert!(!RunFolder::is_at_work(&path));
    let again = RunFolder::open_to_write(&path).unwrap();
    assert!(RunFolder::is_at_work(again.path()));
    assert!(!RunFolder::is_at_work(&path.join("nowhere")));
}

#[test]
fn a_run_is_never_begun_in_the_folder_of_another() {
    let (runs, folder, plan) = begun();
    drop(folder);
    let error = RunFolder::create(runs.path(), &run_record("first"), &plan, "other", &()).unwrap_err();
    let path = runs.path().join("first");
    assert_eq!(
        error.to_string(),
        format!(
            "cannot write {}: it exists already; move it away, or choose another folder with --runs DIR",
            path.display()
        )
    );
    assert_eq!(fs::read_to_string(path.join("study.toml")).unwrap(), "title = \"Example\"\n");
}

#[test]
fn runs_are_found_by_path_by_name_and_as_the_latest() {
    let (runs, first, plan) = begun();
    let second = RunFolder::create(runs.path(), &run_record("second"), &plan, "", &()).unwrap();
    // The clocks of file systems are coarse, so the test sets the order explicitly.
    let later =
        fs::metadata(second.path().join("run.json")).unwrap().modified().unwrap() + std::time::Duration::from_secs(9);
    File::options().write(true).open(first.path().join("run.json")).unwrap().set_modified(later).unwrap();

    let find = |name: &str| RunFolder::find(runs.path(), name);
    assert_eq!(find("second").unwrap(), second.path());
    assert_eq!(find(second.path().to_str().unwrap()).unwrap(), second.path());
    assert_eq!(find("latest").unwrap(), first.path());
    fs::create_dir(runs.path().join("third")).unwrap();
    let expect = format!(
        "there is no run `third`: neither in a folder of that name nor in {}; the nearest are first, second; `tolok list runs` \
         shows all, and --runs DIR names another folder",
        runs.path().display()
    );
    assert_eq!(find("third").unwrap_err().to_string(), expect);
    let nowhere = RunFolder::find(&runs.path().join("nowhere"), "latest").unwrap_err();
    assert!(nowhere.to_string().starts_with("there is no run `latest`"));
}

#[test]
fn the_name_of_a_study_stands_for_its_newest_run() {
    let (runs, first, plan) = begun();
    RunFolder::create(
        runs.path(),
        &RunRecord { study: "other".to_owned(), ..run_record("2026-other") },
        &plan,
        "",
        &(),
    )
    .unwrap();
    assert_eq!(RunFolder::find(runs.path(), "example").unwrap(), first.path());
    let second = RunFolder::create(runs.path(), &run_record("second"), &plan, "", &()).unwrap();
    let later =
        fs::metadata(first.path().join("run.json")).unwrap().modified().unwrap() + std::time::Duration::from_secs(9);
    File::options().write(true).open(second.path().join("run.json")).unwrap().set_modified(later).unwrap();
    assert_eq!(RunFolder::find(runs.path(), "example").unwrap(), second.path());
}

#[test]
fn the_beginning_of_a_name_is_enough_where_no_other_run_begins_so() {
    let (runs, first, plan) = begun();
    let fifth = RunFolder::create(runs.path(), &run_record("fifth"), &plan, "", &()).unwrap();
    let find = |name: &str| RunFolder::find(runs.path(), name);
    assert_eq!((find("fir").unwrap(), find("fif").unwrap()), (first.path().to_owned(), fifth.path().to_owned()));
    let expect =
        format!("`fi` matches 2 runs in {}, such as first, fifth; type more of the name", runs.path().display());
    assert_eq!(find("fi").unwrap_err().to_string(), expect);
    assert!(find("").unwrap_err().to_string().starts_with("there is no run ``"));
}

#[test]
fn where_nothing_can_be_written_one_sentence_says_what_to_do() {
    // Not even root can create a folder below a file.
    let runs = tempfile::NamedTempFile::new().unwrap();
    let error = RunFolder::create(&runs.path().join("runs"), &run_record("first"), &plan(), "", &()).unwrap_err();
    let path = runs.path().join("runs/first");
    let expect = format!(
        "cannot write {}: Not a directory (os error 20); choose a folder that you may write with --runs DIR",
        path.display()
    );
    assert_eq!(error.to_string(), expect);
}

#[test]
fn the_umask_of_the_user_decides_who_may_read_a_run() {
    use std::os::unix::fs::PermissionsExt;
    let (_runs, folder, _) = begun();
    let plain = folder.path().join("plain");
    File::create(&plain).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&folder.path().join("run.json")), mode(&plain));
}

#[test]
fn events_are_kept_in_their_order_and_a_torn_one_is_cut_off_when_the_run_goes_on() {
    let (_runs, folder, _) = begun();
    let text = || fs::read_to_string(folder.path().join("events.jsonl")).unwrap();
    let mut log = folder.events().unwrap();
    for event in ["run-started", "run-ended"] {
        log.append(&serde_json::json!({ "event": event })).unwrap();
    }
    drop(log);
    assert_eq!(text(), "{\"event\":\"run-started\"}\n{\"event\":\"run-ended\"}\n");
    // A possible state after a kill.
    fs::write(folder.path().join("events.jsonl"), "{\"event\":\"run-started\"}\n{\"eve").unwrap();
    folder.events().unwrap().append(&serde_json::json!({ "event": "again" })).unwrap();
    assert_eq!(text(), "{\"event\":\"run-started\"}\n{\"event\":\"again\"}\n");
}

#[test]
fn a_place_for_runs_is_tried_and_left_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    RunFolder::try_place(&root.path().join("new/runs")).unwrap();
    RunFolder::try_place(root.path()).unwrap();
    assert_eq!(root.path().read_dir().unwrap().count(), 0);
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.join("runs"), file, "/proc/nope".into()] {
        let refused = RunFolder::try_place(&place).unwrap_err();
        assert!(refused.is_of_the_folder(), "{}: {refused}", place.display());
    }
}

fn block_of(plan: &Plan, block: u32) -> Vec<&PlannedTrial> {
    plan.trials.iter().filter(|trial| trial.block == block).collect()
}

/// Finishes these trials like a block on another machine, and returns the folder of its record.
fn measure_apart(run: &RunFolder, attempt: &Attempt, trials: &[&PlannedTrial]) -> String {
    let there = RunFolder::open(&run.path().join(attempt.name()));
    for trial in trials {
        there.begin_trial(trial).unwrap().finish(&trial_record(trial)).unwrap();
    }
    let record = BlockRecord {
        format: RECORD_FORMAT,
        block: trials[0].block,
        trials: Vec::new(),
        started_at: "2026-11-21T10:00:00Z".to_owned(),
        tolok_version: "0.1.0".to_owned(),
        machine: Default::default(),
        fingerprint: serde_json::Value::Null,
        node: None,
        generators: Vec::new(),
    };
    there.begin_block(&record).unwrap()
}

#[test]
fn a_block_of_another_machine_enters_the_run_whole() {
    let (_runs, run, plan) = begun();
    let (trials, attempt) = (block_of(&plan, 1), run.begin_attempt(1).unwrap());
    let record = measure_apart(&run, &attempt, &trials);
    assert!(run.read().unwrap().trials.is_empty(), "it is not part of the run yet");
    run.adopt(&attempt, &record, &trials).unwrap();
    let read = run.read().unwrap();
    assert_eq!((read.trials.len(), read.blocks.len()), (trials.len(), 1));
    let manifest = run.manifest().unwrap().unwrap();
    assert!(trials.iter().all(|trial| manifest.standing().contains_key(RunFolder::trial_name(trial).as_str())));
    assert!(!run.folder().has(attempt.name()), "the attempt's folder is gone");
}

#[test]
fn what_a_lost_machine_wrote_stays_apart_and_is_in_no_figure() {
    let (_runs, run, plan) = begun();
    let (trials, lost) = (block_of(&plan, 1), run.begin_attempt(1).unwrap());
    measure_apart(&run, &lost, &trials[..1]);
    let again = run.begin_attempt(1).unwrap();
    assert_eq!((lost.name(), again.name()), ("attempts/b1-1", "attempts/b1-2"));
    let record = measure_apart(&run, &again, &trials);
    run.adopt(&again, &record, &trials).unwrap();
    assert_eq!(run.read().unwrap().trials.len(), trials.len());
    assert!(lost.outcome(trials[0]).is_ok(), "it is kept");
}

/// The state after `kill -9` when the first trial was moved: its record is in the run, and the others are still in the attempt.
#[test]
fn a_block_that_was_cut_off_on_its_way_into_the_run_is_whole_when_the_run_is_opened_again() {
    let (runs, run, _) = begun();
    let plan =
        Plan { trials: plan().trials.into_iter().map(|trial| PlannedTrial { block: 1, ..trial }).collect(), ..plan() };
    fs::write(run.path().join("plan.json"), serde_json::to_vec(&plan).unwrap()).unwrap();
    let (trials, attempt) = (block_of(&plan, 1), run.begin_attempt(1).unwrap());
    let record = measure_apart(&run, &attempt, &trials);
    let marker = serde_json::json!({ "format": RECORD_FORMAT, "block": record, "trials": [1, 2] });
    fs::write(run.path().join(attempt.name()).join("whole.json"), marker.to_string()).unwrap();
    let path = run.path().to_owned();
    let moved = RunFolder::trial_name(trials[0]);
    fs::create_dir_all(path.join("trials")).unwrap();
    fs::rename(path.join(attempt.name()).join(&moved), path.join(&moved)).unwrap();
    drop(run);
    let again = RunFolder::open_to_write(&path).unwrap();
    let read = again.read().unwrap();
    assert_eq!((read.trials.len(), read.blocks.len(), again.attempts().len()), (2, 1, 0));
    let manifest = again.manifest().unwrap().unwrap();
    assert!(trials.iter().all(|trial| manifest.standing().contains_key(RunFolder::trial_name(trial).as_str())));
    drop(runs);
}
