//! Counts responses on the wire, in the kernel where the client receives them, independently of load tool and subject.
//!
//! Two packet sockets of the client's network namespace see every packet that arrives there. Their filters pass IPv4
//! packets from the subject's port whose payload begins with `HTTP`; one also requires a status from 200 to 299
//! ([`super::wire_filter`]). The packets themselves are never read ([`super::wire_socket`]).
//!
//! A response counts when it begins, whatever its length and its number of segments. The count misses:
//!
//! - IPv6 (subjects listen on IPv4), TLS, HTTP/2;
//! - the second of two responses that begin in the same segment, as with pipelining;
//! - a response whose first four bytes come in two segments.
//!
//! It also counts interim responses (`100 Continue`, without a good status), a segment that reaches the client twice
//! because its acknowledgement was late or lost, and a segment within a body that happens to begin with `HTTP`. In the
//! machine's own network, a response over a bridge is seen at two devices.
//!
//! Each packet of the namespace costs the kernel two filter runs. With `wrk` and a small Go server, on a busy machine
//! with two CPUs, that was some 3% of the CPU time that both used for a request.
//!
//! The counters are read at every reading and interpolated at the borders of a window, like all others
//! ([`super::series`]).

use std::io;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};
use tolok_load::clock::MonotonicNs;
use tolok_model::WireCount;

use super::series::{Series, Window};
use super::wire_filter::program;
use super::wire_socket::{count, counted};

/// Counts responses while it lives. Its sockets keep the client's network namespace alive, so drop it with the trial.
#[derive(Debug)]
pub struct WireWatch {
    answers: OwnedFd,
    answers_2xx: OwnedFd,
    counts: Counts,
}

/// A reading as a line of `wire.jsonl`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WireLine {
    /// Seconds since a given origin.
    pub at_s: f64,
    /// Responses so far, of any status.
    pub answers: u64,
    /// Those with a status from 200 to 299.
    pub answers_2xx: u64,
}

impl WireWatch {
    /// Counts responses from this port from now on. The sockets must be fresh ones of the client's network namespace
    /// ([`TrialBox::packet_socket`](crate::isolate::TrialBox::packet_socket)). Call [`WireWatch::read`] at once
    /// afterwards.
    pub fn attach(answers: OwnedFd, answers_2xx: OwnedFd, port: u16) -> io::Result<Self> {
        for (socket, ok_only) in [(&answers, false), (&answers_2xx, true)] {
            count(socket, &program(port, ok_only))?;
        }
        // Resets both, because they did not begin at the same instant.
        counted(&answers_2xx)?;
        counted(&answers)?;
        Ok(Self { answers, answers_2xx, counts: Counts::default() })
    }

    /// Reads both counters. `now` must not be earlier than the last one.
    pub fn read(&mut self, now: MonotonicNs) -> io::Result<()> {
        // In this order, a response that arrives in between is not yet counted as good.
        let answers_2xx = counted(&self.answers_2xx)?;
        let answers = counted(&self.answers)?;
        self.counts.add(now, answers, answers_2xx);
        Ok(())
    }

    /// Records that nothing has arrived since the last reading until this moment, so what the next reading finds came
    /// later.
    pub fn nothing_until(&mut self, at: MonotonicNs) {
        self.counts.nothing_until(at);
    }

    /// What was counted in a window. `None` if a third of the window or more lies between a border and the nearest
    /// reading.
    pub fn window(&self, window: Window) -> Option<WireCount> {
        self.counts.window(window)
    }

    /// All readings, oldest first, with their seconds since `origin`.
    pub fn lines(&self, origin: MonotonicNs) -> Vec<WireLine> {
        self.counts.lines(origin)
    }
}

