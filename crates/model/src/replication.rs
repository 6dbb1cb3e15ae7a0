//! How a published comparison is run again: which studies, and what of the source stands for what of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::transcription::Quantity;

/// The replication of a source: `studies/sources/<key>/replication.toml`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Replication {
    /// Name of the transcription in `published/`.
    pub source: String,
    /// What is done differently from the source and why, in a few sentences for the report.
    pub note: Option<String>,
    /// The studies, in the order in which they are run.
    pub parts: Vec<ReplicationPart>,
    /// What may explain a difference, each tried by switching it.
    pub factors: Vec<Factor>,
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
    /// The source's name of a subject, and the study's label for it; none where nothing stands for it.
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
    /// Of what the ratio is.
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
    /// Name of the part.
    pub part: String,
    /// Id of the scenario of its study.
    pub scenario: String,
    /// Label of the subject above the line.
    pub a: String,
    /// Label of the subject below it.
    pub b: String,
}
