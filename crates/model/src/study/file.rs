//! A study file as written, not yet validated.
//!
//! Serde requires no field (see [`crate::reading::text`]). Required fields are marked for the JSON Schema, and checked
//! when the file is turned into a [`crate::Study`].

use serde::Deserialize;

use crate::JsonSchema;
use crate::environment::file::EnvironmentFile;
use crate::load::file::LoadFile;
use crate::program::reading::ProgramScenarioFile;
use crate::protocol::Protocol;
use crate::reading::several::Several;
use crate::reading::table::{Spanned, Table};
use crate::study::aa_pair::AaPair;
use crate::study::blocks::BlocksFile;
use crate::study::judge::Judge;
use crate::study::published_reading::PublishedFile;
use crate::study::slices::{Design, SlicesFile};
use crate::tool::reading::ToolFile;
use crate::units::Percent;

/// A study file as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok study", extend("anyOf" = [{ "required": ["scenario"] }, { "required": ["program"] }]))]
pub struct StudyFile {
    /// A few words for the report's head.
    #[schemars(required)]
    pub title: Option<String>,
    /// The question that the study answers.
    pub question: Option<String>,
    /// Which subjects: `go/nethttp`, `go/nethttp:prerendered`, `php/fpm:jit?pool=32`, `node/http:*` (all its variants) or
    /// `*` (the default variant of every subject that is ready here).
    #[schemars(required, length(min = 1))]
    pub subjects: Option<Spanned<Vec<Spanned<String>>>>,
    /// Number of rounds; an interval needs 5. Default 10. With { until = "3%", at-most = 30 }, rounds repeat until
    /// every ratio is known to within 3%, at most 30 times. With { budget = "3m" }, they repeat for three minutes, at
    /// least 5 times.
    pub blocks: Option<Spanned<BlocksFile>>,
    /// Seed of the order. Default: one is drawn and recorded.
    pub seed: Option<u64>,
    /// Differences smaller than this do not matter to the question. Default `3%`.
    pub smallest_effect: Option<Spanned<Percent>>,
    /// Which response decides verdicts, tiers and order. Default `goodput`.
    pub judge: Option<Judge>,
    /// Whether to measure the ceiling, which shows the machine's limit. Default true.
    pub ceiling: Option<bool>,
    /// Whether each round enters one subject of each scenario twice, in turn, as a noise check. `"first"` enters the first
    /// one twice in every round. Default true.
    pub aa_pair: Option<AaPair>,
    /// The requests that the subjects answer, and the load.
    #[schemars(length(min = 1))]
    pub scenario: Option<Vec<Table<ScenarioFile>>>,
    /// Programs to time, in addition to scenarios or instead of them.
    #[serde(default)]
    pub program: Vec<Table<ProgramScenarioFile>>,
    /// Published ratios of two subjects, to compare with the measured ones.
    #[serde(default)]
    pub published: Vec<Table<PublishedFile>>,
    /// How often tolok repeats a disturbed trial, at most. Default 2.
    pub reruns: Option<u32>,
    /// How cases take turns. In `slices`, `blocks` counts launches. Default `trials`.
    pub design: Option<Spanned<Design>>,
    /// Lengths of the slices.
    pub slices: Option<Table<SlicesFile>>,
    /// What the parts of a trial may use, and the network between them; lists make one environment for each combination.
    #[serde(default)]
    pub environment: Table<EnvironmentFile>,
}

/// `[[scenario]]` of a study. Lists make one scenario for each combination.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScenarioFile {
    /// One workload or several, with any parameters: `rows?fields=40&limit=1000`.
    #[schemars(required)]
    pub workload: Option<Spanned<Several<String>>>,
    /// The load on the subjects.
    #[schemars(with = "LoadFile")]
    pub load: Option<Table<LoadFile>>,
    /// The load generator: `tolok` (default), `k6`, `wrk`, `ab`, `h2load`, `hey`, `oha`, or { name = "k6", script =
    /// "users.js" }; one, or several to compare.
    pub tool: Option<Spanned<Several<ToolFile>>>,
    /// The protocol: `http1` (default), `https`, `h2`, `h2c`; one, or several to compare. Subjects that do not speak it
    /// are left out.
    pub protocol: Option<Spanned<Several<Protocol>>>,
    /// What must hold in every trial, such as `p95 < 50ms` or `goodput >= 99.9%`; one or several.
    pub objective: Option<Spanned<Several<String>>>,
    /// Whether a trial stops at the first crossed objective. Default false.
    pub abort: Option<Spanned<bool>>,
    /// How its cases take turns. Default: the study's `design`.
    pub design: Option<Spanned<Design>>,
    /// Lengths of its slices. Default: the study's.
    pub slices: Option<Table<SlicesFile>>,
}
