//! A trial from start to stop: start, first correct response, warm-up, window, stop.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::time::Instant;

use tolok_model::{
    Case, CounterCheck, CpuMap, Database, DatabaseWindow, Diagnosis, Environment, ExternalServer, Failure, FailureKind,
    Isolation, LoadTool, Measurement, OutageRecord, Outcome, Plan, PoolWindow, Protocol, RECORD_FORMAT, RawServer,
    RawWindow, Scenario, Workload,
};

use crate::run::check::counter::check_counter;
use crate::run::database::prepared::Prepared;
use crate::run::database::trial_database::{DATABASE_LOG, TrialDatabase};
use crate::run::events::event::{Phase, TrialEvent};
use crate::run::failure::because_of_the_database;
use crate::run::reruns::Reruns;
use crate::run::server::diagnose::Counters;
use crate::run::server::external::address_of;
use crate::run::server::judge::judge;
use crate::run::server::launch::Launch;
use crate::run::server::measure::{Loaded, sampler};
use crate::run::server::probe_queue::Server;
use crate::run::server::upstream_part::check_asked;
use crate::run::session::capabilities::BoxRequest;
use crate::run::session::cgroup_membership::CgroupMembership;
use crate::run::session::{Generators, Place, Session};
use crate::run::stop::Stop;
use crate::subject::speech;
use crate::upstream::Upstream;
use tolok_host::isolate::{BoxError, ProcessSpec, TrialBox};
use tolok_host::sample::{Followed, Members, Part, Window};
use tolok_store::recompute::{DATABASE_LINK_REPORT, LINK_REPORT, RAW_WINDOW, SAMPLES, TrialInputs, measurement_of};
use tolok_store::{StoreError, TrialFolder};

/// In a network of its own, a subject can always have this port.
const OWN_PORT: u16 = 8080;
/// How often to choose another port when another program takes it before the subject starts.
const PORT_ATTEMPTS: u32 = 5;

/// The result of a trial.
pub(in crate::run) struct Finished {
    /// Commands of the subject's processes.
    pub(in crate::run) commands: Vec<String>,
    /// How often it was measured.
    pub(in crate::run) attempts: u32,
    /// How its parts were isolated, if it got that far.
    pub(in crate::run) isolation: Option<Isolation>,
    pub(in crate::run) outcome: Outcome,
}

pub(in crate::run) struct Trial<'a> {
    pub(in crate::run) session: &'a Session<'a>,
    pub(in crate::run) launch: Launch<'a>,
    pub(in crate::run) workload: Workload,
    pub(in crate::run) scenario: &'a Scenario,
    pub(in crate::run) environment: &'a Environment,
    pub(in crate::run) cpus: &'a CpuMap,
    /// The server under load, if tolok does not start it.
    pub(in crate::run) external: Option<&'a ExternalServer>,
    /// The workload's database, if it has one: the study's settings, and what was prepared.
    pub(in crate::run) database: Option<(&'a Database, &'a Prepared)>,
    /// Where the trial's files are kept.
    pub(in crate::run) folder: &'a TrialFolder,
    pub(in crate::run) stop: &'a Stop,
    /// Whether responses are counted on the wire, independently of the tool.
    pub(in crate::run) has_referee: bool,
    /// Seed for the random numbers of the load tool and the link.
    pub(in crate::run) seed: u64,
    /// Commands of the subject's processes, once they are known.
    pub(in crate::run) commands: Vec<String>,
    /// How its parts are isolated, once that is known.
    pub(in crate::run) isolation: Option<Isolation>,
}

/// Why a trial did not complete.
pub(in crate::run) enum TrialError {
    /// It failed, and that is its outcome.
    Failed(FailureKind, String),
    /// Its files cannot be written, so it has no outcome at all.
    Store(StoreError),
    /// A stop was requested.
    Stopped,
}

impl TrialError {
    pub(in crate::run) fn failed(reason: FailureKind, message: impl Display) -> Self {
        Self::Failed(reason, message.to_string())
    }

