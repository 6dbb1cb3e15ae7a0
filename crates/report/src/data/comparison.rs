//! A comparison: one row a figure of a case. A case that only one of the runs has gets a row without a figure.

use tolok_analysis::{Better, Change, Estimate, RunComparison, UnmatchedCase};

use super::{csv, number};
use crate::documents::{Line, lines};

const COLUMNS: [&str; 38] = [
    "run_before",
    "run_after",
    "scenario",
    "scenario_after",
    "kind",
    "load",
    "tool",
    "environment",
    "subject",
    "title",
    "runtime",
    "metric",
    "unit",
    "better",
    "main",
    "before",
    "before_low",
    "before_high",
    "before_trials",
    "after",
    "after_low",
    "after_high",
    "after_trials",
    "ratio",
    "ratio_low",
    "ratio_high",
    "p_adjusted",
    "p_equivalence_adjusted",
    "verdict",
    "reason",
    "threshold",
    "machine_shift",
    "machine_shift_low",
    "machine_shift_high",
    "beside_control",
    "beside_control_low",
    "beside_control_high",
    "p_beside_control_adjusted",
];

/// The comparison as CSV.
pub fn comparison(found: &RunComparison) -> String {
    let figures = lines(found, true).into_iter().map(|line| fields(found, &line)).collect::<Vec<_>>();
    let before = found.only_before.iter().map(|case| lonely(found, case, "only in the run before"));
    let after = found.only_after.iter().map(|case| lonely(found, case, "only in the run after"));
    let heading = COLUMNS.map(str::to_owned).to_vec();
    csv(std::iter::once(heading).chain(figures).chain(before).chain(after))
}

fn fields(found: &RunComparison, line: &Line) -> Vec<String> {
    let Line { scenario, case, figure } = line;
    let shifts = scenario.control.iter().flat_map(|control| &control.shifts);
    let shift = shifts.into_iter().find(|shift| shift.metric == figure.metric).map(|shift| shift.ratio);
    let texts = [
        found.before.id.clone(),
        found.after.id.clone(),
        scenario.id.clone(),
        scenario.id_after.clone(),
        scenario.kind.word().to_owned(),
        scenario.load.clone(),
        scenario.tool.clone(),
        scenario.environment.clone(),
        case.subject.clone(),
        case.title.clone(),
        case.runtime.clone(),
        figure.metric.word().to_owned(),
        figure.unit.to_owned(),
        if figure.better == Better::Higher { "higher" } else { "lower" }.to_owned(),
        figure.is_main.to_string(),
    ];
    let ratio = figure.ratio;
    let beside = figure.beside_control;
    let judged = [
        number(ratio.map(|ratio| ratio.value)),
        number(ratio.and_then(|ratio| ratio.low)),
        number(ratio.and_then(|ratio| ratio.high)),
        number(figure.p_adjusted),
        number(figure.p_equivalence_adjusted),
        figure.verdict.map(Change::words).unwrap_or_default().to_owned(),
        line.reason().unwrap_or_default().to_owned(),
        found.threshold.to_string(),
        number(shift.map(|shift| shift.value)),
        number(shift.and_then(|shift| shift.low)),
        number(shift.and_then(|shift| shift.high)),
        number(beside.map(|beside| beside.value)),
        number(beside.and_then(|beside| beside.low)),
        number(beside.and_then(|beside| beside.high)),
        number(figure.p_beside_control_adjusted),
    ];
    let medians = estimate(figure.before.as_ref()).into_iter().chain(estimate(figure.after.as_ref()));
    texts.into_iter().chain(medians).chain(judged).collect()
}

fn estimate(estimate: Option<&Estimate>) -> [String; 4] {
    let trials = estimate.map(|it| it.trials.len().to_string()).unwrap_or_default();
    let of = |part: &dyn Fn(&Estimate) -> Option<f64>| number(estimate.and_then(part));
    [of(&|it| Some(it.value)), of(&|it| it.low), of(&|it| it.high), trials]
}

/// A line of what can be said of a case without a counterpart.
fn lonely(found: &RunComparison, case: &UnmatchedCase, reason: &str) -> Vec<String> {
    let known = |column: &&str| match *column {
        "run_before" => found.before.id.clone(),
        "run_after" => found.after.id.clone(),
        "scenario" => case.scenario.clone(),
        "subject" => case.subject.clone(),
        "title" => case.title.clone(),
        "reason" => reason.to_owned(),
        _ => String::new(),
    };
    COLUMNS.iter().map(known).collect()
}
