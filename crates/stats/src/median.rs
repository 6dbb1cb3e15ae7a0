//! Intervals of the median from order statistics: no resampling, no seed, no assumption on the distribution's shape.
//!
//! The number of a sample's values below the median of a continuous population is Binomial(n, 1/2). So the interval
//! from the k-th least to the k-th greatest value covers that median with probability P(k ≤ B ≤ n − k), whatever the
//! distribution. With ties the closed interval covers at least as often.
//! Source: H. A. David and H. N. Nagaraja, *Order Statistics*, 3rd ed., Wiley 2003, section 7.1.

use crate::quantile::between;
use crate::{Interval, Level, Sample};

/// An interval of the median with about the requested coverage. It starts from the narrowest interval between the k-th
/// least and the k-th greatest value that covers enough, and moves its bounds towards the next narrower one.
///
/// The interpolation is that of T. P. Hettmansperger and S. J. Sheather, "Confidence intervals based on interpolated
/// order statistics", Statistics & Probability Letters 4(2), 1986: with the wider interval at rank k covering w, the
/// narrower one at rank k + 1 covering v, and I = (w − level) / (w − v), both bounds move inwards by the fraction
/// λ = (n − k) I / (k + (n − 2k) I) of the gap to their neighbour. The formula is derived from the Laplace
/// distribution; for others it is close. Simulated at 95% with 400,000 samples each, for n = 6 to 30 of normal,
/// lognormal, exponential, uniform, Laplace and Cauchy values: between 94.27% (n = 8, uniform) and 95.25%.
///
/// `level` in the result is the requested level, except if even \[least, greatest\] falls short of it but stays within
/// [`Level::TOLERATED_MISS`]. Then the result is that interval with its achieved level. At 95% this happens only for n
/// = 5 (93.75%). `None` below [`Level::least_sample`].
pub fn median_interval_interpolated(sample: &Sample, level: Level) -> Option<Interval> {
    let n = sample.len();
    if n < level.least_sample() {
        return None;
    }
    let wide = RankInterval::narrowest(n, level);
    let (low, high) = bounds_at(sample, wide.rank);
    // For even n the two middle values are the narrowest pair, so there is no narrower one to move towards.
    if wide.coverage <= level.fraction() || 2 * wide.rank == n {
        return Some(Interval { low, high, level: wide.coverage });
    }
    let (inner_low, inner_high) = bounds_at(sample, wide.rank + 1);
    let (n, k) = (n as f64, wide.rank as f64);
    let share = ((wide.coverage - level.fraction()) / wide.gained).min(1.0);
    let moved = (n - k) * share / (k + (n - 2.0 * k) * share);
    Some(Interval {
        low: between(low, inner_low, moved),
        high: between(high, inner_high, moved),
        level: level.fraction(),
    })
}

/// The values of the given rank, counted from 1, from below and from above.
fn bounds_at(sample: &Sample, rank: usize) -> (f64, f64) {
    (sample.sorted()[rank - 1], sample.sorted()[sample.len() - rank])
}

/// A rank, and the coverage of the interval from that rank to its mirror image.
#[derive(Debug, Clone, Copy)]
struct RankInterval {
    /// Counted from 1, at most n / 2.
    rank: usize,
    /// P(rank ≤ B ≤ n − rank) for B ~ Binomial(n, 1/2).
    coverage: f64,
    /// How much coverage the next narrower interval, at rank + 1, would lose.
    gained: f64,
}

impl RankInterval {
    /// Moves outwards from the middle until it reaches the level or rank 1. `n` is at least 2.
    ///
    /// Probabilities are relative to that of the middle, each computed from its neighbour, so nothing overflows for any
    /// n. Far in the tails they underflow to zero, where they no longer matter.
    fn narrowest(n: usize, level: Level) -> Self {
        let middle = n / 2;
        let odd = n % 2 == 1;
        // P(B = rank - 1) from P(B = rank), by the ratio of neighbouring binomial coefficients.
        let outwards = |weight: f64, rank: usize| weight * rank as f64 / (n - rank + 1) as f64;
        // Each weight counts for its mirror image too; for even n the middle one has none.
        let first = if odd { 2.0 } else { 1.0 };

        let (mut total, mut weight) = (first, 1.0);
        for rank in (1..=middle).rev() {
            weight = outwards(weight, rank);
            total += 2.0 * weight;
        }

        let mut found = Self { rank: middle, coverage: first / total, gained: first / total };
        let (mut inside, mut weight) = (first, 1.0);
        while found.coverage < level.fraction() && found.rank > 1 {
            weight = outwards(weight, found.rank);
            inside += 2.0 * weight;
            found = Self { rank: found.rank - 1, coverage: inside / total, gained: 2.0 * weight / total };
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_to(n: usize) -> Sample {
        Sample::new(&(1..=n).map(|i| i as f64).collect::<Vec<_>>()).unwrap()
    }

    /// The exact interval at 95% as in printed tables of the sign test: rank of the lower bound, coverage in percent.
    #[test]
    fn ranks_and_levels_agree_with_the_tables_of_the_sign_test() {
        let check = |n: usize, rank: usize, percent: f64| {
            let found = RankInterval::narrowest(n, Level::P95);
            assert_eq!(found.rank, rank, "n = {n}");
            assert!((found.coverage * 100.0 - percent).abs() < 0.005, "n = {n}: {}", found.coverage);
        };
        check(5, 1, 93.75); // falls short of 95%, within the tolerance, and says so
        check(6, 1, 96.88);
        check(8, 1, 99.22);
        check(9, 2, 96.09);
        check(10, 2, 97.85);
        check(20, 6, 95.86);
        check(50, 18, 96.72);
        check(100, 40, 96.48);
    }

    #[test]
    fn too_few_values_give_no_interval() {
        let level = Level::new(0.99).unwrap();
        assert_eq!(median_interval_interpolated(&one_to(4), Level::P95), None);
        assert_eq!(median_interval_interpolated(&one_to(7), level), None);
        assert!(median_interval_interpolated(&one_to(8), level).is_some());
    }

    #[test]
    fn at_five_values_the_interpolated_interval_is_the_whole_range_and_says_what_it_covers() {
        let interval = median_interval_interpolated(&one_to(5), Level::P95).unwrap();
        assert_eq!((interval.low, interval.high, interval.level), (1.0, 5.0, 0.9375));
    }

    #[test]
    fn a_level_below_the_narrowest_pair_gives_that_pair() {
        // For n = 10 the two middle values alone cover 24.6%; for n = 11 the neighbours of the middle cover 45.1%.
        let low_level = Level::new(0.1).unwrap();
        let even = median_interval_interpolated(&one_to(10), low_level).unwrap();
        assert_eq!((even.low, even.high), (5.0, 6.0));
        assert!((even.level - 252.0 / 1024.0).abs() < 1e-15);
        let odd = median_interval_interpolated(&one_to(11), low_level).unwrap();
        assert!(5.0 < odd.low && odd.low < 6.0 && odd.level == 0.1, "{odd:?}");
    }

    #[test]
    fn a_million_values_neither_overflow_nor_lose_the_level() {
        let found = RankInterval::narrowest(1_000_000, Level::P95);
        // The normal approximation puts the bounds 1.96 · √n / 2 = 980 ranks from the middle.
        assert!(found.rank.abs_diff(499_020) < 3, "{found:?}");
        assert!((0.95..0.9502).contains(&found.coverage), "{found:?}");
    }
}
