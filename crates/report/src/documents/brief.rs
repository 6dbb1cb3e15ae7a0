//! A short report for a README or a message: the verdict, a table for each scenario, and how it was measured.

use tolok_analysis::Findings;
use tolok_analysis::figures::counted;

use super::duel;
use super::run::{muted, programs, scenario, sections};
use crate::document::{Block, Depth, Document, Look, Text};
use crate::wording::interval_words;

/// The short report. A terminal gets the command on a line of its own.
pub fn document(findings: &Findings, depth: Depth) -> Document {
    if let Some(found) = &findings.duel {
        return duel(found, depth);
    }
    let run = &findings.run;
    let title = Block::heading(if depth == Depth::Short { 1 } else { 3 }, run.title.as_str());
    let mut blocks = vec![title];
    blocks.extend(sections::sections(findings).iter().flat_map(|section| scenario::brief(section, depth)));
    blocks.extend(findings.programs.iter().flat_map(|program| programs::brief(program, depth)));
    blocks.extend(warnings(findings).into_iter().map(|warning| Block::paragraph(warning, Look::Warning)));
    match depth {
        Depth::Short => {
            blocks.extend(muted(line(findings)));
            blocks.push(Block::Code(vec![run.command.clone()]));
        }
        _ => {
            let line = Text::of(format!("{} Run it again: ", line(findings)), Look::Muted);
            blocks.push(Block::Paragraph(line.and(run.command.as_str(), Look::Code)));
        }
    }
    Document { title: run.title.clone(), blocks }
}

/// Machine, versions, n and interval.
fn line(findings: &Findings) -> String {
    let run = &findings.run;
    let versions: Vec<String> = run.programs.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let parts = [run.machine.clone(), versions.join(", "), format!("tolok {}", run.tolok_version)];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let loads = loads(findings);
    format!(
        "{loads}Rates, wall times, CPU and memory of servers: geometric means of {}; others: medians; {} {}.",
        counted(u64::from(run.blocks), "round"),
        interval_words(findings),
        parts.join("; ")
    )
}

/// The load, if all scenarios have the same.
fn loads(findings: &Findings) -> String {
    let mut loads = findings.scenarios.iter().map(|scenario| &scenario.load);
    let first = loads.next();
    first.filter(|first| loads.all(|load| load == *first)).map(|load| format!("Load: {load}. ")).unwrap_or_default()
}

/// What every quotation must include: that the run was shortened, and that trials are missing. The verdicts name unranked subjects.
fn warnings(findings: &Findings) -> Vec<String> {
    let missing = (findings.trials_missing > 0).then(|| {
        format!("Not finished: {} of the plan missing.", counted(u64::from(findings.trials_missing), "trial"))
    });
    findings.scaled().into_iter().chain(missing).collect()
}