/// What was counted in a window, from lines whose times count from its beginning. `None` if the times go back.
pub fn wire_window(lines: &[WireLine], window: Window) -> Option<WireCount> {
    let mut counts = Counts::default();
    for line in lines {
        let at = i64::try_from(window.began.0).ok()?.checked_add((line.at_s * 1e9).round() as i64)?;
        let at = MonotonicNs(u64::try_from(at).ok()?);
        if counts.totals.iter().last().is_some_and(|(last, _)| *last > at) {
            return None;
        }
        counts.totals.push(at, Totals { answers: line.answers, answers_2xx: line.answers_2xx });
    }
    counts.window(window)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Totals {
    answers: u64,
    answers_2xx: u64,
}

/// The readings, without their sockets.
#[derive(Debug, Default)]
struct Counts {
    totals: Series<Totals>,
}

impl Counts {
    /// Adds what arrived since the last reading.
    fn add(&mut self, now: MonotonicNs, answers: u32, answers_2xx: u32) {
        let so_far = self.totals.last().copied().unwrap_or_default();
        let totals = Totals {
            answers: so_far.answers + u64::from(answers),
            answers_2xx: so_far.answers_2xx + u64::from(answers_2xx),
        };
        self.totals.push(now, totals);
    }

    /// Ignores a moment before the last reading, because that reading's responses can no longer be split.
    fn nothing_until(&mut self, at: MonotonicNs) {
        if self.totals.iter().last().is_some_and(|(last, _)| *last < at) {
            self.add(at, 0, 0);
        }
    }

    fn window(&self, window: Window) -> Option<WireCount> {
        let answers = self.totals.grown(window, |totals| Some(totals.answers))?;
        let answers_2xx = self.totals.grown(window, |totals| Some(totals.answers_2xx))?;
        let answers = answers.round() as u64;
        // A good response also began in the window, even if one arrived between the two counters' readings at its
        // border.
        let answers_2xx = (answers_2xx.round() as u64).min(answers);
        let window_s = window.ended.since(window.began).as_secs_f64();
        Some(WireCount { answers, answers_2xx, window_s, last_answer_s: self.last_answer_s(window) })
    }

    /// The end of the last interval between two readings that has responses and overlaps the window, or the window's
    /// end if that is earlier.
    fn last_answer_s(&self, window: Window) -> Option<f64> {
        let intervals = self.totals.iter().zip(self.totals.iter().skip(1));
        let with_answers = intervals.filter(|((began, before), (ended, after))| {
            after.answers > before.answers && *began < window.ended && *ended > window.began
        });
        let (_, (ended, _)) = with_answers.last()?;
        Some((*ended).min(window.ended).since(window.began).as_secs_f64())
    }

    fn lines(&self, origin: MonotonicNs) -> Vec<WireLine> {
        let at_s = |at: MonotonicNs| at.since(origin).as_secs_f64() - origin.since(at).as_secs_f64();
        let line = |(at, totals): &(MonotonicNs, Totals)| WireLine {
            at_s: at_s(*at),
            answers: totals.answers,
            answers_2xx: totals.answers_2xx,
        };
        self.totals.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Counters that are read every 100 ms, with the number of new responses each time, and of good ones among them.
    fn every_100_ms(news: &[(u32, u32)]) -> Counts {
        let mut counts = Counts::default();
        for (place, (answers, answers_2xx)) in news.iter().enumerate() {
            counts.add(MonotonicNs(place as u64 * 100 * MS), *answers, *answers_2xx);
        }
        counts
    }

    fn between(counts: &Counts, began_ms: u64, ended_ms: u64) -> Option<WireCount> {
        let found = counts.window(Window { began: MonotonicNs(began_ms * MS), ended: MonotonicNs(ended_ms * MS) });
        // Its length is that of the window, whatever was counted.
        assert!(found.is_none_or(|found| (found.window_s - (ended_ms - began_ms) as f64 / 1e3).abs() < 1e-9));
        found.map(|found| WireCount { window_s: 0.0, ..found })
    }

    fn found(answers: u64, answers_2xx: u64, last_answer_s: impl Into<Option<f64>>) -> Option<WireCount> {
        Some(WireCount { answers, answers_2xx, window_s: 0.0, last_answer_s: last_answer_s.into() })
    }

    #[test]
    fn a_window_has_the_answers_between_its_borders() {
        // What the first reading finds arrived before it.
        let counts = every_100_ms(&[(7, 7), (100, 90), (100, 100), (200, 0), (100, 100)]);
        assert_eq!(between(&counts, 0, 400), found(500, 290, 0.4));
        assert_eq!(between(&counts, 100, 300), found(300, 100, 0.2));
        // Three quarters of an interval and a quarter of the next; then three quarters, and four fifths.
        assert_eq!(between(&counts, 25, 125), found(100, 93, 0.1));
        assert_eq!(between(&counts, 225, 380), found(230, 80, 0.155));
    }

    #[test]
    fn where_nothing_came_before_a_window_all_is_in_it() {
        let mut counts = every_100_ms(&[(7, 7)]);
        // The window began at 80 ms, and 40 ms passed until that was known.
        counts.nothing_until(MonotonicNs(80 * MS));
        counts.add(MonotonicNs(120 * MS), 40, 30);
        assert_eq!(between(&counts, 80, 120), found(40, 30, 0.04));
        counts.nothing_until(MonotonicNs(110 * MS));
        assert_eq!(counts.lines(MonotonicNs(0)).len(), 3, "that is over");
    }

    #[test]
    fn a_window_far_from_any_reading_has_no_count() {
        let counts = every_100_ms(&[(0, 0), (5, 5), (5, 5)]);
        assert_eq!(between(&counts, 0, 400), None);
        assert_eq!(between(&Counts::default(), 0, 100), None);
    }

    #[test]
    fn good_answers_are_never_more_than_answers() {
        // One arrived between the readings of the two counters, before the window.
        let counts = every_100_ms(&[(0, 0), (10, 9), (10, 11), (0, 0)]);
        assert_eq!(between(&counts, 100, 300), found(10, 10, 0.1));
    }

    #[test]
    fn the_last_answer_is_where_they_cease() {
        let ceased = every_100_ms(&[(0, 0), (50, 50), (50, 50), (1, 0), (0, 0), (0, 0), (0, 0)]);
        assert_eq!(between(&ceased, 50, 600), found(76, 75, 0.25));
        assert_eq!(between(&ceased, 300, 600), found(0, 0, None));
        // An interval that extends beyond the window counts up to the window's end.
        assert_eq!(between(&ceased, 80, 180), found(50, 50, 0.1));
        let after = every_100_ms(&[(0, 0), (10, 10), (0, 0), (9, 9)]);
        assert_eq!(between(&after, 60, 200), found(4, 4, 0.04), "responses after the window do not count");
    }

    #[test]
    fn totals_go_beyond_what_the_kernel_can_count() {
        let counts = every_100_ms(&[(u32::MAX, 0), (u32::MAX, 1), (2, 2)]);
        assert_eq!(between(&counts, 0, 200), found(u64::from(u32::MAX) + 2, 3, 0.2));
        assert_eq!(counts.lines(MonotonicNs(0))[2].answers, 2 * u64::from(u32::MAX) + 2);
    }

    #[test]
    fn lines_that_are_read_back_count_the_same() {
        let counts = every_100_ms(&[(7, 7), (100, 90), (100, 100), (200, 0), (100, 100)]);
        for (began, ended) in [(0, 400), (25, 125), (225, 380)] {
            let window = Window { began: MonotonicNs(began * MS), ended: MonotonicNs(ended * MS) };
            let text =
                counts.lines(window.began).iter().map(|line| serde_json::to_string(line).unwrap()).collect::<Vec<_>>();
            let lines: Vec<WireLine> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(wire_window(&lines, window), counts.window(window));
        }
        assert_eq!(wire_window(&[], Window { began: MonotonicNs(0), ended: MonotonicNs(MS) }), None);
    }

    #[test]
    fn readings_are_lines_from_an_origin_on() {
        let lines = every_100_ms(&[(3, 2), (4, 4)]).lines(MonotonicNs(50 * MS));
        let text: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
        assert_eq!(
            text,
            [r#"{"at_s":-0.05,"answers":3,"answers_2xx":2}"#, r#"{"at_s":0.05,"answers":7,"answers_2xx":6}"#]
        );
    }
}
