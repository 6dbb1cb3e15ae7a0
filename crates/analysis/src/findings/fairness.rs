//! The resources and settings of each subject.

use serde::Serialize;

use crate::JsonSchema;
use crate::setup::ProcessSetup;

/// Resources and settings of one subject in all its scenarios, and what it used.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FairnessRow {
    /// The subject as users write it.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Its runtime.
    pub runtime: String,
    /// Whether it is the ceiling, which does not compete.
    pub is_ceiling: bool,
    /// What it is and how it runs, from its own file; absent if the run did not store this.
    pub setup: Option<String>,
    /// Work per response that others do and it does not, from its own file; absent if it does the same work.
    pub less_work: Option<String>,
    /// Every parameter, by name.
    pub parameters: Vec<ParameterFact>,
    /// Its declared processes; empty if the run did not store them.
    pub declared: Vec<ProcessSetup>,
    /// Its other configuration files.
    pub files: Vec<String>,
    /// Its distinct limits, in words: `1 dedicated CPU · 512MiB of memory`.
    pub given: Vec<String>,
    /// Its distinct memory limits, in bytes; empty without a limit.
    pub memory_limits_bytes: Vec<u64>,
    /// Most processes at once; absent if they were not read.
    pub processes_max: Option<u32>,
    /// Most threads at once; absent if they were not read.
    pub threads_max: Option<u32>,
    /// The distinct sizes of its database pool; empty without a database.
    pub database_pools: Vec<u32>,
    /// Its responses in each scenario; for a program, only the scenario's name.
    pub scenarios: Vec<FairnessAnswers>,
}

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ParameterFact {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether it differs from the default; absent if the run did not store the default.
    pub is_changed: Option<bool>,
    /// What it tunes; empty if the run did not store this.
    pub help: String,
    /// Whether it counts processes, threads or connections.
    pub is_number_of_workers: bool,
}

/// The responses of a subject in one scenario. Every figure is the median over the scored trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FairnessAnswers {
    /// Id of the scenario.
    pub scenario: String,
    /// Mean bytes of a response body; absent without responses.
    pub body_bytes: Option<f64>,
    /// Bytes sent over its network interfaces per response, including HTTP, TCP and IP headers. A loopback also counts requests,
    /// and traffic among the subject's processes and with a database. Absent if not read.
    pub network_bytes_per_answer: Option<f64>,
    /// Connections that clients opened in a window; absent if the tool does not report them.
    pub connections: Option<f64>,
    /// Share of its CPU time that its busiest thread used; absent if threads were not read.
    pub busiest_thread_share: Option<f64>,
    /// Trials behind its figures.
    pub trials_scored: u32,
}

/// The fairness ledger of a run: what each subject had, and where that differs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct FairnessLedger {
    /// A row for each subject, ceilings last.
    pub rows: Vec<FairnessRow>,
    /// What differed between subjects, one sentence each, the most important first.
    pub unequal: Vec<String>,
    /// What was the same for all, one sentence each.
    pub equal: Vec<String>,
    /// What remains unknown, one sentence each.
    pub unknown: Vec<String>,
}
