//! Runs of one study over time.

use tolok_analysis::figures::{NONE, Quantity, amount, counted, figure, moment};
use tolok_analysis::{Difference, Estimate, FigureSeries, LevelChange, RunHistory};

use super::compare::difference;
use crate::document::{Block, Chart, Column, Depth, Document, Fact, List, Look, Row, Table, Text};
use crate::svg;

/// The history. The short form lists the series that changed, or with `is_all` all of them; a page has charts of the main figures.
pub fn history(found: &RunHistory, is_all: bool, depth: Depth) -> Document {
    let mut blocks = vec![Block::Verdict(Text::of(&found.sentence, Look::Strong))];
    if depth == Depth::Page {
        blocks.extend(charts(found));
    }
    blocks.push(Block::Facts(runs(found)));
    let shown: Vec<&FigureSeries> = found.series.iter().filter(|it| is_all || is_shown(it, depth)).collect();
    if !shown.is_empty() {
        blocks.push(Block::Table(table(found, &shown)));
    }
    let hidden = found.series.len() - shown.len();
    let further = counted(hidden as u64, "further series");
    blocks
        .extend((hidden > 0).then(|| Block::paragraph(format!("{further} without a change: --verbose"), Look::Muted)));
    blocks.extend(Block::section("changes", "What differs where a level changes", list("-", differences(found))));
    blocks.extend(Block::section("left-out", "Left out", list("-", left_out(found))));
    blocks.extend(Block::section("cautions", "Before relying on this", list("!", found.cautions.clone())));
    Document { title: title(found), blocks }
}

fn title(found: &RunHistory) -> String {
    let study = found.runs.last().map_or("", |run| run.title.as_str());
    format!("{study} over {}", counted(found.runs.len() as u64, "run"))
}

fn is_shown(series: &FigureSeries, depth: Depth) -> bool {
    !series.changes.is_empty() || (depth != Depth::Short && series.is_main)
}

/// `1  2026-11-21-api-000001 · 2026-11-21 10:00:00 UTC · tolok 0.1.0`
fn runs(found: &RunHistory) -> Vec<Fact> {
    let fact = |(place, run): (usize, &tolok_analysis::ComparedSide)| {
        let words = format!("{} · {} · tolok {}", run.id, moment(&run.started_at), run.tolok_version);
        Fact::of(&format!("run {}", place + 1), words)
    };
    found.runs.iter().enumerate().map(fact).collect()
}

fn table(found: &RunHistory, shown: &[&FigureSeries]) -> Table {
    let columns = vec![
        Column::words("scenario"),
        Column::words("subject"),
        Column::words("figure"),
        Column::numbers("runs").priority(1),
        Column::numbers("first").priority(1),
        Column::numbers("last"),
        Column::words("changes of level"),
    ];
    let row = |series: &&FigureSeries| {
        let value = |point: Option<&tolok_analysis::HistoryPoint>| {
            point.map_or_else(|| NONE.to_owned(), |point| amount(series.metric.quantity(), point.value.value))
        };
        let is_worse = series.changes.iter().any(|change| change.is_worse == Some(true));
        let look = if is_worse { Look::Warning } else { Look::Plain };
        Row {
            runtime: Some(series.runtime.clone()),
            look: Look::Plain,
            cells: vec![
                series.scenario.as_str().into(),
                name(series).into(),
                series.metric.title(series.kind).into(),
                series.points.len().to_string().into(),
                value(series.points.first()).into(),
                value(series.points.last()).into(),
                Text::of(changes(found, series), look).into(),
            ],
        }
    };
    Table::of("Figures over time", columns, shown.iter().map(row).collect())
}

fn name(series: &FigureSeries) -> String {
    if series.is_ceiling { format!("ceiling: {}", series.title) } else { series.title.clone() }
}

/// `0.93× from run 12 on (worse)`
fn changes(found: &RunHistory, series: &FigureSeries) -> String {
    if let Some(why) = &series.not_judged {
        return format!("not judged: {why}");
    }
    let words = |change: &LevelChange| {
        let way = match change.is_worse {
            Some(true) => " (worse)".to_owned(),
            Some(false) => " (better)".to_owned(),
            None => format!(" (less than {})", amount(Quantity::Share, found.threshold)),
        };
        let ratio = Estimate { value: change.ratio, low: None, high: None, trials: Vec::new() };
        format!("{} from run {} on{way}", figure(Quantity::Ratio, &ratio).line(), change.run + 1)
    };
    let all: Vec<String> = series.changes.iter().map(words).collect();
    if all.is_empty() { "none".to_owned() } else { all.join("; ") }
}

/// What else is new in each run that begins a level; each run once.
fn differences(found: &RunHistory) -> Vec<String> {
    let mut all: Vec<(usize, &[Difference])> =
        found.series.iter().flat_map(|series| &series.changes).map(|it| (it.run, it.differences.as_slice())).collect();
    all.sort_by_key(|(run, _)| *run);
    all.dedup_by_key(|(run, _)| *run);
    let words = |(run, differences): &(usize, &[Difference])| {
        let list: Vec<String> = differences.iter().map(difference).collect();
        let list =
            if list.is_empty() { "no version and no build that is recorded".to_owned() } else { list.join("; ") };
        format!("run {} ({}): {list}", run + 1, found.runs[*run].id)
    };
    all.iter().map(words).collect()
}

fn left_out(found: &RunHistory) -> Vec<String> {
    let words = |run: &tolok_analysis::LeftOutRun| {
        let what: Vec<String> = run.conditions.iter().map(difference).collect();
        let what = if what.is_empty() { "it shares no case with the newest run".to_owned() } else { what.join("; ") };
        format!("{}: {what}", run.id)
    };
    found.left_out.iter().map(words).collect()
}

/// A chart of each main figure and of CPU, scenario by scenario.
fn charts(found: &RunHistory) -> Option<Block> {
    let mut groups: Vec<Vec<&FigureSeries>> = Vec::new();
    for series in &found.series {
        let is_drawn = series.is_main || series.metric == tolok_analysis::ComparedMetric::Cpu;
        if !is_drawn || series.points.is_empty() {
            continue;
        }
        let is_same = |group: &&mut Vec<&FigureSeries>| {
            (&group[0].scenario, group[0].metric) == (&series.scenario, series.metric)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(series),
            None => groups.push(vec![series]),
        }
    }
    let chart = |group: &Vec<&FigureSeries>| {
        let caption =
            "A point is a run: median over its trials with its interval. A triangle stands where a level begins.";
        Some(Chart { svg: svg::history(found, group)?, caption: caption.to_owned() })
    };
    let charts: Vec<Chart> = groups.iter().filter_map(chart).collect();
    (!charts.is_empty()).then_some(Block::Charts(charts))
}

/// Items with a sign before each, or no block without items.
fn list(sign: &'static str, items: Vec<String>) -> Vec<Block> {
    let items: Vec<Text> = items.into_iter().map(Text::from).collect();
    if items.is_empty() { Vec::new() } else { vec![Block::List(List { sign, items })] }
}
