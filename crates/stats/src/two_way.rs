//! Several cases measured in the same blocks, all analysed at once: value = case + block + residual.
//!
//! A t test for each pair uses only the n differences of that pair. On a machine that is sometimes slow, five
//! differences may all come from its fast state, and their scatter shows nothing of the slow one. Here each pair uses
//! the residuals of all cases.
//!
//! 1. Cases and blocks are fitted by least squares; a case may be absent from a block.
//! 2. The **pooled** variance is that of all residuals, and each case has its own. Both are combined as in empirical
//!    Bayes estimation (Smyth 2004): the more alike the cases scatter, the more weight the pooled one has.
//! 3. No case counts as quieter than √(5 / n) of the pooled variance, for n blocks: a case that was not slow in five
//!    blocks may be slow in the sixth. Without this, a subject that its machine slows most looks the most certain.
//! 4. The degrees of freedom of the pooled variance are reduced by its **excess kurtosis** (Box 1953). They are reduced
//!    again if the sums of squares of the blocks scatter more than those of independent residuals: then the residuals
//!    of a block are not independent evidence.
//! 5. A difference of two cases is compared with Student's t at these degrees of freedom.
//!
//! With two cases, steps 2 and 3 give the variance of the paired t test, and only step 4 remains.
//!
//! Sources: G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression in microarray
//! experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004; G. E. P. Box, "Non-normality and tests on
//! variances", Biometrika 40(3/4), 1953; F. E. Grubbs, "On estimating precision of measuring instruments and product
//! variability", Journal of the American Statistical Association 43(242), 1948.

use crate::means::in_standard_errors;
use crate::student::{both_tails, student_t_quantile, upper_tail};
use crate::symmetric::inverse;
use crate::{Interval, Level, VariancePrior};

/// The fewest degrees of freedom ever assumed.
const LEAST_DF: f64 = 2.0;
/// When variances are compared on a log scale, a case's own variance counts as at least this share of the pooled one.
const LEAST_SHARE: f64 = 0.05;

/// Cases and blocks, fitted.
#[derive(Debug, Clone)]
pub struct TwoWay {
    /// By case, then by block.
    cells: Vec<Vec<Option<Cell>>>,
    /// By case, up to a constant for its component.
    effects: Vec<f64>,
    /// By case: its own effect plus the mean effect of all blocks of its component.
    levels: Vec<Option<f64>>,
    /// By case: cases that share blocks, directly or through others, have the same number.
    components: Vec<usize>,
    inverse: Vec<Vec<f64>>,
    variances: Vec<f64>,
    pooled: f64,
    df: f64,
    blocks: usize,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    value: f64,
    residual: f64,
    /// 1 minus the leverage: how much of its own noise is left in the residual.
    free: f64,
}

/// An estimated difference with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
}

impl Difference {
    /// p of "the true difference is `null`", two-sided. `None` if that is not finite.
    pub fn p(&self, null: f64) -> Option<f64> {
        let statistic = in_standard_errors(self.value - null, self.standard_error)?;
        Some(both_tails(statistic, self.df))
    }

    /// p of "the true difference lies outside (−margin, margin)": the larger p of two one-sided tests (Schuirmann
    /// 1987). `None` unless the margin is positive and finite.
    pub fn p_equivalence(&self, margin: f64) -> Option<f64> {
        if !(margin > 0.0 && margin.is_finite()) {
            return None;
        }
        let inside = in_standard_errors(margin - self.value.abs(), self.standard_error)?;
        Some(upper_tail(inside, self.df))
    }

    /// The likely true value of a difference that was noticed *because* it was beyond `threshold`. It is the value for
    /// which half of all estimates that pass the threshold would be larger than this one. If the difference does not
    /// pass, it is the estimate itself.
    ///
    /// Estimates that just pass are too large on average, the more so the fewer blocks there are (*winner's curse*; H.
    /// Zhong and R. L. Prentice, "Bias-reduced estimators and confidence intervals for odds ratios in genome-wide
    /// association studies", Biostatistics 9(4), 2008). The result never crosses 0.
    pub fn given_noticed(&self, threshold: f64) -> f64 {
        let seen = self.value.abs();
        if !(seen > threshold && self.standard_error > 0.0) {
            return self.value;
        }
        let beyond = |limit: f64, truth: f64| upper_tail((limit - truth) / self.standard_error, self.df);
        let is_too_large = |truth: f64| beyond(seen, truth) > 0.5 * beyond(threshold, truth);
        let (mut low, mut high) = (0.0, seen);
        if is_too_large(low) {
            return 0.0;
        }
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if is_too_large(middle) { high = middle } else { low = middle }
        }
        ((low + high) / 2.0).copysign(self.value)
    }

    /// Student's interval.
    pub fn interval(&self, level: Level) -> Interval {
        let reach = student_t_quantile(1.0 - level.miss() / 2.0, self.df) * self.standard_error;
        Interval { low: self.value - reach, high: self.value + reach, level: level.fraction() }
    }
}

