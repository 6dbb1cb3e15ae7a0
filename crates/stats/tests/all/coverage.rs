//! How reliable the rules of comparison are, by simulation, under realistic machine noise (`coverage/noise.rs`): how
//! often a scenario of equal cases has a false verdict, how often intervals cover, and what the rules still find.
//!
//! Seeds are fixed, so the counts are the same in every run. Bounds are four standard errors wide, so another seed
//! would pass too.
//!
//! The tables of `docs/coverage.md` come from the same functions with more repetitions, each cell with its standard
//! error:
//! `cargo test --release -p tolok-stats --test all coverage -- --ignored --nocapture`

mod noise;
mod rules;

use self::noise::Noise;
use self::rules::{
    OnePairAtATime, Together, aa_false, checked, covered_when_stopped, false_equivalence, power,
    said_to_have_two_speeds, verdicts, without_the_best,
};
use tolok_stats::{Level, Naming};

const TWO_STATES: [Noise; 3] = [
    Noise::TwoStates { fast_s: 8.0, slow_s: 2.0 },
    Noise::TwoStates { fast_s: 8.0, slow_s: 20.0 },
    Noise::TwoStates { fast_s: 20.0, slow_s: 8.0 },
];

/// Four standard errors of a share over this many repetitions.
fn four_errors(share: f64, repetitions: u32) -> f64 {
    4.0 * (share * (1.0 - share) / f64::from(repetitions)).sqrt()
}

#[test]
fn six_equal_cases_are_rarely_told_apart_on_a_machine_of_two_states() {
    for noise in TWO_STATES {
        for blocks in [5, 10, 20] {
            let found = verdicts::<Together>(noise, 6, blocks, 1_000);
            assert!(found.false_verdicts < 0.05 + four_errors(0.05, 1_000), "{noise:?}, {blocks}: {found:?}");
            assert!(found.covered > 0.92, "{noise:?}, {blocks}: {found:?}");
        }
    }
}

/// The rule used before: it treats what all five trials of a pair have in common as the truth.
#[test]
fn one_t_test_a_pair_would_tell_them_apart_in_every_third_run() {
    let found = verdicts::<OnePairAtATime>(TWO_STATES[0], 6, 5, 500);
    assert!(found.false_verdicts > 0.33 && found.covered < 0.88, "{found:?}");
}

#[test]
fn six_equal_cases_are_rarely_told_apart_under_other_noise() {
    for noise in [Noise::Lognormal, Noise::Laplace, Noise::Outliers, Noise::Redrawn] {
        for blocks in [5, 10, 20] {
            let found = verdicts::<Together>(noise, 6, blocks, 1_000);
            assert!(found.false_verdicts < 0.05 + four_errors(0.05, 1_000), "{noise:?}, {blocks}: {found:?}");
            assert!(found.covered > 0.93 && found.covered < 0.99, "{noise:?}, {blocks}: {found:?}");
        }
    }
}

/// Blocks without a slow trial do not show what one would do. Only more blocks help.
#[test]
fn slow_trials_of_one_case_alone_do_cost_coverage() {
    let [few, many] = [5, 30].map(|blocks| verdicts::<Together>(Noise::RareOfOne, 6, blocks, 600));
    assert!(few.covered_worst < 0.80, "{few:?}");
    assert!(many.covered_worst > 0.85 && many.false_verdicts < 0.10, "{many:?}");
}

#[test]
fn a_difference_of_two_deviations_is_found_in_three_of_four_studies_of_five_blocks() {
    let (together, apart) = (power::<Together>(6, 5, 1_500), power::<OnePairAtATime>(6, 5, 1_500));
    assert!(together > 0.74, "{together}");
    assert!(apart < 0.40, "{apart}");
}

#[test]
fn a_difference_at_the_margin_is_rarely_called_equivalent() {
    for noise in [Noise::Lognormal, TWO_STATES[0]] {
        for blocks in [5, 10, 20] {
            let found = false_equivalence(noise, 6, blocks, 1_000);
            assert!(found < 0.05 + four_errors(0.05, 1_000), "{found} for {blocks} blocks of {noise:?}");
        }
    }
}

