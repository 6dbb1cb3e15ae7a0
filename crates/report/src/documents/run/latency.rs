//! Response times by percentile.

use tolok_analysis::figures::{NONE, Quantity, counted, figure};
use tolok_analysis::{CaseFinding, CurvePoint, Estimate, Findings, LatencyMark, ScenarioFinding};

use super::columns::{cell, named};
use super::limits::labelled;
use super::sections::is_of_tools;
use super::{muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Depth, Look, Table, Text};
use crate::svg::{self, MOST_LINES, quantile_words};
use crate::wording::heading;

/// Scenarios whose charts are not folded away.
const SHOWN: usize = 4;
/// Percentiles of the tables, besides the highest one of each case.
const PERCENTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];
/// What a loop means for percentiles: its name, and the rest of the sentence.
const CLOSED: [&str; 2] = [
    "Closed loop",
    "each user sends the next request after the last response. A slow response delays the next request and counts once. These times hold for this number of users only, and flatter a server that stalls.",
];
const OPEN: [&str; 2] = [
    "Open loop",
    "requests follow a schedule, whether or not responses come. A response time begins when its request is due, so waiting counts.",
];
const FROM_SEND: [&str; 2] =
    ["Open loop of another tool", "its times begin when it sends the request, so they miss any wait before that."];

/// The section: a table for each scenario, after the charts on a page.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let scenarios = scenarios(findings);
    if scenarios.is_empty() {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    let loops = loops(&scenarios);
    if depth == Depth::Page {
        blocks.extend(muted(
            "Response times of correct responses by percentile: median of the trials, and the band of all trials.",
        ));
        blocks.extend(drawn(findings));
        let meanings = loops.iter().map(|[name, meaning]| {
            Block::Paragraph(Text::of(format!("{name}:"), Look::Strong).and(format!(" {meaning}"), Look::Muted))
        });
        let tables = scenarios.iter().map(|scenario| Block::Table(table(scenario)));
        let more = muted(note(&scenarios)).into_iter().chain(meanings).chain(tables).collect();
        blocks
            .push(Block::Folded { summary: "How to read this, and the same figures as a table".into(), blocks: more });
        return section("latency", "Latency", blocks);
    }
    blocks.extend(paragraph(
        "Correct responses: median of the trials, with the lowest and the highest trial in parentheses.",
    ));
    blocks.extend(Block::list(loops.iter().map(|[name, meaning]| labelled(name, meaning)).collect()));
    blocks.extend(scenarios.iter().map(|scenario| Block::Table(table(scenario))));
    section("latency", "Latency", blocks)
}

fn note(scenarios: &[&ScenarioFinding]) -> String {
    let most = scenarios.iter().map(|it| cases(it).count()).max().unwrap_or_default();
    let left_out = match most > MOST_LINES {
        true => format!(
            " A chart shows at most {MOST_LINES} cases, those with the most correct responses; the table has all."
        ),
        false => String::new(),
    };
    format!(
        "Response times of correct responses by percentile. Across: the share of responses that took no longer; each further nine takes the same width. Line: median of the trials; band: from the lowest trial to the highest. A line ends where a trial has fewer than 10 responses beyond it; no line reaches the shaded part.{left_out}"
    )
}

/// The charts of a page, the later ones folded away.
fn drawn(findings: &Findings) -> Vec<Block> {
    let chart = |(_, svg)| Chart::of(svg);
    let mut shown: Vec<Chart> = charts(findings, true).into_iter().map(chart).collect();
    let folded = shown.split_off(SHOWN.min(shown.len()));
    let summary = counted(folded.len() as u64, "more scenario");
    let rest =
        (!folded.is_empty()).then(|| Block::Folded { summary: summary.into(), blocks: vec![Block::Charts(folded)] });
    std::iter::once(Block::Charts(shown)).chain(rest).collect()
}

/// The chart of each scenario that has one.
pub(crate) fn charts(findings: &Findings, are_wide: bool) -> Vec<(&ScenarioFinding, String)> {
    let subjects = subjects(findings);
    let ways = svg::ways(&subjects);
    let way = |subject: &str| {
        let place = subjects.iter().position(|(_, other)| *other == subject);
        place.map_or(0, |place| ways[place])
    };
    scenarios(findings).into_iter().filter_map(|it| Some((it, svg::curves(it, &way, are_wide)?))).collect()
}

/// Every subject of a run with its runtime, so that its line looks the same in all charts.
fn subjects(findings: &Findings) -> Vec<(&str, &str)> {
    let cases = findings.scenarios.iter().flat_map(|scenario| &scenario.cases);
    let mut subjects: Vec<(&str, &str)> = cases.map(|case| (case.runtime.as_str(), case.subject.as_str())).collect();
    subjects.sort_unstable();
    subjects.dedup();
    subjects
}

/// Scenarios with curves, except comparisons of tools, which are shown elsewhere.
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

/// What the loop models of these scenarios mean.
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

fn table(scenario: &ScenarioFinding) -> Table {
    let row = |case: &CaseFinding| {
        let mut row = named(&title(case), &case.runtime, false);
        row.cells.extend(cells(case));
        row
    };
    let percentiles = PERCENTILES.iter().map(|quantile| Column::numbers(quantile_words(*quantile)));
    let columns = std::iter::once(Column::words("subject")).chain(percentiles);
    Table {
        caption: format!("Percentiles, {}", scenario.id),
        title: format!("{}: {}", heading(scenario), scenario.load),
        columns: columns.chain([Column::numbers("the furthest")]).collect(),
        rows: cases(scenario).map(row).collect(),
    }
}

fn title(case: &CaseFinding) -> String {
    let after = if case.ranked { "" } else { " (not ranked)" };
    format!("{}{after}", case.title)
}

fn cells(case: &CaseFinding) -> Vec<Cell> {
    let points = case.latency_curve.as_ref().map(|curve| curve.points.as_slice()).unwrap_or_default();
    let at = |quantile: &f64| {
        points.iter().find(|point| point.quantile == *quantile).map_or(NONE.into(), |it| range(it, ""))
    };
    let named = |point: &CurvePoint| range(point, &format!("{}: ", quantile_words(point.quantile)));
    let furthest = points.last().map_or(NONE.into(), named);
    PERCENTILES.iter().map(at).chain([furthest]).collect()
}

/// The median of the trials and their range; a single trial has no range.
fn range(point: &CurvePoint, before: &str) -> Cell {
    let is_range = point.high_s > point.low_s;
    let (low, high) = (is_range.then_some(point.low_s), is_range.then_some(point.high_s));
    let mut words = figure(Quantity::Seconds, &Estimate { value: point.latency_s, low, high, trials: Vec::new() });
    words.value.insert_str(0, before);
    cell(words)
}
