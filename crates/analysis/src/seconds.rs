//! Each second of the window, and of the warm-up, which no figure counts.
//!
//! Seconds of several trials are aligned by their beginning, counted from the start of the window. A second that most trials
//! lack, because one window was slightly longer, is left out.

use tolok_model::{SecondSeries, TailSeries};

use crate::estimate::middle;
use crate::findings::{Band, SecondsFinding, TailFinding};
use crate::observations::Observations;

impl Band {
    fn of(values: &[f64]) -> Self {
        Self {
            value: middle(values),
            low: values.iter().copied().reduce(f64::min),
            high: values.iter().copied().reduce(f64::max),
        }
    }
}

/// A window with fewer whole seconds has no course.
const FEWEST_SECONDS: usize = 2;
/// Seconds of several trials that began closer than this are the same second.
const SAME_S: f64 = 0.5;
/// CPU time is rounded to a tenth of a millisecond. Charts do not show more, and readings are not more precise.
const CPU_STEPS: f64 = 1e4;

/// A case second by second, or `None` if no scored trial has two whole seconds.
pub(crate) fn seconds(observations: &Observations) -> Option<SecondsFinding> {
    let windows = observations.trials().filter_map(|trial| trial.series.as_ref());
    let windows: Vec<&SecondSeries> = windows.filter(|series| length(series) >= FEWEST_SECONDS).collect();
    let slots = slots(&windows);
    (!slots.is_empty()).then(|| SecondsFinding {
        start_s: slots.iter().map(|slot| slot.start_s).collect(),
        good_rps: bands(&slots, |series, place| series.good.get(place).map(|good| *good as f64)),
        failed_rps: unless_zero(bands(&slots, |series, place| series.failed.get(place).map(|failed| *failed as f64))),
        latency_p50_s: bands(&slots, |series, place| at(&series.latency_p50_s, place)),
        subject_cpus: bands(&slots, |series, place| at(&series.subject_cpu_s, place).map(rounded)),
        subject_memory_bytes: bands(&slots, |series, place| bytes(&series.subject_memory_bytes, place)),
        generator_cpus: bands(&slots, |series, place| at(&series.generator_cpu_s, place).map(rounded)),
        database_cpus: bands(&slots, |series, place| at(&series.database_cpu_s, place).map(rounded)),
        database_memory_bytes: bands(&slots, |series, place| bytes(&series.database_memory_bytes, place)),
        tail: tail(&windows),
    })
}

/// The tail over the trials whose spans have the most frequent length; of two equally frequent lengths, the longer. A span that
/// fewer than half of these trials have is left out.
fn tail(windows: &[&SecondSeries]) -> Option<TailFinding> {
    let tails: Vec<&TailSeries> = windows.iter().filter_map(|series| series.tail.as_ref()).collect();
    let of_length = |span_s: u32| tails.iter().filter(move |tail| tail.span_s == span_s);
    let span_s = tails.iter().map(|tail| tail.span_s).max_by_key(|span_s| (of_length(*span_s).count(), *span_s))?;
    let chosen: Vec<&&TailSeries> = of_length(span_s).collect();
    let values = |place: usize| chosen.iter().filter_map(|tail| tail.latency_p999_s.get(place).copied()).collect();
    let spans =
        (0..).map(values).take_while(|values: &Vec<f64>| !values.is_empty() && 2 * values.len() >= chosen.len());
    Some(TailFinding {
        span_s: f64::from(span_s),
        fewest_answers: chosen.iter().map(|tail| tail.fewest_answers).min().unwrap_or_default(),
        trials: chosen.len() as u32,
        latency_p999_s: spans.map(|values| Band::of(&values)).collect(),
    })
}

/// Number of seconds. Even if a tool does not report responses by the second, the resources used are known.
fn length(series: &SecondSeries) -> usize {
    series.good.len().max(series.subject_cpu_s.len())
}

/// One second, with its index in each trial that has it.
struct Slot<'a> {
    start_s: f64,
    places: Vec<(&'a SecondSeries, usize)>,
}

/// The seconds that at least half of the trials have, in chronological order.
fn slots<'a>(windows: &[&'a SecondSeries]) -> Vec<Slot<'a>> {
    let parts = windows.iter().flat_map(|window| window.warm_up.as_deref().into_iter().chain(std::iter::once(*window)));
    let started =
        |series: &'a SecondSeries| (0..length(series)).map(move |place| (series.start_s + place as f64, series, place));
    let mut all: Vec<(f64, &SecondSeries, usize)> = parts.flat_map(started).collect();
    all.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut slots: Vec<(f64, Slot)> = Vec::new();
    for (start_s, series, place) in all {
        match slots.last_mut() {
            Some((first_s, slot)) if start_s - *first_s < SAME_S => slot.places.push((series, place)),
            _ => slots.push((start_s, Slot { start_s, places: vec![(series, place)] })),
        }
    }
    let is_common = |slot: &Slot| 2 * slot.places.len() >= windows.len();
    slots.into_iter().map(|(_, slot)| slot).filter(is_common).map(Slot::centred).collect()
}

