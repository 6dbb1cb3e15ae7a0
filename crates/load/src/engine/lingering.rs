//! Connections that the target has announced to close. It may take its time, but no user waits for it: the user opens a new connection, and
//! the engine drains the old one in the background. If the target closes first, the TIME_WAIT state and its port stay on the target's side.

use std::time::Duration;

use super::answers::READS_IN_A_ROW;
use super::streams::CARRIER;
use super::{Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::transport::{Connection, Stream};

/// Marks the tokens of these connections; the remaining bits are the place.
pub(super) const LINGERING: u32 = CARRIER >> 1;

/// How long a target may take to close such a connection.
const LINGER: Duration = Duration::from_millis(250);

/// Most such connections at a time; one more closes the oldest. Each needs an open file.
pub(crate) const MOST: u32 = 256;

/// The connections and their deadlines. Places are assigned in turn, so the next place is the oldest connection's.
#[derive(Debug)]
pub(super) struct Lingering {
    places: Vec<Option<(MonotonicNs, Connection)>>,
    next: usize,
    most: usize,
}

impl Lingering {
    /// With room for `most` connections, at least one.
    pub fn new(most: u32) -> Lingering {
        Lingering { places: Vec::new(), next: 0, most: most.max(1) as usize }
    }

    /// A place for a new connection, and the connection that has to leave it.
    fn place(&mut self) -> (usize, Option<Connection>) {
        let place = self.next;
        self.next = (place + 1) % self.most;
        if place == self.places.len() {
            self.places.push(None);
        }
        (place, self.places[place].take().map(|(_, connection)| connection))
    }

    /// The earliest deadline.
    fn first_end(&self) -> Option<MonotonicNs> {
        self.places.iter().flatten().map(|(until, _)| *until).min()
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Detaches a slot's connection, to wait for its end.
    pub(super) fn set_aside(&mut self, slot: u32, at: MonotonicNs) {
        let Some(mut connection) = self.slots[slot as usize].connection.take() else { return };
        let (place, oldest) = self.lingering.place();
        if oldest.is_some() {
            self.recorder.not_closed_by_target();
            self.recorder.disconnected(true);
        }
        // This reports again what has arrived by now. If it fails, the end is noticed only at the deadline.
        let _ = connection.watch_as(LINGERING | place as u32, &self.poller);
        let until = at + LINGER;
        self.lingering.places[place] = Some((until, connection));
        self.next_sweep = self.next_sweep.min(until);
    }

    /// Handles an event on a connection that only waits for its end.
    pub(super) fn linger(&mut self, token: u32) {
        let place = (token & !LINGERING) as usize;
        let Some((_, connection)) = &mut self.lingering.places[place] else { return };
        // If the target keeps sending, others get their turn.
        for _ in 0..READS_IN_A_ROW {
            match connection.receive_unasked(&mut self.buffer) {
                Ok(Stream::Bytes(bytes)) => self.recorder.unasked(bytes),
                Ok(Stream::Nothing | Stream::Discarded(_)) => return,
                // A reset after the answer also ends the connection.
                Ok(Stream::End | Stream::Truncated) | Err(_) => break,
            }
        }
        self.lingering.places[place] = None;
        self.recorder.disconnected(true);
    }

    /// Closes connections whose deadline has passed. Returns the next deadline.
    pub(super) fn sweep_lingering(&mut self, now: MonotonicNs) -> Option<MonotonicNs> {
        for place in &mut self.lingering.places {
            if place.as_ref().is_some_and(|(until, _)| *until <= now) {
                *place = None;
                self.recorder.not_closed_by_target();
                self.recorder.disconnected(true);
            }
        }
        self.lingering.first_end()
    }

    /// Closes all such connections.
    pub(super) fn close_lingering(&mut self) {
        for place in &mut self.lingering.places {
            if place.take().is_some() {
                self.recorder.disconnected(true);
            }
        }
    }
}
