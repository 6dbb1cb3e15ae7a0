//! The order of a scenario's cases by their trials so far. It is preliminary: nothing is judged, and the next trial may change it.

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount};
use tolok_model::{Judge, Outcome, TrialRecord};

/// The figure that determines the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Goodput,
    CpuTime,
    WallTime,
}

impl Measure {
    /// The figure of a scenario of servers.
    pub fn of(judge: Judge) -> Self {
        match judge {
            Judge::Goodput => Self::Goodput,
            Judge::Cpu => Self::CpuTime,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Goodput => "correct responses/s",
            Self::CpuTime => "CPU time per response",
            Self::WallTime => "wall time",
        }
    }

    /// Its name in the event of a finished trial.
    fn key(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_rps",
            Self::CpuTime => "cpu_s_per_good",
            Self::WallTime => "wall_p50_s",
        }
    }

    fn is_less_better(self) -> bool {
        self != Self::Goodput
    }

    fn words(self, value: f64) -> String {
        let quantity = if self == Self::Goodput { Quantity::Number } else { Quantity::Seconds };
        amount(quantity, value)
    }

    /// The figure of a clean trial.
    fn value(self, outcome: &Outcome) -> Option<f64> {
        match (self, outcome) {
            (Self::WallTime, Outcome::Timed(timed)) if timed.disturbances.is_empty() => timed.median_wall_s(),
            (Self::Goodput, Outcome::Completed(measured)) if measured.disturbances.is_empty() => {
                Some(measured.goodput_rps)
            }
            (Self::CpuTime, Outcome::Completed(measured)) if measured.disturbances.is_empty() => {
                let good = measured.goodput_rps * measured.window_s;
                measured.subject.as_ref().filter(|_| good > 0.0).map(|used| used.cpu_s / good)
            }
            _ => None,
        }
        .filter(|value| *value > 0.0)
    }
}

/// A scenario's cases in their current order.
#[derive(Serialize)]
pub struct Standing {
    what: &'static str,
    key: &'static str,
    less: &'static str,
    places: Vec<Place>,
}

/// A competing case.
#[derive(Serialize)]
struct Place {
    case: String,
    marker: String,
    class: String,
    title: String,
    value: String,
    ratio: String,
    /// Length of its bar, out of 100.
    share: f64,
    rounds: usize,
    planned: usize,
    /// Number and figure of each trial, for the script.
    values: String,
}

/// A case and its trials, as needed for the order.
pub struct Contender<'a> {
    pub case: &'a str,
    pub marker: String,
    pub class: String,
    pub title: String,
    pub planned: usize,
    pub trials: Vec<&'a TrialRecord>,
}

impl Standing {
    pub fn of(measure: Measure, contenders: Vec<Contender<'_>>) -> Self {
        let mut known: Vec<(Option<f64>, Contender<'_>)> =
            contenders.into_iter().map(|contender| (mean(measure, &contender.trials), contender)).collect();
        // Converts a mean so that more is better in all measures.
        let reach = |mean: f64| if measure.is_less_better() { 1.0 / mean } else { mean };
        let best = known.iter().filter_map(|(mean, _)| mean.map(reach)).fold(0.0, f64::max);
        let share = |mean: &Option<f64>| mean.map_or(0.0, |mean| reach(mean) / best);
        known.sort_by(|(one, _), (other, _)| share(other).total_cmp(&share(one)));
        let places = known.into_iter().map(|(mean, contender)| place(measure, mean, share(&mean), contender));
        let less = if measure.is_less_better() { "yes" } else { "no" };
        Self { what: measure.title(), key: measure.key(), less, places: places.collect() }
    }
}

fn place(measure: Measure, mean: Option<f64>, share: f64, contender: Contender<'_>) -> Place {
    let Contender { case, marker, class, title, planned, trials } = contender;
    let values: Vec<(u32, Option<f64>)> =
        trials.iter().map(|trial| (trial.number, measure.value(&trial.outcome))).collect();
    Place {
        case: case.to_owned(),
        marker,
        class,
        title,
        value: mean.map_or_else(|| NONE.to_owned(), |mean| measure.words(mean)),
        ratio: mean.map(|_| amount(Quantity::Ratio, share)).unwrap_or_default(),
        share: (share * 1000.0).round() / 10.0,
        rounds: values.iter().filter(|(_, value)| value.is_some()).count(),
        planned,
        values: serde_json::to_string(&values).unwrap_or_default(),
    }
}

/// The geometric mean of the clean trials, as in reports.
fn mean(measure: Measure, trials: &[&TrialRecord]) -> Option<f64> {
    let logs: Vec<f64> = trials.iter().filter_map(|trial| Some(measure.value(&trial.outcome)?.ln())).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
