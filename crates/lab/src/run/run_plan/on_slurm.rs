//! Runs blocks on Slurm's nodes: several at once, each on its own nodes.
//!
//! Ratios are formed within a block, so a lost block runs again in full on another node. What it had measured stays in its attempt's
//! folder, which no figure uses.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};
use tolok_model::{Node, PlannedTrial};

use super::flight::{Apart, Flight, Loss, LostNode};
use super::{Run, RunError};
use crate::run::block::process::Heard;
use crate::run::block::protocol::{Elsewhere, Part, Word};
use crate::run::events::event::RunEvent;
use crate::run::reruns::Reruns;
use crate::run::slurm::{Cancelling, QueueWatch, Slurm};

/// How often the run and its blocks tell each other that they are alive.
pub(in crate::run) const BEAT: Duration = Duration::from_secs(1);
/// A block that is silent for longer is lost.
const SILENCE_LIMIT: Duration = Duration::from_secs(3);
/// The run fails when one block has been lost this often.
const MOST_LOSSES: usize = 3;
/// A job that Slurm refuses is submitted again after this pause, because the controller may only be down for a while.
const REFUSAL_PAUSE: Duration = Duration::from_secs(5);
/// The run fails when Slurm has refused a block's job for this long.
const REFUSAL_LIMIT: Duration = Duration::from_secs(5 * 60);

/// A block that still has to run, and the nodes on which it was lost.
struct OpenBlock<'p> {
    block: u32,
    trials: Vec<&'p PlannedTrial>,
    lost_on: BTreeSet<String>,
    losses: usize,
    /// When Slurm first refused its job, and when to submit it again.
    refused: Option<(Instant, Instant)>,
    /// Receives the nodes that Slurm reports as lost, if it is unknown which one the block lost.
    asked: Option<Receiver<BTreeSet<String>>>,
}

impl<'p> OpenBlock<'p> {
    fn of(trials: &[&'p PlannedTrial]) -> Self {
        let (lost_on, losses, refused, asked) = Default::default();
        Self { block: trials[0].block, trials: trials.to_vec(), lost_on, losses, refused, asked }
    }

    /// Whether its job can be submitted now.
    fn is_due(&mut self) -> bool {
        match self.asked.as_ref().map(Receiver::try_recv) {
            Some(Ok(lost)) => self.lost_on.extend(lost),
            Some(Err(TryRecvError::Empty)) => return false,
            Some(Err(TryRecvError::Disconnected)) | None => {}
        }
        self.asked = None;
        self.refused.is_none_or(|(_, again)| again <= Instant::now())
    }
}

/// A block at work on a node, or waiting for one in Slurm's queue.
struct AtWork<'p> {
    open: OpenBlock<'p>,
    flight: Flight,
    job: String,
}

/// What the run does periodically while it listens.
struct Pulse {
    /// When the last beat was sent to the blocks.
    beat: Instant,
    queue: QueueWatch,
}

type Flights<'p> = BTreeMap<u32, AtWork<'p>>;
/// The channel of the blocks' messages, each tagged with the number of its flight.
type Line = (Sender<(u32, Heard)>, Receiver<(u32, Heard)>);

