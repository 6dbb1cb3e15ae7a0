//! The engine's own client program as a long-lived child process: statements in, rows out.
//!
//! A driver would have to follow the login methods of each server; a server's own client always fits. After
//! each statement, the client prints a row that marks the end of the answer.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use tolok_model::DatabaseAddress;

use super::dialect::Dialect;
use super::error::DatabaseError;
use super::load;
use super::pipes::{LOOK, PatientWriter, ready_before, take_in};
use super::rows::{Complaint, Rows};
use super::status::StatusReading;
use crate::toolbox::Program;
use tolok_host::isolate::{Placement, place, wait_within};

/// Limit for a statement of the lab; loading has its own limit.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two login attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// A client whose input has ended disconnects from the server. It gets this long before it is killed.
const GOOD_BYE: Duration = Duration::from_secs(1);
/// Larger than any answer to the lab, which requests counters, not tables.
const ANSWER_LIMIT_BYTES: usize = 64 << 20;
/// The most that messages quote of a statement.
const SHOWN_CHARACTERS: usize = 120;

/// The address of a server, and the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A private server, as its `root`.
    Socket {
        /// The path of its socket.
        path: PathBuf,
    },
    Network(DatabaseAddress),
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket { path } => write!(f, "{}", path.display()),
            Self::Network(address) => write!(f, "{address}"),
        }
    }
}

/// A connection to a server. Dropping it closes the connection.
#[derive(Debug)]
pub struct Client {
    pub(super) dialect: Dialect,
    program: Program,
    target: Target,
    child: Child,
    /// `None` after the connection has ended.
    input: Option<ChildStdin>,
    output: ChildStdout,
    errors: ChildStderr,
    complaints: Vec<u8>,
    asked: u64,
    version: String,
}

impl Client {
    /// Logs in, retrying until the server is ready, `patience` ends or `is_wanted` returns false. Readiness is tested by a login,
    /// because a server counts a connection without a login as a failed one.
    pub fn login(
        program: &Program,
        target: &Target,
        patience: Duration,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Self, DatabaseError> {
        let deadline = Instant::now() + patience;
        let mut last = "its socket is not there".to_owned();
        while is_wanted() && Instant::now() < deadline {
            let is_there = if let Target::Socket { path } = target { path.exists() } else { true };
            if is_there {
                let mut client = Self::start(program, target)?;
                let wait = Wait { deadline: deadline.min(Instant::now() + PATIENCE), is_wanted };
                match client.ask(client.dialect.version(), wait) {
                    Ok(answer) => {
                        client.version = answer.into_iter().flatten().flatten().next().unwrap_or_default();
                        return Ok(client);
                    }
                    Err(Silence::Lost(message)) => last = message,
                    Err(Silence::NotNow(message)) => last = message,
                    Err(Silence::Complaint(message)) => {
                        return Err(DatabaseError::Refused { target: target.to_string(), message });
                    }
                    Err(Silence::TimedOut(_)) => "it takes the connection and says nothing".clone_into(&mut last),
                    Err(Silence::Unwanted) => return Err(DatabaseError::Stopped),
                }
            }
            // A server does not announce its readiness. An attempt is cheap until the socket exists.
            thread::sleep(PAUSE);
        }
        if is_wanted() {
            return Err(DatabaseError::NotReady { target: target.to_string(), after: patience, last });
        }
        Err(DatabaseError::Stopped)
    }

    fn start(program: &Program, target: &Target) -> Result<Self, DatabaseError> {
        let dialect = Dialect::of(program);
        let mut command = dialect.client(program, target);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let shown = command.get_program().to_string_lossy().into_owned();
        let failed = |source: io::Error| DatabaseError::Command {
            command: shown.clone(),
            how: format!("cannot be run: {source}"),
            tail: Vec::new(),
        };
        // It need not die with the thread that started it, because it ends when its input does.
        place(&mut command, &Placement::default()).map_err(failed)?;
        let mut child = command.spawn().map_err(failed)?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(output), Some(errors)) = (output, errors) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let (program, target) = (program.clone(), target.clone());
        let (complaints, version) = (Vec::new(), String::new());
        Ok(Self { dialect, program, target, child, input, output, errors, complaints, asked: 0, version })
    }

    /// The server's version in its own words: `10.11.19-MariaDB`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs a statement and returns its rows. The text `NULL` cannot be told from a null.
    pub fn rows(&mut self, sql: &str) -> Result<Rows, DatabaseError> {
        self.rows_while(sql, Wait { deadline: Instant::now() + PATIENCE, is_wanted: &|| true })
    }

    fn rows_while(&mut self, sql: &str, wait: Wait<'_>) -> Result<Rows, DatabaseError> {
        let target = self.target.to_string();
        let statement = || sql.chars().take(SHOWN_CHARACTERS).collect();
        match self.ask(sql, wait) {
            Ok(rows) => Ok(rows),
            Err(Silence::Complaint(message) | Silence::NotNow(message)) => {
                Err(DatabaseError::Statement { target, statement: statement(), message })
            }
            Err(Silence::Lost(message)) => Err(DatabaseError::Lost { target, message }),
            Err(Silence::TimedOut(after)) => Err(DatabaseError::TimedOut { target, statement: statement(), after }),
            Err(Silence::Unwanted) => Err(DatabaseError::Stopped),
        }
    }

    /// The server's counters, without this connection and its statements.
    pub fn status(&mut self) -> Result<StatusReading, DatabaseError> {
        self.status_while(PATIENCE, &|| true)
    }

