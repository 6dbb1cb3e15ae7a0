//! Reports of runs that an earlier version stored must not change by accident.
//!
//! Each archive in `tests/stored-runs` holds the folder of one run, and in `expected/` its CSV, tidy CSV and JSON from the version
//! that measured it. New figures may be added: the comparison ignores columns, metrics and keys that the old reports lack. It also
//! ignores what follows from the rules of judgement, which changed with `schema_version` 7 ([`JUDGED`]), and sentences, which may
//! be reworded ([`SENTENCES`]).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use super::place::{TOLOK, repository};

/// Keys of JSON and columns of CSV that depend on how cases are judged, and on the resulting order.
const JUDGED: [&str; 24] = [
    "schema_version",
    "noise_floor",
    "power",
    "comparisons",
    "recommendations",
    "verdict",
    "cautions",
    "of_first",
    "tier",
    "against_first",
    "of_first_low",
    "of_first_high",
    "wall_of_first",
    "wall_of_first_low",
    "wall_of_first_high",
    "aa_ratio",
    "aa_ratio_low",
    "aa_ratio_high",
    "aa_verdict",
    "blocks_needed",
    "published",
    "untested",
    "crossovers",
    // It has held the geometric means of tables since 28 November 2026, and medians before.
    "program_series",
];

/// Keys of JSON and columns of CSV that contain sentences.
const SENTENCES: [&str; 17] = [
    "bottleneck_sentence",
    "conclusion",
    "equal",
    "evidence",
    "explanation",
    "in_short",
    "load",
    "measured",
    "message",
    "notes",
    "remark",
    "says",
    "sentence",
    "setup",
    "unequal",
    "unknown",
    "why",
];

fn is_skipped(key: &str) -> bool {
    JUDGED.contains(&key) || SENTENCES.contains(&key)
}

/// A run from an archive.
struct Stored {
    folder: TempDir,
    name: String,
}

impl Stored {
    fn unpack(archive: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let unpacked = Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(folder.path()).status().unwrap();
        assert!(unpacked.success(), "{}", archive.display());
        let mut names =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let name = names.find(|name| name != "expected").unwrap();
        Self { folder, name }
    }

    fn tolok(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(TOLOK);
        command.args(arguments).arg("--runs").arg(self.folder.path()).current_dir(self.folder.path());
        command.env("TOLOK_HOME", repository()).env("NO_COLOR", "1").output().unwrap()
    }

    fn report(&self, format: &str) -> String {
        let output = self.tolok(&["report", &self.name, "--format", format]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{} as {format}: {said}", self.name);
        String::from_utf8(output.stdout).unwrap()
    }

    fn expected(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join("expected").join(file)).unwrap()
    }
}

fn archives() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("tests/stored-runs")).unwrap().map(|entry| entry.unwrap().path());
    let mut archives: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "tgz")).collect();
    archives.sort();
    assert!(archives.len() >= 5, "{archives:?}");
    archives
}

/// The rows of a CSV file, each a list of fields.
fn rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn csv_has_the_columns_and_values_that_it_had() {
    for archive in archives() {
        let stored = Stored::unpack(&archive);
        let (was, is) = (rows(&stored.expected("report.csv")), rows(&stored.report("csv")));
        let columns = was[0].len();
        assert_eq!(is[0][..columns], was[0], "{}", stored.name);
        let measured: Vec<usize> = (0..columns).filter(|column| !is_skipped(&was[0][*column])).collect();
        assert!(measured.len() > 200, "{}: {} columns", stored.name, measured.len());
        let kept = |rows: &[Vec<String>]| {
            let row = |row: &Vec<String>| measured.iter().map(|column| row[*column].clone()).collect::<Vec<String>>();
            let mut rows: Vec<Vec<String>> = rows.iter().map(row).collect();
            rows.sort();
            rows
        };
        assert_eq!(kept(&is), kept(&was), "{}", stored.name);
    }
}

