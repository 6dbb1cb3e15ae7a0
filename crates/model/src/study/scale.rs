//! Makes a whole study shorter or longer.

use std::fmt;
use std::str::FromStr;

use crate::environment::Environment;
use crate::load::profile::{Executor, LoadProfile, Stage};
use crate::study::{Scenario, Study};
use crate::tool::LoadTool;

/// Factor by which every warm-up and window of a study is scaled; 0.1 for a tenth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(f64);

/// A factor that a study cannot be scaled by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid scale; give a number of more than 0 and at most 10, such as 0.1 for a tenth")]
pub struct ScaleError(String);

/// Shorter warm-ups and windows show a start or a single response, not a rate.
const SHORTEST_S: f64 = 0.1;

const LARGEST: f64 = 10.0;

impl Scale {
    /// Accepts factors above 0 and up to 10.
    pub fn new(factor: f64) -> Result<Self, ScaleError> {
        let is_sound = factor > 0.0 && factor <= LARGEST;
        if is_sound { Ok(Self(factor)) } else { Err(ScaleError(factor.to_string())) }
    }

    /// Scales a length, but shortens none to less than `SHORTEST_S`. A length already below that does not shrink.
    /// Zero stays zero: a ramp's jump takes no time, and a warm-up may be empty.
    fn duration(self, seconds: f64) -> f64 {
        (seconds * self.0).max(SHORTEST_S.min(seconds))
    }
}

impl FromStr for Scale {
    type Err = ScaleError;

    fn from_str(text: &str) -> Result<Self, ScaleError> {
        let factor = text.trim().parse().map_err(|_| ScaleError(text.to_owned()))?;
        Self::new(factor)
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// What a factor does to warm-ups and measurements: `shortened to 10%, and to no less than 100 ms`. `None` for 1.
pub fn scale_words(factor: f64) -> Option<String> {
    let words = scale_percent_words(factor)?;
    let has_least = factor < 1.0;
    Some(if has_least { format!("{words}, and to no less than {} ms", SHORTEST_S * 1e3) } else { words })
}

/// The same without the shortest time, which programs do not have: `shortened to 10%`. `None` for 1.
pub fn scale_percent_words(factor: f64) -> Option<String> {
    let percent = (factor * 1e4).round() / 1e2;
    match factor {
        1.0 => None,
        _ if factor > 1.0 => Some(format!("lengthened to {percent}%")),
        _ => Some(format!("shortened to {percent}%")),
    }
}

pub(crate) fn unscaled() -> f64 {
    1.0
}

pub(crate) fn is_unscaled(scale: &f64) -> bool {
    *scale == 1.0
}

impl Study {
    /// The same study, with every warm-up, window, stage, outage and number of iterations scaled. Names stay the same,
    /// so a short run can be compared with a long one. Rates, users, time-outs, pauses and objectives do not
    /// change.
    #[must_use]
    pub fn scaled(&self, scale: Scale) -> Self {
        let mut scaled = self.clone();
        scaled.scale = self.scale * scale.0;
        for (scenario, unscaled) in scaled.scenarios.iter_mut().zip(&self.scenarios) {
            scale_load(&mut scenario.load, scale, &tools_beside(unscaled, &self.scenarios));
        }
        scaled.programs.iter_mut().for_each(|program| {
            program.runs.runs = scaled_iterations(program.runs.runs.into(), scale, 1) as u32;
            program.runs.at_most_s *= scale.0;
        });
        scaled.environments.iter_mut().for_each(|environment| scale_outage(environment, scale));
        scaled
    }
}

/// The tools of scenarios that differ only in their tool, including its own. All of them must measure for the same
/// time.
fn tools_beside(scenario: &Scenario, all: &[Scenario]) -> Vec<LoadTool> {
    let is_beside = |other: &&Scenario| scenario.differs_in_tool_only(other);
    all.iter().filter(is_beside).chain([scenario]).map(|scenario| scenario.tool.name).collect()
}

fn scale_load(load: &mut LoadProfile, scale: Scale, tools: &[LoadTool]) {
    load.warmup_s = scale.duration(load.warmup_s);
    let scaled_s = scale.duration(load.duration_s);
    load.duration_s = tools.iter().fold(scaled_s, |window_s, tool| tool.nearest_window_s(window_s));
    match &mut load.executor {
        Executor::ConstantVus { .. } | Executor::ConstantArrivalRate { .. } => {}
        Executor::PerVuIterations { iterations, .. } => *iterations = scaled_iterations(*iterations, scale, 1),
        // Each user needs at least one iteration, as in the study itself.
        Executor::SharedIterations { vus, iterations } => {
            *iterations = scaled_iterations(*iterations, scale, u64::from(*vus));
        }
        Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
            load.duration_s = scale_stages(stages, scale);
        }
    }
}

fn scaled_iterations(iterations: u64, scale: Scale, least: u64) -> u64 {
    ((iterations as f64 * scale.0).round() as u64).max(least.max(1))
}

/// Scales the stages and returns their total time, in seconds.
fn scale_stages(stages: &mut [Stage], scale: Scale) -> f64 {
    stages.iter_mut().for_each(|stage| stage.duration_s = scale.duration(stage.duration_s));
    stages.iter().map(|stage| stage.duration_s).sum()
}

/// Scales proportionally, without a minimum, so that the outage stays inside the window.
fn scale_outage(environment: &mut Environment, scale: Scale) {
    if let Some(outage) = environment.database.as_mut().and_then(|database| database.outage.as_mut()) {
        outage.at_s *= scale.0;
        outage.for_s *= scale.0;
    }
}