impl<'a> Run<'a> {
    /// Runs the blocks of these trials on Slurm's nodes.
    pub(super) fn run_on(
        &mut self,
        slurm: &Slurm,
        open: &[&'a PlannedTrial],
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        self.cancel_lost_jobs()?;
        let mut at_work = Flights::new();
        let ran = self.run_blocks_on(slurm, open, &mut at_work, emit);
        // After an error, others may still be at work.
        at_work.into_values().for_each(|at| self.give_up(at.flight, &at.job));
        let cancelled = self.cancel_all_jobs();
        // Dropping the old one waits until its jobs are cancelled.
        self.cancelling = Cancelling::at(slurm.conf());
        ran.and(cancelled)
    }

    /// Cancels the jobs of attempts that an earlier session lost. It names them, because `squeue` may answer only after the first jobs
    /// of this session were submitted.
    fn cancel_lost_jobs(&mut self) -> Result<(), RunError> {
        let folder = self.setup.folder;
        let run = folder.run()?.id;
        folder.attempts().iter().for_each(|attempt| self.cancelling.take(job_name(&run, attempt), None));
        self.cancelling.send();
        Ok(())
    }

    /// Cancels every job of this run, including those that were not cancelled while the controller was down. Call it only when the run
    /// needs none of them.
    fn cancel_all_jobs(&mut self) -> Result<(), RunError> {
        self.cancelling.take_all(job_name(&self.setup.folder.run()?.id, ""));
        self.cancelling.send();
        Ok(())
    }

    fn run_blocks_on(
        &mut self,
        slurm: &Slurm,
        open: &[&'a PlannedTrial],
        at_work: &mut Flights<'a>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(), RunError> {
        let line: Line = channel();
        let blocks = open.chunk_by(|one, next| one.block == next.block);
        let mut waiting: VecDeque<OpenBlock<'a>> = blocks.map(OpenBlock::of).collect();
        let mut pulse = Pulse { beat: Instant::now(), queue: QueueWatch::at(slurm.conf()) };
        let (mut number, mut has_new) = (0, true);
        loop {
            if std::mem::take(&mut has_new) {
                self.ask_the_rule(emit)?;
                self.give_up_after(self.last_block, at_work);
            }
            waiting.retain(|block| block.block <= self.last_block && !self.setup.stop.is_asked());
            self.give_up_dead_subjects();
            self.cancelling.send();
            while !self.setup.stop.is_asked()
                && !self.cancelling.is_withdrawing()
                && at_work.len() < slurm.request().max_jobs as usize
                && let Some(place) = waiting.iter_mut().position(OpenBlock::is_due)
                && let Some(next) = waiting.remove(place)
            {
                number += 1;
                at_work.insert(number, self.submit(slurm, next, (number, &line.0))?);
            }
            if at_work.is_empty() && waiting.is_empty() {
                return Ok(());
            }
            let (again, is_over) = self.hear(&line, &mut pulse, at_work, emit)?;
            waiting.extend(again);
            has_new = is_over;
        }
    }

    /// Listens to the blocks until one ends or is lost, or until a beat is due. Returns the blocks that must run again, and whether one
    /// ended.
    fn hear(
        &mut self,
        (sender, heard): &Line,
        pulse: &mut Pulse,
        at_work: &mut Flights<'a>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<(Vec<OpenBlock<'a>>, bool), RunError> {
        loop {
            match heard.recv_timeout(BEAT.saturating_sub(pulse.beat.elapsed())) {
                Ok((number, Heard::Silence)) => {
                    let Some(at) = explained(number, sender, at_work) else { continue };
                    return Ok((self.over(at, None, emit)?.into_iter().collect(), true));
                }
                Ok((number, Heard::Complaint(said))) => {
                    let Some(at) = at_work.remove(&number) else { continue };
                    return Ok((self.over(at, said, emit)?.into_iter().collect(), true));
                }
                Ok((number, Heard::StopAsked)) => self.tell_to_stop(number, at_work),
                Ok((number, Heard::Generator(alive))) => {
                    at_work
                        .get_mut(&number)
                        .into_iter()
                        .for_each(|at| self.note_generator(&mut at.flight, alive.clone()));
                }
                Ok((number, Heard::Block(event))) => {
                    let Some(mut at) = at_work.remove(&number) else { continue };
                    at.open.refused = None;
                    match self.follow(&mut at.flight, event, emit) {
                        // The files that its node wrote cannot be read.
                        Err(RunError::Store(error)) => {
                            let lost = self.lose(at, Loss::of_block(error), emit)?;
                            return Ok((lost.into_iter().collect(), false));
                        }
                        // Don't wait for its `srun`, which would wait for the lost node.
                        followed if at.flight.apart.as_ref().is_some_and(|apart| apart.loss.is_some()) => {
                            followed?;
                            return Ok((self.over(at, None, emit)?.into_iter().collect(), false));
                        }
                        followed => {
                            at_work.insert(number, at);
                            followed?;
                        }
                    }
                }
                Err(_) => {
                    pulse.beat = Instant::now();
                    return Ok((self.lose_the_silent(pulse, at_work, emit)?, false));
                }
            }
        }
    }

    /// Gives up blocks with a silent node and jobs that Slurm no longer lists. Returns those that must run again.
    fn lose_the_silent(
        &mut self,
        pulse: &mut Pulse,
        at_work: &mut Flights<'a>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Vec<OpenBlock<'a>>, RunError> {
        let mut again = Vec::new();
        for (at, loss) in beat_all(at_work) {
            again.extend(self.lose(at, loss, emit)?);
        }
        for at in take_forgotten(&mut pulse.queue, at_work) {
            self.give_up(at.flight, &at.job);
            again.extend(refused(at.open, "Slurm no longer knows its job".to_owned(), false, emit)?);
        }
        Ok(again)
    }

    fn submit(
        &mut self,
        slurm: &Slurm,
        open: OpenBlock<'a>,
        (number, run): (u32, &Sender<(u32, Heard)>),
    ) -> Result<AtWork<'a>, RunError> {
        let folder = self.setup.folder;
        let attempt = folder.begin_attempt(open.block)?;
        let record = folder.run()?;
        let job = job_name(&record.id, attempt.name());
        let trials = open.trials.iter().map(|trial| trial.number).collect();
        let mut asked = self.job(Part::Block { block: open.block, trials })?;
        // The node may be busy, although this machine was quiet.
        (asked.wait_until_quiet, asked.reruns_left) = (true, Reruns::left(open.trials.len(), 0));
        let alike = (!slurm.request().mixed_hardware).then_some(record.machine);
        let (generators, token) = (slurm.request().generators, token()?);
        asked.apart = Some(Elsewhere { attempt: attempt.name().to_owned(), alike, generators, token });
        let mut command = slurm.job(&job, &open.lost_on);
        command.arg(&self.setup.laboratory.tolok);
        let flight = self.start(command, &asked, Some(Apart::begun(attempt)), (number, run.clone()))?;
        Ok(AtWork { open, flight, job })
    }

    /// Cancels a block that waits in the queue, or tells one on a node to stop.
    fn tell_to_stop(&mut self, number: u32, at_work: &mut Flights<'a>) {
        let Some(mut at) = at_work.remove(&number) else { return };
        if at.is_on_a_node() {
            at.flight.process.tell(Word::Stop);
            at_work.insert(number, at);
        } else {
            self.give_up(at.flight, &at.job);
        }
    }

    /// Gives up blocks that the stopping rule made unnecessary.
    fn give_up_after(&mut self, last_block: u32, at_work: &mut Flights<'a>) {
        let needless: Vec<u32> =
            at_work.iter().filter(|(_, at)| at.open.block > last_block).map(|(number, _)| *number).collect();
        for at in needless.iter().filter_map(|number| at_work.remove(number)).collect::<Vec<_>>() {
            self.eta.again(at.flight.done);
            self.give_up(at.flight, &at.job);
        }
    }

    fn give_up(&mut self, flight: Flight, job: &str) {
        self.cancelling.take(job.to_owned(), Some(flight.process));
    }

    /// Handles the end of a block's output. The run adopts a complete block; an incomplete one must run again. `complaint` holds
    /// the last lines of its `srun`'s standard error.
    fn over(
        &mut self,
        mut at: AtWork<'a>,
        complaint: Option<String>,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<OpenBlock<'a>>, RunError> {
        let is_whole = at.is_whole();
        let Some(apart) = &mut at.flight.apart else { return Ok(None) };
        if let (true, Some(record)) = (is_whole, &apart.record) {
            self.setup.folder.adopt(&apart.attempt, record, &at.open.trials)?;
            return Ok(None);
        }
        if let Some(loss) = apart.loss.take() {
            return self.lose(at, loss, emit);
        }
        let (failure, has_begun) = (apart.failure.take(), apart.place.is_some());
        let is_own_fault = failure.is_some() && apart.record.is_none();
        // Slurm may have ended it because another of its nodes is lost.
        let is_any = failure.is_none() && !apart.generators.is_empty();
        let why = failure.or(complaint).unwrap_or_else(|| "its process ended".to_owned());
        if self.setup.stop.is_asked() || (has_begun && !is_own_fault) {
            let node = if is_any { LostNode::Unknown } else { LostNode::First };
            return self.lose(at, Loss { node, why }, emit);
        }
        self.give_up(at.flight, &at.job);
        refused(at.open, why, is_own_fault, emit)
    }

    /// Gives up a block that was lost, and returns it to run again on another node. Fails after [`MOST_LOSSES`] losses.
    fn lose(
        &mut self,
        at: AtWork<'a>,
        Loss { node, why }: Loss,
        emit: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<OpenBlock<'a>>, RunError> {
        let AtWork { mut open, flight, job } = at;
        let first = flight.apart.as_ref().and_then(|apart| apart.place.clone().flatten());
        let node = match node {
            LostNode::First => first,
            LostNode::Generator(name) => first.map(|first| Node { name, ..first }),
            LostNode::Unknown => None,
        };
        self.eta.again(flight.done);
        self.give_up(flight, &job);
        if self.setup.stop.is_asked() {
            return Ok(None);
        }
        open.asked = self.setup.slurm.filter(|_| node.is_none()).map(Slurm::ask_for_lost_nodes);
        open.lost_on.extend(node.as_ref().map(|node| node.name.clone()));
        open.losses += 1;
        let (block, again) = (open.block, open.losses < MOST_LOSSES);
        emit(RunEvent::BlockLost { block, node, why: why.clone(), again });
        if again {
            return Ok(Some(open));
        }
        Err(RunError::Block(format!(
            "round {block} was lost {MOST_LOSSES} times; the last time because {why}. Finished rounds are kept: `tolok resume`"
        )))
    }
}

/// Takes out a block whose output ended, if it is complete or gave its reason. Otherwise the run gets the reason once its `srun` ends.
/// It does not wait here, because other blocks need their beats.
fn explained<'p>(number: u32, run: &Sender<(u32, Heard)>, at_work: &mut Flights<'p>) -> Option<AtWork<'p>> {
    let at = at_work.get_mut(&number)?;
    if at.is_whole() || at.has_said_why() {
        return at_work.remove(&number);
    }
    at.flight.process.ask_why((number, run.clone()));
    None
}

