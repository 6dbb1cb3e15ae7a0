//! The effect of the machine between the runs, shown by a program that is the same in both.
//!
//! The scatter within a run does not include what differs between two runs: another kernel, a neighbour, a warm afternoon. Every
//! block measures the ceiling like any subject. If the ceiling is the same program in all runs, its shift is the machine's. Its
//! build, identified by sources and compiler, shows that it is the same.
//!
//! A control that scatters more than 10% to either side cannot show a smaller shift. It is unusable unless its shift is larger.
//!
//! Only the ceiling is a control. A subject whose runtime has the same version in all runs is not: its sources, libraries or
//! settings may be what changed.

use std::collections::BTreeMap;

use super::ComparedRun;
use super::changes::build_of;
use super::findings::{ControlFinding, ControlShift};
use super::measuring::{Runs, ratio};
use super::metric::{ComparedMetric, ScenarioKind};
use super::sides::{BeforeAfter, Scene, Sides};
use super::views::{CaseView, ScenarioView};
use crate::observations::Observations;
use crate::verdict::EQUIVALENCE_HALF_WIDTH;

/// The control of a scenario: its finding, and its case in each run.
pub(super) struct Control<'a> {
    pub(super) finding: ControlFinding,
    cases: BeforeAfter<CaseView<'a>>,
}

/// The control of a scenario with its shifts, or why there is none.
pub(super) fn control<'a>(
    sides: &Sides<'a>,
    scene: &Scene<'a>,
    metrics: &[ComparedMetric],
    threshold: f64,
) -> Result<Control<'a>, String> {
    let of =
        |views: &Vec<&'a ScenarioView<'a>>| views.iter().filter_map(|view| view.ceiling).collect::<Vec<CaseView>>();
    let cases = scene.views.each_ref().map(of);
    if cases.iter().all(Vec::is_empty) && scene.first().0.kind == ScenarioKind::Program {
        return Err("programs have no ceiling".to_owned());
    }
    match cases.iter().flatten().count() {
        0 => return Err("no run has a ceiling in it".to_owned()),
        count if count < scene.all().count() => return Err("one of the runs has no ceiling in it".to_owned()),
        _ => {}
    }
    are_the_same(sides, &cases)?;
    let shifts: Vec<ControlShift> =
        metrics.iter().filter_map(|metric| shift(*metric, scene, &cases, threshold)).collect();
    if shifts.iter().all(|shift| !shift.is_usable) {
        return Err("the ceiling has too few trials, or scatters too much, to show a shift".to_owned());
    }
    let first = &cases[0][0];
    let finding = ControlFinding { subject: first.subject.to_owned(), title: first.title.to_owned(), shifts };
    Ok(Control { finding, cases })
}

impl Control<'_> {
    pub(super) fn shift(&self, metric: ComparedMetric) -> Option<&ControlShift> {
        self.finding.shifts.iter().find(|shift| shift.metric == metric && shift.is_usable)
    }

    /// A figure of a case over the control's, in each block of each run that has both.
    pub(super) fn beside(
        &self,
        sides: &Sides,
        own: &BeforeAfter<CaseView>,
        metric: ComparedMetric,
    ) -> BeforeAfter<Vec<f64>> {
        let of_run = |side: usize, place: usize| {
            let of = |case: &CaseView| by_block(&sides.runs[side][place], case, metric);
            let (own, control) = (of(&own[side][place]), of(&self.cases[side][place]));
            own.iter().filter_map(|(block, value)| Some(value / control.get(block)?)).collect()
        };
        [0, 1].map(|side| (0..own[side].len()).map(|place| of_run(side, place)).collect())
    }
}

/// A figure of a case by block. Either every scored trial has the figure or none, in the order of the blocks.
fn by_block(run: &ComparedRun, case: &CaseView, metric: ComparedMetric) -> BTreeMap<u32, f64> {
    let observations = Observations::of(case.id, run.records.plan, run.records.trials);
    let blocks = observations.scored.iter().map(|(block, _)| *block);
    blocks.zip(case.figure(metric).into_iter().flat_map(|estimate| estimate.trials.iter().copied())).collect()
}

/// Checks that all cases are one program that ran properly. The error says why not.
fn are_the_same(sides: &Sides, cases: &BeforeAfter<CaseView>) -> Result<(), String> {
    let places = (0..2).flat_map(|side| (0..cases[side].len()).map(move |place| (side, place)));
    let all: Vec<(&ComparedRun, &CaseView)> =
        places.map(|(side, place)| (&sides.runs[side][place], &cases[side][place])).collect();
    all[1..].iter().try_for_each(|other| is_the_same(all[0], *other))
}

fn is_the_same((run_a, a): (&ComparedRun, &CaseView), (run_b, b): (&ComparedRun, &CaseView)) -> Result<(), String> {
    if a.subject != b.subject {
        return Err(format!("the ceiling was {} and is {}", a.subject, b.subject));
    }
    let (Some(case_a), Some(case_b)) = (run_a.records.plan.case(a.id), run_b.records.plan.case(b.id)) else {
        return Err("the ceiling is in no plan".to_owned());
    };
    let builds =
        [(run_a, case_a), (run_b, case_b)].map(|(run, case)| build_of(run.records.trials, run.records.plan, case));
    match builds {
        _ if case_a.subject.parameters != case_b.subject.parameters => {
            Err("the ceiling has other parameters".to_owned())
        }
        [Some(before), Some(after)] if before == after => Ok(()),
        [Some(_), Some(_)] => Err("the ceiling was rebuilt from other sources or by another compiler".to_owned()),
        _ => Err("the records do not say whether the ceiling is the same program".to_owned()),
    }
}

fn shift(metric: ComparedMetric, scene: &Scene, cases: &BeforeAfter<CaseView>, threshold: f64) -> Option<ControlShift> {
    let source = scene.first().0.memory_source;
    if metric == ComparedMetric::Memory && scene.all().any(|view| view.memory_source != source) {
        return None;
    }
    let ratio = ratio(&trials(metric, cases)?)?;
    let size = ratio.size();
    let is_narrow = ratio.half_width().is_some_and(|half_width| half_width <= EQUIVALENCE_HALF_WIDTH);
    let (is_relevant, is_usable) = (ratio.is_told() && size >= threshold, ratio.is_told() || is_narrow);
    Some(ControlShift { metric, ratio, size, is_relevant, is_usable })
}

/// The trials of a figure in every run, if every run has it.
pub(super) fn trials<'a>(metric: ComparedMetric, cases: &BeforeAfter<CaseView<'a>>) -> Option<Runs<'a>> {
    let of = |case: &CaseView<'a>| case.figure(metric).map(|estimate| estimate.trials.as_slice());
    let side = |side: usize| cases[side].iter().map(of).collect::<Option<Vec<&[f64]>>>();
    Some([side(0)?, side(1)?])
}
