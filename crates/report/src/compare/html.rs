//! A comparison as a piece of a page that has the reports' style.

use serde::Serialize;
use tolok_analysis::figures::{Figure, counted};
use tolok_analysis::{Change, CompareOutcome, RunComparison, ScenarioChange, UnmatchedCase};

use crate::documents::compare::words::{Line, difference, heading, legend, lines, of_machine, side};
use crate::page::piece;
use crate::palette::marker;

const TEMPLATE: &str = include_str!("../../templates/comparison.html");

/// The comparison from its sentence on, without a heading of the first rank.
pub fn html(found: &RunComparison) -> String {
    piece("comparison.html", TEMPLATE, &Comparison::of(found))
}

#[derive(Serialize)]
struct Comparison<'a> {
    outcome: &'static str,
    class: &'static str,
    sign: char,
    sentence: &'a str,
    before: String,
    after: String,
    machine: &'a str,
    legend: String,
    scenarios: Vec<Scenario>,
    conditions: Vec<String>,
    changes: Vec<String>,
    only: Vec<Only<'a>>,
    cautions: &'a [String],
}

#[derive(Serialize)]
struct Scenario {
    id: String,
    heading: String,
    place: String,
    rows: Vec<Row>,
    /// All figures, where those above are not all.
    all: Vec<Row>,
    how_many: String,
    machine: Vec<String>,
}

/// A figure of a case.
#[derive(Serialize)]
struct Row {
    marker: String,
    title: String,
    subject: String,
    metric: &'static str,
    before: String,
    after: String,
    ratio: Figured,
    class: &'static str,
    sign: &'static str,
    verdict: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct Figured {
    value: String,
    interval: String,
}

/// Cases of one run that the other lacks.
#[derive(Serialize)]
struct Only<'a> {
    run: &'a str,
    cases: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn of(found: &'a RunComparison) -> Self {
        let (class, sign) = match found.outcome {
            CompareOutcome::NoRegression => ("ok", '✓'),
            CompareOutcome::CannotTell => ("warn", '?'),
            CompareOutcome::Regression | CompareOutcome::NotSound => ("warn", '!'),
        };
        let sides = [(&found.before.id, &found.only_before), (&found.after.id, &found.only_after)];
        let only = |(run, cases): (&'a String, &Vec<UnmatchedCase>)| {
            let cases = cases.iter().map(|case| format!("{} in {}", case.title, case.scenario)).collect();
            Only { run, cases }
        };
        Self {
            outcome: found.outcome.words(),
            class,
            sign,
            sentence: &found.sentence,
            before: side(&found.before),
            after: side(&found.after),
            machine: &found.after.machine,
            legend: legend(found),
            scenarios: found.scenarios.iter().map(|scenario| Scenario::of(found, scenario)).collect(),
            conditions: found.conditions.iter().map(difference).collect(),
            changes: found.changes.iter().map(difference).collect(),
            only: sides.into_iter().map(only).filter(|only| !only.cases.is_empty()).collect(),
            cautions: &found.cautions,
        }
    }
}

impl Scenario {
    fn of(found: &RunComparison, scenario: &ScenarioChange) -> Self {
        let own = |is_all: bool| {
            let own = lines(found, is_all).into_iter().filter(|line| std::ptr::eq(line.scenario, scenario));
            own.map(|line| Row::of(&line)).collect::<Vec<Row>>()
        };
        let (rows, all) = (own(false), own(true));
        Self {
            id: scenario.id.clone(),
            heading: heading(scenario),
            place: format!("{} · {}", scenario.environment, scenario.tool),
            how_many: counted(all.len() as u64, "figure"),
            all: if all.len() > rows.len() { all } else { Vec::new() },
            rows,
            machine: of_machine(scenario),
        }
    }
}

impl Row {
    fn of(line: &Line) -> Self {
        let Figure { value, interval } = line.ratio();
        let (class, sign) = match line.figure.verdict {
            Some(Change::Regression) => ("warn", "!"),
            Some(Change::Improvement) => ("ok", "✓"),
            Some(Change::Equivalent) => ("", "="),
            Some(Change::NoDifferenceFound) => ("", "≈"),
            Some(Change::CannotTell) => ("", "?"),
            None => ("", "–"),
        };
        Self {
            marker: marker(&line.case.runtime),
            title: line.case.title.clone(),
            subject: line.case.subject.clone(),
            metric: line.metric(),
            before: line.before(),
            after: line.after(),
            ratio: Figured { value, interval: interval.unwrap_or_default() },
            class,
            sign,
            verdict: line.verdict(),
            reason: line.reason().unwrap_or_default().to_owned(),
        }
    }
}
