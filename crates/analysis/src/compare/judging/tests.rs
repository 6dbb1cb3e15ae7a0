//! Examples of the rule, and simulations of its error rates.

use proptest::prelude::*;
use tolok_stats::Rng;

use super::super::measuring::ratio;
use super::super::metric::{ComparedMetric, ScenarioKind};
use super::*;
use crate::findings::Better;
use crate::normal::normal;

const THRESHOLD: f64 = 0.03;

/// One run of each.
fn pair<'a>(before: &'a [f64], after: &'a [f64]) -> Compared<'a> {
    several(vec![before], vec![after], "any")
}

fn several<'a>(before: Vec<&'a [f64]>, after: Vec<&'a [f64]>, subject: &'a str) -> Compared<'a> {
    let own = Measurable { runs: [before, after], kind: (ScenarioKind::Closed, ComparedMetric::Goodput), subject };
    Compared { own, better: Better::Higher, floors: Vec::new(), control: None }
}

fn judge_one(pair: Compared) -> Judgement {
    judge(&[pair], THRESHOLD).remove(0)
}

/// Ten trials around `middle`, with the same relative deviations in every run.
fn around(middle: f64) -> Vec<f64> {
    [-0.012, 0.008, 0.003, -0.006, 0.011, -0.002, 0.005, -0.009, 0.001, 0.004].map(|off| middle * (1.0 + off)).to_vec()
}

#[test]
fn of_a_pair_less_goodput_is_a_change_for_the_worse_and_less_time_one_for_the_better() {
    let (before, after) = (around(1000.0), around(920.0));
    assert_eq!(judge_one(pair(&before, &after)).verdict, Change::Worse);
    assert_eq!(judge_one(pair(&after, &before)).verdict, Change::Better);
    let of_time = |before, after| judge_one(Compared { better: Better::Lower, ..pair(before, after) }).verdict;
    assert_eq!(of_time(&before, &after), Change::Better);
    assert_eq!(of_time(&after, &before), Change::Worse);
}

#[test]
fn the_ratio_is_that_of_geometric_means_with_welchs_interval() {
    let before = [100.0, 104.0, 98.0, 101.0, 103.0, 99.0];
    let after = [95.0, 92.0, 97.0, 94.0, 96.0];
    let found = judge_one(pair(&before, &after));
    // SciPy 1.17: r = ttest_ind(log(after), log(before), equal_var=False); exp of its statistic and of its interval.
    let ratio = found.ratio.unwrap();
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
    near(ratio.value, 0.940215881431);
    near(ratio.low.unwrap(), 0.912813087431);
    near(ratio.high.unwrap(), 0.968441311662);
    near(found.p_adjusted.unwrap(), 0.001110755713);
}

#[test]
fn a_difference_too_small_to_matter_is_equivalence_if_it_is_told_well_enough() {
    let (before, after) = (around(1000.0), around(990.0));
    let found = judge_one(pair(&before, &after));
    assert_eq!(found.verdict, Change::Equivalent);
    assert!(found.p_equivalence_adjusted.unwrap() < 0.05);

    let wide: Vec<f64> = before.iter().map(|value| 1000.0 + (value - 1000.0) * 9.0).collect();
    assert_eq!(judge_one(pair(&wide, &before)).verdict, Change::NoDifferenceFound);
}

#[test]
fn a_difference_that_would_be_sure_alone_is_not_called_none() {
    // Standard deviations of 2.6%, and a difference of 3.5%: p is 0.008 alone, and 0.16 among 21.
    let wide =
        |middle: f64| around(1000.0).iter().map(|it| middle * (1.0 + (it - 1000.0) * 0.0035)).collect::<Vec<_>>();
    let (before, after) = (wide(1000.0), wide(965.0));
    assert_eq!(judge_one(pair(&before, &after)).verdict, Change::Worse);
    let equals = (0..20).map(|_| pair(&before, &before));
    let found = judge(&std::iter::once(pair(&before, &after)).chain(equals).collect::<Vec<_>>(), THRESHOLD).remove(0);
    assert!(found.p_adjusted.unwrap() > 0.05 && found.ratio.unwrap().high.unwrap() < 1.0, "{found:?}");
    assert_eq!(found.verdict, Change::CannotTell);
    let words = "it would be a difference by itself, but is not certain enough among all judged figures";
    assert_eq!(found.reason.as_deref(), Some(words));
}

