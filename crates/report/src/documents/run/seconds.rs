//! The figures of each second.

use tolok_analysis::figures::{NONE, Quantity, amount, counted};
use tolok_analysis::{Band, CaseFinding, Findings, ScenarioFinding, SecondsFinding};

use super::sections::{is_of_tools, sections};
use super::{muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Depth, Heading, Key, Look, Row, Table, Text};
use crate::svg::{self, Part, Scales};
use crate::wording::heading;

/// Scenarios whose charts are not folded away.
const SHOWN: usize = 3;
/// The most subjects that are drawn for one scenario.
const MOST_CASES: usize = 12;
/// The remedy if one scenario, or all, has no two whole seconds.
const TOO_SHORT: &str = "this takes windows of two whole seconds and a tool that reports each second. Use longer windows (`duration` of the load: 10 s or more) and tolok’s own tool.";

/// The section: charts on a page. A table of every second would be too long, so other formats have only the highlights
/// of the charts.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let sections = sections(findings);
    let all: Vec<&ScenarioFinding> = sections.iter().map(AsRef::as_ref).filter(|it| !is_of_tools(it)).collect();
    let blocks = if depth == Depth::Page { drawn(&all) } else { table(&all) };
    section("seconds", "Second by second", blocks)
}

/// A chart for each scenario, the later ones folded away.
fn drawn(all: &[&ScenarioFinding]) -> Vec<Block> {
    let measured: Vec<&ScenarioFinding> = all.iter().copied().filter(|it| is_measured(it)).collect();
    let shown: Vec<&ScenarioFinding> = measured.iter().copied().filter(|it| cases(it).next().is_some()).collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let mut blocks = how_to_read(&measured);
    for (place, scenario) in shown.iter().enumerate() {
        let charts = of_scenario(scenario);
        if place < SHOWN {
            let title = Heading { rank: 3, text: heading(scenario).into(), beside: scenario.load.clone() };
            blocks.extend(std::iter::once(Block::Heading(title)).chain(charts));
        } else {
            let summary = Text::of(heading(scenario), Look::Strong).and(format!(" {}", scenario.load), Look::Muted);
            blocks.push(Block::Folded { summary, blocks: charts });
        }
    }
    blocks.extend(missing(&measured, shown.len()).and_then(muted));
    blocks
}

fn how_to_read(measured: &[&ScenarioFinding]) -> Vec<Block> {
    let any =
        |is: &dyn Fn(&SecondsFinding) -> bool| measured.iter().any(|it| cases(it).any(|(_, seconds)| is(seconds)));
    let warm_up = match any(&|it| it.start_s.iter().any(|start_s| *start_s < 0.0)) {
        true => " Shaded: the warm-up, which no figure includes.",
        false => "",
    };
    let tail = about_tails(measured).map(|tail| format!(" {tail}")).unwrap_or_default();
    let note = muted(format!(
        "One column per subject, one scale per row. Line: median of the trials in that second; band: from the lowest trial to the highest.{warm_up}{tail}"
    ));
    let key = |part: Part, words: &str| Key { svg: svg::stroke(part.class()), words: words.to_owned() };
    let parts = [
        any(&|it| !it.generator_cpus.is_empty()).then(|| key(Part::Generator, "CPU of the generator")),
        any(&|it| !it.database_cpus.is_empty()).then(|| key(Part::Database, "the database: its CPU and its memory")),
        any(&|it| !it.failed_rps.is_empty()).then(|| key(Part::Failed, "failed requests/s, below the good")),
    ];
    let mut keys: Vec<Key> = parts.into_iter().flatten().collect();
    if !keys.is_empty() {
        keys.insert(0, Key { svg: String::new(), words: "in colour: the subject".to_owned() });
    }
    let keys = (!keys.is_empty()).then_some(Block::Key(keys));
    note.into_iter().chain(keys).collect()
}

fn of_scenario(scenario: &ScenarioFinding) -> Vec<Block> {
    let chart = |(_, svg)| Chart::of(svg);
    let number = cases(scenario).count();
    let left_out = (number > MOST_CASES)
        .then(|| muted(format!("{} more are not drawn.", counted((number - MOST_CASES) as u64, "subject"))));
    let charts = Block::Charts(charts(scenario).into_iter().map(chart).collect());
    std::iter::once(charts).chain(left_out.flatten()).collect()
}

