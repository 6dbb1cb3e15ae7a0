//! The verdicts that follow from ratios, one at a time and all pairs together.

use proptest::prelude::*;

use super::*;
use crate::estimate::ratio_within_blocks;
use crate::findings::{Estimate, Verdict};

const RULE: Rule = Rule::of(0.03);

/// The verdict on a ratio with this interval and these adjusted p values.
fn says([value, low, high]: [f64; 3], p: f64, p_equivalence: f64) -> Verdict {
    said_under(RULE, [value, low, high], p, p_equivalence)
}

fn said_under(rule: Rule, [value, low, high]: [f64; 3], p: f64, p_equivalence: f64) -> Verdict {
    let ratio = Estimate { value, low: Some(low), high: Some(high), trials: vec![] };
    verdict(&ratio, rule, Some(p), Some(p_equivalence))
}

/// Ratios of blocks around `ratio` that scatter by this share, in the same pattern for every ratio.
fn pair(ratio: f64, scatter: f64, blocks: usize) -> BlockRatio {
    let off = [0.9, -1.1, 0.3, -0.4, 1.2, -0.9, 0.5, -0.5, 0.1, -0.1];
    let above: Vec<Option<f64>> =
        (0..blocks).map(|block| Some(ratio * f64::exp(scatter * off[block % off.len()]))).collect();
    ratio_within_blocks(&above, &vec![Some(1.0); blocks]).unwrap()
}

fn verdicts(pairs: Vec<BlockRatio>) -> Vec<Verdict> {
    judge(pairs, RULE).into_iter().map(|judged| judged.verdict).collect()
}

#[test]
fn a_large_difference_that_is_sure_is_a_difference() {
    assert_eq!(says([1.92, 1.85, 1.99], 0.001, 1.0), Verdict::Faster);
    assert_eq!(says([0.52, 0.50, 0.54], 0.001, 1.0), Verdict::Slower);
    assert_eq!(says([3.0, 1.01, 9.0], 0.049, 1.0), Verdict::Faster, "wide, but wholly above 1");
}

#[test]
fn a_difference_too_small_to_matter_is_none() {
    assert_eq!(says([1.02, 1.015, 1.025], 0.001, 0.001), Verdict::Equivalent);
    assert_eq!(says([1.02, 1.005, 1.035], 0.02, 0.08), Verdict::NoDifferenceFound, "its interval reaches beyond 1.03");
}

#[test]
fn an_unsure_verdict_depends_on_the_width_of_the_pairs_own_interval() {
    assert_eq!(says([1.03, 0.97, 1.10], 0.3, 0.4), Verdict::NoDifferenceFound);
    assert_eq!(says([1.03, 0.80, 1.30], 0.9, 0.9), Verdict::CannotTell);
    assert_eq!(says([1.08, 1.02, 1.14], 0.4, 1.0), Verdict::CannotTell, "alone, its interval excludes 1");
    assert_eq!(says([1.02, 1.01, 1.03], 0.4, 0.2), Verdict::NoDifferenceFound, "too small to matter");
}

#[test]
fn the_smallest_effect_counts_the_same_in_both_directions() {
    assert_eq!(says([1.0301, 1.01, 1.05], 0.01, 0.5), Verdict::Faster);
    assert_eq!(says([1.0 / 1.0301, 1.0 / 1.05, 1.0 / 1.01], 0.01, 0.5), Verdict::Slower);
}

#[test]
fn a_difference_no_larger_than_the_noise_check_is_not_believed() {
    let rule = Rule { aa_effect: Some(0.05), ..RULE };
    assert_eq!(said_under(rule, [1.04, 1.02, 1.06], 0.001, 0.9), Verdict::CannotTell);
    assert_eq!(said_under(rule, [1.0 / 1.04, 1.0 / 1.06, 1.0 / 1.02], 0.001, 0.9), Verdict::CannotTell);
    assert_eq!(said_under(rule, [1.06, 1.04, 1.08], 0.001, 0.9), Verdict::Faster);
}

#[test]
fn without_an_interval_nothing_can_be_told() {
    let judged = judge(vec![pair(9.0, 0.001, 4), pair(1.5, 0.01, 5)], RULE);
    assert_eq!((judged[0].verdict, judged[0].p_adjusted), (Verdict::CannotTell, None));
    assert_eq!(judged[0].simultaneous, None);
    // The first was not tested, so the second is the only member of its family.
    let own = judge_alone(pair(1.5, 0.01, 5), RULE).unwrap();
    assert_eq!((judged[1].p_adjusted, judged[1].verdict), (own.p_adjusted, Verdict::Faster));
}

