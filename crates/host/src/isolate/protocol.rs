//! The messages between the lab, the keeper and the init.
//!
//! ```text
//! lab --pipe: Request, one JSON line each, and the bytes of a file--> init
//! init --pipe: InitEvent--> lab
//! lab <--socket of messages: KeeperRequest, KeeperEvent, and descriptors--> keeper
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::spec::{BoxSpec, ExitReport, GuardSpec, Isolation, ProcessSpec, RunFolder};
use crate::group::Group;

/// How long a database may take to stop before it is killed. It is the longest grace of any part, and the keeper adds
/// its own time to it.
const STOP_GRACE: Duration = Duration::from_secs(3);
/// The same for all other processes. They are asked after the measurement, and a server that handles the signal ends in
/// milliseconds. One that ignores it, or waits for clients that have gone, must not delay the rest.
const SHORT_GRACE: Duration = Duration::from_millis(800);
/// How long the box may take for its own steps, which take milliseconds.
pub(super) const OWN_STEP: Duration = Duration::from_secs(10);
/// How long the lab waits for the end of the keeper before it kills it.
pub(super) const KEEPER_LIMIT: Duration = STOP_GRACE.saturating_add(OWN_STEP);

/// How long the processes of a part may take to stop when asked.
pub(super) fn stop_grace(part: &str) -> Duration {
    if part == "database" { STOP_GRACE } else { SHORT_GRACE }
}

/// The argument of the verb `keeper`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeeperJob {
    pub(super) spec: BoxSpec,
    /// The number of the inherited socket to the lab.
    pub(super) channel: i32,
}

/// The argument of the verb `init`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InitJob {
    /// Whether it is process 1 of a pid namespace.
    pub(super) pid_namespace: bool,
    /// Whether it may make namespaces for mounts and IPC.
    pub(super) may_separate: bool,
    pub(super) run_folder: Option<RunFolder>,
    pub(super) guard: Option<GuardSpec>,
    /// The files into which a process of each part writes `0` to join the part's control groups.
    pub(super) entrances: BTreeMap<String, Vec<PathBuf>>,
    /// The numbers of the inherited network namespaces, for parts in another one than the init.
    pub(super) networks: BTreeMap<String, i32>,
}

/// Requests from the lab to the init.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    Start(ProcessSpec),
    /// The line is followed by `length` bytes of content.
    Write {
        path: PathBuf,
        mode: u32,
        length: usize,
    },
    /// Make a folder in which a part may write.
    Folder {
        path: PathBuf,
        part: String,
    },
    /// Send a signal to the requested processes of a part.
    Signal {
        part: String,
        signal: i32,
    },
    /// Kill the requested processes of a part, and all below them.
    Kill {
        part: String,
    },
    Stop,
}

impl Request {
    /// Bytes that follow the line.
    pub(super) fn length(&self) -> usize {
        if let Self::Write { length, .. } = self { *length } else { 0 }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum InitEvent {
    /// The init has made its namespaces and mounts, and accepts requests.
    Settled {
        namespaces: Vec<String>,
        fallbacks: Vec<String>,
        /// The init's descriptor of the mount namespace for programs.
        view: Option<i32>,
    },
    /// A process was started. The time is `CLOCK_MONOTONIC` just before; the pid is the one inside the box.
    Started {
        monotonic_ns: u64,
        pid: u32,
    },
    /// A process could not be started.
    NotStarted {
        name: String,
        reason: String,
    },
    /// A requested process ended. The pid is the one inside the box.
    Exited {
        pid: u32,
        report: ExitReport,
    },
    Signalled,
    Written,
    /// A file could not be written.
    NoFile {
        reason: String,
    },
}

/// Requests from the lab to the keeper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KeeperRequest {
    /// A socket of the client's network namespace, or of the subject's.
    Give(SocketWanted),
    /// The lab no longer needs this box, but lives on. A killed lab does not send this.
    LetGo,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SocketWanted {
    Tcp {
        v6: bool,
    },
    /// A packet socket. It sees nothing until it is bound.
    Packet,
    /// A socket in the subject's network namespace.
    BesideSubject,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KeeperEvent {
    /// Everything but the init's part is ready.
    Open(Box<Opened>),
    /// The socket comes with the message.
    Socket,
    /// No socket can be made.
    NoSocket { reason: String },
    /// The box cannot be made, or has ended unexpectedly.
    Failed(Fault),
    /// The init has stopped the servers on request, and everything is gone.
    Stopped,
}

/// What the keeper has made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Opened {
    /// The pid of the init outside the box.
    pub(super) init_pid: u32,
    /// The pid of the process that emulates the link between client and subject.
    pub(super) link_pid: Option<u32>,
    /// The same for the link between subject and database.
    pub(super) database_link_pid: Option<u32>,
    pub(super) groups: BTreeMap<String, Group>,
    pub(super) isolation: Isolation,
}

/// What is wrong with a box.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fault {
    #[error("{0}")]
    Link(String),
    #[error("{0}")]
    Limit(String),
    #[error("{key} {reason}")]
    Sysctl { key: String, reason: String },
    #[error("{0}")]
    Broken(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<rustix::io::Errno> for Fault {
    fn from(error: rustix::io::Errno) -> Self {
        io::Error::from(error).into()
    }
}
