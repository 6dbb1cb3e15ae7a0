//! What failed in a run: trials that could not be measured or were disturbed, and requests of those that were not.

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount, count, counted, listed, small_share};
use tolok_analysis::{
    CaseFinding, DisturbedProgramTrial, DisturbedTrial, Findings, ProgramCaseFinding, ProgramFinding, ScenarioFinding,
};

use crate::documents::run::surroundings;
use crate::markdown::{escaped, lines};
use crate::printable::printable;

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

/// What became of requests that had no good answer in time, case by case.
#[derive(Debug, Serialize)]
pub(crate) struct FailedRequests<'a> {
    /// The classes of failures that occur anywhere, each with a column.
    pub(crate) classes: Vec<String>,
    /// Whether any request was still waiting to be sent when its window ended.
    pub(crate) has_unsent: bool,
    /// Whether any good answer came late.
    pub(crate) has_slow: bool,
    /// Cases with anything to say.
    pub(crate) rows: Vec<RequestsRow<'a>>,
    /// The other cases in a sentence.
    pub(crate) rest: String,
}

/// The requests of one case, in its scored trials.
#[derive(Debug, Serialize)]
pub(crate) struct RequestsRow<'a> {
    pub(crate) scenario: &'a str,
    pub(crate) title: &'a str,
    pub(crate) sent: String,
    /// Failed requests by class, in the order of the columns.
    pub(crate) failed: Vec<String>,
    /// All that failed, as a share of those sent.
    pub(crate) share: String,
    pub(crate) unsent: String,
    /// Good answers later than the bound, which are no failures.
    pub(crate) slow: String,
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

/// The requests of all cases that were measured; none where no case was.
pub(crate) fn failed_requests(findings: &Findings) -> Option<FailedRequests<'_>> {
    let (telling, silent): (Vec<_>, Vec<_>) =
        cases(findings).filter(|(_, case)| case.trials_scored > 0).partition(|(_, case)| is_telling(case));
    if telling.is_empty() && silent.is_empty() {
        return None;
    }
    let mut classes: Vec<&str> = Vec::new();
    for (class, _) in telling.iter().flat_map(|(_, case)| &case.errors) {
        if !classes.contains(&class.as_str()) {
            classes.push(class);
        }
    }
    let sent: u64 = silent.iter().map(|(_, case)| case.requests_sent).sum();
    let rest = match silent.len() as u64 {
        0 => String::new(),
        _ if telling.is_empty() => format!("No request failed in the scored trials; {} were sent.", count(sent)),
        1 => format!("In the other case no request failed; {} were sent.", count(sent)),
        number => format!("In the other {} no request failed; {} were sent.", counted(number, "case"), count(sent)),
    };
    Some(FailedRequests {
        has_unsent: telling.iter().any(|(_, case)| case.requests_unsent > 0),
        has_slow: telling.iter().any(|(_, case)| slow_answers(case) > 0),
        rows: telling.iter().map(|(scenario, case)| RequestsRow::of(scenario, case, &classes)).collect(),
        classes: classes.iter().map(|class| class.replace('_', " ")).collect(),
        rest,
    })
}

/// Whether any request of a case failed, was not sent, or was answered late.
fn is_telling(case: &CaseFinding) -> bool {
    !case.errors.is_empty() || case.requests_unsent > 0 || slow_answers(case) > 0
}

fn slow_answers(case: &CaseFinding) -> u64 {
    case.slow.as_ref().map_or(0, |slow| slow.answers)
}

impl<'a> RequestsRow<'a> {
    fn of(scenario: &'a ScenarioFinding, case: &'a CaseFinding, classes: &[&str]) -> Self {
        let failed: u64 = case.errors.iter().map(|(_, number)| number).sum();
        let of_class =
            |class: &&str| case.errors.iter().find(|(known, _)| known == class).map_or(0, |(_, number)| *number);
        let slow = case.slow.as_ref().map(|slow| match slow.answers {
            0 => "0".to_owned(),
            answers => format!(
                "{} ({}, over {})",
                count(answers),
                small_share(slow.share),
                amount(Quantity::Seconds, slow.bound_s)
            ),
        });
        Self {
            scenario: &scenario.id,
            title: &case.title,
            sent: count(case.requests_sent),
            failed: classes.iter().map(|class| count(of_class(class))).collect(),
            share: small_share(failed as f64 / case.requests_sent.max(1) as f64),
            unsent: count(case.requests_unsent),
            slow: slow.unwrap_or_else(|| NONE.to_owned()),
        }
    }
}

impl FailedRequests<'_> {
    /// The section in Markdown, with an empty line before it; empty where every request had its answer in time.
    pub(crate) fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut headings = ["scenario", "subject", "requests sent"].map(str::to_owned).to_vec();
        headings.extend(self.classes.iter().cloned());
        headings.extend((!self.classes.is_empty()).then(|| "failed".to_owned()));
        headings.extend(self.has_unsent.then(|| "never sent".to_owned()));
        headings.extend(self.has_slow.then(|| "good, but late".to_owned()));
        let row = |row: &RequestsRow| {
            let mut cells = vec![format!("`{}`", row.scenario), escaped(row.title), row.sent.clone()];
            cells.extend(row.failed.iter().cloned());
            cells.extend((!self.classes.is_empty()).then(|| row.share.clone()));
            cells.extend(self.has_unsent.then(|| row.unsent.clone()));
            cells.extend(self.has_slow.then(|| row.slow.clone()));
            cells
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        let rest = if self.rest.is_empty() { String::new() } else { format!("\n{}\n", self.rest) };
        format!("\n## Requests without a good answer in time\n\n{}{rest}", lines(&headings, &rows, 0))
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
