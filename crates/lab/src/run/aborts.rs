//! Whether a subject gives its connections back when clients hang up: what a leak would look like an hour later.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::questions::ask_at_once;
use super::serve::Served;

/// Requests that are given up, most of them small and some with an answer that no socket's buffer holds.
const SMALL: usize = 950;
const LARGE: usize = 50;
/// Connecting takes microseconds.
const CONNECT: Duration = Duration::from_secs(1);
/// The first bytes of an answer that is given up may take this long.
const FIRST_BYTES: Duration = Duration::from_secs(10);
/// Connections that are busy after the last abort are given this long to be done: a subject may read a result to its end.
const SETTLE: Duration = Duration::from_secs(30);
/// An answer after all that may take this long.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);

/// What was found after many clients had hung up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Aborts {
    /// Requests that were given up.
    pub aborted: usize,
    /// Connections to the database that the subject may have.
    pub pool: u32,
    /// Connections that it has afterwards, as the database counts them; nothing if that could not be asked.
    pub connections_after: Option<u64>,
    /// Of these, those that were still busy half a minute later.
    pub busy_after: Option<u64>,
    /// Questions that were asked afterwards, as many at once as the pool has connections.
    pub asked_after: usize,
    /// Those of them that were answered well.
    pub answered_after: usize,
}

impl Aborts {
    /// What is wrong with it, a sentence each.
    pub fn differences(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let aborted = self.aborted;
        if let Some(connections) = self.connections_after.filter(|connections| *connections > u64::from(self.pool)) {
            let pool = self.pool;
            wrong.push(format!(
                "after {aborted} aborted requests it has {connections} connections, and may have {pool}"
            ));
        }
        if let Some(busy) = self.busy_after.filter(|busy| *busy > 0) {
            wrong.push(format!("{busy} connections are still busy after {aborted} aborted requests"));
        }
        if self.answered_after < self.asked_after {
            let (answered, asked) = (self.answered_after, self.asked_after);
            wrong.push(format!("after {aborted} aborted requests it answered {answered} of {asked} questions"));
        }
        wrong
    }
}

/// Gives up many requests, then looks whether all connections are there again.
pub(super) fn check_aborts(server: &mut Served, pool: u32) -> Aborts {
    for number in 0..SMALL + LARGE {
        let rows = if number % ((SMALL + LARGE) / LARGE) == 0 { 10_000 } else { 100 };
        give_up(server, rows, number % 3 == 0);
    }
    let (connections_after, busy_after) = settled(server);
    let asked_after = 4 * pool as usize;
    let question = |number: usize| ("GET".to_owned(), format!("/query?id={}", number + 1));
    let answers = ask_at_once(&mut server.trial_box, server.address, (asked_after, pool as usize), PATIENCE, &question);
    let answered_after = answers.iter().flatten().filter(|answer| answer.status == 200).count();
    Aborts { aborted: SMALL + LARGE, pool, connections_after, busy_after, asked_after, answered_after }
}

/// Asks, and hangs up: at once, or when the first bytes of the answer are there. What fails is a client that is gone, too.
fn give_up(server: &mut Served, rows: u32, at_once: bool) {
    let Ok(mut stream) = server.trial_box.connect(server.address, CONNECT) else { return };
    let request = format!("GET /rows?fields=40&limit={rows} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    if stream.write_all(request.as_bytes()).is_ok() && !at_once {
        let _ = stream.set_read_timeout(Some(FIRST_BYTES));
        let _ = stream.read(&mut [0; 64]);
    }
}

/// Connections, and those of them that are busy, when that has come to rest.
fn settled(server: &mut Served) -> (Option<u64>, Option<u64>) {
    let Some(database) = &mut server.database else { return (None, None) };
    let deadline = Instant::now() + SETTLE;
    loop {
        let Some((connections, busy)) = database.connections_now() else { return (None, None) };
        if busy == 0 || Instant::now() > deadline {
            return (Some(connections), Some(busy));
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aborts() -> Aborts {
        let (connections_after, busy_after) = (Some(16), Some(0));
        Aborts { aborted: 1_000, pool: 16, connections_after, busy_after, asked_after: 64, answered_after: 64 }
    }

    #[test]
    fn whoever_has_all_connections_again_leaks_none() {
        assert_eq!(aborts().differences(), Vec::<String>::new());
        assert!(Aborts { connections_after: None, busy_after: None, ..aborts() }.differences().is_empty());
    }

    #[test]
    fn each_way_to_leak_is_said() {
        let leaking = Aborts { connections_after: Some(40), busy_after: Some(3), answered_after: 0, ..aborts() };
        assert_eq!(
            leaking.differences(),
            [
                "after 1000 aborted requests it has 40 connections, and may have 16",
                "3 connections are still busy after 1000 aborted requests",
                "after 1000 aborted requests it answered 0 of 64 questions",
            ]
        );
    }
}
