//! The rule that turns the trials of runs into verdicts.
//!
//! With one run on each side, a difference is one between these two runs. It is called a change, never a regression, because
//! machine, day, memory layout and build differ between runs too. With several runs on each side, the run is the unit, and the
//! variation between runs is part of the interval (`measuring.rs`).
//!
//! All judged figures of a comparison are one family. Holm's procedure adjusts their p values, so at most 5% of comparisons of
//! equal runs show any false difference. The size of a ratio r is max(r, 1/r) − 1.
//!
//! 1. No interval, because a run of a pair has fewer than 5 trials: *cannot tell*.
//! 2. Adjusted p below 0.05 and the size is at least the threshold: *regression* or *improvement*, by the figure's better
//!    direction; for a pair *changed for the worse* or *for the better*. But *cannot tell*
//!    - if the size is no larger than a floor: the control's shift, the difference of an A/A pair that was told apart, the steps
//!      of the timers;
//!    - if there is a control, unless the figure over the control's in the same block changed the same way, by the threshold or
//!      more, with an adjusted p below 0.05 (a family of its own). Without this, half of all programs would by chance look worse
//!      than a machine that became slower.
//! 3. If the control shifted by the threshold or more: *cannot tell*, because such a machine hides as much as it shows.
//! 4. The two one-sided tests refute a difference of the threshold or more, adjusted as a family of their own: *equivalent*.
//! 5. The half width is at most [`EQUIVALENCE_HALF_WIDTH`], and the figure's own interval holds 1 or the size is below the
//!    threshold: *no difference found*. A figure that is significant by itself, but not among all figures, is not one of these.
//! 6. Otherwise: *cannot tell*.

use super::findings::{Change, ChangeRatio};
use super::measuring::{Measurable, Measured, is_single_pair, measure};
use super::sides::BeforeAfter;
use crate::figures::{Quantity, amount, figure};
use crate::findings::Better;
use crate::verdict::{EQUIVALENCE_HALF_WIDTH, FALSE_ALARMS, adjusted};

/// A figure of one case in all runs.
pub(super) struct Compared<'a> {
    pub(super) own: Measurable<'a>,
    pub(super) better: Better,
    /// The floors that a difference must exceed.
    pub(super) floors: Vec<Floor>,
    /// The figure relative to the control, which is the same program in all runs.
    pub(super) control: Option<Beside>,
}

/// A figure over that of the control.
pub(super) struct Beside {
    /// Its values in each common block of each run.
    pub(super) runs: BeforeAfter<Vec<f64>>,
    /// The control's own shift, in words.
    pub(super) shift: String,
    /// Whether that shift reaches the threshold.
    pub(super) is_relevant: bool,
}

/// A difference that runs show for a reason other than the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Floor {
    pub(super) size: f64,
    pub(super) words: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judgement {
    pub(super) ratio: Option<ChangeRatio>,
    pub(super) between_runs: Option<f64>,
    pub(super) p_adjusted: Option<f64>,
    pub(super) p_equivalence_adjusted: Option<f64>,
    pub(super) beside_control: Option<ChangeRatio>,
    pub(super) p_beside_control_adjusted: Option<f64>,
    pub(super) verdict: Change,
    pub(super) reason: Option<String>,
}

/// Judges all figures of a comparison together, in their order.
pub(super) fn judge(all: &[Compared], threshold: f64) -> Vec<Judgement> {
    let margin = threshold.ln_1p();
    let own: Vec<Option<Measurable>> = all.iter().map(|it| Some(it.own.clone())).collect();
    let beside: Vec<Option<Measurable>> =
        all.iter().map(|it| it.control.as_ref().map(|of| of.measurable(it))).collect();
    let (measured, beside) = (measure(&own, margin), measure(&beside, margin));
    let p = adjusted(measured.iter().map(|it| it.p).collect());
    let p_equivalence = adjusted(measured.iter().map(|it| it.p_equivalence).collect());
    let p_beside = adjusted(beside.iter().map(|it| it.p).collect());
    let judgement = |place: usize| {
        let Measured { ratio, between_runs, .. } = measured[place];
        let mut judgement = Judgement {
            ratio,
            between_runs,
            p_adjusted: p[place],
            p_equivalence_adjusted: p_equivalence[place],
            beside_control: beside[place].ratio,
            p_beside_control_adjusted: p_beside[place],
            verdict: Change::CannotTell,
            reason: None,
        };
        match decide(&all[place], &judgement, threshold) {
            Ok(verdict) => judgement.verdict = verdict,
            Err(reason) => judgement.reason = Some(reason),
        }
        judgement
    };
    (0..all.len()).map(judgement).collect()
}

