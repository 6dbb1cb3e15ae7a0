//! Real runtimes, measured briefly: all the way from a study to the reports.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::place::{TOLOK, assert_done, my_turn, repository, shared_turn};

/// What a study left: the records, the temporary folder and the output.
type Ran = (Vec<Value>, tempfile::TempDir, std::process::Output);

/// Runs a study in the repository itself. Other tests may silence a server for half a second. In windows this short, that is a
/// failure, so such a study runs once more, alone.
pub(crate) fn run(study: &str) -> Ran {
    let shared = shared_turn();
    let ran = run_once(study);
    if ran.0.iter().all(is_complete) {
        return ran;
    }
    drop(shared);
    let _alone = my_turn();
    run_once(study)
}

fn is_complete(record: &Value) -> bool {
    record["outcome"]["kind"] == "completed"
}

fn run_once(study: &str) -> Ran {
    let runs = tempfile::tempdir().unwrap();
    let file = runs.path().join("moment.toml");
    std::fs::write(&file, study).unwrap();
    let output = std::process::Command::new(TOLOK)
        .args(["run", file.to_str().unwrap(), "--runs", runs.path().join("runs").to_str().unwrap()])
        .env("TOLOK_HOME", repository())
        .env("TOLOK_IF_OTHER_RUN", "ignore")
        .output()
        .unwrap();
    let folder = std::fs::read_dir(runs.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let mut trials: Vec<_> = std::fs::read_dir(folder.join("trials")).unwrap().map(|it| it.unwrap().path()).collect();
    trials.sort();
    let texts = trials.iter().map(|trial| std::fs::read_to_string(trial.join("trial.json")).unwrap());
    let records: Vec<Value> = texts.map(|text| serde_json::from_str(&text).unwrap()).collect();
    for file in ["run.json", "plan.json", "study.toml", "report.html", "report.md", "report.csv", "report.json"] {
        assert!(folder.join(file).is_file(), "{file} is missing");
    }
    for (trial, _) in trials.iter().zip(&records).filter(|(_, record)| is_complete(record)) {
        for file in ["timeline.jsonl", "samples.jsonl", "subject.log", "tool.json", "command.txt"] {
            assert!(trial.join(file).is_file(), "{} lacks {file}", trial.display());
        }
    }
    (records, runs, output)
}

#[test]
fn every_ready_subject_is_measured_and_every_account_closes() {
    let study = "title = 'A moment'\nsubjects = ['*']\nblocks = 1\nreruns = 0\n[[scenario]]\nworkload = ['hello', 'json']\n\
                 load = { executor = 'constant-vus', vus = 8, duration = '1s', warmup = '100ms' }\n";
    let (records, _runs, output) = run(study);
    assert_done(output.status.code(), &String::from_utf8_lossy(&output.stderr));
    for record in &records {
        let (case, outcome) = (&record["case"], &record["outcome"]);
        assert_eq!(outcome["kind"], "completed", "{case}: {outcome}");
        let ledger = &outcome["ledger"];
        let count = |name: &str| ledger[name].as_u64().unwrap();
        assert_eq!(count("sent"), count("good") + count("in_flight_at_end"), "{case} has failed requests: {ledger}");
        for part in ["subject", "generator"] {
            assert!(outcome[part]["cpu_s"].as_f64().unwrap() > 0.0, "{case}: the {part} used CPU time");
            assert!(outcome[part]["processes_max"].as_u64().unwrap() > 0, "{case}: the {part} has processes");
        }
        assert!(outcome["subject"]["pss_bytes"].as_u64().unwrap() > 100_000, "{case}: {outcome}");
        assert!(outcome["cold_start_s"].as_f64().unwrap() > 0.0, "{case}");
    }
    let cases: BTreeSet<&str> = records.iter().map(|record| record["case"].as_str().unwrap()).collect();
    for runtime in ["go-nethttp", "bun-serve", "node-http", "php-fpm", "apache-prefork", "nginx-static", "rust-ceiling"]
    {
        if !cases.iter().any(|case| case.contains(runtime)) {
            tolok_testkit::skip(tolok_testkit::test_name!(), &format!("{runtime} is not ready on this machine"));
        }
    }
}

#[test]
fn a_connection_per_request_is_measured_as_such() {
    let study = "title = 'Connections'\nsubjects = ['go/nethttp']\nblocks = 1\nceiling = true\nreruns = 0\n[[scenario]]\n\
                 workload = 'hello'\nload = { executor = 'constant-vus', vus = 8, duration = '1s', \
                 warmup = '100ms', connection = 'per-request' }\n";
    let (records, _runs, output) = run(study);
    assert_done(output.status.code(), &String::from_utf8_lossy(&output.stderr));
    for record in &records {
        let ledger = &record["outcome"]["ledger"];
        let (opened, good) = (ledger["connections"].as_u64().unwrap(), ledger["good"].as_u64().unwrap());
        assert!(opened >= good && good > 0, "{}: {ledger}", record["case"]);
    }
}

#[test]
fn long_bodies_and_a_rate_and_both_with_a_connection_per_request_have_no_false_error() {
    let load = |rest: &str| {
        format!(
            "[[scenario]]\nworkload = ['hello', 'file-534k']\n\
             load = {{ executor = 'constant-arrival-rate', rate = 20, duration = '1s', warmup = '100ms'{rest} }}\n"
        )
    };
    let (kept, per_request) = (load(""), load(", connection = 'per-request'"));
    let head = "title = 'Rates'\nsubjects = ['go/nethttp', 'node/http', 'nginx/static']\nblocks = 1\nreruns = 0\n";
    let (records, _runs, output) = run(&format!("{head}{kept}{per_request}"));
    assert_done(output.status.code(), &String::from_utf8_lossy(&output.stderr));
    assert!(records.len() >= 12, "{} trials", records.len());
    for record in &records {
        let (case, ledger) = (&record["case"], &record["outcome"]["ledger"]);
        let count = |name: &str| ledger[name].as_u64().unwrap_or_else(|| panic!("{case}: no {name} in {ledger}"));
        assert_eq!(ledger["failed"], serde_json::json!({}), "{case}: {ledger}");
        assert_eq!(count("scheduled"), 20, "{case}: {ledger}");
        assert_eq!(count("sent"), count("good") + count("in_flight_at_end"), "{case}: {ledger}");
        if case.as_str().unwrap().contains("per-request") {
            assert!(count("connections") >= count("good"), "{case}: {ledger}");
        }
    }
}
