//! What was not looked at.

use serde::Serialize;

use crate::JsonSchema;

/// Something that a run did not look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Untested {
    /// What, in a few words that can stand in a list: `a given request rate`.
    pub what: String,
    /// What the run had instead and so cannot say, in a sentence.
    pub because: String,
    /// What would look at it: a key of a study, or one that is there; none where this version cannot.
    pub how: Option<String>,
}
