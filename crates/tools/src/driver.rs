//! What the lab needs to drive a load generator: its command line, the borders of its window, and the meaning of its
//! output.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tolok_model::{
    Clients, DataOrder, Latency, LedgerCounts, LoadChecks, LoadTool, ObjectiveRecord, PartFigures, Resources, Scenario,
    SecondSeries, ToolWarning,
};

/// A load generator that the lab can drive.
pub trait Driver: Sync {
    fn tool(&self) -> LoadTool;

    /// The command for a job.
    fn invocation(&self, job: &LoadJob<'_>) -> Invocation;

    /// Interprets its output. What it does not report stays absent. Its exit code is ignored.
    fn report(&self, output: &ToolOutput, job: &LoadJob<'_>) -> Result<ToolReport, NotUnderstood>;

    /// The name of a file that it writes into the trial's folder, in addition to its output.
    fn file_beside(&self) -> Option<&'static str> {
        None
    }
}

/// The job of a tool.
#[derive(Debug, Clone)]
pub struct LoadJob<'a> {
    /// The whole URL. If requests have their own paths, only the part before its path is used.
    pub url: String,
    /// The method of the requests. Those of a file have their own.
    pub method: &'a str,
    /// The file with the body of the request, and its content type, if it has a body.
    pub sent: Option<(PathBuf, &'a str)>,
    /// The status of a correct response.
    pub status: u16,
    /// What else a correct response must have.
    pub answers: Answers,
    /// The length of the body of every correct response, if all have the same.
    pub body_bytes: Option<u64>,
    /// How to send requests, and what must hold.
    pub scenario: &'a Scenario,
    /// The number of CPUs of the generator.
    pub cpus: usize,
    /// The seed for random choices: arrivals and pauses.
    pub seed: u64,
    /// Machines that generate the load instead of this one: `n2=10.0.0.2:41753`.
    pub generators: &'a [String],
}

/// What responses are compared with, by tools that can do so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// A file with the body of every correct response.
    Body(PathBuf),
    /// A file of requests, each with its correct response. They are drawn with the job's seed.
    Requests(Requests),
    /// Only the status and the length of the body.
    Length(u64),
    /// Only the status: bodies differ between responses.
    Status,
}

/// Files of requests and values, in the format of `tolok load --request-file` and `--data`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requests {
    pub file: PathBuf,
    /// The values, and the order in which rows are taken.
    pub data: Option<(PathBuf, DataOrder)>,
    /// Whether an iteration consists of all of them.
    pub sequence: bool,
}

/// How to call a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Invocation {
    /// Files that it needs, by name. They are written into the trial's folder, where it runs.
    pub files: Vec<(String, String)>,
    /// Arguments of a separate run before the one that counts, if the tool has no warm-up. Nothing of it is kept.
    pub warm_up: Option<Vec<String>>,
    /// Arguments of the run that counts.
    pub arguments: Vec<String>,
    /// Additional environment. It inherits only what is needed to find programs.
    pub env: BTreeMap<String, String>,
    /// When its window begins and ends.
    pub borders: Borders,
}

/// When a tool's window begins and ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Borders {
    /// With the process of the run that counts, which does nothing else.
    #[default]
    Process,
    /// It reports them as JSON lines on its standard error, as `tolok load --events` does.
    Told,
    /// At a given time after a line with this text on its standard error.
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
    /// Its standard output, stored as `tool.out`.
    pub stdout: String,
    /// Its standard error, stored as `tool.log`.
    pub stderr: String,
    /// The content of its [`Driver::file_beside`]. Empty if there is none.
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
    /// What generators on other machines used in the window, as they report it.
    pub generators: Option<Resources>,
    /// Bytes of correct bodies. Zero if they follow from the number of responses.
    pub body_bytes: u64,
    /// When the last correct response of the window arrived, in seconds after its start.
    pub last_good_s: Option<f64>,
    /// Requests that were waiting for a response, or for a connection, when the window ended.
    pub waiting_at_end: Option<u64>,
    /// Requests of the warm-up that were unanswered when the window began.
    pub carried_over: u64,
    /// Those of them that got a correct response in the window.
    pub carried_over_good: u64,
    /// Requests of the whole run, including the warm-up, of which at least one byte was passed to the kernel. The
    /// subject cannot have served more than these.
    pub sent_in_all: Option<u64>,
    /// Those of them that got a correct response, at any time. The subject must have served these.
    pub answered_in_all: Option<u64>,
    /// What became of every request.
    pub ledger: LedgerCounts,
    /// How long responses took.
    pub latency: Latency,
    /// The parts of a mixed workload; empty for any other.
    pub parts: Vec<PartFigures>,
    /// Fast and slow clients separately, if the load has both.
    pub clients: Option<Box<Clients>>,
    /// Requests per second according to the schedule, or `None` in a closed loop.
    pub offered_rps: Option<f64>,
    /// Why the tool reports its figures as invalid; empty if it does not.
    pub tool_warnings: Vec<ToolWarning>,
    /// The objectives and their outcomes. Empty if the lab must judge them from the tool's report.
    pub objectives: Vec<ObjectiveRecord>,
    /// Whether the tool stopped at the first crossed objective, as the study requires.
    pub aborted: bool,
    /// The first error message of each class.
    pub examples: Vec<String>,
    /// What the tool reports about itself, to check its figures.
    pub checks: Option<LoadChecks>,
    /// The window second by second, if the tool reports that.
    pub series: Option<SecondSeries>,
    /// One row per second, as the tool reported it.
    pub timeline: Vec<serde_json::Value>,
}
