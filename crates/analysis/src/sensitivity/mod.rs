//! The effect of single factors of a study, where the order of subjects flips, and how much each factor matters.
//!
//! Each file has one task: `factor.rs` has the factors and their words, `profile.rs` splits a scenario into them, and `panels.rs`
//! groups scenarios that differ in one. `crossing.rs` finds where two lines cross. `variance.rs` builds the grid of a workload
//! and `decomposition.rs` splits its sum of squares. `resampling.rs` draws blocks, and `sentence.rs` has the words.

mod crossing;
mod decomposition;
mod factor;
mod panels;
mod profile;
mod resampling;
mod sentence;
mod variance;

use std::collections::BTreeMap;

use crate::findings::{CaseFinding, FactorPanel, ScenarioFinding, VarianceFinding};
use crate::observations::Observations;
use crate::records::Records;
use profile::Profile;
pub(crate) use sentence::flip_words;

/// The effects of the study's factors: of each alone, and how much each matters.
pub(crate) fn sensitivity(
    records: &Records,
    scenarios: &[ScenarioFinding],
) -> (Vec<FactorPanel>, Vec<VarianceFinding>) {
    let profiles = Profile::all(records.plan, records.names);
    if profiles.len() < 2 {
        return (Vec::new(), Vec::new());
    }
    let goodput = Goodput::read(records, scenarios);
    let panels = panels::panels(records, &profiles, scenarios, &goodput);
    (panels, variance::variance(records, &profiles, scenarios, &goodput))
}

/// Goodput of every competing case, block by block.
pub(crate) struct Goodput(BTreeMap<String, Vec<Option<f64>>>);

impl Goodput {
    fn read(records: &Records, scenarios: &[ScenarioFinding]) -> Self {
        let cases = scenarios.iter().flat_map(|scenario| &scenario.cases).filter(|case| case.ranked);
        let of = |case: &CaseFinding| {
            let observations = Observations::of(&case.case, records.plan, records.trials);
            (case.case.clone(), observations.goodput_by_block())
        };
        Self(cases.map(of).collect())
    }

    fn of(&self, case: &CaseFinding) -> &[Option<f64>] {
        self.0.get(&case.case).map_or(&[], Vec::as_slice)
    }
}
