//! The lab's side of the box in which a subject's processes run.
//!
//! A box is a keeper process and, below it, an init that starts the servers (see [`super::keeper`]). The lab holds one
//! end of a pipe: while it is open the box lives, and when it closes, for whatever reason, everything in the box ends.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// A process to start in a box.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProcessSpec {
    /// A name for events.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Added environment.
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
pub enum BoxEvent {
    /// The box is ready; says whether its processes have a pid namespace of their own.
    Open {
        /// Whether the kernel itself ends every process of the box.
        namespaced: bool,
    },
    /// A process was started.
    Started {
        /// Its name.
        name: String,
        /// `CLOCK_MONOTONIC` just before its start.
        monotonic_ns: u64,
    },
    /// A process could not be started.
    NotStarted {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// A process that was started ended.
    Exited(ExitReport),
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
    /// Whether the kernel itself ends every process of the box.
    pub namespaced: bool,
}

impl TrialBox {
    /// Opens an empty box. `program` is the tolok binary, whose hidden verb `keeper` is the other side.
    pub fn open(program: &std::path::Path) -> Result<Self, BoxError> {
        let mut command = Command::new(program);
        command.arg("keeper").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut keeper = command.spawn().map_err(BoxError::Keeper)?;
        let requests = keeper.stdin.take();
        let output = keeper.stdout.take().ok_or(BoxError::Silent("has no pipe"))?;
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Ok(event) = serde_json::from_str(&line) else { continue };
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        let mut opened = Self { keeper, requests, events, exits: Vec::new(), namespaced: false };
        match opened.next_event(OWN_STEP)? {
            BoxEvent::Open { namespaced } => opened.namespaced = namespaced,
            _ => return Err(BoxError::Silent("did not open")),
        }
        Ok(opened)
    }

    /// Starts a process; returns `CLOCK_MONOTONIC` just before its start, in nanoseconds.
    pub fn start(&mut self, spec: &ProcessSpec) -> Result<u64, BoxError> {
        self.send(&Request::Start(spec.clone()))?;
        loop {
            match self.next_event(OWN_STEP)? {
                BoxEvent::Started { monotonic_ns, .. } => return Ok(monotonic_ns),
                BoxEvent::NotStarted { name, reason } => return Err(BoxError::NotStarted { name, reason }),
                BoxEvent::Exited(report) => self.exits.push(report),
                BoxEvent::Open { .. } | BoxEvent::Stopped => {}
            }
        }
    }

    /// The processes of the subject that have ended so far; none should, before [`TrialBox::stop`]. Fails if the box
    /// itself has ended, as when somebody kills its keeper.
    pub fn exits(&mut self) -> Result<&[ExitReport], BoxError> {
        loop {
            match self.events.try_recv() {
                Ok(BoxEvent::Exited(report)) => self.exits.push(report),
                Ok(_) => {}
                Err(TryRecvError::Empty) => return Ok(&self.exits),
                Err(TryRecvError::Disconnected) => return Err(BoxError::Silent("ended unexpectedly")),
            }
        }
    }

    /// Pid of the keeper: every process of the box descends from it.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper.id()
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
        self.events.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => BoxError::Silent("does not answer"),
            RecvTimeoutError::Disconnected => BoxError::Silent("ended unexpectedly"),
        })
    }
}

impl Drop for TrialBox {
    /// Closes the pipe, which ends everything in the box, and waits for the keeper; one that hangs is killed, and the
    /// kernel then kills what is below it.
    fn drop(&mut self) {
        self.requests = None;
        let deadline = Instant::now() + STOP_GRACE + OWN_STEP;
        while Instant::now() < deadline {
            match self.keeper.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(2)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // Nothing more can be done if even this fails; the next start of tolok sweeps up.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}
