//! Programs that are timed, in words and tables that every format shares; a file for each format that needs more.

pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod markdown;
mod terminal;
pub(crate) mod trust;

use serde::Serialize;
use tolok_analysis::figures::{Figure, NONE, Quantity, amount, count, counted, figure, in_column};
use tolok_analysis::{
    Estimate, ProgramCaseFinding, ProgramFinding, ProgramSeries, SeriesPoint, TimerReading, TimersFinding, timer_title,
};

use crate::documents::run::judgement::TIER;
use crate::documents::run::notes::Notes;
use crate::documents::run::surroundings::cpus;
use crate::documents::run::table::MARKS;
use crate::palette::marker;

const MIB: f64 = 1024.0 * 1024.0;

/// What every figure of a program's table is.
pub(crate) const RULE: &str = "Of each trial the median over its runs, and of those the median over the trials with its \
     interval. Above the start: wall time less that of a run without the work; the start: that run's.";

/// The table of a scenario of programs.
pub(crate) struct Table<'a> {
    pub(crate) rows: Vec<Row<'a>>,
    /// Whether any of them was run without the work.
    pub(crate) has_floor: bool,
    pub(crate) notes: Notes,
}

/// One case in words. A figure that does not exist is a dash.
pub(crate) struct Row<'a> {
    pub(crate) case: &'a ProgramCaseFinding,
    pub(crate) wall: Figure,
    pub(crate) against_first: Figure,
    /// `=`, `≈` or `?`, or nothing where the difference is clear.
    pub(crate) mark: &'static str,
    /// Letters of its tiers.
    pub(crate) tier: String,
    pub(crate) above_floor: Figure,
    pub(crate) cpu: String,
    pub(crate) busy: String,
    pub(crate) memory_mib: String,
    pub(crate) floor: String,
    /// Runs in all, and outliers among them.
    pub(crate) runs: String,
    /// All single runs, from the fastest to the slowest.
    pub(crate) range: String,
    pub(crate) notes: Vec<usize>,
}

/// A table of words: of a series, or of several timers.
#[derive(Debug, Serialize)]
pub(crate) struct Grid {
    pub(crate) title: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<GridRow>,
}

/// A row in it.
#[derive(Debug, Serialize)]
pub(crate) struct GridRow {
    /// Its runtime's marker, as a drawing.
    marker: String,
    pub(crate) title: String,
    pub(crate) cells: Vec<String>,
}

impl<'a> Table<'a> {
    pub(crate) fn of(program: &'a ProgramFinding) -> Self {
        let notes = Notes::of_programs(program);
        let row = |(place, case): (usize, &'a ProgramCaseFinding)| {
            Row::of(case, place == 0, program.timer_resolution_s, notes.numbers_of_program(case))
        };
        Self {
            rows: program.cases.iter().enumerate().map(row).collect(),
            has_floor: program.cases.iter().any(|case| case.floor_s.is_some()),
            notes,
        }
    }

    /// Whether any case was compared with the first.
    pub(crate) fn is_compared(&self) -> bool {
        self.rows.iter().any(|row| row.case.against_first.is_some())
    }

    /// Meanings of the marks that occur, and of what the columns do not say.
    pub(crate) fn legend(&self) -> Vec<String> {
        let occurs = |mark: &str| self.rows.iter().any(|row| row.mark == mark);
        let marks = MARKS.iter().filter(|(mark, _)| occurs(mark));
        let mut legend: Vec<String> = marks.map(|(mark, verdict)| format!("{mark} {}", verdict.words())).collect();
        legend.push("vs first: wall time over that of the first".to_owned());
        legend.extend(self.is_compared().then(|| TIER.to_owned()));
        if self.rows.iter().any(|row| row.case.outliers > 0) {
            legend.push("runs + outliers among them".to_owned());
        }
        if self.rows.iter().any(|row| row.case.cpu_is_mean) {
            legend.push("CPU: mean over the runs".to_owned());
        }
        legend
    }
}

