//! Rank tests, and the distributions of rank sums under their null.
//!
//! They assume no shape of the distribution, and pay for it with few blocks: five pairs cannot give a p below 1/16 and
//! six none below 1/32, so that no family of comparisons survives its correction there. They stand beside the t tests
//! as a check that does not depend on normal values.

use crate::Sample;
use crate::normal::normal_cdf;

/// Up to so many values (both samples together) the distribution of a rank sum is counted out. Its counts are whole
/// numbers below 2⁵³ until then, so they are exact.
pub(crate) const MOST_COUNTED: usize = 50;

/// A two-sided rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTest {
    /// The rank sum; each function says which.
    pub statistic: f64,
    /// Twice the smaller of the chances of a statistic as low or lower, as high or higher; at most 1.
    pub p: f64,
    /// Whether p is counted out over all signs or arrangements of these ranks, ties included. Otherwise it is from the
    /// normal approximation with corrections for ties and continuity.
    pub exact: bool,
}

/// Wilcoxon's signed-rank test that differences are spread symmetrically about 0. `statistic` is the sum of the ranks
/// of positive differences; zeros are left out first, ties share their mean rank. Exact for up to 50 differences.
///
/// Differences that are all zero give p = 1.
///
/// Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1(6), 1945.
pub fn signed_rank(differences: &Sample) -> RankTest {
    let mut sizes: Vec<f64> = differences.sorted().iter().copied().filter(|&d| d != 0.0).collect();
    sizes.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&sizes, |a, b| a.abs() == b.abs());
    let statistic: usize = sizes.iter().zip(&doubled).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    if sizes.len() <= MOST_COUNTED {
        return RankTest {
            statistic: halved(statistic),
            p: two_sided(&signed_counts(&doubled), statistic),
            exact: true,
        };
    }
    // Each rank is in the sum or not, with equal chances.
    let (mean, variance) = (
        doubled.iter().sum::<usize>() as f64 / 4.0,
        doubled.iter().map(|&rank| halved(rank).powi(2)).sum::<f64>() / 4.0,
    );
    let statistic = halved(statistic);
    RankTest { statistic, p: approximate(statistic, mean, variance), exact: false }
}

/// The test of Mann and Whitney that two independent samples come from one distribution. `statistic` is the number of
/// pairs in which the value of `a` is the larger one, ties counted half. Exact for up to 50 values in all.
///
/// Source: H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger
/// than the other", The Annals of Mathematical Statistics 18(1), 1947.
pub fn mann_whitney(a: &Sample, b: &Sample) -> RankTest {
    let mut pooled: Vec<(f64, bool)> = a.sorted().iter().map(|&value| (value, true)).collect();
    pooled.extend(b.sorted().iter().map(|&value| (value, false)));
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
    let doubled = doubled_ranks(&pooled, |a, b| a.0 == b.0);
    let ranks_of_a: usize = pooled.iter().zip(&doubled).filter(|((_, of_a), _)| *of_a).map(|(_, rank)| rank).sum();
    let (n, m) = (a.len(), b.len());
    let statistic = halved(ranks_of_a) - halved(n * (n + 1));
    if n + m <= MOST_COUNTED {
        return RankTest { statistic, p: two_sided(&subset_counts(&doubled, n), ranks_of_a), exact: true };
    }
    let (n, m, all) = (n as f64, m as f64, (n + m) as f64);
    let centre = (all + 1.0) / 2.0;
    let spread: f64 = doubled.iter().map(|&rank| (halved(rank) - centre).powi(2)).sum();
    let variance = n * m * spread / (all * (all - 1.0));
    RankTest { statistic, p: approximate(statistic, n * m / 2.0, variance), exact: false }
}

/// Twice the ranks of ascending values, where equal ones share the mean of their ranks; twice, so that they are whole.
fn doubled_ranks<T>(ascending: &[T], equal: impl Fn(&T, &T) -> bool) -> Vec<usize> {
    let mut doubled = Vec::with_capacity(ascending.len());
    for run in ascending.chunk_by(equal) {
        let before = doubled.len();
        doubled.resize(before + run.len(), 2 * before + run.len() + 1);
    }
    doubled
}

