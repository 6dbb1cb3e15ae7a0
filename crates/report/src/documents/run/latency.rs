//! How long answers took, by percentile.

use std::fmt::Write as _;

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, figure};
use tolok_analysis::{CaseFinding, CurvePoint, Estimate, Findings, LatencyMark, ScenarioFinding};

use crate::documents::run::sections::is_of_tools;
use crate::documents::run::surroundings::heading;
use crate::markdown::{escaped, lines};
use crate::palette::marker;
use crate::svg::{self, MOST_LINES, quantile_words};

/// Scenarios whose charts are not folded away.
const SHOWN: usize = 8;
/// Percentiles of the tables, before the furthest that a case has.
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// What a loop means for percentiles: its name, and the rest of the sentence.
const CLOSED: [&str; 2] = [
    "Closed loop",
    "a user asks again when the answer is there, so a slow answer keeps the next questions back and is counted once. These \
     times hold for so many users, and flatter a server that stalls.",
];
const OPEN: [&str; 2] = [
    "Open loop",
    "requests are due by a schedule, whether or not answers come, and a time begins when its request was due. So waiting counts.",
];
const FROM_SEND: [&str; 2] =
    ["Open loop of another tool", "its times begin when it sent the request; what waited before that is missing."];

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Latency {
    /// What the loops of the scenarios mean for their percentiles.
    loops: Vec<[&'static str; 2]>,
    columns: &'static str,
    charts: Vec<String>,
    folded: Vec<String>,
    sheets: Vec<Sheet>,
    /// That a chart has not all of the lines, where one has not.
    left_out: Option<String>,
}

/// The percentiles of a scenario.
#[derive(Serialize)]
struct Sheet {
    title: String,
    load: String,
    id: String,
    headings: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    marker: String,
    title: String,
    cells: Vec<Cell>,
}

/// A percentile and the range of the trials, which may be empty.
#[derive(Serialize)]
struct Cell {
    value: String,
    interval: String,
}

impl Latency {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        let scenarios = scenarios(findings);
        let mut charts: Vec<String> = charts(findings).into_iter().map(|(_, chart)| chart).collect();
        let number = charts.len();
        let folded = charts.split_off(SHOWN.min(number));
        let most = scenarios.iter().map(|it| cases(it).count()).max()?;
        Some(Self {
            loops: loops(&scenarios),
            columns: if matches!(number, 1 | 2 | 4) { "two" } else { "three" },
            charts,
            folded,
            sheets: scenarios.iter().map(|scenario| Sheet::of(scenario)).collect(),
            left_out: (most > MOST_LINES).then(|| {
                format!("A chart has {MOST_LINES} lines at most, those of most good answers; the table has all.")
            }),
        })
    }
}

/// The chart of each scenario that has one.
pub(crate) fn charts(findings: &Findings) -> Vec<(&ScenarioFinding, String)> {
    let subjects = subjects(findings);
    let ways = svg::ways(&subjects);
    let way = |subject: &str| {
        let place = subjects.iter().position(|(_, other)| *other == subject);
        place.map_or(0, |place| ways[place])
    };
    scenarios(findings).into_iter().filter_map(|it| Some((it, svg::curves(it, &way)?))).collect()
}

/// Every subject of a run with its runtime, each once, so that its line looks the same in all charts.
fn subjects(findings: &Findings) -> Vec<(&str, &str)> {
    let cases = findings.scenarios.iter().flat_map(|scenario| &scenario.cases);
    let mut subjects: Vec<(&str, &str)> = cases.map(|case| (case.runtime.as_str(), case.subject.as_str())).collect();
    subjects.sort_unstable();
    subjects.dedup();
    subjects
}

/// Scenarios with curves. Those of several tools are compared elsewhere.
fn scenarios(findings: &Findings) -> Vec<&ScenarioFinding> {
    let is_of_tool = |scenario: &ScenarioFinding| {
        let rows = findings.tools.iter().flat_map(|tools| &tools.rows);
        is_of_tools(scenario) || rows.into_iter().any(|row| row.scenario == scenario.id)
    };
    findings.scenarios.iter().filter(|it| !is_of_tool(it) && cases(it).next().is_some()).collect()
}

