//! Duels: two subjects compared, with an exit code for CI.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use tolok_testkit::require;

use crate::place::{Place, Said, repository, shared_turn};

/// Launches take a tenth of their time, and there are five.
const SHORT: [&str; 6] = ["--budget", "1s", "--scale", "0.1", "--vus", "4"];

fn duel(place: &Place, words: &[&str]) -> Said {
    place.tolok(&[&["duel"], words, &SHORT].concat())
}

/// The code that belongs to an outcome.
fn code_of(found: &Value) -> Option<i32> {
    match found["outcome"].as_str().unwrap() {
        "not-worse" => Some(0),
        "worse" => Some(3),
        "cannot-tell" => Some(4),
        other => panic!("there is no outcome {other}"),
    }
}

#[test]
fn a_duel_ends_with_both_ratios_and_the_code_of_its_outcome() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none").with_faulty("other", "none");
    let said = duel(&place, &["test/one", "test/other", "--format", "json"]);
    let found: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.progress));
    assert_eq!(said.code, code_of(&found), "{}", said.progress);
    let pair = &found["pairs"][0];
    assert_eq!((&found["base"], &pair["challenger"]), (&"Faulty one".into(), &"Faulty other".into()));
    assert_eq!(pair["launches"], 5);
    for ratio in [&pair["goodput"], &pair["cpu"], &found["twins"][0]["goodput"], &found["twins"][0]["cpu"]] {
        assert!(ratio["low"].as_f64().unwrap() < ratio["high"].as_f64().unwrap(), "{ratio}");
        assert_eq!(ratio["trials"].as_array().unwrap().len(), 5);
    }
    assert!(
        said.progress.contains("4 launches: Faulty other"),
        "the interval is printed as it narrows: {}",
        said.progress
    );
    let command = found["command"].as_str().unwrap();
    assert!(command.starts_with("tolok duel test/one test/other --vus 4 --scale 0.1"), "{command}");
}

#[test]
fn a_duel_that_was_stopped_goes_on_and_ends_like_any_other() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none").with_faulty("other", "none");
    let mut started =
        place.start(&[&["duel", "test/one", "test/other", "--judge", "cpu", "--format", "json"][..], &SHORT].concat());
    let seen = started.wait_for("1 launch: ");
    started.signal(Signal::INT);
    let (said, code) = started.finish();
    assert_eq!(code, Some(130), "{seen}{said}");
    let resumed = place.tolok(&["resume", "latest", "--format", "json"]);
    let found: Value =
        serde_json::from_str(&resumed.output).unwrap_or_else(|error| panic!("{error}: {}", resumed.progress));
    assert_eq!(resumed.code, code_of(&found), "{}", resumed.progress);
    assert_eq!((&found["judged_by"], &found["pairs"][0]["launches"]), (&"cpu".into(), &5.into()));
    assert!(resumed.progress.contains("4 launches: Faulty other"), "{}", resumed.progress);
    let sentence = found["sentence"].as_str().unwrap();
    for words in [&["report", "latest", "--format", "md"][..], &["report", "latest", "--brief", "--format", "md"]] {
        let report = place.tolok(words);
        assert!(report.output.contains(sentence), "{words:?}: {}", report.output);
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

#[test]
fn two_states_of_a_folder_make_a_comment_for_a_pull_request() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("mine", "none");
    let (root, mine) = (place.path().join("checkout"), place.path().join("checkout/servers/mine"));
    fs::create_dir_all(&mine).unwrap();
    fs::copy(place.path().join("subjects/test/mine/subject.toml"), mine.join("subject.toml")).unwrap();
    git(&root, &["init", "--quiet", "--initial-branch=main"]);
    for text in ["first", "second"] {
        fs::write(mine.join("state"), text).unwrap();
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "--message", text]);
    }
    let said =
        duel(&place, &["--git", "main~1..main", mine.to_str().unwrap(), "--format", "md", "--workload", "hello"]);
    assert!(matches!(said.code, Some(0 | 3 | 4)), "{}", said.progress);
    for part in ["| Faulty mine @ main | hello-c4 |", "| itself | hello-c4 |", "over 5 launches", "<details>"] {
        assert!(said.output.contains(part), "{part}: {}", said.output);
    }
    let of_plan = fs::read_to_string(place.run_folder().join("plan.json")).unwrap();
    assert!(of_plan.contains("local/mine-main-1") && of_plan.contains("local/mine-main"), "{of_plan}");
    // The folders are found again, so the run can be shown and verified.
    assert_eq!(place.tolok(&["verify", "latest"]).code, Some(0));
}

#[test]
fn a_side_that_answers_wrongly_is_named_with_the_reason() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none").with_faulty("wrong", "wrong-body");
    let said = duel(&place, &["test/one", "test/wrong"]);
    assert_eq!(said.code, Some(5), "{}", said.progress);
    assert!(
        said.output.contains("Faulty wrong cannot be compared with Faulty one: Faulty wrong: wrong answer"),
        "{}",
        said.output
    );
}

#[test]
fn two_versions_of_bun_meet() {
    let _turn = shared_turn();
    let place = Place::new();
    std::os::unix::fs::symlink(repository().join("subjects/bun"), place.path().join("subjects/bun")).unwrap();
    let fetched = place.tolok(&["setup", "--yes", "bun@1.2.0", "bun@1.4.5"]);
    require!(fetched.code == Some(0), "npm cannot fetch versions of Bun here");
    let said = duel(&place, &["bun@1.2.0", "bun@1.4.5", "--format", "json"]);
    let found: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.progress));
    assert_eq!(said.code, code_of(&found), "{}", said.progress);
    assert_eq!(
        (&found["base"], &found["pairs"][0]["challenger"]),
        (&"Bun.serve 1.2.0".into(), &"Bun.serve 1.4.5".into())
    );
}
