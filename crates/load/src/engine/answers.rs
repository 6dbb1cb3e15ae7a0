//! Receiving responses, and what follows from them or from their failure.

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

/// Reads of one connection before others get their turn, however much there is to read.
pub(super) const READS_IN_A_ROW: usize = 16;

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// A socket is ready for something.
    pub(super) fn handle(&mut self, ready: Ready) {
        if ready.token & (CARRIER | LINGERING) != 0 {
            return self.handle_other(ready);
        }
        let slot = ready.token;
        match self.slots[slot as usize].doing {
            Doing::Nothing => self.drop_idle(slot),
            Doing::Connecting(attempt) => {
                self.send_first(slot, attempt);
                // The end of the stream may have come with the last of a handshake, and is not told again.
                if ready.ended && matches!(self.slots[slot as usize].doing, Doing::Exchanging(_)) {
                    self.receive(slot, attempt, true);
                }
            }
            Doing::Exchanging(attempt) => {
                if ready.writable {
                    self.transmit(slot, attempt, self.clock.now());
                }
                // Sending may have failed, and then the connection that was readable is gone.
                if ready.readable && matches!(self.slots[slot as usize].doing, Doing::Exchanging(_)) {
                    self.receive(slot, attempt, ready.ended);
                }
            }
        }
    }

    /// A socket that is no slot's is ready for something.
    fn handle_other(&mut self, ready: Ready) {
        match ready.token & CARRIER {
            0 => self.linger(ready.token),
            _ if self.pipes.is_some() => self.handle_pipe(ready),
            _ => self.handle_carrier(ready),
        }
    }

    /// Receives all there is of an answer. `ended` says that the stream had ended already, so nothing follows what a
    /// buffer holds that is not full.
    fn receive(&mut self, slot: u32, attempt: Attempt, ended: bool) {
        if self.rations.reads_by_the_clock(self.slots[slot as usize].is_slow) {
            return self.answer_comes(slot, attempt, self.clock.now());
        }
        let exchange = self.slots[slot as usize].exchange;
        for _ in 0..READS_IN_A_ROW {
            let full = self.receive_once(slot, attempt, ended, BUFFER_BYTES);
            let place = &self.slots[slot as usize];
            // The kernel reports the end of the stream only once, so it must be read now if it follows what was read.
            if !(full || ended) || place.exchange != exchange || !matches!(place.doing, Doing::Exchanging(_)) {
                return;
            }
        }
        self.receive_later(slot, attempt);
    }

    /// Leaves the rest to the next look at the event queue, so that a long or endless body delays no other user's deadline.
    fn receive_later(&mut self, slot: u32, attempt: Attempt) {
        let Some(connection) = &self.slots[slot as usize].connection else { return };
        if let Err(fault) = connection.tell_again(&self.poller) {
            self.fail(slot, attempt, self.clock.now(), &fault);
        }
    }

    /// Receives at most `at_most` bytes of an answer. Returns whether there may be more.
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

    /// A request has its answer, if only a wrong status: on to the next one.
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

    /// Tells the first failure of its class in more words than the fault has: which request it was, if there are several,
    /// and what a bad body looks like.
    pub(super) fn exemplify(&mut self, slot: u32, at: MonotonicNs, fault: &Fault) {
        let prepared = &self.requests[self.slots[slot as usize].request as usize];
        let several = self.requests.len() > 1;
        self.recorder.exemplify(fault.class(), at, || {
            let which = if several { format!("{}: ", prepared.words()) } else { String::new() };
            format!("{which}{fault}{}", prepared.rules.words_on(fault).unwrap_or_default())
        });
    }

    /// From here on no request is sent, and nothing is gained by waiting for a target to close first.
    fn end_of_sending(&self) -> MonotonicNs {
        match self.schedule {
            Schedule::Closed(_) => self.span.window_end,
            Schedule::Open(_) => self.end_of_grace(),
        }
    }

    /// Something came on a connection between two requests: the target closed it, or sends unsolicited bytes. Either way
    /// it can carry no further request.
    fn drop_idle(&mut self, slot: u32) {
        if let Some(connection) = &mut self.slots[slot as usize].connection {
            match connection.receive_unasked(&mut self.buffer) {
                Ok(Stream::Bytes(bytes)) => self.recorder.unasked(bytes),
                // TLS talks about itself; the connection is as good as before.
                Ok(Stream::Nothing) if connection.outlives_unasked() => return,
                _ => {}
            }
        }
        self.disconnect(slot);
    }

    /// A request has failed, and with it its iteration: the connection is given up, and the next turn is planned, after a
    /// pause if the connection died without an answer. It is never taken from here, so that a target that fails at once
    /// cannot make this recurse.
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

    /// After a failure: plans a slot's next turn. `alive` says that the connection had brought an answer before.
    pub(super) fn plan_after_failure(&mut self, slot: u32, at: MonotonicNs, alive: bool, fault: &Fault) {
        let place = &mut self.slots[slot as usize];
        place.doing = Doing::Nothing;
        // A timeout was pause enough. Arrivals by the clock come no more often for a dead target, so they need none.
        let pauses = !alive && !matches!(fault, Fault::Timeout) && matches!(self.schedule, Schedule::Closed(_));
        let pause = if pauses { place.backoff.after_death() } else { Duration::ZERO };
        // A failure ends its iteration, and after an iteration a user thinks.
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
