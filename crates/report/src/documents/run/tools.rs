//! What each tool says of the same server, for every format that people read.

use serde::Serialize;
use tolok_analysis::figures::{Figure, NONE, Quantity, count, figure, in_column, listed, small_share};
use tolok_analysis::{Estimate, Findings, LatencyMark, ToolRow, ToolsFinding, share_of_wire};

use crate::documents::run::table::LOWER_BOUND;
use crate::documents::run::tool_remarks::{Remark, Remarks};
use crate::svg;

const MILLIS: f64 = 1e3;
const MICROS: f64 = 1e6;
/// Stands behind latencies that were not taken as tolok takes them.
const MARK: &str = "†";

/// What two columns of a terminal are.
pub(crate) const COSTS_IN_SHORT: &str = "tool µs and busy: the tool’s own CPU time for an answer, and its share used";

/// A column: its heading on a page, in a terminal if it stands there, and its figure.
struct Column {
    heading: &'static str,
    short: Option<&'static str>,
    cell: fn(&ToolsFinding, &ToolRow) -> Option<Figure>,
}

const fn column(
    heading: &'static str,
    short: Option<&'static str>,
    cell: fn(&ToolsFinding, &ToolRow) -> Option<Figure>,
) -> Column {
    Column { heading, short, cell }
}

/// The most important first, as a narrow terminal leaves out the last.
const COLUMNS: [Column; 13] = [
    column("good answers/s", Some("good/s"), |_, row| {
        let goodput = figure(Quantity::Number, row.goodput_rps.as_ref()?);
        Some(if row.is_limit {
            Figure { value: format!("{LOWER_BOUND}{}", goodput.value), ..goodput }
        } else {
            goodput
        })
    }),
    column("counted, of the wire", Some("of wire"), |_, row| plain(share_of_wire(row.counted_of_wire.as_ref()?.value))),
    column("rate against tolok’s", Some("vs tolok"), |_, row| {
        Some(figure(Quantity::Ratio, row.goodput_of_own.as_ref()?))
    }),
    column("tool’s CPU, µs an answer", Some("tool µs"), |_, row| {
        scaled(row.generator_cpu_s_per_good.as_ref(), MICROS)
    }),
    column("that against tolok’s", None, |_, row| Some(figure(Quantity::Ratio, row.generator_cpu_of_own.as_ref()?))),
    column("tool’s CPU used", Some("busy"), |_, row| plain(small_share(row.generator_busy?))),
    column("server’s CPU, µs an answer", Some("server µs"), |all, row| scaled(all.subject_cpu_s(row), MICROS)),
    column("server’s CPU used", None, |_, row| plain(small_share(row.subject_busy?))),
    column("p99, ms", Some("p99 ms"), |_, row| latency(row.latency_p99_s.as_ref(), is_marked(row))),
    column("mean, ms", Some("mean ms"), |_, row| latency(row.latency_mean_s.as_ref(), has_marked_mean(row))),
    column("waiting, of the connections", Some("Little"), |_, row| {
        let mark = if row.trials_against_little > 0 { "!" } else { "" };
        plain(format!("{}{mark}", in_column(row.little.as_ref()?.value)))
    }),
    column("p50, ms", Some("p50 ms"), |_, row| latency(row.latency_p50_s.as_ref(), is_marked(row))),
    column("longest, ms", Some("max ms"), |_, row| latency(row.latency_max_s.as_ref(), is_marked(row))),
];

/// A table of tools.
#[derive(Debug, Serialize)]
pub(crate) struct Sheet {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Line>,
}

/// A tool in it.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) tool: String,
    /// Numbers of the remarks that hold in several tables.
    pub(crate) notes: Vec<usize>,
    pub(crate) cells: Vec<Cell>,
}

/// A figure and its interval, which may be empty.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    value: String,
    interval: String,
}

/// One subject of a page.
#[derive(Serialize)]
pub(crate) struct ToolsPart<'a> {
    /// Tells its table from others.
    label: String,
    heading: String,
    load: &'a str,
    place: &'a str,
    verdict: &'a str,
    chart: String,
    sheet: Sheet,
    legend: String,
    unchecked: String,
    remarks: Vec<Remark>,
}

/// Everything of a page.
pub(crate) fn parts<'a>(findings: &'a Findings, remarks: &Remarks) -> Vec<ToolsPart<'a>> {
    let legends = legends(&findings.tools);
    let part = |(place, finding): (usize, &'a ToolsFinding)| ToolsPart {
        label: heading(finding),
        heading: heading(finding),
        load: &finding.load,
        place: &finding.environment_words,
        verdict: &finding.verdict,
        chart: svg::tools(finding, &heading(finding)),
        sheet: sheet(finding, place, remarks),
        legend: legends[place].join(" · "),
        unchecked: remarks.unchecked(place).to_owned(),
        remarks: remarks.beneath(place).to_vec(),
    };
    findings.tools.iter().enumerate().map(part).collect()
}

