//! Compares the plan with what was fixed before the first trial, and the trials with the plan.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tolok_model::{Check, Difference, Plan, PlannedTrial, RunRecord, ValueDifference};

use super::{RESTORE, of_values, said, unreadable};
use crate::RunFolder;

/// Checks hash and seed of the plan, and whether its order is the one that the seed gives.
pub(super) fn check(run: &RunRecord, plan: &Plan) -> Check {
    let mut check = Check::new("plan");
    check.compared = plan.trials.len() as u64;
    let mut equal = |at: &str, stored: Value, made: Value, source: &str| {
        if stored != made {
            let difference = ValueDifference { at: at.to_owned(), stored: Some(stored), made: Some(made) };
            check.differs(of_values("plan.json", source, difference, RESTORE));
        }
    };
    equal(
        "SHA-256",
        plan.hash().into(),
        run.plan_sha256.as_str().into(),
        "run.json, which has it from before the first trial",
    );
    equal("seed", plan.seed.into(), run.seed.into(), "run.json");
    let order = plan.order_by_seed();
    let first = (0..order.len().max(plan.trials.len())).find(|place| plan.trials.get(*place) != order.get(*place));
    if let Some(place) = first {
        let words = |trial: Option<&PlannedTrial>| trial.map_or(Value::Null, |trial| json!(trial.case));
        let (stored, made) = (words(plan.trials.get(place)), words(order.get(place)));
        let shape = if is_permutation(plan) { "" } else { "; and not every block has every case once" };
        let source = format!("the seed {}{shape}", plan.seed);
        equal(&format!("trials[{place}].case"), stored, made, &source);
    }
    let trials = check.compared;
    check.saying(format!(
        "its SHA-256 matches run.json, and its {trials} trials have the order that its seed gives, block by block"
    ))
}

/// Whether each block has every case once.
fn is_permutation(plan: &Plan) -> bool {
    // Second halves of A/A pairs take turns, so a block may lack some.
    let of_all = |has_twins: bool| -> BTreeSet<&str> {
        plan.cases.iter().filter(|case| has_twins || case.twin_of.is_none()).map(|case| case.id.as_str()).collect()
    };
    let (all, always) = (of_all(true), of_all(false));
    (1..=plan.blocks).all(|block| {
        let of_block: Vec<&str> =
            plan.trials.iter().filter(|trial| trial.block == block).map(|trial| trial.case.as_str()).collect();
        let distinct: BTreeSet<&str> = of_block.iter().copied().collect();
        distinct.len() == of_block.len() && distinct.is_superset(&always) && distinct.is_subset(&all)
    })
}

/// Checks that every planned trial has a record, and every record a place in the plan. `is_at_work`: a tolok was writing the run
/// before its records were read.
pub(super) fn trials(folder: &RunFolder, plan: &Plan, is_at_work: bool) -> Check {
    let mut check = Check::new("trials");
    check.compared = plan.trials.len() as u64;
    let mut missing = Vec::new();
    for planned in &plan.trials {
        match folder.trial_value(planned) {
            Ok(None) => missing.push(RunFolder::trial_name(planned)),
            Ok(Some(value)) => place_of(planned, &value, &mut check),
            Err(error) => check.add(unreadable(folder, "trials", &error)),
        }
    }
    let known: BTreeSet<String> = plan
        .trials
        .iter()
        .map(RunFolder::trial_name)
        .chain(plan.cases.iter().map(|case| RunFolder::diagnosis_name(&case.id)))
        .collect();
    for unknown in folder.finished().into_iter().filter(|name| !known.contains(name)) {
        check.differs(said(unknown, "the plan has no such trial", "remove it if you put it there"));
    }
    if let Some(first) = missing.first().filter(|_| is_at_work) {
        check.notes.push(format!(
            "{} of the planned trials have no record, {first} first: the run is still going, because another tolok holds its lock; verify it when it has ended",
            missing.len()
        ));
    } else if let Some(first) = missing.first() {
        let by = if plan.may_end_early() { " by the plan's rule, or by a user" } else { "" };
        check.notes.push(format!(
            "{} of the planned trials have no record, {first} first: the run was stopped before them{by}; had they been removed, the manifest would show it",
            missing.len()
        ));
    }
    let (there, all) = (plan.trials.len() - missing.len(), plan.trials.len());
    check.saying(format!("{there} of {all} planned trials have a record, each in its place"))
}

fn place_of(planned: &PlannedTrial, value: &Value, check: &mut Check) {
    let own = [("number", json!(planned.number)), ("block", json!(planned.block)), ("case", json!(planned.case))];
    let file = format!("{}/trial.json", RunFolder::trial_name(planned));
    for (at, made) in own {
        let stored = value.get(at).cloned();
        if stored.as_ref() != Some(&made) {
            let difference = ValueDifference { at: at.to_owned(), stored, made: Some(made) };
            let difference: Difference = of_values(&file, "plan.json", difference, RESTORE);
            check.differs(difference);
        }
    }
}
