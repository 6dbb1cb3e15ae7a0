//! What failed in a run: trials that could not be measured or were disturbed, and requests of those that were not.

use serde::Serialize;
use tolok_analysis::figures::{Quantity, amount, count, listed, small_share};
use tolok_analysis::{CaseFinding, DisturbedTrial, Findings, ScenarioFinding};

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
    goodput: String,
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
    for (scenario, case) in cases(findings) {
        let mut ways: Vec<(&str, &str, Vec<u32>)> = Vec::new();
        for failure in &case.failures {
            match ways.iter_mut().find(|(reason, message, _)| *reason == failure.reason && *message == failure.message)
            {
                Some((_, _, trials)) => trials.push(failure.trial),
                None => ways.push((&failure.reason, &failure.message, vec![failure.trial])),
            }
        }
        groups.extend(ways.into_iter().map(|(reason, message, trials)| FailedTrials {
            trials: numbers(&trials),
            scenario: &scenario.id,
            title: &case.title,
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
        let Self { trial, scenario, title, goodput, causes, .. } = self;
        format!(
            "trial {trial}, {scenario}, {title}: measured {times}, {goodput} good answers/s the last time: {causes}"
        )
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
            goodput: amount(Quantity::Number, trial.goodput_rps),
            attempts: trial.attempts,
            causes: printable(&listed(&trial.causes, "and")),
        })
    };
    cases(findings).flat_map(of).collect()
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

fn numbers(trials: &[u32]) -> String {
    let numbers: Vec<String> = trials.iter().map(u32::to_string).collect();
    let noun = if trials.len() == 1 { "trial" } else { "trials" };
    format!("{noun} {}", listed(&numbers, "and"))
}
