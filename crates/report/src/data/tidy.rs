//! Tidy CSV: a row per observation, which is one figure of one trial.
//!
//! A failed trial has one row without a value, so that it leaves no gap. Medians, intervals and ratios are omitted, because they
//! can be computed from these rows.

use tolok_analysis::figure::trial_unit;
use tolok_analysis::{
    CaseFinding, Findings, ProgramCaseFinding, ProgramFinding, ScenarioFinding, TrialFinding, TrialOutcome,
};

use super::csv;

const COLUMNS: [&str; 20] = [
    "run",
    "study",
    "scenario",
    "workload",
    "load",
    "loop",
    "environment",
    "subject",
    "variant",
    "label",
    "runtime",
    "role",
    "block",
    "trial",
    "metric",
    "value",
    "unit",
    "scored",
    "outcome",
    "reason",
];

/// The observations of a run as CSV.
pub(crate) fn tidy(findings: &Findings) -> String {
    let mut all = vec![COLUMNS.map(str::to_owned).to_vec()];
    let run = [findings.run.id.as_str(), findings.run.title.as_str()];
    for scenario in &findings.scenarios {
        let competing = scenario.cases.iter().map(|case| ("subject", case));
        for (role, case) in competing.chain(scenario.ceiling.iter().map(|case| ("ceiling", case))) {
            let about = [&run[..], &of_scenario(scenario), &of_case(case, role)].concat();
            all.extend(rows(&about, &case.trials, "goodput_rps"));
        }
    }
    for program in &findings.programs {
        for case in &program.cases {
            let about = [&run[..], &of_program(program), &of_program_case(case)].concat();
            all.extend(rows(&about, &case.trials, "wall_s"));
        }
    }
    csv(all)
}

fn of_scenario(scenario: &ScenarioFinding) -> [&str; 5] {
    let environment = place(&scenario.environment.id, &scenario.environment.words);
    [&scenario.id, &scenario.workload, &scenario.load, &scenario.loop_model, environment]
}

/// A program has no loop.
fn of_program(program: &ProgramFinding) -> [&str; 5] {
    let environment = place(&program.environment.id, &program.environment.words);
    [&program.id, &program.workload, &program.runs, "", environment]
}

/// The id of an environment, or its words if it is the study's only one and has no id.
fn place<'a>(id: &'a str, words: &'a str) -> &'a str {
    if id.is_empty() { words } else { id }
}

fn of_case<'a>(case: &'a CaseFinding, role: &'a str) -> [&'a str; 5] {
    named(&case.subject, &case.title, &case.runtime, role)
}

fn of_program_case(case: &ProgramCaseFinding) -> [&str; 5] {
    named(&case.subject, &case.title, &case.runtime, "subject")
}

/// `go/nethttp:encoder` is the variant `encoder` of `go/nethttp`.
fn named<'a>(subject: &'a str, title: &'a str, runtime: &'a str, role: &'a str) -> [&'a str; 5] {
    let (subject, variant) = subject.split_once(':').unwrap_or((subject, ""));
    [subject, variant, title, runtime, role]
}

/// The rows of a case. `headline` is the metric in the row of a failed trial.
fn rows(about: &[&str], trials: &[TrialFinding], headline: &str) -> Vec<Vec<String>> {
    let row = |trial: &TrialFinding, metric: &str, value: &str| {
        let (block, number) = (trial.block.to_string(), trial.trial.to_string());
        let is_scored = if trial.outcome == TrialOutcome::Scored { "true" } else { "false" };
        let reason = trial.reason.as_deref().unwrap_or_default();
        let found = [&block, &number, metric, value, trial_unit(metric), is_scored, trial.outcome.word(), reason];
        about.iter().chain(&found).map(|field| (*field).to_owned()).collect::<Vec<String>>()
    };
    let of_trial = |trial: &TrialFinding| match trial.figures.is_empty() {
        true => vec![row(trial, headline, "")],
        false => trial.figures.iter().map(|(metric, value)| row(trial, metric, &value.to_string())).collect(),
    };
    trials.iter().flat_map(of_trial).collect()
}
