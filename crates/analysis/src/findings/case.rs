//! Scenarios of servers, their cases, and how these compare.

use schemars::JsonSchema;
use serde::Serialize;

use super::bottleneck::Bottleneck;
use super::curve::{LatencyCurve, SlowAnswers};
use super::database::{DatabaseFinding, DatabaseUse};
use super::diagnosis::DiagnosisFinding;
use super::environment::{EnvironmentFinding, LinkFinding};
use super::estimate::{Estimate, Verdict};
use super::judgement::{GateFinding, NoiseFloor, PowerNote, ServiceDemand, SteadyFinding};
use super::link::LinkUse;
use super::resources::{MemorySource, ResourcesFinding};
use super::seconds::SecondsFinding;
use super::trials::TrialFinding;
use crate::flag::Flag;
use tolok_model::{LatencyMark, ObjectiveOutcome};

/// One scenario: its cases and how they compare.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioFinding {
    /// Its id: `json-c64`.
    pub id: String,
    /// Name of its workload.
    pub workload: String,
    /// Title of its workload.
    pub title: String,
    /// Its load in words.
    pub load: String,
    /// The load generator with its version: `wrk 4.1.0`.
    pub tool: String,
    /// Whether that is tolok's own.
    pub is_own_tool: bool,
    /// What must be known of the latencies of its cases, where the tool did not take them as tolok's own does.
    pub latency_marks: Vec<LatencyMark>,
    /// Its executor, by k6's name.
    pub executor: String,
    /// `closed` or `open`.
    pub loop_model: String,
    /// What surrounded its trials: every figure below was taken in it.
    pub environment: EnvironmentFinding,
    /// The link between client and subject; none over the loopback.
    pub link: Option<LinkFinding>,
    /// The database that its subjects ask; none where its workload asks none.
    pub database: Option<DatabaseFinding>,
    /// Which memory its cases' `memory_bytes` is, the same for all; none where no trial was scored.
    pub memory_source: Option<MemorySource>,
    /// What must hold in every trial: `p95 < 50ms`.
    pub objectives: Vec<String>,
    /// One sentence that answers the question for this scenario; never a bare winner.
    pub verdict: String,
    /// Competing cases by goodput, the highest first; those that cannot be ranked last.
    pub cases: Vec<CaseFinding>,
    /// The machine's limit in this scenario.
    pub ceiling: Option<CaseFinding>,
    /// Every pair of ranked cases.
    pub comparisons: Vec<Comparison>,
    /// How far apart the same subject came out when it was entered twice; none where it was not.
    pub noise_floor: Option<NoiseFloor>,
    /// How many blocks would have told a difference that matters; none with fewer than two ranked cases.
    pub power: Option<PowerNote>,
    /// What cases did for each answer while costly counters ran. Unscored: no figure of these is a result.
    pub unscored_diagnoses: Vec<DiagnosisFinding>,
}

