//! Connections that the target has announced to close. It may take its time, and no user waits for it: the user takes a new
//! connection, and the engine drains the old one on the side. If the target closes first, the waiting state of the closed
//! connection, and the port, stay on its side.

use std::time::Duration;

use super::answers::READS_IN_A_ROW;
use super::streams::CARRIER;
use super::{Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::transport::{Connection, Stream};

/// Marks the tokens of these connections; the other bits are a place.
pub(super) const LINGERING: u32 = CARRIER >> 1;

/// How long a target may take to close a connection.
const LINGER: Duration = Duration::from_millis(250);

/// Most of them at a time; the oldest is closed for one more. Each costs a file.
pub(crate) const MOST: u32 = 256;

/// The connections and the instants until which they may last. Places are given out in turn, so that the next one is the oldest's.
#[derive(Debug)]
pub(super) struct Lingering {
    places: Vec<Option<(MonotonicNs, Connection)>>,
    next: usize,
    most: usize,
}

impl Lingering {
    /// Room for so many, and at least for one.
    pub fn new(most: u32) -> Lingering {
        Lingering { places: Vec::new(), next: 0, most: most.max(1) as usize }
    }

    /// A place for one more, and the connection that has to leave it.
    fn place(&mut self) -> (usize, Option<Connection>) {
        let place = self.next;
        self.next = (place + 1) % self.most;
        if place == self.places.len() {
            self.places.push(None);
        }
        (place, self.places[place].take().map(|(_, connection)| connection))
    }

    /// When the first of them has lasted too long.
    fn first_end(&self) -> Option<MonotonicNs> {
        self.places.iter().flatten().map(|(until, _)| *until).min()
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Takes a slot's connection off it, to wait for its end.
    pub(super) fn set_aside(&mut self, slot: u32, at: MonotonicNs) {
        let Some(mut connection) = self.slots[slot as usize].connection.take() else { return };
        let (place, oldest) = self.lingering.place();
        if oldest.is_some() {
            self.recorder.not_closed_by_target();
            self.recorder.disconnected(true);
        }
        // This tells again what has come by now. If it fails, the end is not noticed before the wait for it is over.
        let _ = connection.watch_as(LINGERING | place as u32, &self.poller);
        let until = at + LINGER;
        self.lingering.places[place] = Some((until, connection));
        self.next_sweep = self.next_sweep.min(until);
    }

    /// Something came on a connection that is only waiting for its end.
    pub(super) fn linger(&mut self, token: u32) {
        let place = (token & !LINGERING) as usize;
        let Some((_, connection)) = &mut self.lingering.places[place] else { return };
        // A target that goes on sending after the end is left.
        for _ in 0..READS_IN_A_ROW {
            match connection.receive_unasked(&mut self.buffer) {
                Ok(Stream::Bytes(bytes)) => self.recorder.unasked(bytes),
                Ok(Stream::Nothing | Stream::Discarded(_)) => return,
                // A reset after the answer ends the connection just as well.
                Ok(Stream::End | Stream::Truncated) | Err(_) => break,
            }
        }
        self.lingering.places[place] = None;
        self.recorder.disconnected(true);
    }

    /// Closes those that the target has not closed in time. Returns when the next one has lasted too long.
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

    /// Closes all of them.
    pub(super) fn close_lingering(&mut self) {
        for place in &mut self.lingering.places {
            if place.take().is_some() {
                self.recorder.disconnected(true);
            }
        }
    }
}
