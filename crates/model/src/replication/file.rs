//! `replication.toml` as it is written, before anything in it is known to make sense.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::JsonSchema;
use crate::reading::table::{Spanned, Table};
use crate::transcription::Written;
use crate::units::Seconds;

/// A replication as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok replication")]
pub struct ReplicationFile {
    /// Name of the transcription: `asshuffi-apache-node` for `published/asshuffi-apache-node.toml`.
    #[schemars(required, with = "Option<String>")]
    pub source: Option<Spanned<String>>,
    /// What is done differently from the source and why, in a few sentences for the report.
    pub note: Option<String>,
    /// The studies, in the order in which they are run.
    #[schemars(required, length(min = 1))]
    pub part: Option<Vec<Table<PartFile>>>,
    /// What may explain a difference; each is tested by switching it.
    #[serde(default)]
    pub factor: Vec<Table<FactorFile>>,
    /// Measured ratios that settle claims whose own figures the source, or the machine, does not have.
    #[serde(default)]
    pub settle: Vec<Table<SettleFile>>,
}

/// `[[part]]` of a replication: a study, and what of the source it measures again.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PartFile {
    /// Its name within the replication: `wan`.
    #[schemars(required, with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// File name of the study beside this file: `wan.toml`.
    #[schemars(required, with = "Option<String>")]
    pub study: Option<Spanned<String>>,
    /// What it is for, in a sentence.
    #[schemars(required)]
    pub says: Option<String>,
    /// What the source measured takes so long to show, such as processes that start by the clock. Shorter windows judge nothing.
    pub least_window: Option<Seconds>,
    /// The source's name of a subject, and the study's name for it, as the study writes it: `apache = "apache/prefork"`.
    #[serde(default)]
    pub subjects: BTreeMap<Spanned<String>, Spanned<String>>,
    /// The source's name of a setting, and the id of the study's scenario, as `tolok plan` prints it.
    #[serde(default)]
    pub scenarios: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// `[[factor]]` of a replication: the same ratio of two cases under several levels of something that may explain it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactorFile {
    /// In a few words: `the way to the server`.
    #[schemars(required, with = "Option<String>")]
    pub name: Option<Spanned<String>>,
    /// What it means if it explains the ratio, as a sentence.
    #[schemars(required)]
    pub meaning: Option<String>,
    /// Of what the ratio is, by the key of a transcription: `throughput_rps`.
    #[schemars(required, with = "Option<String>")]
    pub figure: Option<Spanned<String>>,
    /// Claims that it may explain, by their ids.
    #[serde(default)]
    pub claims: Vec<Spanned<String>>,
    /// The first is as the source measured; in each other one the factor is switched.
    #[schemars(required, length(min = 2))]
    pub level: Option<Vec<Table<FactorLevelFile>>>,
}

/// `[[factor.level]]`: two cases whose ratio is taken.
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
    /// The subject above the line, as the study writes it.
    #[schemars(required)]
    pub a: Option<String>,
    /// The subject below it.
    #[schemars(required)]
    pub b: Option<String>,
}

/// `[[settle]]` of a replication: a claim that its source has no figures for (`untestable` in its transcription), or whose figures
/// cannot be had here, and the measured ratio that settles it. The claim holds if it holds of each pair.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SettleFile {
    /// Id of the claim.
    #[schemars(required, with = "Option<String>")]
    pub claim: Option<Spanned<String>>,
    /// With a claim that has figures: what the ratio stands in for, `throughput on four CPUs`. It counts where those were not measured.
    pub in_place_of: Option<String>,
    /// Of what the ratio is, by the key of a transcription: `throughput_rps`.
    #[schemars(required, with = "Option<String>")]
    pub figure: Option<Spanned<String>>,
    /// What `a` over `b` is if the claim holds: `7`, `"3..10"`, or `"> 1"` where only the direction is claimed.
    #[schemars(required, with = "Option<Written>")]
    pub ratio: Option<Spanned<Written>>,
    /// The cases whose ratio is taken.
    #[schemars(required, length(min = 1))]
    pub pair: Option<Vec<Table<SettlingPairFile>>>,
}

/// `[[settle.pair]]`: two cases, perhaps of two parts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SettlingPairFile {
    /// In a few words: `Go, 10,000 rows`.
    #[schemars(required)]
    pub name: Option<String>,
    /// The case above the line: `{ part = "lan", scenario = "hello-c100", subject = "go/nethttp" }`.
    #[schemars(required, with = "Option<SettlingCaseFile>")]
    pub a: Option<Table<SettlingCaseFile>>,
    /// The case below it.
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
