//! The estimators of Hodges and Lehmann, with the intervals that belong to the rank tests.
//!
//! The centre of a sample is the median of all means of two of its values (each with itself, too); the shift between
//! two samples is the median of all differences. They are almost as sharp as means for normal values and hardly moved
//! by a few wild ones. The bounds are the k-th least and k-th greatest of the same pairs, with k from the distribution
//! of the rank test, so they cover what they say for every continuous distribution, which for the centre has to be
//! symmetric as well.
//!
//! Sources: J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests", The Annals of Mathematical
//! Statistics 34(2), 1963; M. Hollander, D. A. Wolfe and E. Chicken, *Nonparametric Statistical Methods*, 3rd ed., Wiley
//! 2013, sections 3.3 and 4.3.

use crate::normal::{normal_cdf, normal_quantile};
use crate::ranks::{MOST_COUNTED, signed_counts, subset_counts};
use crate::{Interval, Level, Sample};

/// The median of all means of two values of the sample, each value with itself included.
pub fn hodges_lehmann(sample: &Sample) -> f64 {
    Pairs::Means(sample.sorted()).median()
}

/// The interval of [`hodges_lehmann`] from the signed-rank test; `level` in the result is the achieved one, exact for
/// up to 50 values of a symmetric continuous distribution.
///
/// As with [`crate::median_interval`], the widest interval is given where it falls short by no more than
/// [`Level::TOLERATED_MISS`]; `None` below [`Level::least_sample`].
pub fn hodges_lehmann_interval(sample: &Sample, level: Level) -> Option<Interval> {
    let n = sample.len();
    if n < level.least_sample() {
        return None;
    }
    let rank = if n <= MOST_COUNTED {
        Rank::counted(&signed_counts(&(1..=n).collect::<Vec<_>>()), level)
    } else {
        let n = n as f64;
        Rank::approximate(n * (n + 1.0) / 4.0, n * (n + 1.0) * (2.0 * n + 1.0) / 24.0, level)
    };
    Some(Pairs::Means(sample.sorted()).interval(rank))
}

/// The median of all differences a value of `a` minus a value of `b`.
pub fn hodges_lehmann_shift(a: &Sample, b: &Sample) -> f64 {
    Pairs::Differences(a.sorted(), b.sorted()).median()
}

/// The interval of [`hodges_lehmann_shift`] from the test of Mann and Whitney; `level` in the result is the achieved
/// one, exact for up to 50 values in all from two continuous distributions of one shape.
///
/// `None` where either sample has fewer than [`Level::LEAST_SAMPLE`] values, and where even the widest interval misses
/// more often than [`Level::TOLERATED_MISS`] allows.
pub fn hodges_lehmann_shift_interval(a: &Sample, b: &Sample, level: Level) -> Option<Interval> {
    let (n, m) = (a.len(), b.len());
    if n.min(m) < Level::LEAST_SAMPLE {
        return None;
    }
    let rank = if n + m <= MOST_COUNTED {
        let least = n * (n + 1) / 2;
        let counts = subset_counts(&(1..=n + m).collect::<Vec<_>>(), n);
        Rank::counted(&counts[least..=least + n * m], level)
    } else {
        let (n, m) = (n as f64, m as f64);
        Rank::approximate(n * m / 2.0, n * m * (n + m + 1.0) / 12.0, level)
    };
    (1.0 - rank.coverage <= level.miss() * Level::TOLERATED_MISS * (1.0 + 1e-12))
        .then(|| Pairs::Differences(a.sorted(), b.sorted()).interval(rank))
}

/// Which of the pairs, counted from 1 from either end, are the bounds, and how often these cover.
#[derive(Debug, Clone, Copy)]
struct Rank {
    rank: usize,
    coverage: f64,
}

impl Rank {
    /// The greatest rank that covers at least as often as asked, or 1, from the counts of a symmetric rank sum.
    fn counted(counts: &[f64], level: Level) -> Self {
        let all: f64 = counts.iter().sum();
        let (mut rank, mut below) = (1, counts[0]);
        // Rank k misses on one side with the chance of a sum below k.
        while rank + 1 < counts.len() && 2.0 * (below + counts[rank]) / all <= level.miss() {
            below += counts[rank];
            rank += 1;
        }
        Self { rank, coverage: 1.0 - 2.0 * below / all }
    }

    /// The same from the normal approximation with correction for continuity.
    fn approximate(mean: f64, variance: f64, level: Level) -> Self {
        let deviation = variance.sqrt();
        let rank = (mean + 0.5 + normal_quantile(level.miss() / 2.0) * deviation).floor().max(1.0);
        Self { rank: rank as usize, coverage: 1.0 - 2.0 * normal_cdf((rank - 0.5 - mean) / deviation) }
    }
}

/// All pairs of ascending values, without forming them: for n values there are n² / 2 and more.
enum Pairs<'a> {
    /// (xᵢ + xⱼ) / 2 for i ≤ j.
    Means(&'a [f64]),
    /// aᵢ − bⱼ.
    Differences(&'a [f64], &'a [f64]),
}

