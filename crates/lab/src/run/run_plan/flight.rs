//! A block at work: the run's reactions to its events.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use tolok_host::machine;
use tolok_model::{DiagnosisRecord, Failure, FailureKind, Node, Outcome, RECORD_FORMAT, TrialRecord};
use tolok_store::{Attempt, RunFolder, StoreError};

use super::{Run, RunError, RunSetup, names};
use crate::run::block::process::{BlockProcess, Listener};
use crate::run::block::protocol::{BlockEvent, BlockJob, GeneratorAlive, TrialId, Word};
use crate::run::events::eta::stands_for;
use crate::run::events::event::{RunEvent, TrialEvent};

/// The box of a killed block is gone within this time.
const BOX_END_LIMIT: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(5);

/// A block at work, from the run's side.
pub(super) struct Flight {
    block: u32,
    pub(super) process: BlockProcess,
    at_hand: Option<AtHand>,
    /// The private folder in which it works.
    session: Option<PathBuf>,
    /// How many of its trials have a record.
    pub(super) done: usize,
    /// Set for a block on another machine.
    pub(super) apart: Option<Apart>,
    pub(super) last_heard: Instant,
}

/// A block on another machine. Its results are kept apart until it is over.
pub(super) struct Apart {
    pub(super) attempt: Attempt,
    /// The folder of its record, relative to that of the attempt.
    pub(super) record: Option<String>,
    /// Its node, once it has reported.
    pub(super) place: Option<Option<Node>>,
    /// Why it cannot go on.
    pub(super) failure: Option<String>,
    /// The nodes that generate its load, and when each last reported.
    pub(super) generators: BTreeMap<u32, (String, Instant)>,
    /// The lost node and the reason, if the block reported a loss.
    pub(super) loss: Option<Loss>,
}

/// Why a block is lost, and with which of its nodes.
pub(super) struct Loss {
    pub(super) node: LostNode,
    pub(super) why: String,
}

pub(super) enum LostNode {
    /// The block's own node.
    First,
    /// One that generated its load.
    Generator(String),
    /// Slurm ends a block on all nodes when one is lost, so the block cannot tell which.
    Unknown,
}

impl Apart {
    pub(super) fn begun(attempt: Attempt) -> Self {
        let (record, place, failure, loss) = Default::default();
        Self { attempt, record, place, failure, generators: BTreeMap::new(), loss }
    }
}

/// The trial or launch that a block is at.
struct AtHand {
    trial: TrialId,
    began: Instant,
    started_at: jiff::Timestamp,
    /// How many trials of the launch failed.
    failed: u32,
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

impl<'a> Run<'a> {
    /// Starts tolok through `command` as the block of a job.
    pub(super) fn start(
        &self,
        command: Command,
        job: &BlockJob,
        apart: Option<Apart>,
        listener: Listener,
    ) -> Result<Flight, RunError> {
        let started = BlockProcess::start(command, job, self.block_cpus.clone(), self.setup.stop, listener);
        let process = started.map_err(|error| not_started(&error))?;
        Ok(Flight {
            block: job.part.block(),
            process,
            at_hand: None,
            session: None,
            done: 0,
            apart,
            last_heard: Instant::now(),
        })
    }

    /// A generating node has reported.
    pub(super) fn note_generator(&self, flight: &mut Flight, alive: Box<GeneratorAlive>) {
        let Some(apart) = &mut flight.apart else { return };
        let known = apart.generators.insert(alive.number, (alive.name.clone(), Instant::now()));
        if known.is_none() {
            flight.process.tell(Word::Generator(alive));
        }
    }

    /// Reacts to an event of a block.
    pub(super) fn follow(
        &mut self,
        flight: &mut Flight,
        event: BlockEvent,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        flight.last_heard = Instant::now();
        match event {
            BlockEvent::Alive(node) => {
                if let Some(apart) = flight.apart.as_mut().filter(|apart| apart.place.is_none()) {
                    emit(RunEvent::BlockPlaced { block: flight.block, node: node.clone() });
                    apart.place = Some(node);
                }
            }
            BlockEvent::Over => {
                flight.process.tell(Word::Go);
                flight.process.tell(Word::End);
            }
            BlockEvent::Lost { node, why } => {
                if let Some(apart) = &mut flight.apart {
                    apart.loss = Some(Loss { node: node.map_or(LostNode::Unknown, LostNode::Generator), why });
                }
            }
            BlockEvent::Failed(why) => match &mut flight.apart {
                // The block's machine may be at fault.
                Some(apart) => apart.failure = Some(why),
                None => return Err(RunError::Block(why)),
            },
            BlockEvent::Recorded { folder, session } => match &mut flight.apart {
                Some(apart) => apart.record = Some(folder),
                None => {
                    self.setup.folder.enter_block(&folder)?;
                    flight.session = Some(session);
                }
            },
            BlockEvent::Waiting { reasons, at_most_s } => emit(RunEvent::Waiting { reasons, at_most_s }),
            // A stop request is already on its way to the block.
            BlockEvent::Ready(_) if self.setup.stop.is_asked() => {}
            BlockEvent::Ready(trial) => {
                self.begin(&trial, flight.apart.is_some(), emit)?;
                flight.at_hand = Some(AtHand::begun(trial));
                flight.process.tell(Word::Go);
            }
            BlockEvent::InTrial(event) => {
                let trial = flight.at_hand.as_ref().and_then(AtHand::number);
                // Progress of several simultaneous rounds would be mixed up.
                if flight.apart.is_none() || matches!(event, TrialEvent::Disturbed { .. }) {
                    emit(RunEvent::InTrial { trial, event });
                }
            }
            BlockEvent::Finished(trial) => self.note_finished(flight, &trial, emit)?,
        }
        Ok(())
    }

