//! Disturbances of a trial's window by other programs.

use tolok_model::{CpuMap, CpuMode, Disturbance, Environment, HostWindow, Resources};

use tolok_host::machine::{WindowFacts, disturbances};

/// Disturbances of a window, judged by the CPU time that other programs took.
pub(super) fn by_others(
    (environment, cpus): (&Environment, &CpuMap),
    machine_cpus: u32,
    window_s: f64,
    (host, used): (&HostWindow, &Resources),
) -> Vec<Disturbance> {
    let subject = &environment.subject;
    let facts = WindowFacts {
        window_s,
        machine_cpus: f64::from(machine_cpus),
        subject_cpus: match subject.mode {
            CpuMode::Dedicated => cpus.subject.len() as f64,
            CpuMode::Quota => subject.cpus,
        },
        foreign_cpu_s: host.foreign_cpu_s,
        steal_s: host.steal_s,
        subject_cpu_s: used.cpu_s,
        subject_wait_s: used.run_queue_wait_s,
    };
    let found = disturbances(&facts).into_iter();
    found
        .map(|found| Disturbance { kind: found.kind.word().to_owned(), value: found.share, text: found.sentence })
        .collect()
}
