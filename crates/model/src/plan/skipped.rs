//! What a plan leaves out.

use serde::{Deserialize, Serialize};

/// A subject, an environment, a tool or a database that the study asked for and that is left out, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// As the study names it; of an environment, a tool or a database, what it is, in brackets.
    pub subject: String,
    pub reason: String,
    /// Ids of the scenarios and programs that are left out with it, for every subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
}

impl Skipped {
    /// Left out, and no scenario as a whole with it.
    pub fn new(subject: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { subject: subject.into(), reason: reason.into(), scenarios: Vec::new() }
    }

    /// Adds it to others; entries with the same reason are joined.
    pub(crate) fn join(self, others: &mut Vec<Self>) {
        match others.iter_mut().find(|other| other.subject == self.subject && other.reason == self.reason) {
            Some(other) => other.scenarios.extend(self.scenarios),
            None => others.push(self),
        }
    }
}
