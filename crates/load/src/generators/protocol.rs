//! What a run and its generators say to each other: a line of JSON each.

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

/// What the run says. Instants are those of the generator's clock.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// What there is to do. It comes first.
    Work(Box<Work>),
    /// What time is it?
    Ping,
    /// Begin then.
    Start { at: MonotonicNs },
    /// End the run then.
    StopAt { at: MonotonicNs },
    /// The run is there.
    Beat,
}

/// A generator's part of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Work {
    pub options: Options,
    /// The share of its first thread.
    pub first: Share,
    /// Iterations that its threads share.
    pub iterations: u64,
}

/// What a generator says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Told {
    /// The generator is there.
    Beat,
    /// It reaches the target.
    Ready { congestion_control: Option<String> },
    /// It cannot do its work.
    Failed(String),
    /// What time it is there.
    Pong { at: MonotonicNs },
    /// A second of a thread is over.
    Row { thread: u32, row: Box<Row> },
    /// A thread passed a border of the window.
    Border { thread: u32, border: Border },
    /// A thread has come to its end.
    Ended { thread: u32, outcome: Box<Outcome> },
}

/// The sending side of a connection. Threads share it.
#[derive(Debug)]
pub(super) struct Voice(Mutex<TcpStream>);

impl Voice {
    pub fn of(socket: &TcpStream) -> io::Result<Voice> {
        // A word says what time it is.
        socket.set_nodelay(true)?;
        Ok(Voice(Mutex::new(socket.try_clone()?)))
    }

    /// Says it as a whole. Whether the other side is still there, its silence tells.
    pub fn say(&self, word: &impl Serialize) {
        let mut line = serde_json::to_vec(word).unwrap_or_default();
        line.push(b'\n');
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line);
    }
}

/// The next word, or why there is none.
pub(super) fn next<T: DeserializeOwned>(words: &mut impl BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    if words.read_until(b'\n', &mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&line).map_err(io::Error::from)
}
