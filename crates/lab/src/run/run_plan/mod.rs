//! The run: every trial of a plan in its order, block by block, and the work around the blocks.
//!
//! It prints nothing: it emits [`RunEvent`]s. It measures nothing itself: each block is a process
//! of its own ([`super::block`]), here ([`flight`]) or on nodes of Slurm ([`on_slurm`]).

mod flight;
pub(super) mod on_slurm;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::channel;

use tolok_model::{Case, Database, Failure, FailureKind, Outcome, Plan, PlannedTrial, Subject, TrialRecord};

use super::block::process::Heard;
use super::block::protocol::{BlockJob, Part, Preparations, PreparedDatabase, Word};
use super::build_place::{BuildPlace, build_failure};
use super::reruns::Reruns;
use super::slurm::{Cancelling, Slurm};
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
use tolok_store::{RunFolder, StoreError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSummary {
    /// Trials run in this session.
    pub run: u32,
    /// Trials without a record: the run was stopped before them.
    pub missing: u32,
    /// Records of failed trials, including earlier sessions.
    pub failed: u32,
}

/// Why a run ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run's folder cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A block cannot go on, for this reason.
    #[error("{0}")]
    Block(String),
    #[error(
        "the process of block {block} ended before its first trial ({how}); finished trials are kept: `tolok resume`"
    )]
    BlockEnded { block: u32, how: String },
}

/// Decides when enough blocks were run, according to the plan ([`tolok_model::Stopping`]). The lab does not judge results, so the
/// caller supplies the rule.
pub trait StopRule {
    /// After how many blocks the rule held, or `None` while it does not hold.
    fn blocks_settled(&self, trials: &[TrialRecord]) -> Option<u32>;

    /// What the results show so far, in words, for somebody who waits.
    fn standing(&self, _trials: &[TrialRecord]) -> Option<String> {
        None
    }
}

#[derive(Clone, Copy)]
pub struct RunSetup<'a> {
    /// What this machine has.
    pub laboratory: &'a Laboratory,
    pub plan: &'a Plan,
    /// The folder of the run, open for writing.
    pub folder: &'a RunFolder,
    pub stop: &'a Stop,
    /// The rule that may end the run early.
    pub rule: &'a dyn StopRule,
    /// What runs the blocks, if this machine does not.
    pub slurm: Option<&'a Slurm>,
}

/// Runs every trial of the plan that has no record yet, until the plan's rule for stopping holds. The run also ends if its folder
/// cannot be written or nodes are not available. A fault of a subject is recorded.
pub fn run_plan(setup: RunSetup<'_>, emit: &mut dyn FnMut(RunEvent)) -> Result<RunSummary, RunError> {
    let (plan, stop) = (setup.plan, setup.stop);
    let mut run = Run {
        setup,
        last_block: plan.blocks,
        prepared: Preparations::default(),
        eta: Eta::of(plan, &[]),
        block_cpus: Vec::new(),
        is_quiet: false,
        standing: String::new(),
        failed_starts: BTreeMap::new(),
        cancelling: Cancelling::at(setup.slurm.and_then(Slurm::conf)),
    };
    // `RunStarted` must be the first event of a session, so earlier ones are held back.
    let mut early = Vec::new();
    run.ask_the_rule(&mut |event| early.push(event))?;
    let mut open = open_trials(plan, &setup.folder.read()?.trials, run.last_block);
    if setup.slurm.is_some() {
        open = whole_blocks(plan, &open);
    }
    let to_diagnose = run.cases_to_diagnose();
    run.eta = Eta::of(plan, &open);
    emit(run.started(open.len())?);
    early.into_iter().for_each(&mut *emit);
    let of_trials = open.iter().filter_map(|trial| plan.case(&trial.case));
    let cases: Vec<&Case> = of_trials.chain(to_diagnose.iter().copied()).collect();
    run.build_subjects(&cases, BuildPlace::Cache, emit);
    run.prepare_databases(&cases, emit);
    if let Some(slurm) = setup.slurm {
        run.eta.begin();
        run.run_on(slurm, &open, emit)?;
        return run.close(emit);
    }
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
    run.close(emit)
}

/// The trials up to a block that still lack a result. A record of a lab failure is not a result: the trial is run again.
pub fn open_trials<'p>(plan: &'p Plan, records: &[TrialRecord], last_block: u32) -> Vec<&'p PlannedTrial> {
    let settled: BTreeSet<u32> =
        records.iter().filter(|record| !lab_failed(&record.outcome)).map(|record| record.number).collect();
    // A launch runs as a whole, because its slices are compared with each other.
    let open_launches: BTreeSet<u32> =
        plan.trials.iter().filter(|trial| !settled.contains(&trial.number)).filter_map(|trial| trial.launch).collect();
    let is_open = |trial: &&PlannedTrial| {
        !settled.contains(&trial.number) || trial.launch.is_some_and(|launch| open_launches.contains(&launch))
    };
    let open = plan.trials.iter().filter(is_open);
    open.filter(|trial| trial.block <= last_block && plan.case(&trial.case).is_some()).collect()
}

/// All trials of the blocks of these trials. On nodes, a round is run whole or not at all.
pub fn whole_blocks<'p>(plan: &'p Plan, open: &[&PlannedTrial]) -> Vec<&'p PlannedTrial> {
    let blocks: BTreeSet<u32> = open.iter().map(|trial| trial.block).collect();
    let of_blocks = plan.trials.iter().filter(|trial| blocks.contains(&trial.block));
    of_blocks.filter(|trial| plan.case(&trial.case).is_some()).collect()
}

