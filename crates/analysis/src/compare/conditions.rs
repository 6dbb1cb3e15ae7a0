//! Conditions that affect the figures. If they differ, a difference between the runs may not come from the change under
//! comparison.
//!
//! | condition | differs when |
//! |---|---|
//! | CPU model, number of CPUs, virtualisation | the words or the number differ |
//! | memory of the machine | by more than 5% |
//! | control groups | only one run had them |
//! | network of the trials | the network between client and subject differs |
//! | scale | the plan was shortened or lengthened by another factor |
//! | what a scenario asks, limits, link, database, tool | any of its facts differs (`facts.rs`) |
//! | CPUs of the parts | the numbers differ |
//! | release series of the database | the first two parts of its version differ |
//! | bytes of a correct response | in every common case by more than 2% |
//!
//! A value that one of the runs does not record never counts as a difference. Versions of runtimes, tolok, the kernel and the
//! sources are not conditions: they are what is compared, or are listed.

use tolok_model::{MachineSummary, Outcome, TrialRecord};

use super::ComparedRun;
use super::facts::{Fact, UNKNOWN};
use super::findings::Difference;
use super::matching::Match;
use super::views::{CaseView, ScenarioView};
use crate::figures::{Quantity, amount};
use crate::findings::IsolationFinding;
use crate::observations::answers;

/// Machines whose memory differs by more than this share are different machines.
const MEMORY_TOLERATED: f64 = 0.05;
/// Correct responses whose length differs by more than this share are different responses. Responses from random rows differ by
/// less.
const ANSWER_TOLERATED: f64 = 0.02;

/// Both runs, and how their scenarios match.
pub(super) struct Both<'a> {
    pub(super) runs: [&'a ComparedRun<'a>; 2],
    pub(super) scenarios: [&'a [ScenarioView<'a>]; 2],
    pub(super) matches: &'a [Match],
}

impl<'a> Both<'a> {
    /// Each scenario of both runs, as a pair.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&'a ScenarioView<'a>, &'a ScenarioView<'a>)> {
        let [before, after] = self.scenarios;
        self.matches.iter().map(move |(a, b)| (&before[*a], &after[*b]))
    }
}

/// All differences of conditions, the machine first.
pub(super) fn conditions(both: &Both) -> Vec<Difference> {
    let mut found = machine(both);
    let mut of_scenarios: Vec<Difference> = Vec::new();
    for (before, after) in both.pairs() {
        let answers = answer_size(both, before, after);
        for difference in facts(before, after).into_iter().chain(answers) {
            add(&mut of_scenarios, difference);
        }
    }
    found.extend(of_scenarios);
    found
}

/// Merges a difference that several scenarios have in common.
pub(super) fn add(all: &mut Vec<Difference>, one: Difference) {
    let is_same =
        |other: &&mut Difference| (&other.what, &other.before, &other.after) == (&one.what, &one.before, &one.after);
    match all.iter_mut().find(is_same) {
        Some(known) => known.scenarios.extend(one.scenarios),
        None => all.push(one),
    }
}

/// A difference, if there is one and both sides are known.
pub(super) fn differs(what: &str, [before, after]: [String; 2]) -> Option<Difference> {
    let is_known = before != UNKNOWN && after != UNKNOWN;
    (is_known && before != after).then(|| Difference { what: what.to_owned(), scenarios: Vec::new(), before, after })
}

fn machine(both: &Both) -> Vec<Difference> {
    let of_machine = |words: &dyn Fn(&MachineSummary) -> String| both.runs.map(|run| words(&run.records.run.machine));
    let of_trials = |words: &dyn Fn(&IsolationFinding) -> String| both.runs.map(|run| words(&run.findings.isolation));
    let virtualisation =
        |machine: &MachineSummary| machine.virtualisation.clone().unwrap_or_else(|| "none seen".into());
    let has_groups = |isolation: &IsolationFinding| match isolation.groups.iter().any(|group| group != "none") {
        _ if isolation.trials == 0 => UNKNOWN.to_owned(),
        true => "yes".to_owned(),
        false => "no".to_owned(),
    };
    let found = [
        differs("CPU model", of_machine(&|machine| machine.cpu.clone())),
        differs("number of CPUs", of_machine(&|machine| machine.cpus.to_string())),
        differs("virtualisation", of_machine(&virtualisation)),
        memory(both.runs.map(|run| run.records.run.machine.memory_bytes)),
        differs("control groups", of_trials(&has_groups)),
        differs("scale", both.runs.map(|run| run.records.plan.scale.to_string())),
    ];
    found.into_iter().flatten().collect()
}

fn memory(bytes: [u64; 2]) -> Option<Difference> {
    let [before, after] = bytes.map(|bytes| bytes as f64);
    let is_other = (before - after).abs() > MEMORY_TOLERATED * before.max(after);
    differs("memory of the machine", bytes.map(|bytes| amount(Quantity::Bytes, bytes as f64))).filter(|_| is_other)
}

/// Scenarios of one kind have their facts in the same order.
fn facts(before: &ScenarioView, after: &ScenarioView) -> Vec<Difference> {
    let all = |view: &ScenarioView| view.facts.iter().chain(&view.got).cloned().collect::<Vec<Fact>>();
    let pairs = all(before).into_iter().zip(all(after));
    let difference = |(a, b): (Fact, Fact)| {
        let found = differs(a.what, [a.words, b.words])?;
        Some(Difference { scenarios: vec![before.id.to_owned()], ..found })
    };
    pairs.filter_map(difference).collect()
}

/// A longer response in a single case concerns only that subject. In all cases, it means another workload.
fn answer_size(both: &Both, before: &ScenarioView, after: &ScenarioView) -> Option<Difference> {
    let common = common(before, after);
    let sizes = common.iter().filter_map(|(a, b)| {
        Some([answer_bytes(both.runs[0].records.trials, a)?, answer_bytes(both.runs[1].records.trials, b)?])
    });
    let sizes: Vec<[f64; 2]> = sizes.collect();
    let is_other = |[a, b]: &[f64; 2]| (a - b).abs() > ANSWER_TOLERATED * a.max(*b);
    let shown = sizes.first().filter(|_| sizes.iter().all(is_other))?;
    let found = differs("bytes of a correct response", shown.map(|bytes| amount(Quantity::Bytes, bytes)))?;
    Some(Difference { scenarios: vec![before.id.to_owned()], ..found })
}

/// Cases of both runs, matched by subject.
pub(super) fn common<'a>(before: &ScenarioView<'a>, after: &ScenarioView<'a>) -> Vec<(CaseView<'a>, CaseView<'a>)> {
    let other = |case: &CaseView| after.cases.iter().find(|other| other.subject == case.subject).copied();
    before.cases.iter().filter_map(|case| Some((*case, other(case)?))).collect()
}

/// Mean bytes of a correct body over a case's trials, or `None` if no tool reports them.
fn answer_bytes(trials: &[TrialRecord], case: &CaseView) -> Option<f64> {
    let own = trials.iter().filter(|trial| trial.case == case.id);
    let measured = own.filter_map(|trial| match &trial.outcome {
        Outcome::Completed(measurement) => Some((measurement.body_bytes as f64, answers(measurement)?)),
        _ => None,
    });
    let (bytes, answers) = measured.fold((0.0, 0.0), |sum, (bytes, answers)| (sum.0 + bytes, sum.1 + answers));
    (bytes > 0.0 && answers > 0.0).then(|| bytes / answers)
}
