//! Places for connections, and the pool that arrivals take them from.

use std::collections::VecDeque;

use crate::clock::MonotonicNs;
use crate::options::{self, Options};
use crate::recording::Attempt;
use crate::schedule::{Backoff, Cursor, Share};
use crate::transport::Connection;

/// What a slot is doing.
#[derive(Debug, Clone, Copy)]
pub(super) enum Doing {
    /// Waiting for the planned instant of its next turn, for an arrival, or done for good.
    Nothing,
    /// Opening the connection for a request.
    Connecting(Attempt),
    /// Sending a request and receiving its answer.
    Exchanging(Attempt),
}

/// The values of an iteration, and its present request as it was written with them.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The row of the data.
    pub row: usize,
    /// What earlier responses of the iteration held.
    pub captured: Vec<String>,
    /// As usual, and as the last request on a connection.
    pub written: [Vec<u8>; 2],
}

/// A place for a connection.
#[derive(Debug)]
pub(super) struct Slot {
    pub doing: Doing,
    pub connection: Option<Connection>,
    pub backoff: Backoff,
    /// Where it is in its iteration.
    pub step: u32,
    /// Number of the request of this step.
    pub request: u32,
    /// Where requests are filled with values. Others need no room for it.
    pub filled: Option<Box<Filled>>,
    /// Counts exchanges, so that what was planned for an earlier one can be recognised.
    pub exchange: u32,
    /// The exchange for which a ration is planned, if that is the present one.
    pub ticked: u32,
    /// When the line will have carried all that was written so far. It outlives the connection, because a user has one line.
    pub line_free_at: MonotonicNs,
    /// Whether the pace of slow clients, where a run has one, is its own.
    pub is_slow: bool,
}

impl Slot {
    pub fn new(is_slow: bool) -> Slot {
        Slot {
            is_slow,
            doing: Doing::Nothing,
            connection: None,
            backoff: Backoff::default(),
            step: 0,
            request: 0,
            filled: None,
            exchange: 0,
            ticked: 0,
            line_free_at: MonotonicNs(0),
        }
    }

    /// Whether it has a request of which no byte was handed to the kernel.
    pub fn has_sent_nothing(&self) -> bool {
        match self.doing {
            Doing::Connecting(_) => true,
            Doing::Exchanging(_) => self.connection.as_ref().is_some_and(Connection::has_sent_nothing),
            Doing::Nothing => false,
        }
    }
}

/// Which slots are free for an arrival, and how many there may be. In a closed loop it holds none.
#[derive(Debug)]
pub(super) struct Pool {
    /// The one that has been free for longest comes first, so that a target of many processes sees all its connections
    /// used and none closed for idleness. With each the instant from which on it has been free.
    idle: VecDeque<(u32, MonotonicNs)>,
    /// Most slots.
    at_most: usize,
    /// Runs ahead of the schedule's own cursor to the arrivals that are due: what lies between waits for a connection.
    due: Option<Cursor>,
    due_passed: u64,
    /// Arrivals that were taken from the schedule.
    pub started: u64,
}

impl Pool {
    /// A slot for an arrival and the instant from which on it has been free; nothing when all are busy and no more may be
    /// opened. One that is new has always been free.
    pub fn take(&mut self, slots: usize) -> Option<(u32, MonotonicNs)> {
        let new = (slots < self.at_most).then_some((slots as u32, MonotonicNs(0)));
        self.idle.pop_front().or(new)
    }

    /// Since when an arrival would have found a free slot, or `None` if there is none.
    pub fn free_since(&self, slots: usize) -> Option<MonotonicNs> {
        let new = (slots < self.at_most).then_some(MonotonicNs(0));
        self.idle.front().map(|(_, since)| *since).or(new)
    }

    /// Whether an arrival would find a slot.
    pub fn has_room(&self, slots: usize) -> bool {
        !self.idle.is_empty() || slots < self.at_most
    }

    /// A slot is free from `since` on.
    pub fn give_back(&mut self, slot: u32, since: MonotonicNs) {
        self.idle.push_back((slot, since));
    }

    /// Counts the arrivals that are due and not started. `next` is the first one that is not.
    pub fn waiting(&mut self, cursor: &Cursor, now: MonotonicNs) -> u64 {
        let due = self.due.get_or_insert_with(|| cursor.clone());
        if self.due_passed < self.started {
            // No arrival has waited since the last count, so that the two cursors stand at the same place again.
            *due = cursor.clone();
            self.due_passed = self.started;
        }
        while due.next().is_some_and(|arrival| arrival.planned <= now) {
            due.advance();
            self.due_passed += 1;
        }
        self.due_passed - self.started
    }

    /// No arrival is due at `at` or later.
    pub fn stop(&mut self, at: MonotonicNs) {
        if let Some(due) = &mut self.due {
            due.stop(at);
        }
    }
}

/// The slots of a thread: all virtual users of a closed loop; none yet in an open one.
pub(super) fn of(options: &Options, share: Share, most_connections: u32) -> (Vec<Slot>, Pool) {
    let at_most = match options.pool {
        _ if !options.executor.is_open() => 0,
        options::Pool::Bounded(connections) => share.of(connections),
        options::Pool::Unbounded { at_most } => share.of(at_most.unwrap_or(most_connections).min(most_connections)),
    };
    let slow_users = options.slow_users();
    let is_slow = |user| slow_users.is_none_or(|users| users.include(share.number(user)));
    let slots = (0..share.of(options.executor.vus())).map(|user| Slot::new(is_slow(user))).collect();
    let pool = Pool { idle: VecDeque::new(), at_most: at_most as usize, due: None, due_passed: 0, started: 0 };
    (slots, pool)
}
