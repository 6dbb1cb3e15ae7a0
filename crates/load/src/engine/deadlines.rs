//! Requests and connections that exceed their deadlines.

use std::time::Duration;

use super::slots::Doing;
use super::{Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::fault::Fault;

/// Least time between two checks of the deadlines. With thousands of connections a check is expensive, and no deadline needs to be more
/// exact.
const SWEEP_INTERVAL: Duration = Duration::from_millis(10);

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Fails everything whose deadline has passed. Walks over all slots, but only once the earliest known deadline has come, so it adds no
    /// cost per request.
    pub(super) fn sweep(&mut self, now: MonotonicNs) {
        if now < self.next_sweep {
            return;
        }
        // Whatever starts from now on has a later deadline.
        let mut earliest = now + self.connect_timeout.min(self.timeout);
        for slot in 0..self.slots.len() as u32 {
            let Some((deadline, fault)) = self.deadline(slot) else { continue };
            if deadline > now {
                earliest = earliest.min(deadline);
                continue;
            }
            if let Doing::Connecting(attempt) | Doing::Exchanging(attempt) = self.slots[slot as usize].doing {
                self.fail(slot, attempt, now, &fault);
            }
        }
        if let Some(end) = self.sweep_lingering(now) {
            earliest = earliest.min(end);
        }
        self.next_sweep = earliest.max(now + SWEEP_INTERVAL);
    }

    /// The deadline of a slot's current activity, and the fault if it passes.
    fn deadline(&self, slot: u32) -> Option<(MonotonicNs, Fault)> {
        match self.slots[slot as usize].doing {
            Doing::Nothing => None,
            Doing::Connecting(attempt) => {
                let since = self.connecting_since(slot).or_else(|| self.pipe_began(slot)).unwrap_or(attempt.acted);
                let since = since.max(self.slots[slot as usize].line_free_at);
                Some((since + self.connect_timeout, Fault::ConnectTimeout))
            }
            Doing::Exchanging(attempt) => Some((attempt.acted + self.timeout, Fault::Timeout)),
        }
    }
}