impl Beside {
    /// The same in the form of a figure's trials.
    fn measurable<'a>(&'a self, of: &Compared<'a>) -> Measurable<'a> {
        let slices = |runs: &'a Vec<Vec<f64>>| runs.iter().map(Vec::as_slice).collect::<Vec<&'a [f64]>>();
        Measurable { runs: self.runs.each_ref().map(slices), ..of.own.clone() }
    }
}

/// Applies the rule at the top of this module. The error is the reason for *cannot tell*.
fn decide(pair: &Compared, found: &Judgement, threshold: f64) -> Result<Change, String> {
    let ratio = found.ratio.ok_or_else(|| "a trial had none of it, so there is no ratio".to_owned())?;
    let Some((p, half_width)) = found.p_adjusted.zip(ratio.half_width()) else { return Err(too_few(pair)) };
    if p < FALSE_ALARMS && ratio.size() >= threshold {
        exceeds_floors(pair, ratio)?;
        exceeds_control(pair, ratio, found, threshold)?;
        let is_better = (ratio.value > 1.0) == (pair.better == Better::Higher);
        return Ok(match (is_better, is_single_pair(&pair.own.runs)) {
            (true, false) => Change::Improvement,
            (false, false) => Change::Regression,
            (true, true) => Change::Better,
            (false, true) => Change::Worse,
        });
    }
    if let Some(control) = pair.control.as_ref().filter(|control| control.is_relevant) {
        let least = amount(Quantity::Share, threshold);
        return Err(format!("the machine itself shifted by {least} or more ({})", control.shift));
    }
    match () {
        () if found.p_equivalence_adjusted.is_some_and(|p| p < FALSE_ALARMS) => Ok(Change::Equivalent),
        () if ratio.is_told() && ratio.size() >= threshold => {
            Err("it would be a difference by itself, but is not certain enough among all judged figures".to_owned())
        }
        () if half_width > EQUIVALENCE_HALF_WIDTH => {
            let runs = found.between_runs.map(|between| amount(Quantity::Share, between));
            let runs = runs.map(|between| format!("; runs of one side differ by {between}")).unwrap_or_default();
            Err(format!("its interval reaches {} to either side{runs}", amount(Quantity::Share, half_width)))
        }
        () => Ok(Change::NoDifferenceFound),
    }
}

fn exceeds_floors(pair: &Compared, ratio: ChangeRatio) -> Result<(), String> {
    let largest = pair.floors.iter().max_by(|left, right| left.size.total_cmp(&right.size));
    match largest.filter(|floor| floor.size >= ratio.size()) {
        Some(floor) => Err(format!("no larger than {}", floor.words)),
        None => Ok(()),
    }
}

fn exceeds_control(pair: &Compared, ratio: ChangeRatio, found: &Judgement, threshold: f64) -> Result<(), String> {
    let Some(control) = &pair.control else { return Ok(()) };
    let shift = &control.shift;
    let Some(beside) = found.beside_control else {
        return Err(format!("it cannot be compared with the machine’s own shift ({shift})"));
    };
    let is_told = found.p_beside_control_adjusted.is_some_and(|p| p < FALSE_ALARMS);
    let is_same_way = (beside.value > 1.0) == (ratio.value > 1.0);
    if is_told && is_same_way && beside.size() >= threshold {
        return Ok(());
    }
    let beside = figure(Quantity::Ratio, &beside.estimate()).line();
    Err(format!("beside the ceiling it is {beside}, so the machine’s own shift ({shift}) may be all of it"))
}

fn too_few(pair: &Compared) -> String {
    let least = tolok_stats::Level::LEAST_SAMPLE;
    let [before, after] = pair.own.runs.each_ref().map(|runs| runs.iter().map(|trials| trials.len()).sum::<usize>());
    format!("clean trials: {before} before, {after} after; an interval needs {least} of each")
}

#[cfg(test)]
mod tests;
