//! When requests start. Pure: it takes and returns instants, and uses neither sockets nor histograms.
//!
//! The engine has one loop for all executors. In a closed loop, a free virtual user requests its next [`Turn`] and gets the *planned*
//! instant of its next iteration. In an open loop, planned instants follow the clock even if no connection is free. A request whose planned
//! instant has passed has waited, and its response time starts at that instant.

mod arrivals;
mod mix;
mod random;
mod rows;
mod stages;
mod users;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;
use crate::options::{Executor, Options};
pub(crate) use arrivals::{Arrival, Cursor, Share};
pub(crate) use mix::Steps;
pub(crate) use rows::RowPicker;
use stages::Line;
pub(crate) use users::Users;

/// Part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Requests are sent and shown, but not counted.
    #[serde(rename = "warmup")]
    WarmUp,
    /// Requests count.
    #[serde(rename = "measure")]
    Measure,
}

/// The instants that separate the phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The first request may start.
    pub start: MonotonicNs,
    /// The window begins; equal to `start` without a warm-up.
    pub window_start: MonotonicNs,
    /// The window ends; no request starts at or after this instant.
    pub window_end: MonotonicNs,
}

impl Span {
    /// A run that starts at `start`.
    pub fn new(start: MonotonicNs, warm_up: Duration, window: Duration) -> Span {
        let window_start = start + warm_up;
        Span { start, window_start, window_end: window_start + window }
    }

    /// The same run, ended early.
    pub fn cut_at(self, at: MonotonicNs) -> Span {
        Span { window_start: self.window_start.min(at), window_end: self.window_end.min(at), ..self }
    }

    /// The phase of a request, by its intended start.
    pub fn phase_of(&self, intended: MonotonicNs) -> Phase {
        if intended < self.window_start { Phase::WarmUp } else { Phase::Measure }
    }

    /// Length of the window.
    pub fn window(&self) -> Duration {
        self.window_end.since(self.window_start)
    }
}

/// What a virtual user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Start an iteration planned for this instant, which may be in the future.
    SendAt(MonotonicNs),
    /// No more iterations.
    Done,
}

/// A thread's part of the plan.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// Virtual users request their turns: a slow answer delays the next request.
    Closed(Users),
    /// Arrivals come by the clock.
    Open(Cursor),
}

impl Schedule {
    /// A thread's share of the plan of `options` over `span`. `shared` holds the iterations that all threads share.
    pub fn new(options: &Options, span: Span, share: Share, shared: &Arc<AtomicU64>) -> Schedule {
        let seconds = span.window().as_secs_f64();
        let open = |line, arrivals| Schedule::Open(Cursor::new(line, arrivals, share, span, options.seed));
        match &options.executor {
            Executor::ConstantArrivalRate { rate_rps, arrivals, .. } => {
                open(Line::constant(*rate_rps, seconds), *arrivals)
            }
            Executor::RampingArrivalRate { start_rate_rps, stages, arrivals } => {
                open(Line::new(*start_rate_rps, stages), *arrivals)
            }
            closed => {
                let think_time = options.think_time;
                Schedule::Closed(Users::new(closed, think_time, share, span, Arc::clone(shared), options.seed))
            }
        }
    }

    /// Ends the run at `at`, unless it ends earlier.
    pub fn stop(&mut self, at: MonotonicNs) {
        match self {
            Schedule::Closed(users) => users.stop(at),
            Schedule::Open(cursor) => cursor.stop(at),
        }
    }
}

/// The planned instants of all arrivals in a window that begins at `start`, for all threads; empty in a closed loop. Pure: with the known
/// behaviour of a target, a caller can compute how long its users waited.
pub fn planned_arrivals(options: &Options, start: MonotonicNs) -> Vec<MonotonicNs> {
    let span = Span::new(start, Duration::ZERO, options.executor.window());
    let Schedule::Open(mut cursor) = Schedule::new(options, span, Share::ALL, &Arc::default()) else {
        return Vec::new();
    };
    std::iter::from_fn(|| {
        let next = cursor.next();
        cursor.advance();
        next.map(|arrival| arrival.planned)
    })
    .collect()
}

/// The pause after a connection that ended without an answer. It spares a dead target and keeps the engine from spinning. 10 ms, doubling
/// up to 1 s; the first answer resets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backoff {
    deaths: u32,
}

impl Backoff {
    /// First pause.
    pub const FIRST: Duration = Duration::from_millis(10);
    /// Longest pause.
    pub const LONGEST: Duration = Duration::from_secs(1);

    /// Records that a connection ended without an answer. Returns how long to wait before the next one.
    pub fn after_death(&mut self) -> Duration {
        // Seven doublings exceed the longest pause; the cap on the exponent prevents overflow.
        let pause = Backoff::FIRST * 2u32.pow(self.deaths.min(7));
        self.deaths = self.deaths.saturating_add(1);
        pause.min(Backoff::LONGEST)
    }

    /// Resets the pause after an answer.
    pub fn reset(&mut self) {
        self.deaths = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn span() -> Span {
        Span::new(MonotonicNs(1_000), SECOND * 2, SECOND * 10)
    }

    #[test]
    fn phases_are_cut_at_the_nanosecond() {
        let span = span();
        assert_eq!(span.phase_of(MonotonicNs(span.window_start.0 - 1)), Phase::WarmUp);
        assert_eq!(span.phase_of(span.window_start), Phase::Measure);
        assert_eq!(span.window(), SECOND * 10);
    }

    #[test]
    fn a_stop_shortens_the_window_and_never_lengthens_it() {
        let stop = span().window_start + SECOND * 3;
        assert_eq!(span().cut_at(stop).cut_at(stop + SECOND).window(), SECOND * 3);
    }

    #[test]
    fn a_stop_inside_the_warm_up_leaves_an_empty_window() {
        let cut = span().cut_at(span().start + SECOND);
        assert_eq!((cut.window(), cut.window_start), (Duration::ZERO, span().start + SECOND));
    }

    #[test]
    fn threads_divide_what_there_is_evenly() {
        let shares =
            |threads, total| (0..threads).map(|thread| Share { thread, threads }.of(total)).collect::<Vec<_>>();
        assert_eq!(shares(3, 8), [3, 3, 2]);
        assert_eq!(shares(4, 2), [1, 1, 0, 0]);
        assert_eq!(Share { thread: 2, threads: 3 }.number(1), 5);
    }

    #[test]
    fn pauses_double_up_to_a_second_and_end_with_an_answer() {
        let mut backoff = Backoff::default();
        let pauses: Vec<u128> = (0..9).map(|_| backoff.after_death().as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        backoff.reset();
        assert_eq!(backoff.after_death(), Backoff::FIRST);
    }
}