#[test]
fn a_subject_is_rarely_told_apart_from_itself() {
    for noise in [Noise::Lognormal, Noise::Redrawn, TWO_STATES[0], TWO_STATES[1]] {
        let found = aa_false(noise, 5, 1_000);
        assert!(found < 0.07 + four_errors(0.07, 1_000), "{found} with {noise:?}");
    }
}

/// Cases are entered twice in turn. The check may hide a difference, but never creates one.
#[test]
fn a_check_by_turns_keeps_false_verdicts_rare_and_costs_little() {
    for noise in [Noise::Lognormal, Noise::Redrawn, TWO_STATES[0], TWO_STATES[1]] {
        let found = checked(noise, 6, 6, 0.0, 800);
        assert!(found.told < 0.05 + four_errors(0.05, 800), "{noise:?}: {found:?}");
        assert!(found.told_from_itself < 0.06 + four_errors(0.06, 800), "{noise:?}: {found:?}");
    }
    let two_deviations = 2.0 * std::f64::consts::SQRT_2 * noise::SPREAD;
    let found = checked(Noise::Lognormal, 6, 6, two_deviations, 800);
    assert!(found.widened < 0.06 + four_errors(0.06, 800), "{found:?}");
    assert!(found.told_of_first > power::<Together>(6, 6, 800) - 0.06, "{found:?}");
}

#[test]
fn a_machine_of_one_speed_is_rarely_said_to_have_two_and_one_of_two_is_recognised() {
    for noise in [Noise::Lognormal, Noise::Laplace, Noise::Outliers, Noise::Redrawn] {
        let found = said_to_have_two_speeds(noise, 6, 200);
        assert!(found <= 0.03, "{found} with {noise:?}");
    }
    for noise in TWO_STATES {
        let found = said_to_have_two_speeds(noise, 6, 100);
        assert!(found > 0.8, "{found} with {noise:?}");
    }
}

#[test]
fn a_run_that_stops_when_it_is_sure_covers_almost_as_much() {
    for (noise, until) in [(Noise::Lognormal, 0.05), (TWO_STATES[0], 0.25), (TWO_STATES[1], 0.25)] {
        let found = covered_when_stopped(noise, until, 10, 30, 500);
        assert!(found > 0.93 - four_errors(0.05, 500), "{found} with {noise:?}");
    }
}

/// The note states how many blocks name a difference of twice the smallest effect in four of five runs.
#[test]
fn as_many_blocks_as_the_power_note_says_name_the_difference() {
    let noise = Noise::Lognormal;
    let blocks = rules::blocks_by_note(noise, 6, 10, 200);
    let named = rules::named(noise, 6, blocks, 0.06, 600);
    assert!((0.72..0.90).contains(&named), "{named} with {blocks} blocks");
}

/// Studies that just name a difference overestimate it. After correction, half of the values are too small.
#[test]
fn a_corrected_difference_is_too_small_as_often_as_too_large() {
    let [seen, left] = rules::too_large_if_named(6, 5, 2_000);
    assert!(seen > 0.75, "{seen}");
    assert!((0.35..0.60).contains(&left), "{left}");
}

#[test]
fn the_best_is_rarely_missing_from_a_recommendation() {
    for noise in [Noise::Lognormal, TWO_STATES[0]] {
        let found = without_the_best(noise, 6, 5, 1_000);
        assert!(found < 0.05 + four_errors(0.05, 1_000), "{found} with {noise:?}");
    }
}

const REPETITIONS: u32 = 10_000;
const BLOCKS: [usize; 3] = [5, 10, 20];

/// A share with its standard error, which is an upper bound if several pairs of a repetition count.
fn percent_of(share: f64, repetitions: u32) -> String {
    let error = (share * (1.0 - share) / f64::from(repetitions)).sqrt();
    format!("{:.1} ±{:.1}", 100.0 * share, 100.0 * error)
}

