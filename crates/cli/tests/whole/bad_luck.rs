//! Faulty subjects: each yields a typed record with its log, and the study continues.

use serde_json::Value;

use crate::place::{Place, shared_turn};
use crate::replicate;

/// Runs a faulty subject beside a good one. Returns the outcome of the faulty one's first trial.
fn outcome_of(fault: &str) -> Value {
    outcome_under("duration = '1s', warmup = '50ms', timeout = '1s'", fault)
}

/// Like [`outcome_of`], under this load of four users.
fn outcome_under(load: &str, fault: &str) -> Value {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("good", "none").with_faulty("bad", fault);
    let study = format!(
        "title = 'Try'\nsubjects = ['test/good', 'test/bad']\nblocks = 1\nseed = 7\nceiling = false\naa-pair = false\nreruns = 0\n\
         [[scenario]]\nworkload = 'hello'\nload = {{ executor = 'constant-vus', vus = 4, {load} }}\n"
    );
    std::fs::write(place.path().join("studies/try.toml"), study).unwrap();
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    assert_eq!(records.len(), 2, "{}", said.progress);
    let of = |name: &str| records.iter().find(|record| record["case"].as_str().unwrap().contains(name)).unwrap();
    let good = &of("good")["outcome"];
    assert_eq!(good["kind"], "completed", "the good subject must not suffer: {good}");
    assert!(said.output.contains("Faulty bad"), "the report must name the failed subject:\n{}", said.output);
    assert_eq!(place.processes(), Vec::<String>::new());
    of("bad")["outcome"].clone()
}

fn assert_failure(outcome: &Value, reason: &str, message: &str, log: &str) {
    assert_eq!(outcome["kind"], "failed", "{outcome}");
    assert_eq!(outcome["reason"], reason, "{outcome}");
    assert!(outcome["message"].as_str().unwrap().contains(message), "{outcome}");
    let tail = outcome["log_tail"].to_string();
    assert!(tail.contains(log), "the log's tail must say {log:?}: {tail}");
}

#[test]
fn a_subject_that_ends_at_its_start_did_not_start() {
    let outcome = outcome_of("exit-at-start");
    assert_failure(
        &outcome,
        "did-not-start",
        "ended with exit code 4 before its first correct response",
        "as it was told",
    );
}

#[test]
fn a_subject_that_never_starts_is_tried_in_two_rounds_only() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("good", "none").with_faulty("bad", "exit-at-start");
    let place = place.with_study("['test/good', 'test/bad']", 4, "1s");
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let mut records = place.records();
    records.sort_by_key(|record| record["number"].as_u64());
    let (bad, good): (Vec<&Value>, Vec<&Value>) =
        records.iter().partition(|record| record["case"].as_str().unwrap().contains("bad"));
    assert!(good.iter().all(|record| record["outcome"]["kind"] == "completed"), "{}", said.progress);
    let messages: Vec<&str> = bad.iter().map(|record| record["outcome"]["message"].as_str().unwrap()).collect();
    let first = "process server ended with exit code 4 before its first correct response";
    let later = format!("not tried again after two rounds: {first}");
    assert_eq!(messages, [first, first, &later, &later]);
    assert!(bad.iter().all(|record| record["outcome"]["reason"] == "did-not-start"), "{bad:?}");
}

#[test]
fn a_subject_that_never_listens_did_not_start() {
    assert_failure(&outcome_of("never-listen"), "did-not-start", "no correct response within 3 s", "");
}

#[test]
fn a_subject_that_takes_requests_and_never_answers_did_not_start() {
    assert_failure(&outcome_of("hang"), "did-not-start", "no correct response within 3 s", "");
}

#[test]
fn a_subject_with_another_body_answers_wrongly() {
    assert_failure(&outcome_of("wrong-body"), "wrong-answer", "different from byte", "");
}

#[test]
fn a_subject_that_ends_under_load_crashed() {
    assert_failure(&outcome_of("crash-after=200"), "crashed", "ended with exit code 3", "200");
}

#[test]
fn a_subject_that_falls_silent_under_load_hung() {
    assert_failure(&outcome_of("hang-after=1"), "hung", "none was answered correctly", "");
}

/// There is no warm-up, and the fault comes after a hundred times the requests of the readiness check, so the silence begins inside
/// the window on any machine. With this time-out, no request fails before the window ends.
#[test]
fn a_subject_that_falls_silent_inside_the_window_hung() {
    let load = "duration = '1500ms', warmup = '0ms', timeout = '10s'";
    let outcome = outcome_under(load, "hang-after=100");
    assert_failure(&outcome, "hung", "no correct response came after the first 0.", "");
    assert_failure(&outcome, "hung", "every user was waiting at its end", "");
}

