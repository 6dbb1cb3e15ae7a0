//! The work of a block, in its own process: the hidden verb `block`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tolok_model::figures::counted;
use tolok_model::{
    BlockRecord, Case, CpuMap, DiagnosisRecord, Failure, FailureKind, GeneratorMachine, MachineSummary, Plan,
    PlannedTrial, RECORD_FORMAT, TrialRecord, URL_WORKLOAD, Workload,
};

use super::generator::stand_by;
use super::protocol::{BlockEvent, BlockJob, Elsewhere, GeneratorAlive, Part, PreparedDatabase, TrialId, Word};
use crate::run::database::prepared;
use crate::run::events::event::TrialEvent;
use crate::run::machine_summary;
use crate::run::program::launch::{ProgramCase, ProgramLaunch};
use crate::run::program::trial::ProgramTrial;
use crate::run::reruns::Reruns;
use crate::run::run_plan::on_slurm::BEAT;
use crate::run::server::trial::{Finished, Trial, TrialSetup};
use crate::run::session::affinity::{AffinityGuard, allowed_cpus};
use crate::run::session::capabilities::Capabilities;
use crate::run::session::{Generators, Session, SessionError};
use crate::run::slices::{Launch, LaunchCase};
use crate::run::slurm::{end_job, generator_number, own_address, this_node};
use crate::run::stop::Stop;
use tolok_host::isolate::{ignore_stop_signals, job_of};
use tolok_host::machine::{Machine, Processes, ThisHost, busiest, busy_words, wait_until_quiet};
use tolok_store::{LineWriter, RunFolder, StoreError, TrialFolder};

/// How long to wait for a busy machine to become quiet before the first trial.
const QUIET_PATIENCE: Duration = Duration::from_secs(10);

/// How long a block on another machine waits for the run's next beat, and for its first, before it stops.
pub(super) const RUN_SILENCE_LIMIT: Duration = Duration::from_secs(10);
pub(super) const FIRST_BEAT_LIMIT: Duration = Duration::from_secs(30);

/// Why a block cannot go on.
#[derive(Debug, thiserror::Error)]
enum BlockError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(
        "the run's folder is not on {node}: {source}. Nodes must share the folders of runs, of the toolbox and of tolok with the \
         machine that starts the run"
    )]
    NotShared { node: String, source: StoreError },
    #[error(
        "{node} differs from the machine of the plan: {here} instead of {there}. Choose like nodes with --partition or \
         --constraint, or allow the difference with --mixed-hardware"
    )]
    OtherHardware { node: String, here: String, there: String },
    #[error(
        "{node} lets a round use {} (numbers {}), and the plan needs {} (numbers {}). Choose like nodes with --partition or --constraint",
        counted(here.len() as u64, "CPU"), listed(here), counted(needed.len() as u64, "CPU"), listed(needed)
    )]
    OtherCpus { node: String, here: Vec<u32>, needed: Vec<u32> },
    #[error("Slurm does not let this node tell where it is: {0}")]
    NoAddress(#[source] io::Error),
    #[error("{} lost: {why}", node.as_ref().map_or("a generator's node was".to_owned(), |node| format!("the generator's node {node} was")))]
    GeneratorLost { node: Option<String>, why: String },
}

