//! Several runs over each other: throughput and response times of the scenarios that they share, as a piece of a page.
//!
//! Nothing is judged here. A run has a letter and a subject its colour and marker, so that neither is told by colour
//! alone.

use serde::Serialize;
use tolok_analysis::figures::{Figure, NONE, Quantity, figure, moment};
use tolok_analysis::{CaseFinding, Estimate, Findings, ScenarioFinding};

use crate::documents::run::table::percentiles_heading;
use crate::page::piece;
use crate::svg::palette::marker;
use crate::svg::{self, Shared, SharedCase, letter};
use crate::wording::{LOWER_BOUND, heading, is_lower_bound};

const TEMPLATE: &str = include_str!("../templates/overlay.html");

/// The runs over each other, in the order in which they are given, without a heading of the first rank.
pub fn html(runs: &[&Findings]) -> String {
    piece("overlay.html", TEMPLATE, &Overlay::of(runs))
}

#[derive(Serialize)]
struct Overlay {
    runs: Vec<Run>,
    scenarios: Vec<Scenario>,
    /// Scenarios and programs that stand in one of the runs only, or are not servers.
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct Run {
    letter: char,
    id: String,
    title: String,
    facts: String,
    machine: String,
}

#[derive(Serialize)]
struct Scenario {
    id: String,
    title: String,
    load: String,
    place: String,
    percentiles: String,
    throughput: String,
    latency: Option<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    /// Runs of one subject; nothing for all but its first.
    runs: Option<usize>,
    marker: String,
    title: String,
    subject: String,
    letter: char,
    ranked: bool,
    goodput: Cell,
    p50: Cell,
    p99: Cell,
    trials: String,
}

#[derive(Serialize)]
struct Cell {
    value: String,
    interval: String,
}

impl Overlay {
    fn of(runs: &[&Findings]) -> Self {
        let shared = Shared::all(runs);
        let is_shared = |scenario: &ScenarioFinding| shared.iter().any(|shared| shared.is_of(scenario));
        let mut left_out = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            let lonely = run.scenarios.iter().filter(|scenario| !is_shared(scenario));
            left_out.extend(lonely.map(|it| format!("{} ({}): only in run {}", heading(it), it.load, letter(place))));
            for program in &run.programs {
                let text = format!("{}: programs, whose times stand in the reports", program.title);
                if !left_out.contains(&text) {
                    left_out.push(text);
                }
            }
        }
        let run = |(place, run): (usize, &&Findings)| Run {
            letter: letter(place),
            id: run.run.id.clone(),
            title: run.run.title.clone(),
            facts: format!("{} · tolok {}", moment(&run.run.started_at), run.run.tolok_version),
            machine: run.run.machine.clone(),
        };
        Self {
            runs: runs.iter().enumerate().map(run).collect(),
            scenarios: shared.iter().map(Scenario::of).collect(),
            left_out,
        }
    }
}

impl Scenario {
    fn of(shared: &Shared) -> Self {
        let first = shared.first();
        Self {
            id: first.id.clone(),
            title: heading(first),
            load: first.load.clone(),
            place: first.environment.words.clone(),
            percentiles: percentiles_heading(first),
            throughput: svg::overlaid_throughput(shared),
            latency: svg::overlaid_latency(shared),
            rows: shared.cases().iter().flat_map(Row::of).collect(),
        }
    }
}

impl Row {
    fn of(shared: &SharedCase) -> Vec<Self> {
        let row = |(nth, (place, case)): (usize, &(usize, &CaseFinding))| Self {
            runs: (nth == 0).then_some(shared.of_runs.len()),
            marker: marker(shared.runtime),
            title: shared.name(),
            subject: shared.subject.to_owned(),
            letter: letter(*place),
            ranked: case.ranked || shared.is_ceiling,
            goodput: Cell::bounded(Quantity::Number, case.goodput_rps.as_ref(), is_lower_bound(case)),
            p50: Cell::of(Quantity::Seconds, case.latency_p50_s.as_ref()),
            p99: Cell::of(Quantity::Seconds, case.latency_p99_s.as_ref()),
            trials: format!("{} of {}", case.trials_scored, case.trials_planned),
        };
        shared.of_runs.iter().enumerate().map(row).collect()
    }
}

impl Cell {
    fn of(quantity: Quantity, estimate: Option<&Estimate>) -> Self {
        Self::bounded(quantity, estimate, false)
    }

    fn bounded(quantity: Quantity, estimate: Option<&Estimate>, is_bound: bool) -> Self {
        let Some(estimate) = estimate else { return Self { value: NONE.to_owned(), interval: String::new() } };
        let Figure { value, interval } = figure(quantity, estimate);
        let bound = if is_bound { LOWER_BOUND } else { "" };
        Self { value: format!("{bound}{value}"), interval: interval.unwrap_or_default() }
    }
}
