//! The observations of one program, trial by trial, and the figures of each trial.
//!
//! Runs of one trial share a moment of the machine, the file caches and the CPU. So the trial is the unit of replication, as for
//! servers: it gives the median of its runs, and intervals are over trials. If runs alternated with those of other cases in a
//! launch, ratios are taken run by run.
//!
//! Each counted run has a run without the work right before or after it. The time above the start is the median over these pairs.
//! Slow changes of the machine, such as of its clock frequency, affect both runs of a pair and cancel out. The difference of two
//! medians would keep them.

use tolok_model::{Disturbance, Outcome, ProgramRun, ProgramTiming, TrialRecord};

use crate::estimate::middle;
use crate::findings::trials::DisturbedProgramTrial;
use crate::observations::{Found, Trials};
use crate::slices::Comparand;

/// If a timer's step is more than this share of the wall time, its readings show its step more than the program.
pub const COARSE_TIMER: f64 = 0.05;

pub(crate) type Timings<'a> = Trials<'a, ProgramTiming>;

impl Found for ProgramTiming {
    fn of(outcome: &Outcome) -> Option<&Self> {
        if let Outcome::Timed(timing) = outcome { Some(timing) } else { None }
    }

    fn disturbances(&self) -> &[Disturbance] {
        &self.disturbances
    }
}

/// The wall times that programs are compared by, run by run if they took turns.
pub(crate) fn wall_in_turns(timings: &Timings<'_>) -> Comparand {
    in_turns(timings, wall_s, |run, _| Some(run.wall_s))
}

/// The same for the time above the start.
pub(crate) fn above_floor_in_turns(timings: &Timings<'_>) -> Comparand {
    in_turns(timings, above_floor_s, |run, floor| Some(run.wall_s - floor?.wall_s))
}

/// The same for CPU time.
pub(crate) fn cpu_in_turns(timings: &Timings<'_>) -> Comparand {
    in_turns(timings, cpu_s, |run, _| run.cpu_s())
}

/// A figure of each trial, and of each run with its floor if there are turns. Only values above 0 have ratios.
fn in_turns(
    timings: &Timings<'_>,
    of_trial: impl Fn(&ProgramTiming) -> Option<f64>,
    of_run: impl Fn(&ProgramRun, Option<&ProgramRun>) -> Option<f64>,
) -> Comparand {
    let turns = |timing: &ProgramTiming| {
        let places = timing.turns.iter().flat_map(|turns| &turns.places);
        let turn = |(nth, (run, (round, half))): (usize, (&ProgramRun, &(u32, u32)))| {
            (*round, *half, of_run(run, timing.floor.get(nth)).filter(|figure| *figure > 0.0))
        };
        timing.runs.iter().zip(places).enumerate().map(turn).collect()
    };
    Comparand::in_turns(timings, timings.by_block(of_trial), turns)
}

impl Timings<'_> {
    /// Wall times of all single runs of the scored trials.
    pub(crate) fn walls(&self) -> impl Iterator<Item = f64> {
        self.trials().flat_map(|timing| timing.runs.iter().map(|run| run.wall_s))
    }

    pub(crate) fn disturbed_trials(&self) -> Vec<DisturbedProgramTrial> {
        let shown = |(trial, timing): &(&TrialRecord, &ProgramTiming)| DisturbedProgramTrial {
            trial: trial.number,
            attempts: trial.attempts,
            wall_s: wall_s(timing),
            kinds: timing.disturbances.iter().map(|cause| cause.kind.clone()).collect(),
            causes: timing.disturbances.iter().map(|cause| cause.text.clone()).collect(),
        };
        self.disturbed.iter().map(shown).collect()
    }
}

/// The median of a figure over runs, or `None` if any run lacks it.
fn over_runs(runs: &[ProgramRun], figure: impl Fn(&ProgramRun) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(figure).collect();
    middle(&values?)
}

/// The median difference over pairs of a run and its run without the work.
fn over_pairs(timing: &ProgramTiming, figure: impl Fn(&ProgramRun) -> Option<f64>) -> Option<f64> {
    let pairs = timing.runs.iter().zip(&timing.floor);
    let above: Option<Vec<f64>> = pairs.map(|(run, floor)| Some(figure(run)? - figure(floor)?)).collect();
    middle(&above?)
}

pub(crate) fn wall_s(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.runs, |run| Some(run.wall_s))
}

/// The mean as the timer reports it, or else computed from the runs.
pub(crate) fn mean_s(timing: &ProgramTiming) -> Option<f64> {
    let computed = || {
        let walls = timing.runs.iter().map(|run| run.wall_s);
        (!timing.runs.is_empty()).then(|| walls.sum::<f64>() / timing.runs.len() as f64)
    };
    timing.said.map(|said| said.mean_s).or_else(computed)
}

/// Whether CPU times are known only as means over the runs.
pub(crate) fn tells_mean_cpu_only(timing: &ProgramTiming) -> bool {
    let of_runs = timing.runs.iter().any(|run| run.cpu_s().is_some());
    !of_runs && timing.said.is_some_and(|said| said.user_s.is_some() && said.system_s.is_some())
}

pub(crate) fn user_s(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.runs, |run| run.user_s).or(timing.said.and_then(|said| said.user_s))
}

pub(crate) fn system_s(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.runs, |run| run.system_s).or(timing.said.and_then(|said| said.system_s))
}

pub(crate) fn cpu_s(timing: &ProgramTiming) -> Option<f64> {
    let said = || timing.said.and_then(|said| Some(said.user_s? + said.system_s?));
    over_runs(&timing.runs, ProgramRun::cpu_s).or_else(said)
}

/// CPU time over wall time. Both are means if CPU time is.
pub(crate) fn busy(timing: &ProgramTiming) -> Option<f64> {
    let wall_s = if tells_mean_cpu_only(timing) { mean_s(timing) } else { wall_s(timing) };
    let wall_s = wall_s.filter(|wall_s| *wall_s > 0.0)?;
    if is_coarse(timing) { None } else { Some(cpu_s(timing)? / wall_s) }
}

pub(crate) fn rss_bytes(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.runs, bytes)
}

pub(crate) fn floor_s(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.floor, |run| Some(run.wall_s))
}

pub(crate) fn floor_cpu_s(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.floor, ProgramRun::cpu_s)
}

pub(crate) fn floor_rss_bytes(timing: &ProgramTiming) -> Option<f64> {
    over_runs(&timing.floor, bytes)
}

pub(crate) fn above_floor_s(timing: &ProgramTiming) -> Option<f64> {
    over_pairs(timing, |run| Some(run.wall_s))
}

pub(crate) fn above_floor_cpu_s(timing: &ProgramTiming) -> Option<f64> {
    over_pairs(timing, ProgramRun::cpu_s)
}

/// The step of the timer as a share of the wall time; infinite if the timer shows 0.
pub(crate) fn step(timing: &ProgramTiming) -> Option<f64> {
    wall_s(timing).map(|wall_s| if wall_s > 0.0 { timing.resolution_s / wall_s } else { f64::INFINITY })
}

/// The coarsest step of the timer over all trials, as a share of a wall time.
pub(crate) fn coarsest_step(timings: &Timings) -> f64 {
    timings.trials().filter_map(step).fold(0.0, f64::max)
}

/// Whether the steps of the timer are too wide for the measured time.
pub(crate) fn is_coarse(timing: &ProgramTiming) -> bool {
    step(timing).is_some_and(|step| step > COARSE_TIMER)
}

fn bytes(run: &ProgramRun) -> Option<f64> {
    run.rss_bytes_max.map(|bytes| bytes as f64)
}
