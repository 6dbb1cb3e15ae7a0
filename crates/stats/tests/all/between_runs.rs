//! How often several runs show differences that do not exist, and the coverage of their intervals, by simulation. Seeds
//! are fixed, so the counts are the same in every run. `docs/coverage.md` has the table that the ignored test prints.

use tolok_stats::{Level, Rng, RunValues, holm, run_differences};

use crate::normal::normal;

/// Twelve subjects with a figure each. Trials vary by 1.5%, and a run has ten.
const FIGURES: usize = 12;
const OF_A_RUN: f64 = 0.015 / 3.162_277_660_168_379_5;

/// What differs between runs of the same versions.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Between {
    /// Each figure independently.
    Own,
    /// All figures alike, as on another day.
    Shared,
    /// Half of the variance from each.
    Both,
    /// One figure by five times as much as the others.
    OneWild,
    /// Each figure independently, with heavy tails: one run in ten is off by four times as much.
    HeavyTails,
    /// Figures in pairs, like two scenarios of one subject that is rebuilt; six subjects.
    Builds,
}

const ALL: [Between; 6] =
    [Between::Own, Between::Shared, Between::Both, Between::OneWild, Between::HeavyTails, Between::Builds];

/// The effect of one run on each figure.
fn run(rng: &mut Rng, between: Between, deviation: f64) -> Vec<f64> {
    let day = normal(rng);
    let mut build = 0.0;
    let mut of = |figure: usize| match between {
        Between::Own => normal(rng),
        Between::Shared => day,
        Between::Both => 0.5f64.sqrt() * (day + normal(rng)),
        Between::OneWild => normal(rng) * if figure == 0 { 5.0 } else { 1.0 },
        Between::HeavyTails => normal(rng) * if rng.below(10) == 0 { 4.0 } else { 1.0 },
        Between::Builds => {
            if figure.is_multiple_of(2) {
                build = normal(rng);
            }
            build
        }
    };
    let effects: Vec<f64> = (0..FIGURES).map(|figure| deviation * of(figure)).collect();
    effects.into_iter().map(|effect| effect + OF_A_RUN * normal(rng)).collect()
}

/// Results of comparing `runs` runs before with as many after, when nothing differs.
#[derive(Debug, Default)]
struct Seen {
    /// Share of comparisons with any significant difference among all figures.
    told: f64,
    /// Share of comparisons with a significant difference that is worse by 3% or more: a false regression.
    regressions: f64,
    /// Share of all intervals that contain 0.
    covered: f64,
    /// The same for the figure with the lowest coverage.
    covered_least: f64,
    /// Mean half width of the intervals.
    half_width: f64,
}

fn simulated(runs: usize, between: Between, deviation: f64, repetitions: u32) -> Seen {
    let mut rng = Rng::seeded(19 + runs as u64);
    let mut seen = Seen::default();
    let mut covered = [0u32; FIGURES];
    for _ in 0..repetitions {
        let all: Vec<Vec<f64>> = (0..2 * runs).map(|_| run(&mut rng, between, deviation)).collect();
        let values = |of: &[Vec<f64>], figure: usize| of.iter().map(|run| run[figure]).collect::<Vec<f64>>();
        let figure = |figure: usize| RunValues {
            before: values(&all[..runs], figure),
            after: values(&all[runs..], figure),
            subject: if between == Between::Builds { figure / 2 } else { figure },
        };
        let found = run_differences(&(0..FIGURES).map(figure).collect::<Vec<_>>()).unwrap();
        let p = holm(&found.iter().map(tolok_stats::RunDifference::p).collect::<Vec<f64>>());
        seen.told += f64::from(u8::from(p.iter().any(|p| *p < 0.05)));
        let is_worse = |(p, it): (&f64, &tolok_stats::RunDifference)| *p < 0.05 && it.difference < -(1.03f64.ln());
        seen.regressions += f64::from(u8::from(p.iter().zip(&found).any(is_worse)));
        for (count, it) in covered.iter_mut().zip(&found) {
            let interval = it.interval(Level::P95);
            *count += u32::from(interval.contains(0.0));
            seen.half_width += (interval.high - interval.low) / 2.0 / FIGURES as f64;
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(repetitions);
    seen.covered = covered.iter().map(|count| share(*count)).sum::<f64>() / FIGURES as f64;
    seen.covered_least = covered.iter().map(|count| share(*count)).fold(1.0, f64::min);
    for sum in [&mut seen.told, &mut seen.regressions, &mut seen.half_width] {
        *sum /= f64::from(repetitions);
    }
    seen
}

#[test]
fn equal_versions_show_a_regression_in_five_of_a_hundred_comparisons_at_most() {
    const REPETITIONS: u32 = 400;
    // Three standard errors of 5% in 400 repetitions are 3.3%.
    for runs in [2, 3, 5] {
        for deviation in [0.0, 0.01, 0.02] {
            for between in [Between::Own, Between::Shared, Between::Both] {
                let seen = simulated(runs, between, deviation, REPETITIONS);
                let at = format!("{runs} runs of each, {between:?}, {deviation}: {seen:?}");
                assert!(seen.regressions <= 0.05 && seen.told <= 0.083, "{at}");
                assert!((0.93..=0.97).contains(&seen.covered), "{at}");
            }
        }
    }
}

#[test]
fn noise_that_the_model_does_not_know_costs_little() {
    for runs in [2, 3, 5] {
        for between in [Between::OneWild, Between::HeavyTails, Between::Builds] {
            let seen = simulated(runs, between, 0.01, 400);
            let at = format!("{runs} runs of each, {between:?}: {seen:?}");
            assert!(seen.regressions <= 0.05 && seen.told <= 0.083, "{at}");
            assert!((0.93..=0.98).contains(&seen.covered) && seen.covered_least >= 0.8, "{at}");
        }
    }
}

#[test]
#[ignore = "prints the table of docs/coverage.md; takes a minute: cargo test -p tolok-stats --test all between_runs -- --ignored --nocapture"]
fn table_of_several_runs() {
    const REPETITIONS: u32 = 10_000;
    println!(
        "| between runs | runs of each | any difference told | false regression | coverage: mean, least | half width |"
    );
    for between in ALL {
        for deviation in [0.0, 0.01, 0.02] {
            for runs in [2, 3, 5] {
                let seen = simulated(runs, between, deviation, REPETITIONS);
                println!(
                    "| {between:?}, {:.0} % | {runs} | {:.1} % | {:.1} % | {:.1}, {:.1} | {:.1} % |",
                    100.0 * deviation,
                    100.0 * seen.told,
                    100.0 * seen.regressions,
                    100.0 * seen.covered,
                    100.0 * seen.covered_least,
                    100.0 * seen.half_width
                );
            }
        }
    }
}