/// Runs one block on this machine: the job and the run's words come from standard input; events go to standard output.
pub fn run_block() -> io::Result<()> {
    let mut input = BufReader::new(io::stdin());
    let mut line = String::new();
    if !io::stdin().is_terminal() {
        input.read_line(&mut line)?;
    }
    let job: BlockJob = job_of("block", &line)?;
    // Only the run handles signals; it sends the block a word instead.
    ignore_stop_signals()?;
    let stop = Stop::default();
    let (sender, consent) = channel();
    let (others, generators) = channel();
    let of_listener = stop.clone();
    let words = words_of(input)?;
    if let Some((apart, number)) = job.apart.as_ref().zip(generator_number()) {
        return stand_by(&job, apart, number, &words);
    }
    let patience = job.apart.is_some().then_some(FIRST_BEAT_LIMIT);
    std::thread::Builder::new().spawn(move || hear(&words, patience, &of_listener, (&sender, &others)))?;
    let mut run = Listener { events: Arc::new(Mutex::new(LineWriter::new(io::stdout())?)), consent, generators };
    if job.apart.is_some() {
        run.say_alive()?;
    }
    match work(&job, &stop, &mut run) {
        Ok(()) => {}
        Err(BlockError::GeneratorLost { node, why }) => run.tell(&BlockEvent::Lost { node, why }),
        Err(error) => run.tell(&BlockEvent::Failed(error.to_string())),
    }
    let is_left_alone = job.apart.is_some() && !run.is_released();
    // If the run is gone, lost events do not matter.
    let _ = run.events().finish();
    match this_node() {
        Some(node) if is_left_alone => end_job(&node),
        _ => Ok(()),
    }
}

/// The run's words, until its input ends.
fn words_of(input: impl BufRead + Send + 'static) -> io::Result<Receiver<Word>> {
    let (sender, words) = channel();
    std::thread::Builder::new().spawn(move || {
        let lines = input.lines().map_while(Result::ok);
        let mut words = lines.map_while(|line| serde_json::from_str(&line).ok());
        words.try_for_each(|word| sender.send(word))
    })?;
    Ok(words)
}

/// Follows the run's words until the run is gone, which means: stop now. A block on another machine may be cut off from the run, so
/// it also counts the run as gone after `patience` without a beat.
fn hear(
    words: &Receiver<Word>,
    mut patience: Option<Duration>,
    stop: &Stop,
    (consent, generators): (&Sender<Consent>, &Sender<GeneratorAlive>),
) {
    loop {
        let word = match patience {
            Some(limit) => words.recv_timeout(limit),
            None => words.recv().map_err(RecvTimeoutError::from),
        };
        let heard = match word {
            Ok(Word::Go) => consent.send(Consent::Given),
            Ok(Word::Stop) => {
                stop.ask();
                consent.send(Consent::Refused)
            }
            Ok(Word::Beat) => {
                patience = Some(RUN_SILENCE_LIMIT);
                Ok(())
            }
            Ok(Word::Generator(alive)) => {
                // Once all generators have reported, the receiver is gone.
                let _ = generators.send(*alive);
                Ok(())
            }
            Ok(Word::End) => Ok(()),
            Err(_) => break,
        };
        if heard.is_err() {
            return;
        }
    }
    stop.ask();
    stop.ask();
}

/// Whether the announced trial may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    Given,
    Refused,
}

/// The block's side of the connection to the run.
struct Listener {
    events: Arc<Mutex<LineWriter>>,
    consent: Receiver<Consent>,
    /// The generating nodes, one by one.
    generators: Receiver<GeneratorAlive>,
}

impl Listener {
    /// The nodes that generate the block's load, in order.
    fn generators(&self, of: u32) -> Result<Vec<GeneratorAlive>, BlockError> {
        let mut found: Vec<GeneratorAlive> = Vec::new();
        let deadline = Instant::now() + FIRST_BEAT_LIMIT;
        while found.len() < of as usize {
            let next = self.generators.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            let why =
                format!("{} of {of} said within {} s that they are there", found.len(), FIRST_BEAT_LIMIT.as_secs());
            found.push(next.map_err(|_| BlockError::GeneratorLost { node: None, why })?);
        }
        found.sort_by_key(|generator| generator.number);
        Ok(found)
    }

    fn events(&self) -> MutexGuard<'_, LineWriter> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports at every beat, until the block ends, that it is alive.
    fn say_alive(&self) -> io::Result<()> {
        let events = Arc::downgrade(&self.events);
        let alive = serde_json::to_string(&BlockEvent::Alive(this_node())).unwrap_or_default() + "\n";
        std::thread::Builder::new().spawn(move || {
            while let Some(events) = events.upgrade() {
                let _ = events.lock().unwrap_or_else(PoisonError::into_inner).push(alive.as_bytes());
                drop(events);
                std::thread::sleep(BEAT);
            }
        })?;
        Ok(())
    }

