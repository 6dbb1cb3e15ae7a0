//! `replication.toml` as written, not yet validated.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::JsonSchema;
use crate::reading::table::{Spanned, Table};
use crate::transcription::Written;
use crate::units::Seconds;

/// A replication as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok replication")]
pub struct ReplicationFile {
    /// Name of the transcription: `asshuffi-apache-node` for `published/asshuffi-apache-node.toml`.
    #[schemars(required, with = "Option<String>")]
    pub source: Option<Spanned<String>>,
    /// How it differs from the source and why, in a few sentences for the report.
    pub note: Option<String>,
    /// The studies, in execution order.
    #[schemars(required, length(min = 1))]
    pub part: Option<Vec<Table<PartFile>>>,
    /// What may explain a difference. Each factor is tested by switching it.
    #[serde(default)]
    pub factor: Vec<Table<FactorFile>>,
    /// Measured ratios that settle claims for which the source, or this machine, has no figures.
    #[serde(default)]
    pub settle: Vec<Table<SettleFile>>,
}

/// `[[part]]` of a replication: a study, and what it repeats of the source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PartFile {
    /// Its name within the replication: `wan`.
    #[schemars(required, with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// File name of the study in the same folder: `wan.toml`.
    #[schemars(required, with = "Option<String>")]
    pub study: Option<Spanned<String>>,
    /// Its purpose, in a sentence.
    #[schemars(required)]
    pub says: Option<String>,
    /// The shortest window that shows what the source measured, such as processes that start by the clock. Shorter
    /// windows judge nothing.
    pub least_window: Option<Seconds>,
    /// Maps the source's name of a subject to the study's name for it: `apache = "apache/prefork"`.
    #[serde(default)]
    pub subjects: BTreeMap<Spanned<String>, Spanned<String>>,
    /// Maps the source's name of a setting to the id of the study's scenario, as `tolok plan` prints it.
    #[serde(default)]
    pub scenarios: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// `[[factor]]` of a replication: the same ratio of two cases at several levels of something that may explain it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorFile {
    /// In a few words: `the way to the server`.
    #[schemars(required, with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// What it means if it explains the ratio, as a sentence.
    #[schemars(required)]
    pub meaning: Option<String>,
    /// The figure whose ratio is taken, as a key of a transcription: `throughput_rps`.
    #[schemars(required, with = "Option<String>")]
    pub figure: Option<Spanned<String>>,
    /// Ids of the claims that it may explain.
    #[serde(default)]
    pub claims: Vec<Spanned<String>>,
    /// The first level is as in the source; the others switch the factor.
    #[schemars(required, length(min = 2))]
    pub level: Option<Vec<Table<FactorLevelFile>>>,
}

/// `[[factor.level]]`: two cases to take the ratio of.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorLevelFile {
    /// In a few words: `170 ms away`.
    #[schemars(required, with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// Name of the part.
    #[schemars(required, with = "Option<String>")]
    pub part: Option<Spanned<String>>,
    /// Id of the scenario of its study, as `tolok plan` prints it.
    #[schemars(required)]
    pub scenario: Option<String>,
    /// The subject of the numerator, as the study writes it.
    #[schemars(required)]
    pub a: Option<String>,
    /// The subject of the denominator.
    #[schemars(required)]
    pub b: Option<String>,
}

/// `[[settle]]` of a replication: a measured ratio that settles a claim. Its source has no figures for the claim
/// (`untestable` in the transcription), or they cannot be measured here. The claim holds if it holds for each pair.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SettleFile {
    /// Id of the claim.
    #[schemars(required, with = "Option<String>")]
    pub claim: Option<Spanned<String>>,
    /// For a claim with figures: what the ratio replaces, `throughput on four CPUs`. It counts only if those were not
    /// measured.
    pub in_place_of: Option<String>,
    /// The figure whose ratio is taken, as a key of a transcription: `throughput_rps`.
    #[schemars(required, with = "Option<String>")]
    pub figure: Option<Spanned<String>>,
    /// The value of `a` over `b` if the claim holds: `7`, `"3..10"`, or `"> 1"` if the claim is only about direction.
    #[schemars(required, with = "Option<Written>")]
    pub ratio: Option<Spanned<Written>>,
    /// The cases to take the ratio of.
    #[schemars(required, length(min = 1))]
    pub pair: Option<Vec<Table<SettlingPairFile>>>,
}

/// `[[settle.pair]]`: two cases, possibly from two parts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SettlingPairFile {
    /// In a few words: `Go, 10,000 rows`.
    #[schemars(required)]
    pub name: Option<String>,
    /// The case of the numerator: `{ part = "lan", scenario = "hello-c100", subject = "go/nethttp" }`.
    #[schemars(required, with = "Option<SettlingCaseFile>")]
    pub a: Option<Table<SettlingCaseFile>>,
    /// The case of the denominator.
    #[schemars(required, with = "Option<SettlingCaseFile>")]
    pub b: Option<Table<SettlingCaseFile>>,
}

/// `a` and `b` of `[[settle.pair]]`: a case of a study.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SettlingCaseFile {
    /// Name of the part.
    #[schemars(required, with = "Option<String>")]
    pub part: Option<Spanned<String>>,
    /// Id of the scenario of its study, as `tolok plan` prints it.
    #[schemars(required)]
    pub scenario: Option<String>,
    /// The subject, as the study writes it.
    #[schemars(required)]
    pub subject: Option<String>,
}
