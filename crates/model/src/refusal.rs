//! What `tolok load --format json` prints instead of a record when its run could not take place.

use serde::Serialize;

use crate::JsonSchema;

/// Version of [`LoadRefusal`] as JSON.
pub const REFUSAL_SCHEMA: u32 = 1;

/// A run of `tolok load` that did not take place. A record has `format` in place of `schema_version`, and no `error`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadRefusal {
    /// Version of this format.
    pub schema_version: u32,
    /// The target as a URL.
    pub url: String,
    /// Why there was no run.
    pub error: RefusalError,
}

/// Why a run could not take place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusalError {
    /// What was in the way.
    pub kind: RefusalKind,
    /// What, where, and what to do next: the sentence on standard error.
    pub text: String,
}

/// What was in the way of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// The name has no address.
    Host,
    /// The target takes no connections.
    Unreachable,
    /// The target takes connections, and TLS does not come about.
    Tls,
    /// The target takes connections, and does not speak HTTP/2 on them.
    Http2,
    /// This machine lacked what the run needed: files, threads, or a system call.
    Machine,
}

impl LoadRefusal {
    /// For a target.
    pub fn new(url: String, kind: RefusalKind, text: String) -> Self {
        Self { schema_version: REFUSAL_SCHEMA, url, error: RefusalError { kind, text } }
    }
}