#[test]
fn a_wide_interval_that_excludes_one_is_undecided_because_of_the_other_figures() {
    let wide = |middle: f64| around(1000.0).iter().map(|it| middle * (1.0 + (it - 1000.0) * 0.05)).collect::<Vec<_>>();
    let (before, after) = (wide(1000.0), wide(500.0));
    let equals = (0..60).map(|_| pair(&before, &before));
    let found = judge(&std::iter::once(pair(&before, &after)).chain(equals).collect::<Vec<_>>(), THRESHOLD).remove(0);
    let ratio = found.ratio.unwrap();
    assert!(ratio.half_width() > Some(EQUIVALENCE_HALF_WIDTH) && ratio.is_told(), "{found:?}");
    let words = "it would be a difference by itself, but is not certain enough among all judged figures";
    assert_eq!(found.reason.as_deref(), Some(words));
}

#[test]
fn a_wide_interval_says_nothing_and_says_how_wide_it_is() {
    let (before, after) = ([60.0, 150.0, 90.0, 120.0, 70.0], [140.0, 80.0, 65.0, 155.0, 100.0]);
    let found = judge_one(pair(&before, &after));
    assert_eq!(found.verdict, Change::CannotTell);
    assert_eq!(found.reason.unwrap(), "its interval reaches 72% to either side");
}

#[test]
fn four_trials_are_too_few_and_make_no_family_larger() {
    let (before, after) = (around(1000.0), around(900.0));
    let few = pair(&before[..4], &after);
    let found = judge(&[few, pair(&before, &after)], THRESHOLD);
    assert_eq!(found[0].verdict, Change::CannotTell);
    assert_eq!(found[0].reason.as_deref(), Some("clean trials: 4 before, 10 after; an interval needs 5 of each"));
    assert_eq!(found[0].p_adjusted, None);
    assert!(found[0].ratio.is_some_and(|ratio| ratio.low.is_none()));
    assert_eq!(found[1].p_adjusted, judge_one(pair(&before, &after)).p_adjusted);
}

#[test]
fn a_difference_no_larger_than_the_machines_own_shift_cannot_be_told() {
    let (before, after) = (around(1000.0), around(950.0));
    let floor = |size| vec![Floor { size, words: "the machine’s own shift (0.94×)".to_owned() }];
    let told = |size| judge_one(Compared { floors: floor(size), ..pair(&before, &after) });
    assert_eq!(told(0.02).verdict, Change::Worse);
    let found = told(0.06);
    assert_eq!(found.verdict, Change::CannotTell);
    assert_eq!(found.reason.as_deref(), Some("no larger than the machine’s own shift (0.94×)"));
}

/// A case and a control that changed by these factors: the case relative to the control.
fn beside(control: f64, own: f64) -> Beside {
    let (before, after) = (around(1.0), around(own / control));
    Beside {
        runs: [vec![before], vec![after]],
        shift: format!("{control:.2}×"),
        is_relevant: (control - 1.0).abs() >= THRESHOLD,
    }
}

#[test]
fn a_machine_that_shifted_hides_as_much_as_it_shows() {
    let (before, after) = (around(1000.0), around(1000.0));
    let found = judge_one(Compared { control: Some(beside(1.09, 1.0)), ..pair(&before, &after) });
    assert_eq!(found.verdict, Change::CannotTell);
    assert_eq!(found.reason.as_deref(), Some("the machine itself shifted by 3% or more (1.09×)"));
}

#[test]
fn a_loss_that_is_as_large_beside_the_control_is_the_programs_own() {
    let (before, after) = (around(1000.0), around(900.0));
    let told = |control: f64| judge_one(Compared { control: Some(beside(control, 0.9)), ..pair(&before, &after) });
    assert_eq!(told(1.0).verdict, Change::Worse);
    assert_eq!(told(0.96).verdict, Change::Worse);
    let found = told(0.91);
    assert_eq!(found.verdict, Change::CannotTell, "only a little more than the machine lost, which may be chance");
    let words = "beside the ceiling it is 0.99× (0.98–0.996), so the machine’s own shift (0.91×) may be all of it";
    assert_eq!(found.reason.as_deref(), Some(words));
}

#[test]
fn a_trial_of_zero_leaves_no_ratio() {
    let (before, mut after) = (around(1000.0), around(1000.0));
    after[3] = 0.0;
    let found = judge_one(pair(&before, &after));
    assert_eq!((found.ratio, found.verdict), (None, Change::CannotTell));
    assert_eq!(found.reason.as_deref(), Some("a trial had none of it, so there is no ratio"));
}

#[test]
fn one_trial_each_has_a_ratio_and_no_interval() {
    let of = |before: &[f64]| ratio(&[vec![before], vec![&[20.0]]]).map(|it| (it.value.round(), it.low));
    assert_eq!((of(&[10.0]), of(&[])), (Some((2.0, None)), None));
}

