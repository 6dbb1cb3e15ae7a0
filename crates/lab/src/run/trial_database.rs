//! The database of a trial: started in its part of the box from data that were loaded before, watched, and at need killed and
//! started again.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;
use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_model::{Database, DatabaseWindow, FailureKind};

use super::databases::{Kind, Prepared};
use super::stop::Stop;
use super::trial::{Setback, free_port};
use crate::database::{Client, DatabaseError, Instance, Settings, StatusReading, StatusSeries, Target};
use crate::isolate::{ProcessSpec, TrialBox};
use crate::sample::Window;
use crate::subject::DatabaseNames;
use crate::toolbox::Program;

/// A server takes a second to its first login, and a few on a machine that is busy.
pub(super) const LOGIN_LIMIT: Duration = Duration::from_secs(60);
/// The name of the part in groups and of its processes in records.
pub(super) const PART: &str = "database";
/// Its place in the run folder. The path of its socket must not become longer than the kernel allows.
const FOLDER: &str = "db";
/// In a network of its own, a database has every port for itself.
const OWN_PORT: u16 = 3306;
/// How often the server is asked what it is doing.
const STATUS: Duration = Duration::from_millis(250);
/// How often is looked for what the box or a login brings.
const POLL: Duration = Duration::from_millis(1);

/// What a trial's database is started with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) asked: &'a Database,
    pub(super) cpus: &'a [u32],
    /// The run folder of the box.
    pub(super) run: &'a Path,
    /// What it says is appended to this file.
    pub(super) log: &'a Path,
    pub(super) stop: &'a Stop,
}

/// A database at work.
#[derive(Debug)]
pub(super) struct TrialDatabase {
    /// What the subject is told of it.
    pub(super) names: DatabaseNames,
    pub(super) version: String,
    /// The server, if it is ours: how it is started again.
    server: Option<Server>,
    watch: Option<Watch>,
    /// The lab's own connection, while nobody watches.
    client: Option<Client>,
    readings: Readings,
    /// How many of its processes have ended because we asked for it.
    ended_on_purpose: usize,
    stop: Stop,
}

/// What the server said of itself, and when.
type Readings = Vec<(MonotonicNs, StatusReading)>;

#[derive(Debug)]
struct Server {
    spec: ProcessSpec,
    /// Removes what it leaves when it is killed.
    tidy: ProcessSpec,
    program: Program,
    target: Target,
}

impl TrialDatabase {
    /// Starts a server of our own, or calls on a user's; returns when somebody has logged in.
    pub(super) fn start(launch: Launch<'_>, trial_box: &mut TrialBox) -> Result<Self, Setback> {
        let (prepared, asked) = (launch.prepared, launch.asked);
        let (server, target, ended, at) = match &prepared.kind {
            Kind::External(dsn) => (None, Target::Network(dsn.clone()), 0, (dsn.host.clone(), dsn.port)),
            Kind::Private(template) => {
                let at = own_address(trial_box).map_err(Setback::lab)?;
                let folder = launch.run.join(FOLDER);
                // Makes the folder, too.
                trial_box.write_file(&folder.join("version"), prepared.program.version.as_bytes(), 0o644)?;
                let (max_connections, buffer_pool_bytes) = (asked.max_connections, asked.buffer_pool_bytes);
                let instance = template.instance(&folder, at, &Settings { max_connections, buffer_pool_bytes });
                let process = |name, argv: &[String]| process(launch, name, argv, &instance);
                // A process of the database's part copies, so that the memory of the data is charged to that part.
                carry_out(&process("copy", &instance.copy), 0, trial_box, launch.stop)?;
                let target = Target::Socket { path: trial_box.path_inside(&instance.socket) };
                let spec = process("server", &instance.server);
                trial_box.start(&spec).map_err(database_failed)?;
                let tidy = process("tidy", &instance.tidy);
                let server = Server { spec, tidy, program: prepared.program.clone(), target: target.clone() };
                (Some(server), target, 1, (at.ip().to_string(), at.port()))
            }
        };
        let login = Login::begin(&prepared.program, &target);
        let client = login.wait(trial_box, ended, launch.stop)?;
        let version = client.version().to_owned();
        Ok(Self {
            names: prepared.names(asked.pool, at),
            version,
            server,
            watch: Some(Watch::begin(client)),
            client: None,
            readings: Vec::new(),
            ended_on_purpose: ended,
            stop: launch.stop.clone(),
        })
    }

