//! Runs of one study over time.

use tolok_analysis::figures::{NONE, Quantity, amount, counted, figure, moment};
use tolok_analysis::{Difference, Estimate, FigureSeries, LevelChange, RunHistory};

use super::compare::{difference, list};
use crate::document::{Block, Chart, Column, Depth, Document, Fact, Look, Row, Table, Text};
use crate::svg;

/// The history. The short form lists the figures that changed, or all with `is_all`. The others also show the main figures,
/// and fold all figures away; a page has charts.
pub fn history(found: &RunHistory, is_all: bool, depth: Depth) -> Document {
    let figures = figures(found, is_all && depth == Depth::Short, depth);
    let verdict = Block::Verdict(Text::of(&found.sentence, Look::Strong));
    let mut blocks = Vec::new();
    if depth == Depth::Page {
        blocks.push(Block::Section { id: "verdict".to_owned(), blocks: vec![verdict] });
        let figures = charts(found).into_iter().chain(figures).collect();
        blocks.extend(Block::section("figures", "Figures over time", figures));
        blocks.extend(Block::section("runs", "Runs", vec![Block::Facts(runs(found))]));
    } else {
        blocks.extend([verdict, Block::Facts(runs(found))]);
        blocks.extend(figures);
    }
    blocks.extend(Block::section("changes", "What differs where a level changes", list("-", differences(found))));
    blocks.extend(Block::section("left-out", "Left out", list("-", left_out(found))));
    blocks.extend(Block::section("cautions", "Before relying on this", list("!", found.cautions.clone())));
    Document { title: title(found), blocks }
}

/// `Is the API as fast as it was? · 8 runs`
fn title(found: &RunHistory) -> String {
    let study = found.runs.last().map_or("", |run| run.title.as_str());
    format!("{study} · {}", counted(found.runs.len() as u64, "run"))
}

/// The table of the shown figures, and where to find the others.
fn figures(found: &RunHistory, is_all: bool, depth: Depth) -> Vec<Block> {
    let all: Vec<&FigureSeries> = found.series.iter().collect();
    let shown: Vec<&FigureSeries> = all.iter().copied().filter(|it| is_all || is_shown(it, depth)).collect();
    let mut blocks = Vec::new();
    if !shown.is_empty() {
        blocks.push(Block::Table(table("Figures over time", found, &shown)));
    }
    let hidden = (all.len() - shown.len()) as u64;
    match depth {
        _ if hidden == 0 => {}
        Depth::Short => {
            let rest = if shown.is_empty() { counted(hidden, "figure") } else { counted(hidden, "further figure") };
            blocks.push(Block::paragraph(format!("{rest} without a change of level: --verbose"), Look::Muted));
        }
        Depth::Full | Depth::Page => {
            let summary = format!("All {}", counted(all.len() as u64, "figure")).into();
            let table = Block::Table(table("All figures over time", found, &all));
            blocks.push(Block::Folded { summary, blocks: vec![table] });
        }
    }
    blocks
}

fn is_shown(series: &FigureSeries, depth: Depth) -> bool {
    !series.changes.is_empty() || (depth != Depth::Short && series.is_main)
}

/// `1  2026-11-21-api-000001 · 2026-11-21 10:00:00 UTC · tolok 0.1.0`
fn runs(found: &RunHistory) -> Vec<Fact> {
    let fact = |(place, run): (usize, &tolok_analysis::ComparedSide)| {
        let words = format!("{} · {} · tolok {}", run.id, moment(&run.started_at), run.tolok_version);
        Fact::of(format!("run {}", place + 1), words)
    };
    found.runs.iter().enumerate().map(fact).collect()
}

fn table(caption: &str, found: &RunHistory, shown: &[&FigureSeries]) -> Table {
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
    Table::of(caption, columns, shown.iter().map(row).collect())
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
    match series.smallest_visible {
        _ if !all.is_empty() => all.join("; "),
        Some(least) if least > found.threshold => format!("none of {} or more", amount(Quantity::Share, least)),
        _ => "none".to_owned(),
    }
}

/// Other changes in each run that begins a level; each run once.
fn differences(found: &RunHistory) -> Vec<String> {
    let mut all: Vec<(usize, &[Difference])> =
        found.series.iter().flat_map(|series| &series.changes).map(|it| (it.run, it.differences.as_slice())).collect();
    all.sort_by_key(|(run, _)| *run);
    all.dedup_by_key(|(run, _)| *run);
    let words = |(run, differences): &(usize, &[Difference])| {
        let list: Vec<String> = differences.iter().map(difference).collect();
        let list = if list.is_empty() {
            "no recorded version or build differs from the run before".to_owned()
        } else {
            list.join("; ")
        };
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

/// A chart of each main figure and of CPU time, scenario by scenario, and how to read them.
fn charts(found: &RunHistory) -> Vec<Block> {
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
    let chart =
        |group: &Vec<&FigureSeries>| Some(Chart { svg: svg::history(found, group)?, caption: caption(found, group) });
    let charts: Vec<Chart> = groups.iter().filter_map(chart).collect();
    if charts.is_empty() {
        return Vec::new();
    }
    let how = "A point is the median of a run over that of the first level, with its 95% interval. A triangle marks the run \
               at which a new level begins.";
    vec![Block::paragraph(how, Look::Muted), Block::Charts(charts)]
}

/// `Go net/http: 0.88× from run 5 on (worse)`
fn caption(found: &RunHistory, group: &[&FigureSeries]) -> String {
    let changed = group.iter().filter(|series| !series.changes.is_empty());
    let words: Vec<String> = changed.map(|series| format!("{}: {}", name(series), changes(found, series))).collect();
    if words.is_empty() { "No level changes.".to_owned() } else { words.join("; ") }
}
