//! The parts of a trial, and how the processes of each are found.

use std::io;

use serde::Serialize;

use crate::group::{Group, GroupReader, GroupReading};

/// Whom a reading is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The server under test, all its processes.
    Subject,
    /// The load tool.
    Generator,
    /// The database behind the subject.
    Database,
    /// The process that emulates a link.
    Link,
    /// This process, which orders and samples.
    Lab,
}

impl Part {
    /// All there can be.
    pub const ALL: [Self; 5] = [Self::Subject, Self::Generator, Self::Database, Self::Link, Self::Lab];

    /// Its word in files and sentences.
    pub fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Generator => "generator",
            Self::Database => "database",
            Self::Link => "link",
            Self::Lab => "lab",
        }
    }
}

/// A part that is to be followed.
#[derive(Debug)]
pub struct Followed {
    /// Which.
    pub part: Part,
    /// Its processes.
    pub members: Members,
    /// A process in the part's network namespace, whose interfaces are to be read.
    pub net_of: Option<u32>,
}

/// How the processes of a part are found.
#[derive(Debug)]
pub enum Members {
    /// All in a control group: the group counts for them, whatever they do.
    Group(Group),
    /// All below a process, itself not included: what a box's first process started.
    Below(u32),
    /// One process, without those that it starts.
    Process(u32),
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

/// Where the processes of a part are looked up, with whatever is held open for it.
#[derive(Debug)]
pub(super) enum Source {
    Group(Box<dyn Counting>),
    Below(u32),
    Process(u32),
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
        }
    }
}
