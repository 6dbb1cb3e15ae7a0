//! Whether the generator could have sent more.

use tolok_model::{CpuMode, LoadTool, Measurement};

use super::{Gated, Judged, Seen, warning};
use crate::case_inputs::CaseInputs;
use crate::figures::{count, small_share};
use crate::findings::GateOutcome;
use crate::flag::{FlagKind, SATURATED, THROTTLING_TOLERATED};
use crate::usage::share;

/// If requests start by the clock, a busier thread is late too often. tolok's own tool uses the same limit.
pub const BUSIEST_THREAD: f64 = 0.85;

/// Evidence that the generator of a closed loop was at its limit and the subject was not, by medians over the scored trials.
/// Flag, gate and bottleneck use it.
pub(crate) struct GeneratorLimit {
    /// Share of its CPUs that the generator used.
    pub(crate) generator: f64,
    /// Share of its CPUs that the subject used, or `None` if tolok did not start it.
    pub(crate) subject: Option<f64>,
    /// The quota as the cause, if it is: `its quota stopped it in 40 of 100 periods`.
    pub(crate) stopped: Option<String>,
}

/// Evidence that the generator was the limit, or `None` in an open loop, where the tool judges itself.
pub(crate) fn generator_limit(inputs: &CaseInputs) -> Option<GeneratorLimit> {
    let (generator, subject) = (inputs.figures.generator_busy?, inputs.figures.subject_busy);
    if inputs.scenario.load.executor.is_open() || subject.is_some_and(|busy| busy >= SATURATED) {
        return None;
    }
    let stopped = stopped(inputs);
    (generator >= SATURATED || stopped.is_some()).then_some(GeneratorLimit { generator, subject, stopped })
}

/// A quota stops a part that uses up its share early in a period, even if it uses little of the whole window.
fn stopped(inputs: &CaseInputs) -> Option<String> {
    let of_trials = || inputs.observations.trials().filter_map(|trial| trial.generator.throttling);
    let periods: u64 = of_trials().map(|found| found.periods).sum();
    let throttled: u64 = of_trials().map(|found| found.throttled_periods).sum();
    let share = throttled as f64 / periods.max(1) as f64;
    (share > THROTTLING_TOLERATED)
        .then(|| format!("its quota stopped it in {} of {} periods", count(throttled), count(periods)))
}

pub(super) fn judge(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    if inputs.scenario.load.executor.is_open() { by_the_clock(trial, inputs) } else { closed(trial, inputs) }
}

fn closed(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    let Some(generator) = share(trial.generator.cpu_s, inputs.cpus.generator * trial.window_s) else {
        return Judged::Unknown("its CPUs are unknown".to_owned());
    };
    let subject = trial.subject.as_ref().and_then(|it| share(it.cpu_s, inputs.cpus.subject * trial.window_s));
    if subject.is_none() && trial.subject.is_some() {
        return Judged::Unknown("the subject’s CPUs are unknown".to_owned());
    }
    let its = if inputs.around.environment.generator.mode == CpuMode::Quota { "quota" } else { "CPUs" };
    let text = format!("the generator used {} of its {its}, {}", small_share(generator), subject_used(subject));
    let stopped = trial
        .generator
        .throttling
        .is_some_and(|found| found.throttled_periods as f64 > THROTTLING_TOLERATED * found.periods as f64);
    let is_limit = (generator >= SATURATED || stopped) && subject.is_none_or(|busy| busy < SATURATED);
    let seen = Seen { text, value: Some(generator), limit: Some(SATURATED) };
    if is_limit { Judged::Failed(seen, None) } else { Judged::Passed(seen) }
}

/// `the subject 12% of its own`, as the end of a sentence about the generator.
pub(crate) fn subject_used(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("the subject {} of its own", small_share(share)),
        None => "and what the subject used is unknown".to_owned(),
    }
}

fn by_the_clock(trial: &Measurement, inputs: &CaseInputs) -> Judged {
    if let Some(warned) = warning("generator-busy", trial, inputs) {
        return warned;
    }
    let Some(busy) = trial.checks.as_ref().and_then(|checks| checks.busiest_thread) else {
        let who = if inputs.scenario.tool.name == LoadTool::Tolok { "the record" } else { "the tool" };
        return Judged::Unknown(format!("{who} does not report how busy its threads were"));
    };
    let text = format!("the generator’s busiest thread had work for {} of the window", small_share(busy));
    let seen = Seen::number(text, busy, BUSIEST_THREAD);
    if busy <= BUSIEST_THREAD { Judged::Passed(seen) } else { Judged::Failed(seen, Some(FlagKind::GeneratorBound)) }
}

/// In a closed loop, the medians decide whether the case is barred, as for the flag.
pub(super) fn settled(mut gated: Gated, inputs: &CaseInputs) -> Gated {
    if inputs.scenario.load.executor.is_open() {
        return gated;
    }
    let limit = generator_limit(inputs);
    gated.finding.bars = limit.is_some();
    if limit.is_some() {
        gated.finding.outcome = GateOutcome::Failed;
    }
    gated
}
