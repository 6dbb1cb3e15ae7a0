//! How to repeat a published comparison: which studies to run, and how their cases map to the source.

pub(crate) mod check;
pub(crate) mod file;
pub(crate) mod reading;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::transcription::{Number, Quantity};

/// The replication of a source: `studies/sources/<key>/replication.toml`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Replication {
    /// Name of the transcription in `published/`.
    pub source: String,
    /// How it differs from the source and why, in a few sentences for the report.
    pub note: Option<String>,
    /// The studies, in execution order.
    pub parts: Vec<ReplicationPart>,
    /// What may explain a difference. Each factor is tested by switching it.
    pub factors: Vec<Factor>,
    /// Measured ratios that settle claims for which the source, or this machine, has no figures.
    pub settlements: Vec<Settlement>,
}

/// A study of a replication, and what it repeats of the source.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplicationPart {
    /// Its name within the replication: `wan`.
    pub name: String,
    /// File name of the study in the same folder: `wan.toml`.
    pub study: String,
    /// Its purpose, in a sentence.
    pub says: String,
    /// The shortest window that shows what the source measured. Shorter windows judge nothing.
    pub least_window_s: Option<f64>,
    /// Maps the source's name of a subject to the study's name for it. The latter is as the study writes it, or
    /// includes its variant.
    pub subjects: BTreeMap<String, String>,
    /// Maps the source's name of a setting to the id of the study's scenario.
    pub scenarios: BTreeMap<String, String>,
}

/// Something that may explain a difference: the same ratio of two cases at several levels of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Factor {
    /// In a few words: `the way to the server`.
    pub name: String,
    /// What it would mean if it explained the ratio, as a sentence: `Apache starts its children too slowly for a short
    /// run.`
    pub meaning: String,
    pub quantity: Quantity,
    /// Ids of the claims that it may explain.
    pub claims: Vec<String>,
    /// The first level is as in the source; the others switch the factor. At least two.
    pub levels: Vec<FactorLevel>,
}

/// One level of a factor: two cases to take the ratio of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorLevel {
    /// In a few words: `170 ms away`.
    pub name: String,
    pub part: String,
    /// Id of the scenario of its study.
    pub scenario: String,
    /// The subject of the numerator, as the study names it.
    pub a: String,
    pub b: String,
}

/// A measured ratio that settles a claim without figures in its source, or that replaces what cannot be measured here.
/// The claim holds if it holds for each pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settlement {
    pub claim: String,
    /// What it replaces, in a few words: `throughput on four CPUs`. It counts only if the claim's own figures were not
    /// measured.
    pub in_place_of: Option<String>,
    pub quantity: Quantity,
    /// The value of the first of a pair over the second, if the claim holds.
    pub is: Number,
    /// At least one.
    pub pairs: Vec<SettlingPair>,
}

/// Two cases, possibly from two parts, to take the ratio of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettlingPair {
    /// In a few words: `Go, 10,000 rows`.
    pub name: String,
    pub a: SettlingCase,
    pub b: SettlingCase,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettlingCase {
    pub part: String,
    /// Id of the scenario of its study.
    pub scenario: String,
    /// The subject, as the study names it.
    pub subject: String,
}

/// Whether `name` means the study's subject with this label (`apache/prefork:default?start_servers=5`). A name without
/// variant (`apache/prefork?start_servers=5`) means `default_variant`.
pub fn means_subject(name: &str, label: &str, default_variant: &str) -> bool {
    let (name, label) = (SubjectParts::of(name), SubjectParts::of(label));
    let variant = |parts: &SubjectParts| parts.variant.clone().unwrap_or_else(|| default_variant.to_owned());
    name.id == label.id && variant(&name) == variant(&label) && name.values == label.values
}

/// The parts of a subject's name.
struct SubjectParts {
    id: String,
    variant: Option<String>,
    /// Sorted, as in a label.
    values: Vec<String>,
}

impl SubjectParts {
    fn of(text: &str) -> Self {
        let (head, query) = text.split_once('?').unwrap_or((text, ""));
        let (id, variant) = head.split_once(':').map_or((head, None), |(id, variant)| (id, Some(variant)));
        let mut values: Vec<String> = query.split('&').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        values.sort();
        Self { id: id.to_owned(), variant: variant.map(str::to_owned), values }
    }
}
