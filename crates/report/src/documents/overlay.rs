//! Overlays several runs: throughput and response times of the scenarios that they share, as part of a page.
//!
//! This module judges nothing. A run is marked by a letter, and a subject by colour and marker, so that colour alone identifies
//! neither.

use tolok_analysis::figures::{NONE, Quantity, figure, moment};
use tolok_analysis::{CaseFinding, Estimate, Findings};

use super::run::columns::{cell, named};
use super::run::table::percentiles_heading;
use super::run::{muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Document, Fact, Heading, Look, Row, Table, Text};
use crate::svg::{self, Shared, SharedCase, letter};
use crate::wording::{LOWER_BOUND, heading, is_lower_bound};

/// The overlay of the runs, as part of a page.
pub fn overlay(runs: &[&Findings]) -> Document {
    let shared = Shared::all(runs);
    let mut blocks = of_runs(runs);
    blocks.extend(shared.iter().enumerate().flat_map(|(place, shared)| of_scenario(place + 1, shared)));
    if shared.is_empty() {
        let nothing = "These runs share no scenario: no two of them have one with the same name, load and environment.";
        blocks.extend(paragraph(nothing));
    }
    let left_out = Block::list(left_out(runs, &shared).into_iter().map(Text::from).collect());
    blocks.extend(section("left-out", "Not overlaid", left_out.into_iter().collect()));
    Document { title: String::new(), blocks }
}

fn of_runs(runs: &[&Findings]) -> Vec<Block> {
    let fact = |(place, run): (usize, &&Findings)| {
        let made = format!("{} · tolok {} · {}", moment(&run.run.started_at), run.run.tolok_version, run.run.machine);
        Fact {
            label: format!("{} {}", letter(place), run.run.id),
            words: Text::from(run.run.title.as_str()).and(format!(" {made}"), Look::Muted),
        }
    };
    let note = muted(
        "Goodput: geometric means over rounds; others: medians over trials; with their intervals. Nothing is judged here: overlapping intervals say little, and the machine or the conditions may differ. For a verdict, compare two runs.",
    );
    let facts = Block::Facts(runs.iter().enumerate().map(fact).collect());
    section("runs", "The runs", std::iter::once(facts).chain(note).collect())
}

/// Scenarios that only one of the runs has, and programs.
fn left_out(runs: &[&Findings], shared: &[Shared]) -> Vec<String> {
    let mut left_out = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let lonely = run.scenarios.iter().filter(|scenario| !shared.iter().any(|shared| shared.is_of(scenario)));
        left_out.extend(lonely.map(|it| format!("{} ({}): only in run {}", heading(it), it.load, letter(place))));
        for program in &run.programs {
            let text = format!("{}: programs; the reports have their times", program.title);
            if !left_out.contains(&text) {
                left_out.push(text);
            }
        }
    }
    left_out
}

fn of_scenario(number: usize, shared: &Shared) -> Vec<Block> {
    let first = shared.first();
    let title = Heading { rank: 2, text: heading(first).into(), beside: first.id.clone() };
    let throughput = Chart {
        svg: svg::overlaid_throughput(shared),
        caption:
            "Correct responses per second in each run. Whisker: interval over the trials. Outlined: not ranked in that run."
                .to_owned(),
    };
    let latency = svg::overlaid_latency(shared).map(|svg| Chart {
        svg,
        caption: format!(
            "Response times ({}) on a logarithmic axis. Filled: p50; hollow: p99.",
            percentiles_heading(first)
        ),
    });
    let words = ["subject", "run"].map(Column::words);
    let columns =
        words.into_iter().chain(["correct responses/s", "p50", "p99", "trials"].map(Column::numbers)).collect();
    let table = Table {
        caption: format!("Figures of {}", first.id),
        columns,
        rows: shared.cases().iter().flat_map(rows).collect(),
        ..Table::default()
    };
    let blocks = [
        Some(Block::Heading(title)),
        muted(format!("{}; {}", first.load, first.environment.words)),
        Some(Block::Charts(std::iter::once(throughput).chain(latency).collect())),
        Some(Block::Table(table)),
    ];
    vec![Block::Section { id: format!("scenario-{number}"), blocks: blocks.into_iter().flatten().collect() }]
}

/// A row for each run of a subject. Only the first row names it.
fn rows(shared: &SharedCase) -> Vec<Row> {
    let row = |(nth, (place, case)): (usize, &(usize, &CaseFinding))| {
        let mut row = if nth == 0 { named(shared.title, shared.runtime, shared.is_ceiling) } else { Row::default() };
        match row.cells.first_mut() {
            Some(name) => name.below = shared.subject.to_owned(),
            None => row.cells.push(Cell::default()),
        }
        row.look = Look::Plain;
        let unranked = if case.ranked || shared.is_ceiling { "" } else { " not ranked" };
        let mut goodput = shown(Quantity::Number, case.shown_goodput_rps());
        if case.goodput_rps.is_some() && is_lower_bound(case) {
            goodput.text = format!("{LOWER_BOUND}{}", goodput.text.plain()).into();
        }
        row.cells.extend([
            Text::of(letter(*place), Look::Strong).and(unranked, Look::Muted).into(),
            goodput,
            shown(Quantity::Seconds, case.latency_p50_s.as_ref()),
            shown(Quantity::Seconds, case.latency_p99_s.as_ref()),
            Cell::from(format!("{} of {}", case.trials_scored, case.trials_planned)),
        ]);
        row
    };
    shared.of_runs.iter().enumerate().map(row).collect()
}

fn shown(quantity: Quantity, estimate: Option<&Estimate>) -> Cell {
    estimate.map_or(NONE.into(), |estimate| cell(figure(quantity, estimate)))
}
