//! The rule that turns a ratio and its interval into a verdict.
//!
//! A ratio r of goodputs, taken within blocks, has an interval from l to h. Its **size** is the larger of r and 1/r, less
//! 1: a difference of 25 % is the same difference whichever of the two is named first. Its **half width** is
//! sqrt(h / l) − 1: the factor, less 1, between the middle of the interval and its ends.
//!
//! 1. Fewer than 5 common blocks have no interval: *cannot tell*.
//! 2. The interval excludes 1 and the size is at least the study's smallest effect: *faster* (or *slower*).
//! 3. Otherwise, if the half width is at most [`EQUIVALENCE_HALF_WIDTH`]: *no difference found*. A difference of twice
//!    that half width would have been seen; one that is smaller may have been missed.
//! 4. Otherwise: *cannot tell*. More blocks or longer windows would narrow the interval.
//!
//! All parts are the same for a ratio and its reciprocal, so exchanging the two cases turns *faster* into *slower* and
//! changes nothing else.

use crate::estimate::{BlockRatio, ratio_within_blocks};
use crate::findings::{Comparison, Estimate, Verdict};

/// An interval that is no wider than this to either side can say that there is no difference.
pub const EQUIVALENCE_HALF_WIDTH: f64 = 0.10;

/// A case as a comparison sees it.
pub(crate) struct Contender<'a> {
    /// The subject as a person would write it.
    pub(crate) subject: &'a str,
    /// Its goodput, block by block.
    pub(crate) goodput_rps: &'a [Option<f64>],
}

/// Compares two cases; none if no block has a good answer of both.
pub(crate) fn compare(a: &Contender, b: &Contender, smallest_effect: f64) -> Option<Comparison> {
    let BlockRatio { ratio, won, blocks } = ratio_within_blocks(a.goodput_rps, b.goodput_rps)?;
    let verdict = verdict(&ratio, smallest_effect);
    Some(Comparison {
        a: a.subject.to_owned(),
        b: b.subject.to_owned(),
        ratio,
        simultaneous_low: None,
        simultaneous_high: None,
        p_adjusted: None,
        p_equivalence_adjusted: None,
        blocks_won: won,
        blocks,
        verdict,
    })
}

/// What a ratio says; the rule stands at the top of this module.
pub(crate) fn verdict(ratio: &Estimate, smallest_effect: f64) -> Verdict {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return Verdict::CannotTell };
    let size = ratio.value.max(ratio.value.recip()) - 1.0;
    let half_width = (high / low).sqrt() - 1.0;
    let matters = size >= smallest_effect;
    match () {
        () if low > 1.0 && matters => Verdict::Faster,
        () if high < 1.0 && matters => Verdict::Slower,
        () if half_width <= EQUIVALENCE_HALF_WIDTH => Verdict::NoDifferenceFound,
        () => Verdict::CannotTell,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SMALLEST_EFFECT: f64 = 0.03;

    fn says(value: f64, low: f64, high: f64) -> Verdict {
        verdict(&Estimate { value, low: Some(low), high: Some(high), trials: vec![] }, SMALLEST_EFFECT)
    }

    #[test]
    fn a_large_difference_that_excludes_one_is_a_difference() {
        assert_eq!(says(1.92, 1.85, 1.99), Verdict::Faster);
        assert_eq!(says(0.52, 0.50, 0.54), Verdict::Slower);
        assert_eq!(says(3.0, 1.01, 9.0), Verdict::Faster, "wide, but wholly above 1");
    }

    #[test]
    fn a_difference_too_small_to_matter_is_none() {
        assert_eq!(says(1.02, 1.01, 1.03), Verdict::NoDifferenceFound);
        assert_eq!(says(0.98, 0.97, 0.99), Verdict::NoDifferenceFound);
    }

    #[test]
    fn an_interval_that_holds_one_says_nothing_unless_it_is_narrow() {
        assert_eq!(says(1.03, 0.97, 1.10), Verdict::NoDifferenceFound);
        assert_eq!(says(1.03, 0.80, 1.30), Verdict::CannotTell);
    }

    #[test]
    fn a_small_ratio_with_room_for_a_large_one_is_not_called_equal() {
        assert_eq!(says(1.02, 1.01, 1.50), Verdict::CannotTell);
    }

    #[test]
    fn the_smallest_effect_counts_the_same_in_both_directions() {
        assert_eq!(says(1.0301, 1.01, 1.04), Verdict::Faster);
        assert_eq!(says(1.0 / 1.0301, 1.0 / 1.04, 1.0 / 1.01), Verdict::Slower);
    }

    #[test]
    fn without_an_interval_nothing_can_be_told() {
        let ratio = Estimate { value: 9.0, low: None, high: None, trials: vec![9.0; 4] };
        assert_eq!(verdict(&ratio, SMALLEST_EFFECT), Verdict::CannotTell);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn exchanging_two_cases_inverts_the_comparison(
            blocks in prop::collection::vec((100.0..90_000.0f64, 0.8..1.3f64), 1..12)
        ) {
            let left: Vec<Option<f64>> = blocks.iter().map(|(rate, _)| Some(*rate)).collect();
            let right: Vec<Option<f64>> = blocks.iter().map(|(rate, factor)| Some(rate * factor)).collect();
            let [a, b] = [("a", &left), ("b", &right)].map(|(subject, goodput_rps)| Contender { subject, goodput_rps });
            let forth = compare(&a, &b, SMALLEST_EFFECT).unwrap();
            let back = compare(&b, &a, SMALLEST_EFFECT).unwrap();

            let inverted = match forth.verdict {
                Verdict::Faster => Verdict::Slower,
                Verdict::Slower => Verdict::Faster,
                same => same,
            };
            prop_assert_eq!(back.verdict, inverted);
            prop_assert!((forth.ratio.value * back.ratio.value - 1.0).abs() < 1e-12);
            prop_assert!(forth.blocks_won + back.blocks_won <= forth.blocks && forth.blocks == back.blocks);
            prop_assert_eq!(forth.ratio.low.is_some(), blocks.len() >= 5);
        }
    }
}
