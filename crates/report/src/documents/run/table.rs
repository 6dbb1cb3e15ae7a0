//! The table of a scenario's cases.

use tolok_analysis::figures::{Figure, NONE, Quantity, amount, figure, in_column};
use tolok_analysis::{CaseFinding, Estimate, Judge, LatencyMark, MemorySource, ScenarioFinding, Verdict};

use super::columns::{Of, cell, named, of_rows, with_ceiling};
use super::judgement::TIER;
use super::notes::{Noted, Notes};
use super::program_table::words;
use super::resources::throttled;
use super::sections::is_of_tools;
use super::surroundings::has_quota;
use crate::document::{Cell, Column, Depth, Row, Table};
use crate::sparkline::Sparklines;
use crate::wording::{LOWER_BOUND, MARKS, is_lower_bound, no_figure, of_limit};

const MIB: f64 = 1024.0 * 1024.0;
/// Priority of columns that a narrow terminal drops.
const COSTS: u8 = 1;

/// One case, and whether others are compared with it.
struct Case<'a> {
    of: &'a CaseFinding,
    is_first: bool,
    of_limit: Option<String>,
}

/// The table of a scenario, with the numbers of notes if there are any.
pub(crate) fn table(scenario: &ScenarioFinding, notes: Option<&Notes>, depth: Depth) -> Table {
    let rows = with_ceiling(scenario).enumerate().map(|(place, (case, is_ceiling))| {
        let is_first = place == 0 && !is_ceiling;
        (noted(case, is_ceiling, notes), Case { of: case, is_first, of_limit: of_limit(case, scenario) })
    });
    let mut table = of_rows(format!("Figures of {}", scenario.id), columns(scenario, depth), rows);
    if let Some(sparklines) = Sparklines::of(scenario).filter(|_| depth == Depth::Short) {
        let column = Column::numbers(sparklines.heading).meaning(sparklines.meaning);
        table.columns.push(column.priority(Column::OPTIONAL));
        table.rows.iter_mut().zip(sparklines.cells).for_each(|(row, line)| row.cells.push(line.into()));
    }
    table
}

/// The name of a case, with the numbers of its notes and its id.
pub(crate) fn noted<F: Noted>(case: &CaseFinding<F>, is_ceiling: bool, notes: Option<&Notes>) -> Row {
    let mut row = named(&case.title, &case.runtime, is_ceiling);
    row.cells[0].notes = notes.map(|notes| notes.numbers(case)).unwrap_or_default();
    row.cells[0].below.clone_from(&case.subject);
    row
}

fn columns<'a>(scenario: &ScenarioFinding, depth: Depth) -> Vec<Of<Case<'a>>> {
    let headed = |full: &str, short: &str| Column::numbers(if depth == Depth::Short { short } else { full });
    let memory = scenario.memory_source.map_or("", MemorySource::words);
    let (memory_heading, memory_meaning) = match memory {
        "" => ("memory, MiB".to_owned(), String::new()),
        memory if depth == Depth::Short => (String::new(), format!("MiB {memory}")),
        memory => (format!("memory ({memory}), MiB"), String::new()),
    };
    let percentile = percentile(scenario);
    let mut columns: Vec<Of<Case>> =
        vec![(Column::numbers("correct responses/s").short("resp/s"), |case| goodput(case.of))];
    if is_compared(scenario) {
        columns.push((Column::numbers("vs first"), |case| {
            against_first(case.of.of_first.as_ref(), case.is_first, case.of.against_first)
        }));
        columns.push((Column::numbers("tier"), |case| words(case.of.tier.clone())));
    }
    if scenario.ceiling.is_some() || scenario.cases.iter().any(|case| case.of_ceiling.is_some()) {
        columns.push((headed("of ceiling", "ceiling"), |case| words(case.of_limit.clone())));
    }
    if has_quota(scenario) {
        columns.push((Column::numbers("throttled"), |case| words(throttled(&case.of.resources))));
    }
    columns.push((headed("CPU per response, µs", "CPU µs").priority(COSTS), |case| {
        scaled(case.of.shown_cpu_s_per_good(), 1e6)
    }));
    columns.push((headed(&memory_heading, "MiB").meaning(memory_meaning).priority(COSTS), |case| {
        scaled(case.of.shown_memory_bytes(), 1.0 / MIB)
    }));
    columns.push((headed("p50, ms", "p50 ms").meaning(format!("p50 {percentile}")).priority(COSTS), |case| {
        scaled(case.of.latency_p50_s.as_ref(), 1e3)
    }));
    columns.push((headed("p99, ms", "p99 ms").meaning(format!("p99 {percentile}")), |case| {
        let least_s = case.of.latency_p99_at_least_s;
        least_s.map_or_else(
            || scaled(case.of.latency_p99_s.as_ref(), 1e3),
            |s| format!("{LOWER_BOUND} {}", in_column(s * 1e3)).into(),
        )
    }));
    if depth == Depth::Page {
        columns.extend(of_page(scenario));
    }
    columns
}

