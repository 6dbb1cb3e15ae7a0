//! Forecasts from invented runs, in every format.

use crate::invented::{BUN, GO, InventedRun, ask};
use crate::outline::{DEPTHS, outline};
use tolok_analysis::Records;
use tolok_analysis::forecast::{Forecast, ForecastQuestion, forecast};
use tolok_model::{Database, Environment, Link};
use tolok_report::data::{forecast as csv, json, schema};
use tolok_report::document::{Depth, Document};
use tolok_report::documents::forecast as document;
use tolok_report::print::{Style, terminal};

/// Go with four numbers of users, Bun with one, and Go with a database over two links.
fn run() -> InventedRun {
    let mut run = InventedRun::new(5);
    for (users, rps, cpu_s) in
        [(1, 18_500.0, 24e-6), (4, 40_900.0, 23e-6), (16, 43_100.0, 23e-6), (64, 43_900.0, 22.6e-6)]
    {
        run.scenario(&format!("hello-c{users}"), "hello", "Hello", users).steady(GO, rps);
        run.change(|_, trial| {
            trial.subject.as_mut().expect("tolok started it").cpu_s = cpu_s * trial.goodput_rps * trial.window_s
        });
    }
    run.steady(BUN, 45_200.0);
    for (rtt_s, rps) in [(0.0, 2_450.0), (0.02, 770.0)] {
        let id = format!("rtt{}ms", rtt_s * 1e3);
        let database = Database { link: Link { rtt_s, ..Link::default() }, ..Database::default() };
        run.environment(Environment { id: id.clone(), database: Some(database), ..Environment::default() });
        run.asking(&format!("query-c64-{id}"), "query", "One row", 64).steady(GO, rps);
        run.change(|_, trial| {
            ask(trial, 400e-6 * trial.goodput_rps, 1, 800);
            trial.subject.as_mut().expect("tolok started it").cpu_s = 60e-6 * trial.goodput_rps * trial.window_s;
        });
    }
    run
}

fn asked(question: &ForecastQuestion) -> Forecast {
    let InventedRun { run, plan, names, trials, diagnoses } = &run();
    forecast(&Records { run, plan, names, trials, diagnoses, records_sha256: None }, question).unwrap()
}

fn a_million() -> Forecast {
    let mean_below_s = Some(0.05);
    asked(&ForecastQuestion { think_s: Some(10.0), mean_below_s, ..ForecastQuestion::of_users(1_000_000) })
}

pub fn every_document() -> Vec<Document> {
    let found = a_million();
    DEPTHS.map(|depth| document(&found, depth)).into()
}

#[test]
fn a_comment_has_tables_and_sentences() {
    insta::assert_snapshot!(outline(&document(&a_million(), Depth::Full)));
}

#[test]
fn a_narrow_terminal_breaks_lines() {
    let shown = |width| terminal(&document(&a_million(), Depth::Short), &Style { colour: false, width });
    assert!(shown(64).lines().all(|line| line.chars().count() <= 64), "{}", shown(64));
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&shown(64)), words(&shown(100)));
}

#[test]
fn programs_get_everything() {
    let value: serde_json::Value = serde_json::from_str(&json(&a_million())).unwrap();
    assert_eq!(value["schema_version"], 1);
    assert_eq!(value["subjects"][0]["prediction"]["bottleneck"], "subject-cpu");
    assert_eq!(value["subjects"][1]["prediction"], serde_json::Value::Null);
    assert_eq!(value["subjects"][0]["validation"]["held_out"].as_array().unwrap().len(), 4);
}

#[test]
fn a_spreadsheet_gets_one_line_a_subject() {
    let csv = csv(&a_million());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[0].starts_with("run,subject,workload,users,instances,rtt_s,database_rtt_s,pool,think_s,predicted_thr")
    );
    assert!(lines[1].starts_with("2026-11-21-quick-7f3a,go/nethttp:encoder,hello,1000000,1,0,,,10,"), "{}", lines[1]);
    assert!(
        lines[2].contains(",,,,,") && lines[2].contains("the run has 1 scenario to calibrate from"),
        "{}",
        lines[2]
    );
}

#[test]
fn the_schema_in_the_repository_is_the_one_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/forecast.schema.json");
    let generated = serde_json::to_string_pretty(&schema::<Forecast>()).unwrap() + "\n";
    if std::env::var_os("TOLOK_WRITE_SCHEMAS").is_some() {
        std::fs::write(path, &generated).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == generated, "regenerate it: TOLOK_WRITE_SCHEMAS=1 cargo test -p tolok-report --test forecast");
}
