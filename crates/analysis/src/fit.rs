//! Fits all cases of a scenario together by one figure: logarithm = case + block + residual (`tolok_stats::TwoWay`).
//!
//! Verdicts, intervals, tiers, equivalence, the A/A pair, power and recommendations use this fit. So do the values in a table, so
//! their ratios match those shown. For slices, a launch takes the place of a block.

use tolok_stats::{Difference, Twin, Twins, TwoWay};

use crate::estimate::{BlockRatio, geometric_mean};
use crate::findings::Estimate;
use crate::slices::Comparand;

/// Iterations to find the scores of a launch. If every pair of its cases has a ratio, the first iteration is exact.
const ROUNDS: usize = 60;

pub(crate) struct Fit<'a> {
    comparands: Vec<&'a Comparand>,
    fitted: Option<TwoWay>,
    /// The factor by which the noise check widens intervals.
    widening: f64,
}

impl<'a> Fit<'a> {
    pub(crate) fn of(comparands: Vec<&'a Comparand>) -> Self {
        let fitted = TwoWay::of(&scores(&comparands));
        Self { comparands, fitted, widening: 1.0 }
    }

    /// The same with standard errors multiplied by this factor.
    pub(crate) fn widened(self, widening: f64) -> Self {
        Self { widening, ..self }
    }

    /// Evaluates A/A pairs: the index of each pair's case, and the logarithm of its ratio in a block.
    pub(crate) fn twins(&self, pairs: impl Iterator<Item = (usize, f64)>) -> Option<Twins> {
        let twins: Vec<Twin> = pairs.map(|(case, difference)| Twin { case, difference }).collect();
        self.fitted.as_ref()?.twins(&twins)
    }

    /// The first over the second, or `None` if they share no block, or if one of them had no correct response in a shared block.
    pub(crate) fn ratio(&self, a: usize, b: usize) -> Option<BlockRatio> {
        let pair = self.comparands[a].over(self.comparands[b])?;
        Some(match self.fitted.as_ref().and_then(|fitted| fitted.difference(a, b)) {
            Some(difference) => {
                let standard_error = difference.standard_error * self.widening;
                pair.estimated_by(Difference { standard_error, ..difference })
            }
            None => pair,
        })
    }

    /// The geometric mean of a case over the blocks of all cases, with Student's interval of its own logarithms. `None` if
    /// nothing was fitted.
    pub(crate) fn value(&self, case: usize) -> Option<Estimate> {
        let level = self.fitted.as_ref()?.level(case)?;
        let values = self.comparands[case].positive();
        let own = geometric_mean(&values)?;
        // For a case that lacks blocks, the fit moves the value. The relative width of the interval still comes from its own
        // trials.
        Some(own.rising(|value| value * level.exp() / own.value).with_trials(values))
    }
}

/// The input of the fit by case and block, up to an offset that is common to all cases of a block.
fn scores(comparands: &[&Comparand]) -> Vec<Vec<Option<f64>>> {
    let blocks = comparands.iter().map(|comparand| comparand.values.len()).max().unwrap_or(0);
    let of_blocks: Vec<Vec<Option<f64>>> = (0..blocks).map(|block| scores_in(comparands, block)).collect();
    (0..comparands.len()).map(|case| of_blocks.iter().map(|scores| scores[case]).collect()).collect()
}

fn scores_in(comparands: &[&Comparand], block: usize) -> Vec<Option<f64>> {
    let logarithm = |comparand: &&Comparand| {
        comparand.values.get(block).copied().flatten().filter(|value| *value > 0.0).map(f64::ln)
    };
    let logarithms: Vec<Option<f64>> = comparands.iter().map(logarithm).collect();
    if !comparands.iter().any(|comparand| comparand.has_slices(block)) {
        return logarithms;
    }
    // Slices give a ratio for every pair. The scores are the values that match all these ratios best.
    let over = |a: usize, b: usize| comparands[a].log_ratio_in(comparands[b], block);
    let beside: Vec<Vec<(usize, f64)>> = (0..comparands.len())
        .map(|a| (0..comparands.len()).filter(|b| *b != a).filter_map(|b| Some((b, over(a, b)?))).collect())
        .collect();
    let own = |case: usize| logarithms[case].filter(|_| !beside[case].is_empty());
    let mut found: Vec<f64> = (0..comparands.len()).map(|case| own(case).unwrap_or(0.0)).collect();
    for _ in 0..ROUNDS {
        let settled = |case: usize| {
            let sum: f64 = beside[case].iter().map(|(other, difference)| difference + found[*other]).sum();
            // The average includes the case's own score, so the iteration converges without oscillating.
            (sum + found[case]) / (beside[case].len() + 1) as f64
        };
        found = (0..comparands.len()).map(|case| if own(case).is_some() { settled(case) } else { 0.0 }).collect();
    }
    (0..comparands.len()).map(|case| own(case).map(|_| found[case])).collect()
}
