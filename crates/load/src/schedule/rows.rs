//! The values that fill iterations, row by row.

use std::sync::Arc;

use super::Share;
use super::random::Random;
use crate::options::{Data, DataOrder, Options};

/// The next row for a thread.
#[derive(Debug)]
pub(crate) struct RowPicker {
    data: Option<Arc<Data>>,
    random: Random,
    next: usize,
    step: usize,
}

impl RowPicker {
    pub fn new(options: &Options, share: Share) -> Self {
        Self {
            data: options.data.clone(),
            random: Random::new(options.seed, 5, u64::from(share.thread)),
            next: share.thread as usize,
            step: share.threads as usize,
        }
    }

    /// The row of the next iteration, or `None` without data.
    pub fn next(&mut self) -> Option<usize> {
        let data = self.data.as_ref()?;
        Some(match data.order {
            DataOrder::Random => self.random.below(data.rows() as u64) as usize,
            DataOrder::InOrder => {
                let row = self.next % data.rows();
                self.next = row + self.step;
                row
            }
        })
    }

    /// The rows that it picks from.
    pub fn data(&self) -> Option<&Data> {
        self.data.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(order: DataOrder, share: Share) -> Vec<usize> {
        let values = ["a", "b", "c"].map(Box::from).to_vec();
        let data = Data { columns: vec!["x".to_owned()], values, order };
        let mut options = Options::new("http://h/").unwrap();
        (options.data, options.seed) = (Some(Arc::new(data)), 7);
        let mut rows = RowPicker::new(&options, share);
        (0..600).map(|_| rows.next().unwrap()).collect()
    }

    #[test]
    fn in_order_threads_take_turns_and_begin_again_after_the_last() {
        assert_eq!(picked(DataOrder::InOrder, Share::ALL)[..5], [0, 1, 2, 0, 1]);
        assert_eq!(picked(DataOrder::InOrder, Share { thread: 1, threads: 2 })[..4], [1, 0, 2, 1]);
    }

    #[test]
    fn at_random_each_row_comes_as_often_and_each_thread_draws_its_own() {
        let rows = picked(DataOrder::Random, Share::ALL);
        let counts = [0, 1, 2].map(|row| rows.iter().filter(|picked| **picked == row).count());
        assert!(counts.iter().all(|count| (150..250).contains(count)), "{counts:?}");
        assert_ne!(rows, picked(DataOrder::Random, Share { thread: 1, threads: 2 }));
    }
}
