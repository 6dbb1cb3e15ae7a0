//! What readers must know about a timed program before they trust its figures.

use tolok_model::ProgramTiming;

use super::outliers::{OUTLIER_SD, outliers};
use super::timings::{Timings, is_coarse, wall_s};
use crate::environment::Surroundings;
use crate::figures::{Quantity, amount, counted, figure};
use crate::findings::{Estimate, ProgramFigures};
use crate::flag::{Flag, FlagKind};
use crate::trial_flags::{disturbed, failed_trials, out_of_memory, too_few_trials};

/// A time above the start below this share of the wall time is indistinguishable from the start.
pub const AT_FLOOR: f64 = 0.10;

/// Whether the work is indistinguishable from the start. Without an interval, the lowest trial decides.
pub(crate) fn is_at_floor(above: &Estimate, wall: &Estimate) -> bool {
    let lowest = || above.trials.iter().copied().fold(f64::INFINITY, f64::min);
    above.low.unwrap_or_else(lowest) <= 0.0 || above.value < AT_FLOOR * wall.value
}

/// All flags of a case, those that void its rank first.
pub(crate) fn flags(case: &ProgramFigures, timings: &Timings, around: &Surroundings) -> Vec<Flag> {
    let found = [
        coarse_timer(timings),
        out_of_memory(timings, 0, "it", &around.environment.subject),
        disturbed(timings),
        failed_trials(timings, |reason| reason.word().to_owned()),
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

/// Readings a step apart do not give an interval of a time, and their ratio does not compare two programs.
fn coarse_timer(timings: &Timings) -> Option<Flag> {
    let coarse = timings.trials().filter(|timing| is_coarse(timing));
    let shortest = coarse.min_by(|left, right| wall_s(left).unwrap_or(0.0).total_cmp(&wall_s(right).unwrap_or(0.0)))?;
    let message = format!(
        "its timer counts in steps of {}, and it takes {}: the figures show steps, not times",
        amount(Quantity::Seconds, shortest.resolution_s),
        wall_s(shortest)
            .filter(|wall| *wall > 0.0)
            .map_or("less than one".to_owned(), |wall| amount(Quantity::Seconds, wall)),
    );
    FlagKind::CoarseTimer.raised(message)
}

fn at_floor(case: &ProgramFigures) -> Option<Flag> {
    let (above, wall, floor) = (case.above_floor_s.as_ref()?, case.wall_s.as_ref()?, case.floor_s.as_ref()?);
    if !case.is_at_floor {
        return None;
    }
    let seconds = |estimate: &Estimate| amount(Quantity::Seconds, estimate.value);
    let message = if above.value < AT_FLOOR * wall.value {
        format!(
            "most of its time is its start: {} of {}; the work itself cannot be separated from it",
            seconds(floor),
            seconds(wall)
        )
    } else {
        let above = figure(Quantity::Seconds, above).line();
        format!("its time above the start, {above} of {}, cannot be told from 0", seconds(wall))
    };
    FlagKind::AtFloor.raised(message)
}

fn few_runs(timings: &Timings) -> Option<Flag> {
    let single = timings.number(|timing| timing.runs.len() == 1);
    FlagKind::FewRuns.raised_if(single > 0, || {
        let trials = timings.of_scored(single);
        format!("a single run in {trials}, so how runs of one trial differ is unknown")
    })
}

fn too_far_away(case: &ProgramFigures, timings: &Timings) -> Option<Flag> {
    if case.outliers == 0 {
        return None;
    }
    let runs = counted(u64::from(case.runs), "run");
    // The outlier with the largest ratio to the median of its own trial.
    let farthest =
        timings.trials().flat_map(of_median).max_by(|left, right| left.ln().abs().total_cmp(&right.ln().abs()));
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

/// Ratios of a trial's outliers to its median.
fn of_median(timing: &ProgramTiming) -> Vec<f64> {
    let Some(median) = wall_s(timing).filter(|median| *median > 0.0) else { return Vec::new() };
    let runs = timing.runs.iter().zip(outliers(timing));
    runs.filter(|(_, is_outlier)| *is_outlier).map(|(run, _)| run.wall_s / median).collect()
}

fn first_run(timings: &Timings) -> Option<Flag> {
    let first = timings.number(|timing| outliers(timing).first() == Some(&true));
    FlagKind::FirstRun.raised_if(2 * first > timings.scored.len(), || {
        let trials = timings.of_scored(first);
        format!("in {trials} the first counted run is an outlier: more warm-up runs would show why")
    })
}
