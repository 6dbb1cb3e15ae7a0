//! Timed programs: their verdicts, each scenario, and their timers side by side.

use tolok_analysis::figures::{Quantity, amount, count, counted, figure, in_column};
use tolok_analysis::{Findings, ProgramFinding, ProgramSeries, SeriesPoint, TimerReading, TimersFinding, timer_title};

use super::columns::{falling, named};
use super::notes::Notes;
use super::program_table::{in_steps, legend, table, words};
use super::scenario::summary;
use super::surroundings::cpus;
use super::{judgement, muted, pairs, paragraph, section};
use crate::document::{Block, Cell, Chart, Column, Depth, Heading, Table, Text};
use crate::svg::{self, Time};

const MIB: f64 = 1024.0 * 1024.0;

/// What the figures in a program's table are.
const RULE: &str = "Each trial counts with the median of its runs. Wall times are geometric means over rounds, others medians, with their intervals. Start: the wall time of a run without the work; above the start: wall time minus that.";

pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    if findings.programs.is_empty() {
        return Vec::new();
    }
    let all: Vec<Block> = findings.programs.iter().flat_map(|program| of_program(program, depth)).collect();
    let timers: Vec<Block> = findings.timers.iter().flat_map(|it| of_timers(it, depth)).collect();
    let mut blocks: Vec<Block> = Vec::new();
    for (place, series) in findings.program_series.iter().enumerate() {
        blocks.extend(section(&format!("series-{}", place + 1), &series_heading(series), of_series(series, depth)));
    }
    match depth {
        Depth::Short => {
            let blocks_of_all = all.into_iter().chain(timers).collect();
            blocks.push(Block::Section { id: "programs".to_owned(), blocks: blocks_of_all });
            blocks.extend(muted(format!("Programs: {RULE}")));
        }
        Depth::Full => blocks.extend(all.into_iter().chain(timers).chain(paragraph(RULE))),
        Depth::Page => {
            let pairs = pairs::of_programs(findings);
            blocks.extend(section("programs", "Programs", muted(RULE).into_iter().chain(all).chain(pairs).collect()));
            let note = "The same programs under each timer, in separate trials of the same rounds.";
            let note = muted(note).filter(|_| !timers.is_empty());
            blocks.extend(section("timers", "Timers beside each other", note.into_iter().chain(timers).collect()));
        }
    }
    blocks
}

fn of_program(program: &ProgramFinding, depth: Depth) -> Vec<Block> {
    let (title, facts) = (heading(program), facts(program));
    let mut blocks = match depth {
        Depth::Short => vec![Some(Block::heading(2, title)), muted(facts)],
        Depth::Full => vec![Some(Block::heading(2, title)), paragraph(format!("{facts}."))],
        Depth::Page => {
            let title = Heading { rank: 3, text: title.into(), beside: program.id.clone() };
            vec![Some(Block::Heading(title)), muted(facts)]
        }
    };
    let notes = Notes::of(program.cases.iter());
    blocks.extend([
        (depth != Depth::Page).then(|| Block::Verdict(program.verdict.as_str().into())),
        Some(Block::Table(table(program, Some(&notes), depth))),
        Some(legend(program)),
        notes.block(),
    ]);
    let mut blocks: Vec<Block> = blocks.into_iter().flatten().collect();
    if depth == Depth::Short {
        blocks.extend(judgement::short("program", program.noise_floor.as_ref(), program.power.as_ref()));
    }
    blocks.extend(turns(program, depth));
    blocks
}

/// How its runs alternated, and what more of them would gain. A terminal shows only the first sentences.
fn turns(program: &ProgramFinding, depth: Depth) -> Option<Block> {
    let sentences = &program.turns.as_ref()?.sentences;
    let shown = if depth == Depth::Short { 2 } else { sentences.len() };
    muted(sentences.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(" "))
}

/// Only heading, verdict and table, as in a brief report.
pub(crate) fn brief(program: &ProgramFinding, depth: Depth) -> Vec<Block> {
    let mut blocks = match depth {
        Depth::Short => {
            vec![Block::heading(2, heading(program)), Block::Verdict(program.verdict.as_str().into())]
        }
        _ => vec![summary(&heading(program), &program.verdict)],
    };
    blocks.extend([Block::Table(table(program, None, depth)), legend(program)]);
    blocks
}

