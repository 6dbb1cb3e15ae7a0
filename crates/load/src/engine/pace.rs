//! Clients on slow links: bytes are read and written in rations by the clock, not when there is room or data.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::slots::Doing;
use super::{BUFFER_BYTES, Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::options::Pace;
use crate::recording::Attempt;

/// Rations a second; a rate of fewer bytes has one byte a ration.
const RATIONS_PER_S: u64 = 20;

/// A number of bytes per interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ration {
    bytes: usize,
    every: Duration,
}

impl Ration {
    fn of(bytes_per_s: u64) -> Ration {
        let bytes_per_s = bytes_per_s.max(1);
        // More rations, where they would not fit the buffer.
        let bytes = (bytes_per_s / RATIONS_PER_S).clamp(1, BUFFER_BYTES as u64);
        Ration { bytes: bytes as usize, every: Duration::from_secs_f64(bytes as f64 / bytes_per_s as f64) }
    }
}

/// The rations of a run, and the instants at which the next ones are due.
#[derive(Debug)]
pub(super) struct Rations {
    read: Option<Ration>,
    write: Option<Ration>,
    /// Instant, slot, and which exchange of the slot it is for.
    ticks: BinaryHeap<Reverse<(MonotonicNs, u32, u32)>>,
}

impl Rations {
    pub fn new(pace: Pace) -> Rations {
        let [read, write] = [pace.read_bytes_per_s, pace.write_bytes_per_s].map(|rate| rate.map(Ration::of));
        Rations { read, write, ticks: BinaryHeap::new() }
    }

    pub fn are_set(&self) -> bool {
        self.read.is_some() || self.write.is_some()
    }

    pub fn reads_by_the_clock(&self) -> bool {
        self.read.is_some()
    }

    /// Most bytes to hand to the kernel at a time.
    pub fn to_write(&self) -> usize {
        self.write.map_or(usize::MAX, |ration| ration.bytes)
    }

    fn to_read(&self) -> usize {
        self.read.map_or(BUFFER_BYTES, |ration| ration.bytes)
    }

    pub fn next_tick(&self) -> Option<MonotonicNs> {
        self.ticks.peek().map(|Reverse((at, _, _))| *at)
    }

    fn due(&mut self, now: MonotonicNs) -> Option<(MonotonicNs, u32, u32)> {
        self.next_tick().filter(|at| *at <= now)?;
        self.ticks.pop().map(|Reverse(tick)| tick)
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Plans what comes after the ration of `last`: the rest of the request, or the answer.
    pub(super) fn next_ration(&mut self, slot: u32, attempt: Attempt, whole: bool, last: MonotonicNs) {
        let ration = if whole { self.rations.read } else { self.rations.write };
        match ration {
            Some(ration) => {
                let exchange = self.slots[slot as usize].exchange;
                self.rations.ticks.push(Reverse((last + ration.every, slot, exchange)));
                self.watch_writing(slot, attempt, false);
            }
            None => self.watch_writing(slot, attempt, !whole),
        }
    }

    /// Hands out the rations that are due.
    pub(super) fn tick(&mut self, now: MonotonicNs) {
        while let Some((planned, slot, exchange)) = self.rations.due(now) {
            let place = &self.slots[slot as usize];
            let (Doing::Exchanging(attempt), true) = (place.doing, place.exchange == exchange) else { continue };
            let Some(connection) = &place.connection else { continue };
            let request = self.requests[place.request as usize].bytes(connection, self.requests_per_connection);
            if !connection.has_sent(request) {
                self.transmit(slot, attempt, now);
                continue;
            }
            self.receive_once(slot, attempt, false, self.rations.to_read());
            let place = &self.slots[slot as usize];
            if matches!(place.doing, Doing::Exchanging(_)) && place.exchange == exchange {
                // From its planned instant and not from now, so that no delay slows the client down.
                self.next_ration(slot, attempt, true, planned);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rations_add_up_to_the_rate() {
        let of = |rate| (Ration::of(rate).bytes, Ration::of(rate).every.as_millis());
        assert_eq!(of(1_000), (50, 50));
        assert_eq!(of(20), (1, 50));
        assert_eq!(of(4), (1, 250));
        assert_eq!(of(0), (1, 1_000));
        assert_eq!(of(30), (1, 33));
        assert_eq!(of(52_428_800), (262_144, 5));
        assert_eq!(Ration::of(u64::MAX).bytes, 262_144);
    }

    #[test]
    fn ticks_come_in_order_and_only_when_due() {
        let mut rations = Rations::new(Pace::default());
        for (at, slot) in [(30, 3), (10, 1), (20, 2)] {
            rations.ticks.push(Reverse((MonotonicNs(at), slot, 7)));
        }
        assert_eq!(rations.due(MonotonicNs(9)), None);
        assert_eq!(rations.due(MonotonicNs(20)), Some((MonotonicNs(10), 1, 7)));
        assert_eq!(rations.due(MonotonicNs(20)), Some((MonotonicNs(20), 2, 7)));
        assert_eq!((rations.due(MonotonicNs(20)), rations.next_tick()), (None, Some(MonotonicNs(30))));
    }
}