/// Schedules a job that never began to be submitted again. Fails if the block itself reported the reason, or after [`REFUSAL_LIMIT`].
fn refused<'p>(
    mut open: OpenBlock<'p>,
    why: String,
    by_block: bool,
    emit: &mut dyn FnMut(RunEvent),
) -> Result<Option<OpenBlock<'p>>, RunError> {
    let (block, now) = (open.block, Instant::now());
    let since = open.refused.map_or(now, |(since, _)| since);
    let left = REFUSAL_LIMIT.saturating_sub(since.elapsed());
    if by_block || left.is_zero() {
        return Err(RunError::Block(format!("round {block} cannot begin on a node of Slurm: {why}")));
    }
    if open.refused.is_none() {
        emit(RunEvent::BlockRefused { block, why, at_most_s: left.as_secs_f64() });
    }
    open.refused = Some((since, now + REFUSAL_PAUSE));
    Ok(Some(open))
}

/// The job name of an attempt at a block.
fn job_name(run: &str, attempt: &str) -> String {
    format!("tolok-{run}-{}", attempt.rsplit('/').next().unwrap_or_default())
}

impl AtWork<'_> {
    fn is_whole(&self) -> bool {
        let is_recorded = self.flight.apart.as_ref().is_some_and(|apart| apart.record.is_some());
        is_recorded && self.flight.done == self.open.trials.len()
    }

    fn has_said_why(&self) -> bool {
        self.flight.apart.as_ref().is_some_and(|apart| apart.loss.is_some() || apart.failure.is_some())
    }

    fn is_on_a_node(&self) -> bool {
        self.flight.apart.as_ref().is_some_and(|apart| apart.place.is_some())
    }
}

