//! What limited a case.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

/// What limited a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Bottleneck {
    /// Its kind, as a word.
    pub kind: BottleneckKind,
    /// The figures that support it, worded to follow a name.
    pub evidence: String,
    /// The same in a sentence.
    pub sentence: String,
}

worded! {
    /// What can limit a case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum BottleneckKind by words {
        /// The generator could not send more.
        Generator = "generator",
        /// The open loop offered no more.
        OfferedRate = "offered rate",
        /// The database used all of its CPUs.
        DatabaseCpu = "database CPU",
        /// The subject used all of its CPUs or its quota.
        SubjectCpu = "subject CPU",
        /// Parts that share CPUs used all of them together.
        SharedCpu = "shared CPU",
        /// The subject has several CPUs, but one of its threads was always busy.
        OneThread = "one thread",
        /// A link was full.
        Link = "link",
        /// Clients that read slowly, as the study requests, took most of the response time.
        ClientPace = "client pace",
        /// Requests waited for one of the connections to the database.
        Pool = "pool",
        /// Each worker serves one request at a time, and other requests waited.
        Workers = "workers",
        /// Memory was at its limit.
        Memory = "memory",
        /// No resource was busy: the users of the closed loop waited for round trips.
        Latency = "latency",
        /// No resource was busy: requests of the open loop waited for a connection of the generator.
        Backlog = "backlog",
        /// The windows had no steady level.
        NotSteady = "not steady",
        /// The trials differ too much for an answer.
        Noisy = "noisy",
        /// Something else.
        NoneFound = "none found",
    }
}
