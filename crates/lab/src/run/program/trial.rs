//! A trial of a program that is not a server: a box, and a timer in the subject's place that runs the program repeatedly.

use std::net::SocketAddr;
use std::path::Path;

use tolok_model::{
    CpuMap, Environment, FailureKind, Isolation, Outcome, ProgramScenario, ProgramTiming, ProgramWorkload, Protocol,
    RECORD_FORMAT, RawWindow,
};

use crate::run::events::event::{Phase, TrialEvent};
use crate::run::failure::{because_of_a_limit, failure};
use crate::run::program::timing::{PART, TIMER_LOG, Timed, TimerAtHand};
use crate::run::reruns::Reruns;
use crate::run::server::launch::Launch;
use crate::run::server::trial::{Finished, TrialError, TrialSetup, load_average};
use crate::run::session::Place;
use crate::run::session::capabilities::BoxRequest;
use crate::run::session::cgroup_membership::CgroupMembership;
use crate::subject::Render;
use tolok_host::isolate::TrialBox;
use tolok_host::shell::command_line;
use tolok_host::timer::{Task, TimerJob};
use tolok_store::recompute::program_rows::TIMER_REPORT;
use tolok_store::recompute::{DATABASE_LINK_REPORT, LINK_REPORT, RAW_WINDOW, TrialInputs, timing_of};
use tolok_store::{SUBJECT_LOG, StoreError, TrialFolder};

/// One trial of a program at work.
pub(in crate::run) struct ProgramTrial<'a> {
    pub(in crate::run) launch: Launch<'a>,
    pub(in crate::run) workload: ProgramWorkload,
    pub(in crate::run) scenario: &'a ProgramScenario,
    pub(in crate::run) environment: &'a Environment,
    pub(in crate::run) cpus: &'a CpuMap,
    /// Where the trial's files are kept.
    pub(in crate::run) folder: &'a TrialFolder,
    /// Seed for the link's random numbers, if the environment has a link.
    seed: u64,
    /// The program's command, once it is known.
    pub(super) commands: Vec<String>,
    /// How it is isolated from the rest of the machine, once that is known.
    pub(super) isolation: Option<Isolation>,
}

impl<'a> ProgramTrial<'a> {
    /// A trial of a case, or `None` if its subject, its workload or its environment is gone.
    pub(in crate::run) fn find(setup: TrialSetup<'a>) -> Option<Self> {
        let TrialSetup { session, plan, case, block, build, folder, stop, .. } = setup;
        let catalogue = &session.laboratory.catalogue;
        let scenario = plan.program(&case.scenario)?;
        let environment = plan.program_environment(scenario)?;
        let cpus = session.cpus.get(&environment.id)?;
        let subject = catalogue.subject(&case.subject.subject)?;
        let workload = catalogue.choose_program(&scenario.workload).ok()?;
        let (log, padding_bytes) = (folder.subject_log(), plan.padding_bytes(case, block));
        let protocol = Protocol::default();
        let launch = Launch { session, subject, choice: &case.subject, protocol, build, log, padding_bytes, stop };
        let seed = plan.seed.wrapping_add(u64::from(block));
        let (commands, isolation) = (Vec::new(), None);
        Some(Self { launch, workload, scenario, environment, cpus, folder, seed, commands, isolation })
    }

    /// Runs the trial, as [`crate::run::server::trial::Trial::run`] does.
    pub(in crate::run) fn run(
        mut self,
        reruns: &Reruns,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Option<Finished>, StoreError> {
        let mut attempts = 1;
        let timed = loop {
            let timed = self.measure(emit);
            let Ok(timing) = &timed else { break timed };
            let is_sound = timing.disturbances.is_empty();
            if is_sound || !reruns.again(attempts, &timing.disturbances, self.folder, emit)? {
                break timed;
            }
            attempts += 1;
        };
        self.finished(timed, attempts)
    }

    /// The result of the trial, or `None` if it was stopped.
    pub(super) fn finished(
        self,
        timed: Result<ProgramTiming, TrialError>,
        attempts: u32,
    ) -> Result<Option<Finished>, StoreError> {
        let outcome = match timed {
            Ok(timing) => Outcome::Timed(Box::new(timing)),
            Err(trial_error) => match failure(trial_error, self.folder, self.launch.stop, &Self::log_of)? {
                Some(failure) => Outcome::Failed(failure),
                None => return Ok(None),
            },
        };
        Ok(Some(Finished { commands: self.commands, attempts, isolation: self.isolation, outcome }))
    }

    /// The log with more on a failure.
    fn log_of(reason: FailureKind) -> &'static str {
        match reason {
            FailureKind::ToolFailed => TIMER_LOG,
            _ => SUBJECT_LOG,
        }
    }

