//! Two runs, beside each other: what became better or worse from the one to the other, and what cannot be said of it.
//!
//! [`compare_runs`] takes the records and findings of two runs, and gives either why they cannot be compared or what follows.
//! A part a file: `views.rs` lays servers and programs side by side, `facts.rs` says what a scenario asks, `matching.rs` which
//! scenario is which, `conditions.rs` what must not differ and `changes.rs` what else does, `control.rs` what the machine did,
//! `judging.rs` has the rule and its statistics, `cases.rs` applies it, and `conclusion.rs` puts it in words.

mod cases;
mod changes;
mod conclusion;
mod conditions;
mod control;
mod facts;
mod findings;
mod judging;
mod matching;
mod metric;
mod views;

pub use findings::{
    COMPARE_SCHEMA, CaseChange, Change, ChangeRatio, CompareOutcome, ComparedSide, ControlFinding, ControlShift,
    Difference, FigureChange, RunComparison, ScenarioChange, Tally, UnmatchedCase,
};
pub use metric::{ComparedMetric, ScenarioKind};

use crate::findings::Findings;
use crate::records::Records;
use crate::run_facts::machine_line;
use conditions::Both;
use views::ScenarioView;

/// A run that is compared with another: what it stored, and what follows from that.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    /// What it stored.
    pub records: &'a Records<'a>,
    /// What [`crate::analyse`] says of it.
    pub findings: &'a Findings,
}

/// What is asked of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareRequest {
    /// The figures to judge by; empty for the usual ones of each kind of scenario.
    pub metrics: Vec<ComparedMetric>,
    /// Differences smaller than this fraction do not matter, or `None` for the larger one of the two studies'.
    pub threshold: Option<f64>,
    /// Whether to go on where the conditions differ.
    pub allow_differences: bool,
}

/// Why two runs are not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareRefusal {
    /// Both names mean the same run.
    SameRun,
    /// They have no case in common.
    NothingInCommon {
        /// What the run before has.
        before: Vec<UnmatchedCase>,
        /// What the run after has.
        after: Vec<UnmatchedCase>,
    },
    /// No scenario has any of the figures that are asked for.
    NoSuchFigure,
    /// Their conditions differ.
    Conditions(Vec<Difference>),
}

/// Compares two runs, or says why they cannot be compared: all reasons of a kind at once.
///
/// A pure function without random numbers: the same records give the same comparison.
pub fn compare_runs(
    before: &ComparedRun,
    after: &ComparedRun,
    request: &CompareRequest,
) -> Result<RunComparison, CompareRefusal> {
    if before.records.run.id == after.records.run.id && before.records.run == after.records.run {
        return Err(CompareRefusal::SameRun);
    }
    let views = [before, after].map(views::scenarios);
    let matches = matching::matches(&views[0], &views[1]);
    let both = Both { runs: [before, after], scenarios: [&views[0], &views[1]], matches: &matches };
    let [only_before, only_after] = unmatched(&both);
    if both.pairs().all(|(a, b)| conditions::common(a, b).is_empty()) {
        return Err(CompareRefusal::NothingInCommon { before: only_before, after: only_after });
    }
    if both.pairs().all(|(a, _)| ComparedMetric::of(a.kind, &request.metrics).is_empty()) {
        return Err(CompareRefusal::NoSuchFigure);
    }
    let conditions = conditions::conditions(&both);
    if !conditions.is_empty() && !request.allow_differences {
        return Err(CompareRefusal::Conditions(conditions));
    }
    let effects = both.runs.map(|run| run.records.plan.smallest_effect);
    let threshold = request.threshold.unwrap_or(effects[0].max(effects[1]));
    let scenarios = cases::scenarios(&both, &request.metrics, threshold);
    let mut found = RunComparison {
        schema_version: COMPARE_SCHEMA,
        outcome: CompareOutcome::NoRegression,
        sentence: String::new(),
        threshold,
        tally: conclusion::tally(&scenarios),
        before: side(before),
        after: side(after),
        changes: changes::changes(&both),
        conditions,
        scenarios,
        only_before,
        only_after,
        cautions: Vec::new(),
    };
    found.outcome = conclusion::outcome(&both, &found);
    found.sentence = conclusion::sentence(&both, &found);
    found.cautions = conclusion::cautions(&found);
    Ok(found)
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

/// Cases that are in one of the runs only.
fn unmatched(both: &Both) -> [Vec<UnmatchedCase>; 2] {
    let [before, after] = both.scenarios;
    let other_of = |place: usize| both.matches.iter().find(|(a, _)| *a == place).map(|(_, b)| &after[*b]);
    let one_of = |place: usize| both.matches.iter().find(|(_, b)| *b == place).map(|(a, _)| &before[*a]);
    [lonely(before, &other_of), lonely(after, &one_of)]
}

fn lonely<'a>(
    own: &[ScenarioView<'a>],
    counterpart: &dyn Fn(usize) -> Option<&'a ScenarioView<'a>>,
) -> Vec<UnmatchedCase> {
    let of_scenario = |(place, scenario): (usize, &ScenarioView)| {
        let known: Vec<&str> =
            counterpart(place).map(|other| other.cases.iter().map(|case| case.subject).collect()).unwrap_or_default();
        let lonely = scenario.cases.iter().filter(|case| !known.contains(&case.subject));
        let shown = |case: &views::CaseView| UnmatchedCase {
            scenario: scenario.id.to_owned(),
            subject: case.subject.to_owned(),
            title: case.title.to_owned(),
        };
        lonely.map(shown).collect::<Vec<_>>()
    };
    own.iter().enumerate().flat_map(of_scenario).collect()
}