/// Alone, its p is 0.02. Among 15 pairs, of which it has the smallest p, it is 15 times that.
#[test]
fn a_pair_that_is_sure_alone_may_be_unsure_among_many() {
    let doubtful = || pair(1.08, 0.06, 6);
    let alone = judge_alone(doubtful(), RULE).unwrap();
    assert!(alone.p_adjusted.unwrap() < 0.05 && alone.verdict == Verdict::Faster, "{alone:?}");
    let among: Vec<BlockRatio> =
        (0..15).map(|place| if place == 7 { doubtful() } else { pair(1.0, 0.06, 6) }).collect();
    let judged = judge(among, RULE).swap_remove(7);
    assert!((judged.p_adjusted.unwrap() - 15.0 * alone.p_adjusted.unwrap()).abs() < 1e-9);
    assert_eq!(judged.verdict, Verdict::CannotTell, "nor is it no difference");
    let (own, simultaneous) = (alone.simultaneous.unwrap(), judged.simultaneous.unwrap());
    assert!(own.low > 1.0 && simultaneous.low < 1.0 && own.high < simultaneous.high);
    assert_eq!(alone.pair.ratio.low, Some(own.low), "the simultaneous interval of a single pair is its own");
}

#[test]
fn equivalence_of_similar_cases_can_be_shown() {
    assert_eq!(verdicts(vec![pair(1.001, 0.005, 10)]), [Verdict::Equivalent]);
    assert_eq!(verdicts(vec![pair(1.001, 0.1, 10)]), [Verdict::NoDifferenceFound]);
    assert_eq!(verdicts(vec![pair(1.001, 0.3, 10)]), [Verdict::CannotTell]);
}

/// Cases that are identical in every block leave no scatter to test with.
#[test]
fn without_any_scatter_a_difference_is_sure_and_its_absence_as_well() {
    assert_eq!(verdicts(vec![pair(1.0, 0.0, 6), pair(2.0, 0.0, 6)]), [Verdict::Equivalent, Verdict::Faster]);
}

/// GNU time truncates 319 ms and 321 ms to 310 and 320.
#[test]
fn readings_must_differ_by_more_than_the_steps_of_their_timer() {
    let steps = [10.0 / 310.0, 10.0 / 320.0];
    let judged = judge_alone(pair(310.0 / 320.0, 0.0, 6).read_in_steps(steps), RULE).unwrap();
    assert_eq!((judged.p_adjusted, judged.verdict), (Some(1.0), Verdict::NoDifferenceFound));
    let far = judge_alone(pair(310.0 / 400.0, 0.001, 6).read_in_steps(steps), RULE).unwrap();
    assert_eq!(far.verdict, Verdict::Slower);
    let (own, simultaneous) = (&far.pair.ratio, far.simultaneous.unwrap());
    assert!((own.high.unwrap() - simultaneous.high).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exchanging_two_cases_inverts_the_comparison(
        blocks in prop::collection::vec((100.0..90_000.0f64, 0.8..1.3f64), 1..12)
    ) {
        let left: Vec<Option<f64>> = blocks.iter().map(|(rate, _)| Some(*rate)).collect();
        let right: Vec<Option<f64>> = blocks.iter().map(|(rate, factor)| Some(rate * factor)).collect();
        let alone = |a: &[Option<f64>], b: &[Option<f64>]| judge_alone(ratio_within_blocks(a, b).unwrap(), RULE).unwrap();
        let (forth, back) = (alone(&left, &right), alone(&right, &left));

        prop_assert_eq!(back.verdict, forth.verdict.turned());
        prop_assert!((forth.pair.ratio.value * back.pair.ratio.value - 1.0).abs() < 1e-12);
        let won = |judged: &Judged| judged.pair.won(Better::Higher);
        prop_assert!(won(&forth) + won(&back) <= forth.pair.blocks && forth.pair.blocks == back.pair.blocks);
        prop_assert_eq!(forth.pair.ratio.low.is_some(), blocks.len() >= 5);
    }

    /// The p value of a single pair and its interval must agree.
    #[test]
    fn the_interval_of_a_single_pair_excludes_one_exactly_if_its_p_is_below_a_twentieth(
        ratios in prop::collection::vec(0.85..1.2f64, 5..12)
    ) {
        let above: Vec<Option<f64>> = ratios.iter().copied().map(Some).collect();
        let judged = judge_alone(ratio_within_blocks(&above, &vec![Some(1.0); ratios.len()]).unwrap(), RULE).unwrap();
        let ratio = &judged.pair.ratio;
        let excludes = ratio.low.unwrap() > 1.0 || ratio.high.unwrap() < 1.0;
        prop_assert_eq!(excludes, judged.p_adjusted.unwrap() < 0.05, "{:?}", judged);
    }
}