/// Columns that only a page has room for.
fn of_page<'a>(scenario: &ScenarioFinding) -> [Of<Case<'a>>; 4] {
    let busy = match scenario.database {
        Some(_) => "CPU used: subject / database / generator",
        None => "CPU used: subject / generator",
    };
    [
        (Column::numbers("cold start, ms"), |case| scaled(case.of.cold_start_s.as_ref(), 1e3)),
        (Column::numbers(busy), |case| busy_cpus(case.of)),
        (Column::numbers("processes"), |case| {
            words((case.of.processes_max > 0).then(|| case.of.processes_max.to_string()))
        }),
        (Column::numbers("trials"), |case| format!("{} of {}", case.of.trials_scored, case.of.trials_planned).into()),
    ]
}

fn is_compared(scenario: &ScenarioFinding) -> bool {
    scenario.cases.iter().any(|case| case.against_first.is_some())
}

/// Meanings of the marks and words that occur in the table.
pub(crate) fn legend(scenario: &ScenarioFinding) -> Vec<String> {
    let mut legend = marks(scenario.cases.iter().map(|case| case.against_first));
    if is_compared(scenario) {
        legend.push(TIER.to_owned());
        if scenario.judged_by == Judge::Cpu {
            legend.push("order, vs first and tier: by correct responses per second of CPU time".to_owned());
        }
    }
    if scenario.cases.iter().any(|case| is_lower_bound(case) || case.latency_p99_at_least_s.is_some()) {
        legend.push(format!("{LOWER_BOUND} lower bound"));
    }
    if has_quota(scenario) {
        legend.push("throttled: share of the periods in which its quota stopped it".to_owned());
    }
    legend
}

/// Meanings of the marks of these verdicts.
pub(crate) fn marks(verdicts: impl Iterator<Item = Option<Verdict>>) -> Vec<String> {
    let found: Vec<Verdict> = verdicts.flatten().collect();
    let occurring = MARKS.iter().filter(|(_, verdict)| found.contains(verdict));
    occurring.map(|(mark, verdict)| format!("{mark} {}", verdict.words())).collect()
}

/// The mark of a verdict; empty if the difference is clear.
pub(crate) fn mark(verdict: Option<Verdict>) -> &'static str {
    MARKS.iter().find(|(_, marked)| verdict == Some(*marked)).map_or("", |(mark, _)| mark)
}

/// The meaning of a scenario's percentiles.
pub(crate) fn percentiles(scenario: &ScenarioFinding) -> String {
    format!("p50 and p99 {}", percentile(scenario))
}

/// The meaning of each percentile: in a closed loop it holds only for its number of users.
fn percentile(scenario: &ScenarioFinding) -> String {
    if is_of_tools(scenario) {
        return format!("in the {} loop as each tool measures them", scenario.loop_model);
    }
    match scenario.loop_model.as_str() {
        "open" => format!("{} (open loop)", counted_from(scenario)),
        model => format!("in a {model} loop{}", added(scenario)),
    }
}

/// The start of a latency in an open loop, by the tool that measured it.
fn counted_from(scenario: &ScenarioFinding) -> &'static str {
    let from_send = scenario.latency_marks.contains(&LatencyMark::FromSend);
    if from_send { "from the moment of sending" } else { "from the planned instant" }
}

fn added(scenario: &ScenarioFinding) -> &'static str {
    if scenario.latency_marks.contains(&LatencyMark::BackFilled) { ", with samples that the tool added" } else { "" }
}

/// The same for the heading of a column.
pub(crate) fn percentiles_heading(scenario: &ScenarioFinding) -> String {
    if is_of_tools(scenario) {
        return format!("{} loop, as its tool measures it", scenario.loop_model);
    }
    match scenario.loop_model.as_str() {
        "open" => counted_from(scenario).to_owned(),
        model => format!("{model} loop{}", added(scenario)),
    }
}

fn goodput(case: &CaseFinding) -> Cell {
    let Some(estimate) = case.shown_goodput_rps() else { return no_figure(case).into() };
    let figure = figure(Quantity::Number, estimate);
    let bound = if is_lower_bound(case) { LOWER_BOUND } else { "" };
    cell(Figure { value: format!("{bound}{}", figure.value), ..figure })
}

/// A ratio to the first with the mark of its verdict.
pub(crate) fn against_first(ratio: Option<&Estimate>, is_first: bool, verdict: Option<Verdict>) -> Cell {
    let ratio = match ratio {
        Some(_) if is_first => "first".into(),
        Some(ratio) => cell(figure(Quantity::Ratio, ratio)),
        None => NONE.into(),
    };
    Cell { mark: mark(verdict), ..ratio }
}

fn busy_cpus(case: &CaseFinding) -> Cell {
    if case.trials_scored == 0 {
        return NONE.into();
    }
    let share = |share: Option<f64>| share.map_or(NONE.to_owned(), |share| amount(Quantity::Share, share));
    let database = case.database.as_ref().map(|database| share(database.busy));
    let busy = [Some(share(case.subject_busy)), database, Some(share(case.generator_busy))];
    busy.into_iter().flatten().collect::<Vec<String>>().join(" / ").into()
}

fn scaled(estimate: Option<&Estimate>, unit: f64) -> Cell {
    words(estimate.map(|estimate| in_column(estimate.value * unit)))
}