impl Pairs<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Means(x) => x.len() * (x.len() + 1) / 2,
            Self::Differences(a, b) => a.len() * b.len(),
        }
    }

    /// How many pairs are at most `bound`. Along rising i the last j that qualifies only falls for means, and the first
    /// one only rises for differences, so each series is walked once.
    fn at_most(&self, bound: f64) -> usize {
        match self {
            Self::Means(x) => {
                let mut end = x.len();
                let of = |(i, &low): (usize, &f64)| {
                    while end > 0 && (low + x[end - 1]) / 2.0 > bound {
                        end -= 1;
                    }
                    end.saturating_sub(i)
                };
                x.iter().enumerate().map(of).sum()
            }
            Self::Differences(a, b) => {
                let mut start = 0;
                let of = |&high: &f64| {
                    while start < b.len() && high - b[start] > bound {
                        start += 1;
                    }
                    b.len() - start
                };
                a.iter().map(of).sum()
            }
        }
    }

    fn range(&self) -> (f64, f64) {
        match self {
            Self::Means(x) => (x[0], x[x.len() - 1]),
            Self::Differences(a, b) => (a[0] - b[b.len() - 1], a[a.len() - 1] - b[0]),
        }
    }

    /// The pair of that rank, counted from 1: the least number that as many pairs reach. Halving runs over the numbers
    /// that f64 has, of which there are 2⁶⁴, so the result is the very value of that pair.
    fn ranked(&self, rank: usize) -> f64 {
        let (low, high) = self.range();
        let (mut low, mut high) = (position(low), position(high));
        while low < high {
            let middle = ((i128::from(low) + i128::from(high)).div_euclid(2)) as i64;
            if self.at_most(at_position(middle)) >= rank { high = middle } else { low = middle + 1 }
        }
        // Adding zero leaves no minus sign at a zero.
        at_position(low) + 0.0
    }

    fn median(&self) -> f64 {
        let count = self.count();
        (self.ranked(count.div_ceil(2)) + self.ranked(count / 2 + 1)) / 2.0
    }

    fn interval(&self, rank: Rank) -> Interval {
        let high = self.ranked(self.count() + 1 - rank.rank);
        Interval { low: self.ranked(rank.rank), high, level: rank.coverage }
    }
}

/// Where a number stands among all finite numbers in ascending order; −0 stands just before 0.
fn position(value: f64) -> i64 {
    mirrored(value.to_bits() as i64)
}

fn at_position(position: i64) -> f64 {
    f64::from_bits(mirrored(position) as u64)
}

/// Negative numbers have their bits in the opposite order; this turns them round, and back.
fn mirrored(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    #[test]
    fn the_centre_of_three_values_is_the_median_of_six_means() {
        // 1, 2, 3, 5.5, 6.5, 10: the middle two are 3 and 5.5.
        assert_eq!(hodges_lehmann(&sample(&[1.0, 3.0, 10.0])), 4.25);
        assert_eq!(hodges_lehmann(&sample(&[7.5])), 7.5);
    }

    #[test]
    fn one_wild_value_hardly_moves_the_centre() {
        let calm = hodges_lehmann(&sample(&[9.0, 10.0, 11.0, 12.0, 13.0]));
        let wild = hodges_lehmann(&sample(&[9.0, 10.0, 11.0, 12.5, 1e9]));
        assert_eq!((calm, wild), (11.0, 11.25));
    }

    #[test]
    fn the_shift_is_negated_when_the_samples_change_places() {
        let (a, b) = (sample(&[1.0, 4.0, 9.0]), sample(&[2.0, 2.5]));
        assert_eq!(hodges_lehmann_shift(&a, &b), 1.75);
        assert_eq!(hodges_lehmann_shift(&b, &a), -1.75);
    }

    #[test]
    fn numbers_keep_their_order_as_positions() {
        let ascending = [f64::MIN, -1.0, -1e-300, -0.0, 0.0, 1e-300, 1.0, f64::MAX];
        assert!(ascending.is_sorted_by(|a, b| position(*a) < position(*b)));
        assert!(ascending.iter().all(|&value| at_position(position(value)).to_bits() == value.to_bits()));
    }

    #[test]
    fn bounds_and_levels_are_those_of_the_tables() {
        // Hollander, Wolfe and Chicken, table A.4: for n = 6 P(T ≥ 21) = 1/64; for n = 10 P(T ≥ 47) = 0.024.
        let six = hodges_lehmann_interval(&sample(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Level::P95).unwrap();
        assert_eq!((six.low, six.high, six.level), (1.0, 6.0, 1.0 - 2.0 / 64.0));
        let ten = sample(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0]);
        assert!((hodges_lehmann_interval(&ten, Level::P95).unwrap().level - (1.0 - 2.0 * 25.0 / 1024.0)).abs() < 1e-15);
        assert_eq!(hodges_lehmann_interval(&sample(&[1.0; 4]), Level::P95), None);
    }

    #[test]
    fn two_samples_of_five_reach_99_percent_and_no_more() {
        let (a, b) = (sample(&[1.0, 2.0, 3.0, 4.0, 5.0]), sample(&[11.0, 12.0, 13.0, 14.0, 15.5]));
        let widest = hodges_lehmann_shift_interval(&a, &b, Level::P99).unwrap();
        assert_eq!((widest.low, widest.high), (-14.5, -6.0));
        assert!((widest.level - (1.0 - 2.0 / 252.0)).abs() < 1e-15);
        assert_eq!(hodges_lehmann_shift_interval(&a, &b, Level::new(0.999).unwrap()), None);
    }
}
