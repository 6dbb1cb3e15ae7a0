//! What it changes that the rounds of a run ran on several machines of a pool.

use std::collections::BTreeSet;

use tolok_stats::between_groups;

use crate::figures::{counted, small_share};
use crate::observations::Observations;
use crate::records::Records;

/// Below this, differences between machines are no accident.
const SIGNIFICANT_BELOW: f64 = 0.05;

/// Which machines there were, and whether ratios differ between them, in a sentence. `None` of a run on one machine.
pub(crate) fn sentence(records: &Records) -> Option<String> {
    let (run, plan) = (records.run, records.plan);
    let names: Vec<&String> = run.nodes.values().collect::<BTreeSet<_>>().into_iter().collect();
    if names.len() < 2 {
        return None;
    }
    let place = |name: &String| names.iter().position(|known| *known == name);
    // Of a block without a record there is no value either.
    let groups: Vec<usize> =
        (1..=plan.blocks).map(|block| run.nodes.get(&block).and_then(place).unwrap_or_default()).collect();
    let tables: Vec<Vec<Vec<Option<f64>>>> = plan.scenarios.iter().map(|it| logarithms(records, &it.id)).collect();
    let ran = format!("Rounds ran on {}", counted(names.len() as u64, "node"));
    let Some(found) = between_groups(&tables, &groups) else {
        return Some(format!("{ran}; too few rounds to say whether that changes a ratio."));
    };
    let percent = |sd: f64| small_share(sd.exp_m1());
    let (within, between) = (percent(found.within_sd), percent(found.between_sd));
    Some(if found.p < SIGNIFICANT_BELOW {
        format!(
            "{ran}, and results depend on the node: ratios scatter by {between} between nodes beside {within} within one (F test, p = \
             {:.3}). Intervals hold for these nodes only.",
            found.p
        )
    } else {
        format!(
            "{ran}; ratios scatter by {within} within a node, and no more between nodes (F test, p = {:.2}).",
            found.p
        )
    })
}

/// Logarithms of correct responses per second: competing cases by blocks.
fn logarithms(records: &Records, scenario: &str) -> Vec<Vec<Option<f64>>> {
    let plan = records.plan;
    let cases = plan.cases.iter().filter(|case| case.scenario == scenario && case.competes());
    let rows = cases.map(|case| Observations::of(&case.id, plan, records.trials).goodput_by_block());
    let logarithms =
        |row: Vec<Option<f64>>| row.into_iter().map(|value| value.filter(|it| *it > 0.0).map(f64::ln)).collect();
    rows.map(logarithms).filter(|row: &Vec<Option<f64>>| row.iter().any(Option::is_some)).collect()
}
