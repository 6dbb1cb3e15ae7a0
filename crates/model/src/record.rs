//! What is stored of a run and of each trial.
//!
//! These types are the format on disk: every file carries [`RECORD_FORMAT`], and a reader refuses a number it does not
//! know. Units stand at the end of each name; bare counts have none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::CaseId;

/// Version of the stored formats.
pub const RECORD_FORMAT: u32 = 1;

/// `run.json`: what a run was and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this format.
    pub format: u32,
    /// Name of the run, which is the name of its folder.
    pub id: String,
    /// Name of the study file, without its ending.
    pub study: String,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// Version of tolok.
    pub tolok_version: String,
    /// Commit of the checkout and whether it was changed, if it is one.
    pub git: Option<String>,
    /// Seed of the order.
    pub seed: u64,
    /// Fingerprint of the plan.
    pub plan_sha256: String,
    /// The machine, in words for the report.
    pub machine: MachineSummary,
    /// Everything known of the machine.
    pub fingerprint: serde_json::Value,
    /// Programs of the toolbox that the subjects use.
    pub programs: Vec<ProgramUsed>,
    /// CPUs of the parts of every trial.
    pub cpus: CpuMap,
    /// Command that repeats the run.
    pub command: String,
}

/// The machine, in words for the report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineSummary {
    /// Model of the CPU.
    pub cpu: String,
    /// Logical CPUs.
    pub cpus: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    /// Distribution.
    pub distribution: String,
    /// Hypervisor or container, if one is seen.
    pub virtualisation: Option<String>,
    /// What a reader must know to judge the figures, one sentence each.
    pub remarks: Vec<String>,
}

/// A program that a subject uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramUsed {
    /// Its name among people.
    pub name: String,
    /// Its version, as it says itself.
    pub version: String,
    /// Where it lies.
    pub path: String,
    /// `system` or `toolbox`.
    pub source: String,
}

/// Which CPUs the parts of a trial ran on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuMap {
    /// The subject's.
    pub subject: Vec<u32>,
    /// The generator's, and the lab's own.
    pub generator: Vec<u32>,
    /// Whether they overlap, as they must on a machine with one CPU.
    pub shared: bool,
}

/// `trial.json`: what one trial found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Version of this format.
    pub format: u32,
    /// Its place in the plan, from 1.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    /// Its case.
    pub case: CaseId,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// From the first step to the last, in seconds.
    pub took_s: f64,
    /// Commands of the subject's processes, as they were run.
    pub commands: Vec<String>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// The window was measured.
    Completed(Box<Measurement>),
    /// The trial could not be measured, and why.
    Failed(Failure),
}

/// Why a trial could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason as a word.
    pub reason: FailureKind,
    /// The reason in a sentence.
    pub message: String,
    /// The last lines of the subject's logs.
    pub log_tail: Vec<String>,
}

/// Why a trial could not be measured, as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// Its build command failed.
    BuildFailed,
    /// It ended before its first good answer, or never gave one in time.
    DidNotStart,
    /// It answered, but not what the workload's contract says.
    WrongAnswer,
    /// It ended while it was measured.
    Crashed,
    /// It fell silent: no answer in the window, or none for so long that nothing else explains it.
    Hung,
    /// The load tool failed.
    ToolFailed,
    /// The lab itself could not do its part (a full disk, no permission).
    LabFailed,
}

impl FailureKind {
    /// The word as it stands in files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::BuildFailed => "build failed",
            Self::DidNotStart => "did not start",
            Self::WrongAnswer => "wrong answer",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::ToolFailed => "tool failed",
            Self::LabFailed => "lab failed",
        }
    }
}

/// What was measured in a trial's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// From the start of the first process to the first good answer, in seconds.
    pub cold_start_s: f64,
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// Good answers per second.
    pub goodput_rps: f64,
    /// Bytes of good bodies received in the window.
    pub body_bytes: u64,
    /// What became of every request.
    pub ledger: LedgerCounts,
    /// How long answers took.
    pub latency: Latency,
    /// The subject: all its processes.
    pub subject: Resources,
    /// The generator.
    pub generator: Resources,
    /// The rest of the machine during the window.
    pub host: HostWindow,
    /// Requests per second that the schedule asked for; nothing in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_rps: Option<f64>,
    /// Why the load tool says that its figures cannot be trusted; empty if it stands by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// The scenario's objectives and what became of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveRecord>,
    /// The load was stopped at the first objective that was crossed, as the study asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
}

