//! Pipelining (RFC 9112 §9.3.2): slots share HTTP/1.1 connections, whose requests are answered in order.
//!
//! As with HTTP/2, a group of neighbouring slots shares a connection, and each slot has one request at a time. All requests that follow a
//! batch of answers go out in one send(2). When a connection ends, each of its requests fails once, except those that the target has
//! declared it will not process.

use std::collections::VecDeque;
use std::mem;

use super::answers::READS_IN_A_ROW;
use super::slots::Doing;
use super::streams::CARRIER;
use super::{BUFFER_BYTES, Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::fault::Fault;
use crate::http::answer::Answer;
use crate::options::{Options, Protocol};
use crate::recording::Attempt;
use crate::transport::{Connection, Ready, Stream};

/// The shared connections and their slots.
#[derive(Debug)]
pub(super) struct Pipes {
    per_connection: u32,
    /// One per group.
    pipes: Vec<Pipe>,
    /// Indexed by slot.
    places: Vec<Place>,
    /// Groups with unsent bytes.
    unsent: Vec<u32>,
}

/// State of a slot's current request.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// The kernel has taken at least part of it.
    sent: bool,
    /// It was moved from a connection that closed before its turn; this happens at most once.
    moved: bool,
}

#[derive(Debug, Default)]
struct Pipe {
    connection: Option<Connection>,
    /// When connecting began.
    began: MonotonicNs,
    is_established: bool,
    /// Requests that the kernel has not completely taken.
    out: Vec<u8>,
    /// Bytes of all requests that were ever on the connection, and how many of them the kernel has taken.
    written: u64,
    taken: u64,
    /// Slots in the order of their requests; the first is being answered.
    line: VecDeque<Queued>,
    /// How many of them, from the first on, the kernel has at least partly taken.
    sent: usize,
    is_marked: bool,
    /// Slots that send no more requests.
    retired: u32,
}

#[derive(Debug, Clone, Copy)]
struct Queued {
    slot: u32,
    /// Start and end of its request among the connection's bytes.
    begin: u64,
    end: u64,
}

impl Pipes {
    /// `None` without pipelining.
    pub fn of(options: &Options) -> Option<Box<Pipes>> {
        let Protocol::Pipelined { requests_in_flight } = options.protocol else { return None };
        let (pipes, places, unsent) = (Vec::new(), Vec::new(), Vec::new());
        Some(Box::new(Pipes { per_connection: requests_in_flight, pipes, places, unsent }))
    }

    fn group_of(&self, slot: u32) -> u32 {
        slot / self.per_connection
    }

    /// Sets up a slot for a new request. Slots of a pool are created one by one.
    fn begin(&mut self, slot: u32) {
        let (slots, groups) = (slot as usize + 1, self.group_of(slot) as usize + 1);
        self.places.resize(self.places.len().max(slots), Place::default());
        self.pipes.resize_with(self.pipes.len().max(groups), Pipe::default);
        self.places[slot as usize] = Place::default();
    }

    fn mark(&mut self, group: u32) {
        if !mem::replace(&mut self.pipes[group as usize].is_marked, true) {
            self.unsent.push(group);
        }
    }

