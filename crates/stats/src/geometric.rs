//! The geometric mean of the ratios of two series that were observed block by block, with Student's interval.
//!
//! Two things measured in the same block share that block's disturbances, and their ratio is free of them. So ratios
//! are formed within each block, and only these are summarised.

use crate::quantile::is_amount;
use crate::{Interval, Level, LogRatio, Sample, StatsError, log_ratio, mean_interval};

/// The geometric mean of the blocks' ratios, and what became of each block.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometricRatio {
    /// The ratio, or why there is none.
    pub outcome: GeometricOutcome,
    /// Counts of all given blocks.
    pub blocks: BlockCounts,
}

/// A ratio of numerator to denominator, without unit. 1 means equal.
#[derive(Debug, Clone, PartialEq)]
pub enum GeometricOutcome {
    /// All pairs were positive.
    Estimated {
        /// exp(mean of ln(numerator / denominator) over the blocks).
        ratio: f64,
        /// Student's interval of that mean, transformed by exp. `None` below [`Level::LEAST_SAMPLE`] pairs.
        interval: Option<Interval>,
        /// ln(numerator / denominator) of every pair, for tests: [`crate::paired_t`], [`crate::equivalence_paired`].
        log_differences: Sample,
    },
    /// At least one pair has a zero, which only means that the true value was too small to observe. Leaving out such
    /// pairs would keep the lucky ones, so there is no ratio. [`BlockCounts`] still shows which side won.
    Censored {
        /// Pairs whose numerator is zero, including those with two zeros.
        numerator_zeros: usize,
        /// Pairs whose denominator is zero, including those with two zeros.
        denominator_zeros: usize,
    },
    /// No block has a value on both sides.
    NoPairs,
}

/// What became of the blocks. The fields add up to the number of given blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// Blocks where the numerator is larger. Zero is smaller than any positive value.
    pub numerator_larger: usize,
    /// Blocks where the denominator is larger.
    pub denominator_larger: usize,
    /// Both values are positive and equal.
    pub equal: usize,
    /// Both values are zero, so nothing is known about their ratio.
    pub both_zero: usize,
    /// Left out: only the numerator is missing.
    pub numerator_missing: usize,
    /// Left out: only the denominator is missing.
    pub denominator_missing: usize,
    /// Left out: both values are missing.
    pub both_missing: usize,
}

impl BlockCounts {
    /// Blocks with a value on both sides.
    pub fn pairs(&self) -> usize {
        self.numerator_larger + self.denominator_larger + self.equal + self.both_zero
    }
}

