//! Counts the separate instants beyond a percentile. One stall produces as many slow responses as there are connections, but all of them
//! show one event. So values that were beyond the percentile at the same time count once.
//!
//! The percentile is unknown before the end, and the values are not kept. The measuring thread keeps the slowest value of each millisecond,
//! at no cost per request. From these the collector counts, for each threshold of a ladder, the largest number of values no two of which
//! were beyond it at the same time. The greedy choice in order of their ends finds the maximum.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;

/// The slowest value is kept for each period of this length.
pub(crate) const SLOT: Duration = Duration::from_millis(1);

/// Thresholds per power of two.
const STEPS: u32 = 4;
/// Values below 2^13 ns share the first threshold, which is 0.
const FIRST: u32 = 13;
/// Values below 2^42 ns (more than an hour) have distinct thresholds.
const LAST: u32 = 42;
const LEVELS: usize = ((LAST - FIRST) * STEPS) as usize + 1;

/// The slowest value of each millisecond of a row, from its start.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Slowest(Vec<u64>);

impl Slowest {
    /// With capacity for a whole row.
    pub fn with_room() -> Slowest {
        Slowest(Vec::with_capacity(super::row::ROW.as_millis() as usize + 1))
    }

    /// Records the slowest value of a millisecond.
    pub fn note(&mut self, at: usize, ns: u64) {
        if ns == 0 {
            return;
        }
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] = self.0[at].max(ns);
    }

    /// Adds the same second of another thread.
    pub fn add(&mut self, other: &Slowest) {
        other.0.iter().enumerate().for_each(|(at, ns)| self.note(at, *ns));
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Counts the separate instants beyond each threshold of a ladder.
#[derive(Debug, Clone)]
pub(crate) struct Instants {
    counts: Box<[u64]>,
    /// End of the last counted value at each threshold.
    ended: Box<[MonotonicNs]>,
}

impl Instants {
    pub fn new() -> Instants {
        Instants { counts: vec![0; LEVELS].into(), ended: vec![MonotonicNs(0); LEVELS].into() }
    }

    /// Adds the slowest values of a row that began at `start`. Rows must come in chronological order.
    pub fn take(&mut self, slowest: &Slowest, start: MonotonicNs) {
        for (at, ns) in (0..).zip(&slowest.0).filter(|(_, ns)| **ns > 0) {
            let from = start + SLOT * at;
            self.take_one(from, from + SLOT, *ns);
        }
    }

    /// Adds a value that ended between two instants.
    fn take_one(&mut self, from: MonotonicNs, to: MonotonicNs, ns: u64) {
        for level in 0..=level(ns) {
            let beyond_since = MonotonicNs(from.0.saturating_sub(ns - threshold(level)));
            if beyond_since >= self.ended[level] {
                self.counts[level] += 1;
                self.ended[level] = to;
            }
        }
    }

    /// Separate instants beyond the largest threshold that does not exceed the value.
    pub fn beyond(&self, ns: u64) -> u64 {
        self.counts[level(ns)]
    }
}

/// The largest threshold that does not exceed a value.
fn level(ns: u64) -> usize {
    let ns = ns.min((1 << LAST) - 1);
    let Some(octave) = ns.checked_ilog2().filter(|octave| *octave >= FIRST) else { return 0 };
    let step = (ns >> (octave - STEPS.ilog2())) as u32 - STEPS;
    (1 + (octave - FIRST) * STEPS + step) as usize
}

fn threshold(level: usize) -> u64 {
    let Some(above) = (level as u32).checked_sub(1) else { return 0 };
    u64::from(STEPS + above % STEPS) << (FIRST + above / STEPS - STEPS.ilog2())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// Separate instants beyond `ns`, for values in ms that each end in the given millisecond.
    fn beyond(ns: u64, values_ms: &[(u64, u64)]) -> u64 {
        let mut slowest = Slowest::default();
        values_ms.iter().for_each(|(end, value)| slowest.note(*end as usize, value * MS));
        let mut instants = Instants::new();
        instants.take(&slowest, MonotonicNs(10_000 * MS));
        instants.beyond(ns)
    }

    #[test]
    fn values_of_one_stall_are_one_instant() {
        let together = [(500, 400)];
        assert_eq!(beyond(100 * MS, &together), 1);
        // Requests that queued during the stall are answered one after another; the others wait meanwhile.
        let one_after_the_other: Vec<(u64, u64)> = (0..50).map(|later| (500 + later, 400 - 3 * later)).collect();
        assert_eq!(beyond(100 * MS, &one_after_the_other), 1);
    }

    #[test]
    fn stalls_at_different_times_are_as_many_instants() {
        let stalls: Vec<(u64, u64)> = (1..=12).map(|stall| (stall * 500, 50)).collect();
        assert_eq!(beyond(10 * MS, &stalls), 12);
        assert_eq!(beyond(60 * MS, &stalls), 0);
    }

    #[test]
    fn slow_answers_that_come_all_the_time_are_separate() {
        // Each takes a second. The largest threshold below 960 ms is 939.5 ms. Each value exceeds it during its last 60.5 ms and its own
        // millisecond.
        let slow: Vec<(u64, u64)> = (0..1_000).map(|end| (end, 1_000)).collect();
        assert_eq!(beyond(960 * MS, &slow), 17);
    }

    #[test]
    fn other_threads_and_later_rows_are_added() {
        let mut one = Slowest::default();
        let mut other = Slowest::default();
        one.note(3, 5 * MS);
        other.note(3, 7 * MS);
        other.note(90, 6 * MS);
        one.add(&other);
        let mut instants = Instants::new();
        instants.take(&one, MonotonicNs(1_000 * MS));
        instants.take(&one, MonotonicNs(2_000 * MS));
        assert_eq!((instants.beyond(MS), instants.beyond(6 * MS + MS / 2)), (4, 2));
        one.clear();
        instants.take(&one, MonotonicNs(3_000 * MS));
        assert_eq!(instants.beyond(MS), 4);
    }

    proptest! {
        #[test]
        fn a_value_is_beyond_its_threshold_and_not_beyond_the_next(ns in prop_oneof![0u64..5_000, 0u64..1 << LAST]) {
            let level = level(ns);
            prop_assert!(threshold(level) <= ns);
            prop_assert!(level + 1 == LEVELS || threshold(level + 1) > ns);
            prop_assert!(ns < 1 << FIRST || threshold(level) as f64 > ns as f64 * 0.79);
        }
    }
}
