//! The effect of running a run's rounds on several machines of a pool.

use std::collections::{BTreeMap, BTreeSet};

use tolok_stats::between_groups;

use crate::figures::small_share;
use crate::observations::Observations;
use crate::records::Records;

/// Below this probability, differences between machines are not a coincidence.
const SIGNIFICANT_BELOW: f64 = 0.05;

/// The machines, and whether ratios differ between them, in a sentence. `None` for a run on one machine.
pub(crate) fn sentence(records: &Records) -> Option<String> {
    let (run, plan) = (records.run, records.plan);
    let names: Vec<&String> = run.nodes.values().collect::<BTreeSet<_>>().into_iter().collect();
    if names.len() < 2 {
        return None;
    }
    let place = |name: &String| names.iter().position(|known| *known == name);
    // A block without a record has no value either, so its group does not matter.
    let groups: Vec<usize> =
        (1..=plan.blocks).map(|block| run.nodes.get(&block).and_then(place).unwrap_or_default()).collect();
    let has_generators = run.pool.as_ref().is_some_and(|pool| pool.generators > 0);
    let (node, nodes) = if has_generators { ("set of nodes", "sets of nodes") } else { ("node", "nodes") };
    let ran = format!("Rounds ran on {} {nodes}", names.len());
    let Some(found) = between_groups(&[subjects(records)], &groups) else {
        return Some(format!("{ran}; too few rounds to say whether that changes a ratio."));
    };
    let percent = |sd: f64| small_share(sd.exp_m1());
    let (within, between) = (percent(found.within_sd), percent(found.between_sd));
    Some(if found.p < SIGNIFICANT_BELOW {
        format!(
            "{ran}, and results depend on the {node}: ratios scatter by {between} between {nodes} beside {within} within one (F test, p = \
             {:.3}). Intervals hold for these nodes only.",
            found.p
        )
    } else {
        format!(
            "{ran}; ratios scatter by {within} within a {node}, and no difference between {nodes} was found (F test, p = {:.2}).",
            found.p
        )
    })
}

/// Subjects by blocks: the logarithm of correct responses per second, averaged over the scenarios in which all of them compete. A
/// round affects a subject in all scenarios alike, so scenarios are not separate tables.
fn subjects(records: &Records) -> Vec<Vec<Option<f64>>> {
    let plan = records.plan;
    let mut rows: BTreeMap<&str, Vec<Vec<Option<f64>>>> = BTreeMap::new();
    for case in plan.cases.iter().filter(|case| case.competes() && plan.scenario(&case.scenario).is_some()) {
        let row = Observations::of(&case.id, plan, records.trials).goodput_by_block();
        rows.entry(&case.subject.label).or_default().push(row);
    }
    let most = rows.values().map(Vec::len).max().unwrap_or_default();
    let mean = |scenarios: &[Vec<Option<f64>>], block: usize| {
        let logarithm = |row: &Vec<Option<f64>>| row[block].filter(|value| *value > 0.0).map(f64::ln);
        let logarithms: Option<Vec<f64>> = scenarios.iter().map(logarithm).collect();
        logarithms.map(|all| all.iter().sum::<f64>() / all.len() as f64)
    };
    let in_all = rows.into_values().filter(|scenarios| scenarios.len() == most);
    let row = |scenarios: Vec<Vec<Option<f64>>>| {
        (0..plan.blocks as usize).map(|block| mean(&scenarios, block)).collect::<Vec<_>>()
    };
    in_all.map(row).filter(|row| row.iter().any(Option::is_some)).collect()
}
