//! Checks that a subject returns its connections to the pool when clients hang up. A slow leak would show only after an hour.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use tolok_model::fidelity::{ANSWERED_WITHIN_S, Aborts};

use crate::run::check::started_server::StartedServer;
use crate::run::server::probe_queue::{Server, ask_at_once};
use crate::run::server::trial::TrialError;
use crate::run::stop::Stop;

/// Connecting takes microseconds.
const CONNECT: Duration = Duration::from_secs(1);
/// All aborts together take seconds. After this long, the check makes no more.
const GIVING_UP: Duration = Duration::from_secs(60);
/// A reported pool size above this is not a number of connections.
const LARGEST_POOL: u32 = 1_000;
/// Limit for the first bytes of a response that is then aborted.
const FIRST_BYTES: Duration = Duration::from_secs(10);
/// Connections that are busy after the last abort get this long to finish: a subject may read a result to its end.
const SETTLE: Duration = Duration::from_secs(30);
/// Limit for a request that must be answered.
const PATIENCE: Duration = Duration::from_secs(ANSWERED_WITHIN_S);
const POLL: Duration = Duration::from_millis(20);

/// How thoroughly to look for leaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Search {
    /// Enough requests to show a leak that only some of them cause.
    Rare,
    /// Enough to show, many times over, a leak that every request or every kind of request causes. Takes a second.
    Plain,
}

impl Search {
    /// Requests to abort.
    fn requests(self) -> usize {
        match self {
            Self::Rare => 1_000,
            Self::Plain => 200,
        }
    }

    /// One in this many requests has a response that no socket buffer can hold; the others are small. Few large ones are enough:
    /// each costs a slow subject seconds, and even a single connection that one leaves busy shows.
    fn large_in(self) -> usize {
        match self {
            Self::Rare => 20,
            Self::Plain => 100,
        }
    }
}

/// Aborts many requests, then checks that all connections are free again.
pub(in crate::run) fn check_aborts(
    server: &mut StartedServer,
    pool: u32,
    search: Search,
    stop: &Stop,
) -> Result<Aborts, TrialError> {
    let pool = pool.max(own_pool(server).unwrap_or_default());
    let connections_before = connections(server).map(|(connections, _)| connections);
    let aborted = give_up_many(server, search, stop);
    let (connections_after, busy_after) = settled(server, pool, stop).unzip();
    let asked_after = 4 * pool as usize;
    let question = |number: usize| ("GET".to_owned(), format!("/query?id={}", number + 1));
    let asked = Server { address: server.address, speech: server.speech, stop };
    let answers = ask_at_once(&mut server.trial_box, asked, (asked_after, pool as usize), PATIENCE, &question)?;
    let answered_after = answers.iter().flatten().filter(|answer| answer.status == 200).count();
    Ok(Aborts { aborted, pool, connections_before, connections_after, busy_after, asked_after, answered_after })
}

/// The pool size that the subject reports. With more processes than connections, each process still has one.
fn own_pool(server: &mut StartedServer) -> Option<u32> {
    let answer = server.ask("GET", "/pool", PATIENCE).ok().filter(|answer| answer.status == 200)?;
    let told: serde_json::Value = serde_json::from_slice(&answer.body).ok()?;
    u32::try_from(told.get("size")?.as_u64()?).ok().filter(|size| *size <= LARGEST_POOL)
}

/// Returns how many requests it aborted. A subject without free connections answers no more, so a deadline bounds the wait.
fn give_up_many(server: &mut StartedServer, search: Search, stop: &Stop) -> usize {
    let requests = search.requests();
    let deadline = Instant::now() + GIVING_UP;
    for number in 0..requests {
        if stop.is_immediate() || Instant::now() > deadline {
            return number;
        }
        let rows = if number % search.large_in() == 0 { 10_000 } else { 100 };
        give_up(server, rows, number % 3 == 0);
    }
    requests
}

/// Sends a request and hangs up, at once or after the first bytes of the response. Errors are ignored: the client is gone either way.
fn give_up(server: &mut StartedServer, rows: u32, at_once: bool) {
    let Ok(mut stream) = server.trial_box.connect(server.address, CONNECT) else { return };
    let request = format!("GET /rows?fields=40&limit={rows} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    if stream.write_all(request.as_bytes()).is_ok() && !at_once {
        let _ = stream.set_read_timeout(Some(FIRST_BYTES));
        let _ = stream.read(&mut [0; 64]);
    }
}

/// Total and busy connections once these are at rest, or `None` if they cannot be read.
fn settled(server: &mut StartedServer, pool: u32, stop: &Stop) -> Option<(u64, u64)> {
    let deadline = Instant::now() + SETTLE;
    loop {
        let (connections, busy) = connections(server)?;
        let is_settled = busy == 0 && connections <= u64::from(pool);
        if is_settled || stop.is_immediate() || Instant::now() > deadline {
            return Some((connections, busy));
        }
        std::thread::sleep(POLL);
    }
}

/// Total and busy connections. `None` for a user's own server, which has connections of other clients too.
fn connections(server: &mut StartedServer) -> Option<(u64, u64)> {
    server.database.as_mut().filter(|database| !database.is_external())?.connections_now()
}