#[test]
fn a_port_that_is_always_taken_is_tried_again_on_others_and_then_reported() {
    let outcome = outcome_of("refuse-port");
    assert_failure(&outcome, "did-not-start", "exit code 1", "address already in use");
}

#[test]
fn a_build_that_fails_is_a_record_with_what_the_compiler_said() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("good", "none").with_subject(
        "unbuilt",
        "title = 'Unbuilt'\nruntime = 'test'\nworkloads = ['hello']\n\
         [build]\ncommand = ['sh', '-c', 'echo there is a typo in line 3 >&2; exit 2']\n\
         [[process]]\nname = 'server'\ncommand = ['{{ build }}/server']\n",
    );
    let place = place.with_study("['test/good', 'test/unbuilt']", 1, "1s");
    let said = place.tolok(&["run", "try"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    let records = place.records();
    let failed = records.iter().find(|record| record["outcome"]["kind"] == "failed").unwrap();
    assert_failure(&failed["outcome"], "build-failed", "ended with exit status: 2", "there is a typo in line 3");
}

#[test]
fn without_any_runtime_the_commands_that_would_help_are_named() {
    let place = Place::new().with_subject(
        "go",
        "title = 'Go'\nruntime = 'go'\nneeds = ['bun']\nworkloads = ['hello']\n\
         [[process]]\nname = 'server'\ncommand = ['{{ program.bun.path }}']\n",
    );
    let place = place.with_study("['*']", 1, "200ms");
    let empty = place.path().join("empty");
    let output = place.command(&["run", "try"]).env("PATH", &empty).env("TOLOK_TOOLBOX", &empty).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("bun is missing") && said.contains("tolok setup"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_written_is_one_sentence() {
    let place = Place::new().with_faulty("good", "none").with_study("['test/good']", 1, "200ms");
    // A file in place of a folder stops root, too.
    std::fs::write(place.path().join("file"), "").unwrap();
    let said = place.tolok(&["run", "try", "--runs", "file/runs"]);
    assert_eq!(said.code, Some(2));
    let complaint = said.progress.lines().last().unwrap();
    assert!(complaint.starts_with("error: cannot write file/runs"), "{}", said.progress);
}

#[test]
fn a_full_disk_is_one_sentence_and_what_is_finished_stays() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("good", "none").with_study("['test/good']", 40, "50ms");
    let small = place.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let mount = |arguments: &[&str]| std::process::Command::new("mount").args(arguments).arg(&small).status();
    let mounted = mount(&["-t", "tmpfs", "-o", "size=400k", "tmpfs"]).is_ok_and(|status| status.success());
    tolok_testkit::require!(mounted, "a small file system cannot be mounted here (needs root)");
    let said = place.tolok(&["run", "try", "--runs", "small"]);
    let finished = std::process::Command::new("sh")
        .args(["-c", "for record in */trials/*/trial.json; do tail -c 2 $record; done"])
        .current_dir(&small)
        .output()
        .unwrap();
    let unmounted = std::process::Command::new("umount").arg("-l").arg(&small).status().unwrap();
    assert!(unmounted.success());
    assert_eq!(said.code, Some(1), "{}", said.progress);
    assert!(said.progress.contains("the disk is full"), "{}", said.progress);
    let ends = String::from_utf8(finished.stdout).unwrap();
    assert!(ends.len() >= 2 && ends.chars().all(|end| end == '}' || end == '\n'), "every record is whole: {ends:?}");
}

#[test]
fn resuming_a_finished_run_only_reports_it_but_a_replication_stays_unsound() {
    let _turn = shared_turn();
    let place = replicate::place().with_faulty("quick", "exit-at-start");
    let replicated = place.tolok(&["replicate", "doe", "--part", "more"]);
    assert_eq!(replicated.code, Some(5), "{}", replicated.progress);
    let replication = ["replicate", "doe", "--part", "more", "--resume"];
    for (arguments, code) in [(&["resume", "latest"][..], 0), (&replication[..], 5)] {
        let again = place.tolok(arguments);
        assert!(again.progress.contains("is finished: nothing is left to run"), "{}", again.progress);
        assert_eq!(again.code, Some(code), "{}", again.progress);
    }
}
