//! The observations of one case, block by block.

use tolok_model::{Disturbance, Failure, Measurement, Outcome, Percentile, Plan, Resources, TrialRecord};
use tolok_stats::Sample;

use crate::findings::trials::DisturbedTrial;

/// What a trial that came to its end found: the window of a server, or the runs of a program.
pub(crate) trait Found: Sized {
    /// It, if it is what the trial found.
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
    /// Trials of the plan.
    pub(crate) planned: u32,
    /// Blocks of the plan.
    blocks: u32,
    /// Every trial that has a record, whatever became of it.
    pub(crate) records: Vec<&'a TrialRecord>,
    /// Block and finding of each trial that counts: it was measured, and nothing disturbed it.
    pub(crate) scored: Vec<(u32, &'a T)>,
    /// Numbers of those trials, in the same order.
    numbers: Vec<u32>,
    /// Record and finding of each trial that was disturbed however often it was measured. It is in no figure.
    pub(crate) disturbed: Vec<(&'a TrialRecord, &'a T)>,
    /// Number and reason of each trial that failed.
    pub(crate) failed: Vec<(u32, &'a Failure)>,
    /// Measurements that were thrown away because others disturbed them.
    pub(crate) reruns: u32,
}

/// Those of a server under a scenario.
pub(crate) type Observations<'a> = Trials<'a, Measurement>;

impl<'a, T: Found> Trials<'a, T> {
    /// Those of `case`. The order of `trials` does not matter.
    pub(crate) fn of(case: &str, plan: &Plan, trials: &'a [TrialRecord]) -> Self {
        // A plan that was shortened knows nothing of later blocks.
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
                // A case is of a server or of a program, and so are all of its trials.
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

    /// How many scored trials are so.
    pub(crate) fn number(&self, is_so: impl Fn(&T) -> bool) -> usize {
        self.trials().filter(|found| is_so(found)).count()
    }

    /// One figure of every scored trial, in the order of the blocks, where the trial has it.
    pub(crate) fn each(&self, figure: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
        self.trials().filter_map(figure).collect()
    }

    /// One figure of every scored trial, or nothing at all if a single trial lacks it: what is left would be the
    /// trials that happened to have it, and no fair picture of the case.
    pub(crate) fn every(&self, figure: impl Fn(&T) -> Option<f64>) -> Vec<f64> {
        let values = self.each(figure);
        if values.len() == self.scored.len() { values } else { Vec::new() }
    }

    /// One figure block by block, with nothing for a block that was not scored or lacks it.
    pub(crate) fn by_block(&self, figure: impl Fn(&T) -> Option<f64>) -> Vec<Option<f64>> {
        let in_block = |block| self.scored.iter().find(|(scored_in, _)| *scored_in == block);
        (1..=self.blocks).map(|block| in_block(block).and_then(|(_, found)| figure(found))).collect()
    }
}

impl<'a> Observations<'a> {
    /// What the subject used in each scored trial in which that is known.
    pub(crate) fn used(&self) -> impl Iterator<Item = &'a Resources> + Clone {
        self.trials().filter_map(|trial| trial.subject.as_ref())
    }

    /// Goodput block by block, with nothing for a block that was not scored.
    pub(crate) fn goodput_by_block(&self) -> Vec<Option<f64>> {
        self.by_block(|measurement| Some(measurement.compared_goodput_rps()))
    }

    /// Scored trials without a single correct response. Their goodput is below what the window could show, which is not
    /// the same as 0.
    pub(crate) fn censored(&self) -> usize {
        self.number(is_censored)
    }

    /// What the goodput is below if no scored trial had an answer: one in the shortest of their windows.
    pub(crate) fn goodput_below_rps(&self) -> Option<f64> {
        let has_answers = self.trials().any(|measurement| answers(measurement).is_some());
        let shortest_s = self.trials().map(|measurement| measurement.window_s).reduce(f64::min)?;
        (!has_answers && shortest_s > 0.0).then(|| shortest_s.recip())
    }

    /// What the median of a percentile is at least, if it is a lower bound in some scored trial and known in all others.
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

/// Correct responses that came in the window, to whichever request, or `None` where none came.
pub(crate) fn answers(measurement: &Measurement) -> Option<f64> {
    Some(measurement.goodput_rps * measurement.window_s).filter(|answers| *answers > 0.0)
}

/// CPU time of the subject for each correct response that it gave in the window, to whichever request.
pub(crate) fn per_answer(measurement: &Measurement) -> Option<f64> {
    Some(measurement.subject.as_ref()?.cpu_s / answers(measurement)?)
}

fn is_censored(measurement: &Measurement) -> bool {
    measurement.compared_goodput_rps() <= 0.0
}
