//! Several runs over each other: throughput and response times of the scenarios that they share, as a piece of a page.
//!
//! Nothing is judged here. A run has a letter and a subject its colour and marker, so that neither is told by colour
//! alone.

use tolok_analysis::figures::{NONE, Quantity, figure, moment};
use tolok_analysis::{CaseFinding, Estimate, Findings, ScenarioFinding, without_brackets};

use super::run::columns::{cell, named};
use super::run::surroundings::heading;
use super::run::table::{LOWER_BOUND, is_lower_bound, percentiles_heading};
use super::run::{muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Document, Fact, Heading, Look, Row, Table, Text};
use crate::svg;

/// The letter of a run by its place: `A` for the first.
pub(crate) fn letter(place: usize) -> char {
    char::from(b'A' + u8::try_from(place % 26).unwrap_or_default())
}

/// A scenario that several runs have.
pub(crate) struct Shared<'a> {
    /// The place of each run that has it, and what it found.
    pub(crate) of_runs: Vec<(usize, &'a ScenarioFinding)>,
}

/// A subject of such a scenario, with its case in each run that has one.
pub(crate) struct SharedCase<'a> {
    pub(crate) title: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) runtime: &'a str,
    pub(crate) is_ceiling: bool,
    pub(crate) of_runs: Vec<(usize, &'a CaseFinding)>,
}

impl<'a> Shared<'a> {
    /// The scenarios that at least two runs have under the same load, tool and environment, in the order of the first
    /// that has each.
    fn all(runs: &[&'a Findings]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            for scenario in &run.scenarios {
                match all.iter_mut().find(|shared| shared.is_of(scenario)) {
                    Some(shared) => shared.of_runs.push((place, scenario)),
                    None => all.push(Self { of_runs: vec![(place, scenario)] }),
                }
            }
        }
        all.retain(|shared| shared.of_runs.len() > 1);
        all
    }

    fn is_of(&self, other: &ScenarioFinding) -> bool {
        sameness(self.first()) == sameness(other)
    }

    pub(crate) fn first(&self) -> &'a ScenarioFinding {
        self.of_runs[0].1
    }

    /// Its subjects, those of the first run in the order of its table, and then what only others have. The ceilings
    /// come last.
    pub(crate) fn cases(&self) -> Vec<SharedCase<'a>> {
        let mut cases: Vec<SharedCase<'a>> = Vec::new();
        for is_ceiling in [false, true] {
            for (place, scenario) in &self.of_runs {
                let own: Vec<&CaseFinding> =
                    if is_ceiling { scenario.ceiling.iter().collect() } else { scenario.cases.iter().collect() };
                for case in own {
                    match cases.iter_mut().find(|shared| shared.subject == case.subject) {
                        Some(shared) => shared.of_runs.push((*place, case)),
                        None => cases.push(SharedCase {
                            title: &case.title,
                            subject: &case.subject,
                            runtime: &case.runtime,
                            is_ceiling,
                            of_runs: vec![(*place, case)],
                        }),
                    }
                }
            }
        }
        cases
    }
}

impl SharedCase<'_> {
    /// Its title, which says of a ceiling that it is one.
    pub(crate) fn name(&self) -> String {
        if self.is_ceiling { format!("ceiling: {}", self.title) } else { self.title.to_owned() }
    }
}

/// What must be equal for two scenarios to be the same: name, load, tool, environment and link.
fn sameness(scenario: &ScenarioFinding) -> [String; 5] {
    let link = scenario.link.as_ref().map_or("", |link| &link.words);
    let tool = without_brackets(&scenario.tool);
    [&scenario.id, &scenario.load, &tool, &scenario.environment.words, link].map(str::to_owned)
}

/// The runs over each other, as a piece of a page.
pub fn overlay(runs: &[&Findings]) -> Document {
    let shared = Shared::all(runs);
    let mut blocks = of_runs(runs);
    blocks.extend(shared.iter().enumerate().flat_map(|(place, shared)| of_scenario(place + 1, shared)));
    if shared.is_empty() {
        let nothing = "These runs share no scenario: none has the same name, load and environment in two of them.";
        blocks.extend(paragraph(nothing));
    }
    let left_out = Block::list(left_out(runs, &shared).into_iter().map(Text::from).collect());
    blocks.extend(section("left-out", "Not laid over each other", left_out.into_iter().collect()));
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
        "Medians over the trials, with their intervals. Nothing is judged here: two intervals that overlap say little, and what differs may \
         be the machine or the conditions. To have two runs judged, compare them.",
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
            let text = format!("{}: programs, whose times stand in the reports", program.title);
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
            "Good answers per second in each run. Whisker: interval over the trials. Outlined: not ranked in that run."
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
    let columns = words.into_iter().chain(["good answers/s", "p50", "p99", "trials"].map(Column::numbers)).collect();
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

/// A row for each run of a subject. Only the first of them names it.
fn rows(shared: &SharedCase) -> Vec<Row> {
    let row = |(nth, (place, case)): (usize, &(usize, &CaseFinding))| {
        let mut row = if nth == 0 { named(shared.title, shared.runtime, shared.is_ceiling) } else { Row::default() };
        match row.cells.first_mut() {
            Some(name) => name.below = shared.subject.to_owned(),
            None => row.cells.push(Cell::default()),
        }
        row.look = Look::Plain;
        let unranked = if case.ranked || shared.is_ceiling { "" } else { " not ranked" };
        let mut goodput = shown(Quantity::Number, case.goodput_rps.as_ref());
        if case.goodput_rps.is_some() && is_lower_bound(case) {
            goodput.text = format!("{LOWER_BOUND}{}", goodput.text.plain()).into();
        }
        row.cells.extend([
            Text::of(letter(*place).to_string(), Look::Strong).and(unranked, Look::Muted).into(),
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
