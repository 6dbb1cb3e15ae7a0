//! The figures of a timed program.

use serde::Serialize;
use tolok_model::ProgramTiming;

use super::table::{Column, Figure, HasValue, Readings, Rows, TrialFigure, Unit, figures, row};
use crate::JsonSchema;
use crate::estimate::wider;
use crate::findings::estimate::{Better, Estimate};
use crate::findings::trials::DisturbedProgramTrial;
use crate::programs::outliers::outliers;
use crate::programs::timings::{self, coarsest_step};

figures! {
    /// The figures of a program. Each estimate is over its scored trials, and each trial contributes the median over its
    /// runs.
    pub struct ProgramFigures as "ProgramCaseFinding" of ProgramTiming, PROGRAM, PROGRAM_TRIALS;

    /// Measured trials that no figure uses, because every attempt was disturbed.
    disturbed: Vec<DisturbedProgramTrial> = whole(|it| it.trials.disturbed_trials());
    /// Counted runs, in all scored trials.
    runs: u32 = sum_of_runs(|it| it.runs.len()) [Runs] csv "runs";
    /// Runs without the work, in all scored trials.
    floor_runs: u32 = sum_of_runs(|it| it.floor.len()) [Runs] csv "floor_runs";
    /// From start to end.
    wall_s: Option<Estimate> = whole(wall_s) [Seconds Lower] interval "wall_s";
    /// Wall time as tables show it, in seconds: the geometric mean over the scenario's rounds. Two ranked cases have the ratio of
    /// these values.
    wall_typical_s: Option<Estimate> = later(()) [Seconds Lower] last "wall_typical_s";
    /// Wall time over that of the first case in the same round (1 for the first).
    of_first: Option<Estimate> = later(()) [Ratio Lower] interval "wall_of_first";
    /// Wall time minus that of the paired run without the work; can be negative by chance.
    above_floor_s: Option<Estimate> = median(|it, _| timings::above_floor_s(it)) [Seconds Lower] interval "above_floor_s" tidy "above_floor_s";
    /// Wall time of a run without the work.
    floor_s: Option<Estimate> = median(|it, _| timings::floor_s(it)) [Seconds Lower] interval "floor_s" tidy "floor_s";
    /// CPU time in user mode and in the kernel.
    cpu_s: Option<Estimate> = median(|it, _| timings::cpu_s(it)) [Seconds Lower] interval "cpu_s" tidy "cpu_s";
    /// CPU time in user mode.
    user_s: Option<Estimate> = median(|it, _| timings::user_s(it)) [Seconds Lower] interval "user_s" tidy "user_s";
    /// CPU time in the kernel.
    system_s: Option<Estimate> = median(|it, _| timings::system_s(it)) [Seconds Lower] interval "system_s" tidy "system_s";
    /// CPU time minus that of the paired run without the work.
    above_floor_cpu_s: Option<Estimate> = median(|it, _| timings::above_floor_cpu_s(it))
        [Seconds Lower] interval "above_floor_cpu_s" tidy "above_floor_cpu_s";
    /// CPU time of a run without the work.
    floor_cpu_s: Option<Estimate> = median(|it, _| timings::floor_cpu_s(it)) [Seconds Lower] interval "floor_cpu_s" tidy "floor_cpu_s";
    /// Largest resident set size.
    rss_bytes: Option<Estimate> = median(|it, _| timings::rss_bytes(it)) [Bytes Lower] interval "rss_bytes" tidy "rss_bytes";
    /// Largest resident set size of a run without the work.
    floor_rss_bytes: Option<Estimate> = median(|it, _| timings::floor_rss_bytes(it))
        [Bytes Lower] interval "floor_rss_bytes" tidy "floor_rss_bytes";
    /// CPU time over wall time: how many CPUs it used. Absent if the timer's resolution would decide it.
    busy: Option<Estimate> = median(|it, _| timings::busy(it)) [Cpus] interval "cpus_used" tidy "busy_cpus";
    /// Whether CPU times are means over a trial's runs, because the timer does not report single runs.
    cpu_is_mean: bool = whole(|it| it.trials.trials().any(timings::tells_mean_cpu_only));
    /// Whether the work is indistinguishable from the start (flag `at-floor`).
    is_at_floor: bool = later(());
    /// The fastest single run of all scored trials.
    fastest_run_s: Option<f64> = whole(|it| it.trials.walls().reduce(f64::min)) [Seconds Lower] csv "fastest_run_s";
    /// The slowest single run of all scored trials.
    slowest_run_s: Option<f64> = whole(|it| it.trials.walls().reduce(f64::max)) [Seconds Lower] csv "slowest_run_s";
    /// Outliers among the runs of their trial. They are counted, not removed.
    outliers: u32 = sum_of_runs(|it| outliers(it).into_iter().filter(|is_outlier| *is_outlier).count()) [Runs Lower] csv "outliers";

    tidy {
        "wall_s" [Seconds] "From start to end, the median over the runs." = |it, _| timings::wall_s(it);
        "wall_mean_s" [Seconds] "From start to end, the mean over the runs." = |it, _| timings::mean_s(it);
        "counted_runs" [Runs] "Counted runs." = |it, _| Some(it.runs.len() as f64);
    }
}

impl ProgramFigures {
    /// What tables show and sort by.
    pub fn shown_wall_s(&self) -> Option<&Estimate> {
        self.wall_typical_s.as_ref().or(self.wall_s.as_ref())
    }
}

impl Readings<'_, ProgramTiming> {
    fn sum_of_runs(&self, count: fn(&ProgramTiming) -> usize) -> u32 {
        self.trials.trials().map(|timing| count(timing) as u32).sum()
    }
}

/// Widens the interval by the steps of the timer.
fn wall_s(readings: &Readings<ProgramTiming>) -> Option<Estimate> {
    readings.median(|it, _| timings::wall_s(it)).map(|wall_s| wider(wall_s, coarsest_step(readings.trials)))
}
