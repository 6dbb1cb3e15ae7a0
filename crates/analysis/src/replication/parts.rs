//! The runs of a replication, and what was left out of them.

use std::collections::BTreeSet;
use tolok_model::replication::ReplicationPart;

use tolok_model::{Outcome, TrialRecord};

use super::findings::MeasuredRun;
use super::findings::PartFinding;
use super::sites::Sites;
use crate::figures::counted;

pub(super) fn parts(sites: &Sites) -> Vec<PartFinding> {
    let given = |part: &ReplicationPart| sites.parts.iter().find(|given| given.name == part.name);
    let finding = |part: &ReplicationPart| match given(part).map(|given| &given.run) {
        Some(Ok(run)) => of_run(part, run),
        Some(Err(why)) => not_run(part, why),
        None => not_run(part, "it was not asked for"),
    };
    sites.replication.parts.iter().map(finding).collect()
}

fn of_run(part: &ReplicationPart, run: &MeasuredRun) -> PartFinding {
    let trials = run.records.trials;
    let facts = &run.findings.run;
    let failed = trials.iter().filter(|trial| matches!(trial.outcome, Outcome::Failed(_))).count();
    let skipped = run.findings.skipped.iter();
    let mut left_out: Vec<String> =
        skipped.map(|it| format!("{}: {}", it.subject, it.reason.trim_end_matches('.'))).collect();
    let missing = u64::from(run.findings.trials_missing);
    left_out.extend((missing > 0).then(|| format!("{} of the plan without a record", counted(missing, "trial"))));
    PartFinding {
        name: part.name.clone(),
        says: part.says.clone(),
        study: facts.title.clone(),
        run: Some(facts.id.clone()),
        machine: Some(facts.machine.clone()),
        began: Some(facts.started_at.clone()),
        blocks: blocks(run),
        windows_s: windows_s(run),
        scale: facts.scale,
        trials: trials.len() as u32,
        failed: failed as u32,
        left_out,
    }
}

/// Blocks with at least one record: fewer than planned if the run was interrupted.
fn blocks(run: &MeasuredRun) -> u32 {
    run.records.trials.iter().map(|trial| trial.block).collect::<BTreeSet<u32>>().len() as u32
}

fn windows_s(run: &MeasuredRun) -> Option<[f64; 2]> {
    let window_s = |trial: &TrialRecord| match &trial.outcome {
        Outcome::Completed(measured) => Some(measured.window_s),
        _ => None,
    };
    let all = || run.records.trials.iter().filter_map(window_s);
    Some([all().reduce(f64::min)?, all().reduce(f64::max)?])
}

fn not_run(part: &ReplicationPart, why: &str) -> PartFinding {
    PartFinding {
        name: part.name.clone(),
        says: part.says.clone(),
        study: part.study.clone(),
        run: None,
        machine: None,
        began: None,
        blocks: 0,
        windows_s: None,
        scale: 1.0,
        trials: 0,
        failed: 0,
        left_out: vec![format!("the whole part: {}", why.trim_end_matches('.'))],
    }
}