    /// One attempt, from an empty folder to the end of every process.
    fn measure(&mut self, emit: &mut dyn FnMut(TrialEvent)) -> Result<ProgramTiming, TrialError> {
        emit(TrialEvent::Phase { phase: Phase::Starting });
        self.folder.write("subject.log", b"")?;
        let load_average = load_average();
        let session = self.launch.session;
        let unwritable = |source| StoreError::Write { path: std::env::temp_dir(), source };
        let scratch = session.trial_scratch().map_err(unwritable)?;
        let mut trial_box = self.open_box(0, scratch.path())?;
        self.isolation = Some(trial_box.isolation().clone());
        let timed = {
            let _guest = CgroupMembership::enter(session.capabilities, &trial_box);
            self.inside(&mut trial_box, scratch.path(), emit)
        };
        // The subject's control group, which shows the limits it hit, must still exist here.
        let timed = timed
            .map_err(|trial_error| because_of_a_limit(trial_error, &self.environment.subject, (&trial_box, PART)))?;
        trial_box.stop()?;
        self.timing(timed, load_average)
    }

    /// Opens a box with `run` as its private folder, for this program alone (0), or for this many that take turns.
    pub(super) fn open_box(&self, programs: usize, run: &Path) -> Result<TrialBox, TrialError> {
        let session = self.launch.session;
        let [report, database_report] = [LINK_REPORT, DATABASE_LINK_REPORT].map(|name| self.folder.path().join(name));
        let spec = session.capabilities.spec(&BoxRequest {
            environment: self.environment,
            cpus: self.cpus,
            servers: programs,
            database: false,
            external: false,
            apart: false,
            seed: self.seed,
            report: &report,
            database_report: &database_report,
            run_folder: Some((run, session.owner())),
            guard: Some(session.guard()),
            session: session.folder(),
        });
        Ok(TrialBox::open(&session.laboratory.tolok, &spec)?)
    }

    /// Everything between the opening and the closing of the box.
    fn inside(
        &mut self,
        trial_box: &mut TrialBox,
        run: &Path,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Timed, TrialError> {
        let job = self.job(trial_box, run)?;
        self.commands = vec![command_line(&job.work.argv)];
        let timer = TimerAtHand::find(self.scenario.timer, &self.launch.session.laboratory.programs);
        let timer = timer.map_err(|why| TrialError::failed(FailureKind::ToolFailed, why))?;
        self.take_times(trial_box, &job, &timer, emit)
    }

    /// The timer's job, with every template filled in.
    pub(super) fn job(&self, trial_box: &mut TrialBox, run: &Path) -> Result<TimerJob, TrialError> {
        // A program does not listen, so the port is 0.
        let address = SocketAddr::from((trial_box.subject_address(), 0));
        let (protocol, database) = (Protocol::default(), Default::default());
        let cpus = &self.cpus.subject;
        let place = Place { address, protocol, run, cpus, diagnosing: false, database, upstream: None };
        let (command, env) = self.launch.prepare_program(trial_box, &place)?;
        let task = |arguments: &[String], output: &str| -> Result<Task, TrialError> {
            let values = &self.workload.values;
            let arguments = arguments.iter().map(|argument| values.render(argument).map_err(TrialError::lab));
            let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
            let output = values.render_to_the_last_byte(output).map_err(TrialError::lab)?;
            Ok(Task { argv: [command.clone(), arguments].concat(), output })
        };
        let runs = &self.scenario.runs;
        Ok(TimerJob {
            work: task(&self.workload.arguments, &self.workload.output)?,
            floor: Some(task(&self.workload.floor, &self.workload.floor_output)?),
            env,
            cwd: run.to_owned(),
            log: self.folder.subject_log(),
            report: self.folder.path().join(TIMER_REPORT),
            warmup_runs: runs.warmup_runs,
            runs: runs.runs,
            at_most_s: runs.at_most_s,
            timeout_s: runs.timeout_s,
            turns: None,
        })
    }

    /// The figures, computed only from what is stored.
    pub(super) fn timing(&self, timed: Timed, load_average: f64) -> Result<ProgramTiming, TrialError> {
        let Timed { timer, window, clock_zero_ns, turns } = timed;
        let raw = RawWindow {
            format: RECORD_FORMAT,
            clock_zero_ns,
            began_ns: window.began.0,
            ended_ns: window.ended.0,
            tool: timer,
            machine_cpus: self.launch.session.logical_cpus as u32,
            load_average,
            padding_bytes: Some(self.launch.padding_bytes),
            server: None,
            turns,
        };
        self.folder.write_json(RAW_WINDOW, &raw)?;
        let isolation = self.isolation.as_ref();
        let given = TrialInputs { scenario: self.scenario, environment: self.environment, cpus: self.cpus, isolation };
        let made = timing_of(self.folder.folder(), &given, &raw);
        made.map_err(|why| TrialError::failed(FailureKind::ToolFailed, why))
    }
}
