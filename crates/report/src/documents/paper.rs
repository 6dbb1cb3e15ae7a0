//! A run for a paper: a table for each scenario, and its charts. Captions give the number of blocks and trials, the kind of
//! interval, the load, and the machine.

use tolok_analysis::figures::{Figure, NONE, Quantity, amount, counted, figure, in_column, in_unit};
use tolok_analysis::{
    CaseFinding, Estimate, Findings, MemorySource, ProgramCaseFinding, ProgramFinding, ScenarioFinding, Verdict,
};
use tolok_model::sentences::capital;

use super::run::columns::{Of, cell, of_rows, with_ceiling};
use super::run::notes::{Noted, Notes};
use super::run::program_table::{unmeasured, words};
use super::run::surroundings::{cases, environment};
use super::run::table::{mark, marks, noted, percentiles};
use super::run::{programs, sections};
use crate::charts::{Chart, blocks, file_name};
use crate::document::{self, Block, Cell, Column, Document, Row, Table};
use crate::wording::{LOWER_BOUND, heading, interval_words, is_lower_bound, no_figure};

const MIB: f64 = 1024.0 * 1024.0;
/// Follows the name of an unranked case.
const NOT_RANKED: &str = "†";

/// The tables of a run.
pub fn paper(findings: &Findings) -> Document {
    let servers = sections::sections(findings);
    let servers = servers.iter().map(|section| of_scenario(findings, section));
    of_run(findings, servers.chain(findings.programs.iter().map(|program| of_program(findings, program))).collect())
}

/// The charts of a run, each with its caption.
pub fn paper_figures(findings: &Findings, charts: &[Chart]) -> Document {
    let section = |chart: &Chart| {
        let drawing = document::Chart { svg: chart.svg.clone(), caption: chart.caption.clone() };
        let blocks = vec![
            Block::heading(2, chart.title.as_str()),
            Block::Charts(vec![drawing]),
            Block::Paragraph(machine(findings).into()),
        ];
        Block::Section { id: chart.name.clone(), blocks }
    };
    of_run(findings, charts.iter().map(section).collect())
}

fn of_run(findings: &Findings, blocks: Vec<Block>) -> Document {
    Document { title: format!("Run {}: {}", findings.run.id, findings.run.command), blocks }
}

/// A table with its caption and the meanings of its marks.
struct Float {
    id: String,
    title: String,
    caption: Vec<String>,
    table: Table,
    notes: Notes,
    has_unranked: bool,
    verdicts: Vec<Option<Verdict>>,
}

impl From<Float> for Block {
    fn from(float: Float) -> Self {
        let caption = float.caption.into_iter().filter(|line| !line.is_empty());
        let blocks = std::iter::once(Self::heading(2, float.title))
            .chain(caption.map(|line| Self::Paragraph(line.into())))
            .chain([Self::Table(float.table)])
            .chain(float.has_unranked.then(|| Self::Legend(vec![format!("{NOT_RANKED} not ranked")])))
            .chain(float.notes.block())
            .chain([Self::Legend(marks(float.verdicts.into_iter()))]);
        Self::Section { id: file_name(&float.id), blocks: blocks.collect() }
    }
}

/// A case of servers or of programs.
struct At<'a, C> {
    case: &'a C,
    is_first: bool,
    /// Converts seconds to the unit of the scenario's times.
    per_s: f64,
}

