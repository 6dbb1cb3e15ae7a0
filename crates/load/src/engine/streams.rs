//! HTTP/2: slots share connections.
//!
//! As always, a slot has one request at a time, but it has no connection of its own. A group of neighbouring slots shares a carrier. The
//! first request without a carrier opens one, and another follows when a carrier takes no more requests. All work comes from one list of
//! woken tasks, streams before carriers. So the requests that follow a batch of answers go out in one write.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use rustix::io::Errno;

use super::prepared::fields;
use super::slots::Doing;
use super::{Engine, Listener};
use crate::clock::{Clock, MonotonicNs};
use crate::fault::Fault;
use crate::http::answer::Answer;
use crate::http::template::Values;
use crate::options::{Options, Protocol};
use crate::recording::Attempt;
use crate::transport::Ready;
use crate::transport::h2::{Carrier, Exchange, Opening, Outcome, ReadyList, Room};

/// Marks the number of a carrier, as opposed to that of a slot.
pub(super) const CARRIER: u32 = 1 << 31;

/// Most rounds of work before others get their turn: answers cause requests, which a target may answer immediately.
const ROUNDS_IN_A_ROW: usize = 16;

/// Room for the ciphertext of one recv(2) and for the bytes that rustls keeps in front of it.
const BUFFER_BYTES: usize = 128 * 1024;

/// The carriers and their slots.
pub(super) struct Streams {
    per_connection: u32,
    list: ReadyList,
    /// Indexed by slot.
    places: Vec<Place>,
    groups: Vec<Group>,
    carriers: Vec<Option<Carried>>,
    /// Free carrier numbers.
    free: Vec<u32>,
    buffer: Rc<RefCell<Vec<u8>>>,
    /// Whether an outer call is already working through the list.
    driving: bool,
}

/// State of a slot in place of a connection.
struct Place {
    waker: Waker,
    carrier: Option<u32>,
    exchange: Option<Exchange>,
    /// The kernel has taken the current request.
    sent: bool,
    /// The current request was moved from a carrier that did not process it; this happens at most once.
    moved: bool,
}

/// Slots that share a carrier.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    /// The carrier that takes new requests.
    current: Option<u32>,
    /// Slots that send no more requests.
    retired: u32,
}

/// A carrier and its slots.
struct Carried {
    carrier: Carrier,
    waker: Waker,
    group: usize,
    /// When connecting began.
    began: MonotonicNs,
    /// Slots whose requests it has not taken yet.
    waiting: VecDeque<u32>,
    /// Slots whose requests it has taken, but perhaps not yet the kernel.
    unsent: Vec<u32>,
    /// Number of active streams.
    active: u32,
    /// Number of requests it has taken.
    requests: u32,
}

impl Streams {
    /// `None` without HTTP/2.
    pub fn of(options: &Options) -> Option<Box<Streams>> {
        let Protocol::Http2 { streams_per_connection } = options.protocol else { return None };
        Some(Box::new(Streams {
            per_connection: streams_per_connection,
            list: ReadyList::default(),
            places: Vec::new(),
            groups: Vec::new(),
            carriers: Vec::new(),
            free: Vec::new(),
            buffer: Rc::new(RefCell::new(vec![0; BUFFER_BYTES])),
            driving: false,
        }))
    }

    fn group_of(&self, slot: u32) -> usize {
        (slot / self.per_connection) as usize
    }

    fn carried(&mut self, id: u32) -> Option<&mut Carried> {
        self.carriers.get_mut(id as usize).and_then(Option::as_mut)
    }

    /// Sets up a slot for a new request. Slots of a pool are created one by one.
    fn begin(&mut self, slot: u32) {
        while self.places.len() <= slot as usize {
            let waker = self.list.waker(self.places.len() as u32);
            self.places.push(Place { waker, carrier: None, exchange: None, sent: false, moved: false });
        }
        let groups = self.group_of(slot) + 1;
        self.groups.resize(self.groups.len().max(groups), Group::default());
        let place = &mut self.places[slot as usize];
        (place.sent, place.moved) = (false, false);
    }

