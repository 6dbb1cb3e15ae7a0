//! What each subject had.

use serde::Serialize;

use crate::JsonSchema;
use crate::setup::ProcessSetup;

/// What one subject had in all scenarios that it took part in, and what it was seen to use of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FairnessRow {
    /// The subject as a person would write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime.
    pub runtime: String,
    /// Whether it shows the machine's limit, and competes with nobody.
    pub is_ceiling: bool,
    /// What it is and how it is run, in the words of its own file; none where the run did not keep them.
    pub setup: Option<String>,
    /// What it does not do for each answer that others do, by its own file; none where it does the same work.
    pub less_work: Option<String>,
    /// Every parameter, by name.
    pub parameters: Vec<ParameterFact>,
    /// Its processes as they are declared; empty where the run did not keep them.
    pub declared: Vec<ProcessSetup>,
    /// Files of settings that it has besides.
    pub files: Vec<String>,
    /// What it was given, in words, each once: `1 dedicated CPU · 512MiB of memory`.
    pub given: Vec<String>,
    /// Limits of its memory, in bytes, each once; empty without a limit.
    pub memory_limits_bytes: Vec<u64>,
    /// Most processes seen at once; none where none were seen.
    pub processes_max: Option<u32>,
    /// Most threads seen at once; none where they were not read.
    pub threads_max: Option<u32>,
    /// Connections to the database that it might open, each number once; empty without a database.
    pub database_pools: Vec<u32>,
    /// What its answers were in each scenario; of a program, only that it took part.
    pub scenarios: Vec<FairnessAnswers>,
}

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ParameterFact {
    /// Its name.
    pub name: String,
    /// The value that it had.
    pub value: String,
    /// Whether that is another than its default; none where the run did not keep the default.
    pub is_changed: Option<bool>,
    /// What it tunes; empty where the run did not keep it.
    pub help: String,
    /// Whether it is a number of processes, threads or connections.
    pub is_number_of_workers: bool,
}

/// What the answers of a subject were in one scenario. Every figure is the median over the scored trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FairnessAnswers {
    /// Id of the scenario.
    pub scenario: String,
    /// Bytes of the body of an answer, on average; none where nothing was answered.
    pub body_bytes: Option<f64>,
    /// Bytes that were sent over the interfaces of its network for each answer, headers of HTTP, TCP and IP included; over a
    /// loopback with the request, and with what its own processes and a database sent each other there. None where they were
    /// not read.
    pub network_bytes_per_answer: Option<f64>,
    /// Connections that clients opened in a window; none where the tool does not tell.
    pub connections: Option<f64>,
    /// Share of its CPU time that its busiest thread used; none where threads were not told apart.
    pub busiest_thread_share: Option<f64>,
    /// Trials that its figures rest on.
    pub trials_scored: u32,
}

/// The ledger of a run: what each had, and where that was not the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FairnessLedger {
    /// A row for each subject, ceilings last.
    pub rows: Vec<FairnessRow>,
    /// What was not the same for all, a sentence each, the weightiest first.
    pub unequal: Vec<String>,
    /// What was the same for all, a sentence each.
    pub equal: Vec<String>,
    /// What cannot be told, a sentence each.
    pub unknown: Vec<String>,
}
