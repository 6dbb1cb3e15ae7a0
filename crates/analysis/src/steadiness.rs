//! Whether a window had one level, second by second, and whether memory grew in it.
//!
//! This applies only to loads of one level. Levels are changepoints of the correct responses per second, compared as in Barrett
//! et al. (2017): a trial is flat, warms up, slows down, or has no steady state. A case whose trials differ is inconsistent.

use tolok_model::sentences::capital;
use tolok_model::{Executor, LoadProfile, Measurement};
use tolok_stats::{Level, STEADY_TOLERANCE, SteadyClass as Shape, steady, theil_sen};

use crate::estimate::{median, middle};
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::SteadyClass;
use crate::findings::{Estimate, SteadyFinding};
use crate::flag::{Flag, FlagKind};
use crate::grouping::grouped;
use crate::observations::Observations;

/// Memory growth below this share of it over the window is not mentioned.
pub const GROWTH_TOLERATED: f64 = 0.01;
/// With fewer readings of memory than this, a slope is down to chance.
const FEWEST_READINGS: usize = 5;
/// The most readings of a window in a slope, because every pair of readings counts.
const MOST_READINGS: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrialSteadiness {
    pub(crate) class: SteadyClass,
    /// Seconds of the window until it reached its last level.
    steady_after_s: f64,
}

/// Whether the load has a single level, so the responses must have one as well.
pub(crate) fn is_asked(load: &LoadProfile) -> bool {
    matches!(load.executor, Executor::ConstantVus { .. } | Executor::ConstantArrivalRate { .. })
}

/// The steadiness of a trial, or why it is unknown.
pub(crate) fn of_trial(trial: &Measurement) -> Result<TrialSteadiness, &'static str> {
    let series = trial.series.as_ref().filter(|series| !series.good.is_empty()).ok_or("no per-second data")?;
    let good: Vec<f64> = series.good.iter().map(|good| *good as f64).collect();
    let found = steady(&good, STEADY_TOLERANCE).ok_or("the window is too short")?;
    let class = match found.class {
        Shape::Flat => SteadyClass::Flat,
        Shape::WarmUp => SteadyClass::WarmUp,
        Shape::Slowdown => SteadyClass::Slowdown,
        Shape::NoSteadyState => SteadyClass::NoSteadyState,
    };
    Ok(TrialSteadiness { class, steady_after_s: found.steady_from as f64 })
}

/// The steadiness of all scored trials, or `None` if the load has several levels or no trial can be judged.
pub(crate) fn steadiness(observations: &Observations, load: &LoadProfile) -> Option<SteadyFinding> {
    let judged: Vec<TrialSteadiness> = observations.trials().filter_map(|trial| of_trial(trial).ok()).collect();
    let first = judged.first().filter(|_| is_asked(load))?;
    let is_one_class = judged.iter().all(|trial| trial.class == first.class);
    let groups = grouped(&judged, |one, other| one.class == other.class);
    let mut trials: Vec<(SteadyClass, u32)> = groups.iter().map(|group| (group[0].class, group.len() as u32)).collect();
    trials.sort_by_key(|(class, number)| (std::cmp::Reverse(*number), *class));
    let settles = |class| matches!(class, SteadyClass::WarmUp | SteadyClass::Slowdown);
    let after: Vec<f64> =
        judged.iter().filter(|trial| settles(trial.class)).map(|trial| trial.steady_after_s).collect();
    let mut finding = SteadyFinding {
        class: if is_one_class { first.class } else { SteadyClass::Inconsistent },
        trials,
        trials_unknown: (observations.scored.len() - judged.len()) as u32,
        steady_after_s: middle(&after),
        memory_growth_bytes_per_s: median(observations.every(growth_bytes_per_s)),
        sentence: String::new(),
    };
    finding.sentence = sentence(&finding);
    Some(finding)
}

