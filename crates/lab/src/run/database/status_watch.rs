//! Reads the status of a trial's database repeatedly, in a thread of its own, because answers are slow under load.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tolok_load::clock::{Clock, MonotonicNs, SystemClock};

use crate::database::{Client, DatabaseError, StatusReading};
use crate::run::stop::Stop;

/// How often the server's counters are read.
const EVERY: Duration = Duration::from_millis(250);
/// A server that does not answer within this time does not answer its clients either.
const STATUS_LIMIT: Duration = Duration::from_secs(10);

/// Status readings, and when each was taken.
pub(in crate::run) type Readings = Vec<(MonotonicNs, StatusReading)>;

/// The result of a watch: all readings, and the client or, in words, why the server no longer answers.
pub(in crate::run) struct Watched {
    pub(in crate::run) readings: Readings,
    pub(in crate::run) client: Result<Client, String>,
}

/// The watch. Dropping it joins its thread.
#[derive(Debug)]
pub(in crate::run) struct StatusWatch {
    looks: Option<Sender<()>>,
    is_wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<Watched>>,
}

impl StatusWatch {
    pub(in crate::run) fn begin(client: Client, stop: &Stop) -> Self {
        let (looks, asked) = channel();
        let is_wanted = Arc::new(AtomicBool::new(true));
        let (wanted, stop) = (Arc::clone(&is_wanted), stop.clone());
        let thread = std::thread::Builder::new()
            .spawn(move || watch(client, &asked, &|| wanted.load(Ordering::Relaxed) && !stop.is_immediate()));
        Self { looks: Some(looks), is_wanted, thread: thread.ok() }
    }

    /// Requests a reading now, before the next is due.
    pub(in crate::run) fn look(&self) {
        // If the server is gone, the thread has ended and this has no effect.
        let _ = self.looks.as_ref().map(|looks| looks.send(()));
    }

    /// Whether the server no longer answers.
    pub(in crate::run) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Takes a last reading, and ends.
    pub(in crate::run) fn end(mut self) -> Watched {
        self.looks = None;
        let watched = self.thread.take().and_then(|thread| thread.join().ok());
        watched.unwrap_or_else(|| Watched { readings: Readings::new(), client: Err("the watch broke off".to_owned()) })
    }
}

impl Drop for StatusWatch {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        self.looks = None;
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn watch(mut client: Client, asked: &Receiver<()>, is_wanted: &dyn Fn() -> bool) -> Watched {
    let mut readings = Readings::new();
    let mut is_last = false;
    loop {
        match status(&mut client, is_wanted) {
            Ok(status) => readings.push((SystemClock.now(), status)),
            Err(why) => return Watched { readings, client: Err(why) },
        }
        if is_last {
            return Watched { readings, client: Ok(client) };
        }
        // The last reading must come after all refused connections.
        is_last = asked.recv_timeout(EVERY) == Err(RecvTimeoutError::Disconnected);
    }
}

/// The current status of the server, or in words why it does not answer.
pub(in crate::run) fn status(client: &mut Client, is_wanted: &dyn Fn() -> bool) -> Result<StatusReading, String> {
    client.status_while(STATUS_LIMIT, is_wanted).map_err(|error| match error {
        DatabaseError::TimedOut { .. } => {
            format!("the database does not answer: not even the lab's question for its status within {STATUS_LIMIT:?}")
        }
        other => other.to_string(),
    })
}