    fn note_finished(
        &mut self,
        flight: &mut Flight,
        trial: &TrialId,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), StoreError> {
        if let Some(at) = &flight.at_hand {
            self.note_time(trial, at);
        }
        let has_failed = self.finished(trial, flight.apart.as_ref().map(|apart| &apart.attempt), emit)?;
        if let Some(at) = &mut flight.at_hand {
            at.failed += u32::from(has_failed);
            if let TrialId::Launch(launch) = trial {
                emit(self.launch_finished(*launch, at));
            }
        }
        let is_launch = matches!(trial, TrialId::Launch(_));
        // The trials of a launch finish one by one, then the launch itself.
        if is_launch || flight.at_hand.as_ref().is_some_and(|at| at.trial == *trial) {
            flight.at_hand = None;
        }
        flight.done += usize::from(!is_launch);
        Ok(())
    }

    /// Notes the time that a trial or launch took.
    fn note_time(&mut self, over: &TrialId, at: &AtHand) {
        if at.trial != *over {
            return;
        }
        let case = match over {
            TrialId::Scored(number) => self.planned(*number).map(|(planned, _)| planned.case.clone()),
            TrialId::Launch(launch) => Some(stands_for(self.setup.plan.launch(*launch))),
            TrialId::Diagnosis(_) => None,
        };
        case.into_iter().for_each(|case| self.eta.took(&case, at.began.elapsed().as_secs_f64()));
    }

    /// Waits for the end of a block that sends nothing more. The current trial failed by the lab, unless it was stopped.
    /// Returns how many of the block's trials have a record now.
    pub(super) fn ended(&mut self, flight: Flight, emit: &mut dyn FnMut(RunEvent)) -> Result<usize, RunError> {
        let Flight { block, process, at_hand, session, mut done, .. } = flight;
        let (how, stop) = (process.end().map_err(|error| not_started(&error))?, self.setup.stop);
        match at_hand {
            Some(lost) if !stop.is_immediate() => {
                wait_for_end_of(session.as_deref());
                for trial in self.lost_trials(&lost.trial) {
                    self.lost(&trial, &lost, how)?;
                    self.finished(&trial, None, emit)?;
                    done += 1;
                }
            }
            None if done == 0 && !stop.is_asked() => {
                return Err(RunError::BlockEnded { block, how: how.to_string() });
            }
            _ => {}
        }
        Ok(done)
    }

    /// A trial begins: removes what an earlier attempt left, unless the new one is measured apart.
    fn begin(&self, trial: &TrialId, apart: bool, emit: &mut dyn FnMut(RunEvent)) -> Result<(), StoreError> {
        let RunSetup { plan, folder, .. } = self.setup;
        match trial {
            TrialId::Scored(number) => {
                let Some((planned, case)) = self.planned(*number) else { return Ok(()) };
                if !apart {
                    folder.withdraw_trial(planned)?;
                }
                let (subject, scenario) = names(case);
                emit(RunEvent::TrialStarted { trial: planned.clone(), subject, scenario });
            }
            TrialId::Diagnosis(case) => {
                let Some(case) = plan.case(case) else { return Ok(()) };
                let (subject, scenario) = names(case);
                emit(RunEvent::Diagnosing { subject, scenario });
            }
            TrialId::Launch(launch) => {
                let replaced = plan.launch(*launch).filter(|_| !apart);
                replaced.into_iter().try_for_each(|planned| folder.withdraw_trial(planned))?;
                let cases = plan.launch(*launch).count() as u32;
                let block = plan.launch(*launch).map(|planned| planned.block).next().unwrap_or_default();
                emit(RunEvent::LaunchStarted { launch: *launch, of: plan.launches(), block, cases });
            }
        }
        Ok(())
    }

    /// The record of a trial is on the disk: enters it in the manifest, unless it is kept apart, and emits an event. Returns
    /// whether the trial failed.
    fn finished(
        &mut self,
        trial: &TrialId,
        apart: Option<&Attempt>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<bool, StoreError> {
        let RunSetup { plan, folder, .. } = self.setup;
        match trial {
            TrialId::Scored(number) => {
                let Some((planned, case)) = self.planned(*number) else { return Ok(false) };
                let outcome = match apart {
                    Some(attempt) => attempt.outcome(planned)?,
                    None => folder.enter_trial(planned)?,
                };
                let has_failed = matches!(outcome, Outcome::Failed(_));
                self.note_start(&case.subject.subject, planned.block, &outcome);
                self.eta.step();
                let ((subject, scenario), left_s) = (names(case), self.eta.left_s());
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

    /// All trials of a launch are stored.
    fn launch_finished(&self, launch: u32, at: &AtHand) -> RunEvent {
        let plan = self.setup.plan;
        RunEvent::LaunchFinished {
            launch,
            of: plan.launches(),
            cases: plan.launch(launch).count() as u32,
            failed: at.failed,
            took_s: at.began.elapsed().as_secs_f64(),
            left_s: self.eta.left_s(),
        }
    }

    /// The trials that a block was at when it ended abnormally. For a launch, those that were not finished yet.
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

    /// Records a trial that was cut off by the abnormal end of its block as failed by the lab, unless its record exists.
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
}

/// The box of a killed block outlives it for an instant. The keeper removes the block's private folder as its last step.
/// A block that was killed between two boxes leaves the folder to tolok's next start.
fn wait_for_end_of(session: Option<&Path>) {
    let deadline = Instant::now() + BOX_END_LIMIT;
    while session.is_some_and(Path::exists) && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}

fn not_started(error: &std::io::Error) -> RunError {
    RunError::Block(format!("cannot start the process of a block: {}", machine::not_started(error)))
}
