//! What the lab needs to drive a load generator: its command line, the borders of its window, and the meaning of its output.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tolok_model::{
    Clients, DataOrder, Latency, LedgerCounts, LoadChecks, LoadTool, ObjectiveRecord, PartFigures, Resources, Scenario,
    SecondSeries, ToolWarning,
};

/// A load generator that the lab can drive.
pub trait Driver: Sync {
    fn tool(&self) -> LoadTool;

    /// How it is called for a job.
    fn invocation(&self, job: &LoadJob<'_>) -> Invocation;

    /// What its output means. What it does not tell stays absent. Its exit code decides nothing.
    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood>;

    /// A file of its own that it writes into the trial's folder beside its output.
    fn file_beside(&self) -> Option<&'static str> {
        None
    }
}

/// What a tool has to do.
#[derive(Debug, Clone)]
pub struct LoadJob<'a> {
    /// The whole URL. Where requests have paths of their own, only what stands before its path is used.
    pub url: String,
    /// Method of the requests; those of a file have their own.
    pub method: &'a str,
    /// The file with the body of the request, and its type, if it has one.
    pub sent: Option<(PathBuf, &'a str)>,
    /// The status that a correct response has.
    pub status: u16,
    /// What else a correct response is.
    pub answers: Answers,
    /// Length of the body that every correct response has, where all have the same.
    pub body_bytes: Option<u64>,
    /// How requests are sent, and what must hold.
    pub scenario: &'a Scenario,
    /// CPUs of the generator.
    pub cpus: usize,
    /// Seed of what is drawn at random: arrivals and pauses.
    pub seed: u64,
    /// Machines that generate the load in this one's place: `n2=10.0.0.2:41753`.
    pub generators: &'a [String],
}

/// What answers are compared with, by tools that can compare them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// A file with the body that every correct response has.
    Body(PathBuf),
    /// Requests of a file, each with what a correct response to it is. They are drawn by the job's seed.
    Requests(Requests),
    /// Nothing but the status and the length of the body.
    Length(u64),
    /// Nothing but the status: bodies differ from answer to answer.
    Status,
}

/// Files of requests and values, in the form of `tolok load --request-file` and `--data`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requests {
    pub file: PathBuf,
    /// The values, and which row comes next.
    pub data: Option<(PathBuf, DataOrder)>,
    /// Whether an iteration is all of them.
    pub sequence: bool,
}

/// How a tool is called.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Invocation {
    /// Files that it needs, by name; they are written into the trial's folder, which is where it runs.
    pub files: Vec<(String, String)>,
    /// Arguments of a run of its own before the one that counts, where the tool has no warm-up; nothing of it is kept.
    pub warm_up: Option<Vec<String>>,
    /// Arguments of the run that counts.
    pub arguments: Vec<String>,
    /// Added environment. Nothing but what programs are found by is inherited.
    pub env: BTreeMap<String, String>,
    /// When its window begins and ends.
    pub borders: Borders,
}

/// When a tool's window begins and ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Borders {
    /// With the process of the run that counts: it has no other part.
    #[default]
    Process,
    /// It tells by JSON lines on its standard error, as `tolok load --events` does.
    Told,
    /// A given time after a line with this text on its standard error.
    AfterLine {
        text: String,
        /// From the line to the window, in seconds.
        after_s: f64,
        /// Length of the window, in seconds.
        for_s: f64,
    },
}

/// What a load tool wrote in the run that counts.
#[derive(Debug, Clone, Default)]
pub struct ToolOutput {
    /// Its standard output, which is kept as `tool.out`.
    pub stdout: String,
    /// Its standard error, which is kept as `tool.log`.
    pub stderr: String,
    /// What it wrote into its [`Driver::file_beside`]; empty where there is none.
    pub beside: String,
}

/// A load tool wrote something its driver cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotUnderstood(pub String);

/// The results a load tool reports. What it does not report is absent, never guessed.
#[derive(Debug, Clone, Default)]
pub struct ToolReport {
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// Correct responses per second.
    pub goodput_rps: f64,
    /// What generators on other machines used in the window, as they say.
    pub generators: Option<Resources>,
    /// Bytes of correct bodies; zero if they follow from their number.
    pub body_bytes: u64,
    /// When the last correct response of the window came, in seconds after its start.
    pub last_good_s: Option<f64>,
    /// Requests that were waiting for an answer, or for a connection, when the window ended.
    pub waiting_at_end: Option<u64>,
    /// Requests of the warm-up that were unanswered when the window began.
    pub carried_over: u64,
    /// Those of them that were answered well in the window.
    pub carried_over_good: u64,
    /// Requests of the whole run, warm-up and all, of which a byte at least was handed to the kernel: the subject may have
    /// done no more than these.
    pub sent_in_all: Option<u64>,
    /// Those of them that were answered well, whenever that was: the subject must have done these.
    pub answered_in_all: Option<u64>,
    /// What became of every request.
    pub ledger: LedgerCounts,
    /// How long answers took.
    pub latency: Latency,
    /// The parts of a mixed workload; empty for any other.
    pub parts: Vec<PartFigures>,
    /// Fast and slow clients apart, if the load has both.
    pub clients: Option<Box<Clients>>,
    /// Requests per second that the schedule planned, or `None` in a closed loop.
    pub offered_rps: Option<f64>,
    /// Why the tool reports its figures as invalid; empty if it does not.
    pub tool_warnings: Vec<ToolWarning>,
    /// The objectives and what became of them; empty where the lab is to judge them by what the tool tells.
    pub objectives: Vec<ObjectiveRecord>,
    /// The tool stopped at the first crossed objective, as the study asks.
    pub aborted: bool,
    /// First error of each class, in words.
    pub examples: Vec<String>,
    /// What the tool tells of itself, by which its figures can be checked.
    pub checks: Option<LoadChecks>,
    /// The window second by second, as far as the tool reports it.
    pub series: Option<SecondSeries>,
    /// One row a second, as the tool gave it.
    pub timeline: Vec<serde_json::Value>,
}
