//! What was published beside what was measured.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analyse::Records;
use crate::findings::{Estimate, ScenarioFinding};

/// A published ratio of two subjects, and the measured one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PublishedFinding {
    /// Who published it.
    pub source: String,
    /// Where in the source: `Table 5`.
    pub place: Option<String>,
    /// Id of the scenario that it is held against.
    pub scenario: String,
    /// What was compared: `goodput`, `latency-p50`, `latency-p99`, `cpu`, `memory` or `cold-start`.
    pub metric: String,
    /// Title of the first subject.
    pub a: String,
    /// Title of the second.
    pub b: String,
    /// The first over the second, as published.
    pub published: f64,
    /// The same, measured within blocks; none where either has no figure.
    pub measured: Option<Estimate>,
    /// What follows.
    pub reading: PublishedReading,
    /// The same in a sentence.
    pub sentence: String,
}

/// What a measurement says of a published ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedReading {
    /// The published ratio lies in the measured interval, widened by the smallest effect.
    Reproduced,
    /// The same one is ahead, by another ratio.
    SameDirection,
    /// No difference was found where one was published.
    NoDifference,
    /// The other one is ahead.
    Reversed,
    /// The measurement does not tell.
    CannotTell,
}

impl PublishedReading {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::SameDirection => "same direction",
            Self::NoDifference => "no difference",
            Self::Reversed => "reversed",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// Every published ratio of the plan, in its order.
pub(crate) fn published(_records: &Records, _scenarios: &[ScenarioFinding]) -> Vec<PublishedFinding> {
    Vec::new()
}
