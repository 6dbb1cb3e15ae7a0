//! The observations of one case, block by block.

use tolok_model::{Disturbance, Failure, Measurement, Outcome, Percentile, Plan, Resources, TrialRecord};
use tolok_stats::Sample;

use crate::findings::trials::DisturbedTrial;

/// The result of a trial that ran to its end: the window of a server, or the runs of a program.
pub(crate) trait Found: Sized {
    /// The result of this kind, if the trial has one.
    fn of(outcome: &Outcome) -> Option<&Self>;

    /// What disturbed it; empty if nothing did.
    fn disturbances(&self) -> &[Disturbance];
}

impl Found for Measurement {
    fn of(outcome: &Outcome) -> Option<&Self> {
        if let Outcome::Completed(measurement) = outcome { Some(measurement) } else { None }
    }

    fn disturbances(&self) -> &[Disturbance] {
        &self.disturbances
    }
}

/// The trials of one case, in the order of their blocks.
pub(crate) struct Trials<'a, T> {
    pub(crate) planned: u32,
    blocks: u32,
    /// Every trial with a record, whatever its outcome.
    pub(crate) records: Vec<&'a TrialRecord>,
    /// Block and result of each scored trial: measured, and not disturbed.
    pub(crate) scored: Vec<(u32, &'a T)>,
    /// Numbers of the scored trials, in the same order.
    numbers: Vec<u32>,
    /// Record and result of each trial that stayed disturbed after all attempts. No figure uses it.
    pub(crate) disturbed: Vec<(&'a TrialRecord, &'a T)>,
    /// Number and reason of each trial that failed.
    pub(crate) failed: Vec<(u32, &'a Failure)>,
    /// Measurements that were discarded because of disturbances.
    pub(crate) reruns: u32,
}

/// The trials of a server under a scenario.
pub(crate) type Observations<'a> = Trials<'a, Measurement>;

impl<'a, T: Found> Trials<'a, T> {
    /// The trials of `case`. The order of `trials` does not matter.
    pub(crate) fn of(case: &str, plan: &Plan, trials: &'a [TrialRecord]) -> Self {
        // A shortened plan does not include later blocks.
        let is_own = |trial: &&TrialRecord| trial.case == case && trial.block <= plan.blocks;
        let mut own: Vec<&TrialRecord> = trials.iter().filter(is_own).collect();
        own.sort_by_key(|trial| (trial.block, trial.number));
        let (mut scored, mut numbers, mut disturbed, mut failed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for trial in &own {
            match (T::of(&trial.outcome), &trial.outcome) {
                (Some(found), _) if found.disturbances().is_empty() => {
                    scored.push((trial.block, found));
                    numbers.push(trial.number);
                }
                (Some(found), _) => disturbed.push((*trial, found)),
                (None, Outcome::Failed(failure)) => failed.push((trial.number, failure)),
                // A case belongs to a server or to a program, and so do all its trials.
                (None, _) => {}
            }
        }
        let planned = plan.trials.iter().filter(|trial| trial.case == case).count() as u32;
        let reruns = own.iter().map(|trial| trial.attempts.saturating_sub(1)).sum();
        Self { planned, blocks: plan.blocks, records: own, scored, numbers, disturbed, failed, reruns }
    }

    pub(crate) fn trials(&self) -> impl Iterator<Item = &'a T> + Clone {
        self.scored.iter().map(|(_, found)| *found)
    }

    /// Every trial that ran to its end, scored or not.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &'a T> {
        self.trials().chain(self.disturbed.iter().map(|(_, found)| *found))
    }

    /// Every scored trial with its number.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (u32, &'a T)> {
        self.numbers.iter().copied().zip(self.trials())
    }

    /// How many scored trials match.
    pub(crate) fn number(&self, is_so: impl Fn(&T) -> bool) -> usize {
        self.trials().filter(|found| is_so(found)).count()
    }

    /// A figure of each scored trial that has it, in the order of the blocks.
    pub(crate) fn each(&self, figure: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
        self.trials().filter_map(figure).collect()
    }

    /// A figure of every scored trial, or an empty list if a single trial lacks it. The remaining trials would be an unfair
    /// selection.
    pub(crate) fn every(&self, figure: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
        let values = self.each(figure);
        if values.len() == self.scored.len() { values } else { Vec::new() }
    }

    /// A figure block by block, with `None` for a block that was not scored or lacks it.
    pub(crate) fn by_block(&self, figure: impl Fn(&T) -> Option<f64>) -> Vec<Option<f64>> {
        let in_block = |block| self.scored.iter().find(|(scored_in, _)| *scored_in == block);
        (1..=self.blocks).map(|block| in_block(block).and_then(|(_, found)| figure(found))).collect()
    }
}

