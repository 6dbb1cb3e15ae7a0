//! What stands over a table and beneath a figure: enough to judge it without the rest of the paper.

use tolok_analysis::figures::{Quantity, amount, counted};
use tolok_analysis::{Findings, MemorySource, ProgramFinding, ScenarioFinding};
use tolok_model::sentences::capital;

use super::escape::escaped;
use crate::charts::{Chart, blocks};
use crate::documents::run::programs;
use crate::documents::run::surroundings::environment;
use crate::documents::run::table::percentiles;
use crate::wording::{heading, interval_words};

/// Of a scenario's table.
pub(super) fn of_scenario(findings: &Findings, scenario: &ScenarioFinding) -> String {
    let cases = || scenario.cases.iter().chain(&scenario.ceiling);
    let (scored, planned) =
        cases().fold((0, 0), |(scored, planned), case| (scored + case.trials_scored, planned + case.trials_planned));
    let memory = match scenario.memory_source {
        Some(MemorySource::Group) => "Memory: anonymous and kernel memory of the control group. ",
        Some(MemorySource::Pss) => "PSS: proportional set sizes of all processes. ",
        None => "",
    };
    let parts = [
        format!("{}: {}.", heading(scenario), scenario.load),
        format!(
            "Medians; {}, a trial of each case in each block ({scored} of {planned} trials scored); {}",
            blocks(findings),
            interval_words(findings)
        ),
        ratio_words(findings, "goodput", scenario.comparisons.len()),
        format!("{memory}Latency: {}.", percentiles(scenario)),
        format!("{}.", capital(&environment(scenario))),
        of_run(findings),
    ];
    joined(&parts)
}

/// Of a table of programs.
pub(super) fn of_program(findings: &Findings, program: &ProgramFinding) -> String {
    let (scored, planned) = program
        .cases
        .iter()
        .fold((0, 0), |(scored, planned), case| (scored + case.trials_scored, planned + case.trials_planned));
    let parts = [
        format!("{}: {}.", programs::heading(program), programs::facts(program)),
        format!(
            "Of each trial the median over its runs, and of those the median; {}, a trial of each case in each block ({scored} of \
             {planned} trials scored); {}",
            blocks(findings),
            interval_words(findings)
        ),
        ratio_words(findings, "wall time", program.comparisons.len()),
        "Above start: wall time less that of a run without the work.".to_owned(),
        of_run(findings),
    ];
    joined(&parts)
}

/// Of a figure.
pub(super) fn of_figure(findings: &Findings, chart: &Chart) -> String {
    joined(&[chart.caption.clone(), of_run(findings)])
}

/// What a ratio and a tier are; nothing where nothing was compared.
fn ratio_words(findings: &Findings, of: &str, pairs: usize) -> String {
    if pairs == 0 {
        return String::new();
    }
    format!(
        "Ratio: {of} over that of the first in the same block, geometric mean, with its own 95% interval (Student’s t of the log \
         ratios). Tier: cases that share a letter could not be told apart (Holm over {}). Differences below {} do not matter.",
        counted(pairs as u64, "pair"),
        amount(Quantity::Share, findings.run.smallest_effect)
    )
}

/// Machine, versions, and what repeats it.
fn of_run(findings: &Findings) -> String {
    let run = &findings.run;
    let programs: Vec<String> = run.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let scaled = findings.scaled().map(|scaled| format!("{scaled} ")).unwrap_or_default();
    let programs = if programs.is_empty() { String::new() } else { format!(" {};", programs.join(", ")) };
    format!(
        "{scaled}{};{programs} tolok {}, seed {}, plan {}.",
        run.machine,
        run.tolok_version,
        run.seed,
        run.plan_sha256.chars().take(12).collect::<String>()
    )
}

fn joined(parts: &[String]) -> String {
    let parts: Vec<String> = parts.iter().filter(|part| !part.is_empty()).map(|part| escaped(part)).collect();
    parts.join("\n")
}
