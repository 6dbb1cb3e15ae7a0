//! The rule that turns the trials of two runs into verdicts.
//!
//! A figure has the trials x₁…xₙ before and y₁…yₘ after. The runs share no block, so nothing is paired: the ratio is
//! exp(mean ln y − mean ln x), its interval Welch's at 95 %, its p Welch's test that it is 1. All figures that are judged in a
//! comparison are one family: their p values are adjusted by Holm's procedure, so that two runs of the same thing have any
//! false difference at all in 5 % of comparisons at most. The size of a ratio r is max(r, 1/r) − 1.
//!
//! 1. Fewer than 5 trials in a run: *cannot tell*.
//! 2. Adjusted p below 0.05 and the size is at least the threshold: *regression* or *improvement*, by which way the figure is
//!    better. But *cannot tell*
//!    - if the size is no larger than a floor: what the control shifted, what an A/A pair that was told apart differed by, the
//!      steps of the timers;
//!    - where there is a control, unless the figure over the control's in the same block changed the same way, by the threshold
//!      or more, with an adjusted p below 0.05 (a family of its own). Without this, half of all programs would look worse than
//!      a machine that became slower, by chance.
//! 3. If the control shifted by the threshold or more: *cannot tell*, since a machine that has shifted hides as much as it shows.
//! 4. The two one-sided tests refute a difference of the threshold or more, adjusted as a family of their own: *equivalent*.
//! 5. The half width is at most [`EQUIVALENCE_HALF_WIDTH`], and the pair's own interval holds 1 or the size is below the
//!    threshold: *no difference found*. What would be told apart by itself, and is not among all figures, is no such thing.
//! 6. Otherwise: *cannot tell*.

use tolok_stats::{Level, Sample, equivalence_welch, welch};

use super::findings::{Change, ChangeRatio};
use crate::figures::{Quantity, amount, figure};
use crate::findings::Better;
use crate::verdict::{EQUIVALENCE_HALF_WIDTH, FALSE_ALARMS, adjusted};

/// A figure of one case in two runs.
pub(super) struct Pair<'a> {
    /// Trials before.
    pub(super) before: &'a [f64],
    /// Trials after.
    pub(super) after: &'a [f64],
    /// Which way it is better.
    pub(super) better: Better,
    /// What a difference must be larger than.
    pub(super) floors: Vec<Floor>,
    /// What the same program did in both runs.
    pub(super) control: Option<Beside>,
}

/// A figure over that of the control.
pub(super) struct Beside {
    /// In each common block of the run before.
    pub(super) before: Vec<f64>,
    /// In each common block of the run after.
    pub(super) after: Vec<f64>,
    /// The control's own shift, in words.
    pub(super) shift: String,
    /// Whether that is the threshold or more.
    pub(super) is_relevant: bool,
}

/// A difference that two runs show for another reason than the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Floor {
    /// Its size.
    pub(super) size: f64,
    /// What it is.
    pub(super) words: String,
}

/// What is said of a pair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    pub(super) ratio: Option<ChangeRatio>,
    pub(super) p_adjusted: Option<f64>,
    pub(super) p_equivalence_adjusted: Option<f64>,
    pub(super) beside_control: Option<ChangeRatio>,
    pub(super) p_beside_control_adjusted: Option<f64>,
    pub(super) verdict: Change,
    pub(super) reason: Option<String>,
}

/// A ratio with what was measured of it, before it is known how many there are.
struct Measured {
    ratio: Option<ChangeRatio>,
    p: Option<f64>,
    p_equivalence: Option<f64>,
}

/// Judges all pairs of a comparison together, in their order.
pub(super) fn judge(pairs: &[Pair], threshold: f64) -> Vec<Judgement> {
    let margin = threshold.ln_1p();
    let measured: Vec<Measured> = pairs.iter().map(|pair| measure(pair.before, pair.after, margin)).collect();
    let beside = |pair: &Pair| pair.control.as_ref().map(|control| measure(&control.before, &control.after, margin));
    let beside: Vec<Option<Measured>> = pairs.iter().map(beside).collect();
    let p = adjusted(measured.iter().map(|it| it.p).collect());
    let p_equivalence = adjusted(measured.iter().map(|it| it.p_equivalence).collect());
    let p_beside = adjusted(beside.iter().map(|it| it.as_ref()?.p).collect());
    let judgement = |place: usize| {
        let mut judgement = Judgement {
            ratio: measured[place].ratio,
            p_adjusted: p[place],
            p_equivalence_adjusted: p_equivalence[place],
            beside_control: beside[place].as_ref().and_then(|it| it.ratio),
            p_beside_control_adjusted: p_beside[place],
            verdict: Change::CannotTell,
            reason: None,
        };
        match decide(&pairs[place], &judgement, threshold) {
            Ok(verdict) => judgement.verdict = verdict,
            Err(reason) => judgement.reason = Some(reason),
        }
        judgement
    };
    (0..pairs.len()).map(judgement).collect()
}

