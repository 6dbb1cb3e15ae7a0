//! Transcriptions: how they are read, and the messages about mistakes.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use insta::{assert_json_snapshot, assert_snapshot};
use tolok_model::Problem;
use tolok_model::transcription::{Mark, Quantity, Transcription};

const SOUND: &str = r#"title = "A comparison"
year = 2026
[method]
tool = "wrk"
loop = "closed"
duration = "30s"
[[scenario]]
name = "hello"
title = "33 bytes, 100 connections"
connections = 100
[[scenario]]
name = "file"
connections = 500
body = ["1MB", "2MB"]
[[row]]
table = "Table 1"
subject = "go"
scenario = "hello"
throughput_rps = 19.30
latency_p95_ms = "~18"
cpu_percent = "400+"
raw = "Go 19,30 18 400%+"
[[row]]
table = "Table 1"
subject = "bun"
scenario = "hello"
throughput_rps = 2.75
[[row]]
subject = "go"
scenario = "file"
duration = "20s"
requests = [9133, 8946]
cpu_cores = "0.5..0.9"
[row.other]
answers_of_cache = 3
[[series]]
subject = "go"
scenario = "file"
second = [0, 1, 2]
memory_mb = [0, 1.5, 2.0]
[[claim]]
id = "go-7x"
place = "Abstract"
says = "Go answers 7 times as often as Bun"
raw = "7x"
figure = "throughput_rps"
a = { subject = "go", scenario = "hello" }
b = { subject = "bun", scenario = "hello" }
ratio = 7
"#;

fn told(text: &str, problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let (line, column) = problem.line_column(text);
        let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{line}:{column} «{}» {}{help}", &text[problem.span.clone()], problem.message)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn read(text: &str) -> Transcription {
    Transcription::read(text, "source").map_err(|problems| told(text, &problems)).unwrap()
}

fn problems(text: &str) -> String {
    Transcription::read(text, "source").err().map_or_else(|| "no problem".to_owned(), |found| told(text, &found))
}

/// The messages after one change to the sound text.
fn with(from: &str, to: &str) -> String {
    assert!(SOUND.contains(from), "{from}");
    problems(&SOUND.replacen(from, to, 1))
}

#[test]
fn a_transcription_keeps_what_is_printed() {
    let source = read(SOUND);
    let go = &source.rows[0];
    let throughput = go.figure(&Quantity::Throughput).unwrap();
    assert_eq!((throughput.numbers[0].printed.as_str(), throughput.numbers[0].decimals), ("19.30", 2));
    assert_eq!(go.figures[2].numbers[0].mark, Mark::AtLeast);
    assert_eq!(go.line, 15);
    assert_json_snapshot!(source);
}

#[test]
fn conditions_hold_from_the_outside_in() {
    let source = read(SOUND);
    let [hello, _, file] = source.rows.as_slice() else { panic!("three rows") };
    assert_eq!((hello.conditions.duration_s, hello.conditions.connections), (Some(30.0), Some(100)));
    assert_eq!((file.conditions.duration_s, file.conditions.connections), (Some(20.0), Some(500)));
    assert_eq!(file.conditions.body_bytes, Some((1e6, 2e6)));
    assert_eq!(file.conditions.tool.as_deref(), Some("wrk"));
}

#[test]
fn a_misspelt_key_is_told_apart_from_a_missing_one() {
    assert_snapshot!(with("throughput_rps = 19.30", "througput_rps = 19.30"), @"19:1 «througput_rps» unknown key `througput_rps` (did you mean `throughput_rps`? A figure that no key fits goes under [row.other])");
    assert_snapshot!(with("subject = \"bun\"", "subjct = \"bun\""), @"25:1 «subjct» unknown key `subjct` (did you mean `subject`? A figure that no key fits goes under [row.other])");
    assert_snapshot!(with("connections = 100", "connection = 100"), @"10:1 «connection» unknown key `connection` (did you mean `connections`? known here: name, title, raw, requests, tool, loop, connections, streams, latency-of, ramp, think-time, duration, warmup, repetitions, fresh-start, timeout, keep-alive, generator-threads, subject-cpus, subject-workers, subject-memory, cpu-scope, rtt, link, body, work)");
    assert_snapshot!(with("latency_p95_ms", "latency_p97_ms"), @"20:1 «latency_p97_ms» unknown key `latency_p97_ms` (did you mean `latency_p99_ms`? A figure that no key fits goes under [row.other])");
    assert_snapshot!(with("throughput_rps = 2.75", "colour = { a = 1 }"), @"27:1 «colour» unknown key `colour` (near are goodput_rps, tool, loop. A figure that no key fits goes under [row.other])");
}