#[test]
fn several_runs_of_each_may_be_called_a_regression_and_know_what_differs_between_runs() {
    let (low, high) = (around(990.0), around(1010.0));
    let worse = around(900.0);
    let found = judge_one(several(vec![&low, &high, &low], vec![&worse, &worse, &worse], "any"));
    assert_eq!(found.verdict, Change::Regression);
    // The mean squares of ln(990) and ln(1010) among three, half of them before and none after, computed by hand.
    assert!((found.between_runs.unwrap() - 0.0082).abs() < 0.0002, "{found:?}");
    assert_eq!(found.ratio.unwrap().value, ratio(&[vec![&low, &high, &low], vec![&worse; 3]]).unwrap().value);
}

#[test]
fn runs_that_differ_by_themselves_hide_what_a_pair_would_call_a_change() {
    let (low, high) = (around(950.0), around(1000.0));
    assert_eq!(judge_one(pair(&high, &low)).verdict, Change::Worse);
    let found = judge_one(several(vec![&high, &low], vec![&low, &low], "any"));
    assert_eq!(found.verdict, Change::CannotTell);
    let words = found.reason.unwrap();
    assert!(words.contains("to either side; runs of one side differ by 2.6%"), "{words}");
}

/// Repeatedly simulates pairs of runs with 12 cases of 10 trials each. `noise` draws a factor for every trial.
struct Simulation {
    repetitions: u32,
    /// Slowdown of the first case in the second run.
    slowdown: f64,
    /// Slowdown of everything in the second run, the control included, or `None` for no control.
    drift: Option<f64>,
    threshold: f64,
}

#[derive(Default)]
struct Seen {
    /// Pairs of runs with a regression in a case that did not change.
    regressions: u32,
    /// Pairs of runs with a regression or an improvement in a case that did not change.
    false_alarms: u32,
    /// Pairs of runs in which the first case was called a regression.
    found: u32,
    /// Pairs of runs in which the interval of the first case contains the true ratio.
    covered: u32,
}

impl Simulation {
    fn run(&self, seed: u64, noise: impl Fn(&mut Rng) -> f64) -> Seen {
        let mut random = Rng::seeded(seed);
        let mut seen = Seen::default();
        for _ in 0..self.repetitions {
            let mut trials = |factor: f64| (0..10).map(|_| factor * noise(&mut random).exp()).collect::<Vec<f64>>();
            let kept = 1.0 - self.drift.unwrap_or(0.0);
            let slower = |case: u32| if case == 0 { kept * (1.0 - self.slowdown) } else { kept };
            let control = [trials(1.0), trials(kept)];
            let cases: Vec<[Vec<f64>; 2]> = (0..12).map(|case| [trials(1.0), trials(slower(case))]).collect();
            let pairs: Vec<Compared> = cases
                .iter()
                .map(|[before, after]| Compared {
                    control: self.drift.map(|_| simulated(&control, before, after)),
                    ..pair(before, after)
                })
                .collect();
            let judged = judge(&pairs, self.threshold);
            let is_told = |it: &Judgement| matches!(it.verdict, Change::Worse | Change::Better);
            let unchanged = if self.slowdown > 0.0 { &judged[1..] } else { &judged[..] };
            seen.regressions += u32::from(unchanged.iter().any(|it| it.verdict == Change::Worse));
            seen.false_alarms += u32::from(unchanged.iter().any(is_told));
            seen.found += u32::from(judged[0].verdict == Change::Worse);
            let interval = judged[0].ratio.and_then(|ratio| ratio.low.zip(ratio.high));
            seen.covered += u32::from(interval.is_some_and(|(low, high)| (low..=high).contains(&slower(0))));
        }
        seen
    }
}

/// A case relative to a control, block by block.
fn simulated(control: &[Vec<f64>; 2], before: &[f64], after: &[f64]) -> Beside {
    let over = |run: usize, own: &[f64]| own.iter().zip(&control[run]).map(|(own, of)| own / of).collect::<Vec<f64>>();
    let shift = ratio(&control.each_ref().map(|trials| vec![trials.as_slice()])).unwrap();
    let is_told = shift.high.is_some_and(|high| high < 1.0) || shift.low.is_some_and(|low| low > 1.0);
    let is_relevant = is_told && shift.size() >= THRESHOLD;
    Beside { runs: [vec![over(0, before)], vec![over(1, after)]], shift: String::new(), is_relevant }
}