/// The geometric mean of the ratios of two series matched by position. Entry i of both belongs to block i; `None` is a
/// missing value.
///
/// The interval assumes that the logarithms of the blocks' ratios are independent and roughly normal. In return it
/// exists at every level from 5 blocks on, even at the levels that many comparisons need. Rank intervals cannot reach
/// those with few blocks. Swapping the two series gives the reciprocal, bounds included.
///
/// Ratios are summarised on the log scale, where a ratio and its reciprocal are equally far from 1. For why other means
/// of ratios mislead, see P. J. Fleming and J. J. Wallace, "How not to lie with statistics", Communications of the ACM
/// 29(3), 1986.
///
/// # Errors
/// [`StatsError::UnequalLengths`]; [`StatsError::OutOfRange`] for a value that is negative, NaN, above
/// [`crate::LARGEST`] or positive but below [`crate::LEAST_POSITIVE`], with its position in its own series.
///
/// ```
/// use tolok_stats::{GeometricOutcome, Level, geometric_ratio};
///
/// let a = [Some(20.0), Some(22.0), Some(19.8), None, Some(30.0), Some(20.2)];
/// let b = [Some(10.0), Some(11.0), Some(10.0), Some(9.0), Some(15.0), Some(10.0)];
/// let found = geometric_ratio(&a, &b, Level::P95)?;
/// let GeometricOutcome::Estimated { ratio, interval: Some(interval), .. } = found.outcome else { panic!("five pairs") };
/// assert!((ratio - 2.0).abs() < 1e-4 && interval.contains(2.0) && !interval.contains(1.9));
/// # Ok::<(), tolok_stats::StatsError>(())
/// ```
pub fn geometric_ratio(
    numerator: &[Option<f64>],
    denominator: &[Option<f64>],
    level: Level,
) -> Result<GeometricRatio, StatsError> {
    if numerator.len() != denominator.len() {
        return Err(StatsError::UnequalLengths { numerator: numerator.len(), denominator: denominator.len() });
    }
    let mut blocks = BlockCounts::default();
    let mut logarithms = Vec::with_capacity(numerator.len());
    let (mut numerator_zeros, mut denominator_zeros) = (0, 0);
    for (index, (&a, &b)) in numerator.iter().zip(denominator).enumerate() {
        // Checks a value even if its partner is missing, so an error never depends on the other series.
        let (a, b) = (checked(index, a)?, checked(index, b)?);
        blocks.count(a, b);
        let Some((a, b)) = a.zip(b) else { continue };
        match log_ratio(a, b) {
            Some(LogRatio::Finite(logarithm)) => logarithms.push(logarithm),
            _ => {
                numerator_zeros += usize::from(a == 0.0);
                denominator_zeros += usize::from(b == 0.0);
            }
        }
    }
    let outcome = if numerator_zeros + denominator_zeros > 0 {
        GeometricOutcome::Censored { numerator_zeros, denominator_zeros }
    } else if logarithms.is_empty() {
        GeometricOutcome::NoPairs
    } else {
        let log_differences = Sample::from_vec(logarithms)?;
        GeometricOutcome::Estimated {
            ratio: log_differences.mean().exp(),
            interval: mean_interval(&log_differences, level).map(Interval::exponentiated),
            log_differences,
        }
    };
    Ok(GeometricRatio { outcome, blocks })
}

fn checked(index: usize, value: Option<f64>) -> Result<Option<f64>, StatsError> {
    match value {
        Some(value) if !is_amount(value) => Err(StatsError::OutOfRange { index, value }),
        value => Ok(value),
    }
}

