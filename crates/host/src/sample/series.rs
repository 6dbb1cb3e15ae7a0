//! Readings of one source ordered by time, and what they tell about a window.
//!
//! Readings never coincide with the borders of a window. The load tool reports its borders through a pipe, and the lab
//! learns of them when it gets a CPU. So monotonic counters are interpolated: between the readings before and after a
//! border they are assumed to have grown evenly.
//!
//! This is exact if the load is steady. Otherwise the error is at most what was used between the border and the nearer
//! of the two readings, because a counter cannot leave the values read around it. Counting from reading to reading
//! would add or omit up to a whole interval. Scaling that to the length of the window would present one part of it as
//! the whole.
//!
//! If a third of the window or more lies between a border and the nearest reading, a figure would be invented, so there
//! is none. The other reading may be further away: a lab that learns late of the start still has the reading before it.

use std::time::Duration;

use tolok_load::clock::MonotonicNs;

/// From the start of the load tool's window to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub began: MonotonicNs,
    pub ended: MonotonicNs,
}

impl Window {
    pub fn length(self) -> Duration {
        self.ended.since(self.began)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    Start,
    End,
}

impl std::fmt::Display for Border {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Start => "start",
            Self::End => "end",
        })
    }
}

/// Readings with their instants, which never decrease.
#[derive(Debug)]
pub struct Series<T> {
    readings: Vec<(MonotonicNs, T)>,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self { readings: Vec::new() }
    }
}

impl<T> Series<T> {
    pub fn push(&mut self, at: MonotonicNs, reading: T) {
        debug_assert!(self.readings.last().is_none_or(|(last, _)| *last <= at), "readings come in their order");
        self.readings.push((at, reading));
    }

    /// Adds the newest reading, if there is one.
    pub fn extend(&mut self, at: MonotonicNs, reading: Option<T>) {
        if let Some(reading) = reading {
            self.push(at, reading);
        }
    }

