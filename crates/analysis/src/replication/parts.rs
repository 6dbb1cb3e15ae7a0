//! The runs of a replication, and what was left out of them.

use tolok_model::Outcome;
use tolok_model::replication::ReplicationPart;

use super::findings::{MeasuredRun, PartFinding};
use super::sites::Sites;
use crate::figures::counted;

/// All parts in their order, run or not.
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
        trials: trials.len() as u32,
        failed: failed as u32,
        left_out,
    }
}

fn not_run(part: &ReplicationPart, why: &str) -> PartFinding {
    PartFinding {
        name: part.name.clone(),
        says: part.says.clone(),
        study: part.study.clone(),
        run: None,
        machine: None,
        began: None,
        trials: 0,
        failed: 0,
        left_out: vec![format!("the whole part: {}", why.trim_end_matches('.'))],
    }
}
