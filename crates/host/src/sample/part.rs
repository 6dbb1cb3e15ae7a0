//! The parts of a trial, and how the processes of each are found.

use std::io;

use serde::{Deserialize, Serialize};

use crate::group::{Group, GroupReader, GroupReading};

/// The part that a reading is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The server under test with all its processes.
    Subject,
    /// The load tool.
    Generator,
    /// The database behind the subject.
    Database,
    /// The process that emulates the link between client and subject.
    Link,
    /// The process that emulates the link between subject and database.
    DatabaseLink,
    /// This process, which controls and samples.
    Lab,
}

impl Part {
    /// All possible parts.
    pub const ALL: [Self; 6] =
        [Self::Subject, Self::Generator, Self::Database, Self::Link, Self::DatabaseLink, Self::Lab];

    /// The word used in files and sentences.
    pub fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Generator => "generator",
            Self::Database => "database",
            Self::Link => "link",
            Self::DatabaseLink => "database-link",
            Self::Lab => "lab",
        }
    }
}

/// A part to follow.
#[derive(Debug)]
pub struct Followed {
    pub part: Part,
    pub members: Members,
    /// Which process's network interfaces to read, if any.
    pub net_of: Option<NetOf>,
}

/// A process whose network interfaces are those of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetOf {
    /// This process, which runs all the time.
    Process(u32),
    /// Any process of the part, since all are in one network namespace. While there is none, nothing is read.
    Members,
}

/// How the processes of a part are found.
#[derive(Debug)]
pub enum Members {
    /// All in a control group. The group counts for them, whatever they do.
    Group(Group),
    /// All descendants of a process, without itself: what the init of a box started. Those in another part's
    /// [`Members::Trees`] are left out.
    Below(u32),
    /// One process, without those that it starts.
    Process(u32),
    /// These processes and all their descendants. More can be added later, see [`super::Sampler::add_process`].
    Trees(Vec<u32>),
}

/// A control group as the sampler reads it. Tests have one with known figures.
pub(super) trait Counting: std::fmt::Debug {
    fn read(&self) -> GroupReading;
    fn members(&self) -> io::Result<Vec<u32>>;
    fn threads(&self) -> io::Result<Vec<u32>>;
}

/// A real control group with its files open.
#[derive(Debug)]
pub(super) struct CountingGroup {
    pub(super) group: Group,
    pub(super) reader: GroupReader,
}

impl Counting for CountingGroup {
    fn read(&self) -> GroupReading {
        self.reader.read()
    }

    fn members(&self) -> io::Result<Vec<u32>> {
        self.group.members()
    }

    fn threads(&self) -> io::Result<Vec<u32>> {
        self.group.threads()
    }
}

/// Where the processes of a part are found, with the open files for that.
#[derive(Debug)]
pub(super) enum Source {
    Group(Box<dyn Counting>),
    Below(u32),
    Process(u32),
    Trees(Vec<u32>),
}

impl From<Members> for Source {
    fn from(members: Members) -> Self {
        match members {
            Members::Group(group) => {
                let reader = group.reader();
                Self::Group(Box::new(CountingGroup { group, reader }))
            }
            Members::Below(pid) => Self::Below(pid),
            Members::Process(pid) => Self::Process(pid),
            Members::Trees(pids) => Self::Trees(pids),
        }
    }
}