    /// All readings, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &(MonotonicNs, T)> {
        self.readings.iter()
    }

    pub fn last(&self) -> Option<&T> {
        self.readings.last().map(|(_, reading)| reading)
    }

    /// The newest reading at or before an instant, if there is one.
    pub fn before(&self, at: MonotonicNs) -> Option<&T> {
        let after = self.readings.partition_point(|(one, _)| *one <= at);
        self.readings[..after].last().map(|(_, reading)| reading)
    }

    /// A border of the window that is too far from the nearest reading, and the distance. `None` if both are near
    /// enough, or there are no readings.
    pub fn too_far(&self, window: Window) -> Option<(Border, Duration)> {
        let borders = [(Border::Start, self.distance(window.began)?), (Border::End, self.distance(window.ended)?)];
        borders.into_iter().find(|(_, away)| *away * 3 >= window.length())
    }

    /// How much a counter grew in the window. `None` if no reading is near enough, or readings lack the counter.
    pub fn grown(&self, window: Window, counter: impl Fn(&T) -> Option<u64>) -> Option<f64> {
        if self.too_far(window).is_some() {
            return None;
        }
        let (first, last) = (self.at(window.began, &counter)?, self.at(window.ended, &counter)?);
        Some((last - first).max(0.0))
    }

    /// How much a counter of rare events grew from the last reading before the window to the first after it. It is not
    /// interpolated: half an event does not exist, and the reader must know about one at a border.
    pub fn happened(&self, window: Window, counter: impl Fn(&T) -> Option<u64>) -> Option<u64> {
        let around = self.around(window)?;
        let (first, last) = (counter(&around.first()?.1)?, counter(&around.last()?.1)?);
        Some(last.saturating_sub(first))
    }

    /// The greatest value in the window, including the first reading after it. `None` if no reading has it.
    pub fn most<V: PartialOrd>(&self, window: Window, value: impl Fn(&T) -> Option<V>) -> Option<V> {
        let greater = |one: V, other: V| if other > one { other } else { one };
        self.inside(window).iter().filter_map(|(_, reading)| value(reading)).reduce(greater)
    }

    /// The smallest value in the window, by the same rule.
    pub fn least<V: PartialOrd>(&self, window: Window, value: impl Fn(&T) -> Option<V>) -> Option<V> {
        let smaller = |one: V, other: V| if other < one { other } else { one };
        self.inside(window).iter().filter_map(|(_, reading)| value(reading)).reduce(smaller)
    }

    /// A counter at an instant between two readings. Before the first and after the last reading it has the value read
    /// there, since nothing is known beyond. The caller must limit that distance.
    fn at(&self, border: MonotonicNs, counter: impl Fn(&T) -> Option<u64>) -> Option<f64> {
        let after = self.readings.partition_point(|(at, _)| *at < border);
        let before = self.readings[..after].last().or(self.readings.first())?;
        let after = self.readings.get(after).or(self.readings.last())?;
        if after.0 == border {
            return counter(&after.1).map(|value| value as f64);
        }
        let (low, high) = (counter(&before.1)?, counter(&after.1)?);
        let gap_ns = after.0.ns_since(before.0);
        let share = if gap_ns == 0 { 0.0 } else { border.ns_since(before.0).min(gap_ns) as f64 / gap_ns as f64 };
        Some(low as f64 + (high as f64 - low as f64) * share)
    }

    /// The distance from a border to the nearest reading, or `None` if there are none.
    fn distance(&self, border: MonotonicNs) -> Option<Duration> {
        self.readings.iter().map(|(at, _)| at.since(border).max(border.since(*at))).min()
    }

    /// From the first reading in the window to the first after it.
    fn inside(&self, window: Window) -> &[(MonotonicNs, T)] {
        let first = self.readings.partition_point(|(at, _)| *at < window.began);
        &self.readings[first..self.end(window)]
    }

    /// From the last reading before the window to the first after it.
    fn around(&self, window: Window) -> Option<&[(MonotonicNs, T)]> {
        let first = self.readings.partition_point(|(at, _)| *at <= window.began).saturating_sub(1);
        self.readings.get(first..self.end(window))
    }

    fn end(&self, window: Window) -> usize {
        let ended = self.readings.partition_point(|(at, _)| *at < window.ended);
        (ended + 1).min(self.readings.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter read at these instants, in nanoseconds.
    fn series(readings: &[(u64, Option<u64>)]) -> Series<Option<u64>> {
        let mut series = Series::default();
        for (at, value) in readings {
            series.push(MonotonicNs(*at), *value);
        }
        series
    }

    fn window(began: u64, ended: u64) -> Window {
        Window { began: MonotonicNs(began), ended: MonotonicNs(ended) }
    }

    fn grown(readings: &[(u64, Option<u64>)], began: u64, ended: u64) -> Option<f64> {
        series(readings).grown(window(began, ended), |value| *value)
    }

    #[test]
    fn a_counter_grows_evenly_between_two_readings() {
        let readings = [(100, Some(0)), (200, Some(50)), (300, Some(250))];
        // A tenth of the first interval is left out, and three tenths of the second.
        assert_eq!(grown(&readings, 110, 270), Some(45.0 + 140.0));
        // Borders in the same interval, and right at readings.
        assert_eq!(grown(&readings, 102, 198), Some(48.0));
        assert_eq!(grown(&readings, 100, 300), Some(250.0));
    }

    #[test]
    fn steady_work_is_exact_wherever_the_readings_lie() {
        // 3 per nanosecond, read at uneven instants.
        let readings: Vec<_> = [90, 131, 140, 397, 405, 600].map(|at| (at, Some(at * 3))).to_vec();
        for (began, ended) in [(100, 500), (131, 405), (133, 400), (91, 599)] {
            let found = grown(&readings, began, ended).unwrap();
            assert!((found - (ended - began) as f64 * 3.0).abs() < 1e-9, "{began} {ended} {found}");
        }
    }

    #[test]
    fn beyond_the_readings_nothing_is_invented() {
        // What was used before the first and after the last reading is unknown. It is little, so it may be missing.
        let readings = [(100, Some(10)), (200, Some(20))];
        assert_eq!(grown(&readings, 95, 205), Some(10.0));
        assert_eq!(grown(&readings, 300, 400), None);
        assert_eq!(grown(&[], 50, 900), None);
        // A counter that was set back counts as no growth.
        assert_eq!(grown(&[(100, Some(10)), (200, Some(3))], 100, 200), Some(0.0));
    }

    #[test]
    fn a_border_a_third_of_the_window_away_from_any_reading_has_no_figure() {
        let readings = series(&[(100, Some(0)), (200, Some(1)), (600, Some(9))]);
        let away = |border, nanoseconds| Some((border, Duration::from_nanos(nanoseconds)));
        // 300 long: at each border less than 100 away from one reading, whatever the other is.
        assert_eq!(readings.too_far(window(299, 599)), None);
        assert_eq!(readings.too_far(window(300, 600)), away(Border::Start, 100));
        assert_eq!(readings.too_far(window(150, 450)), away(Border::End, 150));
        assert_eq!(readings.grown(window(300, 600), |value| *value), None);
        assert_eq!(readings.too_far(window(150, 150)), away(Border::Start, 50));
        assert_eq!(series(&[]).too_far(window(1, 2)), None);
    }

    #[test]
    fn what_was_absent_at_a_border_is_absent_and_not_nought() {
        assert_eq!(grown(&[(100, None), (200, Some(5)), (300, Some(9))], 101, 299), None);
        assert_eq!(grown(&[(100, Some(1)), (200, None), (300, Some(9))], 100, 300), Some(8.0));
        assert_eq!(series(&[(100, None)]).most(window(0, 200), |value| *value), None);
    }

    #[test]
    fn rare_events_are_whole_and_those_at_the_borders_count() {
        let kills = series(&[(100, Some(1)), (200, Some(2)), (300, Some(2)), (400, Some(3)), (500, Some(9))]);
        assert_eq!(kills.happened(window(150, 350), |value| *value), Some(2));
        assert_eq!(kills.happened(window(250, 290), |value| *value), Some(0));
        assert_eq!(kills.happened(window(600, 700), |value| *value), Some(0));
        assert_eq!(series(&[]).happened(window(0, 1), |value| *value), None);
    }

    #[test]
    fn the_most_and_the_least_are_those_inside_and_right_after() {
        let held = series(&[(100, Some(99)), (200, Some(5)), (300, Some(7)), (400, Some(8)), (500, Some(99))]);
        let (most, least) = (|window| held.most(window, |value| *value), |window| held.least(window, |value| *value));
        assert_eq!((most(window(150, 350)), least(window(150, 350))), (Some(8), Some(5)));
        // Readings exactly at the borders are inside, and then none after them is needed.
        assert_eq!(most(window(200, 300)), Some(7));
        assert_eq!(most(window(600, 700)), None);
    }
}
