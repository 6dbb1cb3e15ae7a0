//! How long the rest of a run takes.

use std::time::Instant;

/// The plan's estimates, scaled by how far they were off so far.
#[derive(Debug)]
pub(in crate::run) struct Eta {
    /// Estimate of each trial, in the order in which they run.
    estimates_s: Vec<f64>,
    /// Trials that are over.
    done: usize,
    began: Instant,
}

impl Eta {
    pub(in crate::run) fn new(estimates_s: Vec<f64>) -> Self {
        Self { estimates_s, done: 0, began: Instant::now() }
    }

    /// The first trial begins.
    pub(in crate::run) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// A trial is over; returns how long the rest takes, in seconds.
    pub(in crate::run) fn step(&mut self) -> f64 {
        self.done += 1;
        self.left_s() * self.scale(self.began.elapsed().as_secs_f64())
    }

    /// Trials that are over.
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