    /// The lab could not do its part.
    pub(in crate::run) fn lab(error: impl Display) -> Self {
        Self::failed(FailureKind::LabFailed, error)
    }
}

impl From<BoxError> for TrialError {
    fn from(error: BoxError) -> Self {
        match error {
            BoxError::NotStarted { .. } => Self::failed(FailureKind::DidNotStart, error),
            _ => Self::lab(error),
        }
    }
}

impl From<StoreError> for TrialError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Finished {
    /// A trial that failed before any process was started.
    pub(in crate::run) fn failed(failure: Failure) -> Self {
        Self { commands: Vec::new(), attempts: 1, isolation: None, outcome: Outcome::Failed(failure) }
    }
}

/// Everything needed to run a trial.
#[derive(Clone, Copy)]
pub(in crate::run) struct TrialSetup<'a> {
    pub(in crate::run) session: &'a Session<'a>,
    pub(in crate::run) plan: &'a Plan,
    pub(in crate::run) case: &'a Case,
    pub(in crate::run) block: u32,
    /// Where the build of its subject is.
    pub(in crate::run) build: &'a Path,
    pub(in crate::run) database: Option<&'a Prepared>,
    /// Where its files are kept.
    pub(in crate::run) folder: &'a TrialFolder,
    pub(in crate::run) stop: &'a Stop,
}

impl<'a> Trial<'a> {
    /// A trial of a case, or `None` if its subject, its workload or its environment is gone.
    pub(in crate::run) fn find(setup: TrialSetup<'a>) -> Option<Self> {
        let TrialSetup { session, plan, case, block, build, folder, stop, .. } = setup;
        let catalogue = &session.laboratory.catalogue;
        let scenario = plan.scenario(&case.scenario)?;
        let environment = plan.environment(scenario)?;
        let cpus = session.cpus.get(&environment.id)?;
        let subject = catalogue.subject(&case.subject.subject)?;
        let workload = catalogue.choose_workload(&scenario.workload).ok()?;
        let external = subject.external.as_ref();
        let workload = external.map_or(workload.clone(), |server| server.asked(workload));
        let database = environment.database.as_ref().filter(|_| scenario.database).zip(setup.database);
        let log = folder.subject_log();
        let padding_bytes = plan.padding_bytes(case, block);
        let protocol = scenario.protocol;
        let launch = Launch { session, subject, choice: &case.subject, protocol, build, log, padding_bytes, stop };
        // The same for all cases of a block, so that they get the same arrivals and link behaviour; different in the next block.
        let seed = plan.seed.wrapping_add(u64::from(block));
        let (commands, isolation) = (Vec::new(), None);
        let has_siblings = plan.scenarios.iter().any(|other| scenario.differs_in_tool_only(other));
        // The kernel recognises responses by their first bytes, which are visible only in HTTP/1.1 without TLS.
        let is_seen = scenario.protocol == Protocol::Http1;
        let has_referee = is_seen && (has_siblings || scenario.tool.name != LoadTool::Tolok);
        Some(Self {
            session,
            launch,
            workload,
            scenario,
            environment,
            cpus,
            external,
            database,
            folder,
            stop,
            has_referee,
            seed,
            commands,
            isolation,
        })
    }