impl<'a> Row<'a> {
    fn of(case: &'a ProgramCaseFinding, is_first: bool, step_s: Option<f64>, notes: Vec<usize>) -> Self {
        let outliers = if case.outliers > 0 { format!(" + {}", count(case.outliers.into())) } else { String::new() };
        let against_first = match &case.of_first {
            Some(_) if is_first => Figure { value: "first".to_owned(), interval: None },
            Some(ratio) => figure(Quantity::Ratio, ratio),
            None => nothing(),
        };
        Self {
            case,
            wall: case.wall_s.as_ref().map_or_else(|| unmeasured(case), |wall| stepped(wall, step_s)),
            against_first,
            mark: MARKS.iter().find(|(_, verdict)| case.against_first == Some(*verdict)).map_or("", |(mark, _)| mark),
            tier: case.tier.clone().unwrap_or_else(|| NONE.to_owned()),
            above_floor: above_floor(case),
            cpu: in_steps(&case.cpu_s, step_s),
            busy: case.busy.as_ref().map_or(NONE.to_owned(), |busy| in_column(busy.value)),
            memory_mib: mib(&case.rss_bytes),
            floor: seconds(&case.floor_s),
            runs: format!("{}{outliers}", count(case.runs.into())),
            range: range(case, step_s),
            notes,
        }
    }
}

/// Why every trial failed, where that has one word.
pub(crate) fn unmeasured(case: &ProgramCaseFinding) -> Figure {
    let reason = case.failures.first().map(|failure| failure.reason.as_str()).filter(|_| case.trials_measured == 0);
    let is_only = |reason: &&str| case.failures.iter().all(|failure| failure.reason == *reason);
    Figure { value: reason.filter(is_only).unwrap_or(NONE).to_owned(), interval: None }
}

/// A time that cannot be told from the start is not given as a figure of the work.
fn above_floor(case: &ProgramCaseFinding) -> Figure {
    match &case.above_floor_s {
        Some(_) if case.is_at_floor => Figure { value: "at start".to_owned(), interval: None },
        Some(above) => figure(Quantity::Seconds, above),
        None => nothing(),
    }
}

fn nothing() -> Figure {
    Figure { value: NONE.to_owned(), interval: None }
}

fn seconds(estimate: &Option<Estimate>) -> String {
    estimate.as_ref().map_or(NONE.to_owned(), |estimate| amount(Quantity::Seconds, estimate.value))
}

/// What a timer with wide steps says: less than a step is not 0.
fn in_steps(estimate: &Option<Estimate>, step_s: Option<f64>) -> String {
    estimate.as_ref().and_then(|time| below_step(time.value, step_s)).unwrap_or_else(|| seconds(estimate))
}

/// The same with its interval.
fn stepped(estimate: &Estimate, step_s: Option<f64>) -> Figure {
    match below_step(estimate.value, step_s) {
        Some(value) => Figure { value, interval: None },
        None => figure(Quantity::Seconds, estimate),
    }
}

fn below_step(time_s: f64, step_s: Option<f64>) -> Option<String> {
    let step_s = step_s.filter(|step_s| time_s < *step_s)?;
    Some(format!("<{}", amount(Quantity::Seconds, step_s)))
}

fn mib(estimate: &Option<Estimate>) -> String {
    estimate.as_ref().map_or(NONE.to_owned(), |estimate| in_column(estimate.value / MIB))
}

