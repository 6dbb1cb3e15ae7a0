//! The noise floor: how far the two halves of an A/A pair differ, which are the same subject entered twice.
//!
//! Their difference is not the subject's. If this run tells them apart, it finds differences where none exist, and no difference
//! of that size counts (`verdict.rs`). The pair is a family of its own, judged by the same rule as any other.

use crate::estimate::{BlockRatio, size};
use crate::figures::{Quantity, figure, small_share};
use crate::findings::Estimate;
use crate::findings::{Better, NoiseFloor, Verdict};
use crate::verdict::{Rule, judge_alone};

/// What the pair says; `pair` is the second half over the first.
pub(crate) fn noise_floor(
    (subject, title): (&str, &str),
    pair: BlockRatio,
    smallest_effect: f64,
    better: Better,
) -> Option<NoiseFloor> {
    let judged = judge_alone(pair, Rule { smallest_effect, aa_effect: None })?;
    let (ratio, verdict) = (judged.pair.ratio, better.of(judged.verdict));
    let size = size(ratio.value);
    let off = small_share(size);
    let words = words(&ratio);
    let what_follows = match verdict {
        Verdict::Faster | Verdict::Slower => format!(
            "differed from itself by {off} ({words}): this run finds differences where there are none, so trust none of that size or less"
        ),
        Verdict::Equivalent | Verdict::NoDifferenceFound => {
            format!("differed by {off} ({words}): no difference found")
        }
        Verdict::CannotTell if ratio.low.is_none() => {
            format!("differed by {off} ({words}): too few rounds to judge")
        }
        Verdict::CannotTell => format!("differed by {off} ({words}): inconclusive"),
    };
    Some(NoiseFloor {
        subject: subject.to_owned(),
        blocks: judged.pair.blocks,
        size,
        verdict,
        sentence: format!("{title}, entered twice, {what_follows}."),
        ratio,
    })
}

/// The size of the difference, if the pair was told apart.
pub(crate) fn aa_effect(floor: Option<&NoiseFloor>) -> Option<f64> {
    floor.filter(|floor| floor.verdict.is_told_apart()).map(|floor| floor.size)
}

/// `1.06×, 1.05–1.07`
fn words(ratio: &Estimate) -> String {
    let figure = figure(Quantity::Ratio, ratio);
    figure.interval.map_or(figure.value.clone(), |interval| format!("{}, {interval}", figure.value))
}
