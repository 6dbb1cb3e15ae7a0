//! Clients on slow links: bytes are read and written in rations by the clock, not whenever there is room or data.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::slots::{Doing, Slot};
use super::{BUFFER_BYTES, Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::options::Pace;
use crate::recording::Attempt;
use crate::transport::Connection;

/// Rations per second; a lower rate has one byte per ration.
const RATIONS_PER_S: u64 = 20;

/// Most bytes sent before the line has had time for them: a network also sends whole segments.
const SEGMENT_BYTES: usize = 1_448;

/// What a line of a given rate carries at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ration {
    bytes: usize,
    bytes_per_s: u64,
}

impl Ration {
    fn of(bytes_per_s: u64) -> Ration {
        let bytes_per_s = bytes_per_s.max(1);
        // The limit keeps a ration within the buffer; faster lines get more rations.
        let bytes = (bytes_per_s / RATIONS_PER_S).clamp(1, BUFFER_BYTES as u64);
        Ration { bytes: bytes as usize, bytes_per_s }
    }

    /// How long the line needs for this many bytes.
    fn takes(self, bytes: usize) -> Duration {
        Duration::from_secs_f64(bytes as f64 / self.bytes_per_s as f64)
    }
}

/// A ration that is due at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Tick {
    at: MonotonicNs,
    slot: u32,
    /// The exchange of the slot that it is for.
    exchange: u32,
    bytes: usize,
}

/// The rations of a run, and the instants at which the next ones are due.
#[derive(Debug)]
pub(super) struct Rations {
    read: Option<Ration>,
    write: Option<Ration>,
    ticks: BinaryHeap<Reverse<Tick>>,
}

impl Rations {
    pub fn new(pace: Pace) -> Rations {
        let [read, write] = [pace.read_bytes_per_s, pace.write_bytes_per_s].map(|rate| rate.map(Ration::of));
        Rations { read, write, ticks: BinaryHeap::new() }
    }

    pub fn reads_by_the_clock(&self, is_slow: bool) -> bool {
        self.read.is_some() && is_slow
    }

    pub fn writes_by_the_clock(&self, is_slow: bool) -> bool {
        self.write.is_some() && is_slow
    }

    /// Most bytes of a request to hand to the kernel immediately; the rest follows in rations.
    pub fn at_once(&self, is_slow: bool) -> usize {
        self.write.filter(|_| is_slow).map_or(usize::MAX, |ration| ration.bytes.min(SEGMENT_BYTES))
    }

    /// Most bytes of a connection's request to hand to the kernel now.
    pub fn of(&self, connection: &Connection, is_slow: bool) -> usize {
        match self.write {
            Some(ration) if is_slow && !connection.has_sent_nothing() => ration.bytes,
            _ => self.at_once(is_slow),
        }
    }

    pub fn next_tick(&self) -> Option<MonotonicNs> {
        self.ticks.peek().map(|Reverse(tick)| tick.at)
    }