impl Slot<'_> {
    /// Moves the start to the median of its seconds' starts.
    fn centred(mut self) -> Self {
        let starts: Vec<f64> = self.places.iter().map(|(series, place)| series.start_s + *place as f64).collect();
        self.start_s = middle(&starts).map_or(self.start_s, |start_s| (start_s * 1e3).round() / 1e3);
        self
    }
}

/// One figure in every second; empty if no trial has it in any second.
fn bands(slots: &[Slot], of: impl Fn(&SecondSeries, usize) -> Option<f64>) -> Vec<Band> {
    let band = |slot: &Slot| {
        let values: Vec<f64> = slot.places.iter().filter_map(|(series, place)| of(series, *place)).collect();
        Band::of(&values)
    };
    let bands: Vec<Band> = slots.iter().map(band).collect();
    if bands.iter().any(|band| band.value.is_some()) { bands } else { Vec::new() }
}

fn unless_zero(bands: Vec<Band>) -> Vec<Band> {
    if bands.iter().any(|band| band.high.is_some_and(|high| high > 0.0)) { bands } else { Vec::new() }
}

fn at(values: &[Option<f64>], place: usize) -> Option<f64> {
    values.get(place).copied().flatten()
}

fn bytes(values: &[Option<u64>], place: usize) -> Option<f64> {
    values.get(place).copied().flatten().map(|bytes| bytes as f64)
}

fn rounded(cpus: f64) -> f64 {
    (cpus * CPU_STEPS).round() / CPU_STEPS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(start_s: f64, good: &[u64]) -> SecondSeries {
        SecondSeries { start_s, good: good.to_vec(), ..SecondSeries::default() }
    }

    fn starts(slots: &[Slot]) -> Vec<f64> {
        slots.iter().map(|slot| slot.start_s).collect()
    }

    #[test]
    fn seconds_are_aligned_by_when_they_began() {
        let one = SecondSeries { warm_up: Some(Box::new(series(-2.5, &[1, 2]))), ..series(0.0, &[10, 20, 30]) };
        let other = SecondSeries { warm_up: Some(Box::new(series(-2.496, &[3, 4]))), ..series(0.0, &[12, 22, 32]) };
        let slots = slots(&[&one, &other]);
        assert_eq!(starts(&slots), [-2.498, -1.498, 0.0, 1.0, 2.0]);
        let good = bands(&slots, |series, place| series.good.get(place).map(|good| *good as f64));
        assert_eq!(good[0], Band { value: Some(2.0), low: Some(1.0), high: Some(3.0) });
        assert_eq!(good[4], Band { value: Some(31.0), low: Some(30.0), high: Some(32.0) });
    }

    #[test]
    fn a_second_that_few_trials_have_is_left_out() {
        let (long, short) = (series(0.0, &[1, 1, 1]), series(0.0, &[1, 1]));
        assert_eq!(starts(&slots(&[&long, &short, &short])), [0.0, 1.0]);
        assert_eq!(starts(&slots(&[&long, &short])), [0.0, 1.0, 2.0]);
    }

    #[test]
    fn a_tail_is_that_of_the_trials_with_the_usual_span() {
        let trial = |span_s: u32, latency_p999_s: &[f64]| {
            let tail = TailSeries {
                span_s,
                fewest_answers: 10_000 + u64::from(span_s),
                latency_p999_s: latency_p999_s.to_vec(),
            };
            SecondSeries { tail: Some(tail), ..series(0.0, &[1, 1]) }
        };
        let trials = [trial(5, &[0.1, 0.2, 0.9]), trial(5, &[0.3, 0.4]), trial(10, &[9.0, 9.0]), trial(5, &[0.2, 0.6])];
        let found = tail(&trials.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((found.span_s, found.trials, found.fewest_answers), (5.0, 3, 10_005));
        assert_eq!(
            found.latency_p999_s,
            [Band::of(&[0.1, 0.3, 0.2]), Band::of(&[0.2, 0.4, 0.6])],
            "only one trial has a third span"
        );
        let even = tail(&[&trials[0], &trials[2]]).unwrap();
        assert_eq!((even.span_s, even.latency_p999_s.len()), (10.0, 2));
        assert_eq!(tail(&[&series(0.0, &[1, 1])]), None);
    }

    #[test]
    fn what_nobody_read_is_an_empty_list() {
        let one = series(0.0, &[1, 2]);
        assert_eq!(bands(&slots(&[&one]), |series, place| at(&series.generator_cpu_s, place)), []);
        let none = Band { value: Some(0.0), low: Some(0.0), high: Some(0.0) };
        assert_eq!(unless_zero(vec![none; 2]), []);
    }
}
