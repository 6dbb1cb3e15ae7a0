//! Receives responses, and handles their success or failure.

use std::time::Duration;

use super::lingering::LINGERING;
use super::slots::Doing;
use super::streams::CARRIER;
use super::{BUFFER_BYTES, Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::fault::Fault;
use crate::http::answer::Answer;
use crate::recording::Attempt;
use crate::schedule::Schedule;
use crate::transport::{Connection, Ready, Stream, Untold};

/// Most reads of one connection before others get their turn.
pub(super) const READS_IN_A_ROW: usize = 16;

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Handles an event on a socket.
    pub(super) fn handle(&mut self, ready: Ready) {
        if ready.token & (CARRIER | LINGERING) != 0 {
            return self.handle_other(ready);
        }
        let slot = ready.token;
        match self.slots[slot as usize].doing {
            Doing::Nothing => self.drop_idle(slot),
            Doing::Connecting(attempt) => {
                self.send_first(slot, attempt);
                // The end of the stream may have arrived with the last bytes of a handshake, and is not reported again.
                if ready.ended && matches!(self.slots[slot as usize].doing, Doing::Exchanging(_)) {
                    self.receive(slot, attempt, true);
                }
            }
            Doing::Exchanging(attempt) => {
                if ready.writable {
                    self.transmit(slot, attempt, self.clock.now());
                }
                // Sending may have failed, so the readable connection may be gone.
                if ready.readable && matches!(self.slots[slot as usize].doing, Doing::Exchanging(_)) {
                    self.receive(slot, attempt, ready.ended);
                }
            }
        }
    }

    /// Handles an event on a socket that does not belong to a slot.
    fn handle_other(&mut self, ready: Ready) {
        match ready.token & CARRIER {
            0 => self.linger(ready.token),
            _ if self.pipes.is_some() => self.handle_pipe(ready),
            _ => self.handle_carrier(ready),
        }
    }

    /// Receives all available bytes of an answer. `ended` means that the stream has already ended: once a read leaves room in the buffer,
    /// nothing follows.
    fn receive(&mut self, slot: u32, attempt: Attempt, ended: bool) {
        if self.rations.reads_by_the_clock(self.slots[slot as usize].is_slow) {
            return self.answer_comes(slot, attempt, self.clock.now());
        }
        let exchange = self.slots[slot as usize].exchange;
        for _ in 0..READS_IN_A_ROW {
            let full = self.receive_once(slot, attempt, ended, BUFFER_BYTES);
            let place = &self.slots[slot as usize];
            // The kernel reports the end of the stream only once, so it must be read now if it follows the bytes read.
            if !(full || ended) || place.exchange != exchange || !matches!(place.doing, Doing::Exchanging(_)) {
                return;
            }
        }
        self.receive_later(slot, attempt);
    }

    /// Leaves the rest to the next poll of the event queue, so a long or endless body does not delay other users' deadlines.
    fn receive_later(&mut self, slot: u32, attempt: Attempt) {
        let Some(connection) = &self.slots[slot as usize].connection else { return };
        if let Err(fault) = connection.tell_again(&self.poller) {
            self.fail(slot, attempt, self.clock.now(), &fault);
        }
    }

    /// Receives at most `at_most` bytes of an answer. Returns whether more may be available.
    pub(super) fn receive_once(&mut self, slot: u32, attempt: Attempt, ended: bool, at_most: usize) -> bool {
        let place = &mut self.slots[slot as usize];
        let Some(connection) = &mut place.connection else { return false };
        let prepared = &mut self.requests[place.request as usize];
        let at_most = at_most.min(connection.worth_reading(&prepared.rules));
        let most_discarded = if self.rations.reads_by_the_clock(place.is_slow) { at_most } else { usize::MAX };
        let received = connection.receive(&mut self.buffer, at_most, most_discarded, &prepared.rules);
        let at = self.clock.now();
        let answer = match received {
            Ok(stream) => {
                if let Stream::Bytes(bytes) | Stream::Discarded(bytes) = stream {
                    if !connection.has_begun() {
                        self.recorder.first_byte(&attempt, at);
                    }
                    self.recorder.received(bytes, at);
                }
                let last = connection.is_last(self.requests_per_connection);
                let written = place.filled.as_ref().filter(|_| prepared.template.is_some());
                let request = match written {
                    Some(filled) => &filled.written[usize::from(last)],
                    None if last => &prepared.last_bytes,
                    None => &prepared.bytes,
                };
                connection.digest(stream, &self.buffer, request, &mut prepared.rules)
            }
            Err(fault) => Err(fault),
        };
        let Untold { more, over } = connection.untold();
        let full = matches!(received, Ok(Stream::Bytes(bytes)) if bytes == at_most) || more;
        match answer {
            Ok(Some(answer)) => {
                let ended = over || ended || matches!(received, Ok(Stream::End));
                self.answered(slot, attempt, at, answer, ended);
            }
            Ok(None) => {}
            Err(fault) => self.fail(slot, attempt, at, &fault),
        }
        full
    }

    /// Handles a complete answer, possibly with a wrong status, and goes on to the next request.
    fn answered(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs, answer: Answer, ended: bool) {
        match answer.wrong_status {
            None => {
                self.recorder.good(&attempt, at);
                self.keep_captured(slot);
            }
            Some(status) => self.wrong_status(slot, &attempt, at, status),
        }
        self.in_flight -= 1;
        let place = &mut self.slots[slot as usize];
        place.backoff.reset();
        place.doing = Doing::Nothing;
        if answer.wrong_status.is_some() {
            // A failure ends its iteration.
            place.step = self.steps.in_iteration();
        }
        let last = self.requests_per_connection;
        let spent = place.connection.as_ref().is_some_and(|connection| connection.is_last(last));
        if answer.keep_alive && !spent && !ended {
            return self.next_step(slot, at);
        }
        if !answer.keep_alive && !ended && at < self.end_of_sending() {
            self.set_aside(slot, at);
        }
        self.disconnect(slot);
        self.next_step(slot, self.clock.now());
    }

    #[cold]
    pub(super) fn wrong_status(&mut self, slot: u32, attempt: &Attempt, at: MonotonicNs, status: u16) {
        let fault = Fault::BadStatus(status);
        self.exemplify(slot, at, &fault);
        self.recorder.failed(attempt, at, &fault);
    }

    /// Describes the first failure of its class in more detail than the fault: which request it was, if there are several, and what a wrong
    /// body looks like.
    pub(super) fn exemplify(&mut self, slot: u32, at: MonotonicNs, fault: &Fault) {
        let prepared = &self.requests[self.slots[slot as usize].request as usize];
        let several = self.requests.len() > 1;
        self.recorder.exemplify(fault.class(), at, || {
            let which = if several { format!("{}: ", prepared.words()) } else { String::new() };
            format!("{which}{fault}{}", prepared.rules.words_on(fault).unwrap_or_default())
        });
    }

    /// No request is sent after this instant, so waiting for the target to close first gains nothing.
    fn end_of_sending(&self) -> MonotonicNs {
        match self.schedule {
            Schedule::Closed(_) => self.span.window_end,
            Schedule::Open(_) => self.end_of_grace(),
        }
    }

    /// Handles an event on a connection between two requests: the target closed it or sent unsolicited bytes. In both cases it can carry no
    /// further request.
    fn drop_idle(&mut self, slot: u32) {
        if let Some(connection) = &mut self.slots[slot as usize].connection {
            match connection.receive_unasked(&mut self.buffer) {
                Ok(Stream::Bytes(bytes)) => self.recorder.unasked(bytes),
                // A TLS message that carries no data; the connection stays usable.
                Ok(Stream::Nothing) if connection.outlives_unasked() => return,
                _ => {}
            }
        }
        self.disconnect(slot);
    }

    /// Handles a failed request; it ends its iteration. The connection is closed and the next turn planned, after a pause if the connection
    /// never brought an answer. The turn never starts here: a target that fails at once would cause recursion.
    pub(super) fn fail(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs, fault: &Fault) {
        if self.streams.is_some() {
            return self.give_up_stream(slot, attempt, at, fault);
        }
        if self.pipes.is_some() {
            return self.give_up_piped(slot, fault);
        }
        self.exemplify(slot, at, fault);
        if self.slots[slot as usize].has_sent_nothing() {
            self.recorder.unsent();
        }
        self.recorder.failed(&attempt, at, fault);
        self.in_flight -= 1;
        let place = &mut self.slots[slot as usize];
        let established = matches!(place.doing, Doing::Exchanging(_));
        let alive = place.connection.as_ref().is_some_and(Connection::has_answered);
        if established {
            self.disconnect(slot);
        } else {
            place.connection = None;
            self.recorder.not_connected();
        }
        self.plan_after_failure(slot, at, alive, fault);
    }

    /// Plans a slot's next turn after a failure. `alive` means that the connection had brought an answer before.
    pub(super) fn plan_after_failure(&mut self, slot: u32, at: MonotonicNs, alive: bool, fault: &Fault) {
        let place = &mut self.slots[slot as usize];
        place.doing = Doing::Nothing;
        // A timeout was pause enough. Arrivals by the clock are no more frequent for a dead target, so they need no pause.
        let pauses = !alive && !matches!(fault, Fault::Timeout) && matches!(self.schedule, Schedule::Closed(_));
        let pause = if pauses { place.backoff.after_death() } else { Duration::ZERO };
        // A failure ends its iteration, and a user thinks after every iteration.
        let think = match &mut self.schedule {
            Schedule::Closed(users) => users.think(),
            Schedule::Open(_) => Duration::ZERO,
        };
        self.plan_turn(slot, at + pause.max(think));
    }

    /// Closes an established connection, if there is one.
    pub(super) fn disconnect(&mut self, slot: u32) {
        if let Some(connection) = self.slots[slot as usize].connection.take() {
            self.recorder.disconnected(connection.has_answered());
        }
    }
}
