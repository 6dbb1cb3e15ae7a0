//! Whether cases differ more between groups of blocks than within a group, such as blocks on different machines.
//!
//! Analysis of variance of the interaction. Each value loses its block's mean and its case's mean, and the rest is
//! compared between and within groups. One-way, with unequal groups (S. R. Searle, G. Casella, C. E. McCulloch,
//! Variance Components, 1992, 3.6).

use crate::twins::f_upper_tail;

/// How much differences between cases scatter, within a group of blocks and beyond that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenGroups {
    /// Standard deviation of a case in a block, within a group.
    pub within_sd: f64,
    /// What groups add to it. 0 if groups differ no more than blocks do.
    pub between_sd: f64,
    /// How often groups that add nothing would differ as much: Fisher's F test.
    pub p: f64,
}

/// Judges tables of cases (rows) by blocks (columns), given the group of each block. A block counts in a table if every
/// case has a value in it. `None` with fewer than two groups, fewer than two cases, or no group with two blocks; also
/// if nothing scatters.
pub fn between_groups(tables: &[Vec<Vec<Option<f64>>>], groups: &[usize]) -> Option<BetweenGroups> {
    let mut all = Squares::default();
    tables.iter().filter_map(|rows| Squares::of(rows, groups)).for_each(|one| all.add(&one));
    let (between, within) = (all.between / all.df_between, all.within / all.df_within);
    if !(all.df_between >= 1.0 && all.df_within >= 1.0 && within > 0.0) {
        return None;
    }
    let size = all.sizes / all.df_between;
    Some(BetweenGroups {
        within_sd: within.sqrt(),
        between_sd: ((between - within) / size).max(0.0).sqrt(),
        p: f_upper_tail(between / within, all.df_between, all.df_within),
    })
}

/// Sums of squares and their degrees of freedom.
#[derive(Debug, Default)]
struct Squares {
    between: f64,
    within: f64,
    df_between: f64,
    df_within: f64,
    /// The effective size of a group, times its degrees of freedom.
    sizes: f64,
}

impl Squares {
    fn add(&mut self, other: &Self) {
        self.between += other.between;
        self.within += other.within;
        self.df_between += other.df_between;
        self.df_within += other.df_within;
        self.sizes += other.sizes;
    }

