//! When requests start. Pure: it takes instants and returns instants, and knows neither sockets nor histograms.
//!
//! The engine has one loop for every executor. Whenever a virtual user is free it asks for its next [`Turn`], and is told
//! the *planned* instant of its next request. In the closed loop that is the moment the user became free. An executor
//! with arrivals by the clock hands out `start + n / rate` instead: an instant in the past is a request that had to queue
//! (its response time runs from there), one in the future is waited for. So nothing here or in the loop needs to change
//! for them but one more arm in [`Schedule::turn`].

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::MonotonicNs;
use crate::options::Executor;

/// Part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Requests are sent, shown and discarded.
    #[serde(rename = "warmup")]
    WarmUp,
    /// Requests count.
    #[serde(rename = "measure")]
    Measure,
}

/// The instants that cut a run into its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first request may start.
    pub start: MonotonicNs,
    /// The window begins; equal to `start` without a warm-up.
    pub window_start: MonotonicNs,
    /// The window ends; no request starts from here on.
    pub window_end: MonotonicNs,
}

impl Span {
    /// A run that starts at `start`.
    pub fn new(start: MonotonicNs, warm_up: Duration, window: Duration) -> Span {
        let window_start = start + warm_up;
        Span { start, window_start, window_end: window_start + window }
    }

    /// The same run ended early.
    pub fn cut_at(self, at: MonotonicNs) -> Span {
        Span { window_start: self.window_start.min(at), window_end: self.window_end.min(at), ..self }
    }

    /// The phase a request belongs to by the instant at which it was meant to start.
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
pub enum Turn {
    /// Send a request that is planned for this instant, now or later.
    SendAt(MonotonicNs),
    /// Nothing any more.
    Done,
}

/// The plan of one run.
#[derive(Debug, Clone)]
pub struct Schedule {
    executor: Executor,
    span: Span,
}

impl Schedule {
    /// The schedule of an executor over a span.
    pub fn new(executor: Executor, span: Span) -> Schedule {
        Schedule { executor, span }
    }

    /// The phases in force.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Number of virtual users that ask for turns.
    pub fn users(&self) -> u32 {
        self.executor.vus()
    }

    /// The next turn of a virtual user that is free from `free_at` on.
    pub fn turn(&mut self, free_at: MonotonicNs) -> Turn {
        let planned = match self.executor {
            Executor::ConstantVus { .. } => free_at.max(self.span.start),
        };
        if self.is_over(planned) { Turn::Done } else { Turn::SendAt(planned) }
    }

    /// Whether no request may start at `at` any more.
    pub fn is_over(&self, at: MonotonicNs) -> bool {
        at >= self.span.window_end
    }

    /// Ends the run at `at`, if it was to go on longer.
    pub fn stop(&mut self, at: MonotonicNs) {
        self.span = self.span.cut_at(at);
    }
}

/// The pause after connections that died without having brought one answer, so that a dead target is not hammered and the
/// engine does not spin: 10 ms, doubling to 1 s, gone with the first answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backoff {
    deaths: u32,
}

impl Backoff {
    /// First pause.
    pub const FIRST: Duration = Duration::from_millis(10);
    /// Longest pause.
    pub const LONGEST: Duration = Duration::from_secs(1);

    /// A connection died without an answer: how long to wait before the next one.
    pub fn after_death(&mut self) -> Duration {
        // Seven doublings exceed the longest pause, so the exponent is bounded and cannot overflow.
        let pause = Backoff::FIRST * 2u32.pow(self.deaths.min(7));
        self.deaths = self.deaths.saturating_add(1);
        pause.min(Backoff::LONGEST)
    }

    /// An answer came.
    pub fn reset(&mut self) {
        self.deaths = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, ManualClock};

    const SECOND: Duration = Duration::from_secs(1);

    fn two_users_for_ten_seconds_after_two() -> Schedule {
        let span = Span::new(MonotonicNs(1_000), SECOND * 2, SECOND * 10);
        Schedule::new(Executor::ConstantVus { vus: 2, duration: SECOND * 10 }, span)
    }

    #[test]
    fn in_the_closed_loop_a_request_is_meant_for_the_moment_its_user_is_free() {
        let mut schedule = two_users_for_ten_seconds_after_two();
        let clock = ManualClock::at(schedule.span().start);
        for _ in 0..3 {
            assert_eq!(schedule.turn(clock.now()), Turn::SendAt(clock.now()));
            clock.advance(SECOND);
        }
    }

    #[test]
    fn a_user_that_pauses_is_told_the_end_of_its_pause() {
        let mut schedule = two_users_for_ten_seconds_after_two();
        let free_at = schedule.span().start + Backoff::FIRST;
        assert_eq!(schedule.turn(free_at), Turn::SendAt(free_at));
    }

    #[test]
    fn no_request_starts_at_the_end_of_the_window_or_later() {
        let mut schedule = two_users_for_ten_seconds_after_two();
        let end = schedule.span().window_end;
        assert_eq!(schedule.turn(MonotonicNs(end.0 - 1)), Turn::SendAt(MonotonicNs(end.0 - 1)));
        assert_eq!(schedule.turn(end), Turn::Done);
        assert_eq!(schedule.turn(end + SECOND), Turn::Done);
    }

    #[test]
    fn phases_are_cut_at_the_nanosecond() {
        let span = two_users_for_ten_seconds_after_two().span();
        assert_eq!(span.phase_of(MonotonicNs(span.window_start.0 - 1)), Phase::WarmUp);
        assert_eq!(span.phase_of(span.window_start), Phase::Measure);
        assert_eq!(span.window(), SECOND * 10);
    }

    #[test]
    fn a_stop_shortens_the_window_and_never_lengthens_it() {
        let mut schedule = two_users_for_ten_seconds_after_two();
        let stop = schedule.span().window_start + SECOND * 3;
        schedule.stop(stop);
        schedule.stop(stop + SECOND);
        assert_eq!(schedule.span().window(), SECOND * 3);
        assert_eq!(schedule.turn(stop), Turn::Done);
    }

    #[test]
    fn a_stop_inside_the_warm_up_leaves_an_empty_window() {
        let mut schedule = two_users_for_ten_seconds_after_two();
        schedule.stop(schedule.span().start + SECOND);
        assert_eq!(schedule.span().window(), Duration::ZERO);
        assert_eq!(schedule.span().window_start, schedule.span().start + SECOND);
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
