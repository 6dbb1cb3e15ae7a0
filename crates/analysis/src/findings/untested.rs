//! What was not tested.

use serde::Serialize;

use crate::JsonSchema;

/// Something that a run did not test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Untested {
    /// What, in a few words for a list: `a given request rate`.
    pub what: String,
    /// What the run had instead and so cannot answer, in a sentence.
    pub because: String,
    /// A study, or a key of one, that would test it; absent if this version cannot.
    pub how: Option<String>,
}
