//! Places for connections, and the pool that arrivals take them from.

use std::collections::VecDeque;

use crate::clock::MonotonicNs;
use crate::options::{self, Options};
use crate::recording::Attempt;
use crate::schedule::{Backoff, Cursor, Share};
use crate::transport::Connection;

/// The current activity of a slot.
#[derive(Debug, Clone, Copy)]
pub(super) enum Doing {
    /// Waiting for its next turn or for an arrival, or retired.
    Nothing,
    /// Opening the connection for a request.
    Connecting(Attempt),
    /// Sending a request and receiving its answer.
    Exchanging(Attempt),
}

/// The values of an iteration, and its current request filled with them.
#[derive(Debug, Default)]
pub(super) struct Filled {
    /// The row of the data.
    pub row: usize,
    /// Values captured from earlier responses of the iteration.
    pub captured: Vec<String>,
    /// The usual form, and the form of the last request on a connection.
    pub written: [Vec<u8>; 2],
}

/// A place for a connection.
#[derive(Debug)]
pub(super) struct Slot {
    pub doing: Doing,
    pub connection: Option<Connection>,
    pub backoff: Backoff,
    /// The current step of its iteration.
    pub step: u32,
    /// Number of the request of this step.
    pub request: u32,
    /// The values that fill its requests. Boxed, so other slots stay small.
    pub filled: Option<Box<Filled>>,
    /// Counts exchanges, to detect plans for an earlier exchange.
    pub exchange: u32,
    /// The exchange for which a ration is planned, if it is the current one.
    pub ticked: u32,
    /// When the line will have carried all bytes written so far. Outlives the connection, because a user has one line.
    pub line_free_at: MonotonicNs,
    /// Whether the limits for slow clients, if the run has any, apply to it.
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

/// The free slots for arrivals, and the most slots allowed. Empty in a closed loop.
#[derive(Debug)]
pub(super) struct Pool {
    /// The slot that has been free longest comes first. So a target with many processes gets load on all connections, and closes none as
    /// idle. Each with the instant since when it has been free.
    idle: VecDeque<(u32, MonotonicNs)>,
    /// Most slots.
    at_most: usize,
    /// Runs ahead of the schedule's cursor to the arrivals that are due. Arrivals between the two wait for a connection.
    due: Option<Cursor>,
    due_passed: u64,
    /// Number of arrivals taken from the schedule.
    pub started: u64,
}

impl Pool {
    /// A slot for an arrival, and since when it has been free. `None` if all are busy and no more may be opened. A new slot counts as
    /// always free.
    pub fn take(&mut self, slots: usize) -> Option<(u32, MonotonicNs)> {
        let new = (slots < self.at_most).then_some((slots as u32, MonotonicNs(0)));
        self.idle.pop_front().or(new)
    }

    /// Since when an arrival could have had a slot, or `None` if there is none.
    pub fn free_since(&self, slots: usize) -> Option<MonotonicNs> {
        let new = (slots < self.at_most).then_some(MonotonicNs(0));
        self.idle.front().map(|(_, since)| *since).or(new)
    }

    /// Whether an arrival would find a slot.
    pub fn has_room(&self, slots: usize) -> bool {
        !self.idle.is_empty() || slots < self.at_most
    }

    /// Frees a slot from `since` on.
    pub fn give_back(&mut self, slot: u32, since: MonotonicNs) {
        self.idle.push_back((slot, since));
    }

    /// Counts the arrivals that are due but not started. `cursor` is at the first one not started.
    pub fn waiting(&mut self, cursor: &Cursor, now: MonotonicNs) -> u64 {
        let due = self.due.get_or_insert_with(|| cursor.clone());
        if self.due_passed < self.started {
            // No arrival has waited since the last count, so both cursors are at the same position again.
            *due = cursor.clone();
            self.due_passed = self.started;
        }
        while due.next().is_some_and(|arrival| arrival.planned <= now) {
            due.advance();
            self.due_passed += 1;
        }
        self.due_passed - self.started
    }

    /// Drops all arrivals due at `at` or later.
    pub fn stop(&mut self, at: MonotonicNs) {
        if let Some(due) = &mut self.due {
            due.stop(at);
        }
    }
}

/// The slots of a thread: all virtual users of a closed loop; initially none in an open one.
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
