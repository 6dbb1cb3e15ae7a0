//! Arrivals by the clock: the planned instant of each iteration, as a pure function of its number.
//!
//! Let `A(t)` be the area under the rate from the start of the window to `t`. Uniform: arrival `i` is planned for the instant at which `A`
//! reaches `i`. Poisson: for the instant at which `A` reaches the sum of `i` exponential gaps with mean 1. (Stretching the time of a
//! process of rate 1 by `A` gives a process of the required rate.) The warm-up is a separate process at the initial rate of the window, so
//! its length does not shift arrivals in the window.
//!
//! Threads share the arrivals: thread `k` of `n` takes every `n`-th, starting with number `k`. So the plan does not depend on the number of
//! threads.

use serde::{Deserialize, Serialize};

use super::random::Random;
use super::stages::Line;
use super::{Phase, Span};
use crate::clock::MonotonicNs;
use crate::options::Arrivals;

/// A thread's share of the arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share {
    /// Number of the thread.
    pub thread: u32,
    /// Number of threads.
    pub threads: u32,
}

impl Share {
    /// Everything belongs to one thread.
    pub const ALL: Share = Share { thread: 0, threads: 1 };

    /// How many of `total` belong to the thread.
    pub fn of(self, total: u32) -> u32 {
        total / self.threads + u32::from(self.thread < total % self.threads)
    }

    /// Converts the number `own` within this thread to the number in the whole run.
    pub fn number(self, own: u32) -> u32 {
        own * self.threads + self.thread
    }
}

/// A position in the sequence of a thread's arrivals. A copy is a second position in the same sequence, so waiting arrivals need no queue
/// in memory.
#[derive(Debug, Clone)]
pub(crate) struct Cursor {
    line: Line,
    arrivals: Arrivals,
    share: Share,
    span: Span,
    seed: u64,
    process: Process,
    next: Option<Arrival>,
    /// End of a run that ends early.
    stopped: MonotonicNs,
}

/// One arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When it is planned.
    pub planned: MonotonicNs,
    /// The phase it belongs to.
    pub phase: Phase,
}

/// The process that a cursor is in, and its position there.
#[derive(Debug, Clone)]
struct Process {
    phase: Phase,
    random: Random,
    /// Number of the next arrival of any thread.
    number: u64,
    /// Number of planned arrivals; known in advance only for uniform spacing.
    planned: u64,
    /// Sum of the gaps up to the last arrival drawn.
    area: f64,
    /// Piece of the line that contains the last arrival.
    hint: usize,
}

impl Cursor {
    /// Starts at a thread's first arrival. `line` is the rate over the window, in arrivals a second.
    pub fn new(line: Line, arrivals: Arrivals, share: Share, span: Span, seed: u64) -> Cursor {
        let warm_up_s = span.window_start.since(span.start).as_secs_f64();
        let process = Process::new(Phase::WarmUp, line.start() * warm_up_s, arrivals, seed);
        let mut cursor =
            Cursor { line, arrivals, share, span, seed, process, next: None, stopped: MonotonicNs(u64::MAX) };
        cursor.advance();
        cursor
    }

    /// The next arrival, or `None` after the last.
    pub fn next(&self) -> Option<Arrival> {
        self.next
    }

    /// Moves past it.
    pub fn advance(&mut self) {
        self.next = self.find_next();
    }

    /// Drops all arrivals planned for `at` or later.
    pub fn stop(&mut self, at: MonotonicNs) {
        self.stopped = self.stopped.min(at);
        self.next = self.next.filter(|arrival| arrival.planned < at);
    }

    fn find_next(&mut self) -> Option<Arrival> {
        loop {
            let number = self.process.number;
            match self.draw() {
                Some(planned) if planned >= self.stopped => return None,
                Some(planned) if number % u64::from(self.share.threads) == u64::from(self.share.thread) => {
                    return Some(Arrival { planned, phase: self.process.phase });
                }
                Some(_) => {}
                None if self.process.phase == Phase::WarmUp => {
                    self.process = Process::new(Phase::Measure, self.line.area(), self.arrivals, self.seed);
                }
                None => return None,
            }
        }
    }

    /// The next arrival of the process, for any thread.
    fn draw(&mut self) -> Option<MonotonicNs> {
        let process = &mut self.process;
        let area = match self.arrivals {
            Arrivals::Uniform if process.number >= process.planned => return None,
            Arrivals::Uniform => process.number as f64,
            Arrivals::Poisson => {
                process.area += process.random.exponential();
                process.area
            }
        };
        process.number += 1;
        let (origin, end) = match process.phase {
            Phase::WarmUp => (self.span.start, self.span.window_start),
            Phase::Measure => (self.span.window_start, self.span.window_end),
        };
        let after_s = match process.phase {
            Phase::WarmUp if self.line.start() > 0.0 => area / self.line.start(),
            Phase::WarmUp => return None,
            Phase::Measure => self.line.reaches(area, &mut process.hint)?,
        };
        let planned = MonotonicNs(origin.0 + (after_s * 1e9).round() as u64);
        // Only rounding can move a uniform arrival to the border. It belongs inside, because the plan counted it.
        let last = MonotonicNs(end.0.saturating_sub(1));
        match self.arrivals {
            Arrivals::Uniform => Some(planned.min(last)),
            Arrivals::Poisson => (planned < end).then_some(planned),
        }
    }
}

