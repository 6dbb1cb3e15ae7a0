//! Starts requests: decides whose turn it is, and hands bytes to the kernel.

use std::cmp::Reverse;

use super::slots::{Doing, Filled, Slot};
use super::{Engine, Listener, STARTS_IN_A_ROW};
use crate::clock::{Clock, MonotonicNs};
use crate::http::request;
use crate::http::template::Values;
use crate::recording::{Attempt, NO_PART};
use crate::schedule::{Arrival, Schedule, Turn};
use crate::transport::Connection;

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Plans the first turn of every virtual user of a closed loop.
    pub(super) fn plan_first_turns(&mut self) {
        if matches!(self.schedule, Schedule::Closed(_)) {
            for slot in 0..self.slots.len() as u32 {
                self.plan_turn(slot, self.span.start);
            }
        }
    }

    /// Gets a user's next turn from the schedule and stores it until it is due. In an open loop, frees the slot instead.
    pub(super) fn plan_turn(&mut self, slot: u32, free_at: MonotonicNs) {
        let Schedule::Closed(users) = &mut self.schedule else { return self.pool.give_back(slot, free_at) };
        match users.turn(slot, free_at) {
            Turn::SendAt(planned) => self.planned.push(Reverse((planned, slot))),
            Turn::Done => self.retire(slot),
        }
    }

    /// Starts all requests that are due, up to a limit.
    pub(super) fn start_due(&mut self, now: MonotonicNs) {
        for _ in 0..STARTS_IN_A_ROW {
            match self.planned.peek() {
                Some(Reverse((planned, _))) if *planned <= now => {}
                _ => break,
            }
            if let Some(Reverse((planned, slot))) = self.planned.pop() {
                self.start(slot, planned, planned);
            }
        }
        if matches!(self.schedule, Schedule::Open(_)) {
            self.start_arrivals(now);
        }
        if self.pipes.is_some() {
            self.flush_pipes();
        }
    }

    /// Starts the due arrivals that find a connection; the others wait.
    fn start_arrivals(&mut self, now: MonotonicNs) {
        for _ in 0..STARTS_IN_A_ROW {
            let Some(arrival) = self.due_arrival(now) else { return self.recorder.queued(0) };
            let Some((slot, free_since)) = self.pool.take(self.slots.len()) else { break };
            if slot as usize == self.slots.len() {
                self.slots.push(Slot::new(true));
            }
            self.pass_arrival();
            self.start(slot, arrival.planned, arrival.planned.max(free_since));
        }
        if let Schedule::Open(cursor) = &self.schedule {
            let waiting = self.pool.waiting(cursor, now);
            self.recorder.queued(waiting);
        }
    }

    /// The next arrival, if it is due.
    fn due_arrival(&self, now: MonotonicNs) -> Option<Arrival> {
        let Schedule::Open(cursor) = &self.schedule else { return None };
        cursor.next().filter(|arrival| arrival.planned <= now)
    }

    fn pass_arrival(&mut self) {
        if let Schedule::Open(cursor) = &mut self.schedule {
            cursor.advance();
            self.pool.started += 1;
        }
    }

    /// A slot has its answer: goes on to the next request of its iteration, or to the next iteration.
    pub(super) fn next_step(&mut self, slot: u32, free_at: MonotonicNs) {
        let place = &mut self.slots[slot as usize];
        place.step += 1;
        if place.step < self.steps.in_iteration() && free_at < self.span.window_end {
            return self.start_step(slot, free_at, free_at);
        }
        self.next_iteration(slot, free_at);
    }

    /// A slot is free: starts the next iteration at once if one is due, otherwise at its planned instant.
    fn next_iteration(&mut self, slot: u32, free_at: MonotonicNs) {
        let users = match &mut self.schedule {
            Schedule::Closed(users) => users,
            Schedule::Open(cursor) => match cursor.next().filter(|arrival| arrival.planned <= free_at) {
                Some(arrival) => {
                    if !self.pool.has_room(self.slots.len()) {
                        self.recorder.queued(self.pool.waiting(cursor, free_at));
                    }
                    self.pass_arrival();
                    // If another slot was free, the arrival did not wait for this one: the engine is late.
                    let free_since = self.pool.free_since(self.slots.len()).unwrap_or(free_at);
                    return self.start(slot, arrival.planned, arrival.planned.max(free_since));
                }
                None => return self.pool.give_back(slot, free_at),
            },
        };
        let pause = users.think();
        match users.turn(slot, free_at + pause) {
            Turn::SendAt(planned) if planned <= free_at => self.start(slot, planned, planned),
            Turn::SendAt(planned) => self.planned.push(Reverse((planned, slot))),
            Turn::Done => self.retire(slot),
        }
    }

    /// Starts an iteration planned for `intended` that could start at `ready`.
    fn start(&mut self, slot: u32, intended: MonotonicNs, ready: MonotonicNs) {
        self.slots[slot as usize].step = 0;
        if let Some(row) = self.rows.next() {
            self.slots[slot as usize].filled.get_or_insert_default().row = row;
        }
        self.start_step(slot, intended, ready);
    }

    /// Acts on a slot's request: sends it, after opening a connection if necessary.
    fn start_step(&mut self, slot: u32, intended: MonotonicNs, ready: MonotonicNs) {
        let acted = self.clock.now();
        if acted >= self.span.window_end && matches!(self.schedule, Schedule::Closed(_)) {
            return self.retire(slot);
        }
        let attempt = self.recorder.sent(intended, ready, acted);
        self.in_flight += 1;
        self.acts += 1;
        let place = &mut self.slots[slot as usize];
        place.request = self.steps.request(place.step);
        let part = self.requests[place.request as usize].part;
        let attempt = if part == NO_PART { attempt } else { self.recorder.belongs(attempt, part) };
        let attempt = self.recorder.mark_client(attempt, place.is_slow);
        place.exchange = place.exchange.wrapping_add(1);
        self.write_request(slot);
        let place = &mut self.slots[slot as usize];
        if let Some(connection) = &mut place.connection {
            connection.begin();
            place.doing = Doing::Exchanging(attempt);
            if self.waits_for_line(slot, acted) {
                return;
            }
            return self.transmit(slot, attempt, acted);
        }
        place.doing = Doing::Connecting(attempt);
        if self.streams.is_some() {
            return self.begin_stream(slot, attempt);
        }
        if self.pipes.is_some() {
            return self.begin_piped(slot, attempt);
        }
        if !self.waits_for_line(slot, acted) {
            self.connect(slot, attempt);
        }
    }

    /// Writes the request of a slot's step, if it has placeholders. With HTTP/2, this happens when a stream takes it.
    fn write_request(&mut self, slot: u32) {
        if self.streams.is_some() {
            return;
        }
        let place = &mut self.slots[slot as usize];
        let Some(template) = &mut self.requests[place.request as usize].template else { return };
        let Filled { row, captured, written } = &mut **place.filled.get_or_insert_default();
        let request = template.fill(Values { data: self.rows.data(), row: *row, captured });
        let may_be_last = self.requests_per_connection.is_some();
        for (bytes, is_last) in written.iter_mut().zip([false, true]).take(1 + usize::from(may_be_last)) {
            bytes.clear();
            request::write(bytes, &self.authority, request, is_last);
        }
    }

    /// Keeps the values of a good answer that later requests need.
    pub(super) fn keep_captured(&mut self, slot: u32) {
        let place = &mut self.slots[slot as usize];
        let prepared = &mut self.requests[place.request as usize];
        for (number, value) in (prepared.first_capture..).zip(prepared.rules.captured()) {
            let captured = &mut place.filled.get_or_insert_default().captured;
            if captured.len() <= number {
                captured.resize(number + 1, String::new());
            }
            std::mem::swap(&mut captured[number], value);
        }
    }

    /// Opens a connection for a request, and sends the request if that is possible at once.
    pub(super) fn connect(&mut self, slot: u32, attempt: Attempt) {
        let is_slow = self.slots[slot as usize].is_slow;
        match Connection::open(&mut self.connector, &self.poller, slot, is_slow) {
            Ok(mut connection) => {
                connection.begin();
                self.slots[slot as usize].connection = Some(connection);
                self.send_first(slot, attempt);
            }
            Err(fault) => self.fail(slot, attempt, self.clock.now(), &fault),
        }
    }

    /// Sends the first request of a connection if the connection is established. Otherwise this runs again when the socket becomes
    /// writable, that is, when the attempt has succeeded or failed. With TLS the handshake comes first: it is part of connecting.
    pub(super) fn send_first(&mut self, slot: u32, attempt: Attempt) {
        let place = &mut self.slots[slot as usize];
        let Some(connection) = &mut place.connection else { return };
        match connection.shake_hands(&mut self.buffer) {
            Ok(true) => {}
            Ok(false) => {
                let on = connection.has_unsent();
                return self.watch_writing(slot, attempt, on);
            }
            Err(fault) => return self.fail(slot, attempt, self.clock.now(), &fault),
        }
        let at = self.clock.now();
        let request = self.requests[place.request as usize].bytes(
            place.filled.as_deref(),
            connection,
            self.requests_per_connection,
        );
        match connection.send_first(request, self.rations.at_once(place.is_slow)) {
            Ok(0) => self.watch_writing(slot, attempt, true),
            Ok(bytes) => {
                let attempt = Attempt { sent: at, ..attempt };
                place.doing = Doing::Exchanging(attempt);
                // If the line was busy, the connection attempt started late.
                self.recorder.connected(attempt.acted.max(place.line_free_at), at);
                self.sent_some(slot, attempt, bytes, at);
            }
            Err(fault) => self.fail(slot, attempt, at, &fault),
        }
    }

    /// Sends a request, or the rest of it.
    pub(super) fn transmit(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs) {
        let place = &mut self.slots[slot as usize];
        let Some(connection) = &mut place.connection else { return };
        let request = self.requests[place.request as usize].bytes(
            place.filled.as_deref(),
            connection,
            self.requests_per_connection,
        );
        let at_most = self.rations.of(connection, place.is_slow);
        match connection.send(request, at_most) {
            Ok(bytes) => self.sent_some(slot, attempt, bytes, at),
            Err(fault) => self.fail(slot, attempt, self.clock.now(), &fault),
        }
    }

    /// The kernel took this many bytes of a request; arranges for the rest to follow.
    fn sent_some(&mut self, slot: u32, attempt: Attempt, bytes: usize, at: MonotonicNs) {
        self.recorder.transmitted(bytes, at);
        let place = &self.slots[slot as usize];
        let Some(connection) = &place.connection else { return };
        let request = self.requests[place.request as usize].bytes(
            place.filled.as_deref(),
            connection,
            self.requests_per_connection,
        );
        let whole = connection.has_sent(request);
        if self.rations.writes_by_the_clock(place.is_slow) {
            let left = connection.unsent_bytes(request);
            let is_first = bytes > 0 && left + bytes == request.len();
            self.line_carries(slot, is_first, bytes, left, at);
            // Encrypted bytes may still wait for the socket; they belong to no ration.
            return self.watch_writing(slot, attempt, left == 0 && !whole);
        }
        self.watch_writing(slot, attempt, !whole);
    }

    pub(super) fn watch_writing(&mut self, slot: u32, attempt: Attempt, on: bool) {
        let Some(connection) = &mut self.slots[slot as usize].connection else { return };
        if let Err(fault) = connection.watch_writing(on, &self.poller) {
            self.fail(slot, attempt, self.clock.now(), &fault);
        }
    }

    /// A user sends no more requests.
    pub(super) fn retire(&mut self, slot: u32) {
        self.slots[slot as usize].doing = Doing::Nothing;
        self.retired += 1;
        if !self.keeps_connections {
            self.disconnect(slot);
        }
        if self.streams.is_some() {
            self.retire_stream(slot);
        }
        if self.pipes.is_some() {
            self.retire_piped(slot);
        }
    }
}