impl TwoWay {
    /// Fits values by case, then by block; cases may have different numbers of blocks. Values that are not finite count
    /// as absent. `None` if nothing is left to estimate a variance from.
    ///
    /// ```
    /// use tolok_stats::{Level, TwoWay};
    ///
    /// // The second case is 0.5 above the first, whatever the blocks do to both.
    /// let fitted = TwoWay::of(&[
    ///     vec![Some(1.0), Some(2.1), Some(3.0), None, Some(5.0)],
    ///     vec![Some(1.5), Some(2.5), Some(3.6), Some(4.5), Some(5.4)],
    /// ]).expect("four common blocks");
    /// let difference = fitted.difference(1, 0).expect("both cases were fitted");
    /// assert!((difference.value - 0.475).abs() < 1e-12);
    /// assert!(difference.interval(Level::P95).contains(0.5));
    /// ```
    pub fn of(rows: &[Vec<Option<f64>>]) -> Option<Self> {
        let blocks = rows.iter().map(Vec::len).max().unwrap_or(0);
        let at = |case: usize, block: usize| rows[case].get(block).copied().flatten().filter(|value| value.is_finite());
        let values: Vec<Vec<Option<f64>>> =
            (0..rows.len()).map(|case| (0..blocks).map(|block| at(case, block)).collect()).collect();
        Layout::of(&values).fitted(&values)
    }

    /// The first minus the second. `None` if they share no block, not even through other cases.
    pub fn difference(&self, a: usize, b: usize) -> Option<Difference> {
        if a == b || self.components.get(a)? != self.components.get(b)? {
            return None;
        }
        let variance: f64 = (0..self.blocks).map(|block| self.variance_from(block, a, b)).sum();
        Some(Difference { value: self.effects[a] - self.effects[b], standard_error: variance.sqrt(), df: self.df })
    }

    /// The level of a case in the average block of its component. Two levels differ by exactly [`TwoWay::difference`].
    /// `None` without values.
    pub fn level(&self, case: usize) -> Option<f64> {
        self.levels.get(case).copied().flatten()
    }

    /// The variance of a value of this case around its case and block effects.
    pub fn variance(&self, case: usize) -> Option<f64> {
        self.variances.get(case).copied()
    }

    /// The variance of all residuals.
    pub fn pooled_variance(&self) -> f64 {
        self.pooled
    }

    /// Degrees of freedom that the residuals are worth.
    pub fn df(&self) -> f64 {
        self.df
    }

    /// What the values of a block contribute to the variance of a difference.
    fn variance_from(&self, block: usize, a: usize, b: usize) -> f64 {
        let present: Vec<(usize, f64)> = (0..self.cells.len())
            .filter(|case| self.cells[*case][block].is_some())
            .map(|case| (case, self.inverse[case][a] - self.inverse[case][b]))
            .collect();
        let mean = present.iter().map(|(_, weight)| weight).sum::<f64>() / present.len().max(1) as f64;
        present.iter().map(|(case, weight)| (weight - mean).powi(2) * self.variances[*case]).sum()
    }
}

/// Which case was measured in which block.
struct Layout {
    /// By block: the cases in it.
    blocks: Vec<Vec<usize>>,
    components: Vec<usize>,
    inverse: Vec<Vec<f64>>,
}

impl Layout {
    fn of(values: &[Vec<Option<f64>>]) -> Self {
        let number = values.iter().map(Vec::len).max().unwrap_or(0);
        let has = |block: usize| (0..values.len()).filter(|case| values[*case][block].is_some()).collect();
        let blocks: Vec<Vec<usize>> = (0..number).map(has).collect();
        let components = components(values.len(), &blocks);
        // Cases differ by what is left after subtracting each block's mean. A constant for each component makes the
        // matrix regular, and cancels in every difference.
        let mut normal = vec![vec![0.0; values.len()]; values.len()];
        for cases in &blocks {
            for &case in cases {
                normal[case][case] += 1.0;
                cases.iter().for_each(|other| normal[case][*other] -= 1.0 / cases.len() as f64);
            }
        }
        for (a, row) in normal.iter_mut().enumerate() {
            for (b, cell) in row.iter_mut().enumerate() {
                if components[a] == components[b] {
                    *cell += 1.0;
                }
            }
        }
        Self { blocks, components, inverse: inverse(normal) }
    }

