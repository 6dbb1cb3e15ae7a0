//! Values with their uncertainty, and verdicts on pairs of them.

use serde::Serialize;

use crate::JsonSchema;

/// A value with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Median over trials; of a ratio of two cases the geometric mean over blocks.
    pub value: f64,
    /// Lower end of the interval; none with fewer than 5 trials.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The trials' values, by block.
    pub trials: Vec<f64>,
}

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The first is faster: that is sure among all pairs of the scenario, and the difference is large enough to matter.
    Faster,
    /// The second is faster.
    Slower,
    /// They differ by less than the smallest effect, if at all.
    Equivalent,
    /// No difference that matters was found, by an interval narrow enough to show a large one.
    NoDifferenceFound,
    /// The interval is too wide to say, or the difference no larger than that of a case from itself.
    CannotTell,
}

impl Verdict {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::NoDifferenceFound => "no difference found",
            Self::CannotTell => "cannot tell",
        }
    }

    /// The verdict on the second of a pair, where this is the verdict on the first.
    pub(crate) fn turned(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            other => other,
        }
    }

    /// Whether the pair differs.
    pub(crate) fn is_told_apart(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// Which way a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Better {
    /// The verdict on the first of a pair, where `verdict` takes the larger value for the better one.
    pub(crate) fn of(self, verdict: Verdict) -> Verdict {
        if self == Self::Lower { verdict.turned() } else { verdict }
    }
}