/// One case: a subject under the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseFinding {
    /// Name of the case.
    pub case: String,
    /// The subject as a person would write it: `go/nethttp:encoder`.
    pub subject: String,
    /// Title of the subject, with its variant where the scenario has several.
    pub title: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Planned trials of this case.
    pub trials_planned: u32,
    /// Trials that were measured, those that were disturbed to the end included.
    pub trials_measured: u32,
    /// Trials that all figures of the case rest on: measured, and not disturbed.
    pub trials_scored: u32,
    /// Measured trials that are in no figure, because others disturbed them however often they were measured.
    pub disturbed: Vec<DisturbedTrial>,
    /// Measurements that were thrown away because others disturbed them.
    pub reruns: u32,
    /// Trials that failed, with the reason of each.
    pub failures: Vec<TrialFailure>,
    /// Each trial that has a record, in the order of the blocks, with what it found by itself.
    pub trials: Vec<TrialFinding>,
    /// Good answers per second.
    pub goodput_rps: Option<Estimate>,
    /// A rate that the case stayed below, where it answered nothing in any scored trial: one answer in its window. Such a
    /// case has no `goodput_rps`, which is not 0.
    pub goodput_below_rps: Option<f64>,
    /// Bytes of good bodies per second.
    pub body_bytes_per_s: Option<Estimate>,
    /// What limited it; none where no trial was scored.
    pub bottleneck: Option<Bottleneck>,
    /// Requests per second that the schedule asked for; none in a closed loop.
    pub offered_rps: Option<Estimate>,
    /// Goodput as a share of the ceiling's in the same block.
    pub of_ceiling: Option<Estimate>,
    /// Goodput relative to the first case of the scenario in the same block (1 for the first).
    pub of_first: Option<Estimate>,
    /// Its verdict against the first case of the scenario; none for the first.
    pub against_first: Option<Verdict>,
    /// Letters of its tiers: cases that share one could not be told apart. None where the case is not ranked.
    pub tier: Option<String>,
    /// Checks of its trials, those that can be asked of its load and environment, in a fixed order; empty where no trial was
    /// measured.
    pub gates: Vec<GateFinding>,
    /// Whether its windows were steady; none where the load has several levels, or no trial could be judged.
    pub steady: Option<SteadyFinding>,
    /// What each good answer takes of each resource, the scarcest first.
    pub demands: Vec<ServiceDemand>,
    /// CPU time of the subject per good answer, in seconds.
    pub cpu_s_per_good: Option<Estimate>,
    /// Memory of the subject, in bytes: which kind, says the scenario's `memory_source`.
    pub memory_bytes: Option<Estimate>,
    /// Median of the trials' p50, in seconds, in the scenario's loop.
    pub latency_p50_s: Option<Estimate>,
    /// Median of the trials' p99, in seconds; none where any trial has too few samples beyond it.
    pub latency_p99_s: Option<Estimate>,
    /// Response times by percentile, in the scenario's loop; none where the tool kept no histogram and tells fewer than 3 percentiles.
    pub latency_curve: Option<LatencyCurve>,
    /// Good answers that came late; none where the tool kept no histogram.
    pub slow: Option<SlowAnswers>,
    /// Second by second; none where no window has two whole ones.
    pub seconds: Option<SecondsFinding>,
    /// From the start to the first good answer, in seconds.
    pub cold_start_s: Option<Estimate>,
    /// Share of the CPU time it was given that the subject used, from 0 to 1: of its CPUs, or of its quota.
    pub subject_busy: Option<f64>,
    /// Share of the CPU time it was given that the generator used, from 0 to 1.
    pub generator_busy: Option<f64>,
    /// Share of the machine's CPUs that neither of them used but other programs did, from 0 to 1.
    pub foreign_busy: Option<f64>,
    /// Share of the machine's CPUs that the hypervisor took away, from 0 to 1.
    pub stolen: Option<f64>,
    /// Most processes seen at once in any scored trial.
    pub processes_max: u32,
    /// What the subject used for each good answer.
    pub resources: ResourcesFinding,
    /// How the emulated link did; none where tolok emulated none.
    pub link: Option<LinkUse>,
    /// What it and its database did; none where the scenario has none.
    pub database: Option<DatabaseUse>,
    /// Requests that failed in all scored trials, by class.
    pub errors: Vec<(String, u64)>,
    /// Requests sent in all scored trials; where the tool does not tell, those that were finished.
    pub requests_sent: u64,
    /// Requests in all scored trials that are not accounted for; none where the tool tells too little to say.
    pub requests_unaccounted: Option<u64>,
    /// Requests in all scored trials that still waited for a free connection when the window ended.
    pub requests_unsent: u64,
    /// What became of the scenario's objectives, in their order.
    pub objectives: Vec<ObjectiveFinding>,
    /// What must be known about this case's figures.
    pub flags: Vec<Flag>,
    /// Whether it may be ranked at all.
    pub ranked: bool,
}

/// An objective in all trials of a case.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ObjectiveFinding {
    /// The objective: `p95 < 50ms`.
    pub objective: String,
    /// Crossed if it was crossed in any trial; kept if it was kept in every trial, of which none failed; else unknown.
    pub outcome: ObjectiveOutcome,
    /// Its worst figure in any trial.
    pub worst: Option<f64>,
    /// Unit of that figure: `s`, `share` (0 to 1), `per_s` or `requests`.
    pub unit: String,
    /// Trials in which it was kept.
    pub trials_kept: u32,
    /// Trials in which it was crossed.
    pub trials_crossed: u32,
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialFailure {
    /// Number of the trial.
    pub trial: u32,
    /// The reason as a word: `did not start`.
    pub reason: String,
    /// The reason in a sentence.
    pub message: String,
}

/// A trial that was measured and is in no figure, because others disturbed it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedTrial {
    /// Number of the trial.
    pub trial: u32,
    /// How often it was measured.
    pub attempts: u32,
    /// Good answers per second that were seen, nevertheless.
    pub goodput_rps: f64,
    /// What disturbed it, as words: `foreign-cpu`, `steal`.
    pub kinds: Vec<String>,
    /// The same in sentences, with the figures seen.
    pub causes: Vec<String>,
}

/// How two cases of a scenario compare.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Subject of the first case.
    pub a: String,
    /// Subject of the second case.
    pub b: String,
    /// Goodput of `a` over goodput of `b`, within blocks: the geometric mean, with its own interval.
    pub ratio: Estimate,
    /// Lower end of the interval that holds for all pairs of the scenario together; none where `ratio` has none.
    pub simultaneous_low: Option<f64>,
    /// Upper end.
    pub simultaneous_high: Option<f64>,
    /// How often equal cases would differ as much, by chance, for all pairs of the scenario together (Holm).
    pub p_adjusted: Option<f64>,
    /// How often cases that differ by the smallest effect would look as alike, likewise.
    pub p_equivalence_adjusted: Option<f64>,
    /// Blocks in which `a` had the higher goodput.
    pub blocks_won: u32,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// Numbers of the blocks in which the ratio was far from what it was in the others; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlier_blocks: Vec<u32>,
    /// What follows.
    pub verdict: Verdict,
}
