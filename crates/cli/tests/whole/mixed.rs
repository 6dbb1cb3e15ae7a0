//! A mixed workload on real servers: every connection sends every kind of request, in windows and in slices.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::place::{Said, TOLOK, assert_done, repository, shared_turn};

const BLEND: &str = "title = 'Blend'\n[[part]]\nworkload = 'json'\nweight = 3\n[[part]]\nworkload = 'items?n=20'\nweight = 2\n\
                     [[part]]\nworkload = 'upload?bytes=4096'\n";

/// Runs a study of one scenario with this design, in a folder with the workload `blend`.
fn run(folder: &Path, design: &str, more: &str) -> (Said, Vec<Value>) {
    fs::create_dir_all(folder.join("workloads/blend")).unwrap();
    fs::write(folder.join("workloads/blend/workload.toml"), BLEND).unwrap();
    let study = format!(
        "title = 'Blend'\nsubjects = ['go/nethttp', 'node/http', 'nginx/static']\nblocks = 1\nreruns = 0\naa-pair = false\n\
         ceiling = false\ndesign = '{design}'\n[[scenario]]\nworkload = 'blend'\n{more}\
         load = {{ executor = 'constant-vus', vus = 4, duration = '1s', warmup = '100ms' }}\n"
    );
    fs::write(folder.join("moment.toml"), study).unwrap();
    let runs = folder.join(design);
    let mut command = Command::new(TOLOK);
    command.args(["run", "moment.toml", "--runs"]).arg(&runs).current_dir(folder);
    command.env("TOLOK_HOME", repository()).env("TOLOK_IF_OTHER_RUN", "ignore");
    let said = Said::of(command.output().unwrap());
    let Ok(mut found) = fs::read_dir(&runs) else { return (said, Vec::new()) };
    let trials = fs::read_dir(found.next().unwrap().unwrap().path().join("trials")).unwrap();
    let records = trials.map(|trial| fs::read_to_string(trial.unwrap().path().join("trial.json")).unwrap());
    (said, records.map(|text| serde_json::from_str(&text).unwrap()).collect())
}

fn assert_parts(record: &Value) {
    let outcome = &record["outcome"];
    assert_eq!(outcome["kind"], "completed", "{outcome}");
    assert_eq!(outcome["ledger"]["failed"], serde_json::json!({}), "{outcome}");
    let parts = outcome["parts"].as_array().unwrap();
    let names: Vec<&str> = parts.iter().map(|part| part["part"].as_str().unwrap()).collect();
    assert_eq!(names, ["json", "items?n=20", "upload?bytes=4096"]);
    let sum = |key: &str| parts.iter().map(|part| part[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("failed"), 0, "{outcome}");
    // In a closed loop, at most one request per user has no outcome.
    assert!(sum("sent") - sum("good") <= 4 * outcome["slices"]["rows"].as_array().map_or(1, |it| it.len() as u64));
    for (part, weight) in parts.iter().zip([3.0, 2.0, 1.0]) {
        let share = part["sent"].as_u64().unwrap() as f64 / sum("sent") as f64;
        let six_sd = 6.0 * (weight / 6.0 * (1.0 - weight / 6.0) / sum("sent") as f64).sqrt();
        assert!((share - weight / 6.0).abs() < six_sd, "{part}");
    }
}

#[test]
fn go_and_node_answer_every_part_in_windows_and_in_slices() {
    let _turn = shared_turn();
    let folder = tempfile::tempdir().unwrap();
    for design in ["trials", "slices"] {
        let (said, records) = run(folder.path(), design, "");
        assert_done(said.code, &(said.output.clone() + &said.progress));
        assert_eq!(records.len(), 2, "{}", said.progress);
        records.iter().for_each(assert_parts);
        assert!(said.progress.contains("of `blend` it does not serve items, upload"), "{}", said.progress);
        let run = fs::read_dir(folder.path().join(design)).unwrap().next().unwrap().unwrap().path();
        let report = fs::read_to_string(run.join("report.md")).unwrap();
        if said.code == Some(0) {
            assert!(report.contains("| subject | part | asked | drawn |"), "{report}");
        }
        let verified = Command::new(TOLOK).arg("verify").arg(&run).env("TOLOK_HOME", repository()).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }
}

#[test]
fn a_tool_with_one_path_is_refused_and_so_is_a_part_that_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = run(folder.path(), "trials", "tool = 'oha'\n");
    assert_eq!(said.code, Some(2), "{}", said.progress);
    assert!(said.progress.contains("oha asks for one path, and `blend` draws its requests"), "{}", said.progress);
    fs::write(folder.path().join("workloads/blend/workload.toml"), BLEND.replace("json", "jsn")).unwrap();
    let mut command = Command::new(TOLOK);
    command.args(["plan", "moment.toml"]).current_dir(folder.path()).env("TOLOK_HOME", repository());
    let said = Said::of(command.output().unwrap()).progress;
    assert!(said.contains("there is no workload `jsn`") && said.contains("did you mean `json`?"), "{said}");
    assert!(said.contains("blend/workload.toml:3:13"), "{said}");
}