fn of_scenario(findings: &Findings, scenario: &ScenarioFinding) -> Block {
    let notes = Notes::of(cases(scenario));
    let is_compared = scenario.cases.iter().any(|case| case.against_first.is_some());
    let memory = if scenario.memory_source == Some(MemorySource::Pss) { "PSS, MiB" } else { "memory, MiB" };
    let mut columns: Vec<Of<At<CaseFinding>>> = vec![(Column::numbers("good, answers/s"), |it| goodput(it.case))];
    if is_compared {
        let of_first = |it: &At<CaseFinding>| ratio(it.is_first, it.case.of_first.as_ref(), it.case.against_first);
        columns.push((Column::numbers("of first, ratio"), of_first));
        columns.push((Column::words("tier"), |it| words(it.case.tier.clone())));
    }
    columns.push((Column::numbers("CPU, µs/answer"), |it| alone(it.case.shown_cpu_s_per_good(), 1e6)));
    columns.push((Column::numbers(memory), |it| alone(it.case.shown_memory_bytes(), 1.0 / MIB)));
    columns.push((Column::numbers("p50, ms"), |it| alone(it.case.latency_p50_s.as_ref(), 1e3)));
    columns.push((Column::numbers("p99, ms"), |it| alone(it.case.latency_p99_s.as_ref(), 1e3)));
    let rows = with_ceiling(scenario).enumerate().map(|(place, (case, is_ceiling))| {
        let at = At { case, is_first: place == 0 && !is_ceiling, per_s: 1.0 };
        (named(case, is_ceiling, &notes), at)
    });
    let table = of_rows(String::new(), columns, rows);
    let verdicts = scenario.cases.iter().map(|case| case.against_first).collect();
    let has_unranked = scenario.cases.iter().any(|case| !case.ranked);
    let (id, title) = (scenario.id.clone(), heading(scenario));
    Float { id, title, caption: caption_of_scenario(findings, scenario), table, notes, has_unranked, verdicts }.into()
}

fn of_program(findings: &Findings, program: &ProgramFinding) -> Block {
    let notes = Notes::of(program.cases.iter());
    let is_compared = program.cases.iter().any(|case| case.against_first.is_some());
    let has_floor = program.cases.iter().any(|case| case.floor_s.is_some());
    let unit = Unit::of(program);
    let number = |heading: &str| Column::numbers(format!("{heading}, {}", unit.name));
    let mut columns: Vec<Of<At<ProgramCaseFinding>>> =
        vec![(number("wall"), |it| timed(it.case.shown_wall_s(), it.per_s, unmeasured(it.case)))];
    if is_compared {
        let of_first =
            |it: &At<ProgramCaseFinding>| ratio(it.is_first, it.case.of_first.as_ref(), it.case.against_first);
        columns.push((Column::numbers("of first, ratio"), of_first));
        columns.push((Column::words("tier"), |it| words(it.case.tier.clone())));
    }
    if has_floor {
        columns.push((number("above start"), |it| {
            let lacking = if it.case.is_at_floor { "at start" } else { NONE };
            let above = it.case.above_floor_s.as_ref().filter(|_| !it.case.is_at_floor);
            timed(above, it.per_s, Figure { value: lacking.to_owned(), interval: None })
        }));
    }
    columns.push((number("CPU"), |it| alone(it.case.cpu_s.as_ref(), it.per_s)));
    columns.push((Column::numbers("max RSS, MiB"), |it| alone(it.case.rss_bytes.as_ref(), 1.0 / MIB)));
    let rows = program.cases.iter().enumerate().map(|(place, case)| {
        let at = At { case, is_first: place == 0, per_s: unit.per_s };
        (named(case, false, &notes), at)
    });
    let table = of_rows(String::new(), columns, rows);
    let verdicts = program.cases.iter().map(|case| case.against_first).collect();
    let has_unranked = program.cases.iter().any(|case| !case.ranked);
    let (id, title) = (program.id.clone(), programs::heading(program));
    Float { id, title, caption: caption_of_program(findings, program), table, notes, has_unranked, verdicts }.into()
}

/// The unit of a scenario's times, chosen so that the shortest is readable.
struct Unit {
    name: &'static str,
    per_s: f64,
}

impl Unit {
    fn of(program: &ProgramFinding) -> Self {
        let walls = program.cases.iter().filter_map(|case| case.shown_wall_s()).map(|wall| wall.value);
        match walls.reduce(f64::min) {
            Some(shortest) if shortest >= 1.0 => Self { name: "s", per_s: 1.0 },
            _ => Self { name: "ms", per_s: 1e3 },
        }
    }
}

/// The name of a case, with a mark if it is not ranked.
fn named<F: Noted>(case: &CaseFinding<F>, is_ceiling: bool, notes: &Notes) -> Row {
    let mut row = noted(case, is_ceiling, Some(notes));
    row.cells[0].mark = if case.ranked || is_ceiling { "" } else { NOT_RANKED };
    row
}

