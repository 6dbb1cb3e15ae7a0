//! What a plan leaves out.

use serde::{Deserialize, Serialize};

/// A subject, environment, tool or database that the study names but the plan leaves out, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its name in the study; for an environment, a tool or a database, its description, in brackets.
    pub subject: String,
    pub reason: String,
    /// Whether it is left out only of workloads that ask a database.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub database_only: bool,
    /// Ids of the scenarios and programs that are left out with it, for every subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
}

impl Skipped {
    /// Leaves out a subject without leaving out any scenario for all subjects.
    pub fn new(subject: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { subject: subject.into(), reason: reason.into(), database_only: false, scenarios: Vec::new() }
    }

    /// The same, with the ids of the scenarios and programs that are left out for every subject.
    pub(crate) fn with_scenarios(self, scenarios: Vec<String>) -> Self {
        Self { scenarios, ..self }
    }

    /// Adds it to `others`, joining entries with the same subject and reason.
    pub(crate) fn join(self, others: &mut Vec<Self>) {
        match others.iter_mut().find(|other| other.subject == self.subject && other.reason == self.reason) {
            Some(other) => other.scenarios.extend(self.scenarios),
            None => others.push(self),
        }
    }
}