    fn fitted(self, values: &[Vec<Option<f64>>]) -> Option<TwoWay> {
        let value = |case: usize, block: usize| values[case][block].unwrap_or(0.0);
        let mut right = vec![0.0; values.len()];
        for (block, cases) in self.blocks.iter().enumerate() {
            let mean = cases.iter().map(|case| value(*case, block)).sum::<f64>() / cases.len().max(1) as f64;
            cases.iter().for_each(|case| right[*case] += value(*case, block) - mean);
        }
        let effects: Vec<f64> =
            self.inverse.iter().map(|row| row.iter().zip(&right).map(|(cell, right)| cell * right).sum()).collect();
        let of_block = |(block, cases): (usize, &Vec<usize>)| {
            let sum: f64 = cases.iter().map(|case| value(*case, block) - effects[*case]).sum();
            sum / cases.len().max(1) as f64
        };
        let of_blocks: Vec<f64> = self.blocks.iter().enumerate().map(of_block).collect();
        let mut cells = vec![vec![None; self.blocks.len()]; values.len()];
        for (block, cases) in self.blocks.iter().enumerate() {
            for &case in cases {
                let residual = value(case, block) - effects[case] - of_blocks[block];
                let free = 1.0 - self.leverage(case, cases);
                cells[case][block] = Some(Cell { value: value(case, block), residual, free });
            }
        }
        let levels = self.levels(&effects, &of_blocks);
        let spread = Spread::of(&cells, &self)?;
        Some(TwoWay {
            levels,
            variances: spread.variances(&cells, &self.blocks),
            pooled: spread.pooled,
            df: spread.df,
            blocks: self.blocks.len(),
            components: self.components,
            inverse: self.inverse,
            effects,
            cells,
        })
    }

    /// How much the fit follows a value.
    fn leverage(&self, case: usize, present: &[usize]) -> f64 {
        let size = present.len() as f64;
        let weight = |other: usize| f64::from(u8::from(other == case)) - 1.0 / size;
        let through = |a: usize| present.iter().map(|b| self.inverse[a][*b] * weight(*b)).sum::<f64>();
        1.0 / size + present.iter().map(|a| weight(*a) * through(*a)).sum::<f64>()
    }

    fn levels(&self, effects: &[f64], of_blocks: &[f64]) -> Vec<Option<f64>> {
        let level = |case: usize| {
            let own =
                |cases: &Vec<usize>| cases.first().is_some_and(|at| self.components[*at] == self.components[case]);
            let (sum, number) = (self.blocks.iter().zip(of_blocks).filter(|(cases, _)| own(cases)))
                .fold((0.0, 0.0), |(sum, number), (_, block)| (sum + block, number + 1.0));
            (number > 0.0).then(|| effects[case] + sum / number)
        };
        (0..effects.len()).map(level).collect()
    }
}

/// The component number of each case; cases that share blocks have the same.
fn components(cases: usize, blocks: &[Vec<usize>]) -> Vec<usize> {
    let mut component: Vec<usize> = (0..cases).collect();
    for present in blocks {
        let Some(least) = present.iter().map(|case| component[*case]).min() else { continue };
        let joined: Vec<usize> = present.iter().map(|case| component[*case]).collect();
        component.iter_mut().filter(|it| joined.contains(it)).for_each(|it| *it = least);
    }
    component
}

/// The scatter of values around their case and block effects.
struct Spread {
    pooled: f64,
    df: f64,
}

impl Spread {
    fn of(cells: &[Vec<Option<Cell>>], layout: &Layout) -> Option<Self> {
        let all: Vec<Cell> = cells.iter().flatten().flatten().copied().collect();
        // Values that the fit follows exactly show nothing.
        let free: f64 = all.iter().map(|cell| cell.free).sum();
        if free < 0.5 {
            return None;
        }
        let squares: f64 = all.iter().map(|cell| cell.residual.powi(2)).sum();
        // Residuals of values that do not scatter are rounding errors, and have no shape.
        let size = all.iter().map(|cell| cell.value.abs()).fold(1.0, f64::max);
        if squares.sqrt() <= 1e-13 * size * all.len() as f64 {
            return Some(Self { pooled: 0.0, df: free });
        }
        let tails = 1.0 + excess_kurtosis(&all).max(0.0) / 2.0;
        let blocks = (worth_of_blocks(cells, &layout.blocks) / free).min(1.0);
        Some(Self { pooled: squares / free, df: (free / tails * blocks).max(LEAST_DF.min(free)) })
    }