impl BlockCounts {
    fn count(&mut self, a: Option<f64>, b: Option<f64>) {
        let counter = match (a, b) {
            (None, None) => &mut self.both_missing,
            (None, Some(_)) => &mut self.numerator_missing,
            (Some(_), None) => &mut self.denominator_missing,
            (Some(a), Some(b)) if a > b => &mut self.numerator_larger,
            (Some(a), Some(b)) if a < b => &mut self.denominator_larger,
            (Some(0.0), Some(_)) => &mut self.both_zero,
            (Some(_), Some(_)) => &mut self.equal,
        };
        *counter += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(values: &[f64]) -> Vec<Option<f64>> {
        values.iter().copied().map(Some).collect()
    }

    #[test]
    fn four_blocks_have_a_ratio_and_no_interval() {
        let found = geometric_ratio(&all(&[1.0, 2.0, 4.0, 8.0]), &all(&[1.0; 4]), Level::P95).unwrap();
        let GeometricOutcome::Estimated { ratio, interval: None, log_differences } = found.outcome else {
            panic!("{found:?}")
        };
        assert!((ratio - 8f64.sqrt()).abs() < 1e-12);
        assert_eq!(log_differences.len(), 4);
    }

    #[test]
    fn five_blocks_have_an_interval_at_the_level_of_many_comparisons() {
        let (a, b) = (all(&[1.15, 1.18, 1.17, 1.15, 1.18]), all(&[1.0; 5]));
        let found = geometric_ratio(&a, &b, Level::P95.simultaneous(45)).unwrap();
        let GeometricOutcome::Estimated { interval: Some(interval), .. } = found.outcome else { panic!("{found:?}") };
        assert!(interval.low > 1.0 && (interval.level - (1.0 - 0.05 / 45.0)).abs() < 1e-12, "{interval:?}");
    }

    #[test]
    fn a_constant_ratio_is_found_whatever_the_blocks_do() {
        let b = [1.0, 50.0, 3.0, 700.0, 0.01, 20.0];
        let a = b.map(|value| value * 1.25);
        let found = geometric_ratio(&all(&a), &all(&b), Level::P95).unwrap();
        let GeometricOutcome::Estimated { ratio, interval: Some(interval), .. } = found.outcome else {
            panic!("{found:?}")
        };
        assert!((ratio - 1.25).abs() < 1e-12);
        assert!(interval.high - interval.low < 1e-12, "{interval:?}");
        assert_eq!(found.blocks, BlockCounts { numerator_larger: 6, ..BlockCounts::default() });
    }

    #[test]
    fn missing_blocks_are_left_out_and_counted() {
        let a = [Some(2.0), None, Some(2.0), None, Some(3.0)];
        let b = [Some(1.0), Some(1.0), None, None, Some(3.0)];
        let found = geometric_ratio(&a, &b, Level::P95).unwrap();
        let expected = BlockCounts {
            numerator_larger: 1,
            equal: 1,
            numerator_missing: 1,
            denominator_missing: 1,
            both_missing: 1,
            ..BlockCounts::default()
        };
        assert_eq!(found.blocks, expected);
        assert_eq!(found.blocks.pairs(), 2);
        let GeometricOutcome::Estimated { ratio, interval: None, .. } = found.outcome else { panic!("{found:?}") };
        assert!((ratio - 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_single_zero_censors_the_ratio_but_not_the_wins() {
        let a = all(&[2.0, 0.0, 2.0, 0.0, 2.0, 2.0]);
        let b = all(&[1.0, 1.0, 0.0, 0.0, 1.0, 3.0]);
        let found = geometric_ratio(&a, &b, Level::P95).unwrap();
        assert_eq!(found.outcome, GeometricOutcome::Censored { numerator_zeros: 2, denominator_zeros: 2 });
        let expected =
            BlockCounts { numerator_larger: 3, denominator_larger: 2, both_zero: 1, ..BlockCounts::default() };
        assert_eq!(found.blocks, expected);
    }

    #[test]
    fn a_zero_without_a_partner_censors_nothing() {
        let found = geometric_ratio(&[Some(0.0), Some(4.0)], &[None, Some(2.0)], Level::P95).unwrap();
        assert!(matches!(found.outcome, GeometricOutcome::Estimated { interval: None, .. }), "{found:?}");
    }

    #[test]
    fn without_pairs_there_is_no_ratio() {
        assert_eq!(geometric_ratio(&[], &[], Level::P95).unwrap().outcome, GeometricOutcome::NoPairs);
        let found = geometric_ratio(&[Some(1.0), None], &[None, Some(1.0)], Level::P95).unwrap();
        assert_eq!((found.outcome, found.blocks.pairs()), (GeometricOutcome::NoPairs, 0));
    }

    #[test]
    fn values_without_a_logarithm_are_refused_also_beside_a_missing_one() {
        for value in [-1.0, 1e-300, f64::INFINITY] {
            let refused = Err(StatsError::OutOfRange { index: 1, value });
            assert_eq!(geometric_ratio(&[Some(1.0), Some(value)], &[Some(1.0), None], Level::P95), refused);
            assert_eq!(geometric_ratio(&[Some(1.0), None], &[Some(1.0), Some(value)], Level::P95), refused);
        }
        assert!(geometric_ratio(&[Some(f64::NAN)], &[None], Level::P95).is_err());
    }

    #[test]
    fn series_of_unequal_length_are_refused() {
        let refused = geometric_ratio(&all(&[1.0, 2.0]), &all(&[1.0]), Level::P95);
        assert_eq!(refused, Err(StatsError::UnequalLengths { numerator: 2, denominator: 1 }));
    }

    #[test]
    fn the_most_distant_values_accepted_keep_the_ratio_finite() {
        let found = geometric_ratio(&all(&[crate::LARGEST]), &all(&[crate::LEAST_POSITIVE]), Level::P95).unwrap();
        let GeometricOutcome::Estimated { ratio, .. } = found.outcome else { panic!("{found:?}") };
        assert!((ratio / 1e280 - 1.0).abs() < 1e-9, "{ratio}");
    }
}
