//! A running subject for requests that are not measured: checks of its contract, its drivers and its behaviour.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tolok_load::ask::ask_in_line;
use tolok_load::options::Request;
use tolok_model::{Database, Environment, Protocol, SubjectChoice, Workload};

use crate::run::database::prepared::Prepared;
use crate::run::database::trial_database::{self, TrialDatabase};
use crate::run::server::launch::Launch;
use crate::run::server::trial::{TrialError, own_address};
use crate::run::server::upstream_part::start_upstream;
use crate::run::session::capabilities::BoxRequest;
use crate::run::session::{Place, Session};
use crate::run::stop::Stop;
use crate::subject::{Answer, BuildError, ProbeError, ProbeTarget, Question, Speech, ask, log_tail, speech};
use crate::upstream::Upstream;
use tolok_host::isolate::TrialBox;

/// Lines of the log that an error shows.
const LOG_LINES: usize = 10;

/// Why a subject could not be started or tested.
#[derive(Debug, thiserror::Error)]
#[error("{message}{}", if log.is_empty() { String::new() } else { format!("; its log says: {}", log.join(" | ")) })]
pub struct ServeError {
    message: String,
    log: Vec<String>,
}

impl ServeError {
    pub(in crate::run) fn new(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), log: Vec::new() }
    }
}

/// A subject that answers.
pub(in crate::run) struct StartedServer {
    pub(in crate::run) trial_box: TrialBox,
    pub(in crate::run) address: SocketAddr,
    pub(in crate::run) speech: Speech,
    /// Its database, if it got one.
    pub(in crate::run) database: Option<TrialDatabase>,
    /// The upstream service that it calls, if one of its workloads does.
    pub(in crate::run) upstream: Option<Upstream>,
    log: PathBuf,
    /// Last field, because it must outlive everything that runs in it.
    _scratch: TempDir,
}

impl StartedServer {
    /// Builds the subject if needed and starts it, with a database if one was prepared. Returns when it answers `first`.
    pub(in crate::run) fn start(
        session: &Session<'_>,
        (choice, protocol): (&SubjectChoice, Protocol),
        database: Option<(&Database, &Prepared)>,
        first: &Workload,
        stop: &Stop,
    ) -> Result<Self, ServeError> {
        let catalogue = &session.laboratory.catalogue;
        let subject = catalogue.subject(&choice.subject).ok_or_else(|| ServeError::new("no such subject"))?;
        let build = session.laboratory.build(subject, &mut || {}, &|| !stop.is_immediate()).map_err(not_built)?;
        let scratch = session.trial_scratch().map_err(ServeError::new)?;
        // Beside the private folder, because the inside of that is visible only in the box.
        let log = scratch.path().with_extension("log");
        let (build, padding_bytes) = (build.as_path(), 0);
        let launch = Launch { session, subject, choice, protocol, build, log: log.clone(), padding_bytes, stop };
        let started = start(&launch, scratch.path(), database, first);
        let (trial_box, address, database, upstream) =
            started.map_err(|message| ServeError { message, log: log_tail(&log, LOG_LINES) })?;
        Ok(Self { trial_box, address, speech: speech(protocol), database, upstream, log, _scratch: scratch })
    }

    pub(in crate::run) fn ask(&mut self, method: &str, path: &str, patience: Duration) -> Result<Answer, ProbeError> {
        self.ask_with_body(Question::plain(method, path), patience)
    }

    /// Sends one request, with the question's body if it has one.
    pub(in crate::run) fn ask_with_body(
        &mut self,
        question: Question<'_>,
        patience: Duration,
    ) -> Result<Answer, ProbeError> {
        let boxed = RefCell::new(&mut self.trial_box);
        let connect = |address, patience| boxed.borrow_mut().connect(address, patience);
        ask(ProbeTarget { address: self.address, connect: &connect, speech: self.speech }, question, patience)
    }

    /// Sends `count` requests at once on one connection, as [`tolok_load::ask::ask_in_line`] does.
    pub(in crate::run) fn ask_in_line(
        &mut self,
        request: &Request,
        count: u32,
        patience: Duration,
    ) -> Result<Option<u32>, ProbeError> {
        let boxed = RefCell::new(&mut self.trial_box);
        let connect = |address, patience| boxed.borrow_mut().connect(address, patience);
        let server = ProbeTarget { address: self.address, connect: &connect, speech: self.speech };
        ask_in_line(server, request, count, patience)
    }

    /// Ends the subject and its database.
    pub(in crate::run) fn stop(self) -> Result<(), ServeError> {
        let log = log_tail(&self.log, LOG_LINES);
        self.trial_box.stop().map_err(|error| ServeError { message: error.to_string(), log })
    }
}

/// Includes the last lines of the build command, for example that a registry is unreachable.
fn not_built(error: BuildError) -> ServeError {
    let message = error.to_string();
    let BuildError::Command { tail, .. } = error else { return ServeError { message, log: Vec::new() } };
    ServeError { message, log: tail[tail.len().saturating_sub(LOG_LINES)..].to_vec() }
}

type Started = (TrialBox, SocketAddr, Option<TrialDatabase>, Option<Upstream>);

fn start(
    launch: &Launch<'_>,
    run: &Path,
    database: Option<(&Database, &Prepared)>,
    first: &Workload,
) -> Result<Started, String> {
    let (session, cpus) = (launch.session, launch.session.any_cpus());
    let environment = Environment { database: database.map(|(asked, _)| asked.clone()), ..Environment::default() };
    let box_spec = session.capabilities.spec(&BoxRequest {
        environment: &environment,
        cpus: &cpus,
        servers: 0,
        database: database.is_some(),
        external: false,
        apart: false,
        seed: 0,
        report: &run.with_extension("link.jsonl"),
        database_report: &run.with_extension("database-link.jsonl"),
        run_folder: Some((run, session.owner())),
        guard: Some(session.guard()),
        session: session.folder(),
    });
    let mut trial_box = TrialBox::open(&session.laboratory.tolok, &box_spec).map_err(|error| error.to_string())?;
    let address = own_address(&trial_box).map_err(|error| error.to_string())?;
    let own_cpus = trial_database::own_cpus(&cpus);
    let log = run.with_extension("database.log");
    let started = database.map(|(asked, prepared)| {
        let launch = trial_database::Launch { prepared, asked, cpus: own_cpus, run, log: &log, stop: launch.stop };
        TrialDatabase::start(launch, &mut trial_box)
    });
    let started = started.transpose().map_err(words)?;
    let names = started.as_ref().map(|database| database.names.clone()).unwrap_or_default();
    let catalogue = &session.laboratory.catalogue;
    let served = launch.subject.workloads(&launch.choice.variant).iter().filter_map(|name| catalogue.workload(name));
    let upstream = start_upstream(&mut trial_box, served).map_err(words)?;
    let (protocol, asked) = (launch.protocol, upstream.as_ref().map(Upstream::address));
    let cpus = &cpus.subject;
    let place = Place { address, protocol, run, cpus, diagnosing: false, database: names, upstream: asked };
    let specs = launch.prepare(&mut trial_box, &place).map_err(words)?;
    launch.first_good_answer(&mut trial_box, &specs, address, first).map_err(words)?;
    Ok((trial_box, address, started, upstream))
}

pub(super) fn words(trial_error: TrialError) -> String {
    match trial_error {
        TrialError::Failed(kind, message) => format!("{}: {message}", kind.word()),
        TrialError::Store(error) => error.to_string(),
        TrialError::Stopped => "stopped".to_owned(),
    }
}