/// How fast the subject's memory grew in one trial, in bytes per second.
fn growth_bytes_per_s(trial: &Measurement) -> Option<f64> {
    let readings = readings(trial);
    let apart = readings.len().div_ceil(MOST_READINGS).max(1);
    let readings = readings.into_iter().step_by(apart);
    let (at_s, bytes): (Vec<f64>, Vec<f64>) = readings.unzip();
    theil_sen(&at_s, &bytes, Level::P95).filter(|_| at_s.len() >= FEWEST_READINGS).map(|slope| slope.slope)
}

/// Memory at the end of each second in which it was read.
fn readings(trial: &Measurement) -> Vec<(f64, f64)> {
    let of_seconds = trial.series.iter().flat_map(|series| (1..).zip(&series.subject_memory_bytes));
    of_seconds.filter_map(|(second, bytes)| Some((f64::from(second), (*bytes)? as f64))).collect()
}

/// Raises a flag if memory grows: more than by chance over the trials, and by more than a trifle over a window.
pub(crate) fn memory_grows(observations: &Observations, steady: Option<&SteadyFinding>) -> Option<Flag> {
    let growth = steady?.memory_growth_bytes_per_s.as_ref()?;
    let windows_s = observations.each(|trial| Some(trial.window_s));
    let of_trial =
        |trial: &Measurement| middle(&readings(trial).into_iter().map(|(_, bytes)| bytes).collect::<Vec<f64>>());
    let (window_s, memory_bytes) = middle(&windows_s).zip(middle(&observations.every(of_trial)))?;
    let grown_bytes = growth.value * window_s;
    if growth.low.is_none_or(|low| low <= 0.0) || grown_bytes <= GROWTH_TOLERATED * memory_bytes {
        return None;
    }
    let share = amount(Quantity::Share, grown_bytes / memory_bytes);
    let message = format!("its memory grew by {}, or {share}, over the window", per_second(growth));
    FlagKind::MemoryGrows.raised(message)
}

/// `1.24 MiB (1.10–1.31 MiB) a second`
fn per_second(growth: &Estimate) -> String {
    format!("{} a second", figure(Quantity::Bytes, growth).line())
}

/// The classes of the trials: `of 6 trials 4 had one level throughout and 2 became slower and stayed so`.
pub(crate) fn words(steady: &SteadyFinding) -> String {
    let judged: u32 = steady.trials.iter().map(|(_, trials)| trials).sum();
    let lacks = match steady.trials_unknown {
        0 => String::new(),
        some => format!("; unknown for {}", counted(u64::from(some), "other")),
    };
    let trials = counted(u64::from(judged), "trial");
    match steady.trials.as_slice() {
        [(class, _)] => format!("all of {trials} {}{lacks}", of_class(*class)),
        several => {
            let parts: Vec<String> =
                several.iter().map(|(class, number)| format!("{number} {}", of_class(*class))).collect();
            format!("of {trials} {}{lacks}", listed(&parts, "and"))
        }
    }
}

/// What happened in trials of this class.
pub(crate) fn of_class(class: SteadyClass) -> &'static str {
    match class {
        SteadyClass::Flat => "had one level throughout",
        SteadyClass::WarmUp => "became faster and stayed so",
        SteadyClass::Slowdown => "became slower and stayed so",
        SteadyClass::NoSteadyState => "had no level at the end",
        SteadyClass::Inconsistent => "differ",
    }
}

fn sentence(steady: &SteadyFinding) -> String {
    let after = steady
        .steady_after_s
        .map(|after_s| format!("; the median of those that changed was steady after {after_s:.0} s"));
    let memory = steady.memory_growth_bytes_per_s.as_ref().filter(|growth| growth.low.is_some_and(|low| low > 0.0));
    let memory = memory.map(|growth| format!(" Memory grew by {}.", per_second(growth)));
    format!("{}{}.{}", capital(&words(steady)), after.unwrap_or_default(), memory.unwrap_or_default())
}
