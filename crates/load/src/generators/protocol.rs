//! The messages between a run and its generators: one line of JSON each.

use std::io::{self, BufRead, Write};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;
use crate::engine::{Border, Outcome};
use crate::options::Options;
use crate::recording::Row;
use crate::schedule::Share;

/// A message from the run. Its instants are on the generator's clock.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// The work to do; the first message.
    Work(Box<Work>),
    /// Request for the time.
    Ping,
    /// Start at this instant.
    Start { at: MonotonicNs },
    /// End the run at this instant.
    StopAt { at: MonotonicNs },
    /// Heartbeat of the run.
    Beat,
}

/// A generator's part of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub options: Options,
    /// The share of its first thread.
    pub first: Share,
    /// Its part of the iterations that all threads share.
    pub iterations: u64,
}

/// A message from a generator.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Told {
    /// Heartbeat of the generator.
    Beat,
    /// The target is reachable.
    Ready { congestion_control: Option<String> },
    /// The generator cannot do its work.
    Failed(String),
    /// The time on the generator's clock.
    Pong { at: MonotonicNs },
    /// A second of a thread is over.
    Row { thread: u32, row: Box<Row> },
    /// A thread passed a border of the window.
    Border { thread: u32, border: Border },
    /// A thread has ended.
    Ended { thread: u32, outcome: Box<Outcome> },
}

/// The sending side of a connection, shared by threads.
#[derive(Debug)]
pub(super) struct Voice(Mutex<TcpStream>);

impl Voice {
    pub fn of(socket: &TcpStream) -> io::Result<Voice> {
        // Messages measure the clock offset, so they must not be delayed.
        socket.set_nodelay(true)?;
        Ok(Voice(Mutex::new(socket.try_clone()?)))
    }

    /// Sends the whole message. A lost peer is detected by its silence, so errors are ignored.
    pub fn say(&self, word: &impl Serialize) {
        let mut line = serde_json::to_vec(word).unwrap_or_default();
        line.push(b'\n');
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
    }
}

/// The next message, or why there is none.
pub(super) fn next<T: DeserializeOwned>(words: &mut impl BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    if words.read_until(b'\n', &mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&line).map_err(io::Error::from)
}
