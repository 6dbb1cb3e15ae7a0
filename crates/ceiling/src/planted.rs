//! Planted work and slowness, so a benchmark knows the true difference between two servers.
//!
//! The slowness is a share of all CPU time that the thread takes, including kernel time. The thread spins it off after every turn of the
//! loop, by its own clock. If one turn spins too long, the next one spins less. So a thread with a slowness of 3% takes 1.03 times the CPU
//! time on any machine. Without a planted slowness, no clock is read.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

use crate::counts::Counts;

/// Words that the work accesses: 32 KiB, about what a small response touches.
const WORDS: usize = 4096;

/// What to plant.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Planted {
    /// Steps of work for each answer.
    pub steps: u32,
    /// Share of the thread's CPU time to add; `None` reads no clock.
    pub slowness: Option<f64>,
}

/// A thread's planted work and slowness.
pub struct Planter {
    steps: u32,
    debt: Option<Debt>,
    /// Answers whose work is done.
    worked: u64,
    words: Vec<u64>,
}

impl Planter {
    /// Must be called by the thread itself, whose clock it reads.
    pub fn new(planted: Planted) -> Self {
        let debt = planted.slowness.map(|share| Debt { share, settled_ns: thread_ns(), owed_ns: 0.0 });
        let words = if planted.steps > 0 { (0..WORDS as u64).collect() } else { Vec::new() };
        Self { steps: planted.steps, debt, worked: 0, words }
    }

    /// Does the work of all answers since the last call.
    pub fn work(&mut self, counts: &Counts) {
        if self.steps == 0 {
            return;
        }
        while self.worked < counts.answers() {
            self.worked += 1;
            let mut state = self.worked;
            for _ in 0..self.steps {
                // Each step depends on the previous one.
                let word = &mut self.words[state as usize % WORDS];
                state = state.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ *word;
                *word = state;
            }
            black_box(state);
        }
    }

    /// Spins off the debt of a turn of the loop.
    pub fn settle(&mut self) {
        if let Some(debt) = &mut self.debt {
            debt.settle(thread_ns);
        }
    }
}

/// The time still to spin.
#[derive(Debug)]
struct Debt {
    share: f64,
    /// The thread's clock at the last settlement.
    settled_ns: u64,
    /// Negative if the last turn spun too long.
    owed_ns: f64,
}

impl Debt {
    fn settle(&mut self, now_ns: impl Fn() -> u64) {
        let from_ns = now_ns();
        self.owed_ns += self.share * (from_ns - self.settled_ns) as f64;
        self.settled_ns = from_ns;
        while self.owed_ns > 0.0 {
            let seen_ns = now_ns();
            self.owed_ns -= (seen_ns - self.settled_ns) as f64;
            self.settled_ns = seen_ns;
        }
    }
}

/// CPU time of this thread, in nanoseconds.
fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A turn takes 1 ms, and reading the clock 130 ns.
    #[test]
    fn a_thread_takes_its_share_longer_whatever_its_clock_costs() {
        for share in [0.0, 0.01, 0.03] {
            let clock = Cell::new(0_u64);
            let look = || {
                clock.set(clock.get() + 130);
                clock.get()
            };
            let mut debt = Debt { share, settled_ns: 0, owed_ns: 0.0 };
            let turns = 1000;
            for _ in 0..turns {
                clock.set(clock.get() + 1_000_000);
                debt.settle(look);
            }
            // The first reading of each turn is part of its work.
            let own_ns = f64::from(turns) * (1_000_000.0 + 130.0);
            let taken = clock.get() as f64 / own_ns;
            assert!((taken - (1.0 + share)).abs() < 1e-6, "{share}: {taken}");
        }
    }

    #[test]
    fn work_is_the_same_for_every_answer_and_none_by_default() {
        let counts = Counts::default();
        counts.answered(5);
        let mut idle = Planter::new(Planted::default());
        idle.work(&counts);
        assert!(idle.worked == 0 && idle.words.is_empty() && idle.debt.is_none());
        let mut busy = Planter::new(Planted { steps: 100, slowness: None });
        let before = busy.words.clone();
        busy.work(&counts);
        assert_eq!(busy.worked, 5);
        assert_ne!(busy.words, before);
    }
}
