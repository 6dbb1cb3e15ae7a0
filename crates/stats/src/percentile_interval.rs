//! Intervals of any percentile from order statistics.

use crate::{Interval, Level, Sample, StatsError};

/// The interval of a quantile of the population from the sample's order statistics, for a continuous distribution of
/// any shape; `level` in the result is the **achieved** one, exact and at least the one asked. `None` where the sample
/// cannot hold it: for a p99 at 95 % below 368 values, as no value of fewer is likely enough to lie above it.
///
/// The number of values below the quantile at p is Binomial(n, p). The bounds are the values of the greatest rank l
/// with P(B < l) ≤ α / 2 and the least rank u with P(B ≥ u) ≤ α / 2; together they cover P(l ≤ B < u). Both tails are
/// kept, so the interval can be a little wider than need be. Ties make it cover at least as often.
///
/// It assumes that the values are independent draws. Requests of one process are not.
///
/// Source: H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed., Wiley 2003, section 7.1; W. J. Conover,
/// *Practical Nonparametric Statistics*, 3rd ed., Wiley 1999, section 3.2.
///
/// # Errors
/// [`StatsError::Probability`] unless `0 < quantile < 1`: the extremes of a population have no such interval.
///
/// ```
/// use tolok_stats::{Level, Sample, percentile_interval};
///
/// let hundred = Sample::new(&(1..=100).map(f64::from).collect::<Vec<_>>())?;
/// let p90 = percentile_interval(&hundred, 0.9, Level::P95)?.expect("a hundred values hold a p90");
/// assert_eq!((p90.low, p90.high), (84.0, 96.0));
/// assert_eq!(percentile_interval(&hundred, 0.99, Level::P95)?, None);
/// # Ok::<(), tolok_stats::StatsError>(())
/// ```
pub fn percentile_interval(sample: &Sample, quantile: f64, level: Level) -> Result<Option<Interval>, StatsError> {
    if !(quantile > 0.0 && quantile < 1.0) {
        return Err(StatsError::Probability { value: quantile });
    }
    let n = sample.len();
    let beyond = level.miss() / 2.0;
    let binomial = binomial(n, quantile);
    let (below, missed_below) = within(binomial.iter(), beyond);
    let (above, missed_above) = within(binomial.iter().rev(), beyond);
    // Ranks count from 1: rank l has l - 1 values below it, and l outcomes 0..l of the count are missed.
    let (low, high) = (below, n + 1 - above);
    if low < 1 || high > n {
        return Ok(None);
    }
    let sorted = sample.sorted();
    Ok(Some(Interval { low: sorted[low - 1], high: sorted[high - 1], level: 1.0 - missed_below - missed_above }))
}

/// How many of the probabilities, from the first on, add up to at most `most`, and to what.
fn within<'a>(probabilities: impl Iterator<Item = &'a f64>, most: f64) -> (usize, f64) {
    let (mut count, mut total) = (0, 0.0);
    for probability in probabilities {
        if total + probability > most {
            break;
        }
        total += probability;
        count += 1;
    }
    (count, total)
}

/// P(B = k) for k from 0 to n, B ~ Binomial(n, p), each from its neighbour, outwards from the most likely one, so that
/// nothing overflows for any n; far in the tails they underflow to zero, where they no longer count.
fn binomial(n: usize, p: f64) -> Vec<f64> {
    let mut weights = vec![0.0; n + 1];
    let odds = p / (1.0 - p);
    let mode = (((n + 1) as f64 * p) as usize).min(n);
    weights[mode] = 1.0;
    for k in mode..n {
        weights[k + 1] = weights[k] * (n - k) as f64 / (k + 1) as f64 * odds;
    }
    for k in (0..mode).rev() {
        weights[k] = weights[k + 1] * (k + 1) as f64 / (n - k) as f64 / odds;
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(n: usize) -> Sample {
        Sample::new(&(1..=n).map(|i| i as f64).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_p99_needs_368_values_on_the_upper_side() {
        // 0.99^367 is above 2.5 %, 0.99^368 is not.
        assert_eq!(percentile_interval(&one_to(367), 0.99, Level::P95), Ok(None));
        let found = percentile_interval(&one_to(368), 0.99, Level::P95).unwrap().unwrap();
        assert_eq!(found.high, 368.0);
        assert!(found.level >= 0.95, "{found:?}");
    }

    #[test]
    fn the_extremes_of_a_population_are_refused() {
        for quantile in [0.0, 1.0, 99.0] {
            let refused = percentile_interval(&one_to(10), quantile, Level::P95);
            assert_eq!(refused, Err(StatsError::Probability { value: quantile }));
        }
        assert!(percentile_interval(&one_to(10), f64::NAN, Level::P95).is_err());
    }

    #[test]
    fn the_median_gets_the_interval_of_the_sign_test() {
        for n in [6, 10, 21, 50, 100] {
            let found = percentile_interval(&one_to(n), 0.5, Level::P95).unwrap().unwrap();
            let exact = crate::median_interval(&one_to(n), Level::P95).unwrap();
            assert_eq!((found.low, found.high), (exact.low, exact.high), "n = {n}");
            assert!((found.level - exact.level).abs() < 1e-12, "n = {n}");
        }
    }

    #[test]
    fn a_million_values_neither_overflow_nor_lose_the_level() {
        let found = percentile_interval(&one_to(1_000_000), 0.999, Level::P95).unwrap().unwrap();
        assert!((0.95..0.953).contains(&found.level), "{found:?}");
    }
}
