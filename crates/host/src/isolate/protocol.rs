//! The words between the lab, the keeper and the init.
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

/// How long a database may take to stop when asked, before it is killed, and so the longest that any part may; the keeper
/// adds its own time to it.
pub(super) const STOP_GRACE: Duration = Duration::from_secs(3);
/// The same for all other processes. They are asked after the measurement, and a server that hears the signal ends in
/// milliseconds; who ignores it, or waits for clients that have gone, is to hold no one up.
const SHORT_GRACE: Duration = Duration::from_millis(800);

/// How long the processes of a part may take to stop when asked.
pub(super) fn stop_grace(part: &str) -> Duration {
    if part == "database" { STOP_GRACE } else { SHORT_GRACE }
}

/// The argument of the verb `keeper`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeeperJob {
    pub(super) spec: BoxSpec,
    /// Number of the inherited socket to the lab.
    pub(super) channel: i32,
}

/// The argument of the verb `init`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct InitJob {
    /// It is process 1 of a pid namespace.
    pub(super) pid_namespace: bool,
    /// It may make namespaces for mounts and IPC.
    pub(super) may_separate: bool,
    pub(super) run_folder: Option<RunFolder>,
    pub(super) guard: Option<GuardSpec>,
    /// What a process of each part writes `0` into to join the part's control groups.
    pub(super) entrances: BTreeMap<String, Vec<PathBuf>>,
    /// Numbers of the inherited network namespaces of those parts that have one other than the init's.
    pub(super) networks: BTreeMap<String, i32>,
}

/// Requests of the lab to the init.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    Start(ProcessSpec),
    /// The content follows the line: that many bytes.
    Write {
        path: PathBuf,
        mode: u32,
        length: usize,
    },
    /// To make a folder in which a part may write.
    Folder {
        path: PathBuf,
        part: String,
    },
    /// To send a signal to those processes of a part that were asked for.
    Signal {
        part: String,
        signal: i32,
    },
    /// To kill those processes of a part that were asked for, and all below them.
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
    /// It has made its namespaces and mounts, and listens.
    Settled {
        namespaces: Vec<String>,
        fallbacks: Vec<String>,
        /// The descriptor of the init that programs enter their view of the files by.
        view: Option<i32>,
    },
    /// A process was started; the time is `CLOCK_MONOTONIC` just before, the pid the one inside the box.
    Started {
        monotonic_ns: u64,
        pid: u32,
    },
    /// A process could not be started.
    NotStarted {
        name: String,
        reason: String,
    },
    /// A process that was started ended; the pid is the one inside the box.
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

/// Requests of the lab to the keeper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KeeperRequest {
    /// A socket of the client's network namespace, or of the subject's.
    Give(SocketWanted),
    /// Nothing more: the lab lives on without this box. Who is killed does not say so.
    LetGo,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SocketWanted {
    Tcp {
        v6: bool,
    },
    /// One that sees packets; none until it is bound.
    Packet,
    /// One of the subject's network namespace.
    BesideSubject,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KeeperEvent {
    /// Everything but the init's part is made.
    Open(Box<Opened>),
    /// The socket comes with the message.
    Socket,
    /// No socket can be made.
    NoSocket { reason: String },
    /// The box cannot be made, or has ended for a reason of its own.
    Failed(Fault),
    /// The init has stopped the servers as it was asked to, and everything is gone.
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
