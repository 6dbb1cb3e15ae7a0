//! A study made long enough to be quoted.

use crate::load::profile::Executor;
use crate::study::Study;

/// The least that figures to be quoted rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quotable {
    pub blocks: u32,
    /// The shortest window of a trial. Slices have no such limit.
    pub window_s: f64,
}

impl Study {
    /// The same study with as many blocks and as long windows as figures to be quoted need. What is more already stays as it is,
    /// and so do numbers of iterations. A number of blocks takes the place of a rule for stopping.
    #[must_use]
    pub fn to_publish(&self, least: Quotable) -> Self {
        let mut longer = self.clone();
        longer.blocks = self.blocks.max(least.blocks);
        (longer.stopping, longer.budget_s) = (None, None);
        for scenario in longer.scenarios.iter_mut().filter(|scenario| scenario.slices.is_none()) {
            let load = &mut scenario.load;
            if load.executor.has_iterations() || load.duration_s >= least.window_s {
                continue;
            }
            let factor = least.window_s / load.duration_s;
            match &mut load.executor {
                Executor::RampingVus { stages, .. } | Executor::RampingArrivalRate { stages, .. } => {
                    stages.iter_mut().for_each(|stage| stage.duration_s *= factor);
                }
                _ => {}
            }
            load.duration_s = least.window_s;
        }
        longer
    }
}