    /// Sends an event without waiting. Whether the run is gone shows in its silence.
    fn tell(&mut self, event: &BlockEvent) {
        if let Ok(line) = serde_json::to_string(event) {
            let _ = self.events().push((line + "\n").as_bytes());
        }
    }

    /// Reports that all is done, and waits for the run's answer. Returns false if the run is gone.
    fn is_released(&mut self) -> bool {
        self.tell(&BlockEvent::Over);
        self.consent.recv().is_ok()
    }

    /// Announces a trial and waits for the run's consent.
    fn consents_to(&mut self, trial: &TrialId) -> bool {
        self.tell(&BlockEvent::Ready(trial.clone()));
        self.consent.recv() == Ok(Consent::Given)
    }
}

fn work(job: &BlockJob, stop: &Stop, run: &mut Listener) -> Result<(), BlockError> {
    // Read the whole machine before this process confines itself to some of its CPUs.
    let machine = Machine::read();
    let run_folder = RunFolder::open(&job.folder);
    let read = run_folder.plan().and_then(|plan| Ok((plan, run_folder.run()?.cpus)));
    let (plan, cpus) = read.map_err(|source| not_read(job, source))?;
    let (mut folder, mut generators) = (run_folder, None);
    if let Some(apart) = &job.apart {
        check_cpus(&allowed_cpus(), &cpus)?;
        folder = RunFolder::open(&job.folder.join(&apart.attempt));
        generators = generators_of(apart, run)?;
        let others = generators.iter().flat_map(|generators| &generators.nodes);
        let others = others.map(|node| (Some(node.name.clone()), node.machine.clone()));
        for (node, here) in [(None, machine_summary(&machine))].into_iter().chain(others) {
            apart.alike.as_ref().map_or(Ok(()), |there| check_hardware(node, &here, there))?;
        }
    }
    let capabilities = Capabilities::prepare();
    let session = Session::begin(&job.laboratory, &capabilities, cpus, &owed(job, &plan))?.with_results(&job.folder);
    let session = session.with_generators(generators);
    let recorded = folder.begin_block(&record(&job.part, &machine, session.generators.as_ref()))?;
    run.tell(&BlockEvent::Recorded { folder: recorded, session: session.folder().to_owned() });
    let _own_cpus = AffinityGuard::off_the_subjects(&session.cpus);
    let reruns = Reruns::new(plan.reruns, job.reruns_left);
    let block = Block { job, session: &session, plan: &plan, folder: &folder, stop, reruns };
    if job.wait_until_quiet {
        block.wait_until_quiet(run);
    }
    match &job.part {
        Part::Block { trials, .. } => block.run_trials(trials, run)?,
        Part::Diagnoses(cases) => block.diagnose(cases, run)?,
    }
    match session.generators.as_ref().and_then(|generators| generators.lost.get().cloned()) {
        Some((node, why)) => Err(BlockError::GeneratorLost { node: Some(node), why }),
        None => Ok(()),
    }
}

/// The nodes that generate the block's load, unless its own node does.
fn generators_of(apart: &Elsewhere, run: &Listener) -> Result<Option<Generators>, BlockError> {
    if apart.generators == 0 {
        return Ok(None);
    }
    let server = own_address().map_err(BlockError::NoAddress)?;
    let (nodes, token) = (run.generators(apart.generators)?, apart.token.clone());
    Ok(Some(Generators { server, token, nodes, lost: OnceLock::new() }))
}

/// The workloads whose responses are compared. A URL's workload is requested by each trial instead. What is gone from the checkout
/// fails only its own trials.
fn owed(job: &BlockJob, plan: &Plan) -> Vec<Workload> {
    let mut owed = job.laboratory.workloads_of(plan);
    owed.retain(|workload| workload.name != URL_WORKLOAD);
    owed
}