impl<'a> Observations<'a> {
    /// What the subject used in each scored trial that recorded it.
    pub(crate) fn used(&self) -> impl Iterator<Item = &'a Resources> + Clone {
        self.trials().filter_map(|trial| trial.subject.as_ref())
    }

    /// Goodput block by block, with `None` for a block that was not scored.
    pub(crate) fn goodput_by_block(&self) -> Vec<Option<f64>> {
        self.by_block(|measurement| Some(measurement.compared_goodput_rps()))
    }

    /// Scored trials without a correct response. Their goodput is below what the window could show, which is not the same as 0.
    pub(crate) fn censored(&self) -> usize {
        self.number(is_censored)
    }

    /// An upper bound of the goodput if no scored trial had a correct response: one response in the shortest window.
    pub(crate) fn goodput_below_rps(&self) -> Option<f64> {
        let has_answers = self.trials().any(|measurement| answers(measurement).is_some());
        let shortest_s = self.trials().map(|measurement| measurement.window_s).reduce(f64::min)?;
        (!has_answers && shortest_s > 0.0).then(|| shortest_s.recip())
    }

    /// A lower bound of a percentile's median, if some scored trial has only a lower bound and all others have a value.
    pub(crate) fn latency_at_least_s(&self, quantile: f64) -> Option<f64> {
        let found = |trial: &Measurement| {
            trial.compared_latency().percentiles.iter().find(|it| (it.quantile - quantile).abs() < 1e-9).cloned()
        };
        let percentiles: Vec<Percentile> = self.trials().map(found).collect::<Option<_>>()?;
        let is_bound = percentiles.iter().any(|it| it.at_least_s.is_some());
        let least_s: Option<Vec<f64>> = percentiles.iter().map(|it| it.latency_s.or(it.at_least_s)).collect();
        Sample::new(&least_s.filter(|_| is_bound)?).ok().map(|sample| sample.median())
    }

    /// The disturbed trials as reports show them.
    pub(crate) fn disturbed_trials(&self) -> Vec<DisturbedTrial> {
        let shown = |(trial, measurement): &(&TrialRecord, &Measurement)| DisturbedTrial {
            trial: trial.number,
            attempts: trial.attempts,
            goodput_rps: measurement.goodput_rps,
            kinds: measurement.disturbances.iter().map(|cause| cause.kind.clone()).collect(),
            causes: measurement.disturbances.iter().map(|cause| cause.text.clone()).collect(),
        };
        self.disturbed.iter().map(shown).collect()
    }
}

/// Goodput of one trial, or `None` if it had no correct response.
pub(crate) fn goodput(measurement: &Measurement) -> Option<f64> {
    (!is_censored(measurement)).then_some(measurement.compared_goodput_rps())
}

/// Correct responses that arrived in the window, whenever their requests were sent, or `None` without any.
pub(crate) fn answers(measurement: &Measurement) -> Option<f64> {
    Some(measurement.goodput_rps * measurement.window_s).filter(|answers| *answers > 0.0)
}

/// CPU time of the subject per correct response that arrived in the window, whenever its request was sent.
pub(crate) fn per_answer(measurement: &Measurement) -> Option<f64> {
    Some(measurement.subject.as_ref()?.cpu_s / answers(measurement)?)
}

fn is_censored(measurement: &Measurement) -> bool {
    measurement.compared_goodput_rps() <= 0.0
}