/// The title of a scenario of programs, with its environment if the study has several, and its timer if that is not
/// tolok's own.
pub(crate) fn heading(program: &ProgramFinding) -> String {
    let mut parts = vec![program.title.clone(), program.environment.id.clone()];
    parts.push(if program.timer == "tolok" { String::new() } else { format!("by {}", timer_title(&program.timer)) });
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The number of runs, the timer, and the available resources.
pub(crate) fn facts(program: &ProgramFinding) -> String {
    let versions = program.timer_versions.join(", ");
    let step = program.timer_resolution_s.filter(|step_s| *step_s >= 1e-3);
    let step = step.map(|step_s| format!(" in steps of {}", amount(Quantity::Seconds, step_s))).unwrap_or_default();
    let timer = format!("timed by {} {versions}", timer_title(&program.timer));
    let subject = &program.environment.subject;
    let on = if subject.on_cpus.is_empty() { String::new() } else { format!(", on {}", cpus(&subject.on_cpus)) };
    let place = match subject.words.split_once(" · ") {
        Some((given, limits)) => format!("{given}{on} · {limits}"),
        None => format!("{}{on}", subject.words),
    };
    format!("{}; {}{step}; {place}", program.runs, timer.trim_end())
}

pub(crate) fn series_heading(series: &ProgramSeries) -> String {
    let timer = if series.timer == "tolok" { String::new() } else { format!("by {}", timer_title(&series.timer)) };
    let title = format!("{}, by {}", series.title, series.parameter);
    let parts = [title, series.fixed.clone(), series.environment.clone(), timer];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The times of a series, and those above the start if there are any.
fn of_series(series: &ProgramSeries, depth: Depth) -> Vec<Block> {
    let mut blocks = Vec::new();
    let crossovers = series.crossovers.iter().map(|crossover| Text::from(crossover.sentence.as_str()));
    let crossovers = Block::list(crossovers.collect());
    if depth == Depth::Page {
        let charts = [Time::Wall, Time::AboveFloor].into_iter().filter_map(|time| svg::series(series, time));
        let charts = charts.map(Chart::of).collect();
        blocks.extend(muted(
            "Median over the trials. Whisker: interval over the trials. Dashed and hollow: another variant of the same runtime. A time above the start is missing where the work cannot be separated from the start.",
        ));
        blocks.push(Block::Charts(charts));
    }
    let wall = |point: &SeriesPoint| {
        let mark = if point.ranked { "" } else { " (not ranked)" };
        point.wall_s.as_ref().map(|wall| format!("{}{mark}", amount(Quantity::Seconds, wall.value)))
    };
    let above = |point: &SeriesPoint| point.above_floor_s.as_ref().map(|above| amount(Quantity::Seconds, above.value));
    blocks.push(Block::Table(series_table(series, "Wall time", wall)));
    if series.lines.iter().flat_map(|line| &line.points).any(|point| point.above_floor_s.is_some()) {
        let title = "Above the start (a dash: not measured, or not separable from the start)";
        blocks.push(Block::Table(series_table(series, title, above)));
    }
    if let (Depth::Page, Some(_)) = (depth, &crossovers) {
        blocks.extend(muted("Where the order of two subjects reverses, between two values:"));
    }
    blocks.extend(crossovers);
    blocks
}

fn series_table(series: &ProgramSeries, title: &str, cell: fn(&SeriesPoint) -> Option<String>) -> Table {
    let column = |(place, value): (usize, &u32)| {
        Column::numbers(format!("{} = {}", series.parameter, count(u64::from(*value)))).priority(falling(place))
    };
    let columns = series.values.iter().enumerate().map(column);
    let rows = series.lines.iter().map(|line| {
        let of = |value: &u32| line.points.iter().find(|point| point.value == *value).and_then(cell);
        let mut row = named(&line.title, &line.runtime, false);
        row.cells.extend(series.values.iter().map(|value| words(of(value))));
        row
    });
    Table {
        caption: format!("{title}, {}", series_heading(series)),
        title: title.to_owned(),
        columns: std::iter::once(Column::words("subject")).chain(columns).collect(),
        rows: rows.collect(),
    }
}

/// The times by several timers, a line for each subject and timer.
fn of_timers(timers: &TimersFinding, depth: Depth) -> Vec<Block> {
    let title = timers_heading(timers);
    let row = |reading: &TimerReading| {
        let name = format!("{} · {}", reading.title, timer_title(&reading.timer));
        let mut row = named(&name, &reading.runtime, false);
        row.cells.extend([
            in_steps(&reading.wall_s, reading.resolution_s),
            words(reading.of_own.as_ref().map(|ratio| figure(Quantity::Ratio, ratio).line())),
            in_steps(&reading.mean_s, reading.resolution_s),
            in_steps(&reading.cpu_s, reading.resolution_s),
            words(reading.rss_bytes.as_ref().map(|rss| in_column(rss.value / MIB))),
            Cell::from(count(reading.runs.into())),
        ]);
        row
    };
    let columns = ["wall", "over tolok’s", "mean", "CPU", "MiB", "runs"].into_iter().enumerate();
    let columns = columns.map(|(place, heading)| Column::numbers(heading).priority(falling(place)));
    let table = Table {
        caption: format!("Medians over the trials, {title}"),
        title: "Medians over the trials".to_owned(),
        columns: std::iter::once(Column::words("subject")).chain(columns).collect(),
        rows: timers.readings.iter().map(row).collect(),
    };
    let heading = match depth {
        Depth::Page => Block::heading(3, title),
        _ => Block::heading(2, format!("Timers: {title}")),
    };
    let notes = Block::list(timers.notes.iter().map(|note| note.as_str().into()).collect());
    [heading, Block::Table(table)].into_iter().chain(notes).collect()
}

/// The heading of a comparison of timers.
fn timers_heading(timers: &TimersFinding) -> String {
    let parts = [timers.title.clone(), timers.environment.clone(), timers.runs.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// All runs of programs in the scored trials, in words.
pub(crate) fn runs_in_all(programs: &[ProgramFinding]) -> String {
    let cases = programs.iter().flat_map(|program| &program.cases);
    let (runs, floor) =
        cases.fold((0, 0), |(runs, floor), case| (runs + u64::from(case.runs), floor + u64::from(case.floor_runs)));
    format!("{} counted, {} without the work", counted(runs, "run"), count(floor))
}
