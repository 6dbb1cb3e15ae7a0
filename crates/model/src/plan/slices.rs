//! Launches of a plan, and the order of the slices in each.

use serde::{Deserialize, Serialize};
use tolok_rng::SplitMix64;

use super::{Case, CaseId, Plan, PlannedTrial};
use crate::study::Scenario;

/// Keeps the order of slices apart from the order of trials, which the same seed gives.
const STREAM: u64 = 0x51_1ce5;
/// A server is started in about this long, in seconds.
const START_S: f64 = 0.15;
/// To thaw, drain and freeze takes about this long a slice, in seconds.
const SLICE_OVERHEAD_S: f64 = 0.003;

/// A slice of a launch: load on one case for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedSlice {
    pub case: CaseId,
    /// The round of its scenario, from 1.
    pub round: u32,
    /// 1 for the permutation, 2 for its mirror.
    pub half: u32,
    /// Length of the window, in seconds.
    pub window_s: f64,
}

/// Scenarios whose servers are started together: those of one environment that all ask the database, or all do not.
pub(super) fn group_of(scenario: &Scenario) -> Option<(&str, bool)> {
    scenario.slices.map(|_| (scenario.environment.as_str(), scenario.database))
}

impl Plan {
    /// The trials of a launch, in their order.
    pub fn launch(&self, launch: u32) -> impl Iterator<Item = &PlannedTrial> {
        self.trials.iter().filter(move |trial| trial.launch == Some(launch))
    }

    /// The slices of a launch, in the order in which they run.
    ///
    /// A round of a scenario is a permutation of its cases and its mirror, so a straight drift of the machine has the same
    /// part in each case. Rounds of several scenarios alternate.
    pub fn slices_of(&self, launch: u32) -> Vec<PlannedSlice> {
        let cases: Vec<&Case> = self.launch(launch).filter_map(|trial| self.case(&trial.case)).collect();
        let mut random = SplitMix64::new(self.seed ^ STREAM.wrapping_mul(u64::from(launch) + 1));
        let sliced = self.scenarios.iter().filter_map(|scenario| {
            let own: Vec<&Case> = cases.iter().copied().filter(|case| case.scenario == scenario.id).collect();
            let slices = scenario.slices.filter(|_| !own.is_empty())?;
            Some((slices, slices.rounds(scenario.load.duration_s), own))
        });
        let sliced: Vec<_> = sliced.collect();
        let most = sliced.iter().map(|(_, rounds, _)| *rounds).max().unwrap_or(0);
        let mut order = Vec::new();
        for round in 1..=most {
            let mut turns: Vec<usize> = (0..sliced.len()).filter(|turn| round <= sliced[*turn].1).collect();
            random.shuffle(&mut turns);
            for turn in turns {
                let (slices, _, own) = &sliced[turn];
                let mut permuted = own.clone();
                random.shuffle(&mut permuted);
                let window_s = slices.window_s_of(round);
                let slice = |half| move |case: &&Case| PlannedSlice { case: case.id.clone(), round, half, window_s };
                order.extend(permuted.iter().map(slice(1)));
                order.extend(permuted.iter().rev().map(slice(2)));
            }
        }
        order
    }

    /// About how long a trial of a launch takes, in seconds: its share of the launch.
    pub(super) fn sliced_estimate_s(scenario: &Scenario) -> Option<f64> {
        let slices = scenario.slices?;
        let rounds = slices.rounds(scenario.load.duration_s);
        let measured: f64 = (1..=rounds).map(|round| 2.0 * slices.window_s_of(round)).sum();
        let beside = f64::from(2 * rounds) * (slices.lead_in_s + SLICE_OVERHEAD_S);
        Some(START_S + scenario.load.warmup_s + measured + beside)
    }
}
