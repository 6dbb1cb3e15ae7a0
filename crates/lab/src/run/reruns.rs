//! How often disturbed trials are measured again. The rule is fixed before the run: it considers the machine, never the results.

use std::cell::Cell;

use tolok_model::Disturbance;

use crate::run::events::event::TrialEvent;
use tolok_store::{StoreError, TrialFolder};

/// However noisy the machine, re-runs take at most this share of the run.
const SHARE_OF_TRIALS: f64 = 0.2;
/// The share of a few trials would round to none.
const FEWEST: u32 = 2;

/// The re-runs that a run has left.
#[derive(Debug)]
pub(super) struct Reruns {
    /// The plan's limit for one trial.
    each: u32,
    left: Cell<u32>,
}

impl Reruns {
    /// At most `each` for one trial, and `left` for all trials of a block.
    pub(super) fn new(each: u32, left: u32) -> Self {
        Self { each, left: Cell::new(left) }
    }

    /// How many re-runs are left in a run of `trials`, `used` of them taken.
    pub(super) fn left(trials: usize, used: u32) -> u32 {
        let all = ((trials as f64 * SHARE_OF_TRIALS) as u32).max(FEWEST);
        all.saturating_sub(used)
    }

    /// Whether a trial that was measured `attempts` times may be measured again. If so, takes one re-run from those left.
    pub(super) fn take(&self, attempts: u32) -> bool {
        let granted = attempts <= self.each && self.left.get() > 0;
        self.left.set(self.left.get() - u32::from(granted));
        granted
    }

    /// Whether to measure a disturbed trial again. If so, sets the files of this attempt aside.
    pub(super) fn again(
        &self,
        attempts: u32,
        disturbances: &[Disturbance],
        folder: &TrialFolder,
        emit: &mut dyn FnMut(TrialEvent),
    ) -> Result<bool, StoreError> {
        let again = self.take(attempts);
        let reasons = disturbances.iter().map(|disturbance| disturbance.text.clone()).collect();
        emit(TrialEvent::Disturbed { reasons, again });
        if again {
            folder.set_aside(attempts)?;
        }
        Ok(again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_as_many_reruns_as_the_plan_allows() {
        let reruns = Reruns::new(2, Reruns::left(100, 0));
        assert_eq!([1, 2, 3].map(|attempts| reruns.take(attempts)), [true, true, false]);
        assert!(!Reruns::new(0, Reruns::left(100, 0)).take(1));
    }

    #[test]
    fn a_run_has_a_fifth_of_its_trials_and_two_at_least() {
        assert_eq!([Reruns::left(50, 0), Reruns::left(50, 7), Reruns::left(3, 0), Reruns::left(3, 9)], [10, 3, 2, 0]);
        let reruns = Reruns::new(1, 3);
        assert_eq!((0..100).filter(|_| reruns.take(1)).count(), 3);
    }
}
