//! Blocks on the nodes of Slurm: several at once, each on a node of its own, and each whole or not at all.
//!
//! A ratio is a matter of one block, so a block that was lost runs again whole on another node. What it had measured stays apart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use tolok_model::PlannedTrial;

use super::flight::{Apart, Flight};
use super::{Run, RunError};
use crate::run::block::process::Heard;
use crate::run::block::protocol::{Elsewhere, Part, Word};
use crate::run::events::event::RunEvent;
use crate::run::slurm::Slurm;

/// The run and its blocks tell each other this often that they are there.
pub(in crate::run) const BEAT: Duration = Duration::from_secs(1);
/// A block that is silent for so long is lost.
const SILENCE_LIMIT: Duration = Duration::from_secs(3);
/// How often a block may be lost before the run gives it up.
const MOST_LOSSES: usize = 3;
/// A job that Slurm refuses is asked for again, as its controller may only be away.
const REFUSAL_PAUSE: Duration = Duration::from_secs(5);
const REFUSAL_LIMIT: Duration = Duration::from_secs(5 * 60);

/// A block that has to be run, and where it was lost.
struct Waiting<'p> {
    block: u32,
    trials: Vec<&'p PlannedTrial>,
    lost_on: BTreeSet<String>,
    losses: usize,
    /// Since when Slurm refuses its job, and when it is asked again.
    refused: Option<(Instant, Instant)>,
}

impl<'p> Waiting<'p> {
    fn of(trials: &[&'p PlannedTrial]) -> Self {
        let (lost_on, losses, refused) = Default::default();
        Self { block: trials[0].block, trials: trials.to_vec(), lost_on, losses, refused }
    }

    fn is_due(&self) -> bool {
        self.refused.is_none_or(|(_, again)| again <= Instant::now())
    }
}

/// A block at work on a node, or waiting for one in Slurm's queue.
struct AtWork<'p> {
    waiting: Waiting<'p>,
    flight: Flight,
    /// Name of its job.
    job: String,
}

type Flights<'p> = BTreeMap<u32, AtWork<'p>>;

