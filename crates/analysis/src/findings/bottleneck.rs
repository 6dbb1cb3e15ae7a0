//! What limited a case.

use serde::Serialize;

use crate::JsonSchema;

/// What limited a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bottleneck {
    /// In a word.
    pub kind: BottleneckKind,
    /// The figures that it rests on, as they stand behind a name.
    pub evidence: String,
    /// The same in a sentence.
    pub sentence: String,
}

/// What can limit a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BottleneckKind {
    /// The generator could send no more.
    Generator,
    /// In an open loop, no more was asked for.
    OfferedRate,
    /// The database used all of its CPUs.
    DatabaseCpu,
    /// The subject used all of its CPUs, or of its quota.
    SubjectCpu,
    /// Parts that ran on the same CPUs used all of them together.
    SharedCpu,
    /// The subject has several CPUs, and one of its threads had no time left.
    OneThread,
    /// A link carried as much as it can.
    Link,
    /// Clients that read slowly, as the study asks of them, took most of the time of an answer.
    ClientPace,
    /// Requests waited for one of the connections to the database.
    Pool,
    /// The subject serves so many at a time as it has workers, and the others waited.
    Workers,
    /// Memory was at its limit.
    Memory,
    /// Nothing was busy: the users of a closed loop waited for round trips.
    Latency,
    /// In an open loop, requests waited for a connection of the generator's, and nothing was busy.
    Backlog,
    /// The windows had no single level.
    NotSteady,
    /// The trials differ too much to say.
    Noisy,
    /// None of these.
    NoneFound,
}

impl BottleneckKind {
    /// The word for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::OfferedRate => "offered rate",
            Self::DatabaseCpu => "database CPU",
            Self::SubjectCpu => "subject CPU",
            Self::SharedCpu => "shared CPU",
            Self::OneThread => "one thread",
            Self::Link => "link",
            Self::ClientPace => "client pace",
            Self::Pool => "pool",
            Self::Workers => "workers",
            Self::Memory => "memory",
            Self::Latency => "latency",
            Self::Backlog => "backlog",
            Self::NotSteady => "not steady",
            Self::Noisy => "noisy",
            Self::NoneFound => "none found",
        }
    }
}
