//! Published ratios beside measured ones.

use serde::Serialize;

use super::estimate::Estimate;
use crate::JsonSchema;
use crate::worded::worded;

/// A published ratio of two subjects, and the measured one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PublishedFinding {
    /// Who published it.
    pub source: String,
    /// Where in the source: `Table 5`.
    pub place: Option<String>,
    /// Id of the scenario that it is compared with.
    pub scenario: String,
    /// The compared figure: `goodput`, `latency-p50`, `latency-p99`, `cpu`, `memory` or `cold-start`.
    pub metric: String,
    /// The same in words: `p99 (closed loop)`.
    pub metric_words: String,
    /// Title of the first subject.
    pub a: String,
    /// Title of the second.
    pub b: String,
    /// The first over the second, as published.
    pub published: f64,
    /// The same, measured within rounds; absent if either has no figure.
    pub measured: Option<Estimate>,
    /// Rounds behind it.
    pub blocks: u32,
    /// The verdict.
    pub reading: PublishedReading,
    /// The same in a sentence.
    pub sentence: String,
}

worded! {
    /// How a measurement compares with a published ratio.
    ///
    /// The pair's verdict decides. As for goodput, it is judged among all pairs of the scenario by that figure. Ratios are of
    /// figures, and for times and amounts the smaller one is better. *Direction* means which of the two is ahead. The rules apply
    /// in this order:
    ///
    /// 1. Fewer than 5 common rounds, no figure, a case that is not ranked, or the verdict *cannot tell*: **cannot tell**.
    /// 2. The published ratio is within the pair's own 95% interval, widened at both ends by the study's smallest effect:
    ///    **reproduced**.
    /// 3. The measurement found a difference. If the published difference is smaller than the smallest effect: **a difference**.
    ///    Otherwise **same direction** if the same subject is ahead, and **reversed** if the other one is.
    /// 4. It found none. If the published difference is smaller than the smallest effect: **reproduced**, as neither shows a
    ///    difference that matters. Otherwise: **no difference**.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum PublishedReading by words {
        /// The published ratio is within the measured interval, widened by the smallest effect; or neither shows a difference
        /// that matters.
        Reproduced = "reproduced",
        /// The source has no figure of its own, and the measurement supports its statement.
        Supported = "supported",
        /// The same subject is ahead, by another ratio.
        SameDirection = "same direction",
        /// The source has a difference, and the measurement found none.
        NoDifference = "no difference",
        /// The measurement found a difference, and the source has none that matters.
        Difference = "a difference",
        /// The other subject is ahead.
        Reversed = "reversed",
        /// The measurement cannot decide.
        CannotTell = "cannot tell",
    }
}
