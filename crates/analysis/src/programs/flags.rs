//! What must be known about a timed program before its figures are believed.
//!
//! | flag | raised when | not ranked |
//! |---|---|---|
//! | `coarse-timer` | the timer's step is more than 5 % of the median wall time of a trial | yes: its figures are steps |
//! | `out-of-memory` | the kernel killed it for want of memory, in any trial | yes |
//! | `disturbed` | others disturbed a trial however often it was measured; it is in no figure | if none is left |
//! | `failed-trials` | a trial could not be measured | no |
//! | `too-few-trials` | fewer trials than an interval needs | no, but it can be told from nothing |
//! | `at-floor` | the interval of the time above the start reaches 0, or that time is less than 10 % of the wall time | no, but it has no comparison of that time |
//! | `few-runs` | a trial has a single run | no |
//! | `outliers` | a run lies far away from the others of its trial | no: it is kept |
//! | `first-run` | the first run that counts is an outlier in more than half of the trials, as after too short a warm-up | no |

use tolok_model::{FailureKind, ProgramTiming, bytes_words};

use super::outliers::{OUTLIER_SD, outliers};
use super::timings::{Timings, is_coarse, wall_s};
use crate::case_inputs::causes_of;
use crate::environment::Surroundings;
use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{Estimate, ProgramCaseFinding};
use crate::flag::{Flag, FlagKind};

/// A time above the start that is less than this share of the wall time cannot be told from the start.
pub const AT_FLOOR: f64 = 0.10;

/// Whether the work cannot be told from the start. Without an interval the range of the trials is looked at.
pub(crate) fn is_at_floor(above: &Estimate, wall: &Estimate) -> bool {
    let lowest = || above.trials.iter().copied().fold(f64::INFINITY, f64::min);
    above.low.unwrap_or_else(lowest) <= 0.0 || above.value < AT_FLOOR * wall.value
}

/// Every flag of a case, those that void its rank first.
pub(crate) fn flags(case: &ProgramCaseFinding, timings: &Timings, around: &Surroundings) -> Vec<Flag> {
    let found = [
        coarse_timer(timings),
        out_of_memory(timings, around),
        disturbed(timings),
        failed_trials(timings),
        too_few_trials(timings),
        at_floor(case),
        few_runs(timings),
        too_far_away(case, timings),
        first_run(timings),
    ];
    let mut flags: Vec<Flag> = found.into_iter().flatten().collect();
    flags.sort_by_key(|flag| !flag.voids_rank);
    flags
}

/// Steps that stand beside each other are no interval of a time, and their ratio is none of two programs.
fn coarse_timer(timings: &Timings) -> Option<Flag> {
    let coarse = timings.timings().filter(|timing| is_coarse(timing));
    let shortest = coarse.min_by(|left, right| wall_s(left).unwrap_or(0.0).total_cmp(&wall_s(right).unwrap_or(0.0)))?;
    let message = format!(
        "its timer counts in steps of {}, and it is done in {}: the figures are steps and not times",
        amount(Quantity::Seconds, shortest.resolution_s),
        wall_s(shortest)
            .filter(|wall| *wall > 0.0)
            .map_or("less than one".to_owned(), |wall| amount(Quantity::Seconds, wall)),
    );
    FlagKind::CoarseTimer.raised(message)
}

fn out_of_memory(timings: &Timings, around: &Surroundings) -> Option<Flag> {
    let killed = timings.failed.iter().filter(|(_, failure)| failure.reason == FailureKind::OutOfMemory).count();
    if killed == 0 {
        return None;
    }
    let limit = around.environment.subject.memory_bytes.map(|bytes| format!(" of {}", bytes_words(bytes)));
    let trials = counted((timings.failed.len() + timings.scored.len() + timings.disturbed.len()) as u64, "trial");
    let limit = limit.unwrap_or_default();
    FlagKind::OutOfMemory
        .raised(format!("in {killed} of {trials} it reached its limit{limit}, and the kernel killed it"))
}

