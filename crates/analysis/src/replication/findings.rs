//! What a replication finds, as reports and JSON have it.

use serde::Serialize;

use crate::JsonSchema;
use crate::findings::{Estimate, Findings, PublishedReading, Recommendation};
use crate::records::Records;

/// Version of the JSON of a replication.
pub const REPLICATION_SCHEMA: u32 = 1;

/// A part of a replication, run or not.
#[derive(Debug)]
pub struct MeasuredPart<'a> {
    /// Name of the part.
    pub name: &'a str,
    /// Its run; or why there is none, as a fragment without a full stop: `its study needs 4 CPUs`.
    pub run: Result<MeasuredRun<'a>, String>,
}

/// The run of a part: its records and what they say.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredRun<'a> {
    /// What the run stored.
    pub records: &'a Records<'a>,
    /// What follows from it.
    pub findings: &'a Findings,
}

/// What a replication found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicationFindings {
    /// Version of this shape.
    pub schema_version: u32,
    /// Name of the source's transcription.
    pub key: String,
    /// Title of the source.
    pub title: String,
    /// Its authors and year, as far as they are known.
    pub source: String,
    /// What is done differently and why.
    pub note: Option<String>,
    /// The runs.
    pub parts: Vec<PartFinding>,
    /// How many claims came out how.
    pub tally: ReplicationTally,
    /// The source's claims, in its order.
    pub claims: Vec<ClaimFinding>,
    /// Its rows, in its order.
    pub rows: Vec<ReplicatedRow>,
    /// Its figures second by second, in its order.
    pub series: Vec<ReplicatedSeries>,
    /// Ratios of two subjects under the same setting, which its tables imply.
    pub ratios: Vec<ReplicatedRatio>,
    /// What was tried as an explanation.
    pub factors: Vec<FactorFinding>,
    /// Which one for what, by the declared rules, from all parts.
    pub recommendations: Vec<PartRecommendation>,
}

/// A run of a replication.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartFinding {
    /// Name of the part.
    pub name: String,
    /// What it is for.
    pub says: String,
    /// Title of its study.
    pub study: String,
    /// Id of the run; none if it was not run.
    pub run: Option<String>,
    /// The machine, in a line.
    pub machine: Option<String>,
    /// When it began, as the run has it.
    pub began: Option<String>,
    /// Blocks of which some trial has a record; 0 if it was not run.
    pub blocks: u32,
    /// Shortest and longest window of its trials, in seconds; none of programs, which run until they are done.
    pub windows_s: Option<[f64; 2]>,
    /// By how much its windows were longer than the study says: 0.1 for a tenth.
    pub scale: f64,
    /// Trials that have a record, those that failed included.
    pub trials: u32,
    /// Of them, failed.
    pub failed: u32,
    /// What was left out, by name, and why: subjects, scenarios, environments, or the whole part.
    pub left_out: Vec<String>,
}

/// How claims came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ReplicationTally {
    /// Reproduced.
    pub reproduced: usize,
    /// The same direction, another size.
    pub same_direction: usize,
    /// No difference where one was published, or one where none was.
    pub no_difference: usize,
    /// A difference where none that matters was published.
    pub difference: usize,
    /// The other way round.
    pub reversed: usize,
    /// Not told.
    pub cannot_tell: usize,
}

/// A claim of the source, judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimFinding {
    /// Its id in the transcription.
    pub id: String,
    /// Where in the source.
    pub place: Option<String>,
    /// What it says.
    pub says: String,
    /// As published: `7×`, `PHP highest`.
    pub published: String,
    /// As measured, in words with intervals; none where nothing stands for it.
    pub measured: Option<String>,
    /// The measured ratio, where the claim is about one.
    pub ratio: Option<Estimate>,
    /// The reading.
    pub reading: PublishedReading,
    /// Why it cannot be told, or what explains a difference, with the name of the factor; a sentence.
    pub explanation: Option<String>,
}

/// A row of the source with what was measured for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedRow {
    /// The source's table.
    pub table: Option<String>,
    /// The source's subject.
    pub subject: String,
    /// Its setting, in words.
    pub setting: String,
    /// What stands for it: `wan · node/http · hello-c100`; or why nothing does.
    pub stands_for_it: Result<String, String>,
    /// Its figures.
    pub figures: Vec<ReplicatedFigure>,
}

