//! `tolok compare` on stored runs: its output and exit code.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use tolok_store::RunFolder;

#[path = "../../../analysis/tests/invented/mod.rs"]
pub mod invented;

use invented::InventedRun;
use invented::two_runs::{AFTER, BEFORE, Life, elsewhere, ragged, run, several};

/// Writes a run into a folder of runs, as the lab would.
fn store(runs: &Path, name: &str, invented: &InventedRun) {
    let record = tolok_model::RunRecord { id: name.to_owned(), ..invented.run.clone() };
    let folder = RunFolder::create(runs, &record, &invented.plan, "title = \"Invented\"\n", &invented.names).unwrap();
    for trial in &invented.trials {
        let planned = invented.plan.trials.iter().find(|planned| planned.number == trial.number).unwrap();
        folder.begin_trial(planned).unwrap().finish(trial).unwrap();
    }
}

/// Two runs under the names `before` and `after`.
fn stored(runs: &(InventedRun, InventedRun)) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), "before", &runs.0);
    store(folder.path(), "after", &runs.1);
    folder
}

/// Two runs of five rounds; the second with this value for Go.
fn five_blocks(go: f64) -> (InventedRun, InventedRun) {
    (run(Life { blocks: 5, ..BEFORE }), run(Life { blocks: 5, go, ..AFTER }))
}

/// Standard output, standard error, and the exit code.
fn compare(runs: &Path, options: &[&str]) -> (String, String, i32) {
    asked(runs, &[&["before", "after"], options].concat())
}

fn asked(runs: &Path, options: &[&str]) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_tolok"))
        .arg("compare")
        .args(options)
        .arg("--runs")
        .arg(runs)
        .env("NO_COLOR", "1")
        .env("TOLOK_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (printed, said, output.status.code().unwrap())
}

#[test]
fn a_change_of_a_pair_is_printed_and_leaves_with_4() {
    let runs = stored(&five_blocks(0.9));
    let (printed, said, code) = compare(runs.path(), &[]);
    insta::assert_snapshot!(printed);
    assert_eq!((said.as_str(), code), ("", 4));
}

/// Three runs of each side, `a0` to `a2` and `b0` to `b2`; the later ones with this value for Go.
fn three_of_each(go: f64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, runs) in [("a", several(3, 0.01, 1.0, 1)), ("b", several(3, 0.01, go, 4))] {
        runs.iter().enumerate().for_each(|(place, run)| store(folder.path(), &format!("{name}{place}"), run));
    }
    folder
}

const THREE_OF_EACH: [&str; 8] = ["--before", "a0", "a1", "a2", "--after", "b0", "b1", "b2"];

#[test]
fn a_regression_of_several_runs_is_printed_and_leaves_with_3() {
    let runs = three_of_each(0.85);
    let (printed, said, code) = asked(runs.path(), &THREE_OF_EACH);
    insta::assert_snapshot!(printed);
    assert_eq!((said.as_str(), code), ("", 3));
}

#[test]
fn several_equal_runs_leave_with_no_regression() {
    let runs = three_of_each(1.0);
    let (printed, _, code) = asked(runs.path(), &[&THREE_OF_EACH[..], &["--metric", "goodput"]].concat());
    assert!(!printed.contains("regression\n") && [0, 4].contains(&code), "{printed}");
}

#[test]
fn a_side_of_one_run_and_a_pair_beside_sides_are_usage_errors() {
    let runs = three_of_each(1.0);
    let (_, said, code) = asked(runs.path(), &["--before", "a0", "a1", "--after", "b0"]);
    assert!(said.contains("one side has a single run"), "{said}");
    assert_eq!(code, 2);
    let (_, said, code) = asked(runs.path(), &["--before", "a0", "a1"]);
    assert!(said.contains("--after"), "{said}");
    assert_eq!(code, 2);
    let (_, said, code) = asked(runs.path(), &["a0"]);
    assert!(said.contains("compare takes two runs, and this is one") && said.contains("tolok report a0"), "{said}");
    assert_eq!(code, 2);
}

