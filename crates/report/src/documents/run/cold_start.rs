//! Time from the start to the first correct response.
//!
//! A subject is restarted for every trial, independently of the later load, so the trials of all its scenarios count together. Only
//! trials in another environment, or with a database to connect to, are kept apart.

use tolok_analysis::figures::{Quantity, amount, count, counted};
use tolok_analysis::{CaseFinding, Findings, ScenarioFinding};

use super::{muted, paragraph, section, surroundings};
use crate::document::{Block, Cell, Chart, Column, Depth, Row, Table};
use crate::svg::{self, Start};

/// Charts that are not folded away.
const SHOWN: usize = 6;
pub(crate) const RULE: &str = "From the start of the first process to the first correct response; requests are sent from the start on. Median over the trials of all scenarios, because each starts a subject alike. Whisker: the middle half, not a confidence interval.";

/// Scenarios that start subjects in the same way.
struct Group<'a> {
    title: String,
    scenarios: u64,
    subjects: Vec<Subject<'a>>,
}

/// A subject and its start times in all scored trials.
struct Subject<'a> {
    case: &'a CaseFinding,
    is_ceiling: bool,
    starts_s: Vec<f64>,
}

/// The section: a table for each group of scenarios, after the charts on a page.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let groups = groups(findings);
    if groups.is_empty() {
        return Vec::new();
    }
    let tables = groups.iter().map(|group| Block::Table(group.table())).collect();
    let mut blocks = Vec::new();
    if depth == Depth::Page {
        blocks.extend(muted(format!("{RULE} Shorter is better.")));
        blocks.extend(drawn(&groups));
        blocks.push(Block::Folded { summary: "The same figures as a table".into(), blocks: tables });
    } else {
        let rule =
            "From the start of the first process to the first correct response, over the trials of all scenarios.";
        blocks.extend(paragraph(rule).into_iter().chain(tables));
    }
    section("cold-start", "Cold start", blocks)
}

/// The charts of a page, the later ones folded away.
fn drawn(groups: &[Group]) -> Vec<Block> {
    let mut shown: Vec<Chart> = groups.iter().map(|it| Chart::of(it.chart())).collect();
    let folded = shown.split_off(SHOWN.min(shown.len()));
    let summary = format!("{} more", folded.len()).into();
    let rest = (!folded.is_empty()).then(|| Block::Folded { summary, blocks: vec![Block::Charts(folded)] });
    std::iter::once(Block::Charts(shown)).chain(rest).collect()
}

/// All charts with their titles.
pub(crate) fn charts(findings: &Findings) -> Vec<(String, String)> {
    groups(findings).iter().map(|group| (group.title.clone(), group.chart())).collect()
}

/// All groups, in the order of the study.
fn groups(findings: &Findings) -> Vec<Group<'_>> {
    let several = findings.scenarios.iter().any(|it| it.environment.words != findings.scenarios[0].environment.words);
    let mut groups: Vec<Group> = Vec::new();
    for scenario in &findings.scenarios {
        let title = title(scenario, several);
        let place = groups.iter().position(|group| group.title == title).unwrap_or(groups.len());
        if place == groups.len() {
            groups.push(Group { title, scenarios: 0, subjects: Vec::new() });
        }
        groups[place].scenarios += 1;
        groups[place].add(scenario);
    }
    groups.retain(|group| !group.subjects.is_empty());
    groups.iter_mut().for_each(Group::sort);
    groups
}

fn title(scenario: &ScenarioFinding, several: bool) -> String {
    let database = if scenario.database.is_some() { "With a database" } else { "Without a database" };
    let place = Some(scenario.environment.id.as_str()).filter(|id| several && !id.is_empty());
    place.map_or(database.to_owned(), |place| format!("{database} · {place}"))
}

impl<'a> Group<'a> {
    fn add(&mut self, scenario: &'a ScenarioFinding) {
        for case in surroundings::cases(scenario) {
            let Some(starts) = &case.cold_start_s else { continue };
            match self.subjects.iter_mut().find(|subject| subject.case.subject == case.subject) {
                Some(subject) => subject.starts_s.extend(&starts.trials),
                None => {
                    let is_ceiling = scenario.ceiling.as_ref().is_some_and(|ceiling| ceiling.case == case.case);
                    self.subjects.push(Subject { case, is_ceiling, starts_s: starts.trials.clone() });
                }
            }
        }
    }

    /// The fastest first, and the ceiling last, because it does not compete.
    fn sort(&mut self) {
        self.subjects.iter_mut().for_each(|subject| subject.starts_s.sort_by(f64::total_cmp));
        self.subjects
            .sort_by(|one, other| one.is_ceiling.cmp(&other.is_ceiling).then(one.at(0.5).total_cmp(&other.at(0.5))));
    }

    fn chart(&self) -> String {
        let start = |subject: &Subject<'a>| Start {
            title: subject.title(),
            runtime: &subject.case.runtime,
            middle_s: subject.at(0.5),
            low_s: subject.at(0.25),
            high_s: subject.at(0.75),
        };
        let below = format!("time to the first correct response, {}", counted(self.scenarios, "scenario"));
        svg::starts(&self.title, &below, &self.subjects.iter().map(start).collect::<Vec<_>>())
    }

    fn table(&self) -> Table {
        let row = |subject: &Subject| Row {
            runtime: Some(subject.case.runtime.clone()),
            cells: std::iter::once(subject.title()).chain(subject.cells()).map(Cell::from).collect(),
            ..Row::default()
        };
        let headings = ["median", "middle half", "longest", "starts"].map(Column::numbers);
        Table {
            caption: format!("Cold start, {}", self.title),
            title: self.title.clone(),
            columns: std::iter::once(Column::words("subject")).chain(headings).collect(),
            rows: self.subjects.iter().map(row).collect(),
        }
    }
}

impl Subject<'_> {
    fn title(&self) -> String {
        format!("{}{}", if self.is_ceiling { "ceiling: " } else { "" }, self.case.title)
    }

    /// A quantile of its sorted starts, interpolated between the two nearest.
    fn at(&self, quantile: f64) -> f64 {
        let place = quantile * self.starts_s.len().saturating_sub(1) as f64;
        let at = |place: f64| self.starts_s.get(place as usize).copied().unwrap_or_default();
        at(place.floor()) + (at(place.ceil()) - at(place.floor())) * place.fract()
    }

    fn cells(&self) -> [String; 4] {
        let seconds = |seconds: f64| amount(Quantity::Seconds, seconds);
        [
            seconds(self.at(0.5)),
            format!("{} to {}", seconds(self.at(0.25)), seconds(self.at(0.75))),
            seconds(self.at(1.0)),
            count(self.starts_s.len() as u64),
        ]
    }
}
