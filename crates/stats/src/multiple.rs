//! Several tests at once: p values and levels that hold for the whole family.

use crate::Level;

/// Holm's adjusted p values, in the given order. If those below 0.05 count as differences, the probability of *any*
/// false one in the family is at most 5%, however the tests depend on each other.
///
/// Each is at least the raw one and at most 1, and a smaller raw p never gets a larger adjusted one. An invalid
/// probability (NaN, or outside \[0, 1\]) counts as 1: a test that was not possible still belongs to the family.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2),
/// 1979.
///
/// ```
/// assert_eq!(tolok_stats::holm(&[0.5, 0.01, 0.02]), [0.5, 0.03, 0.04]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = p.iter().map(|&p| if (0.0..=1.0).contains(&p) { p } else { 1.0 }).collect();
    let mut ascending: Vec<usize> = (0..p.len()).collect();
    ascending.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let mut adjusted = vec![0.0; p.len()];
    let mut least = 0.0f64;
    for (rank, &index) in ascending.iter().enumerate() {
        least = least.max((p[index] * (p.len() - rank) as f64).min(1.0));
        adjusted[index] = least;
    }
    adjusted
}

impl Level {
    /// The level that each of `comparisons` intervals needs so that *all* of them cover simultaneously at the level
    /// `self` (Bonferroni): 1 − (1 − level) / comparisons. Zero or one comparison leaves the level unchanged.
    ///
    /// Source: O. J. Dunn, "Multiple comparisons among means", Journal of the American Statistical Association
    /// 56(293), 1961.
    #[must_use]
    pub fn simultaneous(self, comparisons: usize) -> Self {
        if comparisons < 2 { self } else { self.with_miss(self.miss() / comparisons as f64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_could_not_be_made_still_counts() {
        assert_eq!(holm(&[0.01, f64::NAN, 2.0]), [0.03, 1.0, 1.0]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }

    #[test]
    fn a_later_p_is_never_adjusted_below_an_earlier_one() {
        // 2 × 0.03 and 1 × 0.04 would be in the wrong order.
        assert_eq!(holm(&[0.04, 0.03]), [0.06, 0.06]);
    }

    #[test]
    fn fifteen_intervals_share_the_chance_to_miss() {
        assert!((Level::P95.simultaneous(15).fraction() - (1.0 - 0.05 / 15.0)).abs() < 1e-15);
        assert_eq!((Level::P95.simultaneous(0), Level::P95.simultaneous(1)), (Level::P95, Level::P95));
    }
}