    /// Runs the trial; a failure of the subject is an outcome. A disturbed trial is repeated as often as `reruns` allows.
    /// Returns `None` if it was stopped: neither a process nor a figure is left of it.
    pub(in crate::run) fn run(
        mut self,
        reruns: &Reruns,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Option<Finished>, StoreError> {
        let mut attempts = 1;
        let measured = loop {
            let measured = self.measure_at_a_free_port(emit);
            let Ok(Measured { measurement, .. }) = &measured else { break measured };
            if measurement.disturbances.is_empty() {
                break measured;
            }
            if !reruns.again(attempts, &measurement.disturbances, self.folder, emit)? {
                break measured;
            }
            attempts += 1;
        };
        let outcome = match measured {
            Ok(measured) => Outcome::Completed(Box::new(measured.measurement)),
            Err(trial_error) => match self.failure(trial_error)? {
                Some(failure) => Outcome::Failed(failure),
                None => return Ok(None),
            },
        };
        Ok(Some(Finished { commands: self.commands, attempts, isolation: self.isolation, outcome }))
    }

    /// Runs the trial once, with counters too expensive for a scored trial. Returns `None` if it was stopped.
    pub(in crate::run) fn diagnose(
        mut self,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Option<Result<Diagnosis, String>>, StoreError> {
        match self.measure_fresh(Purpose::Diagnosis, emit) {
            Ok(measured) => Ok(Some(Ok(measured.diagnosis.unwrap_or_default()))),
            Err(trial_error) => Ok(self.failure(trial_error)?.map(|failure| Err(failure.message))),
        }
    }

    /// On the machine's own network, another program may take the port after tolok found it free.
    fn measure_at_a_free_port(&mut self, emit: &mut dyn FnMut(TrialEvent)) -> Result<Measured, TrialError> {
        let mut attempt = 1;
        loop {
            let measured = self.measure_fresh(Purpose::Score, emit);
            if attempt == PORT_ATTEMPTS || !self.lost_its_port(&measured) {
                return measured;
            }
            attempt += 1;
        }
    }

    /// One attempt, from an empty folder to the end of every process. On every exit path the box ends its processes before
    /// their folder is removed.
    fn measure_fresh(&mut self, purpose: Purpose, emit: &mut dyn FnMut(TrialEvent)) -> Result<Measured, TrialError> {
        emit(TrialEvent::Phase { phase: Phase::Starting });
        self.folder.write("subject.log", b"")?;
        if self.database.is_some() {
            // Otherwise an old message about a taken port would be found again.
            self.folder.write(DATABASE_LOG, b"")?;
        }
        let load_average = load_average();
        let unwritable = |source| StoreError::Write { path: std::env::temp_dir(), source };
        let scratch = self.session.trial_scratch().map_err(unwritable)?;
        let run_folder = Some((scratch.path(), self.session.owner()));
        let [report, database_report] = [LINK_REPORT, DATABASE_LINK_REPORT].map(|name| self.folder.path().join(name));
        let spec = self.session.capabilities.spec(&BoxRequest {
            environment: self.environment,
            cpus: self.cpus,
            servers: 0,
            database: self.scenario.database,
            external: self.external.is_some(),
            apart: self.session.generators.is_some(),
            seed: self.seed,
            report: &report,
            database_report: &database_report,
            run_folder,
            guard: Some(self.session.guard()),
            session: self.session.folder(),
        });
        let mut trial_box = TrialBox::open(&self.session.laboratory.tolok, &spec)?;
        self.isolation = Some(trial_box.isolation().clone());
        let inside = {
            let _guest = CgroupMembership::enter(self.session.capabilities, &trial_box);
            self.inside(&mut trial_box, scratch.path(), purpose, emit)
        };
        // The subject's control group, which may explain the failure, must still exist here.
        let inside = inside.map_err(|trial_error| self.explained(trial_error, &trial_box))?;
        let group = trial_box.group("subject").filter(|_| self.external.is_none());
        let refused_tasks = group.and_then(|group| group.reader().read().refused_tasks);
        trial_box.stop()?;
        let diagnosis = inside.diagnosis.clone();
        let raw = self.raw_window(inside, load_average, refused_tasks)?;
        self.folder.write_json(RAW_WINDOW, &raw)?;
        // Computed only from the files, so that anyone can repeat it.
        let given = TrialInputs {
            scenario: self.scenario,
            environment: self.environment,
            cpus: self.cpus,
            isolation: self.isolation.as_ref(),
        };
        let measurement = measurement_of(self.folder.folder(), &given, &raw).map_err(TrialError::lab)?;
        Ok(Measured { measurement, diagnosis })
    }

    /// The values that were read once, as they are stored.
    fn raw_window(
        &self,
        inside: Inside,
        load_average: f64,
        refused_tasks: Option<u64>,
    ) -> Result<RawWindow, TrialError> {
        let Inside { pss_bytes, window, clock_zero_ns, cold_start_s, data, .. } = inside;
        let Data { database, pool, outage, counter } = data;
        let server = RawServer {
            external: self.external.is_some(),
            followed: self.external.is_some_and(|server| server.pid.is_some()),
            cold_start_s,
            status: self.workload.status,
            body_bytes: self.body_bytes(),
            mean_body_bytes: self.mean_body_bytes(),
            pss_bytes,
            refused_tasks,
            pool,
            counter,
            database: database.map(|told| DatabaseWindow { outage, ..told }),
            slices: None,
        };
        Ok(RawWindow {
            format: RECORD_FORMAT,
            clock_zero_ns,
            began_ns: window.began.0,
            ended_ns: window.ended.0,
            tool: self.tool_used()?,
            machine_cpus: self.session.logical_cpus as u32,
            load_average,
            padding_bytes: self.padding_bytes(),
            server: Some(server),
            turns: None,
        })
    }

    /// The padding of its environment, if tolok started it.
    pub(in crate::run) fn padding_bytes(&self) -> Option<u32> {
        self.external.is_none().then_some(self.launch.padding_bytes)
    }

    /// The mean length of the bodies. With many drawn requests, the lengths differ, and measuring each body would cost the generator
    /// time at every response; the mean is as good. 0 if any body will do, or if a user's script sends the requests.
    pub(in crate::run) fn mean_body_bytes(&self) -> u64 {
        match self.scenario.tool.script {
            Some(_) => 0,
            None => self.session.assets.mean_body_bytes(&self.workload),
        }
    }

    /// Everything between the opening and the closing of the box.
    fn inside(
        &mut self,
        trial_box: &mut TrialBox,
        run: &Path,
        purpose: Purpose,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Inside, TrialError> {
        let clock = Instant::now();
        let address = match self.external {
            Some(server) => address_of(server)?,
            None => self.own_address(trial_box).map_err(TrialError::lab)?,
        };
        // Started before the sampler, which counts everything from the subject's first program on.
        let mut database = self.start_database(trial_box, run)?;
        let upstream = self.start_upstream(trial_box)?;
        let place = (run, address, clock);
        let inside = self.with_subject(trial_box, (database.as_mut(), upstream.as_ref()), place, purpose, emit);
        let mut inside = match (inside, &mut database) {
            (Err(trial_error), Some(database)) => {
                return Err(because_of_the_database(trial_error, database, trial_box));
            }
            (inside, _) => inside?,
        };
        inside.data.database = database.map(|database| database.window(inside.window));
        Ok(inside)
    }

    /// The subject's address, for the lab and for the generators.
    fn own_address(&self, trial_box: &TrialBox) -> io::Result<SocketAddr> {
        match &self.session.generators {
            Some(Generators { server, .. }) => Ok(SocketAddr::new(*server, free_port_of(*server)?)),
            None => own_address(trial_box),
        }
    }

    /// From the subject's start to its last response.
    fn with_subject(
        &mut self,
        trial_box: &mut TrialBox,
        (mut database, upstream): (Option<&mut TrialDatabase>, Option<&Upstream>),
        (run, address, clock): (&Path, SocketAddr, Instant),
        purpose: Purpose,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<Inside, TrialError> {
        let protocol = self.scenario.protocol;
        let (diagnosing, server) =
            (purpose == Purpose::Diagnosis, Server { address, speech: speech(protocol), stop: self.stop });
        let names = database.as_ref().map(|database| database.names.clone()).unwrap_or_default();
        let (cpus, asked) = (&self.cpus.subject, upstream.map(Upstream::address));
        let place = Place { address, protocol, run, cpus, diagnosing, database: names, upstream: asked };
        let specs = match self.external {
            Some(_) => Vec::new(),
            None => self.launch.prepare(trial_box, &place)?,
        };
        self.commands = commands(&specs, database.as_deref());
        // Counters count only what is started after they are attached.
        let counters = diagnosing.then(|| Counters::attach(trial_box));
        let mut sampler = sampler(trial_box, self.external.is_none());
        if let Some(pid) = self.external.and_then(|server| server.pid) {
            sampler.follow(Followed { part: Part::Subject, members: Members::Trees(vec![pid]), net_of: None });
        }
        let cold_start_s = match self.external {
            Some(server) => self.is_there(server, address).map(|()| None)?,
            None => Some(self.launch.first_good_answer(trial_box, &specs, address, &self.workload)?),
        };
        let tally = self.tally(database.as_deref());
        let counter = tally.map(|tally| tally.total(trial_box, server)).transpose()?;
        let beside = self.beside(database.as_deref_mut(), server);
        let loaded = self.load(trial_box, &mut sampler, counters, beside, (address, clock), emit);
        emit(TrialEvent::Phase { phase: Phase::Stopping });
        self.folder.write_lines(SAMPLES, &sampler.samples())?;
        let judged = loaded.and_then(|loaded| {
            self.folder.write_lines("timeline.jsonl", &loaded.report.timeline)?;
            judge(&loaded.report, self.scenario).map(|()| loaded)
        });
        let Loaded { report, pss_bytes, window, counted, beside } = judged?;
        self.nothing_has_ended(trial_box, "while it was measured")?;
        upstream.map_or(Ok(()), |upstream| check_asked(upstream, &report))?;
        let tally = counter.zip(self.tally(database.as_deref()));
        let check = |(before, tally)| check_counter(trial_box, server, tally, (before, &report));
        let counter = tally.map(check).transpose()?;
        let diagnosis = counted.map(|counted| self.diagnosis(counted, &report));
        let data = Data { database: None, pool: beside.pool, outage: beside.outage, counter };
        let clock_zero_ns = sampler.clock_zero_ns();
        Ok(Inside { pss_bytes, window, clock_zero_ns, cold_start_s, diagnosis, data })
    }
}

/// The result of one attempt.
struct Measured {
    measurement: Measurement,
    /// The counts of a diagnosis.
    diagnosis: Option<Diagnosis>,
}

/// What is known just before the box is closed.
struct Inside {
    pss_bytes: Option<u64>,
    window: Window,
    /// The origin of the samples' times.
    clock_zero_ns: i64,
    cold_start_s: Option<f64>,
    diagnosis: Option<Diagnosis>,
    data: Data,
}

/// What is known of the database and its use.
#[derive(Debug, Default)]
struct Data {
    database: Option<DatabaseWindow>,
    pool: Option<PoolWindow>,
    outage: Option<OutageRecord>,
    counter: Option<CounterCheck>,
}

/// The purpose of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Score,
    /// Shows what a subject does; the counters slow it down.
    Diagnosis,
}

/// The recorded commands, without the password of the database.
pub(in crate::run) fn commands(specs: &[ProcessSpec], database: Option<&TrialDatabase>) -> Vec<String> {
    let secret = database.map(|database| database.names.password.as_str());
    let secret = secret.filter(|secret| !secret.is_empty());
    let shown = |spec: &ProcessSpec| {
        let words = spec.argv.iter().map(|word| secret.map_or_else(|| word.clone(), |it| word.replace(it, "***")));
        words.collect::<Vec<_>>().join(" ")
    };
    specs.iter().map(shown).collect()
}

/// Where the subject of a box must listen.
pub(in crate::run) fn own_address(trial_box: &TrialBox) -> io::Result<SocketAddr> {
    let has_own_network = trial_box.isolation().network != "host";
    let port = if has_own_network { OWN_PORT } else { free_port()? };
    Ok(SocketAddr::from((trial_box.subject_address(), port)))
}

/// A port of 127.0.0.1 that is free at this moment.
pub(in crate::run) fn free_port() -> io::Result<u16> {
    free_port_of(Ipv4Addr::LOCALHOST.into())
}

fn free_port_of(address: IpAddr) -> io::Result<u16> {
    Ok(TcpListener::bind((address, 0))?.local_addr()?.port())
}

pub(in crate::run) fn load_average() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_port_can_be_listened_on() {
        // Another program may take it in between, so this test retries, as a trial does.
        let listens = |_| TcpListener::bind(("127.0.0.1", free_port().unwrap())).is_ok();
        assert!((0..PORT_ATTEMPTS).any(listens));
    }
}
