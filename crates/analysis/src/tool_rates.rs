//! Whether tools that loaded the same server differ in a figure: by its ratio within blocks, as for any two cases.
//!
//! The two tools that are farthest apart are selected by their result, so their interval is the one for all pairs of tools
//! together.

use tolok_model::Measurement;

use crate::estimate::{BlockRatio, least_trials, ratio_within_blocks, size};
use crate::figures::{Quantity, counted, figure};
use crate::findings::{Estimate, ToolRow, Verdict};
use crate::tools::Answerer;
use crate::verdict::{Judged, Rule, judge_pairs};

pub(crate) type Said<'a> = (&'a ToolRow, f64);

/// The measurements of one subject's tools, block by block.
pub(crate) struct Tools<'a> {
    pub(crate) answerers: &'a [Answerer<'a>],
    /// Differences smaller than this fraction do not matter.
    pub(crate) smallest_effect: f64,
}

/// The two tools that are farthest apart.
pub(crate) struct Ends<'a> {
    pub(crate) lowest: Said<'a>,
    pub(crate) highest: Said<'a>,
    /// The highest over the lowest, within blocks, with the interval for all pairs together, or `None` without a common block.
    pub(crate) ratio: Option<Estimate>,
    /// Blocks that they share.
    pub(crate) blocks: u32,
    pub(crate) verdict: Verdict,
}

impl<'a> Tools<'a> {
    /// A figure of one tool over that of another, within blocks.
    pub(crate) fn over(&self, above: &ToolRow, below: &ToolRow, of: Of) -> Option<BlockRatio> {
        let blocks = |row: &ToolRow| {
            let answerer = self.answerers.iter().find(|it| it.scenario.id == row.scenario)?;
            Some(answerer.observations.by_block(of))
        };
        ratio_within_blocks(&blocks(above)?, &blocks(below)?)
    }

    /// The lowest and the highest of these tools (with ties, the first in the order of the study), and whether they differ in the
    /// figure of their values. `None` with fewer than two.
    pub(crate) fn ends(&self, said: &[Said<'a>], of: Of) -> Option<Ends<'a>> {
        let highest = *said.iter().rev().max_by(|left, right| left.1.total_cmp(&right.1))?;
        let others = || said.iter().filter(|(row, _)| row.scenario != highest.0.scenario);
        let lowest = *others().min_by(|left, right| left.1.total_cmp(&right.1))?;
        let between = others().filter(|(row, _)| row.scenario != lowest.0.scenario).copied();
        let all: Vec<Said> = std::iter::once(highest).chain(between).chain([lowest]).collect();
        let rule = Rule::of(self.smallest_effect);
        // The highest is the first in the list, and the lowest the last.
        let of_ends = (0, all.len() - 1);
        let mut judged = judge_pairs(all.len(), |a, b| self.over(all[a].0, all[b].0, of), rule).into_iter();
        let pair = judged.find(|(places, _)| *places == of_ends).map(|(_, judged)| judged);
        let (verdict, blocks) = pair.as_ref().map_or((Verdict::CannotTell, 0), |it| (it.verdict, it.pair.blocks));
        Some(Ends { lowest, highest, ratio: pair.map(simultaneous), blocks, verdict })
    }
}

pub(crate) type Of = fn(&Measurement) -> Option<f64>;

fn simultaneous(judged: Judged) -> Estimate {
    let (low, high) = (judged.simultaneous.map(|it| it.low), judged.simultaneous.map(|it| it.high));
    Estimate { low, high, ..judged.pair.ratio }
}

impl Ends<'_> {
    /// How far apart they are within blocks, in either direction.
    pub(crate) fn size(&self) -> f64 {
        self.ratio.as_ref().map_or(0.0, |ratio| size(ratio.value))
    }

    /// `1.04×, 1.02–1.06 within blocks`, or why there is no interval.
    pub(crate) fn words(&self) -> String {
        let Some(ratio) = self.ratio.as_ref().filter(|ratio| ratio.low.is_some()) else {
            let (blocks, least) = (counted(u64::from(self.blocks), "common round"), least_trials());
            return format!("{blocks}, and an interval needs {least}");
        };
        let figure = figure(Quantity::Ratio, ratio);
        format!("{}, {} within rounds", figure.value, figure.interval.unwrap_or_default())
    }
}
