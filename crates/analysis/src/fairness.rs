//! Whether the subjects of a run had the same: CPUs, memory, processes, connections, bytes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analyse::Records;
use crate::findings::ScenarioFinding;

/// How one case was set up, and what it was seen to use of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FairnessRow {
    /// Ids of the scenarios that this holds for.
    pub scenarios: Vec<String>,
    /// The subject as a person would write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime.
    pub runtime: String,
    /// What it is and how it is run, in the words of its own file; none where the run did not keep them.
    pub setup: Option<String>,
    /// Every parameter with its value: `pool = 16`.
    pub parameters: Vec<(String, String)>,
    /// CPU time that it was given, in words: `1 CPU, dedicated`.
    pub cpus: String,
    /// Memory that it was given, in bytes; none without a limit.
    pub memory_limit_bytes: Option<u64>,
    /// Most processes seen at once.
    pub processes_max: u32,
    /// Most threads seen at once; none where they were not read.
    pub threads_max: Option<u64>,
    /// Connections to the database that it may open; none without a database.
    pub database_pool: Option<u32>,
    /// Bytes of the body of an answer, on average; none where nothing was answered.
    pub body_bytes: Option<f64>,
    /// Bytes that it sent for each answer, headers included; none where they were not read.
    pub sent_bytes_per_answer: Option<f64>,
}

/// The ledger of a run: what each had, and where that was not the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FairnessLedger {
    /// A row for each subject, with what is the same for all its scenarios together.
    pub rows: Vec<FairnessRow>,
    /// What was not the same for all, a sentence each: processes, bytes, pools, limits.
    pub unequal: Vec<String>,
    /// What was the same for all, a sentence each.
    pub equal: Vec<String>,
}

pub(crate) fn fairness(_records: &Records, _scenarios: &[ScenarioFinding]) -> FairnessLedger {
    FairnessLedger::default()
}
