//! How long the rest of a run takes.

use std::time::Instant;

use tolok_model::{Plan, PlannedTrial};

/// The plan's estimates, scaled by how far they were off so far.
#[derive(Debug)]
pub(in crate::run) struct Eta {
    /// Estimate of each trial, in the order in which they run.
    estimates_s: Vec<f64>,
    done: usize,
    began: Instant,
}

impl Eta {
    pub(in crate::run) fn new(estimates_s: Vec<f64>) -> Self {
        Self { estimates_s, done: 0, began: Instant::now() }
    }

    /// The trials of a launch are over all at once, so the first of them is given the time of all.
    pub(in crate::run) fn of(plan: &Plan, open: &[&PlannedTrial]) -> Self {
        let together = open.chunk_by(|one, next| one.launch.is_some() && one.launch == next.launch);
        let estimates_s = together.flat_map(|trials| {
            let all_s = trials.iter().map(|trial| plan.trial_estimate_s(&trial.case)).sum();
            std::iter::once(all_s).chain(std::iter::repeat_n(0.0, trials.len() - 1))
        });
        Self::new(estimates_s.collect())
    }

    pub(in crate::run) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// A trial is over; returns how long the rest takes, in seconds.
    pub(in crate::run) fn step(&mut self) -> f64 {
        self.done += 1;
        self.now_s()
    }

    /// Trials that were over have to be run again.
    pub(in crate::run) fn again(&mut self, trials: usize) {
        self.done -= trials;
    }

    /// How long the rest takes by what was seen so far, in seconds.
    pub(in crate::run) fn now_s(&self) -> f64 {
        self.left_s() * self.scale(self.began.elapsed().as_secs_f64())
    }

    pub(in crate::run) fn steps(&self) -> u32 {
        self.done as u32
    }

    /// What the plan says of the trials that are left, in seconds.
    pub(in crate::run) fn left_s(&self) -> f64 {
        // The sum of none is -0.0, which is no time to be told.
        self.estimates_s[self.done..].iter().sum::<f64>() + 0.0
    }

    fn scale(&self, took_s: f64) -> f64 {
        let estimated_s: f64 = self.estimates_s[..self.done].iter().sum();
        if estimated_s > 0.0 { took_s / estimated_s } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_trial_of_a_launch_has_the_time_of_all() {
        // As `of` makes them: a launch of three trials, and one of two.
        let mut eta = Eta::new(vec![30.0, 0.0, 0.0, 20.0, 0.0]);
        eta.step();
        assert_eq!((eta.left_s(), eta.scale(45.0)), (20.0, 1.5));
        eta.step();
        eta.step();
        assert_eq!((eta.left_s(), eta.scale(45.0)), (20.0, 1.5), "the others change nothing");
    }

    #[test]
    fn what_is_left_is_scaled_by_what_was_seen() {
        let mut eta = Eta::new(vec![2.0, 2.0, 6.0]);
        assert_eq!(eta.left_s(), 10.0);
        eta.step();
        assert_eq!((eta.steps(), eta.left_s()), (1, 8.0));
        // The first one took three seconds instead of two.
        assert_eq!(eta.scale(3.0), 1.5);
        eta.step();
        assert_eq!(eta.step(), 0.0);
        assert_eq!(eta.scale(10.0), 1.0);
    }
}
