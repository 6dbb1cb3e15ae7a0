//! `workload.toml` as it is written, before anything in it is known to make sense.
//!
//! No field is required by serde (see [`crate::text`]); what is required is marked so for the JSON Schema, and asked for
//! when the file is turned into a [`crate::Workload`].

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::table::Table;
use crate::workload::GeneratedKind;

/// `workload.toml` as it is written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "tolok workload")]
pub struct WorkloadFile {
    /// A few words for tables.
    #[schemars(required)]
    pub title: Option<String>,
    /// What the workload measures, in one sentence.
    pub summary: Option<String>,
    /// What is asked.
    #[schemars(with = "RequestFile")]
    pub request: Option<Table<RequestFile>>,
    /// What must be answered.
    #[schemars(with = "AnswerFile")]
    pub answer: Option<Table<AnswerFile>>,
}

/// `[request]` of a workload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// The method; `GET`, which is also the default, is the only one so far.
    #[schemars(with = "Option<String>", regex(pattern = "^GET$"))]
    pub method: Option<Spanned<String>>,
    /// The path, with its leading slash.
    #[schemars(with = "String", regex(pattern = "^/[A-Za-z0-9._-]+$"))]
    pub path: Option<Spanned<String>>,
}

/// `[answer]` of a workload.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AnswerFile {
    /// The status; 200 if not said.
    #[schemars(with = "Option<u16>", range(min = 200, max = 599))]
    pub status: Option<Spanned<u16>>,
    /// Type and subtype; parameters such as a character set are not compared.
    #[schemars(required)]
    pub content_type: Option<String>,
    /// The body, byte for byte: a file beside this one, or how it is generated.
    #[schemars(with = "BodyFile")]
    pub body: Option<Spanned<BodyFile>>,
}

/// Where the bytes of an answer come from.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub enum BodyFile {
    /// A file in the workload's folder.
    File(String),
    /// Bytes that the lab generates, the same ones everywhere.
    Generated(GeneratedBodyFile),
}

/// A body that the lab generates.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratedBodyFile {
    /// What is generated; `png` is the only kind so far.
    #[schemars(required)]
    pub generate: Option<GeneratedKind>,
    /// Exact length of the body in bytes.
    #[schemars(required)]
    pub bytes: Option<usize>,
    /// Seed of its content.
    #[schemars(required)]
    pub seed: Option<u64>,
}

impl<'de> Deserialize<'de> for BodyFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BodyVisitor)
    }
}

/// By hand, as serde's own untagged enums lose both the reason and the place of an error.
struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = BodyFile;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a file, or a table such as { generate = \"png\", bytes = 546816, seed = 534 }")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<BodyFile, E> {
        Ok(BodyFile::File(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<BodyFile, A::Error> {
        GeneratedBodyFile::deserialize(MapAccessDeserializer::new(entries)).map(BodyFile::Generated)
    }
}
