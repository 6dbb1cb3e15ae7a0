//! What limited a case.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

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

worded! {
    /// What can limit a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum BottleneckKind by words {
        /// The generator could send no more.
        Generator = "generator",
        /// In an open loop, no more was asked for.
        OfferedRate = "offered rate",
        /// The database used all of its CPUs.
        DatabaseCpu = "database CPU",
        /// The subject used all of its CPUs, or of its quota.
        SubjectCpu = "subject CPU",
        /// Parts that ran on the same CPUs used all of them together.
        SharedCpu = "shared CPU",
        /// The subject has several CPUs, and one of its threads had no time left.
        OneThread = "one thread",
        /// A link carried as much as it can.
        Link = "link",
        /// Clients that read slowly, as the study asks of them, took most of the time of an answer.
        ClientPace = "client pace",
        /// Requests waited for one of the connections to the database.
        Pool = "pool",
        /// The subject serves one request per worker at a time, and the others waited.
        Workers = "workers",
        /// Memory was at its limit.
        Memory = "memory",
        /// Nothing was busy: the users of a closed loop waited for round trips.
        Latency = "latency",
        /// In an open loop, requests waited for a connection of the generator's, and nothing was busy.
        Backlog = "backlog",
        /// The windows had no single level.
        NotSteady = "not steady",
        /// The trials differ too much to say.
        Noisy = "noisy",
        /// None of these.
        NoneFound = "none found",
    }
}