/// The bound that a procedure with an error rate of exactly 5% exceeds only once in a thousand times.
fn five_per_cent_of(repetitions: u32) -> u32 {
    let expected = 0.05 * f64::from(repetitions);
    (expected + 3.1 * (expected * 0.95).sqrt()) as u32
}

#[test]
fn two_runs_of_the_same_show_a_regression_in_five_of_a_hundred_at_most() {
    const REPETITIONS: u32 = 300;
    // The threshold is almost 0, so only the statistics prevent a false verdict.
    let alike = Simulation { repetitions: REPETITIONS, slowdown: 0.0, drift: None, threshold: 1e-6 };
    let seen = alike.run(11, |random| 0.015 * normal(|| random.unit()));
    assert!(seen.regressions <= REPETITIONS * 5 / 100, "{} of {REPETITIONS}", seen.regressions);
    // Holm's procedure limits regressions and improvements together to 5%.
    assert!(seen.false_alarms <= five_per_cent_of(REPETITIONS), "{} of {REPETITIONS}", seen.false_alarms);
    // Occasionally a trial is slow.
    let seen = alike.run(12, |random| 0.01 * normal(|| random.unit()) - if random.below(10) == 0 { 0.08 } else { 0.0 });
    assert!(seen.regressions <= REPETITIONS * 5 / 100, "{} of {REPETITIONS} with slow trials", seen.regressions);
    assert!(seen.false_alarms <= five_per_cent_of(REPETITIONS), "{} of {REPETITIONS}", seen.false_alarms);
}

#[test]
fn with_the_usual_threshold_two_runs_of_the_same_show_nothing() {
    let alike = Simulation { repetitions: 100, slowdown: 0.0, drift: None, threshold: THRESHOLD };
    assert_eq!(alike.run(14, |random| 0.015 * normal(|| random.unit())).false_alarms, 0);
}

#[test]
fn a_slowdown_of_five_per_cent_is_found_and_its_interval_covers_it() {
    let slower = Simulation { repetitions: 200, slowdown: 0.05, drift: None, threshold: THRESHOLD };
    let seen = slower.run(13, |random| 0.015 * normal(|| random.unit()));
    assert!(seen.found >= 200 * 95 / 100, "found in {} of 200", seen.found);
    assert!(seen.covered >= 200 * 92 / 100, "covered in {} of 200", seen.covered);
    assert_eq!(seen.false_alarms, 0);
}

#[test]
fn a_machine_that_became_slower_is_no_regression_of_its_programs() {
    let drifted = Simulation { repetitions: 100, slowdown: 0.0, drift: Some(0.08), threshold: THRESHOLD };
    let seen = drifted.run(15, |random| 0.015 * normal(|| random.unit()));
    assert!(seen.false_alarms <= 100 * 5 / 100, "{} of 100", seen.false_alarms);
}

#[test]
fn a_slowdown_is_found_beside_a_control_as_well() {
    let slower = Simulation { repetitions: 100, slowdown: 0.06, drift: Some(0.0), threshold: THRESHOLD };
    let seen = slower.run(16, |random| 0.015 * normal(|| random.unit()));
    assert!(seen.found >= 100 * 95 / 100, "found in {} of 100", seen.found);
    assert_eq!(seen.false_alarms, 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn exchanging_the_runs_turns_every_verdict_round(
        trials in prop::collection::vec((100.0..110.0f64, 95.0..115.0f64), 5..12)
    ) {
        let (before, after): (Vec<f64>, Vec<f64>) = trials.into_iter().unzip();
        let (forth, back) = (judge_one(pair(&before, &after)), judge_one(pair(&after, &before)));
        let turned = match forth.verdict {
            Change::Worse => Change::Better,
            Change::Better => Change::Worse,
            same => same,
        };
        prop_assert_eq!(back.verdict, turned);
        let (forth, back) = (forth.ratio.unwrap(), back.ratio.unwrap());
        prop_assert!((forth.value * back.value - 1.0).abs() < 1e-12);
        prop_assert!((forth.low.unwrap() * back.high.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_scale_changes_nothing(trials in prop::collection::vec(95.0..115.0f64, 10), factor in 1e-6..1e9f64) {
        let (before, after) = trials.split_at(5);
        let scaled = [before, after].map(|run| run.iter().map(|value| value * factor).collect::<Vec<f64>>());
        let (plain, scaled) = (judge_one(pair(before, after)), judge_one(pair(&scaled[0], &scaled[1])));
        prop_assert_eq!(plain.verdict, scaled.verdict);
        prop_assert!((plain.ratio.unwrap().value / scaled.ratio.unwrap().value - 1.0).abs() < 1e-9);
    }
}
