//! What a report begins with: what was asked, by what run, and on a page the verdicts at a glance.

use tolok_analysis::figures::{self, Quantity, counted, moment};
use tolok_analysis::{Findings, ScenarioFinding, TrialCounts};

use super::factors::of_variance;
use super::sections::is_of_tools;
use super::standings::standings;
use super::surroundings::common_environment;
use crate::documents::duel::verdict;
use super::{isolation, muted, objectives, paragraph, programs, tools, trust};
use crate::document::{Block, Chip, Depth, Fact, Look, Text};
use crate::wording::heading;

/// Title, question, and the facts of the run.
pub(crate) fn blocks(findings: &Findings, sections: &[&ScenarioFinding], depth: Depth) -> Vec<Block> {
    let run = &findings.run;
    let mut blocks = vec![Block::heading(1, run.title.as_str())];
    blocks.extend(paragraph(run.question.as_str()));
    let blocks_in_words = counted(u64::from(run.blocks), "block");
    let facts = format!("{} · {} · tolok {} · {blocks_in_words}", run.id, moment(&run.started_at), run.tolok_version);
    let environment = common_environment(sections.iter().copied()).unwrap_or_default();
    blocks.extend(
        match depth {
            Depth::Short => [facts, run.machine.clone(), environment, isolation::line(findings)].map(muted).to_vec(),
            Depth::Page => {
                [format!("{facts}, each in its own order"), run.machine.clone(), environment].map(muted).to_vec()
            }
            Depth::Full => {
                let made = format!(", {}, tolok {}.", moment(&run.started_at), run.tolok_version);
                vec![paragraph(Text::from("Run ").and(run.id.as_str(), Look::Code).and(made, Look::Plain))]
            }
        }
        .into_iter()
        .flatten(),
    );
    blocks.extend(run.stopping.clone().and_then(muted));
    blocks.extend(findings.scaled().map(|scaled| Block::paragraph(scaled, Look::Warning)));
    if depth == Depth::Page {
        blocks.push(Block::Chips(chips(findings)));
    }
    blocks
}

/// The verdicts of a page, in its box at the top.
pub(crate) fn verdicts(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Block> {
    let blocks = match (sections, findings.programs.as_slice()) {
        _ if findings.duel.is_some() => findings.duel.iter().map(verdict).collect(),
        ([only], []) if findings.tools.is_empty() => {
            let about = muted(format!("{}: {}", heading(only), only.load));
            std::iter::once(Block::Verdict(only.verdict.as_str().into())).chain(about).collect()
        }
        _ => several(findings, sections),
    };
    vec![Block::Section { id: "verdict".to_owned(), blocks }]
}

fn several(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Block> {
    let fact = |label: String, words: &str| Fact { label, words: words.into() };
    let tools = findings.tools.iter().map(|it| fact(format!("{} · {}", tools::heading(it), it.load), &it.verdict));
    let own = sections.iter().filter(|section| !is_of_tools(section)).map(|section| Fact {
        label: format!("{} · {}", heading(section), section.id),
        words: Text::from(section.verdict.as_str()).and(apart(section, sections), Look::Muted),
    });
    let programs =
        findings.programs.iter().map(|it| fact(format!("{} · {}", programs::heading(it), it.id), &it.verdict));
    let matters = findings.variance.iter().map(|it| fact(format!("What matters: {}", of_variance(it)), &it.sentence));
    let single: Vec<Fact> = own.chain(programs).collect();
    let standings = standings(findings, sections);
    if standings.is_empty() {
        return vec![Block::Facts(tools.chain(single).chain(matters).collect())];
    }
    let standing = standings.into_iter().map(|it| Fact {
        label: it.first,
        words: Text::from(it.number).and(format!(" {}", it.scenarios), Look::Muted),
    });
    let blocks = vec![Block::Facts(single)];
    let summary = "The verdict of each scenario".into();
    vec![Block::Facts(tools.chain(standing).chain(matters).collect()), Block::Folded { summary, blocks }]
}

/// The load and the environment of a scenario where the study has several, and the load where another has its title.
fn apart(scenario: &ScenarioFinding, all: &[&ScenarioFinding]) -> String {
    let namesakes = all.iter().filter(|other| heading(other) == heading(scenario)).count();
    match (scenario.environment.id.is_empty(), namesakes) {
        (false, _) => format!(" {}; {}", scenario.load, scenario.environment.words),
        (true, 1) => String::new(),
        (true, _) => format!(" {}", scenario.load),
    }
}

fn chips(findings: &Findings) -> Vec<Chip> {
    let of_servers = findings.scenarios.iter().flat_map(|scenario| &scenario.cases).map(|case| case.ranked);
    let of_programs = findings.programs.iter().flat_map(|program| &program.cases).map(|case| case.ranked);
    let cases: Vec<bool> = of_servers.chain(of_programs).collect();
    let ranked = cases.iter().filter(|is_ranked| **is_ranked).count();
    let all = counted(cases.len() as u64, "case");
    let mut chips =
        vec![judged(ranked == cases.len(), format!("{ranked} of {all} ranked"), "trust"), of_checks(findings)];
    let warn = |number: usize, noun: &str, what: &str, section: &str| {
        (number > 0).then(|| judged(false, format!("{} {what}", counted(number as u64, noun)), section))
    };
    let TrialCounts { failed, disturbed, .. } = findings.trials;
    chips.extend(warn(objectives::crossed(findings), "objective", "crossed", "figures"));
    chips.extend(warn(failed as usize, "trial", "failed", "failures"));
    chips.extend(warn(disturbed as usize, "trial", "disturbed", "failures"));
    let skipped = findings.skipped.len();
    chips.extend((skipped > 0).then(|| judged(false, format!("{skipped} left out"), "failures")));
    chips.extend(findings.scaled().map(|_| {
        let what = if findings.has_programs_only() { "runs" } else { "windows" };
        judged(false, format!("{what} at {}", figures::amount(Quantity::Share, findings.run.scale)), "trust")
    }));
    chips.push(Chip { words: "Run it again".to_owned(), look: Look::Plain, section: "again".to_owned() });
    chips
}

fn of_checks(findings: &Findings) -> Chip {
    let checks = trust::checks(findings);
    let good = checks.iter().filter(|check| check.passed == Some(true)).count();
    let (all, bad) = (checks.len(), checks.iter().filter(|check| check.has_failed()).count());
    let words = match (bad, all - good - bad) {
        (0, 0) => format!("all {all} checks passed"),
        (0, unknown) => format!("{good} checks passed, {unknown} unknown"),
        (bad, 0) => format!("{bad} of {all} checks failed"),
        (bad, unknown) => format!("{bad} of {all} checks failed, {unknown} unknown"),
    };
    judged(bad == 0, words, "trust")
}

fn judged(is_good: bool, words: String, section: &str) -> Chip {
    let (sign, look) = if is_good { ("✓", Look::Good) } else { ("!", Look::Warning) };
    Chip { words: format!("{sign} {words}"), look, section: section.to_owned() }
}