#[test]
fn names_are_checked_against_each_other() {
    assert_snapshot!(with("scenario = \"file\"", "scenario = \"fiel\""), @r#"30:12 «"fiel"» there is no [[scenario]] `fiel` (did you mean `file`? known here: hello, file)"#);
    assert_snapshot!(with("a = { subject = \"go\", scenario = \"hello\" }", "a = { subject = \"og\", scenario = \"helo\" }"), @r#"
    47:17 «"og"» no row has the subject `og` (known here: go, bun)
    47:34 «"helo"» no row has the scenario `helo` (did you mean `hello`? known here: hello, file)
    "#);
    assert_snapshot!(with("a = { subject = \"go\", scenario = \"hello\" }", "a = { subject = \"go\", scenario = \"file\" }"), @r#"47:5 «{ subject = "go", scenario = "file" }» no row that is meant here has the figure (name rows that have it, or leave out what narrows them)"#);
    assert_snapshot!(with("a = { subject = \"go\", scenario = \"hello\" }", "a = { table = \"Table 2\" }"), @r#"47:15 «"Table 2"» no row has the table `Table 2` (did you mean `Table 1`? known here: Table 1)"#);
    assert_snapshot!(with("figure = \"throughput_rps\"", "figure = \"throughput\""), @r#"46:10 «"throughput"» `throughput` is no figure of a row (did you mean `throughput_rps`?)"#);
    assert_snapshot!(with("name = \"file\"", "name = \"hello\""), @r#"
    12:8 «"hello"» scenario `hello` appears twice
    30:12 «"file"» there is no [[scenario]] `file` (known here: hello, hello)
    38:12 «"file"» there is no [[scenario]] `file` (known here: hello, hello)
    "#);
}

#[test]
fn numbers_stand_as_they_are_printed() {
    assert_snapshot!(with("19.30", "\"19,30\""), @r#"19:18 «"19,30"» `19,30` is no number as it is printed (digits and one decimal point, without unit and separators: 12345.60; in quotes with a mark: "~14000", ">= 400", "< 0.5", "0.5..0.9")"#);
    assert_snapshot!(with("19.30", "1e3"), @r#"19:18 «1e3» `1e3` is no number as it is printed (digits and one decimal point, without unit and separators: 12345.60; in quotes with a mark: "~14000", ">= 400", "< 0.5", "0.5..0.9")"#);
    assert_snapshot!(with("19.30", "true"), @r#"19:18 «true» expected a number as it is printed, or a text such as "~14000", ">= 400" or "0.5..0.9", found `true`"#);
    assert_snapshot!(with("[9133, 8946]", "[]"), @"32:12 «[]» no number is listed (leave the key out where the source has no figure)");
    assert_snapshot!(with("\"~18\"", "\"18 ms\""), @r#"20:18 «"18 ms"» `18 ms` is no number as it is printed (digits and one decimal point, without unit and separators: 12345.60; in quotes with a mark: "~14000", ">= 400", "< 0.5", "0.5..0.9")"#);
    assert_snapshot!(with("second = [0, 1, 2]", "second = [0, 1]"), @"40:13 «[0, 1.5, 2.0]» this list has 3 numbers, and the first of the series has 2 (write every instant of the source, or begin another series)");
    assert_snapshot!(with("ratio = 7", "ratio = \"7x\""), @r#"49:9 «"7x"» `7x` is no number as it is printed (digits and one decimal point, without unit and separators: 12345.60; in quotes with a mark: "~14000", ">= 400", "< 0.5", "0.5..0.9")"#);
    assert_snapshot!(with("latency_p95_ms = \"~18\"", "latency_p95_ms = 18\nlatency_p95_s = 0.018"), @"21:1 «latency_p95_s» `latency_p95_s` is the same figure as `latency_p95_ms` (a row has each figure once, in one unit)");
}

#[test]
fn conditions_are_checked() {
    assert_snapshot!(with("connections = 100", "connections = 0"), @"10:15 «0» `connections` must be at least 1 (leave it out where the source does not say)");
    assert_snapshot!(with("duration = \"30s\"", "duration = 30"), @r#"6:12 «30» expected a duration with its unit in quotes, such as "500ms" or "2s", found the number 30"#);
    assert_snapshot!(with("duration = \"30s\"", "duration = \"0s\"\nsubject-cpus = 0"), @r#"
    6:12 «"0s"» `duration` must be longer than nothing (leave it out where the source does not say)
    7:16 «0» `subject-cpus` must be more than 0 (leave it out where the source does not say)
    "#);
    assert_snapshot!(with("connections = 500", "work = \"400000\""), @r#"13:8 «"400000"» `work` names no amount (numbers and what they count: "10000 rows × 40 fields", "20 queries", "5MB")"#);
    assert_snapshot!(with("[\"1MB\", \"2MB\"]", "[\"2MB\", \"1MB\"]"), @r#"14:8 «["2MB", "1MB"]» `body` is no size and no range of sizes (one size, or the smallest and the largest: "534kB" or ["10MB", "50MB"])"#);
    assert_snapshot!(with("\"closed\"", "\"close\""), @r#"5:8 «"close"» unknown value `close` (did you mean `closed`? known here: closed, open)"#);
}

#[test]
fn a_claim_asserts_one_thing() {
    assert_snapshot!(with("ratio = 7", ""), @r#"41:1 «[[claim]]» the claim asserts nothing that can be judged (one of: ratio = 7, difference = "6000..7000", value = "430..490", highest = "go", lowest = "php", order = ["go", "bun", "php"], untestable = "why")"#);
    assert_snapshot!(with("ratio = 7", "ratio = 7\nhighest = \"go\""), @r#"50:11 «"go"» `highest` is a second assertion, beside `ratio` (write a [[claim]] for each)"#);
    assert_snapshot!(with("ratio = 7", "highest = \"go\""), @r#"
    47:5 «{ subject = "go", scenario = "hello" }» this claim has no `a` (`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`)
    48:5 «{ subject = "bun", scenario = "hello" }» this claim has no `b` (`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`)
    "#);
    assert_snapshot!(with("ratio = 7", "untestable = \"no figure\""), @r#"
    46:10 «"throughput_rps"» `untestable` has no `figure` (`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`)
    47:5 «{ subject = "go", scenario = "hello" }» `untestable` has no `a` (`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`)
    48:5 «{ subject = "bun", scenario = "hello" }» `untestable` has no `b` (`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`)
    "#);
    assert_snapshot!(with("ratio = 7", "ratio = 7\nat = { subject = \"go\" }"), @r#"50:6 «{ subject = "go" }» `ratio` has no `at` (`ratio` and `difference` have `a` and `b`; `value`, `highest`, `lowest` and `order` have `at`)"#);
    assert_snapshot!(with("id = \"go-7x\"\n", ""), @r#"41:1 «[[claim]]» missing key `id` (for example: id = "go-7x-bun")"#);
    let twice = format!("{SOUND}[[claim]]\nid = \"go-7x\"\nsays = \"x\"\nuntestable = \"y\"\n");
    assert_snapshot!(problems(&twice), @r#"51:6 «"go-7x"» claim `go-7x` appears twice"#);
    let order = "figure = \"throughput_rps\"\norder = [\"go\"]";
    assert_snapshot!(problems(&format!("{SOUND}[[claim]]\nid = \"o\"\nsays = \"x\"\n{order}")), @r#"54:9 «["go"]» an order needs two subjects (from the highest to the lowest: order = ["go", "bun", "php"])"#);
}

#[test]
fn everything_missing_is_reported_at_once() {
    assert_snapshot!(problems("[[row]]\n[[claim]]\n"), @r#"
    1:1 «[[row]]» missing key `title` (for example: title = "A blog post of 2026")
    1:1 «[[row]]» missing key `subject` (for example: subject = "go")
    1:1 «[[row]]» no figure is given (for example: throughput_rps = 1234.5)
    2:1 «[[claim]]» missing key `id` (for example: id = "go-7x-bun")
    2:1 «[[claim]]» missing key `says` (for example: says = "Go has 7 times the throughput of Bun")
    2:1 «[[claim]]» the claim asserts nothing that can be judged (one of: ratio = 7, difference = "6000..7000", value = "430..490", highest = "go", lowest = "php", order = ["go", "bun", "php"], untestable = "why")
    "#);
    assert_snapshot!(problems("note = \"nothing\""), @r#"
    1:1 «note = "nothing"» missing key `title` (for example: title = "A blog post of 2026")
    1:1 «note = "nothing"» missing key `row` (for example: [[row]] with a subject and its figures)
    "#);
}
