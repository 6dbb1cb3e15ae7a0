//! What happened in each second: of the warm-up, which is in no figure, and of the window.
//!
//! Seconds of several trials are laid upon each other by when they began, counted from the start of the window. A second that most
//! trials do not have (one window was a little longer) is left out.

use schemars::JsonSchema;
use serde::Serialize;
use tolok_model::SecondSeries;

use crate::estimate::middle;
use crate::observations::Observations;

/// A case second by second, over its scored trials.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SecondsFinding {
    /// Start of each second after the start of the window; negative in the warm-up.
    pub start_s: Vec<f64>,
    /// Good answers in each second.
    pub good_rps: Vec<Band>,
    /// Requests that failed in each second; empty where none did.
    pub failed_rps: Vec<Band>,
    /// Median response time of each second.
    pub latency_p50_s: Vec<Band>,
    /// CPUs that the subject kept busy: 1 is one whole CPU.
    pub subject_cpus: Vec<Band>,
    /// Memory of the subject.
    pub subject_memory_bytes: Vec<Band>,
    /// CPUs that the generator kept busy.
    pub generator_cpus: Vec<Band>,
    /// CPUs that the database kept busy; empty without one.
    pub database_cpus: Vec<Band>,
    /// Memory of the database; empty without one.
    pub database_memory_bytes: Vec<Band>,
}

/// What the trials had in one second. Each list of [`SecondsFinding`] is empty where nothing of it was read, or else as long as
/// `start_s`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Band {
    /// Median over the trials; none where no trial has it.
    pub value: Option<f64>,
    /// The lowest.
    pub low: Option<f64>,
    /// The highest.
    pub high: Option<f64>,
}

/// A window of fewer whole seconds has no course.
const FEWEST_SECONDS: usize = 2;
/// Seconds that began nearer to each other than this are the same second of several trials.
const SAME_S: f64 = 0.5;
/// CPU time is rounded to a tenth of a millisecond, which no chart shows and no reading promises.
const CPU_STEPS: f64 = 1e4;

/// A case second by second; none where no scored trial has two whole seconds.
pub(crate) fn seconds(observations: &Observations) -> Option<SecondsFinding> {
    let windows = observations.scored.iter().filter_map(|(_, trial)| trial.series.as_ref());
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
    })
}

/// Its seconds. Where a tool does not tell its answers by the second, what was used is known all the same.
fn length(series: &SecondSeries) -> usize {
    series.good.len().max(series.subject_cpu_s.len())
}

/// One second, with where each trial has it.
struct Slot<'a> {
    start_s: f64,
    places: Vec<(&'a SecondSeries, usize)>,
}

/// The seconds that at least half of the trials have, in the order of time.
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
    /// The same, beginning where most of its seconds do.
    fn centred(mut self) -> Self {
        let starts: Vec<f64> = self.places.iter().map(|(series, place)| series.start_s + *place as f64).collect();
        self.start_s = middle(&starts).map_or(self.start_s, |start_s| (start_s * 1e3).round() / 1e3);
        self
    }
}

/// One figure in every second; empty where no trial has it in any.
fn bands(slots: &[Slot], of: impl Fn(&SecondSeries, usize) -> Option<f64>) -> Vec<Band> {
    let band = |slot: &Slot| {
        let values: Vec<f64> = slot.places.iter().filter_map(|(series, place)| of(series, *place)).collect();
        Band {
            value: middle(&values),
            low: values.iter().copied().reduce(f64::min),
            high: values.iter().copied().reduce(f64::max),
        }
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
    fn what_nobody_read_is_an_empty_list() {
        let one = series(0.0, &[1, 2]);
        assert_eq!(bands(&slots(&[&one]), |series, place| at(&series.generator_cpu_s, place)), []);
        let none = Band { value: Some(0.0), low: Some(0.0), high: Some(0.0) };
        assert_eq!(unless_zero(vec![none; 2]), []);
    }
}
