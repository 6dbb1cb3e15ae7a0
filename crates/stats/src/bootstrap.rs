//! Bootstrap intervals of any statistic: percentile and BCa, of one sample, of blocks, and of groups with members.

mod bca;
mod groups;

pub(crate) use groups::ordered_rows;

use crate::{Interval, Level, Rng, Sample, StatsError, normal_cdf, student_t_quantile};

/// How to resample: level, number of resamples, seed, and whether the levels are expanded for small samples. The same
/// four and the same values give the same interval, bit for bit.
///
/// # What such an interval covers at small n
///
/// A resample holds only values of the sample, so no bound can lie outside \[least, greatest\]. For the **median** of
/// n = 5 the interval at 95 % *is* \[least, greatest\] (one value is drawn three times or more in 5.8 % of resamples,
/// more than the 2.5 % that are cut off), and that covers the true median in exactly 93.75 % of samples, whatever
/// their distribution. `Interval::level` of a bootstrap interval is the level asked, not the one achieved; measured
/// by simulation for the median at 95 %:
///
/// | n | 5 | 6 | 7 | 8 | 9 | 10 | 15 | 20 | 30 |
/// |---|---|---|---|---|---|---|---|---|---|
/// | median, normal or lognormal or exponential values | 93.7 % | 93 % | 87 % | 92 % | 95 % | 94 % | 92.5 % | 94 % | 94 % |
/// | mean, normal values | 84 % | 86 % | 87 % | 88 % | 90 % | 90 % | – | 93 % | 94 % |
/// | mean, lognormal values, σ of the logarithm 1 | 72 % | 75 % | 77 % | 78 % | 79 % | 80 % | – | 85 % | 88 % |
///
/// (20,000 samples a cell, 2,000 resamples each; a dash was not measured.) So for a median prefer
/// [`crate::median_interval`], which is exact and says what it achieves, or
/// [`crate::median_interval_interpolated`], which keeps 94 % to 95.3 % from n = 6 on. And the percentile bootstrap
/// of a mean is no way around too few repetitions. [`Bootstrap::expanded`] mends most of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    level: Level,
    resamples: u32,
    seed: u64,
    expanded: bool,
}

impl Bootstrap {
    /// Resamples unless said otherwise: a bound then moves by about a hundredth of the interval's width between seeds.
    pub const DEFAULT_RESAMPLES: u32 = 10_000;

    /// A bound is the more uncertain the fewer replicates lie beyond it; fewer than this are refused.
    pub const LEAST_BEYOND_A_BOUND: u32 = 10;

    /// Where a bound lies so far out that it needs more resamples than were asked for, their number is raised up to
    /// this.
    pub const MOST_RESAMPLES: u32 = 1_000_000;

    /// [`Bootstrap::DEFAULT_RESAMPLES`] resamples, drawn from the stream of `seed`.
    pub fn new(level: Level, seed: u64) -> Self {
        Self { level, resamples: Self::DEFAULT_RESAMPLES, seed, expanded: false }
    }

    /// Another number of resamples.
    ///
    /// # Errors
    /// [`StatsError::TooFewResamples`] where fewer than [`Bootstrap::LEAST_BEYOND_A_BOUND`] would lie beyond each
    /// bound: below 400 at 95 %.
    pub fn with_resamples(self, resamples: u32) -> Result<Self, StatsError> {
        let least = least_resamples(self.level);
        if u64::from(resamples) < least {
            return Err(StatsError::TooFewResamples { given: resamples, least });
        }
        Ok(Self { resamples, ..self })
    }

    /// Moves the percentile levels outwards so that small samples are covered as often as large ones.
    ///
    /// A resample of n values is spread less than the population by the factor √((n − 1) / n), and a percentile
    /// interval knows nothing of the uncertainty of the spread itself, for which Student's interval has wider
    /// quantiles. So instead of α / 2 the quantiles are taken at Φ(√(n / (n − 1)) · t), t being the quantile of
    /// Student's distribution with n − 1 degrees of freedom at α / 2: 0.1 % instead of 2.5 % for n = 5. n is the number
    /// of what is drawn first: values, blocks, or groups. Where the bounds then lie further out than the resamples
    /// reach, more are drawn.
    ///
    /// What intervals of a **mean** at 95 % then cover (2,000 samples a cell, so ±0.5 %):
    ///
    /// | n | 5 | 6 | 8 | 10 | 15 | 20 |
    /// |---|---|---|---|---|---|---|
    /// | normal values, plain | 83 % | 87 % | 90 % | 90 % | 92.5 % | 93 % |
    /// | normal values, expanded | 92 % | 94.5 % | 95.5 % | 95 % | 95.5 % | 95.5 % |
    /// | normal values, expanded BCa | 92 % | 94.5 % | 95.5 % | 95 % | 95.5 % | 95.5 % |
    /// | lognormal, σ of the logarithm 0.3, expanded | 90 % | 94 % | 95 % | 94.5 % | 94 % | 94.5 % |
    /// | the same, expanded BCa | 90 % | 94 % | 94.5 % | 94.5 % | 94.5 % | 95 % |
    /// | lognormal, σ of the logarithm 1, expanded | 81 % | 85 % | 87 % | 86 % | 86 % | 87 % |
    /// | the same, expanded BCa | 82 % | 87 % | 89 % | 89.5 % | 89 % | 91 % |
    ///
    /// So from n = 6 on it keeps what is asked, for values that are not much skewed. At n = 5 the bounds come up
    /// against the extremes that resamples can reach; Student's interval of the mean is the better one there. Nothing
    /// repairs means of much skewed values: take logarithms.
    ///
    /// Source: T. C. Hesterberg, "What teachers should know about the bootstrap: resampling in the undergraduate
    /// statistics curriculum", The American Statistician 69(4), 2015, section on expanded percentile intervals.
    pub fn expanded(self) -> Self {
        Self { expanded: true, ..self }
    }