/// A figure as published and as measured, in the same unit. Its size belongs to the machine, so it is not judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedFigure {
    /// Key of the transcription: `throughput_rps`.
    pub key: String,
    /// In words: `throughput`.
    pub words: String,
    /// As printed, with its unit.
    pub published: String,
    /// Measured, in base units; none where the lab has no such figure of it.
    pub measured: Option<Estimate>,
    /// The same in words, in the source's unit.
    pub measured_words: Option<String>,
}

/// A figure second by second, as published and as measured, in the same unit. Nothing of it is judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedSeries {
    /// The source's table.
    pub table: Option<String>,
    /// The source's subject.
    pub subject: String,
    /// Its setting, in words.
    pub setting: String,
    /// Key of the transcription: `memory_mb`.
    pub key: String,
    /// In words: `memory`.
    pub words: String,
    /// The unit of both: `MB`.
    pub unit: String,
    /// What stands for it: `wan · node/http · hello-c100`; or why nothing does.
    pub stands_for_it: Result<String, String>,
    /// As published.
    pub published: SeriesCourse,
    /// As measured: the median of the scored trials in each second of the window, at the end of that second.
    pub measured: Option<SeriesCourse>,
}

/// How a figure went.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesCourse {
    /// The instants after the start of the load, in seconds.
    pub at_s: Vec<f64>,
    /// The figure at each.
    pub value: Vec<f64>,
    /// The lowest of the trials at each; empty where one series is all there is.
    pub low: Vec<f64>,
    /// The highest of the trials at each; empty as `low` is.
    pub high: Vec<f64>,
    /// The first.
    pub start: f64,
    /// The last.
    pub end: f64,
    /// Their mean.
    pub mean: f64,
    /// The highest.
    pub highest: f64,
    /// When it was highest: the first time.
    pub highest_at_s: f64,
    /// By how much it rises in a second, over all instants: the median of all slopes between two of them (Theil and Sen).
    pub slope_per_s: Option<f64>,
}

/// A ratio of two subjects under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedRatio {
    /// The setting, in words.
    pub setting: String,
    /// Of what, in words.
    pub words: String,
    /// The source's name of the one above the line.
    pub a: String,
    /// The source's name of the one below it.
    pub b: String,
    /// Name of the part that measured both; none where nothing did.
    pub part: Option<String>,
    /// As published.
    pub published: f64,
    /// As measured, within blocks.
    pub measured: Option<Estimate>,
    /// What follows.
    pub reading: PublishedReading,
    /// Why it cannot be told; none where it can.
    pub why: Option<String>,
}

/// A factor, switched.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorFinding {
    /// The factor.
    pub name: String,
    /// What it would mean.
    pub meaning: String,
    /// Of what the ratio is, in words.
    pub words: String,
    /// Ids of the claims that it may explain.
    pub claims: Vec<String>,
    /// The ratio under each level; the first is as the source measured.
    pub levels: Vec<FactorLevelFinding>,
    /// What the source claims of this ratio; none where none of the claims is of these two.
    pub published: Option<ClaimedRatio>,
    /// Whether it explains the ratio: yes, no, or not told.
    pub explains: Option<bool>,
    /// The share of the logarithm of the first ratio that goes when the factor is switched to the level that changes it most;
    /// over 1 where the order flips. None where the first level has no ratio, or is a tie.
    pub share: Option<f64>,
    /// The first level and the one that tells, and what follows, as a fragment that begins with the factor.
    pub in_short: String,
    /// What follows from the levels, and if it explains the ratio how; sentences.
    pub conclusion: String,
    /// All of it in a sentence.
    pub sentence: String,
}

/// A ratio as a source claims it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimedRatio {
    /// In the middle of a range, at the end of what is only bounded.
    pub value: f64,
    /// As the claim has it: `4.5–5×`, `> 5×`.
    pub words: String,
}

/// The ratio under one level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorLevelFinding {
    /// The level.
    pub name: String,
    /// Name of its part.
    pub part: String,
    /// Id of its scenario.
    pub scenario: String,
    /// `node/http over apache/prefork`
    pub of: String,
    /// The ratio; none if it was not measured.
    pub ratio: Option<Estimate>,
    /// Why there is no ratio, or what must be known of it: that a case is not ranked there, and why.
    pub remark: Option<String>,
}

/// A recommendation and the part that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartRecommendation {
    /// Name of the part.
    pub part: String,
    /// What is recommended.
    pub recommendation: Recommendation,
}