    /// Detaches a connection, with its slots, from its group.
    fn close(&mut self, group: u32) -> Pipe {
        let pipe = &mut self.pipes[group as usize];
        let (retired, is_marked) = (pipe.retired, pipe.is_marked);
        mem::replace(pipe, Pipe { retired, is_marked, ..Pipe::default() })
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Queues a slot's new request in its group. It is sent together with the others that begin now.
    #[inline(never)]
    pub(super) fn begin_piped(&mut self, slot: u32, attempt: Attempt) {
        let Some(pipes) = &mut self.pipes else { return };
        pipes.begin(slot);
        self.line_up(slot, attempt);
    }

    fn line_up(&mut self, slot: u32, attempt: Attempt) {
        let Some(pipes) = &mut self.pipes else { return };
        let group = pipes.group_of(slot);
        let pipe = &mut pipes.pipes[group as usize];
        let connection = match &mut pipe.connection {
            Some(connection) => connection,
            None => match Connection::open(&mut self.connector, &self.poller, CARRIER | group, false) {
                Ok(mut connection) => {
                    connection.begin();
                    connection.read_on();
                    pipe.began = self.clock.now();
                    pipe.connection.insert(connection)
                }
                Err(fault) => {
                    self.recorder.not_connected();
                    return self.fail_piped(slot, attempt, self.clock.now(), (&fault, false));
                }
            },
        };
        let place = &mut self.slots[slot as usize];
        let request = self.requests[place.request as usize].bytes(place.filled.as_deref(), connection, None);
        pipe.out.extend_from_slice(request);
        let begin = pipe.written;
        pipe.written += request.len() as u64;
        pipe.line.push_back(Queued { slot, begin, end: pipe.written });
        place.doing = if pipe.is_established { Doing::Exchanging(attempt) } else { Doing::Connecting(attempt) };
        pipes.mark(group);
    }

    /// Sends all queued requests, with one call per connection.
    #[inline(never)]
    pub(super) fn flush_pipes(&mut self) {
        while let Some(group) = self.pipes.as_mut().and_then(|pipes| pipes.unsent.pop()) {
            if let Some(pipes) = &mut self.pipes {
                pipes.pipes[group as usize].is_marked = false;
            }
            self.flush(group);
        }
    }

    fn flush(&mut self, group: u32) {
        let Some(pipes) = &mut self.pipes else { return };
        let pipe = &mut pipes.pipes[group as usize];
        let Some(connection) = &mut pipe.connection else { return };
        if pipe.out.is_empty() {
            return;
        }
        let mut is_ready = true;
        if !pipe.is_established {
            match connection.shake_hands(&mut self.buffer) {
                Ok(done) => is_ready = done,
                Err(fault) => return self.end_pipe(group, &fault),
            }
        }
        let at = self.clock.now();
        let sent = match (is_ready, pipe.is_established) {
            (false, _) => Ok(0),
            (true, false) => connection.send_first(&pipe.out, usize::MAX),
            (true, true) => connection.send(&pipe.out, usize::MAX),
        };
        let watched = match sent {
            Ok(0) => {
                let waits = is_ready || connection.has_unsent();
                connection.watch_writing(waits, &self.poller)
            }
            Ok(bytes) => {
                pipe.taken += bytes as u64;
                let is_first = !mem::replace(&mut pipe.is_established, true);
                let is_whole = connection.has_sent(&pipe.out);
                if is_whole {
                    pipe.out.clear();
                    connection.begin();
                }
                let watched = connection.watch_writing(!is_whole, &self.poller);
                self.sent_of_pipe(group, is_first, bytes, at);
                watched
            }
            Err(fault) => Err(fault),
        };
        if let Err(fault) = watched {
            self.end_pipe(group, &fault);
        }
    }

    /// The kernel took this many bytes of a group's requests.
    fn sent_of_pipe(&mut self, group: u32, is_first: bool, bytes: usize, at: MonotonicNs) {
        let Some(pipes) = &mut self.pipes else { return };
        let Pipes { pipes, places, .. } = &mut **pipes;
        let pipe = &mut pipes[group as usize];
        if is_first {
            self.recorder.connected(pipe.began, at);
        }
        self.recorder.transmitted(bytes, at);
        for (number, queued) in pipe.line.iter().enumerate().skip(if is_first { 0 } else { pipe.sent }) {
            let doing = &mut self.slots[queued.slot as usize].doing;
            let (Doing::Connecting(attempt) | Doing::Exchanging(attempt)) = *doing else { continue };
            let is_sent = queued.begin < pipe.taken;
            *doing = Doing::Exchanging(if is_sent { Attempt { sent: at, ..attempt } } else { attempt });
            if is_sent {
                places[queued.slot as usize].sent = true;
                pipe.sent = number + 1;
            }
        }
    }

    /// Handles an event on a shared connection's socket.
    #[inline(never)]
    pub(super) fn handle_pipe(&mut self, ready: Ready) {
        let group = ready.token & !CARRIER;
        let is_established = |engine: &Self| {
            let pipe = engine.pipes.as_ref().and_then(|pipes| pipes.pipes.get(group as usize));
            pipe.is_some_and(|pipe| pipe.is_established)
        };
        // The end of the stream may have arrived with the last bytes of a handshake, and is not reported again.
        let is_new = !is_established(self);
        if is_new || ready.writable {
            self.flush(group);
        }
        if is_established(self) && (ready.ended || (ready.readable && !is_new)) {
            self.receive_of_pipe(group, ready.ended);
        }
        self.flush_pipes();
    }

    /// Receives all available bytes of answers. `ended` means that the stream has already ended.
    fn receive_of_pipe(&mut self, group: u32, ended: bool) {
        for _ in 0..READS_IN_A_ROW {
            let Some(pipes) = &mut self.pipes else { return };
            let pipe = &mut pipes.pipes[group as usize];
            let Some(connection) = &mut pipe.connection else { return };
            // Bodies are not discarded here, so the rules of any request will do.
            let rules = &self.requests[0].rules;
            let received = match pipe.line.is_empty() {
                true => connection.receive_unasked(&mut self.buffer),
                false => connection.receive(&mut self.buffer, BUFFER_BYTES, usize::MAX, rules),
            };
            let untold = connection.untold();
            let bytes = match received {
                Ok(Stream::Bytes(bytes)) => bytes,
                Ok(Stream::Nothing | Stream::Discarded(_)) if !untold.over => return,
                Ok(stream) => return self.end_of_pipe(group, stream),
                Err(fault) => return self.end_pipe(group, &fault),
            };
            if !self.digest_of_pipe(group, bytes) {
                return;
            }
            if !(bytes == BUFFER_BYTES || untold.more || untold.over || ended) {
                return;
            }
        }
        let pipe = self.pipes.as_ref().map(|pipes| &pipes.pipes[group as usize]);
        let told = pipe.and_then(|pipe| pipe.connection.as_ref()).map(|connection| connection.tell_again(&self.poller));
        if let Some(Err(fault)) = told {
            self.end_pipe(group, &fault);
        }
    }

    /// Reads the buffer as answers to the queued requests, in order. Returns whether the connection continues.
    fn digest_of_pipe(&mut self, group: u32, bytes: usize) -> bool {
        let at = self.clock.now();
        let mut from = 0;
        while from < bytes {
            let Some(pipes) = &mut self.pipes else { return false };
            let pipe = &mut pipes.pipes[group as usize];
            let Some(connection) = &mut pipe.connection else { return false };
            let Some(&Queued { slot, end, .. }) = pipe.line.front() else {
                self.recorder.unasked(bytes - from);
                self.give_up_pipe(group);
                return false;
            };
            if from == 0 {
                self.recorder.received(bytes, at);
            }
            let place = &self.slots[slot as usize];
            let Doing::Exchanging(attempt) = place.doing else { return false };
            if !connection.has_begun() {
                self.recorder.first_byte(&attempt, at);
            }
            let rules = &mut self.requests[place.request as usize].rules;
            match connection.digest_next(&self.buffer[from..bytes], rules) {
                Ok((taken, answer)) => {
                    from += taken;
                    if let Some(answer) = answer {
                        // The target answered before it had the whole request, so how it treats the rest is unknown.
                        let keep_alive = answer.keep_alive && end <= pipe.taken;
                        let flaw = connection.take_flaw();
                        self.piped_answered(slot, at, Answer { keep_alive, ..answer }, flaw);
                        if !keep_alive {
                            return false;
                        }
                    }
                }
                Err(fault) => {
                    self.end_pipe(group, &fault);
                    return false;
                }
            }
        }
        true
    }

    /// The first queued request has an answer, possibly a wrong one; its slot goes on to the next request.
    fn piped_answered(&mut self, slot: u32, at: MonotonicNs, answer: Answer, flaw: Option<Fault>) {
        let Doing::Exchanging(attempt) = self.slots[slot as usize].doing else { return };
        let Some(pipes) = &mut self.pipes else { return };
        let group = pipes.group_of(slot);
        let pipe = &mut pipes.pipes[group as usize];
        pipe.line.pop_front();
        pipe.sent = pipe.sent.saturating_sub(1);
        match (flaw, answer.wrong_status) {
            (Some(fault), _) => {
                self.exemplify(slot, at, &fault);
                self.recorder.failed(&attempt, at, &fault);
            }
            (None, Some(status)) => self.wrong_status(slot, &attempt, at, status),
            (None, None) => {
                self.recorder.good(&attempt, at);
                self.keep_captured(slot);
            }
        }
        self.in_flight -= 1;
        let place = &mut self.slots[slot as usize];
        place.backoff.reset();
        place.doing = Doing::Nothing;
        if flaw.is_some() || answer.wrong_status.is_some() {
            // A failure ends its iteration.
            place.step = self.steps.in_iteration();
        }
        if !answer.keep_alive {
            self.move_on_from(group);
        }
        self.next_step(slot, at);
    }

    /// A target that closes after this answer ignores all later requests (RFC 9112 §9.6). They move to the next connection, as with every
    /// client. Their clocks keep running.
    fn move_on_from(&mut self, group: u32) {
        let Some(pipes) = &mut self.pipes else { return };
        let Pipe { line, .. } = pipes.close(group);
        self.recorder.disconnected(true);
        for Queued { slot, .. } in line {
            if let Doing::Exchanging(attempt) = self.slots[slot as usize].doing {
                self.move_on_piped(slot, attempt, (&Fault::ClosedBeforeAnswer, true));
            }
        }
    }

    fn move_on_piped(&mut self, slot: u32, attempt: Attempt, failure: (&Fault, bool)) {
        let Some(pipes) = &mut self.pipes else { return };
        if mem::replace(&mut pipes.places[slot as usize].moved, true) {
            self.fail_piped(slot, attempt, self.clock.now(), failure);
        } else {
            self.line_up(slot, attempt);
        }
    }

    /// The target has ended the stream. For the first queued request this may be the end of its answer.
    fn end_of_pipe(&mut self, group: u32, stream: Stream) {
        let Some(pipes) = &mut self.pipes else { return };
        let pipe = &mut pipes.pipes[group as usize];
        let Some(connection) = &mut pipe.connection else { return };
        let Some(&Queued { slot, .. }) = pipe.line.front() else { return self.give_up_pipe(group) };
        let rules = &mut self.requests[self.slots[slot as usize].request as usize].rules;
        let stream = if stream == Stream::Truncated { stream } else { Stream::End };
        match connection.digest(stream, &[], &[], rules) {
            Ok(Some(answer)) => {
                let flaw = connection.take_flaw();
                let at = self.clock.now();
                self.piped_answered(slot, at, Answer { keep_alive: false, ..answer }, flaw);
            }
            Ok(None) => {}
            Err(fault) => self.end_pipe(group, &fault),
        }
    }

    /// Closes a connection that has no requests.
    fn give_up_pipe(&mut self, group: u32) {
        let Some(pipes) = &mut self.pipes else { return };
        if let Some(connection) = pipes.close(group).connection {
            self.recorder.disconnected(connection.has_answered());
        }
    }

    /// A connection ended or was not established: every request on it fails. Requests that were begun but not sent when it ended move to
    /// the next connection.
    #[cold]
    fn end_pipe(&mut self, group: u32, fault: &Fault) {
        let at = self.clock.now();
        let Some(pipes) = &mut self.pipes else { return };
        let Pipe { connection: Some(connection), is_established, line, taken, .. } = pipes.close(group) else { return };
        let is_alive = connection.has_answered();
        match is_established {
            true => self.recorder.disconnected(is_alive),
            false => self.recorder.not_connected(),
        }
        for (number, Queued { slot, begin, .. }) in line.into_iter().enumerate() {
            let (Doing::Connecting(attempt) | Doing::Exchanging(attempt)) = self.slots[slot as usize].doing else {
                continue;
            };
            // Only the first request's answer had begun.
            let fault = match fault {
                Fault::ClosedInsideAnswer if number > 0 => &Fault::ClosedBeforeAnswer,
                fault => fault,
            };
            match is_established && begin >= taken {
                true => self.move_on_piped(slot, attempt, (fault, is_alive)),
                false => self.fail_piped(slot, attempt, at, (fault, is_alive)),
            }
        }
    }

    /// Fails a request and thereby its iteration. `is_alive` means that its connection had brought an answer.
    fn fail_piped(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs, (fault, is_alive): (&Fault, bool)) {
        self.exemplify(slot, at, fault);
        if self.pipes.as_ref().is_some_and(|pipes| !pipes.places[slot as usize].sent) {
            self.recorder.unsent();
        }
        self.recorder.failed(&attempt, at, fault);
        self.in_flight -= 1;
        self.plan_after_failure(slot, at, is_alive, fault);
    }

    /// A request failed before its answer, so the answers to the requests behind it will not come either.
    #[cold]
    pub(super) fn give_up_piped(&mut self, slot: u32, fault: &Fault) {
        let Some(pipes) = &mut self.pipes else { return };
        // This request has failed for good, so it must not move to another connection.
        pipes.places[slot as usize].moved = true;
        let group = pipes.group_of(slot);
        self.end_pipe(group, fault);
    }

    /// When connecting began for the connection that a slot's request waits for.
    pub(super) fn pipe_began(&self, slot: u32) -> Option<MonotonicNs> {
        let pipes = self.pipes.as_ref()?;
        Some(pipes.pipes[pipes.group_of(slot) as usize].began)
    }

    /// A user sends no more requests; the last one of a group closes its connection.
    #[inline(never)]
    pub(super) fn retire_piped(&mut self, slot: u32) {
        let slots = self.slots.len() as u32;
        let Some(pipes) = &mut self.pipes else { return };
        let group = pipes.group_of(slot);
        pipes.pipes.resize_with(pipes.pipes.len().max(group as usize + 1), Pipe::default);
        let members = (slots - group * pipes.per_connection).min(pipes.per_connection);
        let pipe = &mut pipes.pipes[group as usize];
        pipe.retired += 1;
        if pipe.retired == members {
            self.give_up_pipe(group);
        }
    }

    /// The run is over: abandons requests in flight and closes everything.
    #[inline(never)]
    pub(super) fn finish_pipes(&mut self, now: MonotonicNs) {
        let groups = self.pipes.as_ref().map_or(0, |pipes| pipes.pipes.len() as u32);
        for group in 0..groups {
            let Some(pipes) = &mut self.pipes else { return };
            let Pipe { connection: Some(connection), is_established, line, .. } = pipes.close(group) else { continue };
            match is_established {
                true => self.recorder.disconnected(connection.has_answered()),
                false => self.recorder.not_connected(),
            }
            for Queued { slot, .. } in line {
                let doing = mem::replace(&mut self.slots[slot as usize].doing, Doing::Nothing);
                let (Doing::Connecting(attempt) | Doing::Exchanging(attempt)) = doing else { continue };
                self.recorder.abandoned(&attempt, now);
                if self.pipes.as_ref().is_some_and(|pipes| !pipes.places[slot as usize].sent) {
                    self.recorder.unsent();
                }
            }
        }
    }
}
