//! CPU limits: the generator, the database, the subject, or one of its threads.

use tolok_model::{CpuMode, Measurement};

use super::{busy, counted_cpus, found, of_cpus, said};
use crate::case_inputs::CaseInputs;
use crate::estimate::middle;
use crate::figure::database::cpu_s;
use crate::figures::{Quantity, amount, listed, small_share};
use crate::findings::{Bottleneck, BottleneckKind};
use crate::flag::SATURATED;
use crate::gates::headroom::generator_limit;
use crate::usage::share;

/// A subject that has more CPUs but uses an amount in this range uses about one.
const ABOUT_ONE_CPU: std::ops::RangeInclusive<f64> = 0.90..=1.10;
/// A thread that was busy for this share of the window had no time left.
pub const BUSY_THREAD: f64 = 0.95;

/// Follows the same rule as the flag and the gate.
pub(super) fn generator(inputs: &CaseInputs) -> Option<Bottleneck> {
    let limit = generator_limit(inputs)?;
    let also = match inputs.shares_with("generator") {
        true => format!(", although the database ran on the same CPU and used {} of it", busy(inputs.database_busy())),
        false => String::new(),
    };
    let own = match limit.subject {
        Some(busy) => format!("the subject {}", inputs.of_subject(busy).replace("its CPU", "its own CPU")),
        None => "what the subject used is unknown".to_owned(),
    };
    let generator = of_cpus(limit.generator, &inputs.around.environment.generator.mode, inputs.cpus.generator);
    let stopped = limit.stopped.map(|stopped| format!(", and {stopped}")).unwrap_or_default();
    found(BottleneckKind::Generator, "The generator used", format!("{generator}{stopped}{also}; {own}"))
}

pub(super) fn database_cpu(inputs: &CaseInputs) -> Option<Bottleneck> {
    let database = inputs.database_busy().filter(|busy| *busy >= SATURATED)?;
    // If both are at their limit, the busier one is the bottleneck.
    let subject = inputs.figures.subject_busy.filter(|subject| *subject <= database)?;
    let also = match inputs.shares_with("generator") {
        true => format!(
            ", although the generator ran on the same CPU and used {} of it",
            busy(inputs.figures.generator_busy)
        ),
        false => String::new(),
    };
    let own = inputs.of_subject(subject).replace("its CPU", "its own CPU");
    let database = of_cpus(database, &CpuMode::Dedicated, inputs.cpus.database);
    found(BottleneckKind::DatabaseCpu, "The database used", format!("{database}{also}; the subject {own}"))
}

pub(super) fn subject_cpu(inputs: &CaseInputs) -> Option<Bottleneck> {
    let subject = inputs.figures.subject_busy.filter(|busy| *busy >= SATURATED)?;
    let database = inputs.database_busy().map(|database| format!("; the database used {}", small_share(database)));
    let evidence = inputs.of_subject(subject) + &database.unwrap_or_default();
    found(BottleneckKind::SubjectCpu, "The subject used", evidence)
}

/// A part of a trial, the CPUs it ran on, and the CPU time it used.
type Part<'a> = (&'static str, &'a [u32], fn(&Measurement) -> Option<f64>);

/// Parts that shared exactly the same CPUs and exhausted them together, although none did alone.
pub(super) fn shared_cpu(inputs: &CaseInputs) -> Option<Bottleneck> {
    let cpus = &inputs.around.cpus;
    // A quota limits CPU time, not which CPUs the subject runs on.
    let has_quota = inputs.around.environment.subject.mode == CpuMode::Quota;
    let parts: [Part; 3] = [
        ("database", &cpus.database, cpu_s),
        ("generator", &cpus.generator, |trial| Some(trial.generator.cpu_s)),
        ("subject", if has_quota { &[] } else { &cpus.subject }, |trial| Some(trial.subject.as_ref()?.cpu_s)),
    ];
    let together = |on: &[u32]| {
        let same = || parts.iter().filter(|(_, cpus, _)| !on.is_empty() && *cpus == on);
        let all = |trial: &Measurement| same().map(|(_, _, cpu_s)| cpu_s(trial)).sum::<Option<f64>>();
        let of = |cpu_s: &dyn Fn(&Measurement) -> Option<f64>| {
            let given = |trial: &Measurement| share(cpu_s(trial)?, on.len() as f64 * trial.window_s);
            middle(&inputs.observations.every(given))
        };
        let total = of(&all).filter(|total| same().count() > 1 && *total >= SATURATED)?;
        let each = same().map(|(name, _, cpu_s)| format!("the {name} {}", busy(of(cpu_s))));
        let names: Vec<String> = same().map(|(name, ..)| (*name).to_owned()).collect();
        let cpu = counted_cpus(on);
        let (names, total, each) = (listed(&names, "and"), small_share(total), each.collect::<Vec<_>>().join(", "));
        said(BottleneckKind::SharedCpu, format!("{names} ran on the same {cpu} and used {total} together: {each}"))
    };
    parts.iter().find_map(|(_, on, _)| together(on))
}

/// A process that computes on one thread leaves its other CPUs idle, even while requests wait.
pub(super) fn one_thread(inputs: &CaseInputs) -> Option<Bottleneck> {
    let used = inputs.figures.subject_busy? * inputs.cpus.subject;
    if inputs.cpus.subject <= 1.0 {
        return None;
    }
    let (words, had) = (amount(Quantity::Number, used), inputs.cpus.subject);
    let busiest = |trial: &Measurement| share(trial.subject.as_ref()?.busiest_thread_cpu_s?, trial.window_s);
    if let Some(busiest) = middle(&inputs.observations.every(busiest)) {
        let evidence = format!("{} of a CPU, and the subject {words} of its {had} CPUs", small_share(busiest));
        let begins = "The subject’s busiest thread used";
        return (busiest >= BUSY_THREAD).then(|| found(BottleneckKind::OneThread, begins, evidence))?;
    }
    // Some records have no thread data. There, the sign is a single process that uses about one CPU.
    let processes = inputs.observations.used().map(|used| used.processes_max).max();
    if !ABOUT_ONE_CPU.contains(&used) || processes != Some(1) {
        return None;
    }
    let evidence = format!("{words} of its {had} CPUs, about what one thread can");
    found(BottleneckKind::OneThread, "The subject, which is one process, used", evidence)
}
