//! The ratio of a figure, after over before, with its uncertainty.
//!
//! With one run on each side, the trials are the sample: Welch's interval and test of their logarithms. They show the difference
//! between these two runs, and nothing about other pairs. With several runs on each side, the mean of a run's logarithms is one
//! value, and the run is the unit ([`run_differences`]).

use tolok_stats::{Level, RunValues, Sample, equivalence_welch, mean_interval, run_differences, welch};

use super::findings::ChangeRatio;
use super::metric::{ComparedMetric, ScenarioKind};
use super::sides::BeforeAfter;
use crate::findings::Estimate;
use crate::grouping::sorted_once;

pub(super) type Runs<'a> = BeforeAfter<&'a [f64]>;

/// A figure of one case in every run.
#[derive(Debug, Clone)]
pub(super) struct Measurable<'a> {
    pub(super) runs: Runs<'a>,
    /// Figures of one kind vary from run to run for the same reasons.
    pub(super) kind: (ScenarioKind, ComparedMetric),
    pub(super) subject: &'a str,
}

/// The measurement of a figure, before the adjustment for the number of figures.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    pub(super) ratio: Option<ChangeRatio>,
    pub(super) p: Option<f64>,
    pub(super) p_equivalence: Option<f64>,
    /// Standard deviation among runs of one side, as a fraction.
    pub(super) between_runs: Option<f64>,
}

pub(super) fn is_single_pair(runs: &Runs) -> bool {
    runs.iter().all(|runs| runs.len() == 1)
}

/// After over before for a single figure, or `None` if a value is missing or not above 0.
pub(super) fn ratio(runs: &Runs) -> Option<ChangeRatio> {
    let kind = (ScenarioKind::Closed, ComparedMetric::Goodput);
    measure(&[Some(Measurable { runs: runs.clone(), kind, subject: "" })], 1.0).pop()?.ratio
}

/// Measures all figures that exist, in their order. Figures of several runs share estimates of their variation.
pub(super) fn measure(figures: &[Option<Measurable>], margin: f64) -> Vec<Measured> {
    let mut found = vec![Measured::default(); figures.len()];
    let mut several: Vec<(usize, &Measurable, RunValues)> = Vec::new();
    let subjects = sorted_once(figures.iter().flatten().map(|figure| figure.subject));
    for (place, figure) in figures.iter().enumerate().filter_map(|(place, figure)| Some((place, figure.as_ref()?))) {
        if is_single_pair(&figure.runs) {
            found[place] = of_pair(figure.runs[0][0], figure.runs[1][0], margin);
        } else if let Some([before, after]) = means(&figure.runs) {
            let subject = subjects.iter().position(|subject| *subject == figure.subject).unwrap_or_default();
            several.push((place, figure, RunValues { before, after, subject }));
        }
    }
    while let Some(kind) = several.first().map(|(_, figure, _)| figure.kind) {
        let (own, rest): (Vec<_>, Vec<_>) = several.into_iter().partition(|(_, figure, _)| figure.kind == kind);
        several = rest;
        let (places, values): (Vec<usize>, Vec<RunValues>) =
            own.into_iter().map(|(place, _, values)| (place, values)).unzip();
        for (place, difference) in places.into_iter().zip(run_differences(&values).into_iter().flatten()) {
            let interval = difference.interval(Level::P95);
            found[place] = Measured {
                ratio: Some(ChangeRatio {
                    value: difference.difference.exp(),
                    low: Some(interval.low.exp()),
                    high: Some(interval.high.exp()),
                }),
                p: Some(difference.p()),
                p_equivalence: Some(difference.p_equivalence(margin)),
                between_runs: Some(difference.deviation.exp_m1()),
            };
        }
    }
    found
}

/// The mean logarithm of a run's trials, or `None` unless every trial has one.
pub(super) fn mean_logarithm(trials: &[f64]) -> Option<f64> {
    Some(logarithms(trials)?.mean())
}

/// The geometric mean of a run's trials with its own interval, or `None` unless every trial has a logarithm.
pub(super) fn geometric_mean(trials: &[f64]) -> Option<Estimate> {
    let logarithms = logarithms(trials)?;
    let interval = mean_interval(&logarithms, Level::P95);
    Some(Estimate {
        value: logarithms.mean().exp(),
        low: interval.map(|it| it.low.exp()),
        high: interval.map(|it| it.high.exp()),
        trials: trials.to_vec(),
    })
}

/// The mean logarithm of each run.
pub(super) fn means(runs: &Runs) -> Option<BeforeAfter<f64>> {
    let side = |side: usize| runs[side].iter().map(|run| mean_logarithm(run)).collect::<Option<Vec<f64>>>();
    Some([side(0)?, side(1)?])
}

fn of_pair(before: &[f64], after: &[f64], margin: f64) -> Measured {
    let Some((before, after)) = logarithms(before).zip(logarithms(after)) else { return Measured::default() };
    let Some(found) = welch(&after, &before, 0.0, Level::P95) else {
        // A single trial has no scatter, but it has a value.
        let value = (after.mean() - before.mean()).exp();
        return Measured { ratio: Some(ChangeRatio { value, low: None, high: None }), ..Measured::default() };
    };
    let interval = found.interval.map(|interval| (interval.low.exp(), interval.high.exp()));
    let (low, high) = interval.unzip();
    Measured {
        ratio: Some(ChangeRatio { value: found.difference.exp(), low, high }),
        // Without an interval, nothing is judged.
        p: found.interval.map(|_| found.p),
        p_equivalence: equivalence_welch(&after, &before, margin),
        between_runs: None,
    }
}

/// The logarithms of all values, or `None` unless every value has one.
fn logarithms(values: &[f64]) -> Option<Sample> {
    let are_positive = values.iter().all(|value| *value > 0.0 && value.is_finite());
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if are_positive { Sample::new(&logarithms).ok() } else { None }
}
