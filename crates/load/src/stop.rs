//! Ending a run early, at one instant for all threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::MonotonicNs;

/// Whether and when a run ends early.
#[derive(Debug)]
pub(crate) struct Stop<'run> {
    /// Set from outside.
    asked: &'run AtomicBool,
    /// Set from within, when a threshold is crossed.
    aborted: AtomicBool,
    /// The instant; `u64::MAX` until there is one.
    at_ns: AtomicU64,
    /// From the first thread's notice to the end: long enough for every thread to see it.
    lead: Duration,
}

impl<'run> Stop<'run> {
    pub fn new(asked: &'run AtomicBool, lead: Duration) -> Stop<'run> {
        Stop { asked, aborted: AtomicBool::new(false), at_ns: AtomicU64::new(u64::MAX), lead }
    }

    /// Ends the run from within.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Relaxed);
    }

    /// Ends the run at this instant, unless another is set.
    pub fn set(&self, at: MonotonicNs) {
        let _ = self.at_ns.compare_exchange(u64::MAX, at.0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The instant at which the run ends early, if it does. After a stop request, the first thread that calls this sets it.
    pub fn instant(&self, now: MonotonicNs) -> Option<MonotonicNs> {
        let set = self.at_ns.load(Ordering::Relaxed);
        if set != u64::MAX {
            return Some(MonotonicNs(set));
        }
        if !self.asked.load(Ordering::Relaxed) && !self.aborted.load(Ordering::Relaxed) {
            return None;
        }
        let at = (now + self.lead).0;
        let earlier = self.at_ns.compare_exchange(u64::MAX, at, Ordering::Relaxed, Ordering::Relaxed);
        Some(MonotonicNs(earlier.err().unwrap_or(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_notice_sets_the_instant_for_all() {
        let asked = AtomicBool::new(false);
        let stop = Stop::new(&asked, Duration::from_nanos(50));
        assert_eq!(stop.instant(MonotonicNs(100)), None);
        asked.store(true, Ordering::Relaxed);
        assert_eq!(stop.instant(MonotonicNs(110)), Some(MonotonicNs(160)));
        assert_eq!(stop.instant(MonotonicNs(140)), Some(MonotonicNs(160)));
    }

    #[test]
    fn a_run_may_end_itself() {
        let asked = AtomicBool::new(false);
        let stop = Stop::new(&asked, Duration::ZERO);
        stop.abort();
        assert_eq!(stop.instant(MonotonicNs(7)), Some(MonotonicNs(7)));
    }
}
