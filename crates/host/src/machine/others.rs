//! Measures for a moment how much CPU time other programs take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::programs::{Processes, busiest, busy_words};
use super::quiet::{ThisHost, WatchedHost, judge};

/// What other programs took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Others {
    /// Share of the machine's CPU time.
    pub share: f64,
    /// The busiest of them: `most of it by rustc (pid 7213, 0.98 CPUs)`.
    pub busiest: Option<String>,
}

impl Others {
    /// Measures for this long. `None` if the machine does not report CPU times.
    pub fn look(over: Duration) -> Option<Self> {
        let (mut host, processes) = (ThisHost::default(), Processes::default());
        let (before, times) = (host.reading()?, processes.cpu_times());
        host.pause(over);
        let seen = judge(&before, &host.reading()?)?;
        let programs = busiest(&times, &processes.cpu_times(), seen.over_s, std::process::id());
        Some(Self { share: seen.foreign, busiest: busy_words(&programs) })
    }
}