    /// The same, for no longer than `patience` and while `is_wanted` returns true.
    pub fn status_while(
        &mut self,
        patience: Duration,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<StatusReading, DatabaseError> {
        let wait = Wait { deadline: Instant::now() + patience, is_wanted };
        // The connection's own figures first: then every reading includes the same own statements.
        let [own, all] = self.dialect.status(&self.version, self.counts_statements());
        let (own, all) = (self.rows_while(&own, wait)?, self.rows_while(&all, wait)?);
        Ok(self.dialect.reading(&own, &all))
    }

    /// Runs a script on a new connection, and stops at the first statement that fails.
    pub fn load(&self, script: load::Script<'_>, is_wanted: &dyn Fn() -> bool) -> Result<(), DatabaseError> {
        load::load(self.dialect.script_client(&self.program, &self.target), script, is_wanted)
    }

    /// Whether a PostgreSQL of ours counts statements. In a user's own, the lab's cannot be told from those of others.
    pub(super) fn counts_statements(&self) -> bool {
        matches!(self.target, Target::Socket { .. })
            && self.program.extras.get("statements").is_some_and(|it| !it.is_empty())
    }

    fn complaint(&self) -> Option<Complaint> {
        self.dialect.complaint(&self.complaints)
    }

    fn ask(&mut self, sql: &str, wait: Wait<'_>) -> Result<Rows, Silence> {
        let started = Instant::now();
        self.asked += 1;
        let mark = format!("tolok:end-of-answer:{}:{}", std::process::id(), self.asked);
        let outcome = self.converse(sql, &mark, wait);
        let silence = match outcome {
            Ok(Some(answer)) => match self.complaint() {
                None => return Ok(self.dialect.rows(&answer)),
                Some(Complaint::Other(message)) => return Err(Silence::Complaint(message)),
                Some(Complaint::NotNow(message)) => return Err(Silence::NotNow(message)),
                Some(Complaint::NoServer(message)) => Silence::Lost(message),
            },
            Ok(None) => {
                // The client waits for the server, and would not notice the end of its input.
                let _ = self.child.kill();
                if (wait.is_wanted)() { Silence::TimedOut(started.elapsed()) } else { Silence::Unwanted }
            }
            Err(error) => match self.complaint() {
                // A client whose login is refused prints the reason and ends.
                Some(Complaint::Other(message)) => Silence::Complaint(message),
                Some(Complaint::NotNow(message)) => Silence::NotNow(message),
                Some(Complaint::NoServer(message)) => Silence::Lost(message),
                None => Silence::Lost(format!("its client has ended: {error}")),
            },
        };
        // Its late output would be taken for the answer to the next statement.
        self.end();
        Err(silence)
    }

    /// Sends a statement, and reads up to the mark after its answer. Returns `None` if the wait ends first.
    fn converse(&mut self, sql: &str, mark: &str, wait: Wait<'_>) -> io::Result<Option<Vec<u8>>> {
        self.complaints.clear();
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let Wait { deadline, is_wanted } = wait;
        let patience = deadline.saturating_duration_since(Instant::now());
        let sent = format!("{sql}\n;\nSELECT '{mark}';\n");
        let mut writer = PatientWriter { pipe: input, patience, is_wanted };
        // A client whose login was refused has closed its input; its message explains more than this write error.
        let written = writer.write_all(sent.as_bytes());
        let (mut answer, ending) = (Vec::new(), format!("{mark}\n"));
        loop {
            let mut files = [PollFd::new(&self.output, PollFlags::IN), PollFd::new(&self.errors, PollFlags::IN)];
            if !ready_before(&mut files, deadline.min(Instant::now() + LOOK))? {
                if is_wanted() && Instant::now() < deadline {
                    continue;
                }
                return Ok(None);
            }
            let [said, complained] = [0, 1].map(|file| !files[file].revents().is_empty());
            if complained && take_in(&mut self.errors, &mut self.complaints)? {
                // Without a server, the mark will never come.
                if matches!(self.complaint(), Some(Complaint::NoServer(_))) {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
            } else if said && !take_in(&mut self.output, &mut answer)? {
                while take_in(&mut self.errors, &mut self.complaints)? {}
                written?;
                return Err(io::ErrorKind::UnexpectedEof.into());
            } else if complained && !said {
                // Standard error is closed but standard output is not: the program is ending.
                ready_before(&mut [PollFd::new(&self.output, PollFlags::IN)], deadline.min(Instant::now() + LOOK))?;
            }
            if answer.ends_with(ending.as_bytes()) {
                answer.truncate(answer.len() - ending.len());
                // Messages for this statement were printed before the mark.
                self.drain_complaints()?;
                return Ok(Some(answer));
            }
            if answer.len() > ANSWER_LIMIT_BYTES {
                return Err(io::Error::other("its answer does not end"));
            }
        }
    }

    fn drain_complaints(&mut self) -> io::Result<()> {
        while ready_before(&mut [PollFd::new(&self.errors, PollFlags::IN)], Instant::now())?
            && take_in(&mut self.errors, &mut self.complaints)?
        {}
        Ok(())
    }

    /// Ends the child, gracefully if possible.
    fn end(&mut self) {
        drop(self.input.take());
        if !matches!(wait_within(&mut self.child, GOOD_BYE), Ok(Some(_))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.end();
    }
}

/// How long to wait for an answer.
#[derive(Clone, Copy)]
struct Wait<'a> {
    deadline: Instant,
    is_wanted: &'a dyn Fn() -> bool,
}

/// Why a statement has no answer.
enum Silence {
    Complaint(String),
    NotNow(String),
    Lost(String),
    TimedOut(Duration),
    Unwanted,
}
