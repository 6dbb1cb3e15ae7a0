//! The order of the trials.

use tolok_rng::SplitMix64;

use crate::plan::slices::Group;
use crate::plan::{Case, PlannedTrial, twins};
use crate::program::ProgramScenario;
use crate::study::Scenario;

/// Shuffles each block on its own. The cases of a launch stay together; launches and single trials are mixed.
pub(super) fn shuffled(
    cases: &[Case],
    (scenarios, programs): (&[Scenario], &[ProgramScenario]),
    blocks: u32,
    seed: u64,
) -> Vec<PlannedTrial> {
    let group = |case: &Case| Group::of(case, scenarios, programs);
    let twins = twins::of_blocks(cases, (scenarios, programs), blocks, seed);
    let mut random = SplitMix64::new(seed);
    let mut launch = 0;
    let mut trials = Vec::new();
    for (block, twins) in (1..=blocks).zip(twins) {
        let mut order: Vec<&Case> = cases.iter().collect();
        random.shuffle(&mut order);
        order.retain(|case| case.twin_of.is_none() || twins.contains(&case.id));
        let mut launched = Vec::new();
        for case in order.iter().copied() {
            let together: Vec<&Case> = match group(case) {
                None => vec![case],
                Some(own) if launched.contains(&own) => continue,
                Some(own) => {
                    launched.push(own);
                    order.iter().copied().filter(|other| group(other) == Some(own)).collect()
                }
            };
            let of_launch = group(case).map(|_| {
                launch += 1;
                launch
            });
            for case in together {
                let number = trials.len() as u32 + 1;
                trials.push(PlannedTrial { number, block, case: case.id.clone(), launch: of_launch });
            }
        }
    }
    trials
}
