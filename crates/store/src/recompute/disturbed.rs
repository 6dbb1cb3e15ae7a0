//! What others did to the window of a trial.

use tolok_model::{CpuMap, CpuMode, Disturbance, Environment};

use tolok_host::machine::{WindowFacts, disturbances};
use tolok_host::sample::{Part, WindowUsage};

/// What others did to a window, judged by what they took of the CPUs.
pub(super) fn by_others(
    (environment, cpus): (&Environment, &CpuMap),
    machine_cpus: usize,
    window_s: f64,
    usage: &WindowUsage,
) -> Vec<Disturbance> {
    let subject = &environment.subject;
    let facts = WindowFacts {
        window_s,
        machine_cpus: machine_cpus as f64,
        subject_cpus: match subject.mode {
            CpuMode::Dedicated => cpus.subject.len() as f64,
            CpuMode::Quota => subject.cpus,
        },
        foreign_cpu_s: usage.host.foreign_cpu_s,
        steal_s: usage.host.steal_s,
        subject_cpu_s: usage.part(Part::Subject).cpu_s,
        subject_wait_s: usage.part(Part::Subject).run_queue_wait_s,
    };
    let found = disturbances(&facts).into_iter();
    found
        .map(|found| Disturbance { kind: found.kind.word().to_owned(), value: found.share, text: found.sentence })
        .collect()
}