#[test]
#[ignore = "prints rows of METHODOLOGY.md, in minutes"]
fn tables_of_the_noise_check_and_the_speeds() {
    for noise in [TWO_STATES[0], TWO_STATES[1], Noise::Redrawn, Noise::Lognormal] {
        for blocks in BLOCKS {
            let found = checked(noise, 6, blocks, 0.0, REPETITIONS);
            let [told, widened, itself] =
                [found.told, found.widened, found.told_from_itself].map(|it| percent_of(it, REPETITIONS));
            println!("| {noise:?}, {blocks} | any told apart {told} | widened {widened} | told from itself {itself} |");
        }
    }
    for noise in TWO_STATES.into_iter().chain([Noise::Redrawn, Noise::Lognormal, Noise::Laplace, Noise::Outliers]) {
        let cells = [2, 6, 20].map(|launches| percent_of(said_to_have_two_speeds(noise, launches, 1_000), 1_000));
        println!("| two speeds told by 2, 6, 20 launches of 48 slices, {noise:?} | {} |", cells.join(" | "));
    }
}

#[test]
#[ignore = "prints the tables of docs/coverage.md, in minutes"]
fn tables() {
    let percent = |share: f64| percent_of(share, REPETITIONS);
    let row = |name: &str, of: &dyn Fn(usize) -> f64| {
        let cells = BLOCKS.map(|blocks| percent(of(blocks)));
        println!("| {name} | {} |", cells.join(" | "));
    };
    let noises = TWO_STATES.into_iter().chain([
        Noise::Redrawn,
        Noise::RareOfOne,
        Noise::Lognormal,
        Noise::Laplace,
        Noise::Outliers,
    ]);
    for noise in noises {
        for (rule, of) in
            [("together", verdicts::<Together> as fn(_, _, _, _) -> _), ("pairs", verdicts::<OnePairAtATime>)]
        {
            let found = BLOCKS.map(|blocks| of(noise, 6, blocks, REPETITIONS));
            let all = |of: fn(&rules::Verdicts) -> f64| found.each_ref().map(|it| percent(of(it))).join(" | ");
            println!("| {rule}, {noise:?}: false | {} |", all(|it| it.false_verdicts));
            println!("| {rule}, {noise:?}: covered | {} |", all(|it| it.covered));
            println!("| {rule}, {noise:?}: covered, worst pair | {} |", all(|it| it.covered_worst));
        }
    }
    for cases in [2, 3, 4, 10] {
        for noise in [TWO_STATES[0], TWO_STATES[1]] {
            row(&format!("{cases} cases, {noise:?}: false"), &|n| {
                verdicts::<Together>(noise, cases, n, REPETITIONS).false_verdicts
            });
        }
    }
    row("power at 2 deviations, together", &|n| power::<Together>(6, n, REPETITIONS));
    row("power at 2 deviations, pairs", &|n| power::<OnePairAtATime>(6, n, REPETITIONS));
    for noise in [TWO_STATES[0], TWO_STATES[1], Noise::Redrawn, Noise::Lognormal] {
        row(&format!("equivalent at the margin, {noise:?}"), &|n| false_equivalence(noise, 6, n, REPETITIONS));
        row(&format!("A/A told apart, {noise:?}"), &|n| aa_false(noise, n, REPETITIONS));
        row(&format!("best not recommended, {noise:?}"), &|n| without_the_best(noise, 6, n, REPETITIONS));
    }
    for (noise, until) in [(Noise::Lognormal, 0.05), (TWO_STATES[0], 0.25), (TWO_STATES[1], 0.25)] {
        let cells = [5, 6, 10, 15].map(|least| percent_of(covered_when_stopped(noise, until, least, 40, 1_000), 1_000));
        println!("| stopped, at least 5, 6, 10, 15; {noise:?} | {} |", cells.join(" | "));
    }
    for noise in [TWO_STATES[0], Noise::Redrawn, Noise::Lognormal] {
        let cells = BLOCKS.map(|blocks| {
            let needed = rules::blocks_by_note(noise, 6, blocks, 400);
            format!("{needed}: {}", percent_of(rules::named(noise, 6, needed, 0.06, 500), 500))
        });
        println!(
            "| power note: blocks that 5, 10, 20 ask for, and how often these name 6%; {noise:?} | {} |",
            cells.join(" | ")
        );
    }
    for comparisons in [1, 15] {
        let cells = [5, 6, 8, 10, 20].map(|blocks| {
            let df = f64::from(blocks) - 1.0;
            let paired_t = Naming { sd: 1.0, df, blocks, level: Level::P95, comparisons, least_size: 0.0 };
            format!("{:.2}", paired_t.smallest_named(0.8))
        });
        println!("| smallest effect of paired t, one of {comparisons} | {} |", cells.join(" | "));
    }
}
