//! Permutation tests of means: the data themselves say how large a difference chance alone would make.
//!
//! Source: E. J. G. Pitman, "Significance tests which may be applied to samples from any populations", Supplement to
//! the Journal of the Royal Statistical Society 4(1), 1937.

use crate::{Rng, Sample};

/// Up to so many differences all 2ⁿ signs are counted.
const MOST_SIGNED: usize = 30;

/// Up to so many ways to divide the values into two groups all are counted.
const MOST_DIVISIONS: f64 = 200_000.0;

/// Otherwise so many are drawn; p then has a standard error of at most 0.0035.
const DRAWN: u32 = 20_000;

/// Sums that differ by less than this share of all sizes together are taken for equal, as rounding makes them differ.
const ROUNDING: f64 = 1e-12;

/// Two-sided p that differences have mean 0, if each could as well have had the other sign. Counted over all signs for
/// up to 30 differences; then `seed` does not matter. For more, 20,000 signs are drawn by that seed, and p is
/// (1 + as far out) / (1 + drawn), which is valid (B. Phipson and G. K. Smyth, Statistical Applications in Genetics and
/// Molecular Biology 9(1), 2010).
///
/// ```
/// use tolok_stats::{Sample, permutation_paired};
///
/// // Of 64 signs only the one seen and its opposite have so large a mean.
/// assert_eq!(permutation_paired(&Sample::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?, 1), 2.0 / 64.0);
/// # Ok::<(), tolok_stats::StatsError>(())
/// ```
pub fn permutation_paired(differences: &Sample, seed: u64) -> f64 {
    let values = differences.sorted();
    let size: f64 = values.iter().map(|value| value.abs()).sum();
    let bound = values.iter().sum::<f64>().abs() - ROUNDING * size;
    if bound <= 0.0 {
        return 1.0;
    }
    if values.len() <= MOST_SIGNED {
        // Sums are symmetric about 0, so those below −bound are as many as those above bound.
        return 2.0 * signed_sums_reaching(values, bound) as f64 / (values.len() as f64).exp2();
    }
    let mut rng = Rng::seeded(seed);
    let far = (0..DRAWN).filter(|_| randomly_signed_sum(values, &mut rng).abs() >= bound).count();
    (far + 1) as f64 / f64::from(DRAWN + 1)
}

/// How many of the 2ⁿ signed sums reach the bound. The sums of each half are put in order and met from opposite ends,
/// so the work is that of 2^(n/2) sums.
fn signed_sums_reaching(values: &[f64], bound: f64) -> usize {
    let (left, right) = values.split_at(values.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    let mut first = right.len();
    let reaching = |&sum: &f64| {
        while first > 0 && sum + right[first - 1] >= bound {
            first -= 1;
        }
        right.len() - first
    };
    left.iter().map(reaching).sum()
}

/// Every sum of ±value, ascending.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums = sums.iter().flat_map(|sum| [sum - value, sum + value]).collect();
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums
}

fn randomly_signed_sum(values: &[f64], rng: &mut Rng) -> f64 {
    let signed = |chunk: &[f64]| {
        let signs = rng.next_u64();
        chunk.iter().enumerate().map(|(bit, value)| if signs >> bit & 1 == 1 { *value } else { -value }).sum::<f64>()
    };
    values.chunks(64).map(signed).sum()
}

/// Two-sided p that two independent samples come from one distribution, by the difference of their means: twice the
/// smaller of the shares of divisions with a difference as low or lower, as high or higher. Counted over all divisions
/// where these are at most 200,000, as for 10 and 10 values; then `seed` does not matter. Otherwise 20,000 are drawn by
/// it, the one seen counted as one of them.
///
/// Exchanging the samples changes no bit of the result.
pub fn permutation_two_sample(a: &Sample, b: &Sample, seed: u64) -> f64 {
    let mut pooled = [a.sorted(), b.sorted()].concat();
    pooled.sort_unstable_by(f64::total_cmp);
    // Around their mean, so that values with a large common part lose no digits in the sums.
    let mean = pooled.iter().sum::<f64>() / pooled.len() as f64;
    let observed = |group: &Sample| group.sorted().iter().map(|value| value - mean).sum::<f64>();
    let (sum_a, sum_b) = (observed(a), observed(b));
    // The sum of one group tells that of the other, so either would do; which one must not depend on their names.
    let by_size = a.len().cmp(&b.len()).then(sum_a.total_cmp(&sum_b));
    let (group, sum) = if by_size.is_lt() { (a.len(), sum_a) } else { (b.len(), sum_b) };
    pooled.iter_mut().for_each(|value| *value -= mean);
    let rounding = ROUNDING * pooled.iter().map(|value| value.abs()).sum::<f64>();
    let mut tally = Tally { low: sum + rounding, high: sum - rounding, ..Tally::default() };
    if divisions(pooled.len(), group) <= MOST_DIVISIONS {
        tally.all_divisions(&pooled, group, 0.0);
    } else {
        tally.count(sum);
        tally.drawn_divisions(&mut pooled, group, &mut Rng::seeded(seed));
    }
    tally.p()
}

