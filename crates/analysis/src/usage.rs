//! How much of the CPU time that it was given each part of a trial used.

use tolok_model::{CpuMode, Limits, Measurement};

use crate::database::cpu_s;
use crate::environment::Surroundings;
use crate::estimate::middle;
use crate::observations::Observations;

/// CPU time that the parts of a scenario's trials were given, in CPUs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cpus {
    pub(crate) subject: f64,
    pub(crate) generator: f64,
    pub(crate) database: f64,
    pub(crate) machine: f64,
    /// Whether subject and generator overlap.
    pub(crate) shared: bool,
}

/// Shares of CPUs in the median trial, from 0 to 1; nothing where no trial was scored.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) subject: Option<f64>,
    pub(crate) generator: Option<f64>,
    /// Of the database; nothing where there is none or it is not ours.
    pub(crate) database: Option<f64>,
    pub(crate) foreign: Option<f64>,
    pub(crate) stolen: Option<f64>,
}

impl Cpus {
    /// Dedicated CPUs are counted as the run recorded them; the plan knows their number if the run does not. Of a quota it
    /// is the quota that counts, on however many CPUs it may be used.
    pub(crate) fn of(around: &Surroundings, machine: u32) -> Self {
        let given = |limits: &Limits, on: &[u32]| match limits.mode {
            CpuMode::Quota => limits.cpus,
            CpuMode::Dedicated if on.is_empty() => f64::from(limits.whole_cpus()),
            CpuMode::Dedicated => on.len() as f64,
        };
        Self {
            subject: given(&around.environment.subject, &around.cpus.subject),
            generator: given(&around.environment.generator, &around.cpus.generator),
            database: around.cpus.database.len() as f64,
            machine: f64::from(machine),
            shared: around.cpus.shared,
        }
    }

    pub(crate) fn usage(&self, observations: &Observations) -> Usage {
        let middle_of = |share: &dyn Fn(&Measurement) -> Option<f64>| middle(&observations.each(share));
        Usage {
            subject: middle_of(&|trial| share(trial.subject.known()?.cpu_s, self.subject * trial.window_s)),
            generator: middle_of(&|trial| share(trial.generator.cpu_s, self.generator * trial.window_s)),
            database: middle_of(&|trial| share(cpu_s(trial)?, self.database * trial.window_s)),
            foreign: middle_of(&|trial| share(trial.host.foreign_cpu_s, self.machine * trial.window_s)),
            stolen: middle_of(&|trial| share(trial.host.steal_s, self.machine * trial.window_s)),
        }
    }
}

/// Part of a whole, from 0 to 1. Clocks of CPU time and of the window are read one after the other, and a quota may be
/// used up in advance, so a part can come out a hair larger than the whole.
pub(crate) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && part.is_finite()).then(|| (part / whole).clamp(0.0, 1.0))
}