    fn free_number(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.carriers.push(None);
            self.carriers.len() as u32 - 1
        })
    }

    /// Ends a slot's request. Returns whether its carrier has brought any answer.
    fn leave(&mut self, slot: u32) -> bool {
        let place = &mut self.places[slot as usize];
        let had_stream = place.exchange.take().is_some();
        let Some(id) = place.carrier.take() else { return false };
        let Some(carried) = self.carried(id) else { return false };
        if had_stream {
            carried.active -= 1;
        } else {
            carried.waiting.retain(|waiting| *waiting != slot);
        }
        let answered = carried.carrier.answered;
        let (group, waits) = (carried.group, !carried.waiting.is_empty());
        if waits || self.groups[group].current != Some(id) {
            // There is room for another request, or this was the carrier's last.
            self.list.push(CARRIER | id);
        }
        answered
    }

    /// A carrier takes no more new requests; the next one is opened when needed.
    fn detach(&mut self, id: u32) -> VecDeque<u32> {
        let Some(carried) = self.carried(id) else { return VecDeque::new() };
        let (group, waiting) = (carried.group, mem::take(&mut carried.waiting));
        if self.groups[group].current == Some(id) {
            self.groups[group].current = None;
        }
        waiting
    }

    fn remove(&mut self, id: u32) -> Option<Carried> {
        let carried = self.carriers[id as usize].take()?;
        self.free.push(id);
        Some(carried)
    }
}

impl Carried {
    /// Slots whose requests the kernel has at least partly taken by now.
    fn take_sent(&mut self, room: Room) -> Vec<u32> {
        if !self.carrier.is_flushed() {
            return Vec::new();
        }
        let held_back = if room == Room::HeldBack { self.unsent.pop() } else { None };
        let sent = mem::take(&mut self.unsent);
        self.unsent.extend(held_back);
        sent
    }
}

