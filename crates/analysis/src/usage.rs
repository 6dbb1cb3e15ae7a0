//! How much of its CPUs each part of a trial used.

use tolok_model::{Measurement, Plan, RunRecord};

use crate::estimate::middle;
use crate::observations::Observations;

/// CPUs of the parts of every trial of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cpus {
    subject: f64,
    generator: f64,
    machine: f64,
    /// Whether subject and generator overlap.
    pub(crate) shared: bool,
}

/// Shares of CPUs in the median trial, from 0 to 1; nothing where no trial was measured.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) subject: Option<f64>,
    pub(crate) generator: Option<f64>,
    pub(crate) foreign: Option<f64>,
    pub(crate) stolen: Option<f64>,
}

impl Cpus {
    /// As the run recorded them; the plan knows their number if the run does not.
    pub(crate) fn of(run: &RunRecord, plan: &Plan) -> Self {
        let number = |used: &[u32], planned: u32| if used.is_empty() { planned } else { used.len() as u32 };
        Self {
            subject: f64::from(number(&run.cpus.subject, plan.cpus.subject)),
            generator: f64::from(number(&run.cpus.generator, plan.cpus.generator)),
            machine: f64::from(run.machine.cpus),
            shared: run.cpus.shared,
        }
    }

    pub(crate) fn usage(&self, observations: &Observations) -> Usage {
        let middle_of = |share: &dyn Fn(&Measurement) -> Option<f64>| middle(&observations.each(share));
        Usage {
            subject: middle_of(&|trial| share(trial.subject.cpu_s, self.subject * trial.window_s)),
            generator: middle_of(&|trial| share(trial.generator.cpu_s, self.generator * trial.window_s)),
            foreign: middle_of(&|trial| self.foreign(trial)),
            stolen: middle_of(&|trial| self.stolen(trial)),
        }
    }

    /// Share of the machine that neither subject nor generator used.
    pub(crate) fn foreign(&self, trial: &Measurement) -> Option<f64> {
        share(trial.host.foreign_cpu_s, self.machine * trial.window_s)
    }

    /// Share of the machine that the hypervisor took away.
    pub(crate) fn stolen(&self, trial: &Measurement) -> Option<f64> {
        share(trial.host.steal_s, self.machine * trial.window_s)
    }

    /// The largest share of the subject's own CPUs that other programs can have taken from it.
    ///
    /// Threads of one subject wait for each other, so a long wait alone says nothing. But what others took is time that
    /// the subject waited, that it did not use, and that others did use: it can be no more than the least of the three.
    pub(crate) fn taken_from_subject(&self, trial: &Measurement) -> Option<f64> {
        let own_s = self.subject * trial.window_s;
        let unused_s = own_s - trial.subject.cpu_s;
        share(trial.subject.run_queue_wait_s.min(unused_s).min(trial.host.foreign_cpu_s), own_s)
    }
}

/// Part of a whole, from 0 to 1. Clocks of CPU time and of the window are read one after the other, so a part can come
/// out a hair larger than the whole.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && part.is_finite()).then(|| (part / whole).clamp(0.0, 1.0))
}
