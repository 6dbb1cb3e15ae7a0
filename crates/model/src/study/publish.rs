//! Makes a study long enough for its results to be quoted.

use crate::load::profile::Executor;
use crate::study::Study;

/// The minimum that quotable figures require.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quotable {
    pub blocks: u32,
    /// The shortest window of a trial, in seconds. Slices have no such limit.
    pub window_s: f64,
}

impl Study {
    /// The same study, with at least the blocks and windows that quotable figures need. Larger values and numbers of
    /// iterations stay as they are. A fixed number of blocks replaces any stopping rule.
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
