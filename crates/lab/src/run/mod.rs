//! The run: every trial of a plan in its order, each from a fresh start to a stop, each stored at once.
//!
//! One loop for every study. It knows no screen: what happens is told as [`RunEvent`]s.

mod aborts;
mod account;
mod beside;
mod blame;
mod conformance;
mod counter;
mod database_login;
mod database_watch;
mod databases;
mod diagnose;
mod event;
mod event_line;
mod external;
mod fidelity;
mod forecast;
mod ground;
mod guest;
mod judge;
mod launch;
mod measure;
mod outage;
mod pool;
mod preparation;
mod program_timing;
mod program_trial;
mod questions;
mod reruns;
mod scratch;
mod serve;
mod session;
mod stop;
mod trial;
mod trial_database;
mod with_database;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tolok_model::{
    Case, Database, DiagnosisRecord, Failure, FailureKind, Outcome, Plan, PlannedTrial, RECORD_FORMAT, Subject,
    TrialRecord,
};

use self::forecast::Forecast;
use self::preparation::Step;
use self::program_trial::ProgramTrial;
use self::reruns::Reruns;
use self::trial::{Finished, Trial};
use crate::machine::{ThisHost, wait_until_quiet};
use crate::store::{RunFolder, StoreError, TrialFolder};
use crate::subject::BuildError;
use tolok_store::recompute::{self as remake, objectives, program_rows};

pub use conformance::{Conformance, check_conformance};
pub use databases::{Prepared, prepare_database};
pub use event::{Phase, Preparation, RunEvent, TrialEvent};
pub use event_line::{EVENTS_SCHEMA, EventLine};
pub use fidelity::{FidelityJob, fidelity};
pub use ground::{Ground, start_again_in_an_own_group};
pub use serve::ServeError;
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

/// How long a busy machine is given to become quiet before the first trial.
const QUIET_PATIENCE: Duration = Duration::from_secs(10);

/// Says of what was found so far after how many blocks the rule of the plan's [`tolok_model::Stopping`] held; nothing while it
/// does not. Judging is not the lab's, so it is given.
pub type Settled<'a> = &'a dyn Fn(&[TrialRecord]) -> Option<u32>;