    /// Whether it is a server of the user's own.
    pub(super) fn is_external(&self) -> bool {
        self.server.is_none()
    }

    /// In words, if a process of it has ended that nobody asked to.
    pub(super) fn has_ended(&self, trial_box: &mut TrialBox) -> Result<Option<String>, Setback> {
        let mut own = trial_box.exits()?.iter().filter(|exit| exit.part == PART);
        let unasked = own.nth(self.ended_on_purpose);
        Ok(unasked.map(|exit| format!("the database ended with {}", exit.how)))
    }

    /// Asks it now what it is doing, and not only at the next look: at the borders of the window.
    pub(super) fn look(&self) {
        if let Some(watch) = &self.watch {
            watch.look();
        }
    }

    /// Ends the watch; the server goes on until its box is closed.
    pub(super) fn stop_watching(&mut self) {
        if let Some(watch) = self.watch.take() {
            let (client, readings) = watch.end();
            self.client = client;
            self.readings.extend(readings);
        }
    }

    /// Connections of others than the lab, and those of them that are busy, at this moment; nothing if it does not say.
    pub(super) fn connections_now(&mut self) -> Option<(u64, u64)> {
        self.stop_watching();
        let status = self.client.as_mut()?.status().ok()?;
        Some((status.connected?, status.running?))
    }

    /// Connections that it has refused, as far as it was asked.
    pub(super) fn refused_connections(&self) -> Option<u64> {
        self.readings.last().and_then(|(_, status)| status.refused)
    }

    /// What it told in the window.
    pub(super) fn window(&self, window: Window) -> DatabaseWindow {
        let mut series = StatusSeries::default();
        self.readings.iter().for_each(|(at, status)| series.push(*at, *status));
        series.window(window, &self.version)
    }

    /// Kills it in the midst of its work.
    pub(super) fn kill(&mut self, trial_box: &mut TrialBox) -> Result<(), Setback> {
        trial_box.end_part(PART, Signal::KILL)?;
        self.ended_on_purpose += 1;
        self.stop_watching();
        Ok(())
    }

    /// Starts it again on the data that it left; a login tells when it is back.
    pub(super) fn start_again(&mut self, trial_box: &mut TrialBox) -> Result<Option<Login>, Setback> {
        let Some(server) = &self.server else { return Ok(None) };
        carry_out(&server.tidy, self.ended_on_purpose, trial_box, &self.stop)?;
        self.ended_on_purpose += 1;
        trial_box.start(&server.spec).map_err(database_failed)?;
        Ok(Some(Login::begin(&server.program, &server.target)))
    }

    /// Goes on watching, after somebody has logged in again.
    pub(super) fn watch_again(&mut self, client: Client) {
        self.watch = Some(Watch::begin(client));
    }
}

/// Runs a command of the database's part to its end. `ended` of its processes have ended before.
fn carry_out(spec: &ProcessSpec, ended: usize, trial_box: &mut TrialBox, stop: &Stop) -> Result<(), Setback> {
    trial_box.start(spec).map_err(database_failed)?;
    loop {
        if let Some(exit) = trial_box.exits()?.iter().filter(|exit| exit.part == PART).nth(ended) {
            let is_done = exit.how == "exit code 0";
            let why = || format!("{} ended with {}: {}", spec.name, exit.how, spec.argv.join(" "));
            return if is_done { Ok(()) } else { Err(database_failed(why())) };
        }
        if stop.is_immediate() {
            return Err(Setback::Stopped);
        }
        std::thread::sleep(POLL);
    }
}

