//! The run: every trial of a plan in its order, each from a fresh start to a stop, each stored at once.
//!
//! One loop for every study. It knows no screen: what happens is told as [`RunEvent`]s.

mod event;
mod session;
mod stop;
mod trial;

use std::collections::BTreeMap;
use std::time::Instant;

use tolok_model::{Failure, FailureKind, Outcome, Plan, RECORD_FORMAT, SubjectChoice, TrialRecord};

use crate::store::{RunFolder, StoreError};

pub use event::{Phase, RunEvent};
pub use session::{Laboratory, Session, SessionError};
pub use stop::Stop;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSummary {
    /// Trials that were run now.
    pub run: u32,
    /// Trials without a record: the run was stopped before them.
    pub missing: u32,
    /// Records that say the trial failed, of this run and of earlier attempts.
    pub failed: u32,
}

/// Runs every trial of `plan` that has no record yet. Only a folder that cannot be written stops it; what goes wrong
/// with a subject is a record.
pub fn run_plan(
    session: &Session<'_>,
    plan: &Plan,
    folder: &RunFolder,
    stop: &Stop,
    emit: &mut dyn FnMut(RunEvent),
) -> Result<RunSummary, StoreError> {
    let open: Vec<_> = plan.trials.iter().filter(|trial| !folder.is_finished(trial)).cloned().collect();
    let estimate = |from: usize| open[from..].iter().map(|trial| plan.trial_estimate_s(&trial.case)).sum::<f64>();
    emit(RunEvent::RunStarted {
        folder: folder.path().to_owned(),
        trials: plan.trials.len() as u32,
        finished: (plan.trials.len() - open.len()) as u32,
        estimate_s: estimate(0),
    });
    let builds = build_subjects(session, plan, stop, emit);
    let began = Instant::now();
    let mut run = 0;
    for (index, planned) in open.iter().enumerate() {
        let Some(case) = plan.case(&planned.case) else { continue };
        if stop.is_asked() {
            break;
        }
        let (subject, scenario) = (case.subject.label.clone(), case.scenario.clone());
        emit(RunEvent::TrialStarted { trial: planned.clone(), subject: subject.clone(), scenario: scenario.clone() });
        let trial_folder = folder.begin_trial(planned)?;
        let began_trial = (Instant::now(), jiff::Timestamp::now());
        let build_failure = builds.get(&case.subject.subject).and_then(|built| built.as_ref().err());
        let result = match build_failure {
            Some(failure) => trial::Result { commands: Vec::new(), outcome: Outcome::Failed(failure.clone()) },
            None => trial::run(session, plan, case, &trial_folder, stop, emit),
        };
        if stop.is_immediate() {
            break;
        }
        let record = TrialRecord {
            format: RECORD_FORMAT,
            number: planned.number,
            block: planned.block,
            case: planned.case.clone(),
            started_at: began_trial.1.to_string(),
            took_s: began_trial.0.elapsed().as_secs_f64(),
            commands: result.commands,
            outcome: result.outcome,
        };
        folder.finish_trial(planned, &record)?;
        run += 1;
        // The plan's estimate, scaled by how far it was off so far.
        let planned_so_far = estimate(0) - estimate(index + 1);
        let scale = began.elapsed().as_secs_f64() / planned_so_far.max(f64::MIN_POSITIVE);
        let left_s = estimate(index + 1) * scale;
        emit(RunEvent::TrialFinished { trial: planned.clone(), subject, scenario, outcome: record.outcome, left_s });
    }
    let records = folder.read()?.trials;
    let failed = records.iter().filter(|record| matches!(record.outcome, Outcome::Failed(_))).count() as u32;
    let missing = (plan.trials.len() - records.len()) as u32;
    emit(RunEvent::RunEnded { missing });
    Ok(RunSummary { run, missing, failed })
}

/// Builds every subject of the plan once, before the first trial, so that no compiler runs beside a measurement.
fn build_subjects(
    session: &Session<'_>,
    plan: &Plan,
    stop: &Stop,
    emit: &mut dyn FnMut(RunEvent),
) -> BTreeMap<String, Result<(), Failure>> {
    let mut builds = BTreeMap::new();
    let choices: Vec<&SubjectChoice> = plan.cases.iter().map(|case| &case.subject).collect();
    for choice in choices {
        if builds.contains_key(&choice.subject) || stop.is_asked() {
            continue;
        }
        let built = session.build(choice, &mut || emit(RunEvent::Building { subject: choice.subject.clone() }));
        let built = built.map_err(|error| {
            let log_tail = match &error {
                crate::subject::BuildError::Command { tail, .. } => tail.clone(),
                _ => Vec::new(),
            };
            Failure { reason: FailureKind::BuildFailed, message: error.to_string(), log_tail }
        });
        builds.insert(choice.subject.clone(), built);
    }
    builds
}
