//! The stored records of a run and of each trial.
//!
//! These types are the format on disk. Every file carries [`RECORD_FORMAT`], and a reader refuses any other number.
//! Each name ends in its unit; counts have none.

pub(crate) mod checks;
pub(crate) mod clients;
pub(crate) mod database;
pub(crate) mod failure;
pub(crate) mod pool;
pub(crate) mod raw;
pub(crate) mod resources;
pub(crate) mod slices;
pub(crate) mod tool;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::plan::CaseId;
use crate::record::checks::{LoadChecks, SecondSeries};
use crate::record::clients::Clients;
use crate::record::database::{CounterCheck, DatabaseWindow, PoolWindow};
pub use crate::record::failure::{Failure, FailureKind};
use crate::record::pool::{GeneratorMachine, Node, PoolRequest};
use crate::record::resources::{Disturbance, HostWindow, LinkWindow, Resources};
use crate::record::slices::SliceFigures;
use crate::record::tool::{ProgramTiming, ToolUsed, WireCount};

/// The only version of stored records that tolok reads.
pub const RECORD_FORMAT: u32 = 4;

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

/// `run.json`: a run and its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub format: u32,
    /// Name of the run, which is the name of its folder.
    pub id: String,
    /// Name of the study file, without its extension.
    pub study: String,
    /// When it began, in RFC 3339.
    pub started_at: String,
    pub tolok_version: String,
    /// Commit of the checkout, and whether it has changes; absent outside a checkout.
    pub git: Option<String>,
    /// Seed of the trial order.
    pub seed: u64,
    pub plan_sha256: String,
    /// The machine, in words for the report.
    pub machine: MachineSummary,
    pub fingerprint: serde_json::Value,
    /// Programs of the toolbox that the subjects use.
    pub programs: Vec<ProgramUsed>,
    /// CPUs of the parts of every trial, by the environment's id.
    pub cpus: BTreeMap<String, CpuMap>,
    pub command: String,
    /// The pool of machines that runs its blocks; absent if this machine runs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolRequest>,
    /// The machine of a pool that ran each block, from the records of blocks.
    #[serde(skip)]
    pub nodes: BTreeMap<u32, String>,
}

/// `block.json`: where and when a process ran trials of one block. An interrupted block has one for each session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// Version of this format.
    pub format: u32,
    /// The block, from 1; 0 for the unscored trials, which belong to no block.
    pub block: u32,
    /// Numbers of the trials assigned to this process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<u32>,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// Version of the tolok that ran it.
    pub tolok_version: String,
    /// The machine it ran on, in words for the report.
    pub machine: MachineSummary,
    /// Everything known about the machine.
    pub fingerprint: serde_json::Value,
    /// The machine of a pool, if it ran on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Node>,
    /// The machines of the pool that generated its load, if not `node` itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorMachine>,
}

impl RunRecord {
    /// The run, with the machine of its blocks, which may differ from the one that planned it. Blocks of older runs did
    /// not record their machine, so those runs keep the one of `run.json`.
    pub fn on_machines_of(mut self, blocks: &[BlockRecord]) -> Self {
        let Some((first, others)) = blocks.split_first() else { return self };
        let on_node = |block: &BlockRecord| Some((block.block, block.nodes()?));
        self.nodes = blocks.iter().filter_map(on_node).collect();
        // On the same machine, this keeps the remarks of `run.json`, which were made before anything was built.
        if !self.machine.is_same_as(&first.machine) {
            self.machine = first.machine.clone();
        }
        for (at, other) in others.iter().enumerate() {
            let is_alike = |known: &MachineSummary| match other.node {
                // Memory differs slightly between nodes of the same hardware.
                Some(_) => known.has_hardware_of(&other.machine) && known.kernel == other.machine.kernel,
                None => known.is_same_as(&other.machine),
            };
            let is_new = blocks[..=at].iter().all(|known| !is_alike(&known.machine));
            if is_new {
                let MachineSummary { cpu, cpus, kernel, .. } = &other.machine;
                let which =
                    format!("block {} ran on another machine: {cpu}, {cpus} CPUs, kernel {kernel}", other.block);
                self.machine.remarks.push(which);
            }
        }
        self
    }
}