    fn due(&mut self, now: MonotonicNs) -> Option<Tick> {
        self.next_tick().filter(|at| *at <= now)?;
        self.ticks.pop().map(|Reverse(tick)| tick)
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Whether a request has to wait because the line still carries the previous one. If so, plans its start for when the line is free.
    pub(super) fn waits_for_line(&mut self, slot: u32, now: MonotonicNs) -> bool {
        let Slot { line_free_at, is_slow, .. } = self.slots[slot as usize];
        let waits = self.rations.writes_by_the_clock(is_slow) && line_free_at > now;
        if waits {
            self.plan_tick(slot, line_free_at, self.rations.at_once(is_slow));
        }
        waits
    }

    fn plan_tick(&mut self, slot: u32, at: MonotonicNs, bytes: usize) {
        let place = &mut self.slots[slot as usize];
        place.ticked = place.exchange;
        self.rations.ticks.push(Reverse(Tick { at, slot, exchange: place.exchange, bytes }));
    }

    /// The kernel took `bytes` of a request, and `left` remain: the line is busy with the taken bytes. The next ration is sent when the
    /// line has carried it too, so a request takes as long as all its bytes.
    pub(super) fn line_carries(&mut self, slot: u32, is_first: bool, bytes: usize, left: usize, now: MonotonicNs) {
        let Some(ration) = self.rations.write else { return };
        let place = &mut self.slots[slot as usize];
        // A later ration has waited since its planned instant, so delays do not slow the client down.
        let from = if is_first || bytes == 0 { place.line_free_at.max(now) } else { place.line_free_at };
        place.line_free_at = from + ration.takes(bytes);
        if left > 0 {
            let next = left.min(ration.bytes);
            let at = place.line_free_at + ration.takes(next);
            self.plan_tick(slot, at, next);
        }
    }

    /// Handles the rations that are due.
    pub(super) fn tick(&mut self, now: MonotonicNs) {
        while let Some(tick) = self.rations.due(now) {
            let place = &mut self.slots[tick.slot as usize];
            if place.exchange != tick.exchange {
                continue;
            }
            place.ticked = place.exchange.wrapping_sub(1);
            match place.doing {
                Doing::Connecting(attempt) if place.connection.is_none() => self.connect(tick.slot, attempt),
                Doing::Exchanging(attempt) => self.tick_exchange(tick, attempt, now),
                _ => {}
            }
        }
    }

    fn tick_exchange(&mut self, tick: Tick, attempt: Attempt, now: MonotonicNs) {
        let place = &mut self.slots[tick.slot as usize];
        let Some(connection) = &place.connection else { return };
        if connection.has_sent_nothing() {
            let attempt = Attempt { sent: now, ..attempt };
            place.doing = Doing::Exchanging(attempt);
            return self.transmit(tick.slot, attempt, now);
        }
        let request = self.requests[place.request as usize].bytes(
            place.filled.as_deref(),
            connection,
            self.requests_per_connection,
        );
        if !connection.has_sent(request) {
            return self.transmit(tick.slot, attempt, now);
        }
        self.receive_once(tick.slot, attempt, false, tick.bytes);
        self.receive_in_rations(tick.slot, attempt, tick.exchange, tick.at);
    }

    /// Handles data for a slot that reads by the clock.
    pub(super) fn answer_comes(&mut self, slot: u32, attempt: Attempt, now: MonotonicNs) {
        let place = &self.slots[slot as usize];
        if place.ticked != place.exchange {
            self.receive_in_rations(slot, attempt, place.exchange, now);
        }
    }

    /// Plans when the line will have carried the available bytes, at most a ration; the line is free from `since` on. The first byte is
    /// read at once, because its instant is recorded. With TLS it cannot be read separately.
    fn receive_in_rations(&mut self, slot: u32, attempt: Attempt, exchange: u32, since: MonotonicNs) {
        let Some(ration) = self.rations.read else { return };
        loop {
            let place = &self.slots[slot as usize];
            if place.exchange != exchange || !matches!(place.doing, Doing::Exchanging(_)) {
                return;
            }
            let Some(connection) = &place.connection else { return };
            let waiting = connection.waiting_bytes(&self.requests[place.request as usize].rules);
            let begins = !connection.has_begun() && !connection.is_encrypted();
            if waiting > 0 && !begins {
                let bytes = waiting.min(ration.bytes);
                return self.plan_tick(slot, since + ration.takes(bytes), bytes);
            }
            // The event queue reports further bytes. The end of the stream may already have been reported.
            if !self.receive_once(slot, attempt, false, 1) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rations_add_up_to_the_rate() {
        let of = |rate| (Ration::of(rate).bytes, Ration::of(rate).takes(Ration::of(rate).bytes).as_millis());
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
        let tick = |at, slot| Tick { at: MonotonicNs(at), slot, exchange: 7, bytes: 1 };
        for (at, slot) in [(30, 3), (10, 1), (20, 2)] {
            rations.ticks.push(Reverse(tick(at, slot)));
        }
        assert_eq!(rations.due(MonotonicNs(9)), None);
        assert_eq!(rations.due(MonotonicNs(20)), Some(tick(10, 1)));
        assert_eq!(rations.due(MonotonicNs(20)), Some(tick(20, 2)));
        assert_eq!((rations.due(MonotonicNs(20)), rations.next_tick()), (None, Some(MonotonicNs(30))));
    }
}