#[test]
fn a_study_over_time_names_the_run_at_which_a_level_changes() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [several(4, 0.008, 1.0, 1), several(4, 0.008, 0.88, 5)].concat();
    runs.iter().for_each(|run| store(folder.path(), &run.run.id, run));
    let (printed, said, code) = asked(folder.path(), &["--history", "api"]);
    assert!(printed.contains("goodput 0.88× from 2026-11-25-api-000005 on (worse)"), "{printed}");
    assert!(printed.contains("build of go/nethttp: 60600000000000aa → 60600000000000bb"), "{printed}");
    assert_eq!((said.as_str(), code), ("", 0));
    let three = ["--history", "2026-11-21-api-000001", "2026-11-22-api-000002", "2026-11-23-api-000003"];
    let (_, said, code) = asked(folder.path(), &three);
    assert!(said.contains("a history needs at least 4 comparable runs of one study; found 3"), "{said}");
    assert_eq!(code, 2);
}

#[test]
fn every_format_goes_to_a_file_as_well() {
    let runs = stored(&five_blocks(0.9));
    for (format, begins) in [
        ("md", "## Changed between these two runs"),
        ("json", "{\n"),
        ("csv", "run_before,"),
        ("text", "Changed between these two runs: "),
    ] {
        let file = runs.path().join(format);
        let (printed, _, code) = compare(runs.path(), &["--format", format, "-o", file.to_str().unwrap()]);
        assert_eq!((printed.as_str(), code), ("", 4));
        assert!(std::fs::read_to_string(file).unwrap().starts_with(begins), "{format}");
    }
}

#[test]
fn two_runs_of_the_same_leave_with_0() {
    let runs = stored(&five_blocks(1.0));
    let (printed, said, code) = compare(runs.path(), &[]);
    assert!(printed.starts_with("No regression found: "), "{printed}");
    assert_eq!((said.as_str(), code), ("", 0));
}

#[test]
fn a_threshold_and_figures_can_be_chosen() {
    let runs = stored(&five_blocks(0.9));
    let (printed, _, code) = compare(runs.path(), &["--threshold", "20%", "--metric", "goodput"]);
    assert!(printed.contains("nothing that was judged is worse by 20% or more"), "{printed}");
    assert_eq!(code, 0);
    let (printed, _, code) = compare(runs.path(), &["--metric", "memory,cold-start", "--verbose"]);
    assert!(printed.contains("cold start") && !printed.contains("goodput"), "{printed}");
    assert_eq!(code, 0);
}

#[test]
fn an_undecided_comparison_leaves_with_4() {
    let runs = stored(&ragged());
    let (printed, _, code) = compare(runs.path(), &[]);
    assert!(printed.starts_with("Cannot tell: 1 case may not be ranked any more"), "{printed}");
    assert_eq!(code, 4);
}

#[test]
fn a_run_in_which_nothing_may_be_ranked_leaves_with_5() {
    let (before, mut after) = five_blocks(1.0);
    let reason = tolok_model::FailureKind::Crashed;
    let failure = tolok_model::Failure { reason, message: "it ended".to_owned(), log_tail: Vec::new() };
    after.trials.iter_mut().for_each(|trial| trial.outcome = tolok_model::Outcome::Failed(failure.clone()));
    let runs = stored(&(before, after));
    let (printed, _, code) = compare(runs.path(), &[]);
    assert!(printed.starts_with("Not sound: no case of the run after may be ranked"), "{printed}");
    assert_eq!(code, 5);
}

#[test]
fn other_conditions_are_refused_with_2_unless_they_are_allowed() {
    let runs = stored(&elsewhere());
    let (printed, said, code) = compare(runs.path(), &[]);
    assert_eq!((printed.as_str(), code), ("", 2));
    insta::assert_snapshot!(said);
    let (printed, said, code) = compare(runs.path(), &["--allow-differences"]);
    assert!(printed.contains("The conditions differ, which was allowed."), "{printed}");
    assert_eq!((said.as_str(), code), ("", 0));
}

#[test]
fn a_run_is_not_compared_with_itself() {
    let runs = stored(&five_blocks(1.0));
    let twice = |options: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_tolok")).args(options).arg("--runs").arg(runs.path()).output();
        let output = output.unwrap();
        (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
    };
    let (said, code) = twice(&["compare", "after", "after"]);
    assert_eq!(
        said,
        "error: the run after is named twice; comparing a run with itself shows nothing (tolok list runs shows all)\n"
    );
    assert_eq!(code, 2);
    let (said, code) = twice(&["compare", "before", "after", "--metric", "p50,wall", "--threshold", "90%"]);
    assert_eq!((said.as_str(), code), ("", 0));
}
