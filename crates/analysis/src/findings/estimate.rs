//! Values with their uncertainty, and verdicts on pairs of them.

use serde::Serialize;

use crate::JsonSchema;
use crate::worded::worded;

/// A value with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// Median over trials; for a ratio of two cases, the geometric mean over rounds.
    pub value: f64,
    /// Lower end of the interval; absent with fewer than 5 trials.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The trials' values, by round.
    pub trials: Vec<f64>,
}

worded! {
    /// The verdict of a comparison.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict by words {
        /// The first is faster. This holds for all pairs of the scenario together, and the difference matters.
        Faster = "faster",
        /// The second is faster.
        Slower = "slower",
        /// They differ by less than the smallest effect.
        Equivalent = "equivalent",
        /// No difference that matters, and the interval is narrow enough to rule out a large one.
        NoDifferenceFound = "no difference found",
        /// The interval is too wide, or the difference is no larger than that of the noise check.
        CannotTell = "no clear difference",
    }
}

impl Verdict {
    /// The verdict on the second of a pair, if this is the verdict on the first.
    pub(crate) fn turned(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            other => other,
        }
    }

    /// Whether it tells the pair apart.
    pub fn is_told_apart(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

impl Better {
    /// The verdict on the first of a pair. `verdict` assumes that larger is better.
    pub(crate) fn of(self, verdict: Verdict) -> Verdict {
        if self == Self::Lower { verdict.turned() } else { verdict }
    }
}