/// C(all, group), up to rounding.
fn divisions(all: usize, group: usize) -> f64 {
    (0..group).map(|taken| (all - taken) as f64 / (taken + 1) as f64).product()
}

/// How the sums of one group lie beside the one seen.
#[derive(Default)]
struct Tally {
    low: f64,
    high: f64,
    at_most: u32,
    at_least: u32,
    counted: u32,
}

impl Tally {
    fn count(&mut self, sum: f64) {
        self.counted += 1;
        self.at_most += u32::from(sum <= self.low);
        self.at_least += u32::from(sum >= self.high);
    }

    /// Takes `group` of the values in every way; each level of the recursion takes one of them.
    fn all_divisions(&mut self, values: &[f64], group: usize, sum: f64) {
        if group == 0 {
            return self.count(sum);
        }
        for first in 0..=values.len() - group {
            self.all_divisions(&values[first + 1..], group - 1, sum + values[first]);
        }
    }

    fn drawn_divisions(&mut self, values: &mut [f64], group: usize, rng: &mut Rng) {
        for _ in 0..DRAWN {
            // The first steps of a Fisher–Yates shuffle; what earlier draws left in disorder does not matter.
            for taken in 0..group {
                values.swap(taken, taken + rng.below((values.len() - taken) as u64) as usize);
            }
            self.count(values[..group].iter().sum());
        }
    }

    fn p(&self) -> f64 {
        (2.0 * f64::from(self.at_most.min(self.at_least)) / f64::from(self.counted)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values).unwrap()
    }

    #[test]
    fn groups_that_do_not_overlap_are_two_divisions_of_all() {
        let (a, b) = (sample(&[1.0, 2.0, 3.0, 4.0, 5.0]), sample(&[11.0, 12.0, 13.0, 14.0, 15.0]));
        assert_eq!(permutation_two_sample(&a, &b, 1), 2.0 / 252.0);
    }

    #[test]
    fn equal_values_give_no_reason_to_doubt() {
        assert_eq!(permutation_two_sample(&sample(&[0.1; 5]), &sample(&[0.1; 7]), 1), 1.0);
        assert_eq!(permutation_paired(&sample(&[0.0; 7]), 1), 1.0);
        assert_eq!(permutation_paired(&sample(&[-0.1, 0.1, 0.3, -0.3]), 1), 1.0);
    }

    #[test]
    fn rounding_does_not_hide_sums_that_are_equal() {
        // 0.1 + 0.2 is not 0.3 in f64; of 8 signs, +++ and ---, and also ++- if 0.1 + 0.2 − 0.3 counted as 0 only.
        assert_eq!(permutation_paired(&sample(&[-0.1, -0.2, 0.3]), 1), 1.0);
        let (a, b) = (sample(&[1e9 + 0.1, 1e9 + 0.5]), sample(&[1e9 + 0.2, 1e9 + 0.4]));
        assert_eq!(permutation_two_sample(&a, &b, 1), 1.0);
    }

    #[test]
    fn the_seed_decides_only_what_is_drawn() {
        let few: Vec<f64> = (0..20).map(|i| f64::from(i) - 6.0).collect();
        assert_eq!(permutation_paired(&sample(&few), 1), permutation_paired(&sample(&few), 2));
        let many: Vec<f64> = (0..40).map(|i| f64::from(i) - 17.5).collect();
        let drawn = |seed| permutation_paired(&sample(&many), seed);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
        assert!((drawn(1) - drawn(2)).abs() < 0.02);
    }
}