fn record(part: &Part, machine: &Machine, generators: Option<&Generators>) -> BlockRecord {
    let (block, trials) = match part {
        Part::Block { block, trials } => (*block, trials.clone()),
        Part::Diagnoses(_) => (0, Vec::new()),
    };
    BlockRecord {
        format: RECORD_FORMAT,
        block,
        trials,
        started_at: jiff::Timestamp::now().to_string(),
        tolok_version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine_summary(machine),
        fingerprint: serde_json::to_value(machine).unwrap_or_default(),
        node: this_node(),
        generators: generators.iter().flat_map(|generators| &generators.nodes).map(generator_machine).collect(),
    }
}

fn generator_machine(alive: &GeneratorAlive) -> GeneratorMachine {
    GeneratorMachine { name: alive.name.clone(), machine: alive.machine.clone() }
}

/// On another machine, an unreadable folder is most likely not shared.
fn not_read(job: &BlockJob, source: StoreError) -> BlockError {
    match (&job.apart, this_node()) {
        (Some(_), Some(node)) => BlockError::NotShared { node: node.name, source },
        _ => source.into(),
    }
}

fn check_hardware(node: Option<String>, here: &MachineSummary, there: &MachineSummary) -> Result<(), BlockError> {
    if here.has_hardware_of(there) {
        return Ok(());
    }
    let node = node.or_else(|| Some(this_node()?.name)).unwrap_or_else(|| "this node".to_owned());
    Err(BlockError::OtherHardware { node, here: here.hardware(), there: there.hardware() })
}

/// If a CPU of the plan were missing, two parts of a trial would share one.
fn check_cpus(here: &[u32], cpus: &BTreeMap<String, CpuMap>) -> Result<(), BlockError> {
    let of_map =
        |map: &CpuMap| [&map.subject, &map.generator, &map.lab, &map.link, &map.database].map(Clone::clone).concat();
    let needed: Vec<u32> = cpus.values().flat_map(of_map).collect::<BTreeSet<u32>>().into_iter().collect();
    if needed.iter().all(|cpu| here.contains(cpu)) {
        return Ok(());
    }
    let node = this_node().map_or_else(|| "this node".to_owned(), |node| node.name);
    Err(BlockError::OtherCpus { node, here: here.to_vec(), needed })
}

fn listed(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<String>>().join(",")
}

struct Block<'a> {
    job: &'a BlockJob,
    session: &'a Session<'a>,
    plan: &'a Plan,
    folder: &'a RunFolder,
    stop: &'a Stop,
    reruns: Reruns,
}

