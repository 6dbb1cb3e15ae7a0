//! Which one for what: rules that are declared here, over findings that were measured.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analyse::Records;
use crate::findings::ScenarioFinding;
use crate::sensitivity::FactorPanel;

/// What one who needs this would take, by a declared rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Name of the rule: `most-answers`.
    pub rule: String,
    /// The rule in a sentence, so that a reader can apply it himself.
    pub rule_words: String,
    /// Who needs that: `most answers a second of JSON`.
    pub need: String,
    /// Id of the scenario that it rests on; none where it rests on several.
    pub scenario: Option<String>,
    /// Those to take, by title: several where they could not be told apart; empty where nothing can be said.
    pub picks: Vec<String>,
    /// The figures that say so, in a sentence.
    pub because: String,
    /// How strongly.
    pub strength: Strength,
    /// What would change it, in a sentence.
    pub changes_if: String,
}

/// How strongly findings speak for a recommendation; what each means is said in METHODOLOGY.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// Told apart from all others, and by a lot.
    Strong,
    /// Told apart, but by little, or not from all.
    Moderate,
    /// Not told apart from others that do as well, or on figures with a caveat.
    Weak,
    /// Nothing can be said.
    None,
}

impl Strength {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Moderate => "moderate",
            Self::Weak => "weak",
            Self::None => "none",
        }
    }
}

/// Everything that the rules say of a run, in the order of the rules.
pub(crate) fn recommend(
    _records: &Records,
    _scenarios: &[ScenarioFinding],
    _panels: &[FactorPanel],
) -> Vec<Recommendation> {
    Vec::new()
}
