//! Derives the findings of a run from its records.

use std::collections::BTreeSet;

use crate::cautions::{Seen, cautions, quotable};
use crate::curve::latencies;
use crate::duel::{duel, is_duel};
use crate::fairness::fairness;
use crate::findings::{FINDINGS_SCHEMA, Findings, ProgramFinding, ScenarioFinding, SkippedSubject, TrialCounts};
use crate::isolation::isolation;
use crate::observations::Observations;
use crate::others::others;
use crate::parts::parts;
use crate::power::power;
use crate::programs::{self, Timed};
use crate::published::published;
use crate::recommend::recommend;
use crate::records::Records;
use crate::run_facts::run_facts;
use crate::seconds::seconds;
use crate::sensitivity::sensitivity;
use crate::servers::of_servers;
use crate::soundness::unsound;
use crate::speeds::speeds;
use crate::stopping::ended;
use crate::tools::tools;
use crate::untested::untested;

/// Derives every finding of a run.
///
/// This is a pure function. Its random numbers come from fixed seeds, so the same records give the same findings in any trial
/// order. If the plan's stopping rule ended the run, the blocks planned after that do not count.
pub fn analyse(records: &Records) -> Findings {
    let ended = ended(records);
    let plan = ended.plan.as_ref().unwrap_or(records.plan);
    let records = &Records { plan, ..*records };
    let mut findings = of_plan(records);
    findings.run.stopping = ended.sentence;
    findings.duel = is_duel(records.run).then(|| duel(records, &findings));
    findings
}

fn of_plan(records: &Records) -> Findings {
    let Records { run, plan, trials, .. } = *records;
    let (mut scenarios, mut timed) = (of_servers(records), programs::timed(records));
    for scenario in &mut scenarios {
        fill_courses(records, scenario);
        scenario.power = power(scenario.comparisons.iter().map(|pair| &pair.by), plan.smallest_effect);
    }
    for Timed { finding, .. } in &mut timed {
        finding.power = power(finding.comparisons.iter().map(|pair| &pair.wall), plan.smallest_effect);
    }
    let recorded: BTreeSet<u32> = trials.iter().map(|trial| trial.number).collect();
    let trials_missing = plan.trials.iter().filter(|trial| !recorded.contains(&trial.number)).count() as u32;
    let skipped = plan.skipped.iter().map(|skipped| SkippedSubject {
        subject: skipped.subject.clone(),
        reason: skipped.reason.clone(),
        database_only: skipped.database_only,
    });
    let isolation = isolation(run, trials);
    let (sensitivity, variance) = sensitivity(records, &scenarios);
    let others = others(run.machine.cpus, &scenarios, &timed);
    let seen = Seen { trials_missing, scenarios: &scenarios, timed: &timed, isolation: &isolation, others: &others };
    let cautions = cautions(records, &seen);
    let (timers, program_series) = (programs::timers(&timed), programs::series(&timed, records.names));
    let programs: Vec<ProgramFinding> = timed.into_iter().map(|timed| timed.finding).collect();
    let trials = TrialCounts::of(plan, trials);
    let unsound = unsound(trials, &scenarios, &programs);
    Findings {
        schema_version: FINDINGS_SCHEMA,
        run: run_facts(run, plan, records.records_sha256),
        cautions,
        tools: tools(records, &scenarios),
        published: published(records, &scenarios),
        recommendations: recommend(records, &scenarios, &sensitivity),
        fairness: fairness(records),
        untested: untested(records),
        quotable: quotable(records, trials_missing, &unsound),
        unsound,
        scenarios,
        program_series,
        timers,
        sensitivity,
        variance,
        programs,
        skipped: skipped.collect(),
        trials_missing,
        trials,
        others,
        isolation,
        machine_speeds: speeds(records),
        duel: None,
    }
}

/// Adds the latency curves, the seconds and the parts of every case. They are long, and no verdict depends on them. The stopping
/// rule runs many times and does not need them.
fn fill_courses(records: &Records, finding: &mut ScenarioFinding) {
    let Some(scenario) = records.plan.scenarios.iter().find(|scenario| scenario.id == finding.id) else { return };
    for case in finding.cases.iter_mut().chain(&mut finding.ceiling) {
        let observations = Observations::of(&case.case, records.plan, records.trials);
        (case.latency_curve, case.slow) = latencies(&observations, scenario);
        case.seconds = seconds(&observations);
        case.parts = parts(&observations);
    }
}
