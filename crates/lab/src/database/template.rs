//! The files of a database that was created, filled and cleanly shut down, ready to be copied.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde::{Deserialize, Serialize};

use super::client::{Client, Target};
use super::dialect::Dialect;
use super::error::DatabaseError;
use super::load::Script;
use super::pipes::{LOOK, ready_before};
use super::postgres;
use crate::subject::log_tail;
use crate::toolbox::Program;
use tolok_host::isolate::{Placement, place, wait_within};

/// Creating tables, starting and shutting down takes seconds, or minutes on a slow disk under load.
const PATIENCE: Duration = Duration::from_secs(300);
/// The kernel's limit for the path of a socket.
const SOCKET_PATH_BYTES: usize = 107;

/// A database that instances are copied from; it is never served itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Template {
    pub(super) folder: PathBuf,
    pub(super) program: Program,
}

impl Template {
    pub(super) fn new(folder: PathBuf, program: &Program) -> Self {
        Self { folder, program: program.clone() }
    }
}

/// Makes a database in `making`, and renames its files to `whole` once they are complete.
pub(super) fn make(
    program: &Program,
    load: Script<'_>,
    making: &Path,
    whole: &Path,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), DatabaseError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| DatabaseError::Files { path, source }
    };
    // Nobody else may reach the socket: root has no password.
    DirBuilder::new().mode(0o700).create(making).map_err(failed(making))?;
    let (log, dialect) = (making.join("log"), Dialect::of(program));
    let place = Place::of(dialect, making).map_err(failed(making))?;
    let (made, data) = (place.data(making), making.join("data"));
    let account = place.account;
    Running::start(&dialect.install(program, &made), program, (&log, account))?.wait(is_wanted)?;
    let mut words = dialect.server(program, &made, &place.folder);
    words.extend(dialect.without_network());
    let mut server = Running::start(&words, program, (&log, account))?;
    fill(program, &server, &place.folder, load, is_wanted)?;
    server.stop(dialect.stop_signal().0, is_wanted)?;
    if made != data {
        let paths = [&made, &data].map(|path| path.display().to_string());
        let copy = ["cp", "--archive", "--no-preserve=ownership", "--no-target-directory"].map(str::to_owned);
        let copy: Vec<String> = copy.into_iter().chain(paths).collect();
        Running::start(&copy, program, (&log, None))?.wait(is_wanted)?;
    }
    let file = File::open(&data).map_err(failed(&data))?;
    // After a power failure, the final name must not hold incomplete files.
    rustix::fs::syncfs(&file).map_err(io::Error::from).and_then(|()| fs::rename(&data, whole)).map_err(failed(whole))
}

/// Loads the data, and leaves the server no background work for later.
fn fill(
    program: &Program,
    server: &Running,
    folder: &Path,
    load: Script<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), DatabaseError> {
    let dialect = Dialect::of(program);
    let target = Target::Socket { path: dialect.socket(folder, postgres::QUIET_PORT) };
    let is_alive = || is_wanted() && server.runs();
    // If the server has ended, its log explains more than the failed login.
    let ended = |error: DatabaseError| if is_wanted() && !server.runs() { server.failure("has ended") } else { error };
    let mut client = Client::login(program, &target, PATIENCE, &is_alive).map_err(ended)?;
    client.load(load, &is_alive).map_err(ended)?;
    if dialect == Dialect::Postgres {
        // Its script has analysed the tables; on the network, only the account of the subjects can log in.
        if client.counts_statements() {
            client.rows("CREATE EXTENSION pg_stat_statements")?;
        }
        return Ok(());
    }
    // MariaDB would let root log in without a password from the network as well.
    let strangers =
        client.rows("SELECT COUNT(*) FROM mysql.user WHERE user IN ('', 'root') AND host <> 'localhost'")?;
    if dialect == Dialect::Mariadb && strangers != [[Some("0".to_owned())]] {
        client.rows("DELETE FROM mysql.global_priv WHERE User IN ('', 'root') AND Host <> 'localhost'")?;
    }
    // Otherwise the server would gather table statistics in the background, possibly during a measurement.
    let tables = client.rows(
        "SELECT CONCAT('`', table_schema, '`.`', table_name, '`') FROM information_schema.tables WHERE table_type = \
         'BASE TABLE' AND table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')",
    )?;
    for table in tables.iter().flatten().flatten() {
        client.rows(&format!("ANALYZE TABLE {table}"))?;
    }
    Ok(())
}

/// The folder of the socket: the template's own, or a short one if that path is too long.
struct Place {
    folder: PathBuf,
    /// User and group of its owner, if not the lab.
    account: Option<(u32, u32)>,
    /// Removed on drop.
    _short: Option<tempfile::TempDir>,
}