/// Runs every trial of `plan` that has no record yet, or until the plan's own rule for stopping holds. Only a folder that
/// cannot be written stops it otherwise; what goes wrong with a subject is a record.
pub fn run_plan(
    session: &Session<'_>,
    plan: &Plan,
    folder: &RunFolder,
    (stop, settled): (&Stop, Settled<'_>),
    emit: &mut dyn FnMut(RunEvent),
) -> Result<RunSummary, StoreError> {
    let (builds, databases, reruns) = (BTreeMap::new(), Vec::new(), reruns(plan, folder)?);
    let mut run = Run { session, plan, folder, stop, settled, last_block: plan.blocks, builds, databases, reruns };
    // Whoever hears of a session hears first that it has begun.
    let mut early = Vec::new();
    run.ask_the_rule(&mut |event| early.push(event))?;
    let open: Vec<(&PlannedTrial, &Case)> = run.open_trials()?;
    let to_diagnose = run.cases_to_diagnose();
    let mut forecast = Forecast::new(open.iter().map(|(_, case)| plan.trial_estimate_s(&case.id)).collect());
    emit(run.started(open.len(), &forecast)?);
    early.into_iter().for_each(&mut *emit);
    let cases: Vec<&Case> = open.iter().map(|(_, case)| *case).chain(to_diagnose.iter().copied()).collect();
    run.build_subjects(&cases, emit);
    run.prepare_databases(&cases, emit);
    let _whereabouts = session.stay_off_the_subjects_cpus();
    // A run of which nothing is left has nobody to wait for.
    if !cases.is_empty() {
        run.wait_until_quiet(emit);
    }
    forecast.begin();
    let mut block = 0;
    for (planned, case) in open {
        if planned.block != block {
            run.ask_the_rule(emit)?;
            block = planned.block;
        }
        if stop.is_asked() || planned.block > run.last_block {
            break;
        }
        emit(trial_started(planned, case));
        let Some(outcome) = run.run_trial(planned, case, emit)? else { break };
        emit(trial_finished(planned, case, outcome, forecast.step()));
    }
    run.diagnose(&to_diagnose, emit)?;
    let summary = run.summary(forecast.steps())?;
    emit(RunEvent::RunEnded { missing: summary.missing, failed: summary.failed });
    Ok(summary)
}

/// What is left of the re-runs that the plan allows.
fn reruns(plan: &Plan, folder: &RunFolder) -> Result<Reruns, StoreError> {
    let used = folder.read()?.trials.iter().map(|record| record.attempts.saturating_sub(1)).sum();
    Ok(Reruns::new(plan.reruns, plan.trials.len(), used))
}

/// A run at work.
struct Run<'a> {
    session: &'a Session<'a>,
    plan: &'a Plan,
    folder: &'a RunFolder,
    stop: &'a Stop,
    settled: Settled<'a>,
    /// The last block that is run: the plan's, or an earlier one once its rule for stopping holds.
    last_block: u32,
    /// Where each subject's build is, or why there is none.
    builds: BTreeMap<String, Result<PathBuf, Failure>>,
    /// What was made ready of each database, or why it cannot be had.
    databases: Vec<(&'a Database, Result<Prepared, Failure>)>,
    reruns: Reruns,
}

impl<'a> Run<'a> {
    /// The trials without a finding. A record that says the lab failed is none: it is made anew.
    fn open_trials(&self) -> Result<Vec<(&'a PlannedTrial, &'a Case)>, StoreError> {
        let records = self.folder.read()?.trials;
        let settled: BTreeSet<u32> =
            records.iter().filter(|record| !lab_failed(&record.outcome)).map(|record| record.number).collect();
        let open = self.plan.trials.iter().filter(|trial| !settled.contains(&trial.number));
        let open = open.filter(|trial| trial.block <= self.last_block);
        Ok(open.filter_map(|trial| Some((trial, self.plan.case(&trial.case)?))).collect())
    }

    /// Ends the run early if the plan's rule for stopping holds by now.
    fn ask_the_rule(&mut self, emit: &mut dyn FnMut(RunEvent)) -> Result<(), StoreError> {
        if self.plan.stopping.is_none() || self.last_block < self.plan.blocks {
            return Ok(());
        }
        if let Some(blocks) = (self.settled)(&self.folder.read()?.trials) {
            self.last_block = blocks;
            emit(RunEvent::Settled { blocks, at_most: self.plan.blocks });
        }
        Ok(())
    }

    fn started(&self, open: usize, forecast: &Forecast) -> Result<RunEvent, StoreError> {
        let trials = self.plan.trials.len();
        Ok(RunEvent::RunStarted {
            run: self.folder.run()?.id,
            folder: whole(self.folder.path()),
            title: self.plan.title.clone(),
            pid: std::process::id(),
            trials: trials as u32,
            finished: (trials - open) as u32,
            estimate_s: forecast.left_s(),
        })
    }

    /// Builds every subject once, before the first trial, so that no compiler runs beside a measurement.
    fn build_subjects(&mut self, cases: &[&Case], emit: &mut dyn FnMut(RunEvent)) {
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.subject.subject.as_str()).collect();
        // One that is gone from the checkout is a failure of its trials.
        let mut subjects: Vec<&Subject> =
            ids.into_iter().filter_map(|id| self.session.laboratory.catalogue.subject(id)).collect();
        // In the order in which they are needed first.
        subjects.sort_by_key(|subject| cases.iter().position(|case| case.subject.subject == subject.id));
        let of = subjects.iter().filter(|subject| self.session.must_be_built(subject)).count() as u32;
        let mut number = 0;
        for subject in subjects {
            if self.stop.is_asked() {
                break;
            }
            number += u32::from(self.session.must_be_built(subject));
            let mut step = Step::new(Preparation::Build(subject.id.clone()), (number, of), emit);
            let built = self.session.build(subject, &mut || step.begins(), &|| !self.stop.is_asked());
            let built = built.map_err(build_failure);
            step.ended(built.as_ref().err());
            self.builds.insert(subject.id.clone(), built);
        }
    }

    /// Loads the data of every database that is asked, once, before the first trial.
    fn prepare_databases(&mut self, cases: &[&'a Case], emit: &mut dyn FnMut(RunEvent)) {
        let mut asked: Vec<&'a Database> = Vec::new();
        for database in cases.iter().filter_map(|case| self.database_of(case)) {
            if !asked.iter().any(|known| databases::same(known, database)) {
                asked.push(database);
            }
        }
        let of = asked.len() as u32;
        for (number, database) in (1..).zip(asked) {
            if self.stop.is_asked() {
                break;
            }
            let mut step = Step::new(Preparation::Data(database.engine.title().to_owned()), (number, of), emit);
            let laboratory = self.session.laboratory;
            let prepared = prepare_database(laboratory, database, &mut || step.begins(), &|| !self.stop.is_asked());
            step.ended(prepared.as_ref().err());
            self.databases.push((database, prepared));
        }
    }

    /// The database that the trials of a case have.
    fn database_of(&self, case: &Case) -> Option<&'a Database> {
        let scenario = self.plan.scenario(&case.scenario).filter(|scenario| scenario.database)?;
        self.plan.environment(scenario)?.database.as_ref()
    }

    /// The competing cases that are to be run unscored, and have not been. Programs that are timed are not among them: what
    /// is counted is counted for each answer, and they give none.
    fn cases_to_diagnose(&self) -> Vec<&'a Case> {
        let is_server = |case: &&Case| self.plan.program(&case.scenario).is_none();
        // Nor are servers that tolok does not start: there is nothing to be counted in.
        let is_ours = |case: &&Case| self.plan.brought.server(&case.subject.subject).is_none();
        let competing = self.plan.cases.iter().filter(|case| self.plan.diagnose && case.competes());
        let competing = competing.filter(is_server).filter(is_ours);
        competing.filter(|case| !self.folder.is_diagnosed(&case.id)).collect()
    }

    /// Gives a machine that is busy a while to become quiet. If it does not, the run goes on: each window is judged by
    /// itself, and one that is disturbed is not scored. A study without re-runs does not care.
    fn wait_until_quiet(&self, emit: &mut dyn FnMut(RunEvent)) {
        if self.plan.reruns == 0 {
            return;
        }
        let (mut host, keep_waiting) = (ThisHost::default(), || !self.stop.is_asked());
        let first = wait_until_quiet(Duration::ZERO, &mut host, &keep_waiting);
        let Some(busy) = first.last.filter(|seen| !seen.is_quiet()) else { return };
        emit(RunEvent::Waiting {
            reasons: busy.disturbances.into_iter().map(|one| one.sentence).collect(),
            at_most_s: QUIET_PATIENCE.as_secs_f64(),
        });
        wait_until_quiet(QUIET_PATIENCE, &mut host, &keep_waiting);
    }

    /// Runs each case once more, unscored, and stores what was counted.
    fn diagnose(&self, cases: &[&Case], emit: &mut dyn FnMut(RunEvent)) -> Result<(), StoreError> {
        for case in cases {
            if self.stop.is_asked() {
                break;
            }
            let (subject, scenario) = (case.subject.label.clone(), case.scenario.clone());
            emit(RunEvent::Diagnosing { subject: subject.clone(), scenario: scenario.clone() });
            let kept = self.folder.begin_diagnosis(&case.id)?;
            let mut in_trial = |event| emit(RunEvent::InTrial { trial: None, event });
            let outcome = match self.trial((case, 0), &kept) {
                Ok(trial) => trial.diagnose(&mut in_trial)?,
                Err(failure) => Some(Err(failure.message)),
            };
            let Some(outcome) = outcome else {
                kept.abandon()?;
                break;
            };
            let failure = outcome.as_ref().err().cloned();
            kept.finish_diagnosis(&DiagnosisRecord { format: RECORD_FORMAT, case: case.id.clone(), outcome })?;
            emit(RunEvent::Diagnosed { subject, scenario, failure });
        }
        Ok(())
    }

    /// Runs one trial and stores its record; nothing is stored and returned if it was stopped.
    fn run_trial(
        &self,
        planned: &PlannedTrial,
        case: &Case,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<Outcome>, StoreError> {
        let kept = self.folder.begin_trial(planned)?;
        let (began, started_at) = (Instant::now(), jiff::Timestamp::now());
        let mut in_trial = |event| emit(RunEvent::InTrial { trial: Some(planned.number), event });
        let finished = self.finish((case, planned.block), &kept, &mut in_trial)?;
        let Some(Finished { commands, attempts, isolation, outcome }) = finished else {
            kept.abandon()?;
            return Ok(None);
        };
        let record = TrialRecord {
            format: RECORD_FORMAT,
            number: planned.number,
            block: planned.block,
            case: planned.case.clone(),
            started_at: started_at.to_string(),
            took_s: began.elapsed().as_secs_f64(),
            commands,
            attempts,
            isolation,
            outcome,
        };
        kept.finish(&record)?;
        Ok(Some(record.outcome))
    }

    /// Runs a trial of whichever kind to its end; nothing if it was stopped.
    fn finish(
        &self,
        (case, block): (&Case, u32),
        kept: &TrialFolder,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Option<Finished>, StoreError> {
        if self.plan.program(&case.scenario).is_some() {
            return match self.program_trial((case, block), kept) {
                Ok(trial) => trial.run(&self.reruns, emit),
                Err(failure) => Ok(Some(Finished::failed(failure))),
            };
        }
        match self.trial((case, block), kept) {
            Ok(trial) => trial.run(&self.reruns, emit),
            Err(failure) => Ok(Some(Finished::failed(failure))),
        }
    }

    /// A trial of a program ready to be run, or why it cannot be.
    fn program_trial<'b>(
        &'b self,
        (case, block): (&'b Case, u32),
        kept: &'b TrialFolder,
    ) -> Result<ProgramTrial<'b>, Failure> {
        let build = self.build_of(case)?;
        ProgramTrial::find(self.session, self.plan, (case, block), build, kept, self.stop).ok_or_else(|| gone(case))
    }

    /// Where the build of a case's subject is.
    fn build_of(&self, case: &Case) -> Result<&PathBuf, Failure> {
        self.builds.get(&case.subject.subject).ok_or_else(|| gone(case))?.as_ref().map_err(Failure::clone)
    }

    /// A trial ready to be run, or why it cannot be.
    fn trial<'b>(&'b self, (case, block): (&'b Case, u32), kept: &'b TrialFolder) -> Result<Trial<'b>, Failure> {
        let build = self.build_of(case)?;
        let prepared = match self.database_of(case) {
            None => None,
            Some(asked) => {
                let known = self.databases.iter().find(|(known, _)| databases::same(known, asked));
                let (_, prepared) = known.ok_or_else(|| gone(case))?;
                Some(prepared.as_ref().map_err(Failure::clone)?)
            }
        };
        Trial::find(self.session, self.plan, (case, block), (build, prepared), kept, self.stop)
            .ok_or_else(|| gone(case))
    }

    fn summary(&self, run: u32) -> Result<RunSummary, StoreError> {
        let records = self.folder.read()?.trials;
        let failed = records.iter().filter(|record| matches!(record.outcome, Outcome::Failed(_))).count();
        let recorded = |trial: &&PlannedTrial| records.iter().any(|record| record.number == trial.number);
        let meant = self.plan.trials.iter().filter(|trial| trial.block <= self.last_block);
        let missing = meant.filter(|trial| !recorded(trial)).count();
        Ok(RunSummary { run, missing: missing as u32, failed: failed as u32 })
    }
}

/// A path that says the same wherever it is read.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn gone(case: &Case) -> Failure {
    let message = format!("the subject or the workload of {} is not in this checkout any more", case.id);
    Failure { reason: FailureKind::LabFailed, message, log_tail: Vec::new() }
}

fn lab_failed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if failure.reason == FailureKind::LabFailed)
}

fn trial_started(planned: &PlannedTrial, case: &Case) -> RunEvent {
    let (subject, scenario) = (case.subject.label.clone(), case.scenario.clone());
    RunEvent::TrialStarted { trial: planned.clone(), subject, scenario }
}

fn trial_finished(planned: &PlannedTrial, case: &Case, outcome: Outcome, left_s: f64) -> RunEvent {
    let (subject, scenario) = (case.subject.label.clone(), case.scenario.clone());
    RunEvent::TrialFinished { trial: planned.clone(), subject, scenario, outcome, left_s }
}

fn build_failure(error: BuildError) -> Failure {
    let message = error.to_string();
    let log_tail = match error {
        BuildError::Command { tail, .. } => tail,
        _ => Vec::new(),
    };
    Failure { reason: FailureKind::BuildFailed, message, log_tail }
}