fn halved(doubled: usize) -> f64 {
    doubled as f64 / 2.0
}

/// In how many ways a subset of these ranks has the sum s, at index s.
pub(crate) fn signed_counts(ranks: &[usize]) -> Vec<f64> {
    let mut counts = vec![0.0; ranks.iter().sum::<usize>() + 1];
    counts[0] = 1.0;
    for &rank in ranks {
        for sum in (rank..counts.len()).rev() {
            counts[sum] += counts[sum - rank];
        }
    }
    counts
}

/// In how many ways `size` of these ranks have the sum s, at index s.
pub(crate) fn subset_counts(ranks: &[usize], size: usize) -> Vec<f64> {
    let sums = ranks.iter().sum::<usize>() + 1;
    // One row for each number of ranks taken so far; rows from the back, so that each rank is taken once.
    let mut rows = vec![vec![0.0; sums]; size + 1];
    rows[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        for taken in (0..size.min(seen + 1)).rev() {
            let (fewer, more) = rows.split_at_mut(taken + 1);
            for (to, from) in more[0][rank..].iter_mut().zip(&fewer[taken]) {
                *to += from;
            }
        }
    }
    rows.swap_remove(size)
}

fn two_sided(counts: &[f64], observed: usize) -> f64 {
    let all: f64 = counts.iter().sum();
    let (low, high): (f64, f64) = (counts[..=observed].iter().sum(), counts[observed..].iter().sum());
    (2.0 * low.min(high) / all).min(1.0)
}

fn approximate(statistic: f64, mean: f64, variance: f64) -> f64 {
    // Values that are all equal have no variance, and nothing then speaks against the null.
    let distance = ((statistic - mean).abs() - 0.5).max(0.0);
    if distance == 0.0 { 1.0 } else { (2.0 * normal_cdf(-distance / variance.sqrt())).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    #[test]
    fn ties_share_the_mean_of_their_ranks() {
        assert_eq!(doubled_ranks(&[1.0, 2.0, 2.0, 5.0, 5.0, 5.0], |a, b| a == b), [2, 5, 5, 10, 10, 10]);
    }

    #[test]
    fn every_way_to_form_a_rank_sum_is_counted() {
        // Subsets of 1, 2, 3: {}, 1, 2, 3 = 1 + 2, 1 + 3, 2 + 3, all.
        assert_eq!(signed_counts(&[1, 2, 3]), [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
        // Two of them: 1 + 2, 1 + 3, 2 + 3.
        assert_eq!(subset_counts(&[1, 2, 3], 2), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(subset_counts(&[2, 4], 2)[6], 1.0);
    }

    #[test]
    fn six_pairs_cannot_give_less_than_one_in_thirty_two() {
        let all_won = signed_rank(&sample(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
        assert_eq!(all_won, RankTest { statistic: 21.0, p: 1.0 / 32.0, exact: true });
    }

    #[test]
    fn differences_of_zero_are_left_out() {
        let with = signed_rank(&sample(&[0.0, -1.0, 2.0, 3.0, 0.0, 4.0]));
        assert_eq!(with, signed_rank(&sample(&[-1.0, 2.0, 3.0, 4.0])));
        assert_eq!(signed_rank(&sample(&[0.0; 7])), RankTest { statistic: 0.0, p: 1.0, exact: true });
    }

    #[test]
    fn equal_values_differ_in_nothing() {
        assert_eq!(
            mann_whitney(&sample(&[2.0; 4]), &sample(&[2.0; 6])),
            RankTest { statistic: 12.0, p: 1.0, exact: true }
        );
        assert_eq!(mann_whitney(&sample(&[2.0; 40]), &sample(&[2.0; 60])).p, 1.0);
    }

    #[test]
    fn two_groups_of_five_that_do_not_overlap_are_one_arrangement_of_252() {
        let found = mann_whitney(&sample(&[6.0, 7.0, 8.0, 9.0, 10.0]), &sample(&[1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!((found.statistic, found.exact), (25.0, true));
        assert!((found.p - 2.0 / 252.0).abs() < 1e-15);
    }
}
