//! Launches of a plan, and the order of the slices or turns in each.

use serde::{Deserialize, Serialize};
use tolok_rng::SplitMix64;

use super::{Case, CaseId, Plan, PlannedTrial};
use crate::program::ProgramScenario;
use crate::study::Scenario;

/// Keeps the order of slices independent of the order of trials, which comes from the same seed.
const STREAM: u64 = 0x51_1ce5;
/// Approximate time to start and end a block's process and a launch's box, in seconds.
const LAUNCH_S: f64 = 0.4;
/// Approximate time to start a server, in seconds.
const START_S: f64 = 0.05;
/// Approximate time to thaw and freeze, per slice, in seconds.
const FREEZE_S: f64 = 0.001;
/// Approximate wait for responses in flight, as a share of the lead-in, which should be longer than responses take.
const DRAIN_SHARE: f64 = 0.35;
/// A warm-up that the cases of a server share is a multiple of this, and at least this, in seconds.
const WARM_UP_STEP_S: f64 = 0.01;

/// A slice of a launch: load on one case for a short time.
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

/// A turn of a launch of programs: one counted run of a case, with its floor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTurn {
    pub case: CaseId,
    /// From 1.
    pub round: u32,
    /// 1 for the permutation, 2 for its mirror.
    pub half: u32,
}

/// The cases that share a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group<'a> {
    /// Servers of one environment's scenarios that either all use the database or all do not.
    Servers { environment: &'a str, database: bool },
    /// Programs of one scenario. More scenarios would only move the compared runs further apart.
    Programs { scenario: &'a str },
}

impl<'a> Group<'a> {
    /// The group of a case, or `None` if each case has its own trials.
    pub(super) fn of(case: &Case, scenarios: &'a [Scenario], programs: &'a [ProgramScenario]) -> Option<Self> {
        if let Some(program) = programs.iter().find(|program| program.id == case.scenario) {
            return program.in_turns.then_some(Self::Programs { scenario: &program.id });
        }
        let scenario = scenarios.iter().find(|scenario| scenario.id == case.scenario)?;
        let of_servers = Self::Servers { environment: &scenario.environment, database: scenario.database };
        scenario.slices.map(|_| of_servers)
    }
}

/// The cases of a round with their halves: a permutation and its mirror, so that linear drift of the machine affects
/// every case equally.
fn round_of<'a>(own: &[&'a Case], random: &mut SplitMix64) -> Vec<(&'a Case, u32)> {
    let mut permuted = own.to_vec();
    random.shuffle(&mut permuted);
    let first = permuted.iter().map(|case| (*case, 1));
    first.chain(permuted.iter().rev().map(|case| (*case, 2))).collect()
}

impl Plan {
    /// The trials of a launch, in order.
    pub fn launch(&self, launch: u32) -> impl Iterator<Item = &PlannedTrial> {
        self.trials.iter().filter(move |trial| trial.launch == Some(launch))
    }

    /// The number of launches.
    pub fn launches(&self) -> u32 {
        self.trials.iter().filter_map(|trial| trial.launch).max().unwrap_or_default()
    }

