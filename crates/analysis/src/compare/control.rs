//! What the machine did between two runs, as far as a program shows it that is the same in both.
//!
//! The scatter within a run knows nothing of what lies between two runs: another kernel, a neighbour, a warm afternoon. The
//! ceiling is measured in every block like any subject. Where it is the same program in both runs, its own shift is the
//! machine's. That it is the same, its build says, which is named by its sources and its compiler.
//!
//! A control that scatters more than 10 % to either side shows nothing of a smaller shift, and is none; unless it shifted so
//! much that it shows even so.
//!
//! Only the ceiling is asked. A subject whose runtime has the same version in both runs is no control: its own sources, its
//! libraries or its settings may be what was changed.

use std::collections::BTreeMap;

use tolok_model::{Case, Plan};

use super::ComparedRun;
use super::changes::build_of;
use super::conditions::Both;
use super::findings::{ControlFinding, ControlShift};
use super::judging::ratio;
use super::metric::{ComparedMetric, ScenarioKind};
use super::views::{CaseView, ScenarioView};
use crate::observations::Observations;
use crate::verdict::EQUIVALENCE_HALF_WIDTH;

/// The control of a scenario: what is said of it, and its case in each run.
pub(super) struct Control<'a> {
    pub(super) finding: ControlFinding,
    cases: [CaseView<'a>; 2],
}

/// The control of a scenario with its shifts, or why there is none.
pub(super) fn control<'a>(
    both: &Both,
    (before, after): (&ScenarioView<'a>, &ScenarioView<'a>),
    metrics: &[ComparedMetric],
    threshold: f64,
) -> Result<Control<'a>, String> {
    let (a, b) = match (before.ceiling, after.ceiling) {
        (Some(a), Some(b)) => (a, b),
        (None, None) if before.kind == ScenarioKind::Program => return Err("programs have no ceiling".to_owned()),
        (None, None) => return Err("neither run has a ceiling in it".to_owned()),
        _ => return Err("one of the runs has no ceiling in it".to_owned()),
    };
    is_the_same(both, &a, &b)?;
    let shifts: Vec<ControlShift> =
        metrics.iter().filter_map(|metric| shift(*metric, (before, after), (&a, &b), threshold)).collect();
    if shifts.iter().all(|shift| !shift.is_usable) {
        return Err("the ceiling has too few trials, or scatters too much, to show a shift".to_owned());
    }
    let finding = ControlFinding { subject: a.subject.to_owned(), title: a.title.to_owned(), shifts };
    Ok(Control { finding, cases: [a, b] })
}

impl Control<'_> {
    /// The shift of a figure, if the control shows it.
    pub(super) fn shift(&self, metric: ComparedMetric) -> Option<&ControlShift> {
        self.finding.shifts.iter().find(|shift| shift.metric == metric && shift.is_usable)
    }

    /// A figure of a case over the control's, in each block of a run that has both.
    pub(super) fn beside(&self, both: &Both, run: usize, case: &CaseView, metric: ComparedMetric) -> Vec<f64> {
        let of = |case: &CaseView| by_block(both.runs[run], case, metric);
        let (own, control) = (of(case), of(&self.cases[run]));
        own.iter().filter_map(|(block, value)| Some(value / control.get(block)?)).collect()
    }
}

/// A figure of a case by block. A figure is there for every scored trial or for none, in the order of the blocks.
fn by_block(run: &ComparedRun, case: &CaseView, metric: ComparedMetric) -> BTreeMap<u32, f64> {
    let observations = Observations::of(case.id, run.records.plan, run.records.trials);
    let blocks = observations.scored.iter().map(|(block, _)| *block);
    blocks.zip(case.figure(metric).into_iter().flat_map(|estimate| estimate.trials.iter().copied())).collect()
}

/// Whether the two are one program that ran as it should; the error says why they are not.
fn is_the_same(both: &Both, a: &CaseView, b: &CaseView) -> Result<(), String> {
    if a.subject != b.subject {
        return Err(format!("the ceiling was {} and is {}", a.subject, b.subject));
    }
    let plans = both.runs.map(|run| run.records.plan);
    let case = |plan: &'_ Plan, id: &str| plan.case(id).cloned();
    let (Some(case_a), Some(case_b)) = (case(plans[0], a.id), case(plans[1], b.id)) else {
        return Err("the ceiling is in no plan".to_owned());
    };
    let build = |run: usize, case: &Case| build_of(both.runs[run].records.trials, plans[run], case);
    match (build(0, &case_a), build(1, &case_b)) {
        _ if case_a.subject.parameters != case_b.subject.parameters => {
            Err("the ceiling has other parameters".to_owned())
        }
        (Some(before), Some(after)) if before == after => Ok(()),
        (Some(_), Some(_)) => Err("the ceiling was built anew from other sources or by another compiler".to_owned()),
        _ => Err("the records do not say whether the ceiling is the same program".to_owned()),
    }
}

fn shift(
    metric: ComparedMetric,
    (before, after): (&ScenarioView, &ScenarioView),
    (a, b): (&CaseView, &CaseView),
    threshold: f64,
) -> Option<ControlShift> {
    if metric == ComparedMetric::Memory && before.memory_source != after.memory_source {
        return None;
    }
    let ratio = ratio(&a.figure(metric)?.trials, &b.figure(metric)?.trials)?;
    let size = ratio.size();
    let is_narrow = ratio.half_width().is_some_and(|half_width| half_width <= EQUIVALENCE_HALF_WIDTH);
    let (is_relevant, is_usable) = (ratio.is_told() && size >= threshold, ratio.is_told() || is_narrow);
    Some(ControlShift { metric, ratio, size, is_relevant, is_usable })
}