fn disturbed(timings: &Timings) -> Option<Flag> {
    let disturbed = timings.disturbed.len();
    if disturbed == 0 {
        return None;
    }
    let trials = counted((disturbed + timings.scored.len()) as u64, "trial");
    let (was, is) = if disturbed == 1 { ("was", "is") } else { ("were", "are") };
    let causes = causes_of(timings.disturbances());
    let message = format!("{disturbed} of {trials} {was} disturbed by others and {is} in no figure: {causes}");
    FlagKind::Disturbed.raised_voiding(timings.scored.is_empty(), message)
}

fn failed_trials(timings: &Timings) -> Option<Flag> {
    if timings.failed.is_empty() {
        return None;
    }
    let mut reasons: Vec<FailureKind> = timings.failed.iter().map(|(_, failure)| failure.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let reasons: Vec<String> = reasons.into_iter().map(|reason| reason.word().to_owned()).collect();
    let trials = counted(u64::from(timings.planned), "trial");
    FlagKind::FailedTrials.raised(format!("{} of {trials} failed: {}", timings.failed.len(), listed(&reasons, "and")))
}

fn too_few_trials(timings: &Timings) -> Option<Flag> {
    let scored = timings.scored.len() as u64;
    if scored == 0 || scored >= u64::from(least_trials()) {
        return None;
    }
    let left = if timings.disturbed.is_empty() { "measured" } else { "left" };
    let least = least_trials();
    let message = format!("{} {left}, too few for an interval ({least} are the least)", counted(scored, "trial"));
    FlagKind::TooFewTrials.raised(message)
}

fn at_floor(case: &ProgramCaseFinding) -> Option<Flag> {
    let (above, wall, floor) = (case.above_floor_s.as_ref()?, case.wall_s.as_ref()?, case.floor_s.as_ref()?);
    if !case.is_at_floor {
        return None;
    }
    let seconds = |estimate: &Estimate| amount(Quantity::Seconds, estimate.value);
    let message = if above.value < AT_FLOOR * wall.value {
        format!(
            "most of its time is its start: {} of {}; the work itself cannot be told from it",
            seconds(floor),
            seconds(wall)
        )
    } else {
        let above = figure(Quantity::Seconds, above).line();
        format!("its time above the start, {above} of {}, cannot be told from none", seconds(wall))
    };
    FlagKind::AtFloor.raised(message)
}

fn few_runs(timings: &Timings) -> Option<Flag> {
    let single = timings.timings().filter(|timing| timing.runs.len() == 1).count();
    if single == 0 {
        return None;
    }
    let trials = counted(timings.scored.len() as u64, "trial");
    let message = format!("a single run in {single} of {trials}, so nothing is known of how runs of one trial differ");
    FlagKind::FewRuns.raised(message)
}

fn too_far_away(case: &ProgramCaseFinding, timings: &Timings) -> Option<Flag> {
    if case.outliers == 0 {
        return None;
    }
    let runs = counted(u64::from(case.runs), "run");
    // How far the farthest is from the median of its own trial.
    let farthest =
        timings.timings().flat_map(of_median).max_by(|left, right| left.ln().abs().total_cmp(&right.ln().abs()));
    let farthest =
        farthest.map(|ratio| format!("; the farthest took {} the median of its trial", amount(Quantity::Ratio, ratio)));
    let lie = if case.outliers == 1 { "lies" } else { "lie" };
    let message = format!(
        "{} of {runs} {lie} more than {OUTLIER_SD} standard deviations from the median of the trial (by the median absolute \
         deviation){}; kept in every figure",
        case.outliers,
        farthest.unwrap_or_default()
    );
    FlagKind::Outliers.raised(message)
}

/// The outliers of a trial over its median.
fn of_median(timing: &ProgramTiming) -> Vec<f64> {
    let Some(median) = wall_s(timing).filter(|median| *median > 0.0) else { return Vec::new() };
    let runs = timing.runs.iter().zip(outliers(timing));
    runs.filter(|(_, is_outlier)| *is_outlier).map(|(run, _)| run.wall_s / median).collect()
}

fn first_run(timings: &Timings) -> Option<Flag> {
    let first = timings.timings().filter(|timing| outliers(timing).first() == Some(&true)).count();
    if 2 * first <= timings.scored.len() {
        return None;
    }
    let trials = counted(timings.scored.len() as u64, "trial");
    let message = format!(
        "in {first} of {trials} the first run that counts is an outlier: more runs before it that do not count would tell why"
    );
    FlagKind::FirstRun.raised(message)
}
