//! A real run compared with its own raw data: unchanged, and after each kind of tampering.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tolok_model::manifest::{FileSum, Manifest, sha256};

use crate::place::{Place, Said, assert_done, shared_turn};

/// A run of three rounds on two subjects: six trials.
fn place() -> Place {
    let place = Place::new().with_faulty("one", "none").with_faulty("two", "none");
    let place = place.with_study("['test/one', 'test/two']", 3, "1500ms");
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    place
}

fn verify(place: &Place) -> (Said, Value) {
    let said = place.tolok(&["verify", "latest", "--format", "json"]);
    let found = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {}", said.progress));
    (said, found)
}

/// The checks that found a difference, by name.
fn differing(found: &Value) -> Vec<&str> {
    let checks = found["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["outcome"] == "differs").map(|check| check["name"].as_str().unwrap()).collect()
}

/// The first difference of a check.
fn first<'a>(found: &'a Value, check: &str) -> &'a Value {
    let mut checks = found["checks"].as_array().unwrap().iter();
    let check = checks.find(|found| found["name"] == check).unwrap_or_else(|| panic!("there is no check {check}"));
    &check["differences"][0]
}

/// The difference of the figures at this place.
fn figure_at<'a>(found: &'a Value, at: &str) -> &'a Value {
    let mut figures = found["checks"].as_array().unwrap().iter().filter(|check| check["name"] == "figures");
    let differences = figures.next().unwrap()["differences"].as_array().unwrap();
    differences.iter().find(|it| it["at"] == at).unwrap_or_else(|| panic!("nothing differs at {at}: {differences:?}"))
}

/// The folders of the trials, in their order.
fn trials(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.run_folder().join("trials")).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// Changes a file while `check` runs, then restores it.
fn while_changed(path: &Path, change: impl Fn(&str) -> String, check: impl Fn()) {
    let before = fs::read_to_string(path).unwrap();
    let changed = change(&before);
    assert_ne!(changed, before, "nothing was changed in {}", path.display());
    fs::write(path, changed).unwrap();
    check();
    fs::write(path, before).unwrap();
}

