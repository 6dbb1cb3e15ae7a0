//! Medians over trials and ratios within blocks, each with its interval.
//!
//! A trial is the unit of replication, so intervals come from the values of trials, never from single requests. Nothing here is
//! random, and fewer than 5 values have no interval.
//!
//! A figure of one case is the **median** over its trials. Its interval uses interpolated order statistics, which assume no
//! distribution and cover about 95%. With 5 values it is their whole range, which covers 93.75%. A percentile bootstrap of the
//! median would be narrower and cover less than its level: 87% with 7 trials, as `tolok-stats` shows.
//!
//! A ratio of two cases is the **geometric mean** of the blocks' ratios, with Student's t interval of their logarithms. This
//! assumes roughly normal logarithms. But with few blocks it can show a difference among many pairs, which an order statistic or
//! a rank test cannot (`verdict.rs`). Among the cases of a scenario, the error comes from the joint fit (`fit.rs`).

use tolok_stats::{
    Difference, GeometricOutcome, Interval, Level, Sample, geometric_ratio, mean_interval, median_interval_interpolated,
};

use crate::findings::estimate::{Better, Estimate};

/// The confidence of every interval.
pub(crate) const LEVEL: Level = Level::P95;
/// Timer steps below this share of a time are not mentioned.
pub(crate) const NEGLIGIBLE_STEP: f64 = 0.001;

/// The median of `values` with its interval, or `None` without values.
pub(crate) fn median(values: Vec<f64>) -> Option<Estimate> {
    // An unsortable value (NaN in a damaged record) gives no estimate instead of a wrong one.
    let sample = Sample::new(&values).ok()?;
    Some(estimate(sample.median(), median_interval_interpolated(&sample, LEVEL), values))
}

/// The median of `values` without an interval, or `None` without values.
pub(crate) fn middle(values: &[f64]) -> Option<f64> {
    Sample::new(values).ok().map(|sample| sample.median())
}

/// A ratio of two cases over the blocks in which both were measured.
#[derive(Debug, Clone)]
pub(crate) struct BlockRatio {
    /// The geometric mean of the blocks' ratios.
    pub(crate) ratio: Estimate,
    pub(crate) logarithms: Sample,
    /// The logarithm of the ratio with its error, or `None` for a single block.
    pub(crate) difference: Option<Difference>,
    /// Possible error of a reading from the steps of both timers, as a share of it; 0 for counted figures.
    pub(crate) step: f64,
    /// Numbers of the blocks in which both were measured, in the order of their ratios.
    pub(crate) numbers: Vec<u32>,
    /// Blocks in which both were measured.
    pub(crate) blocks: u32,
}

impl BlockRatio {
    /// The same with the estimate of a joint fit. An interval still needs enough common blocks.
    pub(crate) fn estimated_by(self, difference: Difference) -> Self {
        let interval = (self.blocks >= least_trials()).then(|| difference.interval(LEVEL));
        let [low, high] = [interval.map(|it| it.low.exp()), interval.map(|it| it.high.exp())];
        let ratio = Estimate { value: difference.value.exp(), low, high, trials: self.ratio.trials };
        Self { ratio, difference: Some(difference), ..self }
    }

    /// Blocks in which the numerator has the better value.
    pub(crate) fn won(&self, better: Better) -> u32 {
        let is_better = |ratio: &&f64| if better == Better::Higher { **ratio > 1.0 } else { **ratio < 1.0 };
        self.ratio.trials.iter().filter(is_better).count() as u32
    }

    /// The same for times that were read in steps of these shares.
    pub(crate) fn read_in_steps(self, [above, below]: [f64; 2]) -> Self {
        let step = (1.0 + above) * (1.0 + below) - 1.0;
        let step = if is_spoken_of(step) { step } else { 0.0 };
        Self { ratio: wider(self.ratio, step), step, ..self }
    }
}

/// The geometric mean over blocks of numerator / denominator, or `None` if they share no block or if one of them has no correct
/// response in a shared block.
pub(crate) fn ratio_within_blocks(numerator: &[Option<f64>], denominator: &[Option<f64>]) -> Option<BlockRatio> {
    let found = geometric_ratio(numerator, denominator, LEVEL).ok()?;
    let GeometricOutcome::Estimated { ratio, interval, log_differences } = found.outcome else { return None };
    let both = (1..).zip(numerator.iter().zip(denominator));
    let both = both.filter_map(|(block, (above, below))| Some((block, (*above)? / (*below)?)));
    let (numbers, ratios) = both.unzip();
    Some(BlockRatio {
        ratio: estimate(ratio, interval, ratios),
        numbers,
        difference: of_blocks(&log_differences),
        logarithms: log_differences,
        step: 0.0,
        blocks: found.blocks.pairs() as u32,
    })
}

/// The same from the logarithms of ratios, each with its block's number. `None` without any.
pub(crate) fn ratio_of_blocks(logarithms: impl Iterator<Item = (u32, f64)>) -> Option<BlockRatio> {
    let (numbers, logarithms): (Vec<u32>, Vec<f64>) = logarithms.unzip();
    let sample = Sample::new(&logarithms).ok()?;
    let ratios: Vec<f64> = logarithms.iter().map(|value| value.exp()).collect();
    let interval = mean_interval(&sample, LEVEL);
    let [low, high] = [interval.map(|it| it.low.exp()), interval.map(|it| it.high.exp())];
    Some(BlockRatio {
        ratio: Estimate { value: sample.mean().exp(), low, high, trials: ratios },
        blocks: numbers.len() as u32,
        numbers,
        difference: of_blocks(&sample),
        logarithms: sample,
        step: 0.0,
    })
}