impl Loss {
    fn of_block(why: impl ToString) -> Self {
        Self { node: LostNode::First, why: why.to_string() }
    }

    /// The loss of a block with a silent node. `None` if none of its nodes is silent.
    fn by_silence(at: &AtWork<'_>) -> Option<Self> {
        let is_silent = |last_heard: &Instant| last_heard.elapsed() > SILENCE_LIMIT;
        let generators = || at.flight.apart.iter().flat_map(|apart| apart.generators.values());
        let first = generators().find(|(_, last_heard)| is_silent(last_heard)).map(|(name, _)| name.clone());
        let are_all_late = generators().all(|(_, last_heard)| last_heard.elapsed() > 2 * BEAT);
        let why = |who: &str| format!("{who} silent for {} s", SILENCE_LIMIT.as_secs());
        match (is_silent(&at.flight.last_heard), first) {
            (true, _) if are_all_late && generators().count() > 0 => {
                Some(Self { node: LostNode::Unknown, why: why("its nodes were") })
            }
            (true, _) => Some(Self::of_block(why("it was"))),
            (false, name) => name.map(|name| Self { node: LostNode::Generator(name), why: why("it was") }),
        }
    }
}

/// A random token by which a block's generators recognise it.
fn token() -> Result<String, RunError> {
    let mut bytes = [0; 16];
    let none = |error| RunError::Block(format!("the kernel gives no random numbers: {error}"));
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(none)?;
    Ok(bytes.map(|byte| format!("{byte:02x}")).concat())
}

