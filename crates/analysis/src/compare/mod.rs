//! Runs before and runs after: what became better or worse, and what the runs cannot decide.
//!
//! [`compare_runs`] takes the records and findings of the runs. It returns the comparison, or the reason why they cannot be
//! compared. Each file has one task: `views.rs` unifies servers and programs, `facts.rs` has the facts of a scenario,
//! `matching.rs` matches scenarios, and `sides.rs` has what all runs share. `conditions.rs` has what must not differ, and
//! `changes.rs` what else differs. `control.rs` has the effect of the machine, `judging.rs` the rule and `measuring.rs` its
//! statistics. `cases.rs` applies the rule, and `conclusion.rs` words the outcome.

mod cases;
mod changes;
mod conclusion;
mod conditions;
mod control;
mod facts;
mod findings;
mod history;
mod judging;
mod matching;
mod measuring;
mod metric;
mod sides;
mod views;

pub use findings::{
    COMPARE_SCHEMA, CaseChange, Change, ChangeRatio, CompareOutcome, ComparedSide, ControlFinding, ControlShift,
    Difference, FigureChange, RunComparison, ScenarioChange, Tally, UnmatchedCase,
};
pub use history::{
    FEWEST_RUNS, FigureSeries, HISTORY_SCHEMA, HistoryPoint, LeftOutRun, LevelChange, RunHistory, history,
};
pub use metric::{ComparedMetric, ScenarioKind};

use crate::findings::Findings;
use crate::records::Records;
use crate::run_facts::machine_line;
use sides::Sides;

/// A run to compare: its records and its findings.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    pub records: &'a Records<'a>,
    /// The result of [`crate::analyse`] for it.
    pub findings: &'a Findings,
}

/// The options of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareRequest {
    /// The figures to judge by; empty for the usual ones of each kind of scenario.
    pub metrics: Vec<ComparedMetric>,
    /// Differences smaller than this fraction do not matter, or `None` for the largest one among the studies.
    pub threshold: Option<f64>,
    /// Whether to continue if the conditions differ.
    pub allow_differences: bool,
}

/// Why runs are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareRefusal {
    /// A run is given twice.
    SameRun {
        id: String,
    },
    /// One run on a side and several on the other: nothing shows how runs of the single side vary.
    TooFewRuns,
    /// They have no case in common.
    NothingInCommon {
        /// The cases of the first run before.
        before: Vec<UnmatchedCase>,
        /// The cases of the first run after.
        after: Vec<UnmatchedCase>,
    },
    /// No scenario has any of the requested figures.
    NoSuchFigure,
    Conditions(Vec<Difference>),
}

/// Compares runs, or returns all reasons of one kind why they cannot be compared. One run on each side is a pair; otherwise each
/// side needs two or more runs.
///
/// This is a pure function without random numbers: the same records give the same comparison.
pub fn compare_runs(
    before: &[ComparedRun],
    after: &[ComparedRun],
    request: &CompareRequest,
) -> Result<RunComparison, CompareRefusal> {
    is_possible(before, after)?;
    let runs = [before, after];
    let views = runs.map(|runs| runs.iter().map(views::scenarios).collect::<Vec<_>>());
    let sides = Sides::new(runs, &views);
    let [only_before, only_after] = sides.unmatched();
    if sides.scenes.iter().all(|scene| scene.cases().is_empty()) {
        return Err(CompareRefusal::NothingInCommon { before: only_before, after: only_after });
    }
    let kinds = sides.scenes.iter().map(|scene| scene.first().0.kind);
    if kinds.into_iter().all(|kind| ComparedMetric::of(kind, &request.metrics).is_empty()) {
        return Err(CompareRefusal::NoSuchFigure);
    }
    let conditions = conditions(&sides);
    if !conditions.is_empty() && !request.allow_differences {
        return Err(CompareRefusal::Conditions(conditions));
    }
    let effects = runs.into_iter().flatten().map(|run| run.records.plan.smallest_effect);
    let threshold = request.threshold.unwrap_or(effects.fold(0.0, f64::max));
    let scenarios = cases::scenarios(&sides, &request.metrics, threshold);
    let mut found = RunComparison {
        schema_version: COMPARE_SCHEMA,
        outcome: CompareOutcome::NoRegression,
        sentence: String::new(),
        threshold,
        tally: conclusion::tally(&scenarios),
        before: before.iter().map(side).collect(),
        after: after.iter().map(side).collect(),
        changes: sides.first_pair().map(|both| changes::changes(&both)).unwrap_or_default(),
        conditions,
        scenarios,
        only_before,
        only_after,
        cautions: Vec::new(),
    };
    found.outcome = conclusion::outcome(&sides, &found);
    found.sentence = conclusion::sentence(&sides, &found);
    found.cautions = conclusion::cautions(&sides, &found);
    Ok(found)
}

/// Checks that there are enough runs and that no run appears twice.
fn is_possible(before: &[ComparedRun], after: &[ComparedRun]) -> Result<(), CompareRefusal> {
    let all: Vec<&ComparedRun> = before.iter().chain(after).collect();
    let is_same = |one: &ComparedRun, other: &ComparedRun| {
        one.records.run.id == other.records.run.id && one.records.run == other.records.run
    };
    for (place, run) in all.iter().enumerate() {
        if all[..place].iter().any(|other| is_same(run, other)) {
            return Err(CompareRefusal::SameRun { id: run.records.run.id.clone() });
        }
    }
    match (before.len(), after.len()) {
        (1, 1) => Ok(()),
        (before, after) if before.min(after) >= 2 => Ok(()),
        _ => Err(CompareRefusal::TooFewRuns),
    }
}

/// All conditions of any run that differ from those of the first one.
fn conditions(sides: &Sides) -> Vec<Difference> {
    let mut all = Vec::new();
    let found = sides.pairs().flat_map(|(_, both)| conditions::conditions(&both));
    for difference in found {
        let is_known =
            |other: &Difference| (&other.what, &other.scenarios) == (&difference.what, &difference.scenarios);
        if !all.iter().any(is_known) {
            all.push(difference);
        }
    }
    all
}

fn side(run: &ComparedRun) -> ComparedSide {
    let (record, plan) = (run.records.run, run.records.plan);
    ComparedSide {
        id: record.id.clone(),
        title: plan.title.clone(),
        started_at: record.started_at.clone(),
        tolok_version: record.tolok_version.clone(),
        git: record.git.clone(),
        machine: machine_line(&record.machine),
        blocks: run.findings.run.blocks,
        trials_missing: run.findings.trials_missing,
        smallest_effect: plan.smallest_effect,
        command: record.command.clone(),
    }
}