    /// The percentile interval: the quantiles (1 − level) / 2 and (1 + level) / 2, of type 7, of the statistic over
    /// resamples of the same size drawn with replacement. `None` below [`Level::least_sample`].
    ///
    /// The statistic gets each resample as an ordered [`Sample`], so it cannot depend on the order of the values. It
    /// must be defined for every resample, also for one value repeated n times.
    ///
    /// Cost: resamples × (n draws + the statistic) and one sort of the replicates; one buffer is used for all
    /// resamples.
    ///
    /// Source: B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall 1993, section 13.3.
    ///
    /// # Errors
    /// [`StatsError::UndefinedStatistic`] for the first resample where the statistic is NaN, infinite or larger than
    /// [`crate::LARGEST`]; [`StatsError::TooFewResamples`] where the default number does not do for a level very
    /// close to 1.
    ///
    /// ```
    /// use tolok_stats::{Bootstrap, Level, Sample};
    ///
    /// let sample = Sample::new(&[3.1, 2.9, 3.4, 3.0, 7.5, 3.2, 3.1, 3.3])?;
    /// let p90 = |s: &Sample| s.quantile(0.9).unwrap_or(f64::NAN);
    /// let interval = Bootstrap::new(Level::P95, 1).with_resamples(2_000)?.interval(&sample, p90)?;
    /// assert!(interval.expect("eight values are enough").contains(p90(&sample)));
    /// # Ok::<(), tolok_stats::StatsError>(())
    /// ```
    pub fn interval(
        &self,
        sample: &Sample,
        mut statistic: impl FnMut(&Sample) -> f64,
    ) -> Result<Option<Interval>, StatsError> {
        let Some((resamples, beyond)) = self.plan(sample.len())? else { return Ok(None) };
        let mut resampler = Resampler::new(sample);
        let replicates = self.replicates(resamples, |rng| statistic(resampler.draw(rng)))?;
        Ok(Some(self.between(&replicates, beyond, 1.0 - beyond)?))
    }

    /// What is cut off beyond each bound, for so many units that are drawn.
    fn beyond(&self, n: usize) -> f64 {
        let asked = self.level.miss() / 2.0;
        if !self.expanded || n < 2 {
            return asked;
        }
        let n = n as f64;
        normal_cdf((n / (n - 1.0)).sqrt() * student_t_quantile(asked, n - 1.0))
    }

    /// The number of resamples to draw: as asked, or, where the levels are expanded, as many as the bounds then need.
    fn resamples_for(&self, beyond: f64) -> Result<u32, StatsError> {
        if !self.expanded {
            // Asked again here because a default number of resamples never went through `with_resamples`.
            return Ok(self.with_resamples(self.resamples)?.resamples);
        }
        let least = resamples_beyond(beyond);
        if least > u64::from(Self::MOST_RESAMPLES) {
            return Err(StatsError::TooFewResamples { given: Self::MOST_RESAMPLES, least });
        }
        Ok(self.resamples.max(least as u32))
    }

    /// The statistic over so many resamples, in ascending order; `draw` makes one resample and gives its statistic.
    fn replicates(&self, resamples: u32, mut draw: impl FnMut(&mut Rng) -> f64) -> Result<Sample, StatsError> {
        let mut rng = Rng::seeded(self.seed);
        let replicates = (0..resamples).map(|_| draw(&mut rng)).collect();
        Sample::from_vec(replicates).map_err(|error| match error {
            StatsError::OutOfRange { index, value } => StatsError::UndefinedStatistic { resample: index, value },
            other => other,
        })
    }

    /// The interval between two quantiles of the replicates; its level is the one asked.
    pub(crate) fn between(&self, replicates: &Sample, low: f64, high: f64) -> Result<Interval, StatsError> {
        Ok(Interval { low: replicates.quantile(low)?, high: replicates.quantile(high)?, level: self.level.fraction() })
    }
}

