//! The database of a trial: started in its part of the box from data that were loaded before, watched, and killed and restarted for
//! an outage.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use rustix::rand::{GetRandomFlags, getrandom};
use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_model::{CpuMap, Database, DatabaseWindow, FailureKind, Wire};

use crate::data_contract as data;
use crate::database::{Client, DatabaseError, Instance, Rows, Settings, StatusReading, StatusSeries, Target};
use crate::run::database::login::{LetIn, Login};
use crate::run::database::prepared::{Kind, Prepared};
use crate::run::database::status_watch::{Readings, StatusWatch, status};
use crate::run::server::trial::{TrialError, free_port};
use crate::run::stop::Stop;
use crate::subject::DatabaseNames;
use crate::toolbox::Program;
use tolok_host::isolate::{ProcessSpec, TrialBox, Trust};
use tolok_host::sample::Window;

/// The part's name in control groups, and of its processes in records.
pub(in crate::run) const PART: &str = "database";
/// The log file of the server.
pub(in crate::run) const DATABASE_LOG: &str = "database.log";
/// Its folder in the run folder. Short, because the kernel limits the path of its socket.
const FOLDER: &str = "db";
/// How often to check the box.
const POLL: Duration = Duration::from_millis(1);
/// Copying the data takes a tenth of a second, and a few seconds from a slow disk.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);
/// A killed server breaks its connections a moment before its exit is reported.
const END_IS_HEARD: Duration = Duration::from_millis(500);

/// What a trial's database is started with.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) struct Launch<'a> {
    pub(in crate::run) prepared: &'a Prepared,
    pub(in crate::run) asked: &'a Database,
    pub(in crate::run) cpus: &'a [u32],
    /// The run folder of the box.
    pub(in crate::run) run: &'a Path,
    /// The server's output is appended to this file.
    pub(in crate::run) log: &'a Path,
    pub(in crate::run) stop: &'a Stop,
}

#[derive(Debug)]
pub(in crate::run) struct TrialDatabase {
    /// The login that the subject gets.
    pub(in crate::run) names: DatabaseNames,
    pub(in crate::run) version: String,
    /// How to restart the server, if it is ours.
    server: Option<Server>,
    /// The client program, and what it logs in to.
    program: Program,
    target: Target,
    watch: Option<StatusWatch>,
    /// The lab's own connection, while no watch uses it.
    client: Option<Client>,
    /// In words, why it no longer answers; `None` if it does, or was ended on purpose.
    silence: Option<String>,
    readings: Readings,
    /// How many of its processes the lab has ended.
    ended_on_purpose: usize,
    stop: Stop,
}

#[derive(Debug)]
struct Server {
    spec: ProcessSpec,
    /// Removes what the server leaves when it is killed.
    tidy: ProcessSpec,
}

impl TrialDatabase {
    /// Starts our own server, or connects to a user's. Returns after the first login.
    pub(in crate::run) fn start(launch: Launch<'_>, trial_box: &mut TrialBox) -> Result<Self, TrialError> {
        let (prepared, asked) = (launch.prepared, launch.asked);
        let password = random_password().map_err(TrialError::lab)?;
        let (server, target, ended, at) = match &prepared.kind {
            Kind::External(dsn) => (None, Target::Network(dsn.clone()), 0, (dsn.host.clone(), dsn.port)),
            Kind::Private(template) => {
                let at = own_address(trial_box, prepared.wire()).map_err(TrialError::lab)?;
                let folder = launch.run.join(FOLDER);
                trial_box.make_folder(&folder, PART)?;
                let (max_connections, buffer_pool_bytes) = (asked.max_connections, asked.buffer_pool_bytes);
                let account = trial_box.account(PART);
                refuse_root(prepared.wire(), account)?;
                let settings = Settings { max_connections, buffer_pool_bytes, account };
                let instance = template.instance(&folder, at, &settings);
                let process = |name, argv: &[String]| process(launch, name, argv, &instance);
                carry_out(&process("close", &instance.close), 0, trial_box, launch.stop)?;
                // The server's account need not be the lab's, so the file is readable; no other account can enter the folder.
                trial_box.write_file(&instance.first, first_file(prepared.wire(), &password).as_bytes(), 0o644)?;
                // A process of the database's part makes the copy, so the memory of the data is charged to that part. Only the lab can read
                // the
                // template.
                let copy = ProcessSpec { trust: Trust::Lab, ..process("copy", &instance.copy) };
                carry_out(&copy, 1, trial_box, launch.stop)?;
                let target = Target::Socket { path: trial_box.path_inside(&instance.socket) };
                let spec = process("server", &instance.server);
                trial_box.start(&spec).map_err(database_failed)?;
                let tidy = process("tidy", &instance.tidy);
                (Some(Server { spec, tidy }), target, 2, (at.ip().to_string(), at.port()))
            }
        };
        let login = Login::begin(&prepared.program, &target);
        let (mut client, _) = login.wait(trial_box, ended, launch.stop)?;
        if server.is_some() && prepared.wire() == Wire::Postgres {
            // Until now no network login was possible.
            client.rows(&data::new_password(&password, Wire::Postgres)).map_err(database_failed)?;
        }
        let version = client.version().to_owned();
        Ok(Self {
            names: prepared.names(asked.pool, at, password),
            version,
            server,
            program: prepared.program.clone(),
            target,
            watch: Some(StatusWatch::begin(client, launch.stop)),
            client: None,
            silence: None,
            readings: Vec::new(),
            ended_on_purpose: ended,
            stop: launch.stop.clone(),
        })
    }