/// The title of a scenario of programs, with its environment where the study has several, and its timer if that is not
/// tolok's own.
pub(crate) fn heading(program: &ProgramFinding) -> String {
    let mut parts = vec![program.title.clone(), program.environment.id.clone()];
    parts.push(if program.timer == "tolok" { String::new() } else { format!("by {}", timer_title(&program.timer)) });
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// How often it was run, what timed it, and what it might use.
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

/// The heading of a series.
pub(crate) fn series_heading(series: &ProgramSeries) -> String {
    let timer = if series.timer == "tolok" { String::new() } else { format!("by {}", timer_title(&series.timer)) };
    let title = format!("{}, by {}", series.title, series.parameter);
    let parts = [title, series.fixed.clone(), series.environment.clone(), timer];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The times of a series, and those above the start where there are any.
pub(crate) fn series_grids(series: &ProgramSeries) -> Vec<Grid> {
    let has_above = series.lines.iter().flat_map(|line| &line.points).any(|point| point.above_floor_s.is_some());
    let above = has_above.then(|| {
        series_grid(series, "Above the start (a dash: not measured, or not to be told from the start)", &|point| {
            point.above_floor_s.as_ref().map(|above| amount(Quantity::Seconds, above.value))
        })
    });
    let wall = |point: &SeriesPoint| {
        let mark = if point.ranked { "" } else { " (not ranked)" };
        point.wall_s.as_ref().map(|wall| format!("{}{mark}", amount(Quantity::Seconds, wall.value)))
    };
    [Some(series_grid(series, "Wall time", &wall)), above].into_iter().flatten().collect()
}

fn series_grid(series: &ProgramSeries, title: &str, cell: &dyn Fn(&SeriesPoint) -> Option<String>) -> Grid {
    let columns = series.values.iter().map(|value| format!("{} = {}", series.parameter, count(u64::from(*value))));
    let rows = series.lines.iter().map(|line| {
        let of = |value: &u32| line.points.iter().find(|point| point.value == *value).and_then(cell);
        GridRow {
            marker: marker(&line.runtime),
            title: line.title.clone(),
            cells: series.values.iter().map(|value| of(value).unwrap_or_else(|| NONE.to_owned())).collect(),
        }
    });
    Grid { title: title.to_owned(), columns: columns.collect(), rows: rows.collect() }
}

/// The heading of several timers beside each other.
pub(crate) fn timers_heading(timers: &TimersFinding) -> String {
    let parts = [timers.title.clone(), timers.environment.clone(), timers.runs.clone()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// What they say, a line for each subject and timer.
pub(crate) fn timers_grid(timers: &TimersFinding) -> Grid {
    let row = |reading: &TimerReading| GridRow {
        marker: marker(&reading.runtime),
        title: format!("{} · {}", reading.title, timer_title(&reading.timer)),
        cells: vec![
            in_steps(&reading.wall_s, reading.resolution_s),
            reading.of_own.as_ref().map_or(NONE.to_owned(), |ratio| figure(Quantity::Ratio, ratio).line()),
            in_steps(&reading.mean_s, reading.resolution_s),
            in_steps(&reading.cpu_s, reading.resolution_s),
            mib(&reading.rss_bytes),
            count(reading.runs.into()),
        ],
    };
    let columns = ["wall", "over tolok’s", "mean", "CPU", "MiB", "runs"].map(str::to_owned).to_vec();
    Grid { title: "Medians over the trials".to_owned(), columns, rows: timers.readings.iter().map(row).collect() }
}

/// The range of all single runs.
fn range(case: &ProgramCaseFinding, step_s: Option<f64>) -> String {
    let words = |run_s| below_step(run_s, step_s).unwrap_or_else(|| amount(Quantity::Seconds, run_s));
    match (case.fastest_run_s.map(words), case.slowest_run_s.map(words)) {
        (Some(fastest), Some(slowest)) if fastest.starts_with('<') && fastest == slowest => fastest,
        (Some(fastest), Some(slowest)) => format!("{fastest} to {slowest}"),
        _ => NONE.to_owned(),
    }
}

/// `6 of 6`
pub(crate) fn trials(case: &ProgramCaseFinding) -> String {
    format!("{} of {}", case.trials_scored, case.trials_planned)
}

/// All runs of programs in the scored trials, in words.
pub(crate) fn runs_in_all(programs: &[ProgramFinding]) -> String {
    let cases = programs.iter().flat_map(|program| &program.cases);
    let (runs, floor) =
        cases.fold((0, 0), |(runs, floor), case| (runs + u64::from(case.runs), floor + u64::from(case.floor_runs)));
    format!("{} that count, {} without the work", counted(runs, "run"), count(floor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_step_of_the_timer_is_not_nothing() {
        let said = |time_s: f64, step_s| {
            in_steps(&Some(Estimate { value: time_s, low: None, high: None, trials: vec![time_s] }), step_s)
        };
        assert_eq!(said(0.0, Some(0.01)), "<10.0\u{a0}ms");
        assert_eq!(said(0.01, Some(0.01)), "10.0\u{a0}ms");
        assert_eq!(said(0.0004, None), "400\u{a0}µs");
        assert_eq!(in_steps(&None, Some(0.01)), NONE);
    }
}
