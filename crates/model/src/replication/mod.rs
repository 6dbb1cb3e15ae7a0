//! How to repeat a published comparison: which studies, and how their cases map to the source.

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
    /// What is done differently from the source and why, in a few sentences for the report.
    pub note: Option<String>,
    /// The studies, in the order in which they are run.
    pub parts: Vec<ReplicationPart>,
    /// What may explain a difference; each is tested by switching it.
    pub factors: Vec<Factor>,
    /// What of the studies settles claims whose own figures the source, or the machine, does not have.
    pub settlements: Vec<Settlement>,
}

/// A study of a replication, and what of the source it measures again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplicationPart {
    /// Its name within the replication: `wan`.
    pub name: String,
    /// File name of the study beside the replication: `wan.toml`.
    pub study: String,
    /// What it is for, in a sentence.
    pub says: String,
    /// What the source measured takes so long to show. Shorter windows judge nothing.
    pub least_window_s: Option<f64>,
    /// The source's name of a subject, and the study's name for it, as the study writes it or with its variant, or `None` where nothing
    /// stands for it.
    pub subjects: BTreeMap<String, String>,
    /// The source's name of a setting, and the id of the study's scenario.
    pub scenarios: BTreeMap<String, String>,
}

/// Something that may explain a difference: the same ratio of two cases under several levels of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Factor {
    /// In a few words: `the way to the server`.
    pub name: String,
    /// What it would mean if it explained the ratio, as a sentence: `Apache starts its children too slowly for a short run.`
    pub meaning: String,
    pub quantity: Quantity,
    /// Claims that it may explain, by their ids.
    pub claims: Vec<String>,
    /// The first is as the source measured; in each other one the factor is switched. At least two.
    pub levels: Vec<FactorLevel>,
}

/// One level of a factor: two cases whose ratio is taken.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FactorLevel {
    /// In a few words: `170 ms away`.
    pub name: String,
    pub part: String,
    /// Id of the scenario of its study.
    pub scenario: String,
    /// The subject above the line, as the study names it.
    pub a: String,
    pub b: String,
}

/// The measured ratio that settles a claim without figures in its source, or that stands in for what cannot be measured here. The
/// claim holds if it holds of each pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settlement {
    pub claim: String,
    /// What it stands in for, in a few words: `throughput on four CPUs`. It counts only where the claim's own figures were not measured.
    pub in_place_of: Option<String>,
    pub quantity: Quantity,
    /// What the first of a pair over the second is, if the claim holds.
    pub is: Number,
    /// At least one.
    pub pairs: Vec<SettlingPair>,
}

/// Two cases, perhaps of two parts, whose ratio is taken.
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

/// Whether a study's subject of this label (`apache/prefork:default?start_servers=5`) is meant by a name that may leave its variant
/// out (`apache/prefork?start_servers=5`), which then is `default_variant`.
pub fn means_subject(name: &str, label: &str, default_variant: &str) -> bool {
    let (name, label) = (SubjectParts::of(name), SubjectParts::of(label));
    let variant = |parts: &SubjectParts| parts.variant.clone().unwrap_or_else(|| default_variant.to_owned());
    name.id == label.id && variant(&name) == variant(&label) && name.values == label.values
}

/// A name of a subject, taken apart.
struct SubjectParts {
    id: String,
    variant: Option<String>,
    /// Sorted, as a label has them.
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