/// The mean of these differences, one per block.
fn of_blocks(differences: &Sample) -> Option<Difference> {
    let n = differences.len() as f64;
    let standard_error = (differences.variance()? / n).sqrt();
    Some(Difference { value: differences.mean(), standard_error, df: n - 1.0 })
}

/// The geometric mean of values above 0, with Student's interval of their logarithms, or `None` without values.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<Estimate> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let sample = Sample::new(&logarithms).ok()?;
    let interval = mean_interval(&sample, LEVEL);
    let [low, high] = [interval.map(|it| it.low.exp()), interval.map(|it| it.high.exp())];
    Some(Estimate { value: sample.mean().exp(), low, high, trials: values.to_vec() })
}

/// The least number of values that have an interval.
pub fn least_trials() -> u32 {
    LEVEL.least_sample() as u32
}

/// √(high ÷ low) − 1 for the interval of a ratio, or `None` without an interval.
pub(crate) fn half_width(ratio: &Estimate) -> Option<f64> {
    Some((ratio.high? / ratio.low?).sqrt() - 1.0)
}

/// How far a ratio is from 1 in either direction: the larger of it and its reciprocal, less 1.
pub(crate) fn size(ratio: f64) -> f64 {
    ratio.max(ratio.recip()) - 1.0
}

/// Widens an interval by a timer step at either end, because a reading represents all times within one step. Otherwise two equal
/// programs on either side of a step would differ with certainty.
pub(crate) fn wider(estimate: Estimate, step: f64) -> Estimate {
    if !is_spoken_of(step) {
        return estimate;
    }
    let (low, high) = (estimate.low.map(|low| low / (1.0 + step)), estimate.high.map(|high| high * (1.0 + step)));
    Estimate { low, high, ..estimate }
}

/// A step that is not finite means that the timer cannot tell the time from 0, so nothing more can be said.
fn is_spoken_of(step: f64) -> bool {
    step >= NEGLIGIBLE_STEP && step.is_finite()
}

impl Estimate {
    /// Applies an increasing function.
    pub(crate) fn rising(&self, of: impl Fn(f64) -> f64) -> Self {
        Self {
            value: of(self.value),
            low: self.low.map(&of),
            high: self.high.map(&of),
            trials: self.trials.iter().map(|value| of(*value)).collect(),
        }
    }

    /// Applies a decreasing function, which swaps the ends of the interval.
    pub(crate) fn falling(&self, of: impl Fn(f64) -> f64) -> Self {
        let turned = self.rising(of);
        Self { low: turned.high, high: turned.low, ..turned }
    }

    /// The same estimate with these values.
    pub(crate) fn with_trials(self, trials: Vec<f64>) -> Self {
        Self { trials, ..self }
    }

    /// The reciprocal of a ratio.
    pub(crate) fn turned(&self) -> Self {
        self.falling(f64::recip)
    }

    /// Whether the interval of a ratio excludes 1.
    pub(crate) fn excludes_one(&self) -> bool {
        self.low.is_some_and(|low| low > 1.0) || self.high.is_some_and(|high| high < 1.0)
    }
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
        assert_eq!(found.trials, [30.0, 10.0, 50.0, 20.0, 40.0], "in the order of the rounds");
    }

    /// The 2nd to the 9th value would cover 97.85%, and the 3rd to the 8th 89.06%.
    #[test]
    fn of_ten_trials_the_interval_lies_between_two_order_statistics() {
        let found = median((1..=10).map(f64::from).collect()).unwrap();
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!(2.0 < low && low < 3.0 && 8.0 < high && high < 9.0, "{low} {high}");
        assert!((low + high - 11.0).abs() < 1e-12, "symmetric around the median");
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
        assert_eq!((found.won(Better::Higher), found.blocks), (2, 2));
        assert_eq!(found.ratio.trials, [2.0, 2.0]);
    }

    /// Ratios of 1, 1, 1, 1 and 32: their geometric mean is 2, and the median would be 1.
    #[test]
    fn the_ratio_is_the_geometric_mean_of_the_blocks() {
        let above: Vec<Option<f64>> = [1.0, 1.0, 1.0, 1.0, 32.0].map(Some).to_vec();
        let found = ratio_within_blocks(&above, &[Some(1.0); 5]).unwrap();
        assert!((found.ratio.value - 2.0).abs() < 1e-12, "{found:?}");
        assert!(found.ratio.low.unwrap() < 1.0, "{found:?}");
    }

    #[test]
    fn a_block_without_a_good_answer_leaves_no_ratio() {
        assert!(ratio_within_blocks(&[Some(0.0), Some(5.0)], &[Some(1.0), Some(1.0)]).is_none());
        assert!(ratio_within_blocks(&[None], &[Some(1.0)]).is_none());
    }

    #[test]
    fn steps_of_both_timers_widen_the_interval_of_their_ratio() {
        let above: Vec<Option<f64>> = [1.0, 1.1, 1.2, 1.1, 1.0].map(Some).to_vec();
        let plain = ratio_within_blocks(&above, &[Some(1.0); 5]).unwrap();
        let stepped = plain.clone().read_in_steps([0.10, 0.20]);
        assert!((stepped.step - 0.32).abs() < 1e-12);
        assert!((plain.ratio.low.unwrap() / stepped.ratio.low.unwrap() - 1.32).abs() < 1e-12);
        assert!((stepped.ratio.high.unwrap() / plain.ratio.high.unwrap() - 1.32).abs() < 1e-12);
        assert_eq!(plain.clone().read_in_steps([0.0001, 0.0001]).ratio, plain.ratio, "too small to matter");
    }
}
