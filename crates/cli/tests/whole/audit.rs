//! `tolok audit` on invented tables: what it prints, and the code that it leaves with.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What is printed, and the code.
fn audit(words: &[&str]) -> (String, String, i32) {
    audit_of(words, Stdio::null())
}

fn audit_of(words: &[&str], input: Stdio) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_tolok"))
        .arg("audit")
        .stdin(input)
        .args(words)
        .env("NO_COLOR", "1")
        .env("TOLOK_HOME", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (printed, said, output.status.code().unwrap())
}

/// A table that the transcripts have as well.
fn table(name: &str) -> String {
    format!("{}/tests/whole/transcripts/audit.in/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_sound_table_is_not_contradicted_and_leaves_with_0() {
    let (printed, said, code) = audit(&[&table("sound.toml")]);
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    assert!(printed.contains("\nNo check is contradicted by the table’s own figures: "), "{printed}");
}

#[test]
fn a_broken_table_leaves_with_3_and_says_where_it_breaks() {
    let (printed, said, code) = audit(&[&table("broken.toml"), "--format", "json"]);
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    let found: Value = serde_json::from_str(&printed).unwrap();
    let contradicted = found[0]["findings"].as_array().unwrap().iter().filter(|it| it["verdict"] == "contradicted");
    let mut laws: Vec<&str> = contradicted.map(|it| it["law"].as_str().unwrap()).collect();
    laws.dedup();
    // The claim of 7 times, and the mean of `left`, which 50 connections and 5,000 answers per second do not allow.
    assert_eq!(laws, ["claims", "littles-law"]);
    let (short, _, code) = audit(&[&table("broken.toml"), "--brief"]);
    assert!(code == 3 && short.contains("✗ contradicted: ") && !short.contains("What holds"), "{short}");
}

/// What the columns of `table.csv` are, and how it was measured.
const COLUMNS: [&str; 20] = [
    "--subject",
    "Server",
    "--tool",
    "k6",
    "--connections",
    "50",
    "--duration",
    "60s",
    "--method",
    "loop=closed",
    "--method",
    "ramp=false",
    "--column",
    "Req/s=throughput_rps",
    "--column",
    "Mean [ms]=latency_mean_ms",
    "--column",
    "p95 [ms]=latency_p95_ms",
    "--column",
    "Notes=",
];

#[test]
fn a_table_in_csv_is_read_as_the_options_say() {
    let (printed, said, code) = audit(&[[table("table.csv").as_str(), "--brief"].as_slice(), &COLUMNS].concat());
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    assert!(printed.contains("line 2 ") && printed.contains("Little’s law"), "{printed}");
}

#[test]
fn a_table_may_come_from_standard_input_in_either_form() {
    let from = |name: &str| Stdio::from(File::open(table(name)).unwrap());
    let (printed, said, code) = audit_of(&["-"], from("sound.toml"));
    assert_eq!((said.as_str(), code), ("", 0), "{printed}");
    let (printed, said, code) = audit_of(&[["-", "--brief"].as_slice(), &COLUMNS].concat(), from("table.csv"));
    assert_eq!((said.as_str(), code), ("", 3), "{printed}");
    assert!(printed.contains("standard input") && printed.contains("line 2 "), "{printed}");
    let (_, said, code) = audit_of(&["-", "--tool", "wrk"], from("sound.toml"));
    assert!(code == 2 && said.contains("none of the tables is CSV"), "{said}");
}

#[test]
fn several_tables_go_to_one_file_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for (format, begins) in
        [("md", "# 2 published tables"), ("json", "[\n"), ("html", "<!doctype html>"), ("text", "2 published tables")]
    {
        let file: PathBuf = folder.path().join(format);
        let tables = [table("sound.toml"), table("broken.toml")];
        let (printed, said, code) = audit(&[&tables[0], &tables[1], "--format", format, "-o", file.to_str().unwrap()]);
        assert_eq!((printed.as_str(), said.as_str(), code), ("", "", 3));
        assert!(std::fs::read_to_string(file).unwrap().starts_with(begins), "{format}");
    }
}

#[test]
fn nothing_is_printed_where_one_of_several_cannot_be_read() {
    let (printed, said, code) = audit(&[&table("sound.toml"), &table("faulty.toml"), "no-such-table"]);
    assert_eq!((printed.as_str(), code), ("", 2));
    assert!(
        said.contains("faulty.toml has ") && said.contains("there is no published table `no-such-table`"),
        "{said}"
    );
}