impl<C: Clock, L: Listener> Engine<'_, C, L> {
    /// Assigns a slot's new request to a carrier.
    #[inline(never)]
    pub(super) fn begin_stream(&mut self, slot: u32, attempt: Attempt) {
        let Some(streams) = &mut self.streams else { return };
        streams.begin(slot);
        self.board(slot, attempt);
        self.drive();
    }

    /// Queues a slot's request at the carrier of its group, and opens a carrier if there is none.
    fn board(&mut self, slot: u32, attempt: Attempt) {
        let Some(streams) = &mut self.streams else { return };
        let group = streams.group_of(slot);
        let id = match streams.groups[group].current {
            Some(id) => id,
            None => {
                let id = streams.free_number();
                match Carrier::open(&mut self.connector, &self.poller, CARRIER | id, &streams.buffer) {
                    Ok(carrier) => {
                        streams.groups[group].current = Some(id);
                        let waker = streams.list.waker(CARRIER | id);
                        let (waiting, unsent) = (VecDeque::new(), Vec::new());
                        let began = self.clock.now();
                        let carried = Carried { carrier, waker, group, began, waiting, unsent, active: 0, requests: 0 };
                        streams.carriers[id as usize] = Some(carried);
                        id
                    }
                    Err(fault) => {
                        streams.free.push(id);
                        self.recorder.not_connected();
                        return self.fail_stream(slot, attempt, self.clock.now(), &fault);
                    }
                }
            }
        };
        streams.places[slot as usize].carrier = Some(id);
        streams.list.push(CARRIER | id);
        let Some(carried) = streams.carried(id) else { return };
        carried.waiting.push_back(slot);
        let open = carried.carrier.is_open();
        self.slots[slot as usize].doing = if open { Doing::Exchanging(attempt) } else { Doing::Connecting(attempt) };
    }

    /// When connecting began for the shared connection that a slot's request waits for, if there is one.
    pub(super) fn connecting_since(&self, slot: u32) -> Option<MonotonicNs> {
        let streams = self.streams.as_ref()?;
        let id = streams.places[slot as usize].carrier?;
        streams.carriers[id as usize].as_ref().map(|carried| carried.began)
    }

    /// Handles an event on a carrier's socket.
    #[inline(never)]
    pub(super) fn handle_carrier(&mut self, ready: Ready) {
        let Some(streams) = &mut self.streams else { return };
        let Some(carried) = streams.carried(ready.token & !CARRIER) else { return };
        carried.carrier.stir(ready.ended);
        streams.list.push(ready.token);
        self.drive();
    }

    /// Works through the list of woken tasks.
    fn drive(&mut self) {
        let Some(streams) = &mut self.streams else { return };
        if mem::replace(&mut streams.driving, true) {
            return;
        }
        let list = streams.list.clone();
        let mut woken = Vec::new();
        for _ in 0..ROUNDS_IN_A_ROW {
            woken.clear();
            list.take(&mut woken);
            if woken.is_empty() {
                break;
            }
            // Streams come first because their numbers are smaller.
            woken.sort_unstable();
            woken.dedup();
            for number in &woken {
                if number & CARRIER == 0 {
                    self.settle(*number, None);
                } else {
                    self.advance(number & !CARRIER);
                }
            }
        }
        self.leave_the_rest(&list);
        if let Some(streams) = &mut self.streams {
            streams.driving = false;
        }
    }

    /// Leaves the rest of the list to the next poll of the event queue.
    fn leave_the_rest(&mut self, list: &ReadyList) {
        let mut left = Vec::new();
        list.take(&mut left);
        for number in left {
            list.push(number);
            let Some(streams) = &mut self.streams else { return };
            let id = match number & CARRIER {
                0 => streams.places[number as usize].carrier,
                _ => Some(number & !CARRIER),
            };
            let told = id.and_then(|id| streams.carried(id)).map(|carried| carried.carrier.tell_again(&self.poller));
            if let (Some(id), Some(Err(fault))) = (id, told) {
                self.end_carrier(id, fault);
            }
        }
    }

    /// Processes what has arrived of a slot's answer. `over` is the fault that ended the connection, if it ended: nothing more will arrive.
    fn settle(&mut self, slot: u32, over: Option<Fault>) {
        let Doing::Exchanging(attempt) = self.slots[slot as usize].doing else { return };
        let Some(streams) = &mut self.streams else { return };
        let Some(id) = streams.places[slot as usize].carrier else { return };
        // If the connection was just closed, the stream itself knows how far its answer had come.
        let told = over.filter(|fault| matches!(fault, Fault::GoAway(_) | Fault::Http2(_)));
        let broken = streams.carried(id).and_then(|carried| carried.carrier.broken()).or(told);
        let place = &mut streams.places[slot as usize];
        let Some(exchange) = &mut place.exchange else { return };
        let rules = &mut self.requests[self.slots[slot as usize].request as usize].rules;
        let had_begun = exchange.has_begun();
        let outcome = exchange.poll(&mut Context::from_waker(&place.waker), rules, broken);
        let at = self.clock.now();
        if !had_begun && exchange.has_begun() {
            self.recorder.first_byte(&attempt, at);
        }
        match (outcome, over) {
            (Poll::Ready(Outcome::Answered(answer)), _) => self.stream_answered(slot, attempt, at, answer),
            (Poll::Ready(Outcome::Unprocessed(fault)), _) => self.move_on(slot, attempt, &fault),
            // Complete answers count; the others fail with the fault that ended the connection.
            (Poll::Ready(Outcome::Failed(fault)), _) | (Poll::Pending, Some(fault)) => {
                if let (Fault::BadBody(_), Some(carried)) = (&fault, streams.carried(id)) {
                    // A wrong body is also an answer: the target is alive.
                    carried.carrier.answered = true;
                }
                self.fail_stream(slot, attempt, at, &fault);
            }
            (Poll::Pending, None) => {}
        }
    }

    /// Handles an answer, possibly a wrong one, and goes on to the next request.
    fn stream_answered(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs, answer: Answer) {
        match answer.wrong_status {
            None => {
                self.recorder.good(&attempt, at);
                self.keep_captured(slot);
            }
            Some(status) => self.wrong_status(slot, &attempt, at, status),
        }
        self.in_flight -= 1;
        if let Some(streams) = &mut self.streams {
            let id = streams.places[slot as usize].carrier;
            if let Some(carried) = id.and_then(|id| streams.carried(id)) {
                carried.carrier.answered = true;
            }
            streams.leave(slot);
        }
        let place = &mut self.slots[slot as usize];
        place.backoff.reset();
        place.doing = Doing::Nothing;
        if answer.wrong_status.is_some() {
            // A failure ends its iteration.
            place.step = self.steps.in_iteration();
        }
        self.next_step(slot, at);
    }

    /// A request that the target has certainly not processed moves to the next carrier, as with every client. Its clock keeps running.
    fn move_on(&mut self, slot: u32, attempt: Attempt, fault: &Fault) {
        let Some(streams) = &mut self.streams else { return };
        let place = &mut streams.places[slot as usize];
        if mem::replace(&mut place.moved, true) {
            return self.fail_stream(slot, attempt, self.clock.now(), fault);
        }
        if let Some(id) = place.carrier {
            let waiting = streams.detach(id);
            streams.leave(slot);
            self.board_again(waiting);
        }
        self.board(slot, attempt);
    }

    /// Moves slots whose requests the carrier has not taken to the next carrier.
    fn board_again(&mut self, waiting: VecDeque<u32>) {
        for slot in waiting {
            if let Doing::Connecting(attempt) | Doing::Exchanging(attempt) = self.slots[slot as usize].doing {
                self.board(slot, attempt);
            }
        }
    }

    /// Lets a carrier send and receive.
    fn advance(&mut self, id: u32) {
        // Taken out meanwhile, so the engine can be borrowed for what follows.
        let taken = self.streams.as_mut().and_then(|streams| streams.carriers.get_mut(id as usize)?.take());
        let Some(mut carried) = taken else { return };
        let waker = carried.waker.clone();
        let mut task = Context::from_waker(&waker);
        let opening = carried.carrier.open_further(&mut task);
        if opening == Ok(Opening::Opened) {
            self.carrier_opened(&carried);
        }
        let mut refused = None;
        let mut room = Room::Full;
        let over = match opening {
            Ok(Opening::Pending) => None,
            Ok(Opening::Open | Opening::Opened) => {
                refused = self.fill(&mut carried, &mut task);
                let at = self.clock.now();
                let over = carried.carrier.advance(&mut task);
                room = carried.carrier.room(&mut task, carried.active);
                self.note_sent(&mut carried, room, at);
                over
            }
            Err(fault) => Some(fault),
        };
        let received = carried.carrier.take_received();
        if received > 0 {
            self.recorder.received(received, self.clock.now());
        }
        let spent = self.requests_per_connection.is_some_and(|at_most| carried.requests >= at_most);
        let more = room == Room::Yes && !carried.waiting.is_empty();
        let Some(streams) = &mut self.streams else { return };
        if more {
            streams.list.push(CARRIER | id);
        }
        streams.carriers[id as usize] = Some(carried);
        if let Some((slot, attempt, fault)) = refused {
            self.fail_stream(slot, attempt, self.clock.now(), &fault);
        }
        match over {
            Some(fault) => self.end_carrier(id, fault),
            None if spent || room == Room::Never => self.retire_carrier(id),
            None => {}
        }
    }

    /// A connection is established: its requests no longer wait for it.
    fn carrier_opened(&mut self, carried: &Carried) {
        self.recorder.connected(carried.began, self.clock.now());
        for slot in &carried.waiting {
            let place = &mut self.slots[*slot as usize];
            if let Doing::Connecting(attempt) = place.doing {
                place.doing = Doing::Exchanging(attempt);
            }
        }
    }

    /// Hands a carrier as many of its waiting requests as it takes. Returns a request that it refused, if any.
    fn fill(&mut self, carried: &mut Carried, task: &mut Context<'_>) -> Option<(u32, Attempt, Fault)> {
        let streams = self.streams.as_mut()?;
        while let Some(&slot) = carried.waiting.front() {
            let spent = self.requests_per_connection.is_some_and(|at_most| carried.requests >= at_most);
            if spent || carried.carrier.room(task, carried.active) != Room::Yes {
                return None;
            }
            let place = &self.slots[slot as usize];
            let prepared = &mut self.requests[place.request as usize];
            if let Some(template) = &mut prepared.template {
                let (row, captured) = place.filled.as_ref().map_or((0, [].as_slice()), |it| (it.row, &it.captured));
                let request = template.fill(Values { data: self.rows.data(), row, captured });
                let Ok(written) = fields(&self.target, request) else {
                    let Doing::Exchanging(attempt) = place.doing else { return None };
                    let fault = Fault::Local { doing: "write a path with these values", errno: Errno::TOOBIG };
                    return Some((slot, attempt, fault));
                };
                prepared.fields = Some(Box::new(written));
            }
            let (request, body) = prepared.fields.as_deref()?;
            match carried.carrier.send(request, body) {
                Ok(exchange) => {
                    carried.waiting.pop_front();
                    carried.active += 1;
                    carried.requests += 1;
                    carried.unsent.push(slot);
                    streams.places[slot as usize].exchange = Some(exchange);
                    // The stream learns its task only when it is polled for the first time.
                    streams.list.push(slot);
                }
                Err(fault) => {
                    let Doing::Exchanging(attempt) = self.slots[slot as usize].doing else { return None };
                    return Some((slot, attempt, fault));
                }
            }
        }
        None
    }

    /// Records which requests were handed to the kernel at `at`.
    fn note_sent(&mut self, carried: &mut Carried, room: Room, at: MonotonicNs) {
        self.recorder.transmitted(carried.carrier.take_sent(), at);
        let Some(streams) = &mut self.streams else { return };
        for slot in carried.take_sent(room) {
            let place = &mut streams.places[slot as usize];
            if place.exchange.is_none() || mem::replace(&mut place.sent, true) {
                continue;
            }
            if let Doing::Exchanging(attempt) = self.slots[slot as usize].doing {
                self.slots[slot as usize].doing = Doing::Exchanging(Attempt { sent: at, ..attempt });
            }
        }
    }

    /// A carrier takes no more requests; it closes when its last one is answered.
    fn retire_carrier(&mut self, id: u32) {
        let Some(streams) = &mut self.streams else { return };
        let waiting = streams.detach(id);
        if streams.carried(id).is_some_and(|carried| carried.active == 0) {
            self.close_carrier(id);
        }
        self.board_again(waiting);
    }

    /// Closes a carrier, in an orderly way if it has no active streams.
    fn close_carrier(&mut self, id: u32) {
        let Some(carried) = self.streams.as_mut().and_then(|streams| streams.remove(id)) else { return };
        if carried.carrier.is_open() {
            self.recorder.disconnected(carried.carrier.answered);
        } else {
            self.recorder.not_connected();
        }
        if carried.active == 0 {
            carried.carrier.close(&mut Context::from_waker(Waker::noop()));
        }
    }

    /// A connection ended or was not established. Its complete answers count and its other requests fail, but requests that it has not
    /// taken move to another carrier.
    fn end_carrier(&mut self, id: u32, fault: Fault) {
        let Some(streams) = &mut self.streams else { return };
        let waiting = streams.detach(id);
        let Some(carried) = streams.carried(id) else { return };
        let was_open = carried.carrier.is_open();
        let first = carried.group as u32 * streams.per_connection;
        let last = first.saturating_add(streams.per_connection).min(streams.places.len() as u32);
        for slot in first..last {
            let on_it = self.streams.as_ref().is_some_and(|streams| {
                let place = &streams.places[slot as usize];
                place.carrier == Some(id) && place.exchange.is_some()
            });
            if on_it {
                self.settle(slot, Some(fault));
            }
        }
        for slot in waiting {
            let (Doing::Connecting(attempt) | Doing::Exchanging(attempt)) = self.slots[slot as usize].doing else {
                continue;
            };
            match was_open {
                true => self.move_on(slot, attempt, &fault),
                false => self.fail_stream(slot, attempt, self.clock.now(), &fault),
            }
        }
        self.close_carrier(id);
    }

    /// Fails a request early. If its connection was not established, all requests that wait for it fail.
    #[cold]
    pub(super) fn give_up_stream(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs, fault: &Fault) {
        let carrier = self.streams.as_ref().and_then(|streams| streams.places[slot as usize].carrier);
        match (self.slots[slot as usize].doing, carrier) {
            (Doing::Connecting(_), Some(id)) => self.end_carrier(id, *fault),
            _ => self.fail_stream(slot, attempt, at, fault),
        }
        self.drive();
    }

    /// Fails a request and thereby its iteration. Its stream is reset; its connection stays.
    fn fail_stream(&mut self, slot: u32, attempt: Attempt, at: MonotonicNs, fault: &Fault) {
        self.exemplify(slot, at, fault);
        let Some(streams) = &mut self.streams else { return };
        let sent = streams.places[slot as usize].sent;
        let alive = streams.leave(slot);
        if !sent {
            self.recorder.unsent();
        }
        self.recorder.failed(&attempt, at, fault);
        self.in_flight -= 1;
        self.plan_after_failure(slot, at, alive, fault);
    }

    /// A user sends no more requests; the last one of a group closes its connection.
    #[inline(never)]
    pub(super) fn retire_stream(&mut self, slot: u32) {
        let slots = self.slots.len() as u32;
        let Some(streams) = &mut self.streams else { return };
        let group = streams.group_of(slot);
        streams.groups.resize(streams.groups.len().max(group + 1), Group::default());
        streams.groups[group].retired += 1;
        let members = (slots - group as u32 * streams.per_connection).min(streams.per_connection);
        if streams.groups[group].retired == members
            && let Some(id) = streams.groups[group].current
        {
            self.retire_carrier(id);
        }
    }

    /// The run is over: abandons requests in flight and closes everything.
    #[inline(never)]
    pub(super) fn finish_streams(&mut self, now: MonotonicNs) {
        let carriers = self.streams.as_ref().map_or(0, |streams| streams.carriers.len() as u32);
        (0..carriers).for_each(|id| self.close_carrier(id));
        for slot in 0..self.slots.len() {
            let (Doing::Connecting(attempt) | Doing::Exchanging(attempt)) = self.slots[slot].doing else { continue };
            self.slots[slot].doing = Doing::Nothing;
            self.recorder.abandoned(&attempt, now);
            if self.streams.as_ref().is_some_and(|streams| !streams.places[slot].sent) {
                self.recorder.unsent();
            }
        }
    }
}
