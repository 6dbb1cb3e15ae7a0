//! How many blocks a study needs, and how small a difference it can find.
//!
//! Power is that of the two-sided paired t test, from the noncentral t distribution. Its normal approximation is too
//! optimistic at the few blocks that benchmarks have. All is on the scale of the differences: for ratios, on the log
//! scale.

use crate::Level;
use crate::normal::normal_cdf;
use crate::special::rising_root;
use crate::student::student_t_quantile;

/// Larger numbers of blocks are not worth reporting.
const MOST_BLOCKS: u32 = 10_000;

/// A pair of cases whose difference should be *named*: p must be below its level, and the observed difference must have
/// a least size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Naming {
    /// Standard deviation of the difference within a block.
    pub sd: f64,
    /// Degrees of freedom of `sd`, estimated from `blocks`. For other numbers of blocks they are scaled in proportion.
    pub df: f64,
    /// Blocks of the run from which `sd` was estimated.
    pub blocks: u32,
    /// The level of a single comparison.
    pub level: Level,
    /// The number of comparisons that share the level.
    pub comparisons: usize,
    /// Smaller differences are not named, however certain.
    pub least_size: f64,
}

impl Naming {
    /// The probability that `blocks` name a true difference of `effect`, in either direction.
    ///
    /// For a true difference of exactly the least size it stays below one half, with any number of blocks: half of all
    /// estimates are smaller than the truth.
    pub fn power(&self, effect: f64, blocks: u32) -> f64 {
        if !(self.sd > 0.0 && self.df > 0.0 && self.blocks > 1) {
            return if effect.abs() >= self.least_size { 1.0 } else { 0.0 };
        }
        let df = self.df * (f64::from(blocks) - 1.0) / (f64::from(self.blocks) - 1.0);
        let least = self.least_size / self.sd * f64::from(blocks).sqrt();
        PairedT::of(blocks, df, self.level.simultaneous(self.comparisons), least).power(effect.abs() / self.sd)
    }

    /// The least number of blocks with that probability, or `None` if it needs more than 10,000.
    pub fn blocks_needed(&self, effect: f64, power: f64) -> Option<u32> {
        let enough = |blocks: u32| self.power(effect, blocks) >= power;
        let (mut too_few, mut blocks) = (Level::LEAST_SAMPLE as u32 - 1, Level::LEAST_SAMPLE as u32);
        while !enough(blocks) {
            if blocks == MOST_BLOCKS {
                return None;
            }
            (too_few, blocks) = (blocks, (2 * blocks).min(MOST_BLOCKS));
        }
        // Power rises with the number of blocks, so bisection finds the first that suffices.
        while blocks - too_few > 1 {
            let middle = too_few + (blocks - too_few) / 2;
            if enough(middle) { blocks = middle } else { too_few = middle }
        }
        Some(blocks)
    }

    /// The smallest true difference that the run's own blocks name with that probability.
    pub fn smallest_named(&self, power: f64) -> f64 {
        // In logarithms, as an effect may be of any size. 0 if chance alone finds that much.
        let lacks = |log_effect: f64| self.power(log_effect.exp(), self.blocks) - power;
        // Sums of this many terms are not more precise.
        let beyond_rounding = |lacks: f64| if lacks.abs() < 1e-13 { 0.0 } else { lacks };
        rising_root(|log_effect| beyond_rounding(lacks(log_effect))).exp()
    }
}

/// The two-sided paired t test of this many differences at a level.
struct PairedT {
    blocks: f64,
    /// The number of estimated standard errors from which on a mean counts as found, for each possible value of the
    /// estimated standard deviation. In units of the true one, each with the weight of that value.
    thresholds: Vec<(f64, f64)>,
    weights: f64,
}

impl PairedT {
    /// `df` are the degrees of freedom of the standard deviation. A mean must also be at least `least` true standard
    /// errors.
    fn of(n: u32, df: f64, level: Level, least: f64) -> Self {
        let critical = student_t_quantile(1.0 - level.miss() / 2.0, df);
        let thresholds: Vec<(f64, f64)> =
            estimated_sd(df).into_iter().map(|(s, weight)| ((critical * s).max(least), weight)).collect();
        let weights = thresholds.iter().map(|(_, weight)| weight).sum();
        Self { blocks: f64::from(n), thresholds, weights }
    }

    fn power(&self, effect: f64) -> f64 {
        let shift = effect * self.blocks.sqrt();
        if shift.is_infinite() {
            return 1.0;
        }
        // Given the estimated standard deviation, only the mean decides, and it is normal. Beyond nine standard
        // deviations there is less than 10⁻¹⁸.
        let below = |z: f64| if z < -9.0 { 0.0 } else { normal_cdf(z.min(9.0)) };
        let found = |threshold: f64| below(shift - threshold) + below(-shift - threshold);
        self.thresholds.iter().map(|(threshold, weight)| weight * found(*threshold)).sum::<f64>() / self.weights
    }
}

/// Values of s with weights by Simpson's rule, where df · s² has a chi-square distribution with `df` degrees of
/// freedom. Weights are relative to the density at 1, so nothing overflows.
fn estimated_sd(df: f64) -> Vec<(f64, f64)> {
    const STEPS: u32 = 400;
    // The standard deviation of s is below 1 / √(2 df), and its tails are no heavier than normal ones.
    let reach = 9.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let density = |s: f64| if s > 0.0 { ((df - 1.0) * s.ln() - df * (s * s - 1.0) / 2.0).exp() } else { 0.0 };
    let simpson = |step: u32| match step {
        0 | STEPS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let value = |step: u32| low + (high - low) * f64::from(step) / f64::from(STEPS);
    (0..=STEPS).map(|step| (value(step), simpson(step) * density(value(step)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_the_least_size_is_named_in_less_than_half_of_all_studies() {
        let naming = Naming { sd: 0.05, df: 30.0, blocks: 10, level: Level::P95, comparisons: 15, least_size: 0.03 };
        let powers = [5, 20, 1_000].map(|blocks| naming.power(0.03, blocks));
        assert!(powers.iter().all(|power| *power < 0.5 + 1e-9) && powers[2] > 0.45, "{powers:?}");
        assert_eq!(naming.blocks_needed(0.03, 0.8), None);
        let blocks = naming.blocks_needed(0.06, 0.8).unwrap();
        assert!(naming.power(0.06, blocks) >= 0.8 && naming.power(0.06, blocks - 1) < 0.8);
        assert!((naming.power(naming.smallest_named(0.8), 10) - 0.8).abs() < 1e-9);
    }

    #[test]
    fn without_any_spread_the_least_number_of_blocks_is_enough() {
        let naming = Naming { sd: 0.0, df: 4.0, blocks: 5, level: Level::P95, comparisons: 100, least_size: 0.0 };
        assert_eq!(naming.blocks_needed(0.01, 0.99), Some(5));
    }

    #[test]
    fn what_ten_thousand_blocks_do_not_find_needs_no_number_of_blocks() {
        let naming = Naming { sd: 1.0, df: 9.0, blocks: 10, level: Level::P95, comparisons: 1, least_size: 0.0 };
        assert_eq!(naming.blocks_needed(1e-4, 0.8), None); // some 800 million
    }

    #[test]
    fn without_a_difference_power_is_the_rate_of_false_ones() {
        let naming = Naming { sd: 1.0, df: 9.0, blocks: 10, level: Level::P95, comparisons: 1, least_size: 0.0 };
        assert!((naming.power(0.0, 7) - 0.05).abs() < 1e-9);
        assert!((naming.power(0.0, 5_000) - 0.05).abs() < 1e-9);
    }
}
