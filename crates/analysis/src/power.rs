//! How many blocks it takes to detect a difference that matters, and how small a difference the run's blocks detect.
//!
//! Both come from the fit behind the verdicts: from the standard error of each pair and its degrees of freedom, at a level
//! corrected for all pairs. A verdict also requires that the *observed* difference reaches the smallest effect, so fewer than
//! half of all runs detect a true difference of just that size. So the number of blocks is for twice that size. It is meant for
//! the next run, and changes no verdict of this one.

use tolok_stats::Naming;

use crate::estimate::LEVEL;
use crate::figures::{Quantity, amount, counted, small_share};
use crate::findings::{PairComparison, PowerNote};

/// The probability of detection behind the numbers.
const POWER: f64 = 0.80;
/// The difference to detect, in smallest effects.
const EFFECTS: f64 = 2.0;
/// `tolok-stats` searches no larger number of blocks.
const MOST_BLOCKS: &str = "10,000";

/// The needs of a scenario's pairs. `None` if no pair has enough blocks to show its scatter, or if the study has no smallest
/// effect.
pub(crate) fn power<'a>(pairs: impl Iterator<Item = &'a PairComparison>, smallest_effect: f64) -> Option<PowerNote> {
    let mut known: Vec<Naming> = pairs.filter(|_| smallest_effect > 0.0).filter_map(naming).collect();
    let pairs = known.len();
    known.iter_mut().for_each(|it| (it.comparisons, it.least_size) = (pairs, smallest_effect.ln_1p()));
    let effect = EFFECTS * smallest_effect;
    let mut found: Vec<f64> = known.iter().map(|it| it.smallest_named(POWER).exp_m1()).collect();
    found.sort_by(f64::total_cmp);
    let mut needed: Vec<Option<u32>> = known.iter().map(|it| it.blocks_needed(effect.ln_1p(), POWER)).collect();
    needed.sort_by_key(|blocks| blocks.unwrap_or(u32::MAX));
    // With an even number of pairs, this takes the worse of the middle two: a block too many is better than one too few.
    let mut note = PowerNote {
        effect,
        power: POWER,
        blocks_needed: *needed.get(pairs / 2)?,
        blocks_needed_worst: *needed.last()?,
        smallest_found: *found.get(pairs / 2)?,
        sentence: String::new(),
    };
    note.sentence = sentence(&note, pairs);
    Some(note)
}

/// Formats a difference: `21%`, and from one half on `1.9×`.
pub fn difference(size: f64) -> String {
    const LARGE: f64 = 0.5;
    if size < LARGE { small_share(size) } else { amount(Quantity::Ratio, 1.0 + size) }
}

/// The scatter of a pair. The caller sets the number of pairs when it is known.
fn naming(pair: &PairComparison) -> Option<Naming> {
    let (standard_error, df) = pair.standard_error.zip(pair.degrees_of_freedom)?;
    let sd = standard_error * f64::from(pair.blocks).sqrt();
    Some(Naming { sd, df, blocks: pair.blocks, level: LEVEL, comparisons: 1, least_size: 0.0 })
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
    use crate::findings::Better;
    use crate::verdict::{Rule, judge};

    fn pair(scatter: f64, blocks: usize) -> PairComparison {
        let off = [1.0, -1.0];
        let above: Vec<Option<f64>> = (0..blocks).map(|block| Some(f64::exp(scatter * off[block % 2]))).collect();
        let ratio = ratio_within_blocks(&above, &vec![Some(1.0); blocks]).unwrap();
        judge(vec![ratio], Rule::of(0.03)).remove(0).finding(Better::Higher)
    }

    #[test]
    fn the_median_pair_and_the_worst_are_named() {
        let note = power([pair(0.01, 10), pair(0.03, 10), pair(0.08, 10)].iter(), 0.03).unwrap();
        let (median, worst) = (note.blocks_needed.unwrap(), note.blocks_needed_worst.unwrap());
        assert!(5 <= median && median < worst, "{note:?}");
        let found = small_share(note.smallest_found);
        assert!(note.sentence.starts_with(&format!("This run can detect differences of about {found} or more. ")));
        let needs = format!(
            "Detecting 6% would take about {median} rounds for the median pair and {worst} rounds for the worst."
        );
        assert!(note.sentence.ends_with(&needs), "{}", note.sentence);
    }

    /// With the same scatter, a pair with fewer rounds needs more of them. So scatter alone does not decide which pair is in the
    /// middle.
    #[test]
    fn the_figure_is_the_middle_one_of_what_the_pairs_can_detect() {
        let detected = |pairs: &[PairComparison]| power(pairs.iter(), 0.03).unwrap().smallest_found;
        let (few, many, loud) = (pair(0.03, 5), pair(0.031, 20), pair(0.032, 20));
        let all = detected(&[few.clone(), many.clone(), loud.clone()]);
        // Three copies of a pair are judged at the same level as the three pairs together.
        let alone = |pair: &PairComparison| detected(&vec![pair.clone(); 3]);
        assert!(alone(&many) < alone(&loud) && alone(&loud) < alone(&few));
        assert_eq!(all, alone(&loud));
    }

    /// The difference that a run could detect and the blocks that it takes are two sides of the same calculation.
    #[test]
    fn the_blocks_of_a_run_are_enough_for_the_difference_that_they_name() {
        let found = power([pair(0.05, 12)].iter(), 0.03).unwrap().smallest_found;
        let again = Naming { comparisons: 1, least_size: 0.03f64.ln_1p(), ..naming(&pair(0.05, 12)).unwrap() };
        assert_eq!(again.blocks_needed(found.ln_1p() + 1e-9, POWER), Some(12));
    }

    /// Half of all estimates are smaller than the truth.
    #[test]
    fn no_run_names_the_smallest_effect_itself_in_four_of_five() {
        let quiet = power([pair(0.001, 20)].iter(), 0.03).unwrap();
        assert!(quiet.smallest_found > 0.03 && quiet.smallest_found < 0.035, "{quiet:?}");
        assert_eq!(quiet.effect, 0.06);
    }

    #[test]
    fn more_pairs_take_more_blocks() {
        let needed = |pairs: usize| power(vec![pair(0.05, 10); pairs].iter(), 0.03).unwrap().blocks_needed.unwrap();
        assert!(needed(1) < needed(6) && needed(6) < needed(28));
    }

    #[test]
    fn what_ten_thousand_blocks_do_not_show_has_no_number() {
        let note = power([pair(5.0, 10)].iter(), 0.03).unwrap();
        assert_eq!(note.blocks_needed, None);
        assert!(note.sentence.contains("would take about more than 10,000 rounds"), "{}", note.sentence);
    }

    #[test]
    fn too_few_blocks_have_no_power_note() {
        assert_eq!(power([pair(0.01, 4)].iter(), 0.03), None);
        assert_eq!(power([].iter(), 0.03), None);
        assert_eq!(power([pair(0.01, 10)].iter(), 0.0), None);
    }
}
