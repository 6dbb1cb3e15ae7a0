//! Whether a subject gives its connections back when clients hang up: what a leak would look like an hour later.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use tolok_model::fidelity::{ANSWERED_WITHIN_S, Aborts};

use crate::run::check::started_server::StartedServer;
use crate::run::server::probe_queue::{Server, ask_at_once};
use crate::run::server::trial::TrialError;
use crate::run::stop::Stop;

/// Connecting takes microseconds.
const CONNECT: Duration = Duration::from_secs(1);
/// All of them take seconds; where they take longer than this, no more are given up.
const GIVING_UP: Duration = Duration::from_secs(60);
/// What a subject says of its pool is a number of connections, and not of anything else.
const LARGEST_POOL: u32 = 1_000;
/// The first bytes of an answer that is given up may take this long.
const FIRST_BYTES: Duration = Duration::from_secs(10);
/// Connections that are busy after the last abort are given this long to be done: a subject may read a result to its end.
const SETTLE: Duration = Duration::from_secs(30);
/// An answer after all that may take this long.
const PATIENCE: Duration = Duration::from_secs(ANSWERED_WITHIN_S);
const POLL: Duration = Duration::from_millis(20);

/// How thoroughly leaks are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Search {
    /// As many requests as show a leak that only some of them cause.
    Rare,
    /// As many as show a leak of every request, or of every kind of them, many times over: a matter of a second.
    Plain,
}

impl Search {
    /// Requests that are given up.
    fn requests(self) -> usize {
        match self {
            Self::Rare => 1_000,
            Self::Plain => 200,
        }
    }

    /// Of this many of them, one has an answer that no socket buffer holds; the others are small. Each such answer is seconds of
    /// work for a slow subject, and a connection that one of them leaves busy shows.
    fn large_in(self) -> usize {
        match self {
            Self::Rare => 20,
            Self::Plain => 100,
        }
    }
}

/// Gives up many requests, then looks whether all connections are there again.
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

/// Connections of the pool as the subject itself tells: with more processes than connections, each process has one all the same.
fn own_pool(server: &mut StartedServer) -> Option<u32> {
    let answer = server.ask("GET", "/pool", PATIENCE).ok().filter(|answer| answer.status == 200)?;
    let told: serde_json::Value = serde_json::from_slice(&answer.body).ok()?;
    u32::try_from(told.get("size")?.as_u64()?).ok().filter(|size| *size <= LARGEST_POOL)
}

/// Returns how many it were: a subject that has no connection left answers no more, and no one waits for that a thousand times.
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

/// Asks, and hangs up: at once, or when the first bytes of the answer are there. What fails is a client that is gone, too.
fn give_up(server: &mut StartedServer, rows: u32, at_once: bool) {
    let Ok(mut stream) = server.trial_box.connect(server.address, CONNECT) else { return };
    let request = format!("GET /rows?fields=40&limit={rows} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    if stream.write_all(request.as_bytes()).is_ok() && !at_once {
        let _ = stream.set_read_timeout(Some(FIRST_BYTES));
        let _ = stream.read(&mut [0; 64]);
    }
}

/// Connections, and those of them that are busy, when that has come to rest, or `None` if they cannot be read.
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

/// Connections, and those of them that are busy. A server of the user's own has connections of others, too, so they are not read.
fn connections(server: &mut StartedServer) -> Option<(u64, u64)> {
    server.database.as_mut().filter(|database| !database.is_external())?.connections_now()
}
