//! What each tool reports about the same server, for all formats for people.

use tolok_analysis::figures::{Figure, NONE, Quantity, count, figure, in_column, listed, small_share};
use tolok_analysis::{Estimate, Findings, LatencyMark, ToolRow, ToolsFinding, share_of_wire};

use super::tool_remarks::Remarks;
use super::{columns, muted, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Depth, Heading, Row, Table, Text};
use crate::svg;
use crate::wording::LOWER_BOUND;

const MILLIS: f64 = 1e3;
const MICROS: f64 = 1e6;
/// Marks latencies that are not measured as tolok measures them.
const MARK: &str = "†";

/// Explains two columns of a terminal.
const COSTS_IN_SHORT: &str = "tool µs and busy: the tool’s CPU time per response, and the share of its CPU time in use";

/// A column: its heading on a page, its heading on a terminal if it is shown there, and its figure.
struct Told {
    heading: &'static str,
    short: Option<&'static str>,
    cell: fn(&ToolsFinding, &ToolRow) -> Option<Figure>,
}

const fn told(
    heading: &'static str,
    short: Option<&'static str>,
    cell: fn(&ToolsFinding, &ToolRow) -> Option<Figure>,
) -> Told {
    Told { heading, short, cell }
}

/// The most important first, because a narrow terminal drops the last.
const COLUMNS: [Told; 13] = [
    told("correct responses/s", Some("resp/s"), |_, row| {
        let goodput = figure(Quantity::Number, row.goodput_rps.as_ref()?);
        Some(if row.is_limit {
            Figure { value: format!("{LOWER_BOUND}{}", goodput.value), ..goodput }
        } else {
            goodput
        })
    }),
    told("counted, of the wire", Some("of wire"), |_, row| plain(share_of_wire(row.counted_of_wire.as_ref()?.value))),
    told("rate against tolok’s", Some("vs tolok"), |_, row| {
        Some(figure(Quantity::Ratio, row.goodput_of_own.as_ref()?))
    }),
    told("tool’s CPU, µs per response", Some("tool µs"), |_, row| {
        scaled(row.generator_cpu_s_per_good.as_ref(), MICROS)
    }),
    told("that against tolok’s", None, |_, row| Some(figure(Quantity::Ratio, row.generator_cpu_of_own.as_ref()?))),
    told("tool’s CPU used", Some("busy"), |_, row| plain(small_share(row.generator_busy?))),
    told("server’s CPU, µs per response", Some("server µs"), |all, row| scaled(all.subject_cpu_s(row), MICROS)),
    told("server’s CPU used", None, |_, row| plain(small_share(row.subject_busy?))),
    told("p99, ms", Some("p99 ms"), |_, row| latency(row.latency_p99_s.as_ref(), is_marked(row))),
    told("mean, ms", Some("mean ms"), |_, row| latency(row.latency_mean_s.as_ref(), has_marked_mean(row))),
    told("waiting, of the connections", Some("Little"), |_, row| {
        let mark = if row.trials_against_little > 0 { "!" } else { "" };
        plain(format!("{}{mark}", in_column(row.little.as_ref()?.value)))
    }),
    told("p50, ms", Some("p50 ms"), |_, row| latency(row.latency_p50_s.as_ref(), is_marked(row))),
    told("longest, ms", Some("max ms"), |_, row| latency(row.latency_max_s.as_ref(), is_marked(row))),
];

/// The section: a table for each server that several tools loaded, and remarks on the tools.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let remarks = Remarks::of(findings);
    let mut blocks = Vec::new();
    if depth == Depth::Page {
        blocks.extend(charts(&findings.tools));
    }
    for ((place, finding), legend) in findings.tools.iter().enumerate().zip(legends(&findings.tools)) {
        blocks.extend(head(finding, depth));
        blocks.push(Block::Verdict(finding.verdict.as_str().into()));
        blocks.push(Block::Table(table(finding, place, &remarks, depth)));
        if depth == Depth::Short {
            blocks.extend(muted(COSTS_IN_SHORT).filter(|_| place == 0));
            blocks.extend(muted(legend.join(" · ")));
        } else if !legend.is_empty() {
            blocks.extend(paragraph(format!("{}.", legend.join(" · "))));
        }
        blocks.extend(muted(remarks.unchecked(place)));
        blocks.extend(Block::list(remarks.beneath(place).iter().map(|remark| remark.words()).collect()));
    }
    let shared: Vec<(usize, Text)> = remarks.numbered().map(|(number, remark)| (number, remark.words())).collect();
    if !shared.is_empty() {
        blocks.extend([Block::heading(3, "In several of these tables"), Block::Notes(shared)]);
    }
    section("tools", "What each tool says", blocks)
}

