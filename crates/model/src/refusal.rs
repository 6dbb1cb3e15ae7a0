//! What `tolok load --format json` prints instead of a record when it could not run.

use serde::Serialize;

use crate::JsonSchema;

/// Version of [`LoadRefusal`] as JSON.
pub const REFUSAL_SCHEMA: u32 = 1;

/// A run of `tolok load` that did not take place. Unlike this document, a record has `format` instead of
/// `schema_version`, and no `error`.
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
    /// What prevented the run.
    pub kind: RefusalKind,
    /// What, where, and what to do next: the sentence on standard error.
    pub text: String,
}

/// What prevented a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// The host name does not resolve.
    Host,
    /// The target accepts no connections.
    Unreachable,
    /// The target accepts connections, but the TLS handshake fails.
    Tls,
    /// The target accepts connections, but does not speak HTTP/2.
    Http2,
    /// This machine lacked a resource: files, threads, or a system call.
    Machine,
}

impl LoadRefusal {
    /// A refusal for a target.
    pub fn new(url: String, kind: RefusalKind, text: String) -> Self {
        Self { schema_version: REFUSAL_SCHEMA, url, error: RefusalError { kind, text } }
    }
}
