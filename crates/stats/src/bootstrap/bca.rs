//! Bias-corrected and accelerated intervals.

use super::{Bootstrap, Resampler, resamples_beyond};
use crate::quantile::in_range;
use crate::{Interval, Sample, StatsError, normal_cdf, normal_quantile};

/// Resamples that are drawn at most because of a moved level. A bound that lies further out still is next to the
/// extreme that resamples of a small sample can reach, and more of them would not move it.
const MOST_FOR_MOVED: u32 = 100_000;

impl Bootstrap {
    /// The bias-corrected and accelerated (BCa) interval: a percentile interval whose two levels are moved by how far
    /// the replicates lie to one side of the sample's own statistic (z₀), and by how fast the statistic's spread
    /// changes with its value (a, by leaving out each value once). Unlike the plain percentile interval it follows
    /// skewed statistics. `None` below [`crate::Level::least_sample`].
    ///
    /// With z the normal quantile of the level: α = Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))). Replicates equal to the
    /// sample's statistic count half for z₀. With [`Bootstrap::expanded`] z is the expanded one; that is the one to use
    /// below 20 values, see there.
    ///
    /// The statistic must also be defined with any one value left out. Not for the median and other single order
    /// statistics: leaving out one value moves them by a jump or not at all, and a means nothing.
    ///
    /// Source: B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association
    /// 82(397), 1987; a by the jackknife as in B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, 1993,
    /// (14.15).
    ///
    /// # Errors
    /// As of [`Bootstrap::interval`]. [`StatsError::UndefinedWithout`] where the statistic of the sample, or of the
    /// sample without one value, is no number. [`StatsError::OneSided`] where the corrections are infinite: all
    /// replicates lie on one side of the sample's statistic, or nearly so.
    pub fn bca_interval(
        &self,
        sample: &Sample,
        mut statistic: impl FnMut(&Sample) -> f64,
    ) -> Result<Option<Interval>, StatsError> {
        let Some((mut resamples, beyond)) = self.plan(sample.len())? else { return Ok(None) };
        let estimate = defined(None, statistic(sample))?;
        let acceleration = acceleration(sample, &mut statistic)?;
        loop {
            let mut resampler = Resampler::new(sample);
            let replicates = self.replicates(resamples, |rng| statistic(resampler.draw(rng)))?;
            let bias = bias(&replicates, estimate);
            let moved = |beyond: f64| moved_level(normal_quantile(beyond), bias, acceleration);
            let Some((low, high)) = moved(beyond).zip(moved(1.0 - beyond)) else {
                return Err(StatsError::OneSided { estimate });
            };
            // A moved level can lie so far out that hardly a replicate is beyond it; then more are drawn.
            let least = resamples_beyond(low.min(1.0 - high));
            if least <= u64::from(resamples) || resamples >= MOST_FOR_MOVED {
                return Ok(Some(self.between(&replicates, low, high)?));
            }
            // A tenth more, because the levels move a little with every drawing.
            let more = least.saturating_add(least / 10);
            resamples = u32::try_from(more).map_or(MOST_FOR_MOVED, |more| more.min(MOST_FOR_MOVED));
        }
    }
}

fn defined(left_out: Option<usize>, value: f64) -> Result<f64, StatsError> {
    if in_range(value) { Ok(value) } else { Err(StatsError::UndefinedWithout { left_out, value }) }
}

/// z₀: where the sample's statistic stands among the replicates, as a normal quantile. Infinite where it is beyond all.
fn bias(replicates: &Sample, estimate: f64) -> f64 {
    let below = replicates.sorted().partition_point(|&value| value < estimate);
    let not_above = replicates.sorted().partition_point(|&value| value <= estimate);
    let share = (below + not_above) as f64 / (2 * replicates.len()) as f64;
    if share <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if share >= 1.0 { f64::INFINITY } else { normal_quantile(share) }
}

/// a = Σ d³ / (6 (Σ d²)^1.5), d being how far the statistic without one value lies below the mean of these.
fn acceleration(sample: &Sample, statistic: &mut impl FnMut(&Sample) -> f64) -> Result<f64, StatsError> {
    let mut without = Vec::with_capacity(sample.len());
    for left_out in 0..sample.len() {
        let mut rest = sample.sorted().to_vec();
        rest.remove(left_out);
        without.push(defined(Some(left_out), statistic(&Sample::from_vec(rest)?))?);
    }
    let mean = without.iter().sum::<f64>() / without.len() as f64;
    // Relative to the largest, so that cubes of very large and very small statistics neither overflow nor vanish.
    let scale = without.iter().map(|value| (mean - value).abs()).fold(0.0, f64::max);
    if scale <= mean.abs() * 1e-14 {
        return Ok(0.0);
    }
    let (squares, cubes) = without
        .iter()
        .map(|value| (mean - value) / scale)
        .fold((0.0, 0.0), |(squares, cubes), d| (squares + d * d, cubes + d * d * d));
    Ok(cubes / (6.0 * squares.powf(1.5)))
}

/// The level that belongs to the normal quantile `z` after both corrections. `None` where it is 0, 1 or not defined.
fn moved_level(z: f64, bias: f64, acceleration: f64) -> Option<f64> {
    let stretched = 1.0 - acceleration * (bias + z);
    let level = normal_cdf(bias + (bias + z) / stretched);
    (stretched > 0.0 && level > 0.0 && level < 1.0).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn equal_values_give_an_interval_without_width() {
        let sample = Sample::new(&[0.1; 8]).unwrap();
        let interval = Bootstrap::new(Level::P95, 1).bca_interval(&sample, Sample::mean).unwrap().unwrap();
        assert_eq!((interval.low, interval.high), (0.1, 0.1));
    }

    #[test]
    fn a_statistic_beyond_all_its_replicates_has_no_interval() {
        // Hardly any resample of thirty different values holds each of them.
        let sample = Sample::new(&(1..=30).map(f64::from).collect::<Vec<_>>()).unwrap();
        let different = |s: &Sample| s.sorted().windows(2).filter(|pair| pair[0] < pair[1]).count() as f64;
        let refused = Bootstrap::new(Level::P95, 1).bca_interval(&sample, different);
        assert_eq!(refused, Err(StatsError::OneSided { estimate: 29.0 }));
    }

    #[test]
    fn a_statistic_must_be_defined_with_a_value_left_out() {
        let sample = Sample::new(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let needs_five = |s: &Sample| if s.len() < 5 { f64::NAN } else { s.mean() };
        let refused = Bootstrap::new(Level::P95, 1).bca_interval(&sample, needs_five);
        assert!(matches!(refused, Err(StatsError::UndefinedWithout { left_out: Some(0), .. })), "{refused:?}");
    }

    #[test]
    fn a_bound_far_out_gets_more_resamples_instead_of_a_guess() {
        let sample = Sample::new(&[1.0, 1.1, 1.2, 1.3, 9.0, 1.4]).unwrap();
        let bootstrap = Bootstrap::new(Level::P95, 1).with_resamples(400).unwrap().expanded();
        let interval = bootstrap.bca_interval(&sample, Sample::mean).unwrap().unwrap();
        assert!(interval.low < sample.mean() && sample.mean() < interval.high, "{interval:?}");
    }
}
