//! The rule that turns the ratios of a scenario into verdicts, all pairs together.
//!
//! A ratio r within blocks has an interval from l to h. Its **size** is the larger of r and 1/r, less 1, so a difference of 25% is
//! the same whichever of the two comes first. Its **half width** is sqrt(h / l) − 1: the factor, less 1, between the middle of the
//! interval and its ends.
//!
//! 6 cases have 15 pairs. With 15 comparisons of equal cases, each right in 95 of 100, 40 of 100 runs would show a false difference.
//! So p values are adjusted for all pairs of the scenario (Holm 1979): at most 5 of 100 runs then show one. p comes from Student's t
//! by the fit of all cases (`fit.rs`). With 6 blocks, no test of signs or ranks has a p below 0.031, so after the adjustment nothing
//! could be significant.
//!
//! 1. Fewer than 5 common blocks have no interval: *cannot tell*.
//! 2. The adjusted p is below 0.05 and the size is at least the study's smallest effect: *faster* (or *slower*). But if the
//!    scenario's A/A pair was itself told apart, a difference no larger than that pair's is *cannot tell*.
//! 3. Otherwise, if two one-sided tests show that the ratio lies within the smallest effect of 1, adjusted for all pairs as a
//!    family of its own: *equivalent*.
//! 4. Otherwise, if the half width of the pair's own interval is at most [`EQUIVALENCE_HALF_WIDTH`], and that interval holds 1 or
//!    the size is below the smallest effect: *no difference found*. The run would have seen a difference of twice that half width,
//!    and may have missed a smaller one. A pair that is significant by itself, but not among all pairs, is not one of these.
//! 5. Otherwise: *cannot tell*. More blocks or longer windows would narrow the interval.
//!
//! All parts are the same for a ratio and its reciprocal, so exchanging the two cases turns *faster* into *slower* and changes
//! nothing else.

use tolok_stats::{Interval, holm};

use crate::estimate::{BlockRatio, LEVEL, half_width, least_trials, size};
use crate::findings::{Better, Estimate, PairComparison, Verdict};
use crate::grouping::pairs_of;
use crate::outlier_blocks::outlier_blocks;

/// An interval of at most this width to either side can show that no difference was found.
pub const EQUIVALENCE_HALF_WIDTH: f64 = 0.10;
/// By chance, the verdicts on all pairs of a scenario together are wrong in at most this share of runs.
pub const FALSE_ALARMS: f64 = 0.05;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    /// Differences smaller than this fraction do not matter.
    pub(crate) smallest_effect: f64,
    /// The size of the A/A pair's difference, or `None` if it does not differ or does not exist.
    pub(crate) aa_effect: Option<f64>,
    /// The factor by which the noise check widens intervals.
    pub(crate) widening: f64,
}

