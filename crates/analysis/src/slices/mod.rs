//! Cases that took turns in a launch: servers in slices and programs run by run. This module compares two of them and describes
//! the slices and turns.
//!
//! A launch is to slices what a block is to trials: the unit of replication. Slices of one launch are not replicates, because a
//! process may be slower for its whole life. So each launch gives one ratio of two cases, and the interval is over launches.

mod finding;
mod lengths;
mod spread;
mod turns;
mod warming;

pub(crate) use finding::slices_finding;
pub(crate) use turns::turns_finding;

use tolok_model::{Measurement, SliceRow};
use tolok_stats::{Sample, hodges_lehmann};

use crate::estimate::{BlockRatio, ratio_within_blocks};
use crate::observations::{Found, Observations, Trials};

/// A figure of a slice, or `None` if it has none.
pub(crate) type OfSlice = fn(&SliceRow) -> Option<f64>;

pub(crate) fn goodput(row: &SliceRow) -> Option<f64> {
    Some(row.goodput_rps()).filter(|rate| *rate > 0.0)
}

pub(crate) fn cpu_per_good(row: &SliceRow) -> Option<f64> {
    row.cpu_s_per_good().filter(|cpu_s| *cpu_s > 0.0)
}

pub(crate) fn good_per_cpu_second(row: &SliceRow) -> Option<f64> {
    cpu_per_good(row).map(f64::recip)
}

/// A slice of a server or a turn of a program: round, half, and its figure, if it has one.
pub(crate) type Turn = (u32, u32, Option<f64>);

/// What a case is compared by: a figure of each block, and of each slice or turn if there are any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Comparand {
    /// By block; `None` without a figure.
    pub(crate) values: Vec<Option<f64>>,
    /// By block: round, half, and the logarithm of the figure. Empty without slices.
    slices: Vec<Vec<(u32, u32, f64)>>,
    /// By block: number of slices, with or without a figure.
    given: Vec<usize>,
}

impl From<Vec<Option<f64>>> for Comparand {
    fn from(values: Vec<Option<f64>>) -> Self {
        Self { values, ..Self::default() }
    }
}

impl Comparand {
    /// Compares by `values` without slices, and otherwise by `of` each slice.
    pub(crate) fn of(observations: &Observations, values: Vec<Option<f64>>, of: OfSlice) -> Self {
        Self::among(observations, values, of, |_| true)
    }

    /// The same with only some of the slices.
    pub(crate) fn among(
        observations: &Observations,
        values: Vec<Option<f64>>,
        of: OfSlice,
        is_meant: impl Fn(&SliceRow) -> bool,
    ) -> Self {
        let of_trial = |trial: &Measurement| {
            let rows = trial.slices.iter().flat_map(|slices| &slices.rows);
            rows.filter(|row| is_meant(row)).map(|row| (row.round, row.half, of(row))).collect()
        };
        Self::in_turns(observations, values, of_trial)
    }

    /// Compares by `values` without turns, and otherwise by the turns that `of` finds in each trial.
    pub(crate) fn in_turns<T: Found>(
        trials: &Trials<T>,
        values: Vec<Option<f64>>,
        of: impl Fn(&T) -> Vec<Turn>,
    ) -> Self {
        let in_block = |block: u32| trials.scored.iter().find(|(scored_in, _)| *scored_in == block);
        let turns: Vec<Vec<Turn>> = (1..=values.len() as u32)
            .map(|block| in_block(block).map(|(_, found)| of(found)).unwrap_or_default())
            .collect();
        let logarithm = |(round, half, figure): &Turn| Some((*round, *half, figure.as_ref()?.ln()));
        let slices = turns.iter().map(|turns| turns.iter().filter_map(logarithm).collect()).collect();
        Self { slices, given: turns.iter().map(Vec::len).collect(), values }
    }

    /// Differences of the logarithms of two cases in each half of each round of a block.
    pub(crate) fn differences(&self, other: &Self, block: usize) -> Vec<f64> {
        let empty = Vec::new();
        let (own, theirs) = (self.slices.get(block).unwrap_or(&empty), other.slices.get(block).unwrap_or(&empty));
        let paired = own.iter().filter_map(|(round, half, value)| {
            let beside =
                theirs.iter().find(|(other_round, other_half, _)| (other_round, other_half) == (round, half))?;
            Some(value - beside.2)
        });
        paired.collect()
    }

