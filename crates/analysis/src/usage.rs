//! How much of its CPU time each part of a trial used.

use tolok_model::{CpuMode, Limits, Measurement};

use crate::environment::Surroundings;

/// CPU time available to the parts of a scenario's trials, in CPUs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cpus {
    pub(crate) subject: f64,
    pub(crate) generator: f64,
    pub(crate) database: f64,
    pub(crate) machine: f64,
    /// Whether subject and generator share CPUs.
    pub(crate) shared: bool,
}

impl Cpus {
    /// Dedicated CPUs come from the run's record, or from the plan if the run has none. For a quota, the quota counts, on however
    /// many CPUs it may be used.
    pub(crate) fn of(around: &Surroundings, machine: u32) -> Self {
        let given = |limits: &Limits, on: &[u32]| match limits.mode {
            CpuMode::Quota => limits.cpus,
            CpuMode::Dedicated if on.is_empty() => f64::from(limits.whole_cpus()),
            CpuMode::Dedicated => on.len() as f64,
        };
        Self {
            subject: given(&around.environment.subject, &around.cpus.subject),
            generator: around
                .generators
                .map_or_else(|| given(&around.environment.generator, &around.cpus.generator), f64::from),
            database: around.cpus.database.len() as f64,
            machine: f64::from(machine),
            shared: around.cpus.shared,
        }
    }
}

/// A share from 0 to 1. Clocks of CPU time and of the window are read one after the other, and a quota may be used in advance, so
/// the part can slightly exceed the whole.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && part.is_finite()).then(|| (part / whole).clamp(0.0, 1.0))
}

/// Share of the machine's CPUs that other programs used in a trial.
pub(crate) fn foreign_share(trial: &Measurement, cpus: &Cpus) -> Option<f64> {
    share(trial.host.foreign_cpu_s, cpus.machine * trial.window_s)
}

/// Share of the machine's CPUs that the hypervisor took in a trial.
pub(crate) fn stolen_share(trial: &Measurement, cpus: &Cpus) -> Option<f64> {
    share(trial.host.steal_s, cpus.machine * trial.window_s)
}