    /// The slices of a launch of servers, in execution order. Rounds of several scenarios alternate.
    pub fn slices_of(&self, launch: u32) -> Vec<PlannedSlice> {
        let (cases, mut random) = (self.cases_of(launch), self.random_of(launch));
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
                let window_s = slices.window_s_of(round);
                let slice = |(case, half): (&Case, u32)| PlannedSlice { case: case.id.clone(), round, half, window_s };
                order.extend(round_of(own, &mut random).into_iter().map(slice));
            }
        }
        order
    }

    /// The turns of a launch of programs, in execution order: one for each counted run of each case.
    pub fn turns_of(&self, launch: u32) -> Vec<PlannedTurn> {
        let (cases, mut random) = (self.cases_of(launch), self.random_of(launch));
        let program = cases.first().and_then(|case| self.program(&case.scenario));
        let runs = program.map_or(0, |program| program.runs.runs);
        let mut order = Vec::new();
        for round in 1..=runs.div_ceil(2) {
            // With an odd number of runs, the last round has no mirror.
            let halves = if 2 * round > runs { 1 } else { 2 };
            let turns = round_of(&cases, &mut random).into_iter().filter(|(_, half)| *half <= halves);
            order.extend(turns.map(|(case, half)| PlannedTurn { case: case.id.clone(), round, half }));
        }
        order
    }

    fn cases_of(&self, launch: u32) -> Vec<&Case> {
        self.launch(launch).filter_map(|trial| self.case(&trial.case)).collect()
    }

    /// The generator that draws a launch's order.
    fn random_of(&self, launch: u32) -> SplitMix64 {
        SplitMix64::new(self.seed ^ STREAM.wrapping_mul(u64::from(launch) + 1))
    }

    /// Warm-up time of a case in its launch, in seconds. Cases that share a server divide one warm-up among them,
    /// because most of what warms up is common to all.
    pub fn warm_up_s(&self, case: &Case) -> f64 {
        let warm_up_s = self.scenario(&case.scenario).map_or(0.0, |scenario| scenario.load.warmup_s);
        let sharing = self.launched_with(case).filter(|other| other.shares_server(case)).count().max(1);
        if warm_up_s <= 0.0 || sharing == 1 {
            return warm_up_s;
        }
        let steps = (warm_up_s / sharing as f64 / WARM_UP_STEP_S).round();
        steps.max(1.0) * WARM_UP_STEP_S
    }

    /// The cases in the launches of this case, including itself; empty if it is not sliced. Second halves take turns by
    /// subject, so only one subject's are included.
    fn launched_with<'p>(&'p self, case: &Case) -> impl Iterator<Item = &'p Case> {
        let group = |case: &Case| Group::of(case, &self.scenarios, &self.programs);
        let own = group(case);
        let twins = || self.cases.iter().filter(|other| other.twin_of.is_some() && group(other) == own);
        let first = twins().next();
        let take_turns =
            first.is_some_and(|first| twins().any(|it| it.id != first.id && it.scenario == first.scenario));
        let label = if case.twin_of.is_some() { Some(case) } else { first }.map(|it| it.subject.label.clone());
        let has_its_turn =
            move |other: &Case| other.twin_of.is_none() || !take_turns || Some(&other.subject.label) == label.as_ref();
        self.cases.iter().filter(move |other| own.is_some() && group(other) == own && has_its_turn(other))
    }

    /// Approximate time of a trial in a launch, in seconds: its share of the launch.
    pub(super) fn sliced_estimate_s(&self, case: &Case) -> Option<f64> {
        let scenario = self.scenario(&case.scenario)?;
        scenario.slices?;
        let together: Vec<&Case> = self.launched_with(case).collect();
        let is_first = |place: usize| !together[..place].iter().any(|earlier| earlier.shares_server(together[place]));
        let servers = (0..together.len()).filter(|place| is_first(*place)).count();
        let loaded_s: f64 = together.iter().map(|case| self.load_estimate_s(case)).sum();
        let launch_s = LAUNCH_S + self.database_estimate_s(scenario) + START_S * servers as f64 + loaded_s;
        Some(launch_s / together.len() as f64)
    }

    /// Approximate time under load of a case in a launch, in seconds.
    fn load_estimate_s(&self, case: &Case) -> f64 {
        let Some(scenario) = self.scenario(&case.scenario) else { return 0.0 };
        let Some(slices) = scenario.slices else { return 0.0 };
        let rounds = slices.rounds(scenario.load.duration_s);
        let measured: f64 = (1..=rounds).map(|round| 2.0 * slices.window_s_of(round)).sum();
        let beside = f64::from(2 * rounds) * (slices.lead_in_s * (1.0 + DRAIN_SHARE) + FREEZE_S);
        self.warm_up_s(case) + measured + beside
    }
}
