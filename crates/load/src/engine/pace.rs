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

/// So many bytes, so often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ration {
    bytes: usize,
    every: Duration,
}

impl Ration {
    fn of(bytes_per_s: u64) -> Ration {
        let bytes_per_s = bytes_per_s.max(1);
        let bytes = (bytes_per_s / RATIONS_PER_S).max(1);
        let every = Duration::from_nanos(bytes * 1_000_000_000 / bytes_per_s);
        Ration { bytes: usize::try_from(bytes).unwrap_or(usize::MAX), every }
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
        self.read.map_or(BUFFER_BYTES, |ration| ration.bytes.min(BUFFER_BYTES))
    }

    pub fn next_tick(&self) -> Option<MonotonicNs> {
        self.ticks.peek().map(|Reverse((at, _, _))| *at)
    }

    fn due(&mut self, now: MonotonicNs) -> Option<(u32, u32)> {
        self.next_tick().filter(|at| *at <= now)?;
        self.ticks.pop().map(|Reverse((_, slot, exchange))| (slot, exchange))
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Plans what comes after some bytes of a request were sent: the rest of it, or the answer.
    pub(super) fn next_ration(&mut self, slot: u32, attempt: Attempt, whole: bool) {
        let ration = if whole { self.rations.read } else { self.rations.write };
        match ration {
            Some(ration) => {
                let exchange = self.slots[slot as usize].exchange;
                self.rations.ticks.push(Reverse((self.clock.now() + ration.every, slot, exchange)));
                self.watch_writing(slot, attempt, false);
            }
            None => self.watch_writing(slot, attempt, !whole),
        }
    }

    /// Hands out the rations that are due.
    pub(super) fn tick(&mut self, now: MonotonicNs) {
        while let Some((slot, exchange)) = self.rations.due(now) {
            let place = &self.slots[slot as usize];
            let (Doing::Exchanging(attempt), true) = (place.doing, place.exchange == exchange) else { continue };
            let Some(connection) = &place.connection else { continue };
            let request = self.requests[place.request as usize].bytes(connection, self.requests_per_connection);
            if !connection.has_sent(request) {
                self.transmit(slot, attempt);
                continue;
            }
            self.receive_once(slot, attempt, false, self.rations.to_read());
            let place = &self.slots[slot as usize];
            if matches!(place.doing, Doing::Exchanging(_)) && place.exchange == exchange {
                self.next_ration(slot, attempt, true);
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
    }

    #[test]
    fn ticks_come_in_order_and_only_when_due() {
        let mut rations = Rations::new(Pace::default());
        for (at, slot) in [(30, 3), (10, 1), (20, 2)] {
            rations.ticks.push(Reverse((MonotonicNs(at), slot, 7)));
        }
        assert_eq!(rations.due(MonotonicNs(9)), None);
        assert_eq!(rations.due(MonotonicNs(20)), Some((1, 7)));
        assert_eq!(rations.due(MonotonicNs(20)), Some((2, 7)));
        assert_eq!((rations.due(MonotonicNs(20)), rations.next_tick()), (None, Some(MonotonicNs(30))));
    }
}
