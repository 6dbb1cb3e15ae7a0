//! The findings of a replication, for reports and JSON.

use serde::Serialize;

use crate::JsonSchema;
use crate::findings::{Estimate, Findings, PublishedReading, Recommendation};
use crate::records::Records;

/// Version of the JSON of a replication.
pub const REPLICATION_SCHEMA: u32 = 1;

/// A part of a replication, run or not.
#[derive(Debug)]
pub struct MeasuredPart<'a> {
    pub name: &'a str,
    /// Its run, or why there is none, as a fragment without a full stop: `its study needs 4 CPUs`.
    pub run: Result<MeasuredRun<'a>, String>,
}

/// The run of a part: its records and its findings.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredRun<'a> {
    pub records: &'a Records<'a>,
    pub findings: &'a Findings,
}

/// The findings of a replication.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicationFindings {
    /// Version of this format.
    pub schema_version: u32,
    /// Name of the source's transcription.
    pub key: String,
    /// Title of the source.
    pub title: String,
    /// Its authors and year, if known.
    pub source: String,
    /// How the replication differs from the source, and why.
    pub note: Option<String>,
    /// The runs.
    pub parts: Vec<PartFinding>,
    /// Number of claims by result.
    pub tally: ReplicationTally,
    /// The source's claims, in its order, without those that only restate cells of its tables.
    pub claims: Vec<ClaimFinding>,
    /// Number of claims that only restate cells. Their figures are among the rows.
    pub restated: usize,
    /// Its rows, in its order.
    pub rows: Vec<ReplicatedRow>,
    /// Its figures second by second, in its order.
    pub series: Vec<ReplicatedSeries>,
    /// Ratios of two subjects under the same setting, which its tables imply.
    pub ratios: Vec<ReplicatedRatio>,
    /// Factors tested as explanations.
    pub factors: Vec<FactorFinding>,
    /// Recommendations by the declared rules, from all parts.
    pub recommendations: Vec<PartRecommendation>,
}

/// A run of a replication.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartFinding {
    /// Name of the part.
    pub name: String,
    /// Its purpose.
    pub says: String,
    /// Title of its study.
    pub study: String,
    /// Id of the run; absent if it did not run.
    pub run: Option<String>,
    /// The machine, in a line.
    pub machine: Option<String>,
    /// When it began, from the run.
    pub began: Option<String>,
    /// Rounds with at least one recorded trial; 0 if it did not run.
    pub blocks: u32,
    /// Shortest and longest window of its trials, in seconds; absent for programs, which run to their end.
    pub windows_s: Option<[f64; 2]>,
    /// Its windows over their length in the study: 0.1 for a tenth.
    pub scale: f64,
    /// Trials with a record, including failed ones.
    pub trials: u32,
    /// Failed trials among them.
    pub failed: u32,
    /// What was left out, by name, and why: subjects, scenarios, environments, or the whole part.
    pub left_out: Vec<String>,
}

/// Results of claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ReplicationTally {
    /// Reproduced.
    pub reproduced: usize,
    /// Supported: the source has no figure of its own.
    pub supported: usize,
    /// The same direction, another size.
    pub same_direction: usize,
    /// No difference, although the source has one.
    pub no_difference: usize,
    /// A difference, although the source has none that matters.
    pub difference: usize,
    /// The opposite direction.
    pub reversed: usize,
    /// Undecided.
    pub cannot_tell: usize,
}

/// A claim of the source, judged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimFinding {
    /// Its id in the transcription.
    pub id: String,
    /// Its place in the source.
    pub place: Option<String>,
    /// What it says.
    pub says: String,
    /// The source's own words.
    pub raw: Vec<String>,
    /// What was compared: `throughput`, `CPU time per response`; absent if nothing could be.
    pub measure: Option<String>,
    /// As published: `7×`, `PHP highest`.
    pub published: String,
    /// The same by the source's own tables; absent without figures.
    pub own_table: Option<String>,
    /// As measured, in words with intervals; absent without a measurement.
    pub measured: Option<String>,
    /// The measured ratio, if the claim is about one.
    pub ratio: Option<Estimate>,
    /// The judgement.
    pub reading: PublishedReading,
    /// Why it is undecided, or which factor explains a difference, in a sentence.
    pub explanation: Option<String>,
}

