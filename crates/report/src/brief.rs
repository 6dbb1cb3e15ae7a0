//! A report in short: what one pastes into a README or a message. The verdict, a table for each scenario, and how it was measured.

use std::fmt::Write as _;

use tolok_analysis::figures::counted;
use tolok_analysis::{Findings, ScenarioFinding};

use crate::Style;
use crate::charts::interval_words;
use crate::documents::run::sections::sections;
use crate::documents::run::surroundings::heading;
use crate::markdown::{self, escaped};
use crate::programs;
use crate::terminal;

/// As GitHub shows it.
pub(crate) fn markdown(findings: &Findings) -> String {
    let mut text = format!("### {}\n", escaped(&findings.run.title));
    for section in sections(findings) {
        _ = write!(text, "\n**{}**: {}\n\n", escaped(&heading(&section)), escaped(&section.verdict));
        text += &markdown::table(&section);
    }
    for program in &findings.programs {
        _ = write!(text, "\n**{}**: {}\n\n", escaped(&programs::heading(program)), escaped(&program.verdict));
        text += &programs::markdown::table(program);
    }
    let warnings: String = warnings(findings).iter().map(|warning| format!("\n**{}**\n", escaped(warning))).collect();
    text += &warnings;
    let command = findings.run.command.replace('`', "");
    _ = write!(text, "\n<sub>{} Run it again: `{command}`</sub>\n", escaped(&line(findings)));
    text
}

/// As a terminal or a log shows it.
pub(crate) fn text(findings: &Findings, style: &Style) -> String {
    let warnings = warnings(findings);
    terminal::brief(findings, style, &line(findings), &warnings)
}

/// Machine, versions, n and interval.
fn line(findings: &Findings) -> String {
    let run = &findings.run;
    let versions: Vec<String> = run.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let parts = [run.machine.clone(), versions.join(", "), format!("tolok {}", run.tolok_version)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let loads = loads(findings);
    format!(
        "{loads}Medians of {}; {} {}.",
        counted(u64::from(run.blocks), "block"),
        interval_words(findings),
        parts.join("; ")
    )
}

/// The load of all scenarios, where it is the same for all.
fn loads(findings: &Findings) -> String {
    let mut loads = findings.scenarios.iter().map(|scenario: &ScenarioFinding| &scenario.load);
    let first = loads.next();
    first.filter(|first| loads.all(|load| load == *first)).map(|load| format!("Load: {load}. ")).unwrap_or_default()
}

/// What nobody may paste without: that the run was shortened, and that trials are missing. Whom it does not rank, the verdicts say.
fn warnings(findings: &Findings) -> Vec<String> {
    let missing = (findings.trials_missing > 0).then(|| {
        format!("Not finished: {} of the plan missing.", counted(u64::from(findings.trials_missing), "trial"))
    });
    findings.scaled().into_iter().chain(missing).collect()
}
