//! The outcomes of the requests of each part of a mix, or of a kind of clients. Absent in a run without them.

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;
use crate::histogram::Durations;
use crate::options::{Options, parts};
use crate::record::PartRecord;

/// The part of a request that belongs to no part.
pub(crate) const NO_PART: u16 = u16::MAX;

/// One part: its requests of the window, including those that ended after it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(super) sent: u64,
    pub(super) failed: u64,
    pub(super) response: Durations,
    /// Waiting times of requests that had no outcome when the run ended. Most parts have none.
    unanswered: Option<Box<Durations>>,
}

impl Part {
    pub fn new() -> Part {
        Part { sent: 0, failed: 0, response: Durations::new(), unanswered: None }
    }

    pub fn sent(&mut self) {
        self.sent += 1;
    }

    pub fn good(&mut self, took_ns: u64) {
        self.response.record(took_ns);
    }

    pub fn failed(&mut self) {
        self.failed += 1;
    }

    pub fn abandoned(&mut self, intended: MonotonicNs, at: MonotonicNs) {
        self.unanswered.get_or_insert_with(|| Box::new(Durations::new())).record(at.ns_since(intended));
    }

    /// Adds what another thread has recorded for the same part.
    pub fn add(&mut self, other: Part) {
        self.sent += other.sent;
        self.failed += other.failed;
        self.response.add(&other.response);
        if let Some(unanswered) = other.unanswered {
            self.unanswered.get_or_insert_with(|| Box::new(Durations::new())).add(&unanswered);
        }
    }
}

/// The parts, as a record holds them. `missing` holds the waiting times of all requests without an outcome, if some were never sent. Unsent
/// requests were not assigned to a part, so each could belong to any; every part counts them all.
pub(crate) fn records(recorded: Vec<Part>, options: &Options, missing: Option<&Durations>) -> Vec<PartRecord> {
    let weight_of = |name: &str| -> u64 {
        let own = options.requests.iter().filter(|request| request.part.as_deref() == Some(name));
        own.map(|request| u64::from(request.weight)).sum()
    };
    let weights: u64 = options.requests.iter().map(|request| u64::from(request.weight)).sum();
    let sent: u64 = recorded.iter().map(|part| part.sent).sum();
    let one = |(name, mut part): (&std::sync::Arc<str>, Part)| {
        let good = part.response.count();
        if options.executor.is_open() {
            let own = || part.unanswered.take().map_or_else(Durations::new, |unanswered| *unanswered);
            part.response.set_unanswered(missing.cloned().unwrap_or_else(own));
        }
        PartRecord {
            part: name.to_string(),
            asked_share: weight_of(name) as f64 / weights as f64,
            sent_share: (sent > 0).then(|| part.sent as f64 / sent as f64),
            sent: part.sent,
            good,
            failed: part.failed,
            response_time: part.response.summary(),
        }
    };
    parts(&options.requests).into_iter().zip(recorded).map(one).collect()
}
