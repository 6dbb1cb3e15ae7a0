//! Recommendations.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

/// What one who needs this would take, by a declared rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Name of the rule: `most-answers`.
    pub rule: String,
    /// The rule in a sentence, so that a reader can apply it himself.
    pub rule_words: String,
    /// Who needs that: `most answers a second: JSON, Hello`.
    pub need: String,
    /// Ids of the scenarios that it rests on.
    pub scenarios: Vec<String>,
    /// Those to take, by title: several where they could not be told apart; empty where nothing can be said.
    pub picks: Vec<String>,
    /// The figures that say so, in a sentence.
    pub because: String,
    /// How strongly.
    pub strength: Strength,
    /// What would change it, or what would tell, in a sentence.
    pub changes_if: String,
}

worded! {
    /// How strongly findings speak for a recommendation. METHODOLOGY.md defines the levels.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Strength by word {
        /// Told apart from all others, by a lot, on figures without a caveat.
        Strong = "strong",
        /// One of these three is lacking.
        Moderate = "moderate",
        /// Two of them or all are lacking.
        Weak = "weak",
        /// Nothing can be said.
        None = "none",
    }
}