    /// By case, from its own residuals and those of all.
    fn variances(&self, cells: &[Vec<Option<Cell>>], blocks: &[Vec<usize>]) -> Vec<f64> {
        let own: Vec<Option<Own>> = cells.iter().map(|row| self.own(row, blocks)).collect();
        let known: Vec<(f64, f64)> = own.iter().flatten().map(|own| (own.variance, own.df)).collect();
        let prior = VariancePrior::of_each(&known).map_or(f64::INFINITY, |prior| prior.df);
        let least = |df: f64| self.pooled * (Level::LEAST_SAMPLE as f64 / (df + 1.0)).sqrt().min(1.0);
        let of = |own: Option<Own>| match own {
            None => self.pooled,
            Some(own) if prior.is_infinite() => self.pooled.max(least(own.df)),
            Some(own) => ((prior * self.pooled + own.df * own.variance) / (prior + own.df)).max(least(own.df)),
        };
        own.into_iter().map(of).collect()
    }

    /// The own variance of a case. `None` if it cannot be separated from that of the others (Grubbs 1948), as with
    /// fewer than three cases.
    fn own(&self, row: &[Option<Cell>], blocks: &[Vec<usize>]) -> Option<Own> {
        let present: Vec<(Cell, usize)> =
            row.iter().zip(blocks).filter_map(|(cell, cases)| Some(((*cell)?, cases.len()))).collect();
        let n = present.len() as f64;
        let beside = present.iter().map(|(_, cases)| *cases as f64).sum::<f64>() / n.max(1.0);
        let free: f64 = present.iter().map(|(cell, _)| cell.free).sum();
        if self.pooled <= 0.0 || n < 2.0 || beside < 2.5 || free < 0.5 {
            return None;
        }
        let of_residuals = present.iter().map(|(cell, _)| cell.residual.powi(2)).sum::<f64>() / free;
        // Part of a residual is the noise of the other cases, through the block's effect.
        let variance = (of_residuals - self.pooled / (beside - 1.0)) * (beside - 1.0) / (beside - 2.0);
        Some(Own { variance: variance.max(LEAST_SHARE * self.pooled), df: n - 1.0 })
    }
}

/// The variance of one case.
#[derive(Debug, Clone, Copy)]
struct Own {
    variance: f64,
    df: f64,
}

fn excess_kurtosis(cells: &[Cell]) -> f64 {
    let mean = |power: i32| cells.iter().map(|cell| cell.residual.powi(power)).sum::<f64>() / cells.len() as f64;
    mean(4) / mean(2).powi(2) - 3.0
}

