//! Reports on invented drivers' types and connections, in every format.

use crate::outline::{DEPTHS, outline};
use tolok_model::fidelity::{
    Aborts, ColumnVerdict, DriverReport, FIDELITY_SCHEMA, FidelityReport, LeftOut, TwoTasks, TwoTasksOutcome, Verdict,
};
use tolok_report::Style;
use tolok_report::data::json;
use tolok_report::document::{Depth, Document};
use tolok_report::documents::fidelity;
use tolok_report::print::{markdown, terminal};

fn column(sql_type: &'static str, awkward: &str, worst: Verdict, sentence: &str) -> ColumnVerdict {
    let column = match sql_type {
        "BIGINT" => "bigint_signed",
        "VARBINARY(16)" => "blob_",
        "INT" => "id",
        _ => "text_",
    };
    ColumnVerdict { column, sql_type, awkward: awkward.to_owned(), worst, sentence: sentence.to_owned() }
}

fn exact() -> Vec<ColumnVerdict> {
    vec![
        column("BIGINT", "9007199254740993", Verdict::Exact, "a number, exact"),
        column("VARBINARY(16)", "0x0080C328", Verdict::Reformatted("base64".to_owned()), "base64"),
        column("INT", "3", Verdict::Exact, "a number, exact"),
        column("TEXT", r#""<a | `b`>\u{2028}""#, Verdict::Exact, "a string, exact"),
    ]
}

fn rounded() -> Vec<ColumnVerdict> {
    let mut types = exact();
    types[0].worst = Verdict::Rounded("9007199254740992".to_owned());
    types[0].sentence = "a number, rounded: 9007199254740993 became 9007199254740992".to_owned();
    types[1].worst = Verdict::Altered("\"\\u0000��(\"".to_owned());
    types[1].sentence = "a string, altered: 0x0080C328 became \"\\0��(\"".to_owned();
    types
}

fn driver(subject: &str, types: Vec<ColumnVerdict>) -> DriverReport {
    DriverReport {
        subject: subject.to_owned(),
        help: "one process".to_owned(),
        types,
        one_connection: Some(tasks(TwoTasksOutcome::OneAfterTheOther, 0.402, &[])),
        two_connections: Some(tasks(TwoTasksOutcome::SideBySide, 0.203, &[])),
        aborts: Some(aborts()),
        failure: None,
    }
}

fn tasks(outcome: TwoTasksOutcome, elapsed_s: f64, errors: &[&str]) -> TwoTasks {
    TwoTasks { outcome, elapsed_s, errors: errors.iter().map(|error| (*error).to_owned()).collect() }
}

fn aborts() -> Aborts {
    Aborts {
        aborted: 1_000,
        pool: 16,
        connections_before: Some(2),
        connections_after: Some(16),
        busy_after: Some(0),
        asked_after: 64,
        answered_after: 64,
    }
}

/// Nine variants: most are correct, two round, two refuse to share a connection, one leaks, one does not start.
fn many() -> FidelityReport {
    let mut drivers = vec![driver("bun/serve:single", rounded())];
    drivers.extend(["bun/serve:mysql2", "go/nethttp:encoder", "go/nethttp:struct"].map(|it| driver(it, exact())));
    drivers[3].one_connection = Some(tasks(TwoTasksOutcome::OneAfterTheOther, 0.431, &[]));
    drivers.extend(["node/http:single", "node/http:cluster"].map(|it| driver(it, rounded())));
    drivers.extend(["php/fpm:opcache", "php/swoole:coroutine", "php/swoole:many"].map(|it| driver(it, exact())));
    (drivers[6].one_connection, drivers[6].two_connections) = (None, None);
    for (driver, number) in drivers[7..].iter_mut().zip([3, 8]) {
        let words = format!("Socket#{number} has already been bound to another coroutine");
        driver.one_connection = Some(tasks(TwoTasksOutcome::Refused, 0.2, &[&words, &words]));
    }
    drivers[5].aborts =
        Some(Aborts { aborted: 40, connections_after: Some(40), busy_after: Some(3), answered_after: 0, ..aborts() });
    let mut broken = driver("apache/prefork:mod-php", Vec::new());
    (broken.one_connection, broken.two_connections, broken.aborts) = (None, None, None);
    broken.failure = Some("did-not-start: process apache ended with exit code 1; its log ends with: no\tmodule".into());
    drivers.push(broken);
    let left_out = LeftOut { subject: "php/workers:one".into(), reason: "php is missing: tolok setup php".into() };
    let database = "10.11.19-MariaDB-0+deb12u1".to_owned();
    FidelityReport { schema_version: FIDELITY_SCHEMA, database, pool: 16, drivers, left_out: vec![left_out] }
}

pub fn every_document() -> Vec<Document> {
    DEPTHS.map(|depth| fidelity(&many(), depth)).into()
}

/// One fully correct variant, without the slow test.
fn one() -> FidelityReport {
    let drivers = vec![DriverReport { aborts: None, ..driver("go/nethttp:struct", exact()) }];
    FidelityReport { drivers, left_out: Vec::new(), ..many() }
}

#[test]
fn drivers_that_do_the_same_share_a_row() {
    insta::assert_snapshot!(outline(&fidelity(&many(), Depth::Short)));
}

#[test]
fn a_narrow_terminal_breaks_lines() {
    let text = terminal(&fidelity(&many(), Depth::Short), &Style { colour: false, width: 64 });
    assert!(text.lines().all(|line| line.chars().count() <= 64), "{text}");
}

#[test]
fn a_single_sound_subject_needs_no_legend() {
    let text = terminal(&fidelity(&one(), Depth::Short), &Style::default());
    assert!(!text.contains("lost, rounded or altered") && !text.contains(":*"), "{text}");
}

#[test]
fn markdown_has_a_table_of_types() {
    let text = markdown(&fidelity(&many(), Depth::Full));
    assert!(text.contains("| type | such as | what becomes of it | by |"), "{text}");
    assert!(
        text.contains("| **a number, rounded: 9007199254740993 became 9007199254740992** | bun/serve:single, "),
        "{text}"
    );
}

#[test]
fn programs_get_everything() {
    let value: serde_json::Value = serde_json::from_str(&json(&many())).unwrap();
    assert_eq!(value["drivers"].as_array().unwrap().len(), 10);
    let driver = &value["drivers"][0];
    assert_eq!(driver["types"][0]["worst"], serde_json::json!({"rounded": "9007199254740992"}), "{driver}");
    assert_eq!(
        (&driver["one_connection"]["outcome"], &driver["aborts"]["pool"]),
        (&"one-after-the-other".into(), &16.into())
    );
}

#[test]
fn where_no_driver_answered_only_the_reasons_stand() {
    let report = FidelityReport { database: String::new(), drivers: many().drivers.split_off(9), ..many() };
    let text = terminal(&fidelity(&report, Depth::Short), &Style::default());
    insta::assert_snapshot!(text, @r"
    What drivers make of types
    1 variant · pool of 16

    Failed
      - apache/prefork:mod-php: did-not-start: process apache ended with exit code 1; its log ends with:
        no module

    Skipped
      - php/workers:one: php is missing: tolok setup php
    ");
}