/// Sends a beat to the blocks on nodes. Takes out those with a node that has been silent for too long.
fn beat_all<'p>(at_work: &mut Flights<'p>) -> Vec<(AtWork<'p>, Loss)> {
    let on_nodes = at_work.iter().filter(|(_, at)| at.is_on_a_node());
    let silent: Vec<(u32, Loss)> = on_nodes.filter_map(|(number, at)| Some((*number, Loss::by_silence(at)?))).collect();
    let silent = silent.into_iter().filter_map(|(number, loss)| Some((at_work.remove(&number)?, loss))).collect();
    at_work.values_mut().filter(|at| at.is_on_a_node()).for_each(|at| at.flight.process.tell(Word::Beat));
    silent
}

/// Takes out waiting blocks whose jobs Slurm no longer lists.
fn take_forgotten<'p>(queue: &mut QueueWatch, at_work: &mut Flights<'p>) -> Vec<AtWork<'p>> {
    let waiting = at_work.values().filter(|at| !at.is_on_a_node()).map(|at| at.job.clone()).collect();
    let forgotten = queue.forgotten(waiting);
    at_work.extract_if(.., |_, at| forgotten.contains(&at.job)).map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_lost_an_unknown_node_waits_for_what_slurm_says() {
        let (sender, answer) = channel();
        let mut open = OpenBlock {
            block: 1,
            trials: Vec::new(),
            lost_on: BTreeSet::new(),
            losses: 1,
            refused: None,
            asked: Some(answer),
        };
        assert!(!open.is_due());
        sender.send(["n3".to_owned()].into()).unwrap();
        assert!(open.is_due() && open.lost_on.contains("n3"));
        // A closed channel ends the wait as well.
        let (sender, answer) = channel();
        open.asked = Some(answer);
        drop(sender);
        assert!(open.is_due() && open.lost_on.len() == 1);
    }
}
