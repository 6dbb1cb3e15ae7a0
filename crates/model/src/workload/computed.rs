//! Answers that follow from their requests, by functions that both tolok and every subject compute. The functions are
//! in the lab; this module defines their parameters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonSchema;
use crate::figures::count;

/// Answers that follow from the request alone. `tolok check` sends randomly drawn inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Computed {
    /// `n` small objects, as an array. The load sends many seeds, which determine the objects.
    Items,
    /// The same objects, compressed by the server for clients that accept gzip.
    Compressed,
    /// The same objects as a page that React renders.
    React,
    /// Length and SHA-256 of the request's body. The load sends many bodies of `bytes` bytes each.
    Digest,
    /// The answer of a service that tolok runs next to the subject, for the request's `key`, after 10 ms. Its words
    /// differ in each run.
    Upstream,
}

impl Computed {
    /// The parameters that the answer depends on, sorted.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Items | Self::Compressed | Self::React => &["n"],
            Self::Digest => &["bytes"],
            Self::Upstream => &[],
        }
    }

    /// Whether the request has a body, which tolok draws.
    pub fn sends_body(self) -> bool {
        self == Self::Digest
    }

    /// The request in a few words for tables.
    pub(crate) fn title(self, title: &str, values: &BTreeMap<String, u32>) -> Option<String> {
        let (name, unit) = match self {
            Self::Items | Self::Compressed | Self::React => ("n", "object"),
            Self::Digest => ("bytes", "byte"),
            Self::Upstream => return None,
        };
        let value = *values.get(name)?;
        Some(format!("{title}, {} {unit}{}", count(value.into()), if value == 1 { "" } else { "s" }))
    }
}