/// Degrees of freedom from how much the mean squares of the blocks scatter. For independent normal residuals it is the
/// number of residuals.
fn worth_of_blocks(cells: &[Vec<Option<Cell>>], blocks: &[Vec<usize>]) -> f64 {
    let mean_square = |(block, cases): (usize, &Vec<usize>)| {
        let present = || cases.iter().filter_map(|case| cells[*case][block]);
        let free: f64 = present().map(|cell| cell.free).sum();
        (free > 1e-9).then(|| present().map(|cell| cell.residual.powi(2)).sum::<f64>() / free)
    };
    let squares: Vec<f64> = blocks.iter().enumerate().filter_map(mean_square).collect();
    let n = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / n;
    let variance = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance > 0.0 { 2.0 * n * mean * mean / variance } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[&[f64]]) -> Vec<Vec<Option<f64>>> {
        values.iter().map(|row| row.iter().map(|value| Some(*value)).collect()).collect()
    }

    #[test]
    fn two_cases_have_the_standard_error_of_the_paired_t_test() {
        let fitted = TwoWay::of(&rows(&[&[1.0, 2.0, 3.5, 4.0, 7.0], &[0.8, 2.1, 3.0, 3.6, 6.1]])).unwrap();
        let found = fitted.difference(0, 1).unwrap();
        // Differences 0.2, −0.1, 0.5, 0.4, 0.9: mean 0.38, variance 0.137.
        assert!((found.value - 0.38).abs() < 1e-12);
        assert!((found.standard_error - (0.137f64 / 5.0).sqrt()).abs() < 1e-12);
        assert!(found.df <= 4.0);
    }

    #[test]
    fn a_shift_of_a_whole_block_changes_no_difference() {
        let plain = [[1.0, 1.3, 0.9, 1.1, 1.2], [2.0, 2.1, 2.2, 1.9, 2.4], [0.1, 0.4, 0.2, 0.6, 0.3]];
        let shifts = [5.0, -3.0, 0.5, 100.0, 7.0];
        let moved: Vec<Vec<f64>> =
            plain.iter().map(|row| row.iter().zip(shifts).map(|(value, shift)| value + shift).collect()).collect();
        let of = |rows_of: Vec<&[f64]>| TwoWay::of(&rows(&rows_of)).unwrap().difference(0, 2).unwrap();
        let (before, after) =
            (of(plain.iter().map(|row| &row[..]).collect()), of(moved.iter().map(|row| &row[..]).collect()));
        assert!((before.value - after.value).abs() < 1e-10);
        assert!((before.standard_error - after.standard_error).abs() < 1e-10);
        assert!((before.df - after.df).abs() < 1e-6);
    }

    #[test]
    fn levels_differ_by_what_differences_say_even_with_gaps() {
        let mut rows = rows(&[&[1.0, 2.0, 3.5, 4.0, 7.0], &[0.8, 2.1, 3.0, 3.6, 6.1], &[2.0, 3.0, 4.1, 5.2, 8.0]]);
        (rows[0][1], rows[1][4]) = (None, None);
        let fitted = TwoWay::of(&rows).unwrap();
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let by_level = fitted.level(a).unwrap() - fitted.level(b).unwrap();
            assert!((fitted.difference(a, b).unwrap().value - by_level).abs() < 1e-12);
        }
    }

    #[test]
    fn cases_that_share_no_block_have_no_difference() {
        let rows = vec![
            vec![Some(1.0), Some(2.0), Some(3.0), None, None, None],
            vec![Some(1.1), Some(2.3), Some(3.0), None, None, None],
            vec![None, None, None, Some(4.0), Some(5.0), Some(6.0)],
            vec![None, None, None, Some(4.1), Some(5.3), Some(6.0)],
        ];
        let fitted = TwoWay::of(&rows).unwrap();
        assert!(fitted.difference(0, 1).is_some() && fitted.difference(2, 3).is_some());
        assert_eq!((fitted.difference(0, 2), fitted.difference(1, 1)), (None, None));
    }

    #[test]
    fn a_quiet_case_among_noisy_ones_is_trusted_more_with_more_blocks() {
        let quiet = |n: usize| {
            let wave =
                |size: f64, step: usize| move |at: usize| size * [1.0, -0.4, 0.7, -1.3][(at * step + at / 4) % 4];
            let row = |size: f64, step: usize| (0..n).map(wave(size, step)).collect::<Vec<f64>>();
            let all = [row(0.001, 1), row(0.3, 1), row(0.2, 3), row(0.25, 2)];
            let fitted = TwoWay::of(&rows(&all.each_ref().map(Vec::as_slice))).unwrap();
            fitted.variance(0).unwrap() / fitted.pooled_variance()
        };
        assert!(quiet(5) >= 1.0 - 1e-9, "{}", quiet(5));
        assert!((0.25..0.9).contains(&quiet(20)), "{}", quiet(20));
    }

    #[test]
    fn values_that_do_not_scatter_are_certain() {
        let fitted = TwoWay::of(&rows(&[&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.5, 2.5, 3.5, 4.5, 5.5]])).unwrap();
        let found = fitted.difference(1, 0).unwrap();
        assert_eq!(
            (found.p(0.0), found.p_equivalence(0.6), found.p_equivalence(0.4)),
            (Some(0.0), Some(0.0), Some(1.0))
        );
    }

    #[test]
    fn a_difference_that_just_passed_is_likely_smaller_and_a_clear_one_is_not() {
        let at = |value: f64| Difference { value, standard_error: 1.0, df: 20.0 };
        assert_eq!(at(3.0).given_noticed(4.0), 3.0, "it did not pass");
        assert!(at(3.4).given_noticed(3.3) < 1.0);
        assert!((-5.0..-4.0).contains(&at(-5.0).given_noticed(3.3)));
        assert!((at(12.0).given_noticed(3.3) - 12.0).abs() < 1e-3);
    }

    #[test]
    fn no_values_give_no_fit() {
        assert!(TwoWay::of(&[]).is_none());
        assert!(TwoWay::of(&rows(&[&[1.0, 2.0, 3.0]])).is_none());
        assert!(TwoWay::of(&rows(&[&[1.0], &[2.0]])).is_none());
        assert!(TwoWay::of(&rows(&[&[f64::NAN, 1.0], &[2.0, f64::INFINITY]])).is_none());
    }
}
