//! What was observed of one case, block by block.

use tolok_model::{Failure, Measurement, Outcome, Plan, TrialRecord};

/// The trials of one case, in the order of their blocks.
pub(crate) struct Observations<'a> {
    /// Trials of the plan.
    pub(crate) planned: u32,
    /// Blocks of the plan.
    blocks: u32,
    /// Block and measurement of each trial that was measured.
    pub(crate) measured: Vec<(u32, &'a Measurement)>,
    /// Number and reason of each trial that failed.
    pub(crate) failed: Vec<(u32, &'a Failure)>,
}

impl<'a> Observations<'a> {
    /// Those of `case`. The order of `trials` does not matter.
    pub(crate) fn of(case: &str, plan: &Plan, trials: &'a [TrialRecord]) -> Self {
        let mut own: Vec<&TrialRecord> = trials.iter().filter(|trial| trial.case == case).collect();
        own.sort_by_key(|trial| (trial.block, trial.number));
        let (mut measured, mut failed) = (Vec::new(), Vec::new());
        for trial in own {
            match &trial.outcome {
                Outcome::Completed(measurement) => measured.push((trial.block, measurement.as_ref())),
                Outcome::Failed(failure) => failed.push((trial.number, failure)),
            }
        }
        let planned = plan.trials.iter().filter(|trial| trial.case == case).count() as u32;
        Self { planned, blocks: plan.blocks, measured, failed }
    }

    /// One figure of every measured trial, in the order of the blocks, where the trial has it.
    pub(crate) fn each(&self, figure: impl Fn(&Measurement) -> Option<f64>) -> Vec<f64> {
        self.measured.iter().filter_map(|(_, measurement)| figure(measurement)).collect()
    }

    /// One figure of every measured trial, or nothing at all if a single trial lacks it: what is left would be the
    /// trials that happened to have it, and no fair picture of the case.
    pub(crate) fn every(&self, figure: impl Fn(&Measurement) -> Option<f64>) -> Vec<f64> {
        let values = self.each(figure);
        if values.len() == self.measured.len() { values } else { Vec::new() }
    }

    /// Goodput block by block, with nothing for a block that was not measured.
    pub(crate) fn goodput_by_block(&self) -> Vec<Option<f64>> {
        let in_block = |block| self.measured.iter().find(|(measured_in, _)| *measured_in == block);
        (1..=self.blocks).map(|block| in_block(block).map(|(_, measurement)| measurement.goodput_rps)).collect()
    }

    /// Measured trials without a single good answer. Their goodput is below what the window could show, which is not
    /// the same as 0.
    pub(crate) fn censored(&self) -> usize {
        self.measured.iter().filter(|(_, measurement)| is_censored(measurement)).count()
    }
}

/// Goodput of one trial, with nothing where it had no good answer.
pub(crate) fn goodput(measurement: &Measurement) -> Option<f64> {
    (!is_censored(measurement)).then_some(measurement.goodput_rps)
}

fn is_censored(measurement: &Measurement) -> bool {
    measurement.ledger.good == 0 || measurement.goodput_rps <= 0.0
}