/// The machine, in words for the report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineSummary {
    pub cpu: String,
    /// Logical CPUs.
    pub cpus: u32,
    pub memory_bytes: u64,
    /// Kernel release.
    pub kernel: String,
    pub distribution: String,
    /// Hypervisor or container, if detected.
    pub virtualisation: Option<String>,
    /// What readers must know to judge the figures, one sentence each.
    pub remarks: Vec<String>,
}

impl MachineSummary {
    /// Whether both describe one machine with the same software. Remarks are ignored, because they may change from hour
    /// to hour.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Self { remarks: Vec::new(), ..self.clone() } == Self { remarks: Vec::new(), ..other.clone() }
    }

    /// Whether both have the same CPUs and about the same memory. The kernel keeps a little for itself, so memory may
    /// differ by 5%.
    pub fn has_hardware_of(&self, other: &Self) -> bool {
        let (least, most) = (self.memory_bytes.min(other.memory_bytes), self.memory_bytes.max(other.memory_bytes));
        (&self.cpu, self.cpus) == (&other.cpu, other.cpus) && most - least <= most / 20
    }

    /// `64 CPUs (AMD EPYC) and 251GiB`
    pub fn hardware(&self) -> String {
        format!("{} CPUs ({}) and {}GiB", self.cpus, self.cpu, self.memory_bytes >> 30)
    }
}

/// A program that a subject uses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramUsed {
    pub name: String,
    /// Its version, as it reports it.
    pub version: String,
    pub path: String,
    /// `system` or `toolbox`.
    pub source: String,
    /// SHA-256 of the file, in hex, which distinguishes builds of one version. Unknown in older records and for
    /// unreadable files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Which CPUs the parts of a trial ran on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuMap {
    pub subject: Vec<u32>,
    /// The generator's and the lab's own. Empty if other machines generate the load.
    pub generator: Vec<u32>,
    /// The lab's own, if other machines generate the load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lab: Vec<u32>,
    /// The link emulator's, if a link is emulated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<u32>,
    /// The database's, if the trial has its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub database: Vec<u32>,
    /// Whether subject and generator share CPUs, as on a machine with one CPU.
    pub shared: bool,
}

/// `trial.json`: the record of one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    pub format: u32,
    /// Its place in the plan, from 1.
    pub number: u32,
    /// Its block, from 1.
    pub block: u32,
    pub case: CaseId,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// From the first step to the last, in seconds.
    pub took_s: f64,
    /// Commands of the subject's processes, as executed.
    pub commands: Vec<String>,
    /// Number of measurements: one, plus one for each disturbed attempt.
    #[serde(default = "once")]
    pub attempts: u32,
    /// The isolation of its parts, or `None` if it failed before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    pub outcome: Outcome,
}

fn once() -> u32 {
    1
}

/// The isolation of a trial's parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// The subject's own namespaces: `pid`, `mount`, `net`, `ipc`, `user`.
    pub namespaces: Vec<String>,
    /// Layout of the control groups: `v1`, `hybrid` or `v2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<String>,
    /// Weights of the control groups; absent without weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<GroupWeights>,
    /// The network between client and subject: `host`, `private`, `veth`, `emulator`, `netem`.
    pub network: String,
    /// The network between subject and database, or `None` if the trial has no database of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_network: Option<String>,
    /// Kernel settings of the network namespaces, as read back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
    /// Isolation that was not available and what that means, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<String>,
}

/// CPU weights of a trial's control groups: 100 is an ordinary group's weight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupWeights {
    /// The group in which the lab started, the parent of the trial's group; absent if that is the root of all groups,
    /// which competes with no other case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_group: Option<u32>,
    /// The whole trial, relative to the rest of the lab's group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// Its parts, relative to each other.
    pub parts: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    Completed(Box<Measurement>),
    Timed(Box<ProgramTiming>),
    /// The trial could not be measured, and why.
    Failed(Failure),
}