    /// Whether it is a user's own server.
    pub(in crate::run) fn is_external(&self) -> bool {
        self.server.is_none()
    }

    /// In words, if one of its processes has ended unexpectedly. For a user's own server only the connection shows it.
    pub(in crate::run) fn has_ended(&mut self, trial_box: &mut TrialBox) -> Result<Option<String>, TrialError> {
        if self.is_external() && self.watch.as_ref().is_some_and(StatusWatch::is_over) {
            self.stop_watching();
            return Ok(self.silence.clone());
        }
        let mut own = trial_box.exits()?.iter().filter(|exit| exit.part == PART);
        let unasked = own.nth(self.ended_on_purpose);
        Ok(unasked.map(|exit| format!("the database ended with {}", exit.how)))
    }

    /// Requests a reading now: at the borders of the window.
    pub(in crate::run) fn look(&self) {
        if let Some(watch) = &self.watch {
            watch.look();
        }
    }

    /// Ends the watch; the server runs until its box is closed.
    pub(in crate::run) fn stop_watching(&mut self) {
        if let Some(watch) = self.watch.take() {
            let watched = watch.end();
            self.readings.extend(watched.readings);
            match watched.client {
                Ok(client) => self.client = Some(client),
                Err(why) => self.silence = Some(why),
            }
        }
    }

    /// In words, if an apparent fault of the subject is the database's: it has ended, does not answer the lab either, or
    /// has refused connections.
    pub(in crate::run) fn failure(&mut self, trial_box: &mut TrialBox) -> Result<Option<String>, TrialError> {
        if let Some(ended) = self.has_ended(trial_box)? {
            return Ok(Some(ended));
        }
        if let Some(silent) = self.silence() {
            let deadline = Instant::now() + END_IS_HEARD;
            while !self.is_external() && Instant::now() < deadline {
                if let Some(ended) = self.has_ended(trial_box)? {
                    return Ok(Some(ended));
                }
                std::thread::sleep(POLL);
            }
            return Ok(Some(silent));
        }
        let refused = self.readings.last().and_then(|(_, status)| self.refused_here(status.refused));
        let refused = refused.filter(|refused| *refused > 0);
        Ok(refused.map(|refused| {
            let plural = if refused == 1 { "" } else { "s" };
            let why =
                format!("the database refused {refused} connection{plural}, because it had as many as it accepts");
            match self.is_external() {
                true => format!("{why}; let it accept more (`max_connections`), or make `database.pool` smaller"),
                false => format!("{why}; raise `database.max-connections`, or make `database.pool` smaller"),
            }
        }))
    }

    /// Describes that it does not answer. Returns `None` if it answers, or if the trial has killed it.
    fn silence(&mut self) -> Option<String> {
        self.stop_watching();
        let stop = self.stop.clone();
        if let Some(mut client) = self.client.take() {
            match status(&mut client, &|| !stop.is_immediate()) {
                Ok(status) => {
                    self.readings.push((SystemClock.now(), status));
                    self.client = Some(client);
                }
                Err(why) => self.silence = Some(why),
            }
        }
        self.silence.clone()
    }

    /// Current connections except the lab's, total and busy, or `None` if the server does not report them.
    pub(in crate::run) fn connections_now(&mut self) -> Option<(u64, u64)> {
        self.stop_watching();
        let status = self.client.as_mut()?.status().ok()?;
        Some((status.connected?, status.running?))
    }

    /// Runs a statement on the subject's tables, on a new connection.
    pub(in crate::run) fn ask_tables(&self, sql: &str) -> Result<Rows, DatabaseError> {
        let mut client = Client::login(&self.program, &self.target, COMMAND_LIMIT, &|| !self.stop.is_immediate())?;
        let choose = match (self.is_external(), self.names.engine == Wire::Postgres.word()) {
            (true, _) => String::new(),
            (false, true) => format!("\\connect {}\n", data::DATABASE),
            (false, false) => format!("USE {};\n", data::DATABASE),
        };
        client.rows(&(choose + sql))
    }