impl Process {
    fn new(phase: Phase, area: f64, arrivals: Arrivals, seed: u64) -> Process {
        // The product of a rate and a time may be slightly above a whole number in binary.
        let planned = (area - 1e-9 * area.max(1.0)).ceil().max(0.0) as u64;
        // Not a stream per thread: all threads must draw the same arrivals to share them.
        let random = Random::new(seed, 1 + phase as u64, 0);
        let planned = if arrivals == Arrivals::Uniform { planned } else { u64::MAX };
        Process { phase, random, number: 0, planned, area: 0.0, hint: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::options::Stage;

    const START: MonotonicNs = MonotonicNs(5_000_000_000);

    fn span(warm_up_ms: u64, window_ms: u64) -> Span {
        Span::new(START, Duration::from_millis(warm_up_ms), Duration::from_millis(window_ms))
    }

    fn all(mut cursor: Cursor) -> Vec<Arrival> {
        std::iter::from_fn(|| {
            let next = cursor.next();
            cursor.advance();
            next
        })
        .collect()
    }

    fn constant(rate: f64, arrivals: Arrivals, share: Share, span: Span) -> Vec<Arrival> {
        let line = Line::constant(rate, span.window().as_secs_f64());
        all(Cursor::new(line, arrivals, share, span, 42))
    }

    fn offsets_ms(arrivals: &[Arrival], origin: MonotonicNs) -> Vec<f64> {
        arrivals.iter().map(|arrival| arrival.planned.since(origin).as_secs_f64() * 1e3).collect()
    }

    #[test]
    fn even_arrivals_are_a_fixed_time_apart_and_exactly_as_many_as_offered() {
        let arrivals = constant(4.0, Arrivals::Uniform, Share::ALL, span(0, 2_000));
        assert_eq!(offsets_ms(&arrivals, START), [0.0, 250.0, 500.0, 750.0, 1000.0, 1250.0, 1500.0, 1750.0]);
        for (rate, seconds) in [(2_000.0, 16), (3.0, 10), (333.3, 30), (49_999.0, 1), (0.1, 60), (7.0, 1)] {
            let count = constant(rate, Arrivals::Uniform, Share::ALL, span(0, seconds * 1_000)).len();
            assert_eq!(count, (rate * seconds as f64).ceil() as usize, "{rate} for {seconds} s");
        }
    }

    #[test]
    fn the_warm_up_shifts_nothing_in_the_window() {
        let arrivals = constant(3.0, Arrivals::Uniform, Share::ALL, span(500, 1_000));
        let (warm_up, window): (Vec<_>, Vec<_>) = arrivals.into_iter().partition(|a| a.phase == Phase::WarmUp);
        assert_eq!(warm_up.len(), 2);
        let without = constant(3.0, Arrivals::Uniform, Share::ALL, span(0, 1_000));
        assert_eq!(offsets_ms(&window, span(500, 1_000).window_start), offsets_ms(&without, START));
    }

    #[test]
    fn a_ramp_comes_ever_faster() {
        let span = span(0, 2_000);
        let line = Line::new(0.0, &[Stage { duration: span.window(), target: 8.0 }]);
        let arrivals = offsets_ms(&all(Cursor::new(line, Arrivals::Uniform, Share::ALL, span, 0)), START);
        // The area 2 t^2 reaches i at sqrt(i/2).
        let expected: Vec<f64> = (0..8).map(|i| (f64::from(i) / 2.0).sqrt() * 1e3).collect();
        assert_eq!(arrivals.len(), 8);
        assert!(arrivals.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5), "{arrivals:?} {expected:?}");
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_gaps_of_their_process() {
        let arrivals = offsets_ms(&constant(1_000.0, Arrivals::Poisson, Share::ALL, span(0, 100_000)), START);
        let n = arrivals.len() as f64;
        // The standard deviation of the count is its square root.
        assert!((n - 100_000.0).abs() < 4.0 * 100_000f64.sqrt(), "{n}");
        let gaps: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
        assert!((longer - (-1.0f64).exp()).abs() < 0.01, "{longer}");
    }

    #[test]
    fn a_stop_leaves_what_was_planned_before_it() {
        let line = Line::constant(10.0, 10.0);
        let mut cursor = Cursor::new(line, Arrivals::Uniform, Share::ALL, span(0, 10_000), 0);
        cursor.stop(START + Duration::from_millis(350));
        assert_eq!(offsets_ms(&all(cursor), START), [0.0, 100.0, 200.0, 300.0]);
    }

    proptest! {
        #[test]
        fn threads_share_one_plan(
            rate in 0.5f64..500.0,
            target in 0.0f64..500.0,
            threads in 1u32..7,
            poisson: bool,
            warm_up_ms in 0u64..2_000,
            seed: u64,
        ) {
            let span = span(warm_up_ms, 3_000);
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Uniform };
            let line = Line::new(rate, &[Stage { duration: span.window(), target }]);
            let of = |share| all(Cursor::new(line.clone(), arrivals, share, span, seed));
            let whole = of(Share::ALL);
            let mut shared: Vec<Arrival> =
                (0..threads).flat_map(|thread| of(Share { thread, threads })).collect();
            shared.sort_by_key(|arrival| arrival.planned);
            prop_assert_eq!(&shared, &whole);
            prop_assert!(whole.windows(2).all(|pair| pair[0].planned <= pair[1].planned));
            let inside = |at: MonotonicNs| at >= span.start && at < span.window_end;
            let in_place = whole.iter().all(|one| inside(one.planned) && one.phase == span.phase_of(one.planned));
            prop_assert!(in_place);
        }
    }
}