/// So many resamples that [`Bootstrap::LEAST_BEYOND_A_BOUND`] replicates lie beyond each of the two bounds.
fn least_resamples(level: Level) -> u64 {
    resamples_beyond(level.miss() / 2.0)
}

/// The same where the share `beyond` of the replicates lies beyond the bound that is further out.
fn resamples_beyond(beyond: f64) -> u64 {
    let exact = f64::from(Bootstrap::LEAST_BEYOND_A_BOUND) / beyond;
    // 1 - 0.95 is rounded, so the division may end a hair above the whole number that is meant.
    (exact * (1.0 - 1e-12)).ceil() as u64
}

/// Draws with replacement into one buffer that is used again and again.
struct Resampler<'a> {
    source: &'a [f64],
    counts: Vec<u32>,
    resample: Sample,
}

impl<'a> Resampler<'a> {
    fn new(sample: &'a Sample) -> Self {
        Self { source: sample.sorted(), counts: vec![0; sample.len()], resample: sample.clone() }
    }

    /// A resample in ascending order.
    fn draw(&mut self, rng: &mut Rng) -> &Sample {
        draw_into(self.source, &mut self.counts, self.resample.sorted_mut(), rng);
        &self.resample
    }
}

/// Draws as many values as `source` has into `resample`, in ascending order. Counting how often each value was drawn
/// and writing the values out in their order sorts the resample without a comparison. `counts` is left at zero.
fn draw_into(source: &[f64], counts: &mut [u32], resample: &mut [f64], rng: &mut Rng) {
    for _ in source {
        counts[rng.below(source.len() as u64) as usize] += 1;
    }
    let mut rest = resample;
    for (&value, count) in source.iter().zip(counts) {
        let (run, after) = rest.split_at_mut(std::mem::take(count) as usize);
        run.fill(value);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resample_is_ordered_and_holds_only_values_of_the_sample() {
        let sample = Sample::new(&[5.0, 1.0, 4.0, 2.0, 3.0, 3.0]).unwrap();
        let mut resampler = Resampler::new(&sample);
        let mut rng = Rng::seeded(5);
        let mut drawn = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let resample = resampler.draw(&mut rng);
            assert_eq!(resample.len(), 6);
            assert!(resample.sorted().is_sorted());
            assert!(resample.sorted().iter().all(|value| sample.sorted().contains(value)));
            drawn.insert(format!("{:?}", resample.sorted()));
        }
        assert!(drawn.len() > 100, "only {} different resamples in 200", drawn.len());
    }

    #[test]
    fn the_median_of_five_gets_the_whole_range() {
        let sample = Sample::new(&[10.0, 20.0, 30.0, 40.0, 50.0]).unwrap();
        for seed in 0..20 {
            let interval = Bootstrap::new(Level::P95, seed).interval(&sample, Sample::median).unwrap().unwrap();
            assert_eq!((interval.low, interval.high, interval.level), (10.0, 50.0, 0.95), "seed {seed}");
        }
    }

    #[test]
    fn the_seed_decides_the_interval_and_nothing_else_does() {
        let sample = Sample::new(&[1.03, 2.51, 3.17, 4.59, 7.23, 9.83, 11.57]).unwrap();
        let interval = |seed| Bootstrap::new(Level::P95, seed).interval(&sample, Sample::mean).unwrap().unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
    }

    #[test]
    fn too_small_a_sample_gets_no_interval() {
        let bootstrap = Bootstrap::new(Level::P95, 1);
        assert_eq!(bootstrap.interval(&Sample::new(&[1.0, 2.0, 3.0, 4.0]).unwrap(), Sample::mean), Ok(None));
    }

    #[test]
    fn too_few_resamples_are_refused() {
        let bootstrap = Bootstrap::new(Level::P95, 1);
        assert_eq!(bootstrap.with_resamples(399), Err(StatsError::TooFewResamples { given: 399, least: 400 }));
        assert!(bootstrap.with_resamples(400).is_ok());
        let extreme = Bootstrap::new(Level::new(0.9999).unwrap(), 1);
        let sample = Sample::new(&[1.0; 30]).unwrap();
        let refused = extreme.interval(&sample, Sample::mean);
        assert_eq!(refused, Err(StatsError::TooFewResamples { given: 10_000, least: 200_000 }));
    }

    #[test]
    fn a_statistic_that_is_undefined_for_a_resample_is_an_error() {
        let sample = Sample::new(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let gap = |s: &Sample| if s.min() == s.max() { f64::NAN } else { s.max() - s.min() };
        let refused = Bootstrap::new(Level::P95, 1).interval(&sample, gap);
        assert!(matches!(refused, Err(StatsError::UndefinedStatistic { value, .. }) if value.is_nan()), "{refused:?}");
    }
}
