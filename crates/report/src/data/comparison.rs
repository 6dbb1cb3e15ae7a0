//! A comparison: one row per figure of a case. A case that only one side has gets a row without figures.

use tolok_analysis::{Better, Change, ChangeRatio, ComparedSide, Estimate, RunComparison, UnmatchedCase};

use super::{csv, number};
use crate::documents::{Line, lines};

/// The subject of a row.
struct Of<'a> {
    found: &'a RunComparison,
    line: Line<'a>,
}

/// A column: its name, and its field in a row.
type Column = (&'static str, fn(&Of) -> String);

const COLUMNS: [Column; 39] = [
    ("run_before", |of| ids(&of.found.before)),
    ("run_after", |of| ids(&of.found.after)),
    ("scenario", |of| of.line.scenario.id.clone()),
    ("scenario_after", |of| of.line.scenario.id_after.clone()),
    ("kind", |of| of.line.scenario.kind.word().to_owned()),
    ("load", |of| of.line.scenario.load.clone()),
    ("tool", |of| of.line.scenario.tool.clone()),
    ("environment", |of| of.line.scenario.environment.clone()),
    ("subject", |of| of.line.case.subject.clone()),
    ("title", |of| of.line.case.title.clone()),
    ("runtime", |of| of.line.case.runtime.clone()),
    ("metric", |of| of.line.figure.metric.word().to_owned()),
    ("unit", |of| of.line.figure.unit.to_owned()),
    ("better", |of| if of.line.figure.better == Better::Higher { "higher" } else { "lower" }.to_owned()),
    ("main", |of| of.line.figure.is_main.to_string()),
    ("before", |of| value(of.line.figure.before.as_ref())),
    ("before_low", |of| number(of.line.figure.before.as_ref().and_then(|it| it.low))),
    ("before_high", |of| number(of.line.figure.before.as_ref().and_then(|it| it.high))),
    ("before_trials", |of| trials(of.line.figure.before.as_ref())),
    ("after", |of| value(of.line.figure.after.as_ref())),
    ("after_low", |of| number(of.line.figure.after.as_ref().and_then(|it| it.low))),
    ("after_high", |of| number(of.line.figure.after.as_ref().and_then(|it| it.high))),
    ("after_trials", |of| trials(of.line.figure.after.as_ref())),
    ("ratio", |of| number(of.line.figure.ratio.map(|it| it.value))),
    ("ratio_low", |of| number(of.line.figure.ratio.and_then(|it| it.low))),
    ("ratio_high", |of| number(of.line.figure.ratio.and_then(|it| it.high))),
    ("between_runs", |of| number(of.line.figure.between_runs)),
    ("p_adjusted", |of| number(of.line.figure.p_adjusted)),
    ("p_equivalence_adjusted", |of| number(of.line.figure.p_equivalence_adjusted)),
    ("verdict", |of| of.line.figure.verdict.map(Change::words).unwrap_or_default().to_owned()),
    ("reason", |of| of.line.reason().unwrap_or_default().to_owned()),
    ("threshold", |of| of.found.threshold.to_string()),
    ("machine_shift", |of| number(shift(of).map(|it| it.value))),
    ("machine_shift_low", |of| number(shift(of).and_then(|it| it.low))),
    ("machine_shift_high", |of| number(shift(of).and_then(|it| it.high))),
    ("beside_control", |of| number(of.line.figure.beside_control.map(|it| it.value))),
    ("beside_control_low", |of| number(of.line.figure.beside_control.and_then(|it| it.low))),
    ("beside_control_high", |of| number(of.line.figure.beside_control.and_then(|it| it.high))),
    ("p_beside_control_adjusted", |of| number(of.line.figure.p_beside_control_adjusted)),
];

pub fn comparison(found: &RunComparison) -> String {
    let row = |line| COLUMNS.map(|(_, field)| field(&Of { found, line }));
    let before = found.only_before.iter().map(|case| lonely(found, case, "of the run before; not in every run"));
    let after = found.only_after.iter().map(|case| lonely(found, case, "of the run after; not in every run"));
    let heading = COLUMNS.map(|(name, _)| name.to_owned());
    csv(std::iter::once(heading).chain(lines(found, true).into_iter().map(row)).chain(before).chain(after))
}

/// The names of the runs of one side, separated by spaces, which no name contains.
fn ids(runs: &[ComparedSide]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<&str>>().join(" ")
}

fn value(estimate: Option<&Estimate>) -> String {
    number(estimate.map(|it| it.value))
}

fn trials(estimate: Option<&Estimate>) -> String {
    estimate.map(|it| it.trials.len().to_string()).unwrap_or_default()
}

/// How far the machine itself shifted in the metric of a row.
fn shift(of: &Of) -> Option<ChangeRatio> {
    let shifts = of.line.scenario.control.iter().flat_map(|control| &control.shifts);
    shifts.into_iter().find(|shift| shift.metric == of.line.figure.metric).map(|shift| shift.ratio)
}

/// The row of a case without a counterpart.
fn lonely(found: &RunComparison, case: &UnmatchedCase, reason: &str) -> [String; 39] {
    COLUMNS.map(|(column, _)| match column {
        "run_before" => ids(&found.before),
        "run_after" => ids(&found.after),
        "scenario" => case.scenario.clone(),
        "subject" => case.subject.clone(),
        "title" => case.title.clone(),
        "reason" => reason.to_owned(),
        _ => String::new(),
    })
}
