//! Whatever a file contains, reading it terminates, does not panic, and reports places inside the text.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use crate::examples;

use std::sync::LazyLock;

use examples::{catalogue_with_data, listed};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_model::{Catalogue, Problem, Study, Subject, Workload};

const STUDY: &str = r#"#:schema ../schemas/study.schema.json
title = "T" # a comment
question = '''
Which?
'''
subjects = [
  "go/nethttp",
  "php/fpm:jit?pool=4", # another
]
blocks = 5
smallest-effect = "3%"

[[scenario]]
workload = ["hello", "json"]
load = { executor = "constant-vus", vus = [8, 64], duration = "1s" }

[[scenario]]
workload = "file"
[scenario.load]
executor = "constant-vus"
vus = 8
duration = "1s"

[environment]
subject.cpus = 1
generator = { cpus = 1 }

[[scenario]]
workload = "hello"
objective = ["p95 < 50ms", "goodput >= 99.9%"]
abort = true
[scenario.load]
executor = "ramping-arrival-rate"
start-rate = "60/m"
stages = [{ target = 300, duration = "1s" }]
arrivals = "poisson"
pool = "unbounded"
requests-per-connection = 10

[[scenario]]
workload = ["rows?limit=1000", "query"]
load = { executor = "constant-vus", vus = 8, duration = "5s" }

[environment.database]
engine = "mariadb"
pool = [5, 16]
rtt = ["0ms", "20ms"]
cpus = 1
memory = "1GiB"
max-connections = 100
buffer-pool = "128MiB"
outage = { at = "2s", for = "1s" }
"#;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(catalogue_with_data);

/// Reads the text as each kind of file, and checks what holds for any list of problems.
fn check(text: &str) {
    let study = Study::read(text, &CATALOGUE).err();
    let subject = Subject::read("go/nethttp", text).err();
    let workload = Workload::read("hello", text).err();
    for problems in [study, subject, workload].into_iter().flatten() {
        assert!(!problems.is_empty(), "refused without a reason: {text:?}");
        for Problem { span, message, .. } in &problems {
            assert!(text.get(span.clone()).is_some(), "{span:?} is not in {text:?} ({message})");
        }
        // Syntax errors come first, then the others, each in text order.
        let starts: Vec<usize> = problems.iter().map(|problem| problem.span.start).collect();
        assert!(starts.chunk_by(|one, next| one <= next).count() <= 2, "{starts:?} in {text:?}");
    }
}

/// Bits of TOML, some of which fit together.
fn toml_ish() -> impl Strategy<Value = String> {
    let bits = [
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ",",
        ".",
        "\n",
        "\r\n",
        "#",
        "\"",
        "'",
        "\"\"\"",
        "'''",
        "\\",
        " ",
        "0",
        "-1",
        "1e9",
        "nan",
        "true",
        "2026-11-07",
        "99999999999999999999999",
        "title",
        "subjects",
        "scenario",
        "[[scenario]]\n",
        "load",
        "vus",
        "environment",
        "subject",
        "cpus",
        "process",
        "[variant.a]\n",
        "body",
        "é",
        "\u{0}",
        "\u{feff}",
        "\u{2028}",
        "title = \"T\"\n",
        "workload = \"json\"\n",
        "set = { a = 1 }\n",
        "load = { executor = 'ramping-vus', stages = [{ target = ",
        "think-time = ",
        "read-rate = '64KiB",
        "objective = 'p95 < ",
        "database",
        "dsn = 'mysql://",
        "workload = 'rows?limit=",
        "[parameter.n]\n",
    ];
    prop::collection::vec(prop::sample::select(bits.to_vec()), 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    // The seed is fixed, so that a failure is the same for everyone.
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(83850),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        check(&text);
    }

    #[test]
    fn text_like_toml(text in toml_ish()) {
        check(&text);
    }

    #[test]
    fn a_sound_study_with_a_piece_cut_out(start in 0..STUDY.len(), length in 0..60usize) {
        let end = (start + length).min(STUDY.len());
        check(&[&STUDY[..start], &STUDY[end..]].concat());
    }

    #[test]
    fn a_sound_study_with_something_put_in(at in 0..STUDY.len(), piece in toml_ish()) {
        check(&[&STUDY[..at], &piece, &STUDY[at..]].concat());
    }

    #[test]
    fn a_sound_study_with_two_pieces_exchanged(first in 0..STUDY.len(), second in 0..STUDY.len()) {
        let (first, second) = (first.min(second), first.max(second));
        check(&[&STUDY[second..], &STUDY[first..second], &STUDY[..first]].concat());
    }
}

#[test]
fn the_study_is_sound_before_it_is_changed() {
    assert!(Study::read(STUDY, &CATALOGUE).is_ok());
}

/// The study with `line` in place of its line `number`, counted from 1.
fn with_line(number: usize, line: &str) -> String {
    let lines = STUDY.lines().enumerate().map(|(index, old)| if index + 1 == number { line } else { old });
    lines.collect::<Vec<&str>>().join("\n")
}

#[test]
fn one_wrong_line_is_one_problem_in_that_line() {
    let wrong_values = ["", "?", "[", "{", "]", "\"", "'", "x y", "2026-13-01", "1.2.3", "{ a = }", "[1, ", "\"\\q\""];
    let entries = [
        (2, "title"),
        (10, "blocks"),
        (11, "smallest-effect"),
        (14, "workload"),
        (15, "load"),
        (18, "workload"),
        (20, "executor"),
        (21, "vus"),
        (22, "duration"),
        (25, "subject.cpus"),
        (26, "generator"),
        (30, "objective"),
        (33, "executor"),
        (34, "start-rate"),
        (35, "stages"),
        (36, "arrivals"),
        (37, "pool"),
        (38, "requests-per-connection"),
        (41, "workload"),
        (42, "load"),
        (45, "engine"),
        (46, "pool"),
        (47, "rtt"),
        (48, "cpus"),
        (49, "memory"),
        (50, "max-connections"),
        (51, "buffer-pool"),
        (52, "outage"),
    ];
    for (number, key) in entries {
        for value in wrong_values.into_iter().chain(["true", "[true]", "1979-05-27"]) {
            let line = format!("{key} = {value}");
            let text = with_line(number, &line);
            let problems = Study::read(&text, &CATALOGUE).unwrap_err();
            assert_eq!(problems.len(), 1, "{line}\n{}", listed(&text, &problems));
            let before: usize = STUDY.lines().take(number - 1).map(|line| line.len() + 1).sum();
            let place = before..=before + line.len();
            assert!(place.contains(&problems[0].span.start), "{line}: {:?}", problems[0]);
        }
    }
}