/// A row of the source with its measurements.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedRow {
    /// The source's table.
    pub table: Option<String>,
    /// The source's subject.
    pub subject: String,
    /// Its setting, in words.
    pub setting: String,
    /// Its counterpart: `wan · node/http · hello-c100`, or why it has none.
    pub stands_for_it: Result<String, String>,
    /// Its figures.
    pub figures: Vec<ReplicatedFigure>,
}

/// A figure as published and as measured, in the same unit. It is not judged, because its size depends on the machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedFigure {
    /// Key of the transcription: `throughput_rps`.
    pub key: String,
    /// In words: `throughput`.
    pub words: String,
    /// As printed, with its unit.
    pub published: String,
    /// As measured, in base units; absent if the lab has no such figure.
    pub measured: Option<Estimate>,
    /// The same in words, in the source's unit.
    pub measured_words: Option<String>,
}

/// A figure second by second, as published and as measured, in the same unit. It is not judged.
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
    /// Its counterpart: `wan · node/http · hello-c100`, or why it has none.
    pub stands_for_it: Result<String, String>,
    /// As published.
    pub published: SeriesCourse,
    /// The published seconds that were measured too; absent if those are all, or fewer than two.
    pub published_meanwhile: Option<SeriesCourse>,
    /// As measured: the median of the scored trials in each second of the window, at the end of that second.
    pub measured: Option<SeriesCourse>,
}

/// The course of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesCourse {
    /// The instants after the start of the load, in seconds.
    pub at_s: Vec<f64>,
    /// The figure at each.
    pub value: Vec<f64>,
    /// The lowest of the trials at each; empty with a single series.
    pub low: Vec<f64>,
    /// The highest of the trials at each; empty if `low` is.
    pub high: Vec<f64>,
    /// The first.
    pub start: f64,
    /// The last.
    pub end: f64,
    /// Their mean.
    pub mean: f64,
    /// The highest.
    pub highest: f64,
    /// When it was first at its highest.
    pub highest_at_s: f64,
    /// Its rise per second: the median of the slopes between all pairs of instants (Theil and Sen).
    pub slope_per_s: Option<f64>,
}

/// A ratio of two subjects under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReplicatedRatio {
    /// The setting, in words.
    pub setting: String,
    /// What it compares, in words.
    pub words: String,
    /// The source's name of the numerator.
    pub a: String,
    /// The source's name of the denominator.
    pub b: String,
    /// Name of the part that measured both; absent without one.
    pub part: Option<String>,
    /// As published.
    pub published: f64,
    /// As measured, within rounds.
    pub measured: Option<Estimate>,
    /// The verdict.
    pub reading: PublishedReading,
    /// Why it is undecided; absent if it is decided.
    pub why: Option<String>,
}

/// A factor, switched.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FactorFinding {
    /// The factor.
    pub name: String,
    /// What it would mean.
    pub meaning: String,
    /// What the ratio compares, in words.
    pub words: String,
    /// Ids of the claims that it may explain.
    pub claims: Vec<String>,
    /// The ratio under each level; the first is as the source measured.
    pub levels: Vec<FactorLevelFinding>,
    /// The source's claim on this ratio; absent without one.
    pub published: Option<ClaimedRatio>,
    /// Whether it explains the ratio: yes, no, or undecided.
    pub explains: Option<bool>,
    /// The share of the first log ratio that disappears at the level that changes it most; above 1 if the order flips. Absent if
    /// the first level has no ratio or is a tie.
    pub share: Option<f64>,
    /// The first level, the decisive one, and the conclusion, as a fragment that begins with the factor.
    pub in_short: String,
    /// The conclusion from the levels and, if the factor explains the ratio, how; in sentences.
    pub conclusion: String,
    /// All of it in a sentence.
    pub sentence: String,
}

/// A ratio as a source claims it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimedRatio {
    /// The value; of a range its middle, and of a bound its end.
    pub value: f64,
    /// As claimed: `4.5–5×`, `> 5×`.
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
    /// The ratio; absent if it was not measured.
    pub ratio: Option<Estimate>,
    /// Why there is no ratio, or its caveat: a case that is not ranked there, and why.
    pub remark: Option<String>,
}

/// A recommendation and the part behind it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartRecommendation {
    /// Name of the part.
    pub part: String,
    /// What is recommended.
    pub recommendation: Recommendation,
}