impl Rule {
    /// A rule without a noise check.
    pub(crate) const fn of(smallest_effect: f64) -> Self {
        Self { smallest_effect, aa_effect: None, widening: 1.0 }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Judged {
    pub(crate) pair: BlockRatio,
    /// The interval for all pairs together.
    pub(crate) simultaneous: Option<Interval>,
    pub(crate) p_adjusted: Option<f64>,
    pub(crate) p_equivalence_adjusted: Option<f64>,
    /// The log ratio of a pair that was told apart, corrected for the selection.
    pub(crate) noticed: Option<f64>,
    /// The verdict on the numerator, if larger is better.
    pub(crate) verdict: Verdict,
}

impl Judged {
    /// The finding, for a figure that is better in this direction.
    pub(crate) fn finding(self, better: Better) -> PairComparison {
        let shown = self.pair.difference.filter(|_| self.p_adjusted.is_some());
        PairComparison {
            standard_error: shown.map(|difference| difference.standard_error),
            degrees_of_freedom: shown.map(|difference| difference.df),
            ratio_if_noticed: self.noticed.map(f64::exp),
            outlier_blocks: outlier_blocks(&self.pair),
            simultaneous_low: self.simultaneous.map(|interval| interval.low),
            simultaneous_high: self.simultaneous.map(|interval| interval.high),
            p_adjusted: self.p_adjusted,
            p_equivalence_adjusted: self.p_equivalence_adjusted,
            blocks_won: self.pair.won(better),
            blocks: self.pair.blocks,
            verdict: better.of(self.verdict),
            ratio: self.pair.ratio,
        }
    }
}

/// Judges all pairs of `number` cases that have a ratio together. Returns them with their indexes, the lower one first.
pub(crate) fn judge_pairs(
    number: usize,
    ratio: impl Fn(usize, usize) -> Option<BlockRatio>,
    rule: Rule,
) -> Vec<((usize, usize), Judged)> {
    let (places, ratios): (Vec<(usize, usize)>, Vec<BlockRatio>) =
        pairs_of(number).filter_map(|(a, b)| Some(((a, b), ratio(a, b)?))).unzip();
    places.into_iter().zip(judge(ratios, rule)).collect()
}

/// Judges all pairs of a scenario together, in order.
pub(crate) fn judge(pairs: Vec<BlockRatio>, rule: Rule) -> Vec<Judged> {
    let differences = adjusted(pairs.iter().map(p_of_difference).collect());
    let equivalences = adjusted(pairs.iter().map(|pair| p_of_equivalence(pair, rule.smallest_effect)).collect());
    let tested = pairs.iter().filter(|pair| is_tested(pair)).count();
    let judged = |(pair, (p_adjusted, p_equivalence_adjusted)): (BlockRatio, (Option<f64>, Option<f64>))| {
        let verdict = verdict(&pair.ratio, rule, p_adjusted, p_equivalence_adjusted);
        Judged {
            simultaneous: simultaneous(&pair, tested),
            noticed: noticed(&pair, rule, p_adjusted).filter(|_| verdict.is_told_apart()),
            verdict,
            pair,
            p_adjusted,
            p_equivalence_adjusted,
        }
    };
    pairs.into_iter().zip(differences.into_iter().zip(equivalences)).map(judged).collect()
}

/// Judges a single pair that belongs to no family.
pub(crate) fn judge_alone(pair: BlockRatio, rule: Rule) -> Option<Judged> {
    judge(vec![pair], rule).pop()
}

/// A pair without an interval belongs to no family: it could not be decided, whatever its figures.
fn is_tested(pair: &BlockRatio) -> bool {
    pair.logarithms.len() >= least_trials() as usize
}

/// The probability of a difference this large between equal cases. Timer readings must differ by more than the timer's steps.
pub(crate) fn p_of_difference(pair: &BlockRatio) -> Option<f64> {
    let (difference, slack) = (pair.difference.filter(|_| is_tested(pair))?, pair.step.ln_1p());
    match difference.value {
        value if value.abs() <= slack => Some(1.0),
        value => difference.p(slack.copysign(value)),
    }
}

/// The probability of a similarity this close between cases that differ by the smallest effect.
pub(crate) fn p_of_equivalence(pair: &BlockRatio, smallest_effect: f64) -> Option<f64> {
    let difference = pair.difference.filter(|_| is_tested(pair))?;
    match smallest_effect.ln_1p() - pair.step.ln_1p() {
        margin if margin <= 0.0 => Some(1.0),
        margin => difference.p_equivalence(margin),
    }
}

/// Holm's adjusted p values of the pairs that have one.
pub(crate) fn adjusted(p: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let mut known = holm(&p.iter().flatten().copied().collect::<Vec<f64>>()).into_iter();
    p.into_iter().map(|p| p.and_then(|_| known.next())).collect()
}

/// Bonferroni's intervals: all of them hold at once in at least 95 of 100 runs.
fn simultaneous(pair: &BlockRatio, pairs: usize) -> Option<Interval> {
    let interval = pair.difference.filter(|_| is_tested(pair))?.interval(LEVEL.simultaneous(pairs));
    let step = 1.0 + pair.step;
    Some(Interval { low: interval.low.exp() / step, high: interval.high.exp() * step, level: interval.level })
}

/// The logarithm of a ratio, corrected for having passed both conditions of a verdict.
fn noticed(pair: &BlockRatio, rule: Rule, p_adjusted: Option<f64>) -> Option<f64> {
    let (difference, p) = (pair.difference?, p_of_difference(pair)?);
    // This many comparisons shared the error rate when this pair was tested.
    let shared = if p > 0.0 { (p_adjusted? / p).max(1.0) } else { 1.0 };
    let level = LEVEL.simultaneous(shared.round() as usize);
    let interval = difference.interval(level);
    let threshold = ((interval.high - interval.low) / 2.0 + pair.step.ln_1p()).max(rule.smallest_effect.ln_1p());
    Some(difference.given_noticed(threshold))
}

/// The verdict on a ratio, by the rule at the top of this module.
pub(crate) fn verdict(
    ratio: &Estimate,
    rule: Rule,
    p_adjusted: Option<f64>,
    p_equivalence_adjusted: Option<f64>,
) -> Verdict {
    let Some(half_width) = half_width(ratio) else { return Verdict::CannotTell };
    let is_sure = |p: Option<f64>| p.is_some_and(|p| p < FALSE_ALARMS);
    let size = size(ratio.value);
    match () {
        () if is_sure(p_adjusted) && size >= rule.smallest_effect => match rule.aa_effect {
            Some(of_itself) if size <= of_itself => Verdict::CannotTell,
            _ if ratio.value > 1.0 => Verdict::Faster,
            _ => Verdict::Slower,
        },
        () if is_sure(p_equivalence_adjusted) => Verdict::Equivalent,
        () if half_width <= EQUIVALENCE_HALF_WIDTH && (!ratio.excludes_one() || size < rule.smallest_effect) => {
            Verdict::NoDifferenceFound
        }
        () => Verdict::CannotTell,
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
