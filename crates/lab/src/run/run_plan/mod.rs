//! The run: every trial of a plan in its order, block by block, and what surrounds the blocks.
//!
//! One loop for every study. It knows no screen: it emits [`RunEvent`]s. It measures nothing itself: each block is a process
//! of its own ([`super::block`]).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tolok_model::{
    Case, Database, DiagnosisRecord, Failure, FailureKind, Outcome, Plan, PlannedTrial, RECORD_FORMAT, Subject,
    TrialRecord,
};

use super::block::process::{BlockProcess, Heard};
use super::block::protocol::{BlockEvent, BlockJob, Part, Preparations, PreparedDatabase, TrialId, Word};
use super::build_place::{BuildPlace, build_failure};
use super::reruns::Reruns;
use super::stop::Stop;
use super::{lab_failed, prepare_database};
use crate::run::database::prepared::{self, database_of};
use crate::run::events::eta::Eta;
use crate::run::events::event::{Preparation, RunEvent};
use crate::run::events::preparation::Step;
use crate::run::session::Laboratory;
use crate::run::session::affinity::AffinityGuard;
use crate::run::session::scratch::Scratch;
use tolok_host::isolate::session_folder::sweep;
use tolok_host::machine;
use tolok_store::{RunFolder, StoreError};

/// The box of a block that was killed is gone within this time.
const BOX_END_LIMIT: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSummary {
    /// Trials that were run now.
    pub run: u32,
    /// Trials without a record: the run was stopped before them.
    pub missing: u32,
    /// Records that say the trial failed, of this run and of earlier attempts.
    pub failed: u32,
}

/// Why a run ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run's folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A block cannot go on, and says why.
    #[error("{0}")]
    Block(String),
    #[error(
        "the process of block {block} ended before its first trial ({how}); finished trials are kept: `tolok resume`"
    )]
    BlockEnded { block: u32, how: String },
}

/// When enough blocks were run, as the plan says ([`tolok_model::Stopping`]). Judging is not the lab's task, so the rule
/// comes from outside.
pub trait StopRule {
    /// After how many blocks the rule held, judged by what was found so far, or `None` while it does not hold.
    fn blocks_settled(&self, trials: &[TrialRecord]) -> Option<u32>;

    /// What is known so far, in words, where somebody waits for it.
    fn standing(&self, _trials: &[TrialRecord]) -> Option<String> {
        None
    }
}

#[derive(Clone, Copy)]
pub struct RunSetup<'a> {
    /// What there is on this machine.
    pub laboratory: &'a Laboratory,
    pub plan: &'a Plan,
    /// The folder of the run, opened to write.
    pub folder: &'a RunFolder,
    pub stop: &'a Stop,
    /// The rule that may end the run early.
    pub rule: &'a dyn StopRule,
}

/// Runs every trial of the plan that has no record yet, or until the plan's own rule for stopping holds. Only a folder that
/// cannot be written ends it otherwise; what goes wrong with a subject is a record.
pub fn run_plan(setup: RunSetup<'_>, emit: &mut dyn FnMut(RunEvent)) -> Result<RunSummary, RunError> {
    let (plan, stop) = (setup.plan, setup.stop);
    let mut run = Run {
        setup,
        last_block: plan.blocks,
        prepared: Preparations::default(),
        eta: Eta::new(Vec::new()),
        block_cpus: Vec::new(),
        is_quiet: false,
        standing: String::new(),
        failed_starts: BTreeMap::new(),
    };
    // `RunStarted` is the first event of a session.
    let mut early = Vec::new();
    run.ask_the_rule(&mut |event| early.push(event))?;
    let open = open_trials(plan, &setup.folder.read()?.trials, run.last_block);
    let to_diagnose = run.cases_to_diagnose();
    run.eta = Eta::of(plan, &open);
    emit(run.started(open.len())?);
    early.into_iter().for_each(&mut *emit);
    let of_trials = open.iter().filter_map(|trial| plan.case(&trial.case));
    let cases: Vec<&Case> = of_trials.chain(to_diagnose.iter().copied()).collect();
    run.build_subjects(&cases, BuildPlace::Cache, emit);
    run.prepare_databases(&cases, emit);
    let affinity = AffinityGuard::off_the_subjects(&setup.folder.run()?.cpus);
    run.block_cpus = affinity.cpus_before();
    run.eta.begin();
    for block in open.chunk_by(|one, next| one.block == next.block) {
        run.ask_the_rule(emit)?;
        if stop.is_asked() || block[0].block > run.last_block {
            break;
        }
        run.give_up_dead_subjects();
        if plan.rebuild {
            run.run_block_rebuilt(block, emit)?;
        } else {
            run.run_block(block, emit)?;
        }
    }
    run.diagnose(&to_diagnose, emit)?;
    let summary = run.summary()?;
    emit(RunEvent::RunEnded { missing: summary.missing, failed: summary.failed });
    Ok(summary)
}

