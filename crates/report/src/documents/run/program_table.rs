//! The table of a scenario of programs.

use tolok_analysis::figures::{Figure, NONE, Quantity, amount, count, figure, in_column};
use tolok_analysis::{Estimate, ProgramCaseFinding, ProgramFinding};

use super::columns::{Of, cell, of_rows};
use super::judgement::TIER;
use super::notes::Notes;
use super::table::{against_first, marks, noted};
use crate::document::{Block, Cell, Column, Depth, Table};
use crate::wording::why_unmeasured;

const MIB: f64 = 1024.0 * 1024.0;
/// Priority of columns that a narrow terminal drops.
const COSTS: u8 = 1;

/// One case, the step of its timer, and whether others are compared with it.
struct Case<'a> {
    of: &'a ProgramCaseFinding,
    step_s: Option<f64>,
    is_first: bool,
}

/// The table of a scenario, with the numbers of notes if there are any.
pub(crate) fn table(program: &ProgramFinding, notes: Option<&Notes>, depth: Depth) -> Table {
    let rows = program.cases.iter().enumerate().map(|(place, case)| {
        let of = Case { of: case, step_s: program.timer_resolution_s, is_first: place == 0 };
        (noted(case, false, notes), of)
    });
    of_rows(format!("Times of {}", program.id), columns(program, notes.is_some(), depth), rows)
}

fn columns<'a>(program: &ProgramFinding, is_whole: bool, depth: Depth) -> Vec<Of<Case<'a>>> {
    let is_short = depth == Depth::Short;
    let has_floor = program.cases.iter().any(|case| case.floor_s.is_some());
    let mut columns: Vec<Of<Case>> = vec![(Column::numbers("wall"), wall)];
    columns.push((Column::numbers("vs first"), |case| {
        against_first(case.of.of_first.as_ref(), case.is_first, case.of.against_first)
    }));
    if is_compared(program) {
        columns.push((Column::numbers("tier"), |case| words(case.of.tier.clone())));
    }
    if has_floor {
        columns.push((Column::numbers(if is_short { "above start" } else { "above the start" }), above_floor));
    }
    columns.push((Column::numbers("CPU").priority(COSTS), |case| in_steps(&case.of.cpu_s, case.step_s)));
    if !is_short {
        columns.push((Column::numbers("CPUs used"), |case| {
            words(case.of.busy.as_ref().map(|busy| in_column(busy.value)))
        }));
    }
    columns.push((Column::numbers(if is_short { "MiB" } else { "max RSS, MiB" }).priority(COSTS), |case| {
        words(case.of.rss_bytes.as_ref().map(|rss| in_column(rss.value / MIB)))
    }));
    if has_floor && (is_whole || is_short) {
        columns.push((Column::numbers("start").priority(COSTS), |case| words(seconds(&case.of.floor_s))));
    }
    if is_whole || is_short {
        columns.push((Column::numbers("runs"), runs));
    }
    if is_whole && !is_short {
        columns.push((Column::numbers("fastest to slowest run"), range));
        columns.push((Column::numbers("trials"), |case| {
            format!("{} of {}", case.of.trials_scored, case.of.trials_planned).into()
        }));
    }
    columns
}

fn is_compared(program: &ProgramFinding) -> bool {
    program.cases.iter().any(|case| case.against_first.is_some())
}

/// Meanings of the marks that occur, and of unclear columns.
pub(crate) fn legend(program: &ProgramFinding) -> Block {
    let mut legend = marks(program.cases.iter().map(|case| case.against_first));
    legend.push("vs first: wall time over that of the first".to_owned());
    legend.extend(is_compared(program).then(|| TIER.to_owned()));
    if program.cases.iter().any(|case| case.outliers > 0) {
        legend.push("runs + outliers among them".to_owned());
    }
    if program.cases.iter().any(|case| case.cpu_is_mean) {
        legend.push("CPU: mean over the runs".to_owned());
    }
    Block::Legend(legend)
}

/// Why every trial failed, if there is a single word for it.
pub(crate) fn unmeasured(case: &ProgramCaseFinding) -> Figure {
    Figure { value: why_unmeasured(case).to_owned(), interval: None }
}

fn wall(case: &Case) -> Cell {
    let Some(wall) = case.of.shown_wall_s() else { return cell(unmeasured(case.of)) };
    below_step(wall.value, case.step_s).map_or_else(|| cell(figure(Quantity::Seconds, wall)), Cell::from)
}

/// A time too close to the start is not shown as a figure of the work.
fn above_floor(case: &Case) -> Cell {
    match &case.of.above_floor_s {
        Some(_) if case.of.is_at_floor => "at start".into(),
        Some(above) => cell(figure(Quantity::Seconds, above)),
        None => NONE.into(),
    }
}

/// All runs, and the outliers among them.
fn runs(case: &Case) -> Cell {
    let outliers = case.of.outliers;
    let outliers = if outliers > 0 { format!(" + {}", count(outliers.into())) } else { String::new() };
    format!("{}{outliers}", count(case.of.runs.into())).into()
}

/// The range of all single runs.
fn range(case: &Case) -> Cell {
    let said = |run_s| below_step(run_s, case.step_s).unwrap_or_else(|| amount(Quantity::Seconds, run_s));
    match (case.of.fastest_run_s.map(said), case.of.slowest_run_s.map(said)) {
        (Some(fastest), Some(slowest)) if fastest.starts_with('<') && fastest == slowest => fastest.into(),
        (Some(fastest), Some(slowest)) => format!("{fastest} to {slowest}").into(),
        _ => NONE.into(),
    }
}

fn seconds(estimate: &Option<Estimate>) -> Option<String> {
    estimate.as_ref().map(|estimate| amount(Quantity::Seconds, estimate.value))
}

/// A time without its interval. A time below the timer's step is shown as less than a step.
pub(crate) fn in_steps(estimate: &Option<Estimate>, step_s: Option<f64>) -> Cell {
    words(time_in_steps(estimate.as_ref(), step_s))
}

/// The words of [`in_steps`].
pub(super) fn time_in_steps(estimate: Option<&Estimate>, step_s: Option<f64>) -> Option<String> {
    let time_s = estimate?.value;
    Some(below_step(time_s, step_s).unwrap_or_else(|| amount(Quantity::Seconds, time_s)))
}

fn below_step(time_s: f64, step_s: Option<f64>) -> Option<String> {
    let step_s = step_s.filter(|step_s| time_s < *step_s)?;
    Some(format!("<{}", amount(Quantity::Seconds, step_s)))
}

/// Words, or a dash for `None`.
pub(crate) fn words(words: Option<String>) -> Cell {
    words.unwrap_or_else(|| NONE.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_a_step_of_the_timer_is_not_nothing() {
        let said = |time_s: f64, step_s| {
            in_steps(&Some(Estimate { value: time_s, low: None, high: None, trials: vec![time_s] }), step_s)
                .text
                .plain()
        };
        assert_eq!(said(0.0, Some(0.01)), "<10.0\u{a0}ms");
        assert_eq!(said(0.01, Some(0.01)), "10.0\u{a0}ms");
        assert_eq!(said(0.0004, None), "400\u{a0}µs");
        assert_eq!(in_steps(&None, Some(0.01)).text.plain(), NONE);
    }
}