fn goodput(case: &CaseFinding) -> Cell {
    let Some(goodput) = case.shown_goodput_rps() else { return no_figure(case).into() };
    let bound = if is_lower_bound(case) { LOWER_BOUND } else { "" };
    let figure = scaled(goodput, 1.0);
    cell(Figure { value: format!("{bound}{}", figure.value), ..figure })
}

fn timed(time: Option<&Estimate>, per_s: f64, lacking: Figure) -> Cell {
    cell(time.map_or(lacking, |time| scaled(time, per_s)))
}

/// A ratio without its sign, because the heading names it.
fn ratio(is_first: bool, ratio: Option<&Estimate>, verdict: Option<Verdict>) -> Cell {
    let Some(ratio) = ratio else { return NONE.into() };
    if is_first {
        return "1".into();
    }
    let figure = figure(Quantity::Ratio, ratio);
    let value = figure.value.trim_end_matches('×').to_owned();
    Cell { mark: mark(verdict), ..cell(Figure { value, ..figure }) }
}

fn scaled(estimate: &Estimate, unit: f64) -> Figure {
    in_unit(estimate.value * unit, estimate.low.zip(estimate.high).map(|(low, high)| [low * unit, high * unit]))
}

fn alone(estimate: Option<&Estimate>, unit: f64) -> Cell {
    words(estimate.map(|estimate| in_column(estimate.value * unit)))
}

/// The caption of a scenario's table.
fn caption_of_scenario(findings: &Findings, scenario: &ScenarioFinding) -> Vec<String> {
    let (scored, planned) = cases(scenario)
        .fold((0, 0), |(scored, planned), case| (scored + case.trials_scored, planned + case.trials_planned));
    let memory = match scenario.memory_source {
        Some(MemorySource::Group) => "Memory: anonymous and kernel memory of the control group. ",
        Some(MemorySource::Pss) => "PSS: proportional set sizes of all processes. ",
        None => "",
    };
    vec![
        format!("{}: {}.", heading(scenario), scenario.load),
        format!(
            "Goodput, CPU and memory: geometric means; others: medians; {}, a trial of each case in each round ({scored} of {planned} trials scored); {}",
            blocks(findings),
            interval_words(findings)
        ),
        ratio_words(findings, "goodput", scenario.comparisons.len()),
        format!("{memory}Latency: {}.", percentiles(scenario)),
        format!("{}.", capital(&environment(scenario))),
        machine(findings),
    ]
}

fn caption_of_program(findings: &Findings, program: &ProgramFinding) -> Vec<String> {
    let (scored, planned) = program
        .cases
        .iter()
        .fold((0, 0), |(scored, planned), case| (scored + case.trials_scored, planned + case.trials_planned));
    vec![
        format!("{}: {}.", programs::heading(program), programs::facts(program)),
        format!(
            "Each trial counts with the median of its runs; wall times are geometric means over the trials, others medians; {}, a trial of each case in each round ({scored} of {planned} trials scored); {}",
            blocks(findings),
            interval_words(findings)
        ),
        ratio_words(findings, "wall time", program.comparisons.len()),
        "Above start: wall time minus that of a run without the work.".to_owned(),
        machine(findings),
    ]
}

/// Explains ratio and tier; empty if nothing was compared.
fn ratio_words(findings: &Findings, of: &str, pairs: usize) -> String {
    if pairs == 0 {
        return String::new();
    }
    format!(
        "Ratio: {of} over that of the first in the same round, geometric mean, with its own 95% interval (Student’s t of the log \
         ratios). Same tier letter: no clear difference (Holm over {}). Differences below {} do not matter.",
        counted(pairs as u64, "pair"),
        amount(Quantity::Share, findings.run.smallest_effect)
    )
}

/// Machine and versions, and what is needed to repeat the run.
fn machine(findings: &Findings) -> String {
    let run = &findings.run;
    let programs: Vec<String> = run.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let scaled = findings.scaled().map(|scaled| format!("{scaled} ")).unwrap_or_default();
    let programs = if programs.is_empty() { String::new() } else { format!(" {};", programs.join(", ")) };
    format!(
        "{scaled}{};{programs} tolok {}, seed {}, plan {}.",
        run.machine,
        run.tolok_version,
        run.seed,
        run.plan_sha256.chars().take(12).collect::<String>()
    )
}