/// The trials up to a block that have no finding. A record that says the lab failed is none: the trial is run again.
pub fn open_trials<'p>(plan: &'p Plan, records: &[TrialRecord], last_block: u32) -> Vec<&'p PlannedTrial> {
    let settled: BTreeSet<u32> =
        records.iter().filter(|record| !lab_failed(&record.outcome)).map(|record| record.number).collect();
    // A launch is run as a whole: its slices are compared with each other.
    let open_launches: BTreeSet<u32> =
        plan.trials.iter().filter(|trial| !settled.contains(&trial.number)).filter_map(|trial| trial.launch).collect();
    let is_open = |trial: &&PlannedTrial| {
        !settled.contains(&trial.number) || trial.launch.is_some_and(|launch| open_launches.contains(&launch))
    };
    let open = plan.trials.iter().filter(is_open);
    open.filter(|trial| trial.block <= last_block && plan.case(&trial.case).is_some()).collect()
}

struct Run<'a> {
    setup: RunSetup<'a>,
    /// The last block that is run: the plan's, or an earlier one once its rule for stopping holds.
    last_block: u32,
    prepared: Preparations,
    eta: Eta,
    /// The CPUs that a block may divide among the parts of its trials.
    block_cpus: Vec<u32>,
    /// Whether a busy machine was waited for in this session.
    is_quiet: bool,
    /// What the rule said last of the standing.
    standing: String,
    /// The rounds in which a subject did not start, and how it last failed; `None` once it has started.
    failed_starts: BTreeMap<String, Option<(BTreeSet<u32>, Failure)>>,
}

/// The trial that a block is at.
struct AtHand {
    trial: TrialId,
    began: Instant,
    started_at: jiff::Timestamp,
    /// How many trials of a launch failed.
    failed: u32,
}

impl<'a> Run<'a> {
    /// Ends the run early if the plan's rule for stopping holds by now.
    fn ask_the_rule(&mut self, emit: &mut dyn FnMut(RunEvent)) -> Result<(), StoreError> {
        let RunSetup { plan, folder, rule, .. } = self.setup;
        if !plan.may_end_early() || self.last_block < plan.blocks {
            return Ok(());
        }
        let trials = folder.read()?.trials;
        // A session that goes on with a run looks at finished blocks again.
        if let Some(words) = rule.standing(&trials).filter(|words| *words != self.standing) {
            self.standing.clone_from(&words);
            emit(RunEvent::Standing { words });
        }
        if let Some(blocks) = rule.blocks_settled(&trials) {
            self.last_block = blocks;
            emit(RunEvent::Settled { blocks, at_most: plan.blocks });
        }
        Ok(())
    }

    fn started(&self, open: usize) -> Result<RunEvent, StoreError> {
        let RunSetup { plan, folder, .. } = self.setup;
        let trials = plan.trials.len();
        Ok(RunEvent::RunStarted {
            run: folder.run()?.id,
            folder: whole(folder.path()),
            title: plan.title.clone(),
            pid: std::process::id(),
            trials: trials as u32,
            finished: (trials - open) as u32,
            estimate_s: self.eta.left_s(),
        })
    }

