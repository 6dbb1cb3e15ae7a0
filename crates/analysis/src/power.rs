//! How many blocks a difference that matters needs, and how small a one the blocks of a run can show.
//!
//! It is reckoned from how much the ratios of this run scatter from block to block, with the test that its verdicts rest on:
//! a paired t test of the logarithms at a level that is corrected for all pairs. The answer is for the next run, and changes
//! no verdict of this one.

use tolok_stats::{Sample, blocks_needed, smallest_effect_found};

use crate::estimate::{LEVEL, least_trials};
use crate::figures::{Quantity, amount, counted, small_share};
use crate::findings::{Estimate, PowerNote};

/// The chance to find a difference that the numbers are for.
const POWER: f64 = 0.80;
/// No larger number of blocks is looked for by `tolok-stats`.
const MOST_BLOCKS: &str = "10,000";

/// What the pairs of a scenario would need, of whose ratios these are, or `None` where no pair has blocks enough to know how much
/// it scatters, or where the study has no smallest effect.
pub(crate) fn power<'a>(ratios: impl Iterator<Item = &'a Estimate>, smallest_effect: f64) -> Option<PowerNote> {
    let tested = ratios.filter(|ratio| smallest_effect > 0.0 && ratio.trials.len() >= least_trials() as usize);
    let mut scatters: Vec<(f64, usize)> =
        tested.filter_map(|ratio| Some((scatter(ratio)?, ratio.trials.len()))).collect();
    scatters.sort_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1)));
    // With an even number, it takes the one that scatters more: a block too many is better than one too few.
    let (median, blocks) = *scatters.get(scatters.len() / 2)?;
    let (worst, _) = *scatters.last()?;
    let (pairs, effect) = (scatters.len(), smallest_effect.ln_1p());
    let needed = |scatter: f64| blocks_needed(scatter, effect, LEVEL, POWER, pairs);
    let smallest_found = smallest_effect_found(median, blocks as u32, LEVEL, POWER, pairs).exp_m1();
    let mut note = PowerNote {
        effect: smallest_effect,
        power: POWER,
        blocks_needed: needed(median),
        blocks_needed_worst: needed(worst),
        smallest_found,
        sentence: String::new(),
    };
    note.sentence = sentence(&note, pairs);
    Some(note)
}

/// A difference as people say it: `21%`, and from a half on `1.9×`.
pub fn difference(size: f64) -> String {
    const LARGE: f64 = 0.5;
    if size < LARGE { small_share(size) } else { amount(Quantity::Ratio, 1.0 + size) }
}

/// Standard deviation of the logarithms of the blocks' ratios.
fn scatter(ratio: &Estimate) -> Option<f64> {
    let logarithms: Vec<f64> = ratio.trials.iter().map(|ratio| ratio.ln()).collect();
    Sample::new(&logarithms).ok()?.standard_deviation()
}

fn sentence(note: &PowerNote, pairs: usize) -> String {
    let (effect, found) = (small_share(note.effect), difference(note.smallest_found));
    let words = |blocks: Option<u32>| {
        blocks.map_or(format!("more than {MOST_BLOCKS} rounds"), |blocks| counted(u64::from(blocks), "round"))
    };
    let (median, worst) = (words(note.blocks_needed), words(note.blocks_needed_worst));
    let needs = match pairs {
        1 => median,
        _ if median == worst => format!("{median} for the median pair and the worst"),
        _ => format!("{median} for the median pair and {worst} for the worst"),
    };
    format!("This run can detect differences of about {found} or more. Detecting {effect} would take about {needs}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::ratio_within_blocks;

    fn pair(scatter: f64, blocks: usize) -> Estimate {
        let off = [1.0, -1.0];
        let above: Vec<Option<f64>> = (0..blocks).map(|block| Some(f64::exp(scatter * off[block % 2]))).collect();
        ratio_within_blocks(&above, &vec![Some(1.0); blocks]).unwrap().ratio
    }

    #[test]
    fn the_median_pair_and_the_worst_are_named() {
        let note = power([pair(0.01, 10), pair(0.02, 10), pair(0.05, 10)].iter(), 0.03).unwrap();
        let (median, worst) = (note.blocks_needed.unwrap(), note.blocks_needed_worst.unwrap());
        assert!(5 < median && median < worst, "{note:?}");
        let found = small_share(note.smallest_found);
        assert!(note.sentence.starts_with(&format!("This run can detect differences of about {found} or more. ")));
        let needs = format!(
            "Detecting 3% would take about {median} rounds for the median pair and {worst} rounds for the worst."
        );
        assert!(note.sentence.ends_with(&needs), "{}", note.sentence);
    }

    /// What a run would have shown, and how many blocks that takes, are the same question asked from two sides.
    #[test]
    fn the_blocks_of_a_run_are_enough_for_the_difference_that_they_show() {
        let note = power([pair(0.03, 12)].iter(), 0.03).unwrap();
        assert!(note.smallest_found > 0.0 && note.blocks_needed.unwrap() != 12);
        let again = power([pair(0.03, 12)].iter(), note.smallest_found + 1e-9).unwrap();
        assert_eq!(again.blocks_needed, Some(12));
    }

    #[test]
    fn more_pairs_take_more_blocks() {
        let needed = |pairs: usize| power(vec![pair(0.03, 10); pairs].iter(), 0.03).unwrap().blocks_needed.unwrap();
        assert!(needed(1) < needed(6) && needed(6) < needed(28));
    }

    #[test]
    fn what_ten_thousand_blocks_do_not_show_has_no_number() {
        let note = power([pair(3.0, 10)].iter(), 0.03).unwrap();
        assert_eq!(note.blocks_needed, None);
        assert!(note.sentence.contains("would take about more than 10,000 rounds"), "{}", note.sentence);
    }

    #[test]
    fn of_too_few_blocks_nothing_is_reckoned() {
        assert_eq!(power([pair(0.01, 4)].iter(), 0.03), None);
        assert_eq!(power([].iter(), 0.03), None);
        assert_eq!(power([pair(0.01, 10)].iter(), 0.0), None);
    }
}