impl<'a> Run<'a> {
    /// Runs the blocks of these trials on nodes of Slurm.
    pub(super) fn run_on(
        &mut self,
        slurm: &Slurm,
        open: &[&'a PlannedTrial],
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        let mut at_work = Flights::new();
        let ran = self.run_blocks_on(slurm, open, &mut at_work, emit);
        // After an error, others may still be at work.
        at_work.into_values().for_each(|at| at.flight.process.give_up(Slurm::cancel(&at.job)));
        ran
    }

    fn run_blocks_on(
        &mut self,
        slurm: &Slurm,
        open: &[&'a PlannedTrial],
        at_work: &mut Flights<'a>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        let (sender, heard) = channel();
        let blocks = open.chunk_by(|one, next| one.block == next.block);
        let mut waiting: VecDeque<Waiting<'a>> = blocks.map(Waiting::of).collect();
        let (mut number, mut beat) = (0, Instant::now());
        loop {
            self.ask_the_rule(emit)?;
            waiting.retain(|block| block.block <= self.last_block && !self.setup.stop.is_asked());
            self.give_up_dead_subjects();
            while at_work.len() < slurm.request().max_jobs as usize
                && let Some(place) = waiting.iter().position(Waiting::is_due)
                && let Some(next) = waiting.remove(place)
            {
                number += 1;
                at_work.insert(number, self.submit(slurm, next, (number, &sender))?);
            }
            if at_work.is_empty() && waiting.is_empty() {
                return Ok(());
            }
            loop {
                match heard.recv_timeout(BEAT.saturating_sub(beat.elapsed())) {
                    Ok((number, Heard::Silence)) => {
                        let Some(at) = at_work.remove(&number) else { continue };
                        waiting.extend(self.over(at, emit)?);
                        break;
                    }
                    Ok((number, Heard::StopAsked)) => self.tell_to_stop(number, at_work),
                    Ok((number, Heard::Block(event))) => {
                        let Some(at) = at_work.get_mut(&number) else { continue };
                        self.follow(&mut at.flight, event, emit)?;
                    }
                    Err(_) => {
                        beat = Instant::now();
                        let silent = beat_all(at_work);
                        for at in silent {
                            waiting.extend(self.lose(at, "it was silent for 3 s", emit)?);
                        }
                        break;
                    }
                }
            }
        }
    }

    fn submit(
        &mut self,
        slurm: &Slurm,
        waiting: Waiting<'a>,
        (number, run): (u32, &Sender<(u32, Heard)>),
    ) -> Result<AtWork<'a>, RunError> {
        let folder = self.setup.folder;
        let attempt = folder.begin_attempt(waiting.block)?;
        let record = folder.run()?;
        let job = format!("tolok-{}-{}", record.id, attempt.name().rsplit('/').next().unwrap_or_default());
        let trials = waiting.trials.iter().map(|trial| trial.number).collect();
        let mut asked = self.job(Part::Block { block: waiting.block, trials })?;
        // Another machine may be busy.
        asked.wait_until_quiet = true;
        let alike = (!slurm.request().mixed_hardware).then_some(record.machine);
        asked.apart = Some(Elsewhere { attempt: attempt.name().to_owned(), alike });
        let mut command = slurm.job(&job, &waiting.lost_on);
        command.arg(&self.setup.laboratory.tolok);
        let apart = Apart { attempt, record: None, node: None, failure: None };
        let flight = self.start(command, &asked, Some(apart), (number, run.clone()))?;
        Ok(AtWork { waiting, flight, job })
    }

    /// One in the queue is taken out of it; one at work ends by itself.
    fn tell_to_stop(&self, number: u32, at_work: &mut Flights<'a>) {
        let Some(mut at) = at_work.remove(&number) else { return };
        if at.is_on_a_node() {
            at.flight.process.tell(Word::Stop);
            at_work.insert(number, at);
        } else {
            at.flight.process.give_up(Slurm::cancel(&at.job));
        }
    }

    /// A block says nothing more. If it is whole, the run takes it in; if not, it has to be run again.
    fn over(&mut self, mut at: AtWork<'a>, emit: &mut dyn FnMut(RunEvent)) -> Result<Option<Waiting<'a>>, RunError> {
        let (is_whole, apart) = (at.flight.done == at.waiting.trials.len(), at.flight.apart.take());
        let Some(apart) = apart else { return Ok(None) };
        if let (true, Some(record)) = (is_whole, &apart.record) {
            self.setup.folder.adopt(&apart.attempt, record, &at.waiting.trials)?;
            return Ok(None);
        }
        if self.setup.stop.is_asked() {
            return Ok(None);
        }
        let said = apart.failure.clone().or_else(|| at.flight.process.complaint());
        let why = said.unwrap_or_else(|| "its process ended".to_owned());
        if apart.node.is_none() {
            return refused(at.waiting, why, apart.failure.is_some(), emit);
        }
        at.flight.apart = Some(apart);
        self.lose(at, &why, emit)
    }

    /// Gives up a block where it is, and has it run again on another node.
    fn lose(
        &mut self,
        at: AtWork<'a>,
        why: &str,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<Waiting<'a>>, RunError> {
        let AtWork { mut waiting, flight, job } = at;
        let node = flight.apart.and_then(|apart| apart.node);
        flight.process.give_up(Slurm::cancel(&job));
        self.eta.again(flight.done);
        waiting.lost_on.extend(node.as_ref().map(|node| node.name.clone()));
        waiting.losses += 1;
        let (block, again) = (waiting.block, waiting.losses < MOST_LOSSES);
        emit(RunEvent::BlockLost { block, node, why: why.to_owned(), again });
        if again {
            return Ok(Some(waiting));
        }
        let nodes: Vec<&str> = waiting.lost_on.iter().map(String::as_str).collect();
        Err(RunError::Block(format!(
            "round {block} was lost {MOST_LOSSES} times, on {}; the last time because {why}. Finished rounds are kept: `tolok resume`",
            nodes.join(", ")
        )))
    }
}

/// A job that never began is asked for again, unless its own block says why not.
fn refused<'p>(
    mut waiting: Waiting<'p>,
    why: String,
    by_block: bool,
    emit: &mut dyn FnMut(RunEvent),
) -> Result<Option<Waiting<'p>>, RunError> {
    let (block, now) = (waiting.block, Instant::now());
    let since = waiting.refused.map_or(now, |(since, _)| since);
    let left = REFUSAL_LIMIT.saturating_sub(since.elapsed());
    if by_block || left.is_zero() {
        return Err(RunError::Block(format!("round {block} cannot begin on a node of Slurm: {why}")));
    }
    if waiting.refused.is_none() {
        emit(RunEvent::BlockRefused { block, why, at_most_s: left.as_secs_f64() });
    }
    waiting.refused = Some((since, now + REFUSAL_PAUSE));
    Ok(Some(waiting))
}

impl AtWork<'_> {
    fn is_on_a_node(&self) -> bool {
        self.flight.apart.as_ref().is_some_and(|apart| apart.record.is_some())
    }
}

/// Tells the blocks on nodes that the run is there, and takes those out that said nothing for too long.
fn beat_all<'p>(at_work: &mut Flights<'p>) -> Vec<AtWork<'p>> {
    let is_silent = |at: &AtWork<'_>| at.is_on_a_node() && at.flight.last_heard.elapsed() > SILENCE_LIMIT;
    let silent: Vec<u32> = at_work.iter().filter(|(_, at)| is_silent(at)).map(|(number, _)| *number).collect();
    let silent = silent.iter().filter_map(|number| at_work.remove(number)).collect();
    at_work.values_mut().filter(|at| at.is_on_a_node()).for_each(|at| at.flight.process.tell(Word::Beat));
    silent
}