impl Place {
    fn of(dialect: Dialect, making: &Path) -> io::Result<Self> {
        let refuses_root = dialect.refuses_root() && rustix::process::geteuid().is_root();
        let socket = dialect.socket(making, postgres::QUIET_PORT);
        if !refuses_root && socket.as_os_str().len() <= SOCKET_PATH_BYTES {
            return Ok(Self { folder: making.to_owned(), account: None, _short: None });
        }
        let temporary = [std::env::temp_dir(), PathBuf::from("/tmp")];
        let is_short = |folder: &&PathBuf| folder.as_os_str().len() + 40 <= SOCKET_PATH_BYTES;
        let parent = temporary.iter().find(is_short).ok_or(io::ErrorKind::InvalidFilename)?;
        let short = tempfile::Builder::new().prefix("tolok-db-").tempdir_in(parent)?;
        let account = if refuses_root { Some(named_account()?) } else { None };
        if let Some((user, group)) = account {
            chown(short.path(), Some(user), Some(group))?;
        }
        Ok(Self { folder: short.path().to_owned(), account, _short: Some(short) })
    }

    /// Where the files are created. Another account cannot reach the template's own folder.
    fn data(&self, making: &Path) -> PathBuf {
        if self.account.is_some() { self.folder.join("data") } else { making.join("data") }
    }
}

/// An unprivileged system account with a name: PostgreSQL creates no files for root, nor for a user number without a name.
fn named_account() -> io::Result<(u32, u32)> {
    let accounts = fs::read_to_string("/etc/passwd")?;
    let number = |name: &str| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let found = postgres::NAMED_ACCOUNTS.iter().find_map(|name| number(name)).filter(|(user, _)| *user != 0);
    let nobody = "PostgreSQL refuses root, and there is neither an account `postgres` nor `nobody`";
    found.ok_or_else(|| io::Error::other(nobody))
}

/// A child process that makes a template. Dropping this kills it.
struct Running {
    child: Child,
    command: String,
    log: PathBuf,
}

impl Running {
    fn start(
        words: &[String],
        program: &Program,
        (log, account): (&Path, Option<(u32, u32)>),
    ) -> Result<Self, DatabaseError> {
        let name = words.first().cloned().unwrap_or_default();
        let failed = |source: io::Error| {
            let how = format!("cannot be run: {source}");
            DatabaseError::Command { command: name.clone(), how, tail: Vec::new() }
        };
        let output = File::options().create(true).append(true).open(log).map_err(failed)?;
        let mut command = Command::new(&name);
        command.args(words.iter().skip(1)).envs(&program.env).stdin(Stdio::null());
        command.stdout(output.try_clone().map_err(failed)?).stderr(output);
        if let Some((user, group)) = account {
            command.uid(user).gid(group).current_dir("/");
        }
        place(&mut command, &Placement { dies_with_parent: true, ..Placement::default() }).map_err(failed)?;
        Ok(Self { child: command.spawn().map_err(failed)?, command: name.clone(), log: log.to_owned() })
    }

    fn runs(&self) -> bool {
        let ended = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|process| ready_before(&mut [PollFd::new(&process, PollFlags::IN)], Instant::now()));
        !ended.unwrap_or(true)
    }

    fn failure(&self, how: &str) -> DatabaseError {
        DatabaseError::Command { command: self.command.clone(), how: how.to_owned(), tail: log_tail(&self.log, 10) }
    }

    /// Sends it the signal, and waits for a clean exit.
    fn stop(&mut self, signal: Signal, is_wanted: &dyn Fn() -> bool) -> Result<(), DatabaseError> {
        // A process that is gone cannot be signalled; `wait` reports how it ended.
        let _ = kill_process(Pid::from_child(&self.child), signal);
        self.wait(is_wanted)
    }

    fn wait(&mut self, is_wanted: &dyn Fn() -> bool) -> Result<(), DatabaseError> {
        let deadline = Instant::now() + PATIENCE;
        while is_wanted() && Instant::now() < deadline {
            match wait_within(&mut self.child, LOOK) {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(self.failure(&format!("ended with {status}"))),
                Ok(None) => {}
                Err(error) => return Err(self.failure(&format!("cannot be waited for: {error}"))),
            }
        }
        Err(if is_wanted() {
            self.failure(&format!("did not end within {PATIENCE:?}"))
        } else {
            DatabaseError::Stopped
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The child may be a shell script, so kill its whole group. The child is not reaped yet, so it still
        // owns the group's number.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