impl Outcome {
    /// Why its figures are discarded, if they are.
    pub fn disturbances(&self) -> &[Disturbance] {
        match self {
            Self::Completed(measured) => &measured.disturbances,
            Self::Timed(timed) => &timed.disturbances,
            Self::Failed(_) => &[],
        }
    }
}

/// The measurement of a trial's window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// From the start of the first process to the first correct response, in seconds, or `None` for an external server
    /// and for one that started together with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start_s: Option<f64>,
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// Correct responses per second.
    pub goodput_rps: f64,
    /// Bytes of correct bodies received in the window.
    pub body_bytes: u64,
    pub ledger: LedgerCounts,
    pub latency: Latency,
    /// The parts of a mixed workload; empty for any other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartFigures>,
    /// Fast and slow clients separately, if the load has both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<Box<Clients>>,
    /// The load generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolUsed>,
    /// Responses that the kernel counted, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireCount>,
    /// The resources of all its processes, or `None` for an external server
    /// and for one that started together with others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Resources>,
    pub generator: Resources,
    /// The rest of the machine during the window.
    pub host: HostWindow,
    /// The link between client and subject, if tolok itself emulated one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkWindow>,
    /// The database, if the workload uses one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<DatabaseWindow>,
    /// The subject's connection pool, as the subject reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolWindow>,
    /// Whether the workload's counter was exact at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<CounterCheck>,
    /// What disturbed the last permitted attempt; empty if nothing did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// Scheduled requests per second, or `None` in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_rps: Option<f64>,
    /// Why the load tool reports its figures as invalid; empty if it does not.
    #[serde(rename = "doubts", default, skip_serializing_if = "Vec::is_empty")]
    pub tool_warnings: Vec<ToolWarning>,
    /// The scenario's objectives and their outcomes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<ObjectiveRecord>,
    /// Whether the load stopped at the first crossed objective, as the study requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
    /// What the load tool reports about itself, to check its figures, or `None` if it reports nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<LoadChecks>,
    /// The window second by second, or `None` if the tool does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SecondSeries>,
    /// The slices of the window, if it was cut into slices. `window_s` is then the sum of their windows. CPU times come
    /// from whole slices, scaled by the share of responses in windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slices: Option<Box<SliceFigures>>,
}

/// A reason why the load tool reports its own figures as invalid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolWarning {
    /// The failed check, as a word: `lateness`.
    pub gate: String,
    /// What it showed, in a sentence.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveRecord {
    /// The objective in its canonical form: `p95 < 50ms`.
    pub objective: String,
    /// Its figure in base units, or `None` without one.
    pub value: Option<f64>,
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
    /// It has no figure.
    Unknown,
}

/// The account of all requests: `scheduled = sent + unsent` and `sent = good + failed + in_flight_at_end`. What a tool does
/// not report is absent, never zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerCounts {
    /// Scheduled requests, if the tool reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<u64>,
    /// Those that still waited for a free connection when the window ended.
    #[serde(default)]
    pub unsent: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Correct responses.
    pub good: u64,
    /// Failed, by class.
    pub failed: BTreeMap<String, u64>,
    /// Unanswered when the window ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_at_end: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
    /// Connections that never got a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_unanswered: Option<u64>,
}

impl LedgerCounts {
    /// Failures of all classes.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Finished requests, correct or failed.
    pub fn finished(&self) -> u64 {
        self.good + self.failed_total()
    }

    /// Unaccounted requests: zero in a sound record, or `None` if the tool reports too little.
    pub fn unaccounted(&self) -> Option<u64> {
        let sent = self.sent?;
        let outcomes = self.finished() + self.in_flight_at_end?;
        let scheduled = self.scheduled.map_or(0, |scheduled| scheduled.abs_diff(sent + self.unsent));
        Some(sent.abs_diff(outcomes).max(scheduled))
    }
}

/// One part of a mixed workload: its requests of the window, including those that ended after it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PartFigures {
    /// The part's workload.
    pub part: String,
    /// Share of the requests that its weight requests.
    pub asked_share: f64,
    pub sent: u64,
    /// Correct responses.
    pub good: u64,
    pub failed: u64,
    /// Percentiles of its correct responses.
    pub percentiles: Vec<Percentile>,
}