fn process(launch: Launch<'_>, name: &str, argv: &[String], instance: &Instance) -> ProcessSpec {
    ProcessSpec {
        name: format!("{PART} {name}"),
        part: PART.to_owned(),
        argv: argv.to_owned(),
        env: instance.env.clone(),
        cwd: launch.run.to_owned(),
        log: launch.log.to_owned(),
        cpus: launch.cpus.to_owned(),
        stop: "TERM".to_owned(),
    }
}

fn own_address(trial_box: &TrialBox) -> io::Result<SocketAddrV4> {
    if trial_box.isolation().network == "host" {
        return Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, free_port()?));
    }
    Ok(SocketAddrV4::new(trial_box.database_address(), OWN_PORT))
}

pub(super) fn database_failed(error: impl std::fmt::Display) -> Setback {
    Setback::failed(FailureKind::DatabaseFailed, error)
}

/// A login that goes on in a thread of its own until the server lets it in.
#[derive(Debug)]
pub(super) struct Login {
    thread: JoinHandle<Result<Client, DatabaseError>>,
    is_wanted: Arc<AtomicBool>,
}

impl Login {
    fn begin(program: &Program, target: &Target) -> Self {
        let is_wanted = Arc::new(AtomicBool::new(true));
        let (program, target, wanted) = (program.clone(), target.clone(), Arc::clone(&is_wanted));
        let thread = std::thread::spawn(move || {
            Client::login(&program, &target, LOGIN_LIMIT, &|| wanted.load(Ordering::Relaxed))
        });
        Self { thread, is_wanted }
    }

    /// Whether it came to an end, good or bad.
    pub(super) fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// The client that was let in, or why none was.
    pub(super) fn client(self) -> Result<Client, Setback> {
        match self.thread.join() {
            Ok(client) => client.map_err(database_failed),
            Err(_) => Err(database_failed("the login broke off")),
        }
    }

    /// Waits, unless the server ends, or the trial is stopped. `ended` of its processes have ended before.
    fn wait(self, trial_box: &mut TrialBox, ended: usize, stop: &Stop) -> Result<Client, Setback> {
        while !self.is_over() {
            let exits = trial_box.exits()?;
            if let Some(exit) = exits.iter().filter(|exit| exit.part == PART).nth(ended) {
                let message = format!("the database ended with {} before its first login", exit.how);
                self.is_wanted.store(false, Ordering::Relaxed);
                return Err(database_failed(message));
            }
            if stop.is_immediate() {
                self.is_wanted.store(false, Ordering::Relaxed);
                return Err(Setback::Stopped);
            }
            std::thread::sleep(POLL);
        }
        self.client()
    }
}

/// Asks the server every now and then what it is doing, in a thread of its own: under load it takes its time to answer.
#[derive(Debug)]
struct Watch {
    looks: Sender<()>,
    thread: JoinHandle<(Option<Client>, Readings)>,
}

impl Watch {
    fn begin(mut client: Client) -> Self {
        let (looks, asked) = channel();
        let thread = std::thread::spawn(move || {
            let mut readings = Readings::new();
            loop {
                // A server that is gone tells nothing more.
                let Ok(status) = client.status() else { return (None, readings) };
                readings.push((SystemClock.now(), status));
                if asked.recv_timeout(STATUS) == Err(RecvTimeoutError::Disconnected) {
                    // The last word, after whoever was refused has been.
                    let Ok(status) = client.status() else { return (None, readings) };
                    readings.push((SystemClock.now(), status));
                    return (Some(client), readings);
                }
            }
        });
        Self { looks, thread }
    }

    fn look(&self) {
        // A thread whose server is gone has ended, and nobody looks any more.
        let _ = self.looks.send(());
    }

    /// The client, unless its server is gone, and all that it was told.
    fn end(self) -> (Option<Client>, Readings) {
        drop(self.looks);
        self.thread.join().unwrap_or_default()
    }
}

/// The file in which the database of a trial says what it has to say.
pub(super) fn log(folder: &Path) -> PathBuf {
    folder.join("database.log")
}