    fn of(rows: &[Vec<Option<f64>>], groups: &[usize]) -> Option<Self> {
        let value = |row: &Vec<Option<f64>>, block: usize| row.get(block).copied().flatten();
        let blocks: Vec<usize> =
            (0..groups.len()).filter(|block| rows.iter().all(|row| value(row, *block).is_some())).collect();
        let mut members = vec![0.0_f64; groups.iter().max()? + 1];
        blocks.iter().for_each(|block| members[groups[*block]] += 1.0);
        let used = members.iter().filter(|members| **members > 0.0).count() as f64;
        let (cases, all) = (rows.len() as f64, blocks.len() as f64);
        if cases < 2.0 || used < 2.0 || all <= used {
            return None;
        }
        let block_means: Vec<f64> =
            blocks.iter().map(|block| rows.iter().filter_map(|row| value(row, *block)).sum::<f64>() / cases).collect();
        let mut squares = Self::default();
        for row in rows {
            let off: Vec<f64> =
                blocks.iter().zip(&block_means).filter_map(|(block, mean)| Some(value(row, *block)? - mean)).collect();
            let mean = off.iter().sum::<f64>() / all;
            let mut sums = vec![0.0; members.len()];
            off.iter().zip(&blocks).for_each(|(off, block)| sums[groups[*block]] += off - mean);
            let of_groups: f64 =
                sums.iter().zip(&members).filter(|(_, members)| **members > 0.0).map(|(sum, n)| sum * sum / n).sum();
            squares.between += of_groups;
            squares.within += off.iter().map(|off| (off - mean).powi(2)).sum::<f64>() - of_groups;
        }
        squares.df_between = (cases - 1.0) * (used - 1.0);
        squares.df_within = (cases - 1.0) * (all - used);
        let size = (all - members.iter().map(|n| n * n).sum::<f64>() / all) / (used - 1.0);
        squares.sizes = size * squares.df_between;
        Some(squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Cases in blocks: noise with a standard deviation of about 1, a drift that all share, and `shift` of the first
    /// case in the blocks of group 1.
    fn rows(cases: usize, groups: &[usize], shift: f64, rng: &mut Rng) -> Vec<Vec<Option<f64>>> {
        let mut noise = || (0..12).map(|_| rng.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0;
        let drift: Vec<f64> = groups.iter().map(|_| 10.0 * noise()).collect();
        let row = |case: usize, noise: &mut dyn FnMut() -> f64| {
            let shifted = |group: &usize| if case == 0 && *group == 1 { shift } else { 0.0 };
            groups.iter().zip(&drift).map(|(group, drift)| Some(drift + noise() + shifted(group))).collect()
        };
        (0..cases).map(|case| row(case, &mut noise)).collect()
    }

    #[test]
    fn groups_that_add_nothing_are_called_different_as_often_as_the_level_says() {
        let (mut rng, groups) = (Rng::seeded(7), [0, 1, 2, 0, 1, 2, 0, 1, 0, 0]);
        let found: Vec<BetweenGroups> =
            (0..2000).map(|_| between_groups(&[rows(4, &groups, 0.0, &mut rng)], &groups).unwrap()).collect();
        let called = found.iter().filter(|one| one.p < 0.05).count();
        assert!((70..130).contains(&called), "{called} of 2000");
        let mean = found.iter().map(|one| one.within_sd.powi(2)).sum::<f64>() / 2000.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    /// A case that is `s` faster on one of two machines. The components of four cases are s/2 × √(3/4) for the first
    /// and less for the others, in total a variance of s² / 2 × (1 - 1/4) / 3.
    #[test]
    fn a_machine_on_which_one_case_is_faster_is_found() {
        let (mut rng, groups, shift) = (Rng::seeded(8), [0, 1, 0, 1, 0, 1, 0, 1], 6.0_f64);
        let found: Vec<BetweenGroups> =
            (0..500).map(|_| between_groups(&[rows(4, &groups, shift, &mut rng)], &groups).unwrap()).collect();
        assert!(found.iter().filter(|one| one.p < 0.05).count() > 490);
        let mean = found.iter().map(|one| one.between_sd.powi(2)).sum::<f64>() / 500.0;
        let expected = shift * shift / 2.0 * 0.75 / 3.0;
        assert!((mean / expected - 1.0).abs() < 0.05, "{mean} against {expected}");
    }

    #[test]
    fn tables_are_judged_together_and_blocks_with_a_gap_are_left_out() {
        let (mut rng, groups) = (Rng::seeded(9), [0, 0, 0, 1, 1, 1]);
        let (one, mut other) = (rows(3, &groups, 1.0, &mut rng), rows(2, &groups, 1.0, &mut rng));
        let both = between_groups(&[one.clone(), other.clone()], &groups).unwrap();
        assert_ne!(Some(both), between_groups(std::slice::from_ref(&one), &groups));
        other[0][2] = None;
        other[1][2] = Some(1e9);
        assert!(between_groups(&[one, other], &groups).unwrap().within_sd < 10.0);
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        let row = || vec![Some(1.0), Some(2.0), Some(3.0)];
        assert_eq!(between_groups(&[vec![row(), row()]], &[0, 0, 0]), None, "one group");
        assert_eq!(between_groups(&[vec![row()]], &[0, 0, 1]), None, "one case");
        assert_eq!(between_groups(&[vec![row(), row()]], &[0, 1, 2]), None, "no group of two");
        assert_eq!(between_groups(&[vec![row(), row()]], &[0, 0, 1]), None, "nothing scatters");
        assert_eq!(between_groups(&[], &[]), None);
    }
}
