//! What failed in a run: trials that could not be measured or were disturbed, and requests of those that were not.

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount, count, listed, small_share};
use tolok_analysis::{
    CaseFinding, DisturbedProgramTrial, DisturbedTrial, Findings, ProgramCaseFinding, ProgramFinding, ScenarioFinding,
};

use crate::printable::printable;
use crate::surroundings;

/// Trials of one case that failed in the same way.
#[derive(Debug, Serialize)]
pub(crate) struct FailedTrials<'a> {
    /// Their numbers in a list: `trials 4 and 9`.
    pub(crate) trials: String,
    pub(crate) scenario: &'a str,
    pub(crate) title: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) message: String,
}

/// A trial that was measured and counts for nothing, because others disturbed it.
#[derive(Debug, Serialize)]
pub(crate) struct Disturbed<'a> {
    trial: u32,
    scenario: &'a str,
    title: &'a str,
    /// What was seen the last time, with its unit.
    seen: String,
    attempts: u32,
    causes: String,
}

/// Requests of one case that failed, in its scored trials.
#[derive(Debug, Serialize)]
pub(crate) struct FailedRequests<'a> {
    scenario: &'a str,
    title: &'a str,
    sent: String,
    failed: String,
    share: String,
    classes: String,
}

impl FailedTrials<'_> {
    /// Everything about them in one line.
    pub(crate) fn sentence(&self) -> String {
        format!("{}, {}, {}: {}: {}", self.trials, self.scenario, self.title, self.reason, self.message)
    }
}

/// All trials that failed; those of a case that say the same stand together.
pub(crate) fn failed_trials(findings: &Findings) -> Vec<FailedTrials<'_>> {
    let mut groups = Vec::new();
    let of_servers = cases(findings).map(|(scenario, case)| (&scenario.id, &case.title, &case.failures));
    let of_programs = programs(findings).map(|(program, case)| (&program.id, &case.title, &case.failures));
    for (scenario, title, failures) in of_servers.chain(of_programs) {
        let mut ways: Vec<(&str, &str, Vec<u32>)> = Vec::new();
        for failure in failures {
            match ways.iter_mut().find(|(reason, message, _)| *reason == failure.reason && *message == failure.message)
            {
                Some((_, _, trials)) => trials.push(failure.trial),
                None => ways.push((&failure.reason, &failure.message, vec![failure.trial])),
            }
        }
        groups.extend(ways.into_iter().map(|(reason, message, trials)| FailedTrials {
            trials: numbers(&trials),
            scenario,
            title,
            reason,
            message: printable(message),
        }));
    }
    groups
}

impl Disturbed<'_> {
    /// Everything about it in one line.
    pub(crate) fn sentence(&self) -> String {
        let times = if self.attempts == 1 { "once".to_owned() } else { format!("{} times", self.attempts) };
        let Self { trial, scenario, title, seen, causes, .. } = self;
        format!("trial {trial}, {scenario}, {title}: measured {times}, {seen} the last time: {causes}")
    }
}

/// All trials that count for nothing because others disturbed them.
pub(crate) fn disturbed_trials(findings: &Findings) -> Vec<Disturbed<'_>> {
    let of = |(scenario, case)| {
        let (scenario, case): (&ScenarioFinding, &CaseFinding) = (scenario, case);
        case.disturbed.iter().map(move |trial: &DisturbedTrial| Disturbed {
            trial: trial.trial,
            scenario: &scenario.id,
            title: &case.title,
            seen: format!("{} good answers/s", amount(Quantity::Number, trial.goodput_rps)),
            attempts: trial.attempts,
            causes: printable(&listed(&trial.causes, "and")),
        })
    };
    let of_program = |(program, case)| {
        let (program, case): (&ProgramFinding, &ProgramCaseFinding) = (program, case);
        case.disturbed.iter().map(move |trial: &DisturbedProgramTrial| Disturbed {
            trial: trial.trial,
            scenario: &program.id,
            title: &case.title,
            seen: trial.wall_s.map_or(NONE.to_owned(), |wall_s| amount(Quantity::Seconds, wall_s)),
            attempts: trial.attempts,
            causes: printable(&listed(&trial.causes, "and")),
        })
    };
    cases(findings).flat_map(of).chain(programs(findings).flat_map(of_program)).collect()
}

/// All cases with failed requests.
pub(crate) fn failed_requests(findings: &Findings) -> Vec<FailedRequests<'_>> {
    let failing = cases(findings).filter(|(_, case)| !case.errors.is_empty());
    failing.map(|(scenario, case)| requests(scenario, case)).collect()
}

fn requests<'a>(scenario: &'a ScenarioFinding, case: &'a CaseFinding) -> FailedRequests<'a> {
    let failed: u64 = case.errors.iter().map(|(_, number)| number).sum();
    let class = |(class, number): &(String, u64)| format!("{} {}", class.replace('_', " "), count(*number));
    FailedRequests {
        scenario: &scenario.id,
        title: &case.title,
        sent: count(case.requests_sent),
        failed: count(failed),
        share: small_share(failed as f64 / case.requests_sent.max(1) as f64),
        classes: case.errors.iter().map(class).collect::<Vec<_>>().join(", "),
    }
}

/// Every case with the scenario it belongs to, the ceilings included.
fn cases(findings: &Findings) -> impl Iterator<Item = (&ScenarioFinding, &CaseFinding)> {
    findings.scenarios.iter().flat_map(|scenario| surroundings::cases(scenario).map(move |case| (scenario, case)))
}

/// Every case of programs with the scenario it belongs to.
fn programs(findings: &Findings) -> impl Iterator<Item = (&ProgramFinding, &ProgramCaseFinding)> {
    findings.programs.iter().flat_map(|program| program.cases.iter().map(move |case| (program, case)))
}

fn numbers(trials: &[u32]) -> String {
    let numbers: Vec<String> = trials.iter().map(u32::to_string).collect();
    let noun = if trials.len() == 1 { "trial" } else { "trials" };
    format!("{noun} {}", listed(&numbers, "and"))
}