/// Changes one digit of the number after the first occurrence of `key`.
fn digit_after(text: &str, key: &str) -> String {
    let after = text.find(key).unwrap_or_else(|| panic!("there is no {key}")) + key.len();
    let at = after + text[after..].find(|letter: char| letter.is_ascii_digit()).unwrap();
    let other = if &text[at..=at] == "9" { "8" } else { "9" };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

/// Makes the manifest match the current files, as a forger would.
fn forge_manifest(run: &Path) {
    let path = run.join("manifest.jsonl");
    let (mut text, mut previous) = (String::new(), None);
    for (mut line, _) in Manifest::read(&fs::read_to_string(&path).unwrap()).lines {
        for file in &mut line.files {
            let content = fs::read(run.join(&line.folder).join(&file.name)).unwrap();
            *file = FileSum { name: file.name.clone(), bytes: content.len() as u64, sha256: sha256(&content) };
        }
        line.previous = previous;
        let line = serde_json::to_string(&line).unwrap();
        previous = Some(sha256(line.as_bytes()));
        text += &(line + "\n");
    }
    fs::write(path, text).unwrap();
}

#[test]
fn a_run_that_nobody_has_touched_verifies_and_every_change_is_caught_and_named() {
    let _turn = shared_turn();
    let place = place();
    untouched(&place);
    a_digit_of_a_record(&place);
    a_digit_of_the_load_engine_s_record_under_a_forged_manifest(&place);
    a_digit_of_the_samples(&place);
    a_changed_plan(&place);
    a_trial_taken_away(&place);
    the_last_line_taken_out(&place);
    an_edited_report(&place);
    without_a_manifest(&place);
    untouched(&place);
}

fn untouched(place: &Place) {
    let said = place.tolok(&["verify", "latest"]);
    assert_eq!(said.code, Some(0), "{}{}", said.output, said.progress);
    assert!(said.output.contains("found no difference"), "{}", said.output);
    let (_, found) = verify(place);
    assert_eq!(found["is_equal"], true);
    let of = |name: &str| found["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap();
    assert_eq!(of("manifest")["compared"], 10, "a line of the run, of each of three rounds, and of each of six trials");
    assert!(of("figures")["compared"].as_u64().unwrap() > 500, "{}", of("figures"));
    assert!(of("report.json")["compared"].as_u64().unwrap() > 100);
    // A published report contains the last hash of the manifest.
    let report = fs::read_to_string(place.run_folder().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["run"]["records_sha256"], found["records_sha256"]);
    let page = fs::read_to_string(place.run_folder().join("report.html")).unwrap();
    assert!(page.contains(found["records_sha256"].as_str().unwrap()));
}

fn a_digit_of_a_record(place: &Place) {
    let record = trials(place)[2].join("trial.json");
    while_changed(
        &record,
        |text| digit_after(text, "\"goodput_rps\""),
        || {
            let (said, found) = verify(place);
            assert_eq!(said.code, Some(5));
            assert_eq!(differing(&found)[..2], ["files", "figures"]);
            let difference = first(&found, "figures");
            assert_eq!(difference["at"], "outcome.goodput_rps");
            assert!(difference["file"].as_str().unwrap().starts_with("trials/0003-"), "{difference}");
            assert_ne!(difference["stored"], difference["recomputed"]);
            // The earlier report no longer matches the record.
            assert!(differing(&found).contains(&"report.json"), "{:?}", differing(&found));
            let shown = place.tolok(&["verify", "latest"]).output;
            assert!(shown.contains("NOT VERIFIED") && shown.contains("by tool.json"), "{shown}");
        },
    );
}

fn a_digit_of_the_load_engine_s_record_under_a_forged_manifest(place: &Place) {
    let run = place.run_folder();
    let manifest = fs::read_to_string(run.join("manifest.jsonl")).unwrap();
    for key in ["\"good\"", "\"p50_s\"", "\"window_end_monotonic_ns\"", "\"carried_over_good\""] {
        while_changed(
            &trials(place)[1].join("tool.json"),
            |text| digit_after(text, key),
            || {
                forge_manifest(&run);
                let (said, found) = verify(place);
                assert_eq!(said.code, Some(5), "{key}");
                assert_eq!(differing(&found)[0], "figures", "{key}: manifest and files agree");
                let file = first(&found, "figures")["file"].as_str().unwrap();
                assert!(file.starts_with("trials/0002-"), "{file}");
                // The published hash does not match.
                assert_eq!(first(&found, "report.json")["at"], "run.records_sha256", "{key}");
            },
        );
        fs::write(run.join("manifest.jsonl"), &manifest).unwrap();
    }
}

fn a_digit_of_the_samples(place: &Place) {
    let run = place.run_folder();
    let samples = trials(place)[0].join("samples.jsonl");
    // The last reading of the subject's threads is right after the window, so all of its counters affect a figure.
    let change = |text: &str| {
        let at = text.rfind("\"run_queue_wait_s\":").unwrap();
        format!("{}{}", &text[..at], text[at..].replacen("\"run_queue_wait_s\":", "\"run_queue_wait_s\":7", 1))
    };
    while_changed(
        &samples,
        |text| digit_after(text, "\"busy_s\":"),
        || {
            let (said, found) = verify(place);
            assert_eq!((said.code, differing(&found)[0]), (Some(5), "files"));
            assert!(first(&found, "files")["file"].as_str().unwrap().ends_with("samples.jsonl"));
        },
    );
    let manifest = fs::read_to_string(run.join("manifest.jsonl")).unwrap();
    let last_of_subject = |text: &str| {
        let place = text.rfind(r#""part":"subject","source":"processes""#).unwrap();
        let end = place + text[place..].find('\n').unwrap();
        change(&text[..end]) + &text[end..]
    };
    while_changed(&samples, last_of_subject, || {
        forge_manifest(&run);
        let (said, found) = verify(place);
        assert_eq!((said.code, differing(&found)[0]), (Some(5), "figures"));
        // If other programs were busy, their share differs, too.
        let difference = figure_at(&found, "outcome.subject.run_queue_wait_s");
        assert!(difference["said"].as_str().unwrap().ends_with("by samples.jsonl"), "{difference}");
    });
    fs::write(run.join("manifest.jsonl"), manifest).unwrap();
}

fn a_changed_plan(place: &Place) {
    let plan = place.run_folder().join("plan.json");
    while_changed(
        &plan,
        |text| digit_after(text, "\"smallest_effect\""),
        || {
            let (said, found) = verify(place);
            assert_eq!(said.code, Some(5));
            assert_eq!(differing(&found)[..2], ["files", "plan"]);
            assert_eq!(
                (&first(&found, "plan")["file"], &first(&found, "plan")["at"]),
                (&"plan.json".into(), &"SHA-256".into())
            );
        },
    );
    // Another seed would have given another order.
    while_changed(
        &plan,
        |text| text.replace("\"seed\": 7", "\"seed\": 8"),
        || {
            let (said, found) = verify(place);
            assert_eq!(said.code, Some(5));
            assert!(differing(&found).contains(&"plan"));
        },
    );
}

fn a_trial_taken_away(place: &Place) {
    let (trial, aside) = (trials(place)[5].clone(), place.path().join("aside"));
    fs::rename(&trial, &aside).unwrap();
    let (said, found) = verify(place);
    assert_eq!(said.code, Some(5));
    let difference = first(&found, "files");
    assert!(difference["file"].as_str().unwrap().starts_with("trials/0006-"), "{difference}");
    assert!(difference["said"].as_str().unwrap().contains("gone"), "{difference}");
    fs::rename(&aside, &trial).unwrap();
}

fn the_last_line_taken_out(place: &Place) {
    let manifest = place.run_folder().join("manifest.jsonl");
    let without_last = |text: &str| text.lines().take(9).map(|line| format!("{line}\n")).collect::<String>();
    while_changed(&manifest, without_last, || {
        let (said, found) = verify(place);
        assert_eq!(said.code, Some(5));
        assert_eq!(differing(&found)[0], "files", "the remaining chain is intact");
        assert!(first(&found, "files")["file"].as_str().unwrap().starts_with("trials/0006-"));
        assert!(first(&found, "files")["advice"].as_str().unwrap().contains("tolok resume"));
    });
}

fn an_edited_report(place: &Place) {
    let run = place.run_folder();
    while_changed(
        &run.join("report.json"),
        |text| digit_after(text, "\"trials_planned\""),
        || {
            let (said, found) = verify(place);
            assert_eq!((said.code, differing(&found)), (Some(5), vec!["report.json"]));
            assert!(first(&found, "report.json")["at"].as_str().unwrap().contains("trials_planned"));
        },
    );
    while_changed(
        &run.join("report.csv"),
        |text| text.replacen("test", "best", 1),
        || {
            let (said, found) = verify(place);
            assert_eq!((said.code, differing(&found)), (Some(5), vec!["report.csv"]));
        },
    );
    let picture = run.join("share.png");
    let before = fs::read(&picture).unwrap();
    let mut painted = before.clone();
    *painted.last_mut().unwrap() ^= 1;
    fs::write(&picture, painted).unwrap();
    let (said, found) = verify(place);
    assert_eq!((said.code, differing(&found)), (Some(5), vec!["share.png"]));
    fs::write(&picture, before).unwrap();
}

/// A run by a tolok from before manifests existed: `verify` states that, and still recomputes its figures.
fn without_a_manifest(place: &Place) {
    let run = place.run_folder();
    let (manifest, aside) = (run.join("manifest.jsonl"), place.path().join("aside"));
    fs::rename(&manifest, &aside).unwrap();
    let said = place.tolok(&["report", "latest"]);
    assert_eq!(said.code, Some(0), "{}", said.progress);
    let (said, found) = verify(place);
    assert_eq!((said.code, &found["records_sha256"]), (Some(0), &Value::Null), "{}", said.output);
    let not_made = found["checks"].as_array().unwrap().iter().filter(|check| check["outcome"] == "not-checked");
    assert_eq!(not_made.map(|check| check["name"].as_str().unwrap()).collect::<Vec<_>>(), ["manifest", "files"]);
    fs::rename(&aside, &manifest).unwrap();
    place.tolok(&["report", "latest"]);
}

#[test]
fn a_run_that_was_killed_between_a_record_and_its_line_is_entered_late_by_resume() {
    let _turn = shared_turn();
    let place = place();
    let run = place.run_folder();
    let manifest = run.join("manifest.jsonl");
    let whole = fs::read_to_string(&manifest).unwrap();
    // As a kill leaves it: the record is complete, and its line in the manifest is torn.
    let last = whole.lines().last().unwrap();
    fs::write(&manifest, &whole[..whole.len() - last.len() / 2]).unwrap();
    let (said, found) = verify(&place);
    assert_eq!((said.code, differing(&found)[0]), (Some(5), "manifest"));
    // If other work disturbed every trial, it exits with 5.
    let said = place.tolok(&["resume", "latest"]);
    assert!(matches!(said.code, Some(0 | 5)), "{}", said.progress);
    let (said, found) = verify(&place);
    assert_eq!(said.code, Some(0), "{}", said.output);
    let notes = found["checks"][0]["notes"].to_string();
    assert!(notes.contains("entered late"), "{notes}");
    let text = fs::read_to_string(&manifest).unwrap();
    assert_eq!(text.lines().count(), 10);
    assert!(text.lines().last().unwrap().contains("\"entered_late\":true"));
}

#[test]
fn a_run_that_is_not_there_is_a_wrong_command_line() {
    let place = Place::new();
    let said = place.tolok(&["verify", "no-such-run"]);
    assert_eq!(said.code, Some(2));
    assert!(said.progress.contains("there is no run `no-such-run`"), "{}", said.progress);
}

#[test]
fn a_record_of_an_older_tolok_may_lack_what_was_not_recorded_then_and_no_other_may() {
    let _turn = shared_turn();
    let place = Place::new().with_faulty("one", "none").with_study("['test/one']", 1, "1500ms");
    let said = place.tolok(&["run", "try"]);
    assert_done(said.code, &said.progress);
    let record = trials(&place)[0].join("trial.json");
    let differs_as = |format: u64| {
        let change = |text: &str| {
            let mut record: Value = serde_json::from_str(text).unwrap();
            record["format"] = format.into();
            let series = record["outcome"]["series"].as_object_mut().unwrap();
            assert!(series.remove("generator_cpu_s").is_some());
            serde_json::to_string_pretty(&record).unwrap()
        };
        while_changed(&record, change, || {
            forge_manifest(&place.run_folder());
            let (_, found) = verify(&place);
            let figures = differing(&found).contains(&"figures");
            assert_eq!(figures, format == 4, "{found}");
        });
    };
    differs_as(3);
    differs_as(4);
}
