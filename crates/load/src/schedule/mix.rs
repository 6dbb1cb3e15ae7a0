//! Which request comes next: the steps of an iteration.

use super::random::Random;
use crate::options::{Mix, Request};

/// The requests of a run by number, and how they make up iterations.
#[derive(Debug)]
pub(crate) struct Steps {
    mix: Mix,
    /// For a sequence: every request, repeated by its weight. For a weighted choice: the running sum of weights.
    table: Vec<u32>,
    random: Random,
}

impl Steps {
    pub fn new(mix: Mix, requests: &[Request], seed: u64, thread: u32) -> Steps {
        let weights = requests.iter().map(|request| request.weight);
        let table = match mix {
            Mix::Sequence => (0..).zip(weights).flat_map(|(number, weight)| (0..weight).map(move |_| number)).collect(),
            Mix::Weighted => weights
                .scan(0u32, |sum, weight| {
                    *sum += weight;
                    Some(*sum)
                })
                .collect(),
        };
        Steps { mix, table, random: Random::new(seed, 4, u64::from(thread)) }
    }

    /// Requests in an iteration.
    pub fn in_iteration(&self) -> u32 {
        match self.mix {
            Mix::Weighted => 1,
            Mix::Sequence => self.table.len() as u32,
        }
    }

    /// Number of the request for a step; steps count from 0 within an iteration.
    pub fn request(&mut self, step: u32) -> u32 {
        match (self.mix, self.table.as_slice()) {
            (Mix::Weighted, [_]) => 0,
            (Mix::Sequence, table) => table[step as usize],
            (Mix::Weighted, table) => {
                let drawn = self.random.below(u64::from(table[table.len() - 1])) as u32;
                table.partition_point(|sum| *sum <= drawn) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(weights: &[u32]) -> Vec<Request> {
        weights.iter().map(|weight| Request { weight: *weight, ..Request::get("/") }).collect()
    }

    #[test]
    fn a_sequence_sends_each_as_often_as_it_weighs() {
        let mut steps = Steps::new(Mix::Sequence, &requests(&[1, 3, 2]), 0, 0);
        assert_eq!(steps.in_iteration(), 6);
        assert_eq!(Steps::new(Mix::Sequence, &requests(&[0, 1]), 0, 0).request(0), 1);
        assert_eq!((0..6).map(|step| steps.request(step)).collect::<Vec<_>>(), [0, 1, 1, 1, 2, 2]);
    }

    #[test]
    fn a_weighted_choice_comes_close_to_its_weights() {
        let mut steps = Steps::new(Mix::Weighted, &requests(&[1, 0, 3]), 0, 0);
        assert_eq!(steps.in_iteration(), 1);
        let mut counts = [0; 3];
        (0..40_000).for_each(|_| counts[steps.request(0) as usize] += 1);
        assert_eq!(counts[1], 0);
        assert!((9_500..10_500).contains(&counts[0]), "{counts:?}");
    }
}
