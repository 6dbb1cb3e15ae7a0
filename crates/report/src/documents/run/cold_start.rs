//! From the start to the first good answer.
//!
//! A subject starts anew in every trial, whatever is asked of it later, so the trials of all its scenarios are looked at together;
//! apart are only those in another environment, and those in which it has a database to connect to.

use std::fmt::Write as _;

use serde::Serialize;
use tolok_analysis::figures::{Quantity, amount, count, counted};
use tolok_analysis::{CaseFinding, Findings, ScenarioFinding};

use crate::documents::run::surroundings;
use crate::markdown::{escaped, lines};
use crate::palette::marker;
use crate::svg::{self, Start};

/// Charts that are not folded away.
const SHOWN: usize = 6;
pub(crate) const RULE: &str = "From the start of the first process to the first good answer, asked for again and again from the start on. \
                    Median of the trials of all scenarios, which start a subject in the same way; whisker: the middle half of \
                    them, no confidence interval.";

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct ColdStart {
    rule: &'static str,
    columns: &'static str,
    charts: Vec<String>,
    folded: Vec<String>,
    sheets: Vec<Sheet>,
}

#[derive(Serialize)]
struct Sheet {
    title: String,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    marker: String,
    title: String,
    cells: [String; 4],
}

/// Scenarios that start subjects in the same way.
struct Group<'a> {
    title: String,
    scenarios: u64,
    subjects: Vec<Subject<'a>>,
}

/// A subject and how long it took in every scored trial.
struct Subject<'a> {
    case: &'a CaseFinding,
    is_ceiling: bool,
    starts_s: Vec<f64>,
}

impl ColdStart {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        let groups = groups(findings);
        let mut charts: Vec<String> = groups.iter().map(Group::chart).collect();
        let folded = charts.split_off(SHOWN.min(charts.len()));
        (!charts.is_empty()).then(|| Self {
            rule: RULE,
            columns: if matches!(groups.len(), 1 | 2 | 4) { "two" } else { "three" },
            charts,
            folded,
            sheets: groups.iter().map(Group::sheet).collect(),
        })
    }
}

/// Every chart with its title.
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

    /// The fastest first, and the ceiling last, as it does not compete.
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
        let below = format!("time to the first good answer, {}", counted(self.scenarios, "scenario"));
        svg::starts(&self.title, &below, &self.subjects.iter().map(start).collect::<Vec<_>>())
    }

    fn sheet(&self) -> Sheet {
        let row = |subject: &Subject| Row {
            marker: marker(&subject.case.runtime),
            title: subject.title(),
            cells: subject.cells(),
        };
        Sheet { title: self.title.clone(), rows: self.subjects.iter().map(row).collect() }
    }
}

impl Subject<'_> {
    fn title(&self) -> String {
        format!("{}{}", if self.is_ceiling { "ceiling: " } else { "" }, self.case.title)
    }

    /// A quantile of its starts, which are sorted, between the two that lie nearest.
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

const HEADINGS: [&str; 5] = ["subject", "median", "middle half", "longest", "starts"];

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(findings: &Findings) -> String {
    let groups = groups(findings);
    if groups.is_empty() {
        return String::new();
    }
    let mut text =
        "\n## Cold start\n\nFrom the start of the first process to the first good answer, over the trials of all \
                    scenarios.\n"
            .to_owned();
    for group in &groups {
        let row = |subject: &Subject| std::iter::once(escaped(&subject.title())).chain(subject.cells()).collect();
        let rows: Vec<Vec<String>> = group.subjects.iter().map(row).collect();
        _ = write!(text, "\n{}:\n\n{}", escaped(&group.title), lines(&HEADINGS, &rows, 4));
    }
    text
}