/// `Hello · ceiling: Minimal server`
pub(crate) fn heading(finding: &ToolsFinding) -> String {
    let place = Some(finding.environment.as_str()).filter(|id| !id.is_empty());
    let ceiling = if finding.is_ceiling { "ceiling: " } else { "" };
    let subject = format!("{ceiling}{}", finding.subject_title);
    let parts = [Some(finding.title.as_str()), place, Some(&subject)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The table of a page, without columns that have no figure.
pub(crate) fn sheet(finding: &ToolsFinding, place: usize, remarks: &Remarks) -> Sheet {
    let has_any = |column: &&Column| finding.rows.iter().any(|row| (column.cell)(finding, row).is_some());
    let shown: Vec<&Column> = COLUMNS.iter().filter(has_any).collect();
    let line = |row: &ToolRow| {
        let figures = shown.iter().map(|column| (column.cell)(finding, row));
        let trials = format!("{} of {}", row.trials_scored, row.trials_planned);
        let cells = figures.chain([failed(row).and_then(plain), plain(trials)]).map(Cell::of).collect();
        Line { tool: row.short_words(), notes: remarks.numbers(place, row), cells }
    };
    let headings = shown.iter().map(|column| column.heading);
    Sheet {
        columns: headings.chain(["failed requests", "trials"]).collect(),
        rows: finding.rows.iter().map(line).collect(),
    }
}

/// The columns of a terminal.
pub(crate) fn short_columns(finding: &ToolsFinding) -> Vec<(&'static str, Vec<String>)> {
    let of = |column: &Column| {
        let cells: Vec<Option<Figure>> = finding.rows.iter().map(|row| (column.cell)(finding, row)).collect();
        let has_any = cells.iter().any(Option::is_some);
        let heading = column.short.filter(|_| has_any)?;
        Some((heading, cells.into_iter().map(|cell| Cell::of(cell).value).collect()))
    };
    COLUMNS.iter().filter_map(of).collect()
}

/// The legends of all tables: what was said beneath an earlier one is not said again.
pub(crate) fn legends(tools: &[ToolsFinding]) -> Vec<Vec<String>> {
    let mut said: Vec<String> = Vec::new();
    let news = |finding| {
        let new: Vec<String> = legend(finding).into_iter().filter(|part| !said.contains(part)).collect();
        said.extend(new.iter().cloned());
        new
    };
    tools.iter().map(news).collect()
}

/// What the columns and marks of a table mean, as far as they are there.
fn legend(finding: &ToolsFinding) -> Vec<String> {
    let rows = || finding.rows.iter();
    let per = if finding.is_cost_per_wire() { "on the wire, of any status" } else { "that the tool calls good" };
    let has_little = rows().any(|row| row.little.is_some());
    let is_impossible = rows().any(|row| row.trials_against_little > 0);
    let marked = marked(finding);
    let parts = [
        rows().any(|row| row.is_limit).then(|| format!("{LOWER_BOUND} lower bound: the tool was the limit")),
        rows()
            .any(|row| row.counted_of_wire.is_some())
            .then(|| "of the wire: good answers that the tool counted, of those that the kernel saw pass".to_owned()),
        Some(format!("server’s CPU: for an answer {per}")),
        has_little.then(|| "waiting (Little): rate × mean latency ÷ connections, which hardly exceeds 1".to_owned()),
        is_impossible.then(|| "! so far above 1, in some trial, that latencies were not taken".to_owned()),
        (!marked.is_empty()).then(|| format!("{MARK} not taken as tolok takes them: {}", marked.join(", "))),
    ];
    parts.into_iter().flatten().collect()
}

/// What is behind the mark, and with whom.
fn marked(finding: &ToolsFinding) -> Vec<String> {
    let kinds = [
        (LatencyMark::BackFilled, "with samples added after the run"),
        (LatencyMark::DerivedMean, "a mean that is computed from the rate"),
        (LatencyMark::FromSend, "counted from the moment of sending"),
        (LatencyMark::Coarse, "in coarse steps"),
    ];
    let said = |(mark, words): (LatencyMark, &str)| {
        let of = finding.rows.iter().filter(|row| row.latency_marks.contains(&mark));
        let names: Vec<String> = of.map(|row| row.tool.clone()).collect();
        (!names.is_empty()).then(|| format!("{words} ({})", listed(&names, "and")))
    };
    kinds.into_iter().filter_map(said).collect()
}

impl Cell {
    fn of(figure: Option<Figure>) -> Self {
        let figure = figure.unwrap_or_else(|| Figure { value: NONE.to_owned(), interval: None });
        Self { value: figure.value, interval: figure.interval.unwrap_or_default() }
    }

    /// On one line: `34.3k (33.9–34.8k)`.
    pub(crate) fn line(&self) -> String {
        if self.interval.is_empty() { self.value.clone() } else { format!("{} ({})", self.value, self.interval) }
    }
}

/// Whether all of its latencies are something else than tolok's.
fn is_marked(row: &ToolRow) -> bool {
    let is_other = |mark: &LatencyMark| !matches!(mark, LatencyMark::DerivedMean | LatencyMark::WithFailures);
    row.latency_marks.iter().any(is_other)
}

fn has_marked_mean(row: &ToolRow) -> bool {
    is_marked(row) || row.latency_marks.contains(&LatencyMark::DerivedMean)
}

fn latency(of: Option<&Estimate>, is_marked: bool) -> Option<Figure> {
    let figure = scaled(of, MILLIS)?;
    Some(if is_marked { Figure { value: format!("{}{MARK}", figure.value), ..figure } } else { figure })
}

fn scaled(estimate: Option<&Estimate>, unit: f64) -> Option<Figure> {
    plain(in_column(estimate?.value * unit))
}

fn plain(value: String) -> Option<Figure> {
    Some(Figure { value, interval: None })
}

/// `212 reset`; why it has no figure, where all trials failed.
fn failed(row: &ToolRow) -> Option<String> {
    let classes: Vec<String> = row.errors.iter().map(|(class, number)| format!("{} {class}", count(*number))).collect();
    match (row.trials_scored, classes.is_empty()) {
        (0, _) => Some(row.failures.join(", ")).filter(|reasons| !reasons.is_empty()),
        (_, true) => Some("0".to_owned()),
        _ => Some(classes.join(", ")),
    }
}