/// Why a load tool's figures cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The check that did not hold, as a word: `lateness`.
    pub gate: String,
    /// What was seen, in a sentence.
    pub text: String,
}

/// An objective in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveRecord {
    /// The objective in its canonical form: `p95 < 50ms`.
    pub objective: String,
    /// Its figure in base units; nothing where there is none.
    pub value: Option<f64>,
    /// Whether it held.
    pub outcome: ObjectiveOutcome,
}

/// Whether an objective held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectiveOutcome {
    /// It held.
    Kept,
    /// It did not.
    Crossed,
    /// There is no figure to tell by.
    Unknown,
}

/// What became of every request: `scheduled = sent + unsent` and `sent = good + failed + in_flight_at_end`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerCounts {
    /// Requests that the schedule asked for; nothing in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<u64>,
    /// Of these, those that still waited for a free connection when the window ended.
    #[serde(default)]
    pub unsent: u64,
    /// Requests sent in the window.
    pub sent: u64,
    /// Answered as the contract says.
    pub good: u64,
    /// Failed, by class.
    pub failed: BTreeMap<String, u64>,
    /// Not yet answered when the window ended.
    pub in_flight_at_end: u64,
    /// Connections opened.
    pub connections: u64,
    /// Connections that never got an answer.
    pub connections_unanswered: u64,
}

impl LedgerCounts {
    /// Failures of all classes.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Requests that are not accounted for; zero in a sound record.
    pub fn unaccounted(&self) -> u64 {
        let outcomes = self.good + self.failed_total() + self.in_flight_at_end;
        let scheduled = self.scheduled.map_or(0, |scheduled| scheduled.abs_diff(self.sent + self.unsent));
        self.sent.abs_diff(outcomes).max(scheduled)
    }
}

/// How long answers took, from the intended start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// `closed` or `open`: in a closed loop a slow answer delays the next question, so its percentiles flatter.
    #[serde(rename = "loop")]
    pub model: String,
    /// Percentiles, with nothing where fewer than 10 samples lie beyond.
    pub percentiles: Vec<Percentile>,
    /// The longest, in seconds.
    pub max_s: f64,
    /// All of them: HdrHistogram V2 in base64, in nanoseconds.
    pub histogram: String,
}

impl Latency {
    /// The latency at `quantile` (0.99 for p99), if enough samples lie beyond it.
    pub fn at(&self, quantile: f64) -> Option<f64> {
        let found = self.percentiles.iter().find(|percentile| (percentile.quantile - quantile).abs() < 1e-9);
        found.and_then(|percentile| percentile.latency_s)
    }
}

/// One percentile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// From 0 to 1.
    pub quantile: f64,
    /// In seconds; nothing where fewer than 10 samples lie beyond.
    pub latency_s: Option<f64>,
}

/// What a part of the trial used in the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// CPU time of all its processes, user and system, in seconds.
    pub cpu_s: f64,
    /// Time its threads were ready to run and had to wait for a CPU, in seconds.
    pub run_queue_wait_s: f64,
    /// Most processes seen at once.
    pub processes_max: u32,
    /// Most threads seen at once.
    pub threads_max: u32,
    /// Largest sum of resident sets; counts shared pages once per process.
    pub rss_sum_bytes_max: u64,
    /// Proportional set sizes summed, read once when the window ended.
    pub pss_bytes: Option<u64>,
}

/// The rest of the machine during the window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HostWindow {
    /// CPU time that neither the subject nor the generator used, in seconds.
    pub foreign_cpu_s: f64,
    /// CPU time that the hypervisor took away, in seconds.
    pub steal_s: f64,
    /// Load average over one minute when the trial began.
    pub load_average: f64,
}
