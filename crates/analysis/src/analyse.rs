//! From the records of a run to its findings.

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

/// Everything that follows from a run.
///
/// A pure function, with random numbers from fixed seeds alone: the same records give the same findings, in whatever order the
/// trials come.
/// Where the plan has a rule for stopping and that has ended the run, the plan of later blocks does not count.
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
    let skipped = plan
        .skipped
        .iter()
        .map(|skipped| SkippedSubject { subject: skipped.subject.clone(), reason: skipped.reason.clone() });
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

/// Adds the latency curves, the seconds and the parts of every case. They are long, and no verdict rests on them. A rule for
/// stopping, which is asked again and again, does not look at them.
fn fill_courses(records: &Records, finding: &mut ScenarioFinding) {
    let Some(scenario) = records.plan.scenarios.iter().find(|scenario| scenario.id == finding.id) else { return };
    for case in finding.cases.iter_mut().chain(&mut finding.ceiling) {
        let observations = Observations::of(&case.case, records.plan, records.trials);
        (case.latency_curve, case.slow) = latencies(&observations, scenario);
        case.seconds = seconds(&observations);
        case.parts = parts(&observations);
    }
}