/// After over before, with an interval where both have trials enough. None where a value is not above 0, or there is none.
pub(super) fn ratio(before: &[f64], after: &[f64]) -> Option<ChangeRatio> {
    measure(before, after, 1.0).ratio
}

fn measure(before: &[f64], after: &[f64], margin: f64) -> Measured {
    let none = Measured { ratio: None, p: None, p_equivalence: None };
    let Some((before, after)) = logarithms(before).zip(logarithms(after)) else { return none };
    let Some(found) = welch(&after, &before, 0.0, Level::P95) else {
        // A single trial has no scatter, but it has a value.
        let value = (after.mean() - before.mean()).exp();
        return Measured { ratio: Some(ChangeRatio { value, low: None, high: None }), ..none };
    };
    let interval = found.interval.map(|interval| (interval.low.exp(), interval.high.exp()));
    let (low, high) = interval.unzip();
    Measured {
        ratio: Some(ChangeRatio { value: found.difference.exp(), low, high }),
        // Where there is no interval, nothing is judged.
        p: found.interval.map(|_| found.p),
        p_equivalence: equivalence_welch(&after, &before, margin),
    }
}

/// None unless every value has a logarithm.
fn logarithms(values: &[f64]) -> Option<Sample> {
    let are_positive = values.iter().all(|value| *value > 0.0 && value.is_finite());
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    if are_positive { Sample::new(&logarithms).ok() } else { None }
}

/// The rule at the top of this module; the error is why nothing can be told.
fn decide(pair: &Pair, found: &Judgement, threshold: f64) -> Result<Change, String> {
    let ratio = found.ratio.ok_or_else(|| "a trial had none of it, so there is no ratio".to_owned())?;
    let Some((p, half_width)) = found.p_adjusted.zip(ratio.half_width()) else { return Err(too_few(pair)) };
    if p < FALSE_ALARMS && ratio.size() >= threshold {
        exceeds_floors(pair, ratio)?;
        exceeds_control(pair, ratio, found, threshold)?;
        let is_better = (ratio.value > 1.0) == (pair.better == Better::Higher);
        return Ok(if is_better { Change::Improvement } else { Change::Regression });
    }
    if let Some(control) = pair.control.as_ref().filter(|control| control.is_relevant) {
        let least = amount(Quantity::Share, threshold);
        return Err(format!("the machine itself shifted by {least} or more ({})", control.shift));
    }
    match () {
        () if found.p_equivalence_adjusted.is_some_and(|p| p < FALSE_ALARMS) => Ok(Change::Equivalent),
        () if half_width > EQUIVALENCE_HALF_WIDTH => {
            Err(format!("its interval reaches {} to either side", amount(Quantity::Share, half_width)))
        }
        () if ratio.is_told() && ratio.size() >= threshold => {
            Err("it would be a difference by itself, and is not sure enough among all judged figures".to_owned())
        }
        () => Ok(Change::NoDifferenceFound),
    }
}

fn exceeds_floors(pair: &Pair, ratio: ChangeRatio) -> Result<(), String> {
    let largest = pair.floors.iter().max_by(|left, right| left.size.total_cmp(&right.size));
    match largest.filter(|floor| floor.size >= ratio.size()) {
        Some(floor) => Err(format!("no larger than {}", floor.words)),
        None => Ok(()),
    }
}

fn exceeds_control(pair: &Pair, ratio: ChangeRatio, found: &Judgement, threshold: f64) -> Result<(), String> {
    let Some(control) = &pair.control else { return Ok(()) };
    let shift = &control.shift;
    let Some(beside) = found.beside_control else {
        return Err(format!("it cannot be laid beside the machine’s own shift ({shift})"));
    };
    let is_told = found.p_beside_control_adjusted.is_some_and(|p| p < FALSE_ALARMS);
    let is_same_way = (beside.value > 1.0) == (ratio.value > 1.0);
    if is_told && is_same_way && beside.size() >= threshold {
        return Ok(());
    }
    let beside = figure(Quantity::Ratio, &beside.estimate()).line();
    Err(format!("beside the ceiling it is {beside}, so the machine’s own shift ({shift}) may be all of it"))
}

fn too_few(pair: &Pair) -> String {
    let least = Level::LEAST_SAMPLE;
    let (before, after) = (pair.before.len(), pair.after.len());
    format!("clean trials: {before} before, {after} after; an interval needs {least} of each")
}

#[cfg(test)]
mod tests;