/// The lengths of the spans, and why they are longer than a second.
fn about_tails(measured: &[&ScenarioFinding]) -> Option<String> {
    let spans = measured.iter().flat_map(|it| cases(it)).filter_map(|(_, seconds)| Some(seconds.tail.as_ref()?.span_s));
    let (shortest, longest) = spans.clone().reduce(f64::min).zip(spans.reduce(f64::max))?;
    let long = if shortest < longest { format!("{shortest} to {longest}") } else { format!("{longest}") };
    Some(format!("p99.9 over time uses spans of {long} s, the shortest with 10,000 responses each."))
}

fn is_measured(scenario: &ScenarioFinding) -> bool {
    scenario.cases.iter().any(|case| case.trials_scored > 0)
}

/// In words, how many scenarios have no seconds; `None` if all have some.
fn missing(measured: &[&ScenarioFinding], shown: usize) -> Option<String> {
    match measured.len() - shown {
        0 => None,
        number => Some(format!("Not shown: {}; {TOO_SHORT}", counted(number as u64, "scenario"))),
    }
}

fn cases(scenario: &ScenarioFinding) -> impl Iterator<Item = (&CaseFinding, &SecondsFinding)> + Clone {
    scenario.cases.iter().filter_map(|case| Some((case, case.seconds.as_ref()?)))
}

/// The chart of each drawn case, all on the same scales.
pub(crate) fn charts(scenario: &ScenarioFinding) -> Vec<(&CaseFinding, String)> {
    let scales = Scales::of(cases(scenario).map(|(_, seconds)| seconds));
    let drawn = cases(scenario).take(MOST_CASES);
    drawn.map(|(case, seconds)| (case, svg::seconds(case, seconds, &scales))).collect()
}

fn table(all: &[&ScenarioFinding]) -> Vec<Block> {
    let tail = about_tails(all);
    let mut columns: Vec<Column> =
        ["scenario", "subject", "correct responses in a second", "CPUs busy", "memory"].map(Column::words).to_vec();
    columns.extend(tail.is_some().then(|| Column::words("p99.9 of a span")));
    let of = |scenario: &&ScenarioFinding| {
        let rows = cases(scenario).map(|(case, seconds)| row(scenario, case, seconds));
        rows.collect::<Vec<Row>>()
    };
    let mut rows: Vec<Row> = all.iter().flat_map(of).collect();
    rows.iter_mut().for_each(|row| row.cells.truncate(columns.len()));
    if rows.is_empty() {
        return Vec::new();
    }
    let about = tail.map(|tail| format!(" {tail}")).unwrap_or_default();
    let note = paragraph(format!("Lowest and highest second of the window, each the median of the trials.{about}"));
    let table = Table::of("Lowest and highest seconds", columns, rows);
    note.into_iter().chain([Block::Table(table)]).collect()
}

fn row(scenario: &ScenarioFinding, case: &CaseFinding, seconds: &SecondsFinding) -> Row {
    let range = |quantity: Quantity, bands: &[Band]| {
        let window = seconds.start_s.iter().zip(bands).filter(|(start_s, _)| **start_s >= 0.0);
        Cell::from(ends(quantity, window.map(|(_, band)| band)))
    };
    let tail =
        seconds.tail.as_ref().map_or(NONE.to_owned(), |tail| ends(Quantity::Seconds, tail.latency_p999_s.iter()));
    let cells = [
        Text::of(scenario.id.as_str(), Look::Code).into(),
        Cell::from(case.title.as_str()),
        range(Quantity::Number, &seconds.good_rps),
        range(Quantity::Number, &seconds.subject_cpus),
        range(Quantity::Bytes, &seconds.subject_memory_bytes),
        tail.into(),
    ];
    Row::of(cells.to_vec())
}

/// `0.9 ms to 1.2 ms`
fn ends<'a>(quantity: Quantity, bands: impl Iterator<Item = &'a Band> + Clone) -> String {
    let values = || bands.clone().filter_map(|band| band.value);
    let ends = values().reduce(f64::min).zip(values().reduce(f64::max));
    ends.map_or(NONE.to_owned(), |(low, high)| {
        let [low, high] = [low, high].map(|value| amount(quantity, value));
        if low == high { low } else { format!("{low} to {high}") }
    })
}