fn cases(scenario: &ScenarioFinding) -> impl Iterator<Item = &CaseFinding> {
    scenario.cases.iter().filter(|case| case.latency_curve.is_some())
}

/// What the loops of these scenarios mean.
fn loops(scenarios: &[&ScenarioFinding]) -> Vec<[&'static str; 2]> {
    let is_sent = |it: &ScenarioFinding| it.latency_marks.contains(&LatencyMark::FromSend);
    let of = |scenario: &&ScenarioFinding| match scenario.loop_model.as_str() {
        "open" if is_sent(scenario) => FROM_SEND,
        "open" => OPEN,
        _ => CLOSED,
    };
    let found: Vec<[&str; 2]> = scenarios.iter().map(of).collect();
    [CLOSED, OPEN, FROM_SEND].into_iter().filter(|words| found.contains(words)).collect()
}

impl Sheet {
    fn of(scenario: &ScenarioFinding) -> Self {
        let row = |case: &CaseFinding| Row { marker: marker(&case.runtime), title: title(case), cells: cells(case) };
        Self {
            title: heading(scenario),
            load: scenario.load.clone(),
            id: scenario.id.clone(),
            headings: headings(),
            rows: cases(scenario).map(row).collect(),
        }
    }
}

fn headings() -> Vec<String> {
    let percentiles = PERCENTILES.iter().map(|quantile| quantile_words(*quantile));
    percentiles.chain(["the furthest".to_owned()]).collect()
}

fn title(case: &CaseFinding) -> String {
    let after = if case.ranked { "" } else { " (not ranked)" };
    format!("{}{after}", case.title)
}

fn cells(case: &CaseFinding) -> Vec<Cell> {
    let points = case.latency_curve.as_ref().map(|curve| curve.points.as_slice()).unwrap_or_default();
    let at = |quantile: &f64| points.iter().find(|point| point.quantile == *quantile);
    let named = |point: &CurvePoint| {
        let cell = Cell::of(Some(point));
        Cell { value: format!("{}: {}", quantile_words(point.quantile), cell.value), ..cell }
    };
    let furthest = points.last().map_or(Cell::of(None), named);
    PERCENTILES.iter().map(|quantile| Cell::of(at(quantile))).chain([furthest]).collect()
}

impl Cell {
    /// The median of the trials and their range, which a single trial does not have; a dash where there is no point.
    fn of(point: Option<&CurvePoint>) -> Self {
        let Some(point) = point else { return Self { value: NONE.to_owned(), interval: String::new() } };
        let is_range = point.high_s > point.low_s;
        let (low, high) = (is_range.then_some(point.low_s), is_range.then_some(point.high_s));
        let words = figure(Quantity::Seconds, &Estimate { value: point.latency_s, low, high, trials: Vec::new() });
        Self { value: words.value, interval: words.interval.unwrap_or_default() }
    }

    /// On one line.
    fn line(&self) -> String {
        if self.interval.is_empty() { self.value.clone() } else { format!("{} ({})", self.value, self.interval) }
    }
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(findings: &Findings) -> String {
    let scenarios = scenarios(findings);
    if scenarios.is_empty() {
        return String::new();
    }
    let mut text =
        "\n## Latency\n\nOf good answers: median of the trials; in brackets the lowest and the highest of them.\n\n"
            .to_owned();
    text.extend(loops(&scenarios).iter().map(|[name, meaning]| format!("- **{name}**: {meaning}\n")));
    for scenario in scenarios {
        let mut headings = vec!["subject".to_owned()];
        headings.extend(self::headings());
        let row = |case: &CaseFinding| {
            std::iter::once(escaped(&title(case))).chain(cells(case).iter().map(Cell::line)).collect()
        };
        let rows: Vec<Vec<String>> = cases(scenario).map(row).collect();
        let numbers = headings.len() - 1;
        let place = escaped(&format!("{}: {}", heading(scenario), scenario.load));
        _ = write!(text, "\n{place}\n\n{}", lines(&headings, &rows, numbers));
    }
    text
}
