//! Scenarios of servers, their cases, and how these compare.

use std::ops::{Deref, DerefMut};

use serde::Serialize;

use super::database::DatabaseFinding;
use super::diagnosis::DiagnosisFinding;
use super::environment::{EnvironmentFinding, LinkFinding};
use super::estimate::{Estimate, Verdict};
use super::judgement::{NoiseFloor, PowerNote};
use super::resources::MemorySource;
use super::slices::SlicesFinding;
use super::trials::TrialFinding;
use crate::JsonSchema;
use crate::figure::program::ProgramFigures;
use crate::figure::server::ServerFigures;
use crate::flag::Flag;

use tolok_model::{Judge, LatencyMark};

/// One scenario: its cases and how they compare.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScenarioFinding {
    /// Its id: `json-c64`.
    pub id: String,
    /// Name of its workload.
    pub workload: String,
    /// Title of its workload, with the protocol unless that is HTTP/1.1 without TLS.
    pub title: String,
    /// Its load in words.
    pub load: String,
    /// The load generator with its version: `wrk 4.1.0`.
    pub tool: String,
    /// Whether that is tolok's own.
    pub is_own_tool: bool,
    /// What readers must know about its cases' latencies, if the tool measures them differently from tolok's own.
    pub latency_marks: Vec<LatencyMark>,
    /// Its executor, by k6's name.
    pub executor: String,
    /// `closed` or `open`.
    pub loop_model: String,
    /// The environment of its trials and of every figure below.
    pub environment: EnvironmentFinding,
    /// The link between client and subject; absent over the loopback.
    pub link: Option<LinkFinding>,
    /// The database of its subjects; absent if the workload uses none.
    pub database: Option<DatabaseFinding>,
    /// The kind of memory in `memory_bytes`, the same for all cases; absent without a scored trial.
    pub memory_source: Option<MemorySource>,
    /// What must hold in every trial: `p95 < 50ms`.
    pub objectives: Vec<String>,
    /// The response that decides verdicts, tiers and order; omitted if it is goodput.
    #[serde(default, skip_serializing_if = "Judge::is_default")]
    pub judged_by: Judge,
    /// One sentence that answers the question for this scenario; never a bare winner.
    pub verdict: String,
    /// Competing cases by the response that judges, the best first and unranked ones last.
    pub cases: Vec<CaseFinding>,
    /// The machine's limit in this scenario.
    pub ceiling: Option<CaseFinding>,
    /// Every pair of ranked cases.
    pub comparisons: Vec<Comparison>,
    /// The difference between the halves of the noise check; absent without a pair.
    pub noise_floor: Option<NoiseFloor>,
    /// How it was sliced; absent if each case had its own trials.
    pub slices: Option<SlicesFinding>,
    /// How many rounds would detect a difference that matters; absent with fewer than two ranked cases.
    pub power: Option<PowerNote>,
    /// Work of the cases per response while costly counters ran. Unscored: none of these figures is a result.
    pub unscored_diagnoses: Vec<DiagnosisFinding>,
}

/// One case: a subject under the scenario. Its figures can be read like its own fields, and are flattened into them in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{F}")]
pub struct CaseFinding<F = ServerFigures> {
    /// Name of the case.
    pub case: String,
    /// The subject as users write it: `go/nethttp:encoder`.
    pub subject: String,
    /// Title of the subject, with its variant if the scenario has several.
    pub title: String,
    /// A short title, for charts and sentences.
    pub short: String,
    /// Its runtime, which gives the colour.
    pub runtime: String,
    /// Planned trials of this case.
    pub trials_planned: u32,
    /// Measured trials, including those that stayed disturbed.
    pub trials_measured: u32,
    /// Trials behind all figures of the case: measured, and not disturbed.
    pub trials_scored: u32,
    /// Measurements that were discarded because of disturbances.
    pub reruns: u32,
    /// Trials that failed, with the reason of each.
    pub failures: Vec<TrialFailure>,
    /// Each trial with a record, in the order of the rounds, with its own findings.
    pub trials: Vec<TrialFinding>,
    /// Its figures.
    #[serde(flatten)]
    pub figures: F,
    /// Its verdict against the first case of the scenario; absent for the first.
    pub against_first: Option<Verdict>,
    /// Letters of its tiers: cases that share a letter are tied. Absent if the case is not ranked.
    pub tier: Option<String>,
    /// What readers must know of this case's figures.
    pub flags: Vec<Flag>,
    /// Whether it is ranked.
    pub ranked: bool,
}

/// A program under one timer.
pub type ProgramCaseFinding = CaseFinding<ProgramFigures>;

impl<F> CaseFinding<F> {
    /// The common reason of all its failed trials, if there is only one.
    pub fn only_failure(&self) -> Option<&str> {
        let (first, others) = self.failures.split_first()?;
        others.iter().all(|it| it.reason == first.reason).then_some(&first.reason)
    }
}

impl<F> Deref for CaseFinding<F> {
    type Target = F;

    fn deref(&self) -> &F {
        &self.figures
    }
}

impl<F> DerefMut for CaseFinding<F> {
    fn deref_mut(&mut self) -> &mut F {
        &mut self.figures
    }
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

/// How two cases of a scenario compare. The comparison's fields can be read like its own, and are flattened into them in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Subject of the first case.
    pub a: String,
    /// Subject of the second case.
    pub b: String,
    /// By the response that judges. For CPU time, the ratio is of responses per CPU second, so more is better.
    #[serde(flatten)]
    pub by: PairComparison,
}

impl Deref for Comparison {
    type Target = PairComparison;

    fn deref(&self) -> &PairComparison {
        &self.by
    }
}

/// Two cases by one figure, within rounds: goodput of servers, or a time of programs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairComparison {
    /// The standard error of the ratio's logarithm, from the fit of all cases of the scenario; absent with too few rounds.
    pub standard_error: Option<f64>,
    /// The degrees of freedom of that error.
    pub degrees_of_freedom: Option<f64>,
    /// For two that were told apart, the ratio corrected for the selection: half of all runs that tell this pair apart show a
    /// larger one. 1 if nothing remains.
    pub ratio_if_noticed: Option<f64>,
    /// Figure of the first over figure of the second, within rounds: the geometric mean, with its own interval.
    pub ratio: Estimate,
    /// Lower end of the interval for all pairs of the scenario together; absent if `ratio` has none.
    pub simultaneous_low: Option<f64>,
    /// Upper end.
    pub simultaneous_high: Option<f64>,
    /// The probability of a difference this large if the cases were equal, adjusted for all pairs of the scenario (Holm).
    pub p_adjusted: Option<f64>,
    /// The probability of cases this similar if they differed by the smallest effect, adjusted likewise.
    pub p_equivalence_adjusted: Option<f64>,
    /// Rounds that the first won, with the higher goodput or the shorter time.
    pub blocks_won: u32,
    /// Rounds that measured both.
    pub blocks: u32,
    /// Numbers of the rounds whose ratio is far from that of the others; omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlier_blocks: Vec<u32>,
    /// The verdict on the first.
    pub verdict: Verdict,
}
