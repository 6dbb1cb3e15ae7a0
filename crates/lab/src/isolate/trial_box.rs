//! The lab's side of the box in which a subject's processes run.
//!
//! A box is a keeper process and, below it, an init that starts the servers (see [`super::keeper`]). The lab holds one
//! end of a pipe: while it is open the box lives, and when it closes, for whatever reason, everything in the box ends.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::wait::wait_within;

/// A process to start in a box.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// A name for events.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its whole environment; nothing else is inherited.
    pub env: BTreeMap<String, String>,
    /// Working folder.
    pub cwd: PathBuf,
    /// File that its output is appended to.
    pub log: PathBuf,
    /// The CPUs it may use.
    pub cpus: Vec<u32>,
    /// The signal that asks it to stop: `TERM`, `INT`, `QUIT` or `WINCH`.
    pub stop: String,
}

/// What the lab asks of a box, one JSON line each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    Start(ProcessSpec),
    Stop,
}

/// What a box reports, one JSON line each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum BoxEvent {
    /// The box is ready. The pid of its init is the one outside the box.
    Open { init_pid: u32 },
    /// A process was started; the time is `CLOCK_MONOTONIC` just before.
    Started { name: String, monotonic_ns: u64 },
    /// A process could not be started.
    NotStarted { name: String, reason: String },
    /// A process that was started ended.
    Exited(ExitReport),
    /// The box itself failed.
    Broken { reason: String },
    /// Everything has ended.
    Stopped,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitReport {
    /// Its name.
    pub name: String,
    /// In words: `exit code 3`, `signal 9`.
    pub how: String,
}

/// What went wrong with a box.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    /// The keeper cannot be started.
    #[error("cannot start the keeper process: {0}")]
    Keeper(std::io::Error),
    /// The box ended or fell silent when an answer was due.
    #[error("the box of the trial {0}")]
    Silent(&'static str),
    /// The box says that it failed.
    #[error("the box of the trial failed: {0}")]
    Broken(String),
    /// A process of the subject cannot be started.
    #[error("cannot start {name}: {reason}")]
    NotStarted {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

/// How long the box may take for its own steps; they take milliseconds.
const OWN_STEP: Duration = Duration::from_secs(10);
/// How long a server may take to stop when asked, before it is killed; the keeper adds its own time to it.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(3);

/// A box with the processes of one trial.
#[derive(Debug)]
pub struct TrialBox {
    keeper: Child,
    requests: Option<ChildStdin>,
    events: Receiver<BoxEvent>,
    exits: Vec<ExitReport>,
    init_pid: u32,
}

impl TrialBox {
    /// Opens an empty box. `program` is the tolok binary, whose hidden verb `keeper` is the other side.
    pub fn open(program: &Path) -> Result<Self, BoxError> {
        let mut command = Command::new(program);
        // In a process group of its own, so that Ctrl-C at the terminal reaches tolok alone.
        command.arg("keeper").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut keeper = command.spawn().map_err(BoxError::Keeper)?;
        let requests = keeper.stdin.take();
        let output = keeper.stdout.take().expect("it was asked to be a pipe above");
        let events = listen(output);
        let mut opened = Self { keeper, requests, events, exits: Vec::new(), init_pid: 0 };
        match opened.next_event(OWN_STEP)? {
            BoxEvent::Open { init_pid } => {
                opened.init_pid = init_pid;
                Ok(opened)
            }
            _ => Err(BoxError::Silent("did not open")),
        }
    }

    /// Starts a process; returns `CLOCK_MONOTONIC` just before its start, in nanoseconds.
    pub fn start(&mut self, spec: &ProcessSpec) -> Result<u64, BoxError> {
        self.send(&Request::Start(spec.clone()))?;
        loop {
            match self.next_event(OWN_STEP)? {
                BoxEvent::Started { monotonic_ns, .. } => return Ok(monotonic_ns),
                BoxEvent::NotStarted { name, reason } => return Err(BoxError::NotStarted { name, reason }),
                BoxEvent::Exited(report) => self.exits.push(report),
                BoxEvent::Open { .. } | BoxEvent::Broken { .. } | BoxEvent::Stopped => {}
            }
        }
    }

    /// The processes of the subject that have ended so far; none should, before [`TrialBox::stop`]. Fails if the box
    /// itself has ended, as when somebody kills its keeper.
    pub fn exits(&mut self) -> Result<&[ExitReport], BoxError> {
        loop {
            match self.events.try_recv() {
                Ok(BoxEvent::Exited(report)) => self.exits.push(report),
                Ok(BoxEvent::Broken { reason }) => return Err(BoxError::Broken(reason)),
                Ok(_) => {}
                Err(TryRecvError::Empty) => return Ok(&self.exits),
                Err(TryRecvError::Disconnected) => return Err(BoxError::Silent("ended unexpectedly")),
            }
        }
    }

    /// Pid of the init: every process of the subject descends from it.
    pub fn init_pid(&self) -> u32 {
        self.init_pid
    }

    /// Asks all processes to stop, kills those that do not within the grace period, and waits until none is left.
    pub fn stop(mut self) -> Result<(), BoxError> {
        self.send(&Request::Stop)?;
        while self.next_event(STOP_GRACE + OWN_STEP)? != BoxEvent::Stopped {}
        Ok(())
    }

    fn send(&mut self, request: &Request) -> Result<(), BoxError> {
        let mut line = serde_json::to_vec(request).map_err(|_| BoxError::Silent("cannot be asked"))?;
        line.push(b'\n');
        let pipe = self.requests.as_mut().ok_or(BoxError::Silent("is closed"))?;
        pipe.write_all(&line).map_err(|_| BoxError::Silent("ended unexpectedly"))
    }

    fn next_event(&mut self, patience: Duration) -> Result<BoxEvent, BoxError> {
        match self.events.recv_timeout(patience) {
            Ok(BoxEvent::Broken { reason }) => Err(BoxError::Broken(reason)),
            Ok(event) => Ok(event),
            Err(RecvTimeoutError::Timeout) => Err(BoxError::Silent("does not answer")),
            Err(RecvTimeoutError::Disconnected) => Err(BoxError::Silent("ended unexpectedly")),
        }
    }
}

impl Drop for TrialBox {
    /// Closes the pipe, which ends everything in the box, and waits for the keeper; one that hangs is killed, and the
    /// kernel then kills what is below it.
    fn drop(&mut self) {
        self.requests = None;
        if !matches!(wait_within(&mut self.keeper, STOP_GRACE + OWN_STEP), Ok(Some(_))) {
            // Nothing more can be done if even this fails.
            let _ = self.keeper.kill();
            let _ = self.keeper.wait();
        }
    }
}

/// Receives what the box reports, until everybody in it who could report has ended.
fn listen(output: ChildStdout) -> Receiver<BoxEvent> {
    let (sender, events) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let Ok(event) = serde_json::from_str(&line) else { continue };
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    events
}