    /// A user's own server counts refusals for as long as it runs, so those before this trial are subtracted.
    fn refused_here(&self, in_all: Option<u64>) -> Option<u64> {
        Some(in_all?.saturating_sub(self.readings.first()?.1.refused?))
    }

    /// The figures of the window.
    pub(in crate::run) fn window(&self, window: Window) -> DatabaseWindow {
        let mut series = StatusSeries::default();
        for (at, status) in &self.readings {
            series.push(*at, StatusReading { refused: self.refused_here(status.refused), ..*status });
        }
        series.window(window, &self.version)
    }

    /// Kills the server under load.
    pub(in crate::run) fn kill(&mut self, trial_box: &mut TrialBox) -> Result<(), TrialError> {
        trial_box.end_part(PART, Signal::KILL)?;
        self.ended_on_purpose += 1;
        self.stop_watching();
        (self.client, self.silence) = (None, None);
        Ok(())
    }

    /// Restarts the server on the data that it left. The returned login shows when it is back.
    pub(in crate::run) fn start_again(&mut self, trial_box: &mut TrialBox) -> Result<Option<Login>, TrialError> {
        let Some(server) = &self.server else { return Ok(None) };
        carry_out(&server.tidy, self.ended_on_purpose, trial_box, &self.stop)?;
        self.ended_on_purpose += 1;
        trial_box.start(&server.spec).map_err(database_failed)?;
        Ok(Some(Login::begin(&self.program, &self.target)))
    }

    /// Resumes the watch after the first new login, and returns when that was.
    pub(in crate::run) fn watch_again(&mut self, (client, at): LetIn) -> MonotonicNs {
        self.watch = Some(StatusWatch::begin(client, &self.stop));
        at
    }
}

/// Runs a command of the database's part to its end. `ended` of its processes have ended before.
fn carry_out(spec: &ProcessSpec, ended: usize, trial_box: &mut TrialBox, stop: &Stop) -> Result<(), TrialError> {
    trial_box.start(spec).map_err(database_failed)?;
    let deadline = Instant::now() + COMMAND_LIMIT;
    loop {
        if let Some(exit) = trial_box.exits()?.iter().filter(|exit| exit.part == PART).nth(ended) {
            let is_done = exit.how == "exit code 0";
            let why = || format!("{} ended with {}: {}", spec.name, exit.how, spec.argv.join(" "));
            return if is_done { Ok(()) } else { Err(database_failed(why())) };
        }
        if stop.is_immediate() {
            return Err(TrialError::Stopped);
        }
        if Instant::now() > deadline {
            let why = format!("{} did not end within {COMMAND_LIMIT:?}: {}", spec.name, spec.argv.join(" "));
            return Err(database_failed(why));
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
        trust: Trust::Guarded,
        stop: instance.stop.to_owned(),
    }
}

/// A password for one trial: without a network of its own, a trial's database is reachable for everybody on the machine.
fn random_password() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}

/// What a server reads before it accepts logins: the trial's password, or the access rules.
fn first_file(wire: Wire, password: &str) -> String {
    match wire {
        Wire::Mysql => data::new_password(password, wire),
        Wire::Postgres => data::access_rules(),
    }
}

fn refuse_root(wire: Wire, account: Option<u32>) -> Result<(), TrialError> {
    if wire == Wire::Postgres && account.is_none() && rustix::process::geteuid().is_root() {
        let why =
            "PostgreSQL refuses to run as root, and no other account can be had here; run tolok as an ordinary user";
        return Err(database_failed(why));
    }
    Ok(())
}

/// In a network of its own, a database can use its usual port.
fn own_address(trial_box: &TrialBox, wire: Wire) -> io::Result<SocketAddrV4> {
    if trial_box.isolation().network == "host" {
        return Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, free_port()?));
    }
    Ok(SocketAddrV4::new(trial_box.database_address(), wire.usual_port()))
}

pub(in crate::run) fn database_failed(error: impl std::fmt::Display) -> TrialError {
    TrialError::failed(FailureKind::DatabaseFailed, error)
}

/// The CPUs of its processes: the lab's if it has none of its own.
pub(in crate::run) fn own_cpus(cpus: &CpuMap) -> &[u32] {
    if cpus.database.is_empty() { cpus.of_lab() } else { &cpus.database }
}

/// The log of a trial's database.
pub(in crate::run) fn log(folder: &Path) -> PathBuf {
    folder.join(DATABASE_LOG)
}
