//! Checks by simulation with fixed seeds that real changes are found and false ones are rare.

use tolok_stats::Rng;

use super::level_changes;
use crate::normal::normal;

/// How values vary from run to run.
#[derive(Debug, Clone, Copy)]
enum Noise {
    Normal,
    /// Each run correlates with the previous one by 0.3.
    Correlated,
    /// One run in ten deviates four times as much.
    HeavyTails,
    /// The machine has two states and keeps each for three runs on average.
    TwoStates,
}

/// A series of `n` runs with a standard deviation of about 1.
fn noise(rng: &mut Rng, n: usize, noise: Noise) -> Vec<f64> {
    let (mut last, mut is_slow) = (normal(|| rng.unit()), rng.below(2) == 0);
    let next = || match noise {
        Noise::Normal => normal(|| rng.unit()),
        Noise::Correlated => {
            last = 0.3 * last + (1.0f64 - 0.09).sqrt() * normal(|| rng.unit());
            last
        }
        Noise::HeavyTails => normal(|| rng.unit()) * if rng.below(10) == 0 { 4.0 } else { 1.0 },
        Noise::TwoStates => {
            is_slow ^= rng.below(3) == 0;
            0.5 * normal(|| rng.unit()) + if is_slow { -1.0 } else { 1.0 }
        }
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// The share of histories of `series` figures that show a change although none exists.
fn false_changes(n: usize, series: usize, kind: Noise, histories: u32) -> f64 {
    let mut rng = Rng::seeded(31 + n as u64);
    let any = |_: &u32| {
        let all: Vec<Vec<f64>> = (0..series).map(|_| noise(&mut rng, n, kind)).collect();
        level_changes(&all).iter().any(|changes| !changes.is_empty())
    };
    let mut any = any;
    (0..histories).filter(|it| any(it)).count() as f64 / f64::from(histories)
}

/// How often a step in one of ten series is found within a run of its place. The step is in the middle, and its size is in
/// standard deviations.
fn found(n: usize, step: f64, histories: u32) -> f64 {
    let mut rng = Rng::seeded(41 + n as u64);
    let mut is_found = |_: &u32| {
        let mut all: Vec<Vec<f64>> = (0..10).map(|_| noise(&mut rng, n, Noise::Normal)).collect();
        all[0].iter_mut().skip(n / 2).for_each(|value| *value += step);
        level_changes(&all)[0].iter().any(|change| change.abs_diff(n / 2) <= 1)
    };
    (0..histories).filter(|it| is_found(it)).count() as f64 / f64::from(histories)
}

#[test]
fn histories_without_a_change_show_none_in_95_of_100() {
    for (n, histories) in [(6, 400), (10, 300), (20, 150)] {
        for (kind, most) in [(Noise::Normal, 0.03), (Noise::Correlated, 0.05), (Noise::HeavyTails, 0.05)] {
            let share = false_changes(n, 10, kind, histories);
            assert!(share <= most, "{n} runs, {kind:?}: {share}");
        }
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    assert!(found(10, 8.0, 100) >= 0.95);
    assert!(found(20, 6.0, 100) >= 0.95);
}

#[test]
fn one_odd_run_is_no_level() {
    let series = [10.0, 10.1, 9.9, 10.0, 4.0, 10.1, 9.9, 10.0, 10.1, 9.9].map(f64::ln).to_vec();
    assert_eq!(level_changes(&[series]), [Vec::<usize>::new()]);
}

#[test]
fn three_runs_show_nothing() {
    assert_eq!(level_changes(&[vec![1.0, 1.0, 9.0]]), [Vec::<usize>::new()]);
}

#[test]
#[ignore = "prints the table of docs/coverage.md; takes a minute"]
fn table_of_histories() {
    use std::io::Write;
    let mut table = std::io::stdout();
    for n in [6, 10, 20, 40] {
        for kind in [Noise::Normal, Noise::Correlated, Noise::HeavyTails, Noise::TwoStates] {
            let shares = [1, 10, 30].map(|series| 100.0 * false_changes(n, series, kind, 1_000));
            writeln!(table, "| {kind:?} | {n} | {shares:.1?} |").unwrap();
        }
        let steps = [3.0, 4.0, 6.0, 8.0].map(|step| 100.0 * found(n, step, 1_000));
        writeln!(table, "| steps of 3, 4, 6, 8 | {n} | {steps:.0?} |").unwrap();
    }
}
