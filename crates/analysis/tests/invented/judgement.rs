//! Invented A/A pairs, and block noise.

use tolok_analysis::{Estimate, Findings, NoiseFloor, PairComparison, PowerNote};
use tolok_model::{Case, Outcome, PlannedTrial, SplitMix64, TrialRecord};

use super::InventedRun;
use super::normal::normal;

impl InventedRun {
    /// Enters the last case again as the other half of an A/A pair, with its figures multiplied by these factors in its blocks.
    pub fn again(&mut self, times: &[f64]) -> &mut Self {
        let first = self.plan.cases.last().expect("a case comes first").clone();
        let id = format!("{}--again", first.id);
        let own: Vec<TrialRecord> = self.trials.iter().filter(|trial| trial.case == first.id).cloned().collect();
        for (mut trial, times) in own.into_iter().zip(times) {
            trial.number = self.plan.trials.len() as u32 + 1;
            trial.case.clone_from(&id);
            match &mut trial.outcome {
                Outcome::Completed(measurement) => measurement.goodput_rps *= times,
                Outcome::Timed(timing) => timing.runs.iter_mut().for_each(|run| run.wall_s *= times),
                Outcome::Failed(_) => {}
            }
            let (number, block) = (trial.number, trial.block);
            self.plan.trials.push(PlannedTrial { number, block, case: id.clone(), launch: None });
            self.trials.push(trial);
        }
        self.plan.cases.push(Case { id, twin_of: Some(first.id.clone()), ..first });
        self
    }
}

impl InventedRun {
    /// Enters a case of the scenario twice in these blocks, with its figures multiplied by these factors.
    pub fn again_in(&mut self, label: &str, blocks: &[(u32, f64)]) -> &mut Self {
        let is_it = |case: &&Case| case.subject.label == label && case.twin_of.is_none();
        let first = self.plan.cases.iter().find(is_it).expect("a case comes first").clone();
        let id = format!("{}--again", first.id);
        for (block, times) in blocks {
            let is_own = |trial: &&TrialRecord| trial.case == first.id && trial.block == *block;
            let mut trial = self.trials.iter().find(is_own).expect("the case is in the block").clone();
            trial.number = self.plan.trials.len() as u32 + 1;
            trial.case.clone_from(&id);
            if let Outcome::Completed(measurement) = &mut trial.outcome {
                measurement.goodput_rps *= times;
            }
            let number = trial.number;
            self.plan.trials.push(PlannedTrial { number, block: *block, case: id.clone(), launch: None });
            self.trials.push(trial);
        }
        self.plan.cases.push(Case { id, twin_of: Some(first.id.clone()), ..first });
        self
    }
}

/// Normal noise with this standard deviation, from a seed.
pub struct Noise {
    random: SplitMix64,
    sd: f64,
}

impl Noise {
    pub fn new(seed: u64, sd: f64) -> Self {
        Self { random: SplitMix64::new(seed), sd }
    }

    /// Blocks of a server with this true goodput. Each block has its own noise.
    pub fn blocks(&mut self, goodput_rps: f64, number: u32) -> Vec<f64> {
        (0..number).map(|_| goodput_rps * (self.sd * self.standard_normal()).exp()).collect()
    }

    fn standard_normal(&mut self) -> f64 {
        normal(|| self.random.below(1 << 30) as f64 / f64::from(1 << 30))
    }
}

/// Shortens the findings on pairs and on the whole run to six digits. p values get three, because small ones depend most on the
/// machine's math library.
pub fn shorten_judgement(findings: &mut Findings, short: &dyn Fn(f64) -> f64, estimate: &dyn Fn(&mut Estimate)) {
    let floor = |floor: &mut NoiseFloor| {
        floor.size = short(floor.size);
        floor.scatter = floor.scatter.map(short);
        floor.widening = short(floor.widening);
        floor.pairs.iter_mut().for_each(|pair| estimate(&mut pair.ratio));
        estimate(&mut floor.ratio);
    };
    let power = |power: &mut PowerNote| power.smallest_found = short(power.smallest_found);
    let p = |p: &mut Option<f64>| *p = p.map(|p| format!("{p:.2e}").parse().expect("a number that was just written"));
    let pair = |pair: &mut PairComparison| {
        estimate(&mut pair.ratio);
        pair.simultaneous_low = pair.simultaneous_low.map(short);
        pair.simultaneous_high = pair.simultaneous_high.map(short);
        p(&mut pair.p_adjusted);
        p(&mut pair.p_equivalence_adjusted);
    };
    for scenario in &mut findings.scenarios {
        scenario.noise_floor.iter_mut().for_each(floor);
        scenario.power.iter_mut().for_each(power);
        scenario.comparisons.iter_mut().for_each(|comparison| pair(&mut comparison.by));
    }
    for program in &mut findings.programs {
        program.noise_floor.iter_mut().for_each(floor);
        program.power.iter_mut().for_each(power);
        let both = program.comparisons.iter_mut();
        both.flat_map(|it| std::iter::once(&mut it.wall).chain(&mut it.above_floor)).for_each(pair);
    }
}
