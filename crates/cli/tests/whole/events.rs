//! The events of a run in progress: on standard output, and in its folder.

use std::fs;

use serde_json::Value;

use crate::place::{Place, assert_done, shared_turn};

/// A server with 500 responses per second, loaded for two seconds after one second of warm-up.
fn place(blocks: u32) -> Place {
    let place = Place::new().with_faulty("paced", "paced=500");
    let text = format!(
        "title = 'Try'\nsubjects = ['test/paced']\nblocks = {blocks}\nseed = 7\nceiling = false\naa-pair = false\nreruns = 0\n\
         [[scenario]]\nworkload = 'hello'\n\
         load = {{ executor = 'constant-vus', vus = 4, duration = '2s', warmup = '1s' }}\n"
    );
    fs::write(place.path().join("studies/try.toml"), text).unwrap();
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The events of a run, each as one word; seconds have their start.
fn words(lines: &[Value]) -> Vec<String> {
    let word = |line: &Value| match line["event"].as_str().unwrap() {
        "phase" => line["phase"].as_str().unwrap().to_owned(),
        "second" => format!("{} {}", line["phase"].as_str().unwrap(), line["start_s"]),
        other => other.to_owned(),
    };
    // The run may wait for a quiet machine, and a trial may be disturbed; this test ignores both.
    lines.iter().filter(|line| !["waiting", "disturbed"].contains(&line["event"].as_str().unwrap())).map(word).collect()
}

#[test]
fn every_moment_is_a_line_and_the_run_keeps_what_it_told() {
    let _turn = shared_turn();
    let place = place(1);
    let said = place.tolok(&["run", "try", "--format", "jsonl"]);
    assert_done(said.code, &said.progress);
    let told = lines(&said.output);
    let trial = ["trial-started", "starting", "warming-up", "measuring", "warming-up -1.0"];
    let window = ["measuring 0.0", "measuring 1.0", "stopping", "trial-finished"];
    assert_eq!(words(&told), [&["run-started"], &trial[..], &window, &["run-ended", "findings"]].concat());
    assert!(told.windows(2).all(|two| two[0]["t_s"].as_f64() <= two[1]["t_s"].as_f64()), "{}", said.output);

    let folder = place.run_folder();
    let kept = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    let (events, findings) = said.output.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(kept.trim_end(), events, "the findings are printed, but kept in another file");

    assert_eq!(told[0]["trials"], 1);
    assert_eq!(told[0]["folder"].as_str(), folder.to_str());
    let seconds = told.iter().filter(|line| line["event"] == "second");
    let good: Vec<&Value> = seconds.map(|second| &second["good"]).collect();
    let series = &place.records()[0]["outcome"]["series"];
    assert_eq!(
        good,
        [&series["warm_up"]["good"][0], &series["good"][0], &series["good"][1]],
        "the same as in the record"
    );
    let finished = told.iter().find(|line| line["event"] == "trial-finished").unwrap();
    assert_eq!((finished["trial"].as_u64(), finished["outcome"].as_str()), (Some(1), Some("completed")));
    assert!(finished["cpu_s_per_good"].as_f64() > Some(0.0), "{finished}");

    let findings: Value = serde_json::from_str(findings).unwrap();
    assert_eq!(findings["scenarios"][0]["cases"][0]["subject"], "test/paced:default", "{findings}");
    assert_eq!(findings["report"].as_str().map(fs::exists).unwrap().ok(), Some(true));
    let to_folder = place.tolok(&["report", "latest", "--format", "jsonl", "-o", "."]);
    assert_eq!(to_folder.code, Some(2), "{}", to_folder.progress);
    assert!(to_folder.progress.starts_with("error: . is a folder, and lines go to a file"), "{}", to_folder.progress);
    let again = place.tolok(&["report", "latest", "--format", "jsonl"]);
    let mut later: Value = serde_json::from_str(&again.output).unwrap();
    later["t_s"] = findings["t_s"].clone();
    assert_eq!(later, findings, "an old run prints only its findings");
}

#[test]
fn a_run_that_goes_on_tells_of_it_after_what_was_told() {
    let _turn = shared_turn();
    let place = place(1);
    let said = place.tolok(&["run", "try", "-o", "/dev/null"]);
    assert_done(said.code, &said.progress);
    fs::remove_file(trial(&place)).unwrap();
    let said = place.tolok(&["resume", "latest", "--format", "jsonl", "-o", "lines.jsonl"]);
    assert_done(said.code, &said.progress);
    assert_eq!(said.output, "");
    let kept = fs::read_to_string(place.run_folder().join("events.jsonl")).unwrap();
    let told = fs::read_to_string(place.path().join("lines.jsonl")).unwrap();
    let (events, _) = told.trim_end().rsplit_once('\n').unwrap();
    assert!(kept.trim_end().ends_with(events), "{kept}");
    let starts = lines(&kept).iter().filter(|line| line["event"] == "run-started").count();
    assert_eq!(starts, 2, "{kept}");
}

/// The record of the only trial.
fn trial(place: &Place) -> std::path::PathBuf {
    let mut folders = fs::read_dir(place.run_folder().join("trials")).unwrap();
    folders.next().unwrap().unwrap().path().join("trial.json")
}

#[test]
fn records_hold_the_seconds_of_the_warm_up_and_of_the_generator_too() {
    let _turn = shared_turn();
    let place = place(1);
    let said = place.tolok(&["run", "try", "-o", "/dev/null"]);
    assert_done(said.code, &said.progress);
    let series = &place.records()[0]["outcome"]["series"];
    let length = |list: &Value| list.as_array().map(Vec::len);
    assert_eq!((length(&series["good"]), length(&series["generator_cpu_s"])), (Some(2), Some(2)), "{series}");
    assert!(series["subject_cpu_s"].as_array().unwrap().iter().all(Value::is_number), "{series}");
    assert!(series["database_cpu_s"].is_null(), "there is none: {series}");
    let warm_up = &series["warm_up"];
    assert_eq!(warm_up["start_s"], -1.0, "{series}");
    for list in ["good", "failed", "latency_p50_s", "subject_cpu_s", "subject_memory_bytes", "generator_cpu_s"] {
        assert_eq!(length(&warm_up[list]), Some(1), "{list}: {series}");
    }
}