    /// Builds the subjects of these cases before they are measured, so that no compiler runs beside a measurement.
    fn build_subjects(&mut self, cases: &[&Case], place: BuildPlace<'_>, emit: &mut dyn FnMut(RunEvent)) {
        let RunSetup { laboratory, stop, .. } = self.setup;
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.subject.subject.as_str()).collect();
        // One that is gone from the checkout is a failure of its trials.
        let known = ids.into_iter().filter_map(|id| laboratory.catalogue.subject(id));
        let mut subjects: Vec<&Subject> = known.filter(|subject| place.takes(subject)).collect();
        // In the order in which they are needed first.
        subjects.sort_by_key(|subject| cases.iter().position(|case| case.subject.subject == subject.id));
        let of = subjects.iter().filter(|subject| place.must_build(laboratory, subject)).count() as u32;
        let mut number = 0;
        for subject in subjects {
            if stop.is_asked() {
                break;
            }
            number += u32::from(place.must_build(laboratory, subject));
            let mut step = Step::new(Preparation::Build(subject.id.clone()), (number, of), emit);
            let built = place.build(laboratory, subject, &mut || step.begins(), &|| !stop.is_asked());
            let built = built.map_err(build_failure);
            step.ended(built.as_ref().err());
            self.prepared.builds.insert(subject.id.clone(), built);
        }
    }

    /// A subject that did not start in any trial of two rounds of this session is not started again: each try costs its time-out to
    /// start. A later session tries again, as somebody may have mended it.
    fn give_up_dead_subjects(&mut self) {
        for (subject, (rounds, failure)) in
            self.failed_starts.iter().filter_map(|(id, dead)| Some((id, dead.as_ref()?)))
        {
            if rounds.len() >= 2 && matches!(self.prepared.builds.get(subject), Some(Ok(_))) {
                let message = format!("not tried again after two rounds: {}", failure.message);
                self.prepared.builds.insert(subject.clone(), Err(Failure { message, ..failure.clone() }));
            }
        }
    }

    fn note_start(&mut self, subject: &str, block: u32, outcome: &Outcome) {
        let dead = match (self.failed_starts.remove(subject), outcome) {
            (Some(None), _) => None,
            (known, Outcome::Failed(failure)) if failure.reason == FailureKind::DidNotStart => {
                let mut rounds = known.flatten().map(|(rounds, _)| rounds).unwrap_or_default();
                rounds.insert(block);
                Some((rounds, failure.clone()))
            }
            _ => None,
        };
        self.failed_starts.insert(subject.to_owned(), dead);
    }

    /// Loads the data of every database, once, before the first trial.
    fn prepare_databases(&mut self, cases: &[&Case], emit: &mut dyn FnMut(RunEvent)) {
        let RunSetup { laboratory, plan, stop, .. } = self.setup;
        let mut asked: Vec<&Database> = Vec::new();
        for database in cases.iter().filter_map(|case| database_of(plan, case)) {
            if !asked.iter().any(|known| prepared::same(known, database)) {
                asked.push(database);
            }
        }
        let of = asked.len() as u32;
        for (number, database) in (1..).zip(asked) {
            if stop.is_asked() {
                break;
            }
            let mut step = Step::new(Preparation::Data(database.engine.title().to_owned()), (number, of), emit);
            let prepared = prepare_database(laboratory, database, &mut || step.begins(), &|| !stop.is_asked());
            step.ended(prepared.as_ref().err());
            self.prepared.databases.push(PreparedDatabase { asked: database.clone(), prepared });
        }
    }

    /// The competing cases that are to be run unscored, and have not been. Programs that are timed are not among them: what
    /// is counted is counted for each answer, and they give none.
    fn cases_to_diagnose(&self) -> Vec<&'a Case> {
        let RunSetup { plan, folder, .. } = self.setup;
        let is_server = |case: &&Case| plan.program(&case.scenario).is_none();
        // Nor are servers that tolok does not start: there is nothing to be counted in.
        let is_ours = |case: &&Case| plan.brought.server(&case.subject.subject).is_none();
        let competing = plan.cases.iter().filter(|case| plan.diagnose && case.competes());
        competing.filter(is_server).filter(is_ours).filter(|case| !folder.is_diagnosed(&case.id)).collect()
    }

    fn diagnose(&mut self, cases: &[&Case], emit: &mut dyn FnMut(RunEvent)) -> Result<(), RunError> {
        let mut left = cases;
        while !left.is_empty() && !self.setup.stop.is_asked() {
            let part = Part::Diagnoses(left.iter().map(|case| case.id.clone()).collect());
            left = &left[self.run_part(part, emit)?..];
        }
        Ok(())
    }

    /// Runs the open trials of one block. A process that was killed costs the trial that it was at, and another one goes on.
    fn run_block(&mut self, trials: &[&PlannedTrial], emit: &mut dyn FnMut(RunEvent)) -> Result<(), RunError> {
        let mut left = trials;
        while !left.is_empty() && !self.setup.stop.is_asked() {
            let trials = left.iter().map(|trial| trial.number).collect();
            left = &left[self.run_part(Part::Block { block: left[0].block, trials }, emit)?..];
        }
        Ok(())
    }

    /// The same with builds of the block's own, which go with it.
    fn run_block_rebuilt(&mut self, trials: &[&PlannedTrial], emit: &mut dyn FnMut(RunEvent)) -> Result<(), RunError> {
        let RunSetup { laboratory, plan, .. } = self.setup;
        // Programs of a trial see nothing of other folders of sessions in the temporary folder.
        let scratch = laboratory.builds.place_for_others().and_then(|parent| {
            sweep(parent);
            Scratch::make(parent)
        });
        let scratch = scratch.map_err(|error| RunError::Block(format!("cannot make a folder for builds: {error}")))?;
        let usual = self.prepared.builds.clone();
        let cases: Vec<&Case> = trials.iter().filter_map(|trial| plan.case(&trial.case)).collect();
        let place = BuildPlace::Block { folder: scratch.path(), layout: plan.layout(trials[0].block) };
        self.build_subjects(&cases, place, emit);
        let ran = self.run_block(trials, emit);
        self.prepared.builds = usual;
        ran
    }

    /// Runs a part of the plan in a process of its own. Returns how many of its trials have a record now.
    fn run_part(&mut self, part: Part, emit: &mut dyn FnMut(RunEvent)) -> Result<usize, RunError> {
        let RunSetup { laboratory, folder, stop, .. } = self.setup;
        let job = self.job(part)?;
        let not_started =
            |error| RunError::Block(format!("cannot start the process of a block: {}", machine::not_started(&error)));
        let mut block =
            BlockProcess::start(&laboratory.tolok, &job, self.block_cpus.clone(), stop).map_err(not_started)?;
        let (mut done, mut at_hand, mut session) = (0, None, None);
        loop {
            match block.next() {
                Heard::Silence => break,
                Heard::StopAsked => block.tell(Word::Stop),
                Heard::Block(BlockEvent::Failed(why)) => return Err(RunError::Block(why)),
                Heard::Block(BlockEvent::Recorded { folder: recorded, session: of_block }) => {
                    folder.enter_block(&recorded)?;
                    session = Some(of_block);
                }
                Heard::Block(BlockEvent::Waiting { reasons, at_most_s }) => {
                    emit(RunEvent::Waiting { reasons, at_most_s });
                }
                // It is about to hear that it should stop.
                Heard::Block(BlockEvent::Ready(_)) if stop.is_asked() => {}
                Heard::Block(BlockEvent::Ready(trial)) => {
                    self.begin(&trial, emit)?;
                    at_hand = Some(AtHand::begun(trial));
                    block.tell(Word::Go);
                }
                Heard::Block(BlockEvent::InTrial(event)) => {
                    let trial = at_hand.as_ref().and_then(AtHand::number);
                    emit(RunEvent::InTrial { trial, event });
                }
                Heard::Block(BlockEvent::Finished(trial)) => {
                    let has_failed = self.finished(&trial, emit)?;
                    if let Some(at) = &mut at_hand {
                        at.failed += u32::from(has_failed);
                        if let TrialId::Launch(launch) = trial {
                            emit(self.launch_finished(launch, at));
                        }
                    }
                    let is_launch = matches!(trial, TrialId::Launch(_));
                    // The trials of a launch are finished one by one, and then the launch.
                    if is_launch || at_hand.as_ref().is_some_and(|at: &AtHand| at.trial == trial) {
                        at_hand = None;
                    }
                    done += usize::from(!is_launch);
                }
            }
        }
        let how = block.end().map_err(not_started)?;
        match at_hand {
            Some(lost) if !stop.is_immediate() => {
                wait_for_end_of(session.as_deref());
                for trial in self.lost_trials(&lost.trial) {
                    self.lost(&trial, &lost, how)?;
                    self.finished(&trial, emit)?;
                    done += 1;
                }
            }
            None if done == 0 && !stop.is_asked() => {
                return Err(RunError::BlockEnded { block: job.part.block(), how: how.to_string() });
            }
            _ => {}
        }
        Ok(done)
    }

    fn job(&mut self, part: Part) -> Result<BlockJob, StoreError> {
        let RunSetup { laboratory, plan, folder, .. } = self.setup;
        let used = folder.read()?.trials.iter().map(|record| record.attempts.saturating_sub(1)).sum();
        let wait_until_quiet = !std::mem::replace(&mut self.is_quiet, true);
        Ok(BlockJob {
            folder: whole(folder.path()),
            part,
            reruns_left: Reruns::left(plan.trials.len(), used),
            wait_until_quiet,
            laboratory: laboratory.for_plan(plan),
            prepared: self.prepared.clone(),
        })
    }

    /// A trial begins: what an earlier one left is taken away.
    fn begin(&self, trial: &TrialId, emit: &mut dyn FnMut(RunEvent)) -> Result<(), StoreError> {
        let RunSetup { plan, folder, .. } = self.setup;
        match trial {
            TrialId::Scored(number) => {
                let Some((planned, case)) = self.planned(*number) else { return Ok(()) };
                folder.withdraw_trial(planned)?;
                let (subject, scenario) = names(case);
                emit(RunEvent::TrialStarted { trial: planned.clone(), subject, scenario });
            }
            TrialId::Diagnosis(case) => {
                let Some(case) = plan.case(case) else { return Ok(()) };
                let (subject, scenario) = names(case);
                emit(RunEvent::Diagnosing { subject, scenario });
            }
            TrialId::Launch(launch) => {
                plan.launch(*launch).try_for_each(|planned| folder.withdraw_trial(planned))?;
                let cases = plan.launch(*launch).count() as u32;
                let block = plan.launch(*launch).map(|planned| planned.block).next().unwrap_or_default();
                emit(RunEvent::LaunchStarted { launch: *launch, of: plan.launches(), block, cases });
            }
        }
        Ok(())
    }

    /// The record of a trial is on the disk: it is entered in the manifest, and an event says so. Returns whether the trial failed.
    fn finished(&mut self, trial: &TrialId, emit: &mut dyn FnMut(RunEvent)) -> Result<bool, StoreError> {
        let RunSetup { plan, folder, .. } = self.setup;
        match trial {
            TrialId::Scored(number) => {
                let Some((planned, case)) = self.planned(*number) else { return Ok(false) };
                let outcome = folder.enter_trial(planned)?;
                let has_failed = matches!(outcome, Outcome::Failed(_));
                self.note_start(&case.subject.subject, planned.block, &outcome);
                let ((subject, scenario), left_s) = (names(case), self.eta.step());
                emit(RunEvent::TrialFinished { trial: planned.clone(), subject, scenario, outcome, left_s });
                Ok(has_failed)
            }
            TrialId::Diagnosis(case) => {
                let Some(case) = plan.case(case) else { return Ok(false) };
                let failure = folder.enter_diagnosis(&case.id)?.err();
                let (subject, scenario) = names(case);
                let has_failed = failure.is_some();
                emit(RunEvent::Diagnosed { subject, scenario, failure });
                Ok(has_failed)
            }
            TrialId::Launch(_) => Ok(false),
        }
    }

    /// All trials of a launch are entered.
    fn launch_finished(&self, launch: u32, at: &AtHand) -> RunEvent {
        let plan = self.setup.plan;
        RunEvent::LaunchFinished {
            launch,
            of: plan.launches(),
            cases: plan.launch(launch).count() as u32,
            failed: at.failed,
            took_s: at.began.elapsed().as_secs_f64(),
            left_s: self.eta.now_s(),
        }
    }

    /// The trials that a block was at when it ended without a word: of a launch those that were not finished yet.
    fn lost_trials(&self, at: &TrialId) -> Vec<TrialId> {
        let RunSetup { plan, folder, .. } = self.setup;
        match at {
            TrialId::Launch(launch) => {
                let open = plan.launch(*launch).filter(|planned| !folder.is_finished(planned));
                open.map(|planned| TrialId::Scored(planned.number)).collect()
            }
            alone => vec![alone.clone()],
        }
    }

    /// Records the trial that a block was at when it ended without a word as failed by the lab, unless its record is there.
    fn lost(&self, trial: &TrialId, lost: &AtHand, how: ExitStatus) -> Result<(), StoreError> {
        let RunSetup { folder, .. } = self.setup;
        let message = format!("the process that ran the block ended in the middle of the trial ({how})");
        match trial {
            TrialId::Scored(number) => {
                let Some((planned, _)) = self.planned(*number).filter(|(planned, _)| !folder.is_finished(planned))
                else {
                    return Ok(());
                };
                let failure = Failure { reason: FailureKind::LabFailed, message, log_tail: Vec::new() };
                RunFolder::open(folder.path()).begin_trial(planned)?.finish(&TrialRecord {
                    format: RECORD_FORMAT,
                    number: planned.number,
                    block: planned.block,
                    case: planned.case.clone(),
                    started_at: lost.started_at.to_string(),
                    took_s: lost.began.elapsed().as_secs_f64(),
                    commands: Vec::new(),
                    attempts: 1,
                    isolation: None,
                    outcome: Outcome::Failed(failure),
                })
            }
            TrialId::Diagnosis(case) if !folder.is_diagnosed(case) => {
                let record = DiagnosisRecord { format: RECORD_FORMAT, case: case.clone(), outcome: Err(message) };
                RunFolder::open(folder.path()).begin_diagnosis(case)?.finish_diagnosis(&record)
            }
            TrialId::Diagnosis(_) | TrialId::Launch(_) => Ok(()),
        }
    }

    fn planned(&self, number: u32) -> Option<(&'a PlannedTrial, &'a Case)> {
        let plan = self.setup.plan;
        let planned = plan.trials.iter().find(|trial| trial.number == number)?;
        Some((planned, plan.case(&planned.case)?))
    }

    fn summary(&self) -> Result<RunSummary, StoreError> {
        let RunSetup { plan, folder, .. } = self.setup;
        let records = folder.read()?.trials;
        let failed = records.iter().filter(|record| matches!(record.outcome, Outcome::Failed(_))).count();
        let recorded = |trial: &&PlannedTrial| records.iter().any(|record| record.number == trial.number);
        let meant = plan.trials.iter().filter(|trial| trial.block <= self.last_block);
        let missing = meant.filter(|trial| !recorded(trial)).count();
        Ok(RunSummary { run: self.eta.steps(), missing: missing as u32, failed: failed as u32 })
    }
}

impl AtHand {
    fn begun(trial: TrialId) -> Self {
        Self { trial, began: Instant::now(), started_at: jiff::Timestamp::now(), failed: 0 }
    }

    /// The number of a scored trial.
    fn number(&self) -> Option<u32> {
        match self.trial {
            TrialId::Scored(number) => Some(number),
            TrialId::Diagnosis(_) | TrialId::Launch(_) => None,
        }
    }
}

/// The box of a block that was killed outlives it for an instant; the keeper removes the block's private folder as its last
/// step. A block that was killed between two boxes leaves the folder to the next start of tolok.
fn wait_for_end_of(session: Option<&Path>) {
    let deadline = Instant::now() + BOX_END_LIMIT;
    while session.is_some_and(Path::exists) && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}

/// The subject as a person would write it, and the id of the scenario.
fn names(case: &Case) -> (String, String) {
    (case.subject.label.clone(), case.scenario.clone())
}

/// A path that says the same wherever it is read.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
