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
    /// Which response decides verdicts, tiers and order; left out where it is goodput.
    #[serde(skip_serializing_if = "Judge::is_default")]
    pub judged_by: Judge,
    /// One sentence that answers the question for this scenario; never a bare winner.
    pub verdict: String,
    /// Competing cases by the response that judges, the best first; those that cannot be ranked last.
    pub cases: Vec<CaseFinding>,
    /// The machine's limit in this scenario.
    pub ceiling: Option<CaseFinding>,
    /// Every pair of ranked cases.
    pub comparisons: Vec<Comparison>,
    /// How far apart the same subject came out when it was entered twice; none where it was not.
    pub noise_floor: Option<NoiseFloor>,
    /// How it was sliced, or nothing where each case had trials of its own.
    pub slices: Option<SlicesFinding>,
    /// How many blocks would have told a difference that matters; none with fewer than two ranked cases.
    pub power: Option<PowerNote>,
    /// What cases did for each answer while costly counters ran. Unscored: no figure of these is a result.
    pub unscored_diagnoses: Vec<DiagnosisFinding>,
}

/// One case: a subject under the scenario. Its figures are read as if they were its own fields, and they are in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "{F}")]
pub struct CaseFinding<F = ServerFigures> {
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
    /// Measurements that were thrown away because others disturbed them.
    pub reruns: u32,
    /// Trials that failed, with the reason of each.
    pub failures: Vec<TrialFailure>,
    /// Each trial that has a record, in the order of the blocks, with what it found by itself.
    pub trials: Vec<TrialFinding>,
    /// What was measured of it.
    #[serde(flatten)]
    pub figures: F,
    /// Its verdict against the first case of the scenario; none for the first.
    pub against_first: Option<Verdict>,
    /// Letters of its tiers: cases that share one could not be told apart. None where the case is not ranked.
    pub tier: Option<String>,
    /// What must be known about this case's figures.
    pub flags: Vec<Flag>,
    /// Whether it may be ranked at all.
    pub ranked: bool,
}

/// A program under one timer.
pub type ProgramCaseFinding = CaseFinding<ProgramFigures>;

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

/// How two cases of a scenario compare. What is compared reads as if it stood here, and so it does in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Subject of the first case.
    pub a: String,
    /// Subject of the second case.
    pub b: String,
    /// By the response that judges. Of CPU time the ratio is that of responses per second of it, so more is better.
    #[serde(flatten)]
    pub by: PairComparison,
}

impl Deref for Comparison {
    type Target = PairComparison;

    fn deref(&self) -> &PairComparison {
        &self.by
    }
}

/// Two cases by one figure, within blocks: goodput of servers, or a time of programs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PairComparison {
    /// Figure of the first over figure of the second, within blocks: the geometric mean, with its own interval.
    pub ratio: Estimate,
    /// Lower end of the interval that holds for all pairs of the scenario together; none where `ratio` has none.
    pub simultaneous_low: Option<f64>,
    /// Upper end.
    pub simultaneous_high: Option<f64>,
    /// How often equal cases would differ as much, by chance, for all pairs of the scenario together (Holm).
    pub p_adjusted: Option<f64>,
    /// How often cases that differ by the smallest effect would look as alike, likewise.
    pub p_equivalence_adjusted: Option<f64>,
    /// Blocks in which the first was the faster one: it had the higher goodput, or took less time.
    pub blocks_won: u32,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// Numbers of the blocks in which the ratio was far from what it was in the others; left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlier_blocks: Vec<u32>,
    /// What follows for the first.
    pub verdict: Verdict,
}