fn head(finding: &ToolsFinding, depth: Depth) -> Vec<Block> {
    let place = format!("{}; {}", finding.load, finding.environment_words);
    match depth {
        Depth::Short => vec![Block::heading(3, format!("{}: {}", heading(finding), finding.load))],
        Depth::Full => vec![Block::heading(3, heading(finding)), Block::Paragraph(format!("{place}.").into())],
        Depth::Page => vec![Block::Heading(Heading { rank: 3, text: heading(finding).into(), beside: place })],
    }
}

fn charts(tools: &[ToolsFinding]) -> Vec<Block> {
    if tools.is_empty() {
        return Vec::new();
    }
    let has_wire = tools.iter().flat_map(|it| &it.rows).any(|row| row.wire_rps.is_some());
    let wire = match has_wire {
        true => " Dashed stroke: what crossed the wire by the kernel’s count, the referee.",
        false => "",
    };
    let note = muted(format!(
        "Several tools load the same server in the same environment and rounds, so differences come from the tools. Dot: what the tool reports, with its interval over the trials; outlined where the tool itself was the limit.{wire}"
    ));
    let chart = |finding| Chart { svg: svg::tools(finding, &heading(finding)), caption: String::new() };
    note.into_iter().chain([Block::Charts(tools.iter().map(chart).collect())]).collect()
}

/// `Hello · ceiling: Minimal server`
pub(crate) fn heading(finding: &ToolsFinding) -> String {
    let place = Some(finding.environment.as_str()).filter(|id| !id.is_empty());
    let ceiling = if finding.is_ceiling { "ceiling: " } else { "" };
    let subject = format!("{ceiling}{}", finding.subject_title);
    let parts = [Some(finding.title.as_str()), place, Some(&subject)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The table without columns that have no figure.
fn table(finding: &ToolsFinding, place: usize, remarks: &Remarks, depth: Depth) -> Table {
    let has_any = |told: &&Told| finding.rows.iter().any(|row| (told.cell)(finding, row).is_some());
    let is_for = |told: &&Told| depth != Depth::Short || told.short.is_some();
    let shown: Vec<&Told> = COLUMNS.iter().filter(has_any).filter(is_for).collect();
    let column = |(place, told): (usize, &&Told)| {
        let short = told.short.filter(|_| depth == Depth::Short);
        Column::numbers(short.unwrap_or(told.heading)).priority(columns::falling(place))
    };
    let mut columns: Vec<Column> = shown.iter().enumerate().map(column).collect();
    columns.insert(0, Column::words("tool"));
    if depth != Depth::Short {
        columns.extend(["failed requests", "trials"].map(Column::numbers));
    }
    let row = |row: &ToolRow| {
        let mut cells = vec![Cell { notes: remarks.numbers(place, row), ..row.short_words().into() }];
        cells.extend(shown.iter().map(|told| cell((told.cell)(finding, row), depth)));
        if depth != Depth::Short {
            let trials = format!("{} of {}", row.trials_scored, row.trials_planned);
            cells.extend([cell(failed(row).and_then(plain), depth), trials.into()]);
        }
        Row::of(cells)
    };
    let caption = format!("What each tool says of {}", heading(finding));
    Table { caption, columns, rows: finding.rows.iter().map(row).collect(), ..Table::default() }
}

/// A terminal has no room for intervals.
fn cell(figure: Option<Figure>, depth: Depth) -> Cell {
    match figure {
        None => NONE.into(),
        Some(figure) if depth == Depth::Short => figure.value.into(),
        Some(figure) => columns::cell(figure),
    }
}

/// The legends of all tables. Each meaning appears once.
fn legends(tools: &[ToolsFinding]) -> Vec<Vec<String>> {
    let mut said: Vec<String> = Vec::new();
    let news = |finding| {
        let new: Vec<String> = legend(finding).into_iter().filter(|part| !said.contains(part)).collect();
        said.extend(new.iter().cloned());
        new
    };
    tools.iter().map(news).collect()
}

/// The meanings of the columns and marks in a table.
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
            .then(|| "of the wire: correct responses that the tool counted, over those that the kernel saw".to_owned()),
        Some(format!("server’s CPU: for a response {per}")),
        has_little
            .then(|| "waiting (Little): rate × mean latency ÷ connections, which cannot be far above 1".to_owned()),
        is_impossible.then(|| "! far above 1 in some trial, so these latencies were not measured".to_owned()),
        (!marked.is_empty()).then(|| format!("{MARK} not measured as tolok measures: {}", marked.join(", "))),
    ];
    parts.into_iter().flatten().collect()
}

/// The meanings of the mark, and which tools have it.
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

/// Whether all of its latencies differ in meaning from tolok's.
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

/// `212 reset`, or why it has no figure if all trials failed.
fn failed(row: &ToolRow) -> Option<String> {
    let classes: Vec<String> = row.errors.iter().map(|(class, number)| format!("{} {class}", count(*number))).collect();
    match (row.trials_scored, classes.is_empty()) {
        (0, _) => Some(row.failures.join(", ")).filter(|reasons| !reasons.is_empty()),
        (_, true) => Some("0".to_owned()),
        _ => Some(classes.join(", ")),
    }
}
