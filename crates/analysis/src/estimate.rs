//! Medians over trials and ratios within blocks, each with its interval.
//!
//! A trial is the unit of replication, so an interval is made from the values of the trials and never from single
//! requests. Every interval runs from the k-th lowest to the k-th highest value, with the largest k for which that
//! covers the true median in at least 95 % of runs, whatever the distribution: the lowest and the highest of 6, the
//! second lowest and second highest of 10. It needs at least 5 values; with exactly 5 it is their whole range, which
//! covers 93.75 %. A percentile bootstrap of the median would be narrower and would not keep its word: with 7 trials it
//! covers 87 %, as `tolok-stats` shows. It would need a seed, too, and an exchange of two cases would not exactly turn
//! their interval around.

use tolok_stats::{Interval, Level, RatioOutcome, Sample, median_interval, paired_ratio};

use crate::findings::Estimate;

/// The confidence of every interval.
const LEVEL: Level = Level::P95;

/// The median of `values` with its interval; none without values.
pub(crate) fn median(values: Vec<f64>) -> Option<Estimate> {
    // A value that cannot be ranked (NaN in a damaged record) leaves no estimate rather than a wrong one.
    let sample = Sample::new(&values).ok()?;
    Some(estimate(sample.median(), median_interval(&sample, LEVEL), values))
}

/// The middle of `values` without any interval; none without values.
pub(crate) fn middle(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

/// A ratio of two cases over the blocks in which both were measured.
pub(crate) struct BlockRatio {
    /// The median of the blocks' ratios.
    pub(crate) ratio: Estimate,
    /// Blocks in which the numerator is the larger.
    pub(crate) won: u32,
    /// Blocks in which both were measured.
    pub(crate) blocks: u32,
}

/// The median over blocks of ln(numerator / denominator), brought back to a ratio. None if the two share no block, or
/// if one of them had no good answer in a block that they share.
pub(crate) fn ratio_within_blocks(numerator: &[Option<f64>], denominator: &[Option<f64>]) -> Option<BlockRatio> {
    let paired = paired_ratio(numerator, denominator, LEVEL).ok()?;
    // The exact interval, not the narrower interpolated one: verdicts rest on it.
    let RatioOutcome::Estimated { ratio, exact, .. } = paired.outcome else { return None };
    let both = numerator.iter().zip(denominator).filter_map(|(above, below)| (*above).zip(*below));
    Some(BlockRatio {
        ratio: estimate(ratio, exact, both.map(|(above, below)| above / below).collect()),
        won: paired.blocks.numerator_larger as u32,
        blocks: paired.blocks.pairs() as u32,
    })
}

/// The least number of values that have an interval.
pub(crate) fn least_trials() -> u32 {
    LEVEL.least_sample() as u32
}

fn estimate(value: f64, interval: Option<Interval>, trials: Vec<f64>) -> Estimate {
    Estimate { value, low: interval.map(|interval| interval.low), high: interval.map(|interval| interval.high), trials }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_trials_have_their_whole_range_as_interval() {
        let found = median(vec![30.0, 10.0, 50.0, 20.0, 40.0]).unwrap();
        assert_eq!((found.value, found.low, found.high), (30.0, Some(10.0), Some(50.0)));
        assert_eq!(found.trials, [30.0, 10.0, 50.0, 20.0, 40.0], "in the order of the blocks");
    }

    #[test]
    fn of_ten_trials_the_interval_leaves_out_the_outermost() {
        let found = median((1..=10).map(f64::from).collect()).unwrap();
        assert_eq!((found.value, found.low, found.high), (5.5, Some(2.0), Some(9.0)));
    }

    #[test]
    fn four_trials_have_no_interval_and_none_have_no_estimate() {
        let found = median(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((found.value, found.low, found.high), (2.5, None, None));
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![1.0, f64::NAN]), None);
    }

    #[test]
    fn a_ratio_uses_only_blocks_that_both_have() {
        let above = [Some(20.0), None, Some(60.0)];
        let below = [Some(10.0), Some(1.0), Some(30.0)];
        let found = ratio_within_blocks(&above, &below).unwrap();
        assert!((found.ratio.value - 2.0).abs() < 1e-12);
        assert_eq!((found.ratio.trials, found.won, found.blocks), (vec![2.0, 2.0], 2, 2));
    }

    #[test]
    fn a_block_without_a_good_answer_leaves_no_ratio() {
        assert!(ratio_within_blocks(&[Some(0.0), Some(5.0)], &[Some(1.0), Some(1.0)]).is_none());
        assert!(ratio_within_blocks(&[None], &[Some(1.0)]).is_none());
    }
}
