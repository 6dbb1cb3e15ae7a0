//! The parts of a trial, and how the processes of each are found.

use std::io;

use serde::{Deserialize, Serialize};

use crate::group::{Group, GroupReader, GroupReading};

/// Whom a reading is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The server under test, all its processes.
    Subject,
    /// The load tool.
    Generator,
    /// The database behind the subject.
    Database,
    /// The process that emulates the link between client and subject.
    Link,
    /// The process that emulates the link between subject and database.
    DatabaseLink,
    /// This process, which orders and samples.
    Lab,
}

impl Part {
    /// All there can be.
    pub const ALL: [Self; 6] =
        [Self::Subject, Self::Generator, Self::Database, Self::Link, Self::DatabaseLink, Self::Lab];

    /// Its word in files and sentences.
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

/// A part that is to be followed.
#[derive(Debug)]
pub struct Followed {
    pub part: Part,
    pub members: Members,
    /// Whose network interfaces are to be read, if any are.
    pub net_of: Option<NetOf>,
}

/// A process whose network interfaces are those of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetOf {
    /// This one, which is there all the time.
    Process(u32),
    /// Any that belongs to the part, as all of them are in one network namespace. While none is there, nothing is read.
    Members,
}

/// How the processes of a part are found.
#[derive(Debug)]
pub enum Members {
    /// All in a control group: the group counts for them, whatever they do.
    Group(Group),
    /// All below a process, itself not included: what a box's first process started. Those that are another part's
    /// [`Members::Trees`] are not among them.
    Below(u32),
    /// One process, without those that it starts.
    Process(u32),
    /// These processes and all below them; more can be added while they are followed, see [`super::Sampler::add_process`].
    Trees(Vec<u32>),
}

/// A control group as the sampler reads it; tests have one whose figures are known.
pub(super) trait Counting: std::fmt::Debug {
    fn read(&self) -> GroupReading;
    fn members(&self) -> io::Result<Vec<u32>>;
    fn threads(&self) -> io::Result<Vec<u32>>;
}

/// A real control group, its files held open.
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

/// Where the processes of a part are looked up, with the files held open for it.
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
