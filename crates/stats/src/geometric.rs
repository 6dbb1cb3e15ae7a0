//! The geometric mean of ratios formed block by block, with Student's interval.

use crate::paired::{BlockCounts, PairedLogarithms, paired_logarithms};
use crate::{Interval, Level, Sample, StatsError, mean_interval};

/// The geometric mean of the blocks' ratios, and what became of each block.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometricRatio {
    /// The ratio, or why there is none.
    pub outcome: GeometricOutcome,
    /// Every block given, counted once.
    pub blocks: BlockCounts,
}

/// A ratio of numerator to denominator, without unit; 1 means equal.
#[derive(Debug, Clone, PartialEq)]
pub enum GeometricOutcome {
    /// All pairs were positive.
    Estimated {
        /// exp(mean of ln(numerator / denominator) over the blocks).
        ratio: f64,
        /// Student's interval of that mean, brought back by exp; `None` below [`Level::LEAST_SAMPLE`] pairs.
        interval: Option<Interval>,
        /// ln(numerator / denominator) of every pair, for tests: [`crate::paired_t`], [`crate::equivalence_paired`].
        log_differences: Sample,
    },
    /// At least one pair holds a zero; no ratio is given, for the reason told at
    /// [`crate::RatioOutcome::Censored`].
    Censored {
        /// Pairs whose numerator is zero, those with two zeros included.
        numerator_zeros: usize,
        /// Pairs whose denominator is zero, those with two zeros included.
        denominator_zeros: usize,
    },
    /// No block has a value on both sides.
    NoPairs,
}

/// The geometric mean of the ratios of two series matched by position: entry i of both belongs to block i, `None` is a
/// missing value. Missing blocks and zeros are treated as by [`crate::paired_ratio`].
///
/// The interval assumes that the logarithms of the blocks' ratios are independent and roughly normal. In return it can
/// be had at every level from 5 blocks on, also at the levels that many comparisons need, which no interval from ranks
/// reaches with few blocks. Exchanging the two series gives the reciprocal, bounds included.
///
/// # Errors
/// As [`crate::paired_ratio`]: [`StatsError::UnequalLengths`]; [`StatsError::OutOfRange`] for a value that is negative,
/// NaN, above [`crate::LARGEST`] or positive but below [`crate::LEAST_POSITIVE`].
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
    let (blocks, logarithms) = paired_logarithms(numerator, denominator)?;
    let outcome = match logarithms {
        PairedLogarithms::Censored { numerator_zeros, denominator_zeros } => {
            GeometricOutcome::Censored { numerator_zeros, denominator_zeros }
        }
        PairedLogarithms::NoPairs => GeometricOutcome::NoPairs,
        PairedLogarithms::All(log_differences) => GeometricOutcome::Estimated {
            ratio: log_differences.mean().exp(),
            interval: mean_interval(&log_differences, level).map(Interval::exponentiated),
            log_differences,
        },
    };
    Ok(GeometricRatio { outcome, blocks })
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
    fn zeros_missing_blocks_and_bad_values_are_treated_as_in_a_median_ratio() {
        let found = geometric_ratio(&all(&[2.0, 0.0]), &all(&[1.0, 1.0]), Level::P95).unwrap();
        assert_eq!(found.outcome, GeometricOutcome::Censored { numerator_zeros: 1, denominator_zeros: 0 });
        let found = geometric_ratio(&[None, Some(1.0)], &[Some(1.0), None], Level::P95).unwrap();
        assert_eq!((found.outcome, found.blocks.pairs()), (GeometricOutcome::NoPairs, 0));
        let refused = geometric_ratio(&all(&[-1.0]), &all(&[1.0]), Level::P95);
        assert_eq!(refused, Err(StatsError::OutOfRange { index: 0, value: -1.0 }));
        let refused = geometric_ratio(&all(&[1.0]), &[], Level::P95);
        assert_eq!(refused, Err(StatsError::UnequalLengths { numerator: 1, denominator: 0 }));
    }
}
