//! Monotonic time. The engine reads no other clock: wall clocks jump.
//!
//! Schedule and recording take instants as arguments and read no clock. The trait lets a test drive their caller with a manual clock.

use std::cell::Cell;
use std::ops::Add;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// An instant on `CLOCK_MONOTONIC`, in nanoseconds. Unlike `std::time::Instant` it is a plain number: a record can hold it, and other
/// processes of the same machine can compare it with their readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct MonotonicNs(pub u64);

impl MonotonicNs {
    /// Time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: MonotonicNs) -> Duration {
        Duration::from_nanos(self.ns_since(earlier))
    }

    /// The same in nanoseconds.
    pub fn ns_since(self, earlier: MonotonicNs) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for MonotonicNs {
    type Output = MonotonicNs;

    fn add(self, duration: Duration) -> MonotonicNs {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        MonotonicNs(self.0.saturating_add(ns))
    }
}

/// A source of the current time.
pub trait Clock {
    /// The present instant; never earlier than one returned before.
    fn now(&self) -> MonotonicNs;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> MonotonicNs {
        (**self).now()
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> MonotonicNs {
        let now = clock_gettime(ClockId::Monotonic);
        // Neither part is negative: CLOCK_MONOTONIC starts at boot.
        MonotonicNs(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
    }
}

/// A clock that moves only when told to; for tests.
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ns: Cell<u64>,
}

impl ManualClock {
    /// A clock set to `now`.
    pub fn at(now: MonotonicNs) -> ManualClock {
        ManualClock { now_ns: Cell::new(now.0) }
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        self.now_ns.set((MonotonicNs(self.now_ns.get()) + by).0);
    }

    /// Moves it forward to an instant; an earlier instant changes nothing.
    pub fn advance_to(&self, to: MonotonicNs) {
        self.now_ns.set(self.now_ns.get().max(to.0));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> MonotonicNs {
        MonotonicNs(self.now_ns.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_is_the_one_other_processes_see() {
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        let booted_s: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
        let now_s = SystemClock.now().0 as f64 / 1e9;
        // /proc/uptime also counts suspended time, so it can only be ahead; both start at boot.
        assert!(now_s > 0.0 && now_s <= booted_s + 60.0, "{now_s} against {booted_s}");
        assert!(SystemClock.now() <= SystemClock.now());
    }

    #[test]
    fn instants_never_underflow_or_overflow() {
        assert_eq!(MonotonicNs(5).since(MonotonicNs(9)), Duration::ZERO);
        assert_eq!(MonotonicNs(u64::MAX) + Duration::from_secs(1), MonotonicNs(u64::MAX));
    }

    #[test]
    fn a_manual_clock_moves_only_forward() {
        let clock = ManualClock::at(MonotonicNs(100));
        clock.advance(Duration::from_nanos(50));
        clock.advance_to(MonotonicNs(120));
        assert_eq!(clock.now(), MonotonicNs(150));
    }
}
