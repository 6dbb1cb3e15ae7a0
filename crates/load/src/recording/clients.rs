//! Separate figures for slow and fast clients. Absent in a run with one kind of clients.

use serde::{Deserialize, Serialize};

use super::{Attempt, Part};
use crate::options::Options;
use crate::record::{ClientRecord, ClientRecords};

/// The outcomes of the requests of fast and slow clients.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Clients {
    /// Fast clients first.
    requests: [Part; 2],
    /// Correct responses inside the window, including those to requests of the warm-up.
    in_window: [u64; 2],
}

impl Default for Clients {
    fn default() -> Clients {
        Clients { requests: [Part::new(), Part::new()], in_window: [0; 2] }
    }
}

impl Clients {
    pub fn of(&mut self, attempt: &Attempt) -> &mut Part {
        &mut self.requests[usize::from(attempt.is_slow)]
    }

    pub fn answered_in_window(&mut self, attempt: &Attempt) {
        self.in_window[usize::from(attempt.is_slow)] += 1;
    }

    /// Adds what another thread has recorded.
    pub fn add(&mut self, other: Clients) {
        self.requests.iter_mut().zip(other.requests).for_each(|(sum, part)| sum.add(part));
        self.in_window.iter_mut().zip(other.in_window).for_each(|(sum, answers)| *sum += answers);
    }

    /// The figures, as a record holds them.
    pub fn records(self, options: &Options, window_s: f64) -> Option<ClientRecords> {
        let users = options.slow_users()?;
        let record = |users: u32, requests: &Part, in_window: u64| ClientRecord {
            users,
            goodput_rps: (window_s > 0.0).then(|| in_window as f64 / window_s),
            sent: requests.sent,
            good: requests.response.count(),
            failed: requests.failed,
            response_time: requests.response.summary(),
        };
        let ([fast, slow], [of_fast, of_slow]) = (&self.requests, self.in_window);
        Some(ClientRecords {
            fast: record(users.all - users.slow, fast, of_fast),
            slow: record(users.slow, slow, of_slow),
        })
    }
}
