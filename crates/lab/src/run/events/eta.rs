//! Estimates how long the rest of a run takes.

use std::collections::BTreeMap;
use std::time::Instant;

use tolok_model::{Plan, PlannedTrial};

/// A unit of work: a trial, or a launch with all its trials.
#[derive(Debug)]
struct Step {
    /// The case of a trial; for a launch, the first of its cases by name, which represents all of them.
    case: String,
    estimate_s: f64,
}

/// Times measured for a case, and the plan's estimates for them.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    took_s: f64,
    estimate_s: f64,
    times: u32,
}

/// Each case is expected to take as long as before. A case not yet seen takes the plan's estimate, scaled by how far off the plan
/// was for the others. The times exclude waiting for a quiet machine.
#[derive(Debug)]
pub(in crate::run) struct Eta {
    /// Everything open at first, in order. Trials of a launch finish one by one, so each but the first is a step of no time.
    steps: Vec<Step>,
    done: usize,
    seen: BTreeMap<String, Seen>,
    began: Instant,
}

impl Eta {
    fn new(steps: Vec<Step>) -> Self {
        Self { steps, done: 0, seen: BTreeMap::new(), began: Instant::now() }
    }

    pub(in crate::run) fn of(plan: &Plan, open: &[&PlannedTrial]) -> Self {
        let together = open.chunk_by(|one, next| one.launch.is_some() && one.launch == next.launch);
        let steps = together.flat_map(|trials| {
            let estimate_s = trials.iter().map(|trial| plan.trial_estimate_s(&trial.case)).sum();
            let case = stands_for(trials.iter().copied());
            let others = trials.iter().skip(1).map(|trial| Step { case: trial.case.clone(), estimate_s: 0.0 });
            std::iter::once(Step { case, estimate_s }).chain(others)
        });
        Self::new(steps.collect())
    }

    pub(in crate::run) fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// A trial is over.
    pub(in crate::run) fn step(&mut self) {
        self.done += 1;
    }

    /// A trial of this case, or the launch that it represents, took this long.
    pub(in crate::run) fn took(&mut self, case: &str, took_s: f64) {
        let step = self.steps.iter().find(|step| step.case == case && step.estimate_s > 0.0);
        let Some(estimate_s) = step.map(|step| step.estimate_s) else { return };
        let seen = self.seen.entry(case.to_owned()).or_default();
        *seen = Seen { took_s: seen.took_s + took_s, estimate_s: seen.estimate_s + estimate_s, times: seen.times + 1 };
    }

    /// Trials that had finished must run again.
    pub(in crate::run) fn again(&mut self, trials: usize) {
        self.done -= trials;
    }

    pub(in crate::run) fn steps(&self) -> u32 {
        self.done as u32
    }

    /// The estimate for the rest, in seconds, from what was measured so far.
    pub(in crate::run) fn left_s(&self) -> f64 {
        self.left_after_s(self.began.elapsed().as_secs_f64())
    }

    fn left_after_s(&self, elapsed_s: f64) -> f64 {
        let all = self.seen.values().fold(Seen::default(), |all, seen| Seen {
            took_s: all.took_s + seen.took_s,
            estimate_s: all.estimate_s + seen.estimate_s,
            times: all.times + seen.times,
        });
        let scale = if all.estimate_s > 0.0 { all.took_s / all.estimate_s } else { 1.0 };
        let left_s = |step: &Step| match self.seen.get(&step.case) {
            _ if step.estimate_s == 0.0 => 0.0,
            Some(seen) => seen.took_s / f64::from(seen.times),
            None => step.estimate_s * scale,
        };
        // Nodes of a pool run several rounds at once.
        let at_once = if elapsed_s > 0.0 { (all.took_s / elapsed_s).max(1.0) } else { 1.0 };
        // An empty sum is -0.0, which would be shown with its sign.
        self.steps[self.done..].iter().map(left_s).sum::<f64>() / at_once + 0.0
    }
}

/// The case that represents a launch of these trials.
pub(in crate::run) fn stands_for<'a>(launch: impl Iterator<Item = &'a PlannedTrial>) -> String {
    launch.map(|trial| trial.case.clone()).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eta(steps: &[(&str, f64)]) -> Eta {
        let step = |(case, estimate_s): &(&str, f64)| Step { case: (*case).to_owned(), estimate_s: *estimate_s };
        Eta::new(steps.iter().map(step).collect())
    }

    #[test]
    fn the_first_trial_of_a_launch_has_the_time_of_all() {
        // As `of` makes them: two launches of the same three trials.
        let mut eta = eta(&[("a", 30.0), ("b", 0.0), ("c", 0.0), ("a", 30.0), ("c", 0.0), ("b", 0.0)]);
        assert_eq!(eta.left_after_s(0.0), 60.0);
        (0..3).for_each(|_| eta.step());
        eta.took("a", 45.0);
        assert_eq!(eta.left_after_s(45.0), 45.0);
        eta.took("b", 0.1);
        assert_eq!(eta.left_after_s(45.0), 45.0, "other trials change nothing");
    }

    #[test]
    fn a_case_takes_as_long_as_before_and_a_new_one_as_the_plan_says_times_what_it_was_off() {
        let mut eta = eta(&[("fast", 2.0), ("slow", 2.0), ("new", 4.0), ("fast", 2.0), ("slow", 2.0)]);
        eta.step();
        eta.took("fast", 1.0);
        assert_eq!(eta.left_after_s(1.0), 1.0 + 2.0 + 1.0 + 1.0);
        eta.step();
        eta.took("slow", 5.0);
        // Six seconds instead of four. The ten seconds of waiting for a quiet machine change nothing.
        assert_eq!(eta.left_after_s(16.0), 6.0 + 1.0 + 5.0);
        eta.again(1);
        assert_eq!((eta.steps(), eta.left_after_s(16.0)), (1, 17.0));
    }

    #[test]
    fn rounds_at_once_share_the_time() {
        let mut eta = eta(&[("a", 2.0), ("a", 2.0), ("a", 2.0)]);
        for _ in 0..2 {
            eta.step();
            eta.took("a", 2.0);
        }
        assert_eq!(eta.left_after_s(2.0), 1.0);
        eta.step();
        assert_eq!(eta.left_after_s(2.0).to_string(), "0");
    }
}