impl PartFigures {
    /// The latency at `quantile` (0.99 for p99), if enough samples are beyond it.
    pub fn at(&self, quantile: f64) -> Option<f64> {
        at(&self.percentiles, quantile)
    }
}

/// Latencies, from the intended start unless marked otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// `closed` or `open`: in a closed loop a slow response delays the next request, so its percentiles flatter.
    #[serde(rename = "loop")]
    pub model: String,
    /// Percentiles, without a value if fewer than 10 samples are beyond.
    pub percentiles: Vec<Percentile>,
    /// The arithmetic mean, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_s: Option<f64>,
    /// The longest, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_s: Option<f64>,
    /// The histogram of all samples: HdrHistogram V2 in base64, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<String>,
    /// How these figures differ from those of tolok's own tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<LatencyMark>,
}

/// Why a tool's latencies differ from measured times between the intended start and the last byte of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyMark {
    /// Samples were added afterwards for requests that were never sent (wrk).
    BackFilled,
    /// The mean is computed from rate and connections, not measured (ab).
    DerivedMean,
    /// Times begin when a request was sent, although it was scheduled earlier.
    FromSend,
    /// Failed requests are among the samples.
    WithFailures,
    /// The resolution is coarse for these times: whole milliseconds, or tenths of one.
    Coarse,
}

impl Latency {
    /// The latency at `quantile` (0.99 for p99), if enough samples are beyond it.
    pub fn at(&self, quantile: f64) -> Option<f64> {
        at(&self.percentiles, quantile)
    }
}

fn at(percentiles: &[Percentile], quantile: f64) -> Option<f64> {
    let found = percentiles.iter().find(|percentile| (percentile.quantile - quantile).abs() < 1e-9);
    found.and_then(|percentile| percentile.latency_s)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// From 0 to 1.
    pub quantile: f64,
    /// In seconds, or `None` if fewer than 10 samples are beyond it, or if it is unknown for another reason.
    pub latency_s: Option<f64>,
    /// A lower bound of an unknown percentile: requests beyond it were unanswered when the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_s: Option<f64>,
}

impl Percentile {
    /// A percentile that is known, or without even a lower bound.
    pub fn new(quantile: f64, latency_s: Option<f64>) -> Self {
        Self { quantile, latency_s, at_least_s: None }
    }

    /// Samples that must be beyond a valid percentile.
    pub const SAMPLES_BEYOND: f64 = 10.0;

    /// Whether enough samples are beyond a quantile.
    pub fn is_told_by(quantile: f64, samples: u64) -> bool {
        // Rounds the share beyond, because 1 - 0.99 is not quite 0.01.
        samples as f64 * ((1.0 - quantile) * 1e6).round() / 1e6 >= Self::SAMPLES_BEYOND
    }
}

/// `diagnosis.json`: the work of a case per request, counted in a separate unscored trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiagnosisRecord {
    pub format: u32,
    pub case: CaseId,
    /// Its result, or the reason in a sentence if it failed.
    pub outcome: Result<Diagnosis, String>,
}

/// The work of a subject per correct response. Counters that could not be read are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Correct responses while the counters ran.
    pub answers: u64,
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// Correct responses per second while the counters ran. Not a result: it shows the cost of counting.
    pub goodput_rps: f64,
    pub cycles: Option<u64>,
    pub instructions: Option<u64>,
    /// Mispredicted branches.
    pub branch_misses: Option<u64>,
    /// Accesses that missed the last cache.
    pub cache_misses: Option<u64>,
    pub syscalls: Option<u64>,
    /// What the runtime's garbage collector reported.
    pub garbage_collection: Option<GarbageCollection>,
    /// Counters that could not be read and why, one sentence each.
    pub unavailable: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct GarbageCollection {
    pub collections: u64,
    /// Total time that they stopped the program, in seconds.
    pub pause_s_total: f64,
    /// The longest stop, in seconds.
    pub pause_s_max: f64,
}