    /// The ratio of a block. For slices, it is the Hodges-Lehmann estimate of their differences, if most of them give one. A
    /// program that ran out of time has fewer turns than others, and the smaller number counts.
    fn ratio_in(&self, other: &Self, block: usize) -> Option<[f64; 2]> {
        let values = (self.values.get(block).copied().flatten(), other.values.get(block).copied().flatten());
        let given = |comparand: &Self| comparand.given.get(block).copied().unwrap_or(0);
        if given(self) == 0 || given(other) == 0 {
            return values.0.zip(values.1).map(<[f64; 2]>::from);
        }
        values.0.zip(values.1)?;
        let differences = self.differences(other, block);
        if 2 * differences.len() < given(self).min(given(other)) {
            return None;
        }
        Some([hodges_lehmann(&Sample::new(&differences).ok()?).exp(), 1.0])
    }

    /// The same as a logarithm, or `None` if either had no correct response.
    pub(crate) fn log_ratio_in(&self, other: &Self, block: usize) -> Option<f64> {
        let [above, below] = self.ratio_in(other, block)?;
        (above > 0.0 && below > 0.0).then(|| (above / below).ln())
    }

    pub(crate) fn has_slices(&self, block: usize) -> bool {
        self.given.get(block).is_some_and(|given| *given > 0)
    }

    /// The values of its blocks that have a logarithm.
    pub(crate) fn positive(&self) -> Vec<f64> {
        self.values.iter().flatten().copied().filter(|value| *value > 0.0).collect()
    }

    /// The ratio over the blocks that both have.
    pub(crate) fn over(&self, other: &Self) -> Option<BlockRatio> {
        let blocks = self.values.len().max(other.values.len());
        let both: Vec<Option<[f64; 2]>> = (0..blocks).map(|block| self.ratio_in(other, block)).collect();
        let part = |which: usize| both.iter().map(|pair| pair.map(|pair| pair[which])).collect::<Vec<_>>();
        ratio_within_blocks(&part(0), &part(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparand<const SLICES: usize>(blocks: &[[f64; SLICES]]) -> Comparand {
        let slices = blocks.iter().map(|block| {
            let rows = block.iter().enumerate();
            rows.map(|(place, value)| (place as u32 / 2 + 1, place as u32 % 2 + 1, value.ln())).collect()
        });
        let values = blocks.iter().map(|block| Some(block.iter().sum::<f64>() / block.len() as f64)).collect();
        Comparand { values, slices: slices.collect(), given: blocks.iter().map(|block| block.len()).collect() }
    }

    #[test]
    fn slices_are_compared_with_their_neighbours_and_not_by_their_sum() {
        // The machine is ten times slower in the second round, and a stall ruins one slice.
        let above = comparand(&[[20.0, 20.0, 2.0, 2.0, 20.0, 0.1]; 5]);
        let below = comparand(&[[10.0, 10.0, 1.0, 1.0, 10.0, 10.0]; 5]);
        let found = above.over(&below).unwrap();
        assert!((found.ratio.value - 2.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.blocks, 5);
    }

    #[test]
    fn a_launch_in_which_most_slices_lack_a_figure_gives_no_ratio() {
        let mut above = comparand(&[[20.0; 4]; 2]);
        above.slices[1].truncate(1);
        let found = above.over(&comparand(&[[10.0; 4]; 2])).unwrap();
        assert_eq!((found.blocks, found.numbers), (1, vec![1]));
    }

    #[test]
    fn blocks_without_slices_are_compared_by_their_figures() {
        let above = Comparand::from(vec![Some(20.0), None, Some(30.0)]);
        let below = Comparand::from(vec![Some(10.0), Some(1.0), Some(10.0)]);
        let found = above.over(&below).unwrap();
        assert_eq!((found.blocks, found.ratio.trials), (2, vec![2.0, 3.0]));
    }
}
