//! The events of a running load. The engine writes to no screen and no file: it passes these to a function.

use crate::record::SecondRow;

/// A moment of a run, in chronological order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The target is reachable and the warm-up begins; absent without a warm-up.
    WarmupStarted,
    /// The measured window begins.
    WindowStarted {
        /// On `CLOCK_MONOTONIC`.
        monotonic_ns: u64,
        /// When the last thread reached it. A thread without a CPU at that moment sent no load until then.
        reached_monotonic_ns: u64,
    },
    /// A second of the timeline is complete.
    Second(Box<SecondRow>),
    /// The measured window is over; requests in flight get their grace period now.
    WindowEnded {
        /// On `CLOCK_MONOTONIC`.
        monotonic_ns: u64,
    },
}