impl Block<'_> {
    /// Waits a while for a busy machine to become quiet. If it stays busy, the block continues: each window is judged on its own, and a
    /// disturbed one is not scored. A study without re-runs does not wait.
    fn wait_until_quiet(&self, run: &mut Listener) {
        if self.plan.reruns == 0 {
            return;
        }
        let (mut host, keep_waiting) = (ThisHost::default(), || !self.stop.is_asked());
        let processes = Processes::default();
        let before = processes.cpu_times();
        let first = wait_until_quiet(Duration::ZERO, &mut host, &keep_waiting);
        let Some(busy) = first.last.filter(|seen| !seen.is_quiet()) else { return };
        let programs = busiest(&before, &processes.cpu_times(), busy.over_s, std::process::id());
        let sentences = busy.disturbances.into_iter().map(|one| one.sentence);
        let reasons = sentences.chain(busy_words(&programs)).collect();
        run.tell(&BlockEvent::Waiting { reasons, at_most_s: QUIET_PATIENCE.as_secs_f64() });
        wait_until_quiet(QUIET_PATIENCE, &mut host, &keep_waiting);
    }

    fn run_trials(&self, numbers: &[u32], run: &mut Listener) -> Result<(), StoreError> {
        let planned: Vec<&PlannedTrial> =
            self.plan.trials.iter().filter(|trial| numbers.contains(&trial.number)).collect();
        for together in planned.chunk_by(|one, next| one.launch.is_some() && one.launch == next.launch) {
            let goes_on = match together[0].launch {
                Some(launch) => self.run_launch(launch, together, run)?,
                None => self.run_alone(together[0], run)?,
            };
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Runs a single trial outside any launch. Returns false if the block is to end.
    fn run_alone(&self, planned: &PlannedTrial, run: &mut Listener) -> Result<bool, StoreError> {
        let Some(case) = self.plan.case(&planned.case) else { return Ok(true) };
        let id = TrialId::Scored(planned.number);
        if self.stop.is_asked() || !run.consents_to(&id) || !self.run_trial(planned, case, run)? {
            return Ok(false);
        }
        run.tell(&BlockEvent::Finished(id));
        Ok(true)
    }

    /// Runs the trials of a launch and stores their records. Returns false, and leaves nothing behind, if it was stopped.
    fn run_launch(&self, launch: u32, planned: &[&PlannedTrial], run: &mut Listener) -> Result<bool, StoreError> {
        let id = TrialId::Launch(launch);
        if self.stop.is_asked() || !run.consents_to(&id) {
            return Ok(false);
        }
        let folders = planned.iter().map(|trial| self.folder.begin_trial(trial)).collect::<Result<Vec<_>, _>>()?;
        let (began, started_at) = (Instant::now(), jiff::Timestamp::now());
        let cases = planned.iter().zip(&folders).filter_map(|(trial, folder)| {
            let case = self.plan.case(&trial.case)?;
            Some((case, self.setup(case, trial.block, folder)))
        });
        let finished = self.launch(launch, cases.collect(), &mut |event| run.tell(&BlockEvent::InTrial(event)))?;
        let Some(finished) = finished else {
            folders.into_iter().try_for_each(TrialFolder::abandon)?;
            return Ok(false);
        };
        let took_s = began.elapsed().as_secs_f64();
        for ((planned, folder), finished) in planned.iter().zip(folders).zip(finished) {
            let Finished { commands, attempts, isolation, outcome } = finished;
            folder.finish(&TrialRecord {
                format: RECORD_FORMAT,
                number: planned.number,
                block: planned.block,
                case: planned.case.clone(),
                started_at: started_at.to_string(),
                took_s,
                commands,
                attempts,
                isolation,
                outcome,
            })?;
            run.tell(&BlockEvent::Finished(TrialId::Scored(planned.number)));
        }
        run.tell(&BlockEvent::Finished(id));
        Ok(true)
    }

    /// Runs a launch of either kind to its end. Returns `None` if it was stopped.
    fn launch<'b>(
        &'b self,
        number: u32,
        cases: Vec<(&'b Case, Result<TrialSetup<'b>, Failure>)>,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Option<Vec<Finished>>, StoreError> {
        let (plan, cases) = (self.plan, cases.into_iter());
        if cases.as_slice().first().is_some_and(|(case, _)| plan.program(&case.scenario).is_some()) {
            let found = |(case, setup): (&'b Case, Result<TrialSetup<'b>, Failure>)| ProgramCase {
                case,
                trial: setup.and_then(|setup| ProgramTrial::find(setup).ok_or_else(|| gone(case))),
            };
            return ProgramLaunch { plan, number, cases: cases.map(found).collect() }.run(emit);
        }
        let found = |(case, setup): (&'b Case, Result<TrialSetup<'b>, Failure>)| LaunchCase {
            case,
            trial: setup.and_then(|setup| Trial::find(setup).ok_or_else(|| gone(case))),
        };
        Launch { plan, number, cases: cases.map(found).collect() }.run(emit)
    }

    /// Runs one trial and stores its record. Returns false, and leaves nothing behind, if it was stopped.
    fn run_trial(&self, planned: &PlannedTrial, case: &Case, run: &mut Listener) -> Result<bool, StoreError> {
        let kept = self.folder.begin_trial(planned)?;
        let (began, started_at) = (Instant::now(), jiff::Timestamp::now());
        let setup = self.setup(case, planned.block, &kept);
        let finished = self.finish(setup, &mut |event| run.tell(&BlockEvent::InTrial(event)))?;
        let Some(Finished { commands, attempts, isolation, outcome }) = finished else {
            kept.abandon()?;
            return Ok(false);
        };
        kept.finish(&TrialRecord {
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
        })?;
        Ok(true)
    }

    /// Runs a trial of either kind to its end. Returns `None` if it was stopped.
    fn finish(
        &self,
        setup: Result<TrialSetup<'_>, Failure>,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Option<Finished>, StoreError> {
        let setup = match setup {
            Ok(setup) => setup,
            Err(failure) => return Ok(Some(Finished::failed(failure))),
        };
        let case = setup.case;
        let finished = if self.plan.program(&case.scenario).is_some() {
            ProgramTrial::find(setup).map(|trial| trial.run(&self.reruns, emit))
        } else {
            Trial::find(setup).map(|trial| trial.run(&self.reruns, emit))
        };
        finished.unwrap_or_else(|| Ok(Some(Finished::failed(gone(case)))))
    }

    /// Runs each case once more, unscored, and stores what the counters found.
    fn diagnose(&self, cases: &[String], run: &mut Listener) -> Result<(), StoreError> {
        for case in self.plan.cases.iter().filter(|case| cases.contains(&case.id)) {
            let id = TrialId::Diagnosis(case.id.clone());
            if self.stop.is_asked() || !run.consents_to(&id) {
                break;
            }
            let kept = self.folder.begin_diagnosis(&case.id)?;
            let mut emit = |event| run.tell(&BlockEvent::InTrial(event));
            let trial = self.setup(case, 0, &kept).and_then(|setup| Trial::find(setup).ok_or_else(|| gone(case)));
            let outcome = match trial {
                Ok(trial) => trial.diagnose(&mut emit)?,
                Err(failure) => Some(Err(failure.message)),
            };
            let Some(outcome) = outcome else {
                kept.abandon()?;
                break;
            };
            kept.finish_diagnosis(&DiagnosisRecord { format: RECORD_FORMAT, case: case.id.clone(), outcome })?;
            run.tell(&BlockEvent::Finished(id));
        }
        Ok(())
    }

    /// What a trial of a case needs, or why it cannot run.
    fn setup<'b>(&'b self, case: &'b Case, block: u32, folder: &'b TrialFolder) -> Result<TrialSetup<'b>, Failure> {
        let (session, plan, stop) = (self.session, self.plan, self.stop);
        let (build, database) = (self.build_of(case)?, self.database_of(case)?);
        Ok(TrialSetup { session, plan, case, block, build, database, folder, stop })
    }

    /// Where the build of a case's subject is.
    fn build_of(&self, case: &Case) -> Result<&PathBuf, Failure> {
        let build = self.job.prepared.builds.get(&case.subject.subject).ok_or_else(|| gone(case))?;
        build.as_ref().map_err(Failure::clone)
    }

    /// The database of a case, if its workload uses one.
    fn database_of(&self, case: &Case) -> Result<Option<&prepared::Prepared>, Failure> {
        let Some(asked) = prepared::database_of(self.plan, case) else { return Ok(None) };
        let is_meant = |known: &&PreparedDatabase| prepared::same(&known.asked, asked);
        let known = self.job.prepared.databases.iter().find(is_meant).ok_or_else(|| gone(case))?;
        known.prepared.as_ref().map(Some).map_err(Failure::clone)
    }
}

fn gone(case: &Case) -> Failure {
    let message = format!("the subject or the workload of {} is not in this checkout any more", case.id);
    Failure { reason: FailureKind::LabFailed, message, log_tail: Vec::new() }
}
