//! Whether a case was still becoming faster from the first turn of its launches to the last.

use tolok_stats::{Sample, mean_interval};

use super::Comparand;
use crate::estimate::{LEVEL, least_trials};

/// A smaller increase in speed changes no ratio that matters.
const TOLERATED: f64 = 0.03;

/// The cases that were still becoming faster, by their index, and the factor.
///
/// Each case is compared with the mean of the others, because what the machine does to all cases alike is not their warm-up. All
/// cases together are one family (Bonferroni).
pub(super) fn warming(cases: &[Comparand]) -> Vec<(usize, f64)> {
    let launches = cases.iter().map(|case| case.slices.len()).max().unwrap_or(0);
    let changes: Vec<Vec<Option<f64>>> =
        (0..launches).map(|launch| cases.iter().map(|case| change(case, launch)).collect()).collect();
    let of_case = |place: usize| {
        let own: Vec<f64> = changes.iter().filter_map(|of_launch| of_launch[place]).collect();
        let beside_others = changes.iter().filter_map(|of_launch| {
            let others: Vec<f64> = (0..cases.len()).filter(|it| *it != place).filter_map(|it| of_launch[it]).collect();
            Some(of_launch[place]? - Sample::new(&others).ok()?.mean())
        });
        let beside_others = Sample::new(&beside_others.collect::<Vec<f64>>()).ok()?;
        if beside_others.len() < least_trials() as usize {
            return None;
        }
        let least = mean_interval(&beside_others, LEVEL.simultaneous(cases.len()))?.low;
        let size = Sample::new(&own).ok()?.mean().min(beside_others.mean());
        (least > 0.0 && size >= TOLERATED.ln_1p()).then(|| (place, size.exp()))
    };
    (0..cases.len()).filter_map(of_case).collect()
}

/// How much faster a case was in the last turn of a launch than in the first, as a logarithm.
fn change(case: &Comparand, launch: usize) -> Option<f64> {
    let slices = case.slices.get(launch)?;
    let last = slices.iter().map(|(round, ..)| *round).max().filter(|last| *last > 1)?;
    let mean_of = |turn: u32| {
        let of_turn: Vec<f64> = slices.iter().filter(|(round, ..)| *round == turn).map(|slice| slice.2).collect();
        Sample::new(&of_turn).ok().map(|sample| sample.mean())
    };
    Some(mean_of(last)? - mean_of(1)?)
}

#[cfg(test)]
mod tests {
    use tolok_model::SplitMix64;

    use super::*;

    const LAUNCHES: usize = 7;

    /// Cases whose slices scatter by about 5%, and which become faster by these factors in each of three turns.
    fn cases(factors: &[f64], machine: f64, seed: u64) -> Vec<Comparand> {
        let mut random = SplitMix64::new(seed);
        let mut case = |factor: &f64| {
            let mut launch = || {
                let slice = |place: u32| {
                    let turn = f64::from(place / 2);
                    let noise = (random.unit() - 0.5) * 0.17;
                    (place / 2 + 1, place % 2 + 1, turn * (factor.ln() + machine.ln()) + noise)
                };
                (0..6).map(slice).collect()
            };
            Comparand {
                values: vec![Some(1.0); LAUNCHES],
                slices: (0..LAUNCHES).map(|_| launch()).collect(),
                given: vec![6; LAUNCHES],
            }
        };
        factors.iter().map(&mut case).collect()
    }

    #[test]
    fn a_case_that_becomes_faster_than_the_others_is_still_warming_up() {
        let found = warming(&cases(&[1.0, 1.08, 1.0, 1.0], 1.0, 3));
        assert!(matches!(found[..], [(1, factor)] if (factor - 1.08 * 1.08).abs() < 0.05), "{found:?}");
    }

    #[test]
    fn a_machine_that_becomes_faster_warms_no_case() {
        assert_eq!(warming(&cases(&[1.0; 4], 1.1, 3)), []);
    }

    #[test]
    fn a_case_whose_neighbours_become_slower_is_not_warming_up() {
        assert_eq!(warming(&cases(&[1.0, 0.9], 1.0, 3)), []);
    }

    #[test]
    fn steady_cases_are_seldom_named() {
        let named = (0..400).filter(|seed| !warming(&cases(&[1.0; 6], 1.0, *seed)).is_empty()).count();
        assert!(named <= 20, "{named} of 400");
    }
}