#[test]
fn tidy_csv_has_the_observations_that_it_had() {
    const METRIC: usize = 14;
    for archive in archives() {
        let stored = Stored::unpack(&archive);
        let (was, is) = (rows(&stored.expected("tidy.csv")), rows(&stored.report("tidy")));
        assert_eq!(was[0][METRIC], "metric");
        let known: BTreeSet<&String> = was.iter().map(|row| &row[METRIC]).collect();
        let columns: Vec<usize> = (0..was[0].len()).filter(|column| !is_skipped(&was[0][*column])).collect();
        let values = |row: &Vec<String>| columns.iter().map(|column| row[*column].clone()).collect::<Vec<String>>();
        let kept: Vec<Vec<String>> = is.iter().filter(|row| known.contains(&row[METRIC])).map(values).collect();
        assert_eq!(kept, was.iter().map(values).collect::<Vec<_>>(), "{}", stored.name);
    }
}

#[test]
fn json_has_the_names_and_values_that_it_had() {
    for archive in archives() {
        let stored = Stored::unpack(&archive);
        let was: Value = serde_json::from_str(&stored.expected("report.json")).unwrap();
        let is: Value = serde_json::from_str(&stored.report("json")).unwrap();
        let mut differences = Vec::new();
        // A program's `runs` is a sentence; elsewhere it is a number.
        let skipped = |key: &str, value: &Value| is_skipped(key) || (key == "runs" && value.is_string());
        compare(&stored.name, &was, &is, &skipped, &mut differences);
        assert_eq!(differences, Vec::<String>::new());
    }
}

/// Whether to ignore a key with this value.
type Skip<'a> = &'a dyn Fn(&str, &Value) -> bool;

/// Collects every value of `was` that `is` lacks or changed, except those of skipped keys.
fn compare(path: &str, was: &Value, is: &Value, skipped: Skip<'_>, differences: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (key, value) in was.iter().filter(|(key, value)| !skipped(key, value)) {
                let path = format!("{path}.{key}");
                match is.get(key) {
                    Some(now) => compare(&path, value, now, skipped, differences),
                    None => differences.push(format!("{path} is gone")),
                }
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            // The order of cases may change.
            let subject = |value: &Value| value["subject"].as_str().map(str::to_owned);
            let of_subject = |was: &Value, place: usize| {
                let wanted = subject(was).filter(|_| path.ends_with(".cases"));
                is.iter().find(|other| wanted.is_some() && subject(other) == wanted).unwrap_or(&is[place]).clone()
            };
            let beside: Vec<Value> = was.iter().enumerate().map(|(place, value)| of_subject(value, place)).collect();
            let pairs = was.iter().zip(&beside).enumerate();
            pairs.for_each(|(place, (was, is))| compare(&format!("{path}[{place}]"), was, is, skipped, differences));
        }
        _ if was == is => {}
        _ => differences.push(format!("{path}: {was} became {is}")),
    }
}

#[test]
fn verify_finds_no_difference_in_runs_of_before() {
    for archive in archives() {
        let stored = Stored::unpack(&archive);
        let output = stored.tolok(&["verify", &stored.name]);
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{}: {printed}{said}", stored.name);
        assert!(printed.contains("found no difference"), "{}: {printed}", stored.name);
    }
}

#[test]
fn a_stored_replication_judges_every_claim_as_before() {
    let archive = archives().into_iter().find(|path| path.to_string_lossy().contains("nunez-queue")).unwrap();
    let stored = Stored::unpack(&archive);
    let output = stored.tolok(&["replicate", "nunez-queue", "--stored", "--format", "json"]);
    let expected: Value = serde_json::from_str(&stored.expected("replication.json")).unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut differences = Vec::new();
    compare("replication", &expected["report"], &found, &|key, _| SENTENCES.contains(&key), &mut differences);
    assert_eq!(differences, Vec::<String>::new());
    assert_eq!(output.status.code().map(Value::from), Some(expected["exit_code"].clone()));
}