struct Run<'a> {
    setup: RunSetup<'a>,
    /// The last block that is run: the plan's, or an earlier one once its rule for stopping holds.
    last_block: u32,
    prepared: Preparations,
    eta: Eta,
    /// The CPUs that a block may assign to the parts of its trials.
    block_cpus: Vec<u32>,
    /// Whether this session has already waited for a busy machine.
    is_quiet: bool,
    /// The last standing that the rule reported.
    standing: String,
    /// The rounds in which a subject did not start, and its last failure; `None` once it has started.
    failed_starts: BTreeMap<String, Option<(BTreeSet<u32>, Failure)>>,
    /// Jobs of Slurm that are being cancelled.
    cancelling: Cancelling,
}

impl<'a> Run<'a> {
    /// Ends the run early if the plan's rule for stopping holds by now.
    fn ask_the_rule(&mut self, emit: &mut dyn FnMut(RunEvent)) -> Result<(), StoreError> {
        let RunSetup { plan, folder, rule, .. } = self.setup;
        if !plan.may_end_early() || self.last_block < plan.blocks {
            return Ok(());
        }
        let trials = folder.read()?.trials;
        // A resumed run looks at finished blocks again, so the same standing is not repeated.
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

    /// Builds the subjects of these cases before they are measured, so no compiler runs beside a measurement.
    fn build_subjects(&mut self, cases: &[&Case], place: BuildPlace<'_>, emit: &mut dyn FnMut(RunEvent)) {
        let RunSetup { laboratory, stop, .. } = self.setup;
        let ids: BTreeSet<&str> = cases.iter().map(|case| case.subject.subject.as_str()).collect();
        // A subject that is gone from the checkout fails only its own trials.
        let known = ids.into_iter().filter_map(|id| laboratory.catalogue.subject(id));
        let mut subjects: Vec<&Subject> = known.filter(|subject| place.takes(subject)).collect();
        // In the order of first use.
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

    /// Gives up a subject that did not start in any trial of two rounds of this session, because each try costs its start time-out.
    /// A later session tries again, since the subject may have been fixed.
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

    /// Loads the data of every database once, before the first trial.
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

    /// The competing cases that need an unscored trial and have none yet. Timed programs are left out: the counts are per response,
    /// and programs give none.
    fn cases_to_diagnose(&self) -> Vec<&'a Case> {
        let RunSetup { plan, folder, .. } = self.setup;
        let is_server = |case: &&Case| plan.program(&case.scenario).is_none();
        // Servers that tolok does not start are left out too: they run outside its control groups.
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

    /// Runs the open trials of one block. If the process is killed, only the current trial is lost, and another process continues.
    fn run_block(&mut self, trials: &[&PlannedTrial], emit: &mut dyn FnMut(RunEvent)) -> Result<(), RunError> {
        let mut left = trials;
        while !left.is_empty() && !self.setup.stop.is_asked() {
            let trials = left.iter().map(|trial| trial.number).collect();
            left = &left[self.run_part(Part::Block { block: left[0].block, trials }, emit)?..];
        }
        Ok(())
    }

    /// The same with the block's own builds, which are removed with it.
    fn run_block_rebuilt(&mut self, trials: &[&PlannedTrial], emit: &mut dyn FnMut(RunEvent)) -> Result<(), RunError> {
        let RunSetup { laboratory, plan, .. } = self.setup;
        // Programs of a trial cannot see other sessions' folders in the temporary folder.
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

    /// Runs a part of the plan in a separate process on this machine. Returns how many of its trials have a record now.
    fn run_part(&mut self, part: Part, emit: &mut dyn FnMut(RunEvent)) -> Result<usize, RunError> {
        let (job, (sender, heard)) = (self.job(part)?, channel());
        let mut flight = self.start(Command::new(&self.setup.laboratory.tolok), &job, None, (0, sender))?;
        loop {
            match heard.recv() {
                Err(_) | Ok((_, Heard::Silence)) => break,
                Ok((_, Heard::Generator(_) | Heard::Complaint(_))) => {}
                Ok((_, Heard::StopAsked)) => flight.process.tell(Word::Stop),
                Ok((_, Heard::Block(event))) => self.follow(&mut flight, event, emit)?,
            }
        }
        self.ended(flight, emit)
    }

    fn job(&mut self, part: Part) -> Result<BlockJob, StoreError> {
        let RunSetup { laboratory, plan, folder, .. } = self.setup;
        let used = folder.read()?.trials.iter().map(|record| record.attempts.saturating_sub(1)).sum();
        let wait_until_quiet = !std::mem::replace(&mut self.is_quiet, true);
        Ok(BlockJob {
            folder: whole(folder.path()),
            part,
            apart: None,
            reruns_left: Reruns::left(plan.trials.len(), used),
            wait_until_quiet,
            laboratory: laboratory.for_plan(plan),
            prepared: self.prepared.clone(),
        })
    }

    fn planned(&self, number: u32) -> Option<(&'a PlannedTrial, &'a Case)> {
        let plan = self.setup.plan;
        let planned = plan.trials.iter().find(|trial| trial.number == number)?;
        Some((planned, plan.case(&planned.case)?))
    }

    /// The end of the run.
    fn close(&self, emit: &mut dyn FnMut(RunEvent)) -> Result<RunSummary, RunError> {
        let summary = self.summary()?;
        emit(RunEvent::RunEnded { missing: summary.missing, failed: summary.failed });
        Ok(summary)
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

/// The subject as a person would write it, and the id of the scenario.
fn names(case: &Case) -> (String, String) {
    (case.subject.label.clone(), case.scenario.clone())
}

/// A path that stays valid from any working directory.
fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
