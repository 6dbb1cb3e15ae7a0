//! What a subject reports of its database connection pool, at the borders of the window.

use std::thread::JoinHandle;
use std::time::Duration;

use serde::Deserialize;
use tolok_model::PoolWindow;

use crate::run::server::probe_queue::Asker;
use crate::subject::{Answer, ProbeError};

/// The path at which subjects report it, if they do.
const PATH: &str = "/pool";
/// A busy subject queues this request like any other.
const PATIENCE: Duration = Duration::from_secs(20);

/// A subject's report; totals since its start.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct PoolReading {
    size: Option<u32>,
    waits: Option<u64>,
    wait_s: Option<f64>,
}

/// A request whose answer is awaited later.
#[derive(Debug)]
pub(in crate::run) struct Pending(Option<JoinHandle<Option<PoolReading>>>);

/// Sends the request in a thread of its own.
pub(in crate::run) fn ask_for_pool(asker: &Asker) -> Pending {
    let asker = asker.clone();
    Pending(std::thread::Builder::new().spawn(move || reading(asker.ask("GET", PATH, PATIENCE))).ok())
}

impl Pending {
    fn reading(self) -> Option<PoolReading> {
        self.0?.join().ok().flatten()
    }

    /// Whether the answer has arrived or failed.
    pub(in crate::run) fn is_over(&self) -> bool {
        self.0.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

/// The difference of two reports. `None` if the subject reports nothing, or if a total went back: in a subject of several processes,
/// each reports only itself, so another process answered. `size` is the study's pool size, used if the subject does not report one.
pub(in crate::run) fn pool_window(first: Pending, last: Pending, size: u32) -> Option<PoolWindow> {
    between(first.reading()?, last.reading()?, size)
}

fn between(first: PoolReading, last: PoolReading, size: u32) -> Option<PoolWindow> {
    let waits = last.waits.zip(first.waits).and_then(|(last, first)| last.checked_sub(first));
    let wait_s = last.wait_s.zip(first.wait_s).map(|(last, first)| last - first).filter(|wait_s| *wait_s >= 0.0);
    Some(PoolWindow { size: last.size.unwrap_or(size), waits, wait_s })
}

fn reading(answer: Result<Answer, ProbeError>) -> Option<PoolReading> {
    let answer = answer.ok().filter(|answer| answer.status == 200)?;
    serde_json::from_slice(&answer.body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(body: &str) -> Option<PoolReading> {
        reading(Ok(Answer { status: 200, headers: Vec::new(), body: body.as_bytes().to_vec() }))
    }

    #[test]
    fn a_window_is_what_lies_between_two_readings() {
        let first = told(r#"{"size":16,"in_use":3,"waiting":0,"waits":100,"wait_s":0.5}"#).unwrap();
        let last = told(r#"{"size":16,"in_use":16,"waiting":7,"waits":160,"wait_s":1.25}"#).unwrap();
        assert_eq!(
            between(last, first, 9),
            Some(PoolWindow { size: 16, waits: None, wait_s: None }),
            "another process"
        );
        assert_eq!(between(first, last, 9), Some(PoolWindow { size: 16, waits: Some(60), wait_s: Some(0.75) }));
    }

    #[test]
    fn what_a_driver_cannot_tell_stays_unknown() {
        let silent = told(r#"{"size":null,"in_use":null,"waiting":null,"waits":null,"wait_s":null}"#).unwrap();
        assert_eq!(between(silent, silent, 16), Some(PoolWindow { size: 16, waits: None, wait_s: None }));
        assert_eq!(told("not found"), None);
        assert_eq!(reading(Ok(Answer { status: 404, headers: Vec::new(), body: b"{}".to_vec() })), None);
    }
}
