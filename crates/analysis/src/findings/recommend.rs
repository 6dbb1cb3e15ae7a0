//! Recommendations.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

/// A rule's recommendation for one need.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Name of the rule: `most-answers`.
    pub rule: String,
    /// The rule in a sentence, so that readers can apply it themselves.
    pub rule_words: String,
    /// The need: `most answers a second: JSON, Hello`.
    pub need: String,
    /// Ids of the scenarios behind it.
    pub scenarios: Vec<String>,
    /// The recommended subjects, by title: several if they are tied; empty without a recommendation.
    pub picks: Vec<String>,
    /// The figures behind it, in a sentence.
    pub because: String,
    /// Its strength.
    pub strength: Strength,
    /// What would change or settle it, in a sentence.
    pub changes_if: String,
}

worded! {
    /// How strongly findings support a recommendation. METHODOLOGY.md defines the levels.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Strength by word {
        /// Clearly ahead of all others, by a large margin, on figures without a caveat.
        Strong = "strong",
        /// One of these three is missing.
        Moderate = "moderate",
        /// Two or all three are missing.
        Weak = "weak",
        /// No recommendation.
        None = "none",
    }
}
