//! The head of a report: the question, the run, and on a page the verdicts at a glance.

use tolok_analysis::figures::{counted, moment};
use tolok_analysis::{CaseFinding, Findings, ScenarioFinding, TrialCounts, least_trials};
use tolok_model::{Judge, scale_percent_words};

use super::factors::of_variance;
use super::sections::is_of_tools;
use super::standings::{competitors, first_tier, standings};
use super::surroundings::common_environment;
use super::{headline, isolation, matrix, muted, objectives, paragraph, tools, trust};
use crate::document::{Block, Chip, Depth, Fact, Look, Text};
use crate::documents::duel::verdict;
use crate::documents::glance;
use crate::wording::heading;

/// More sentences than this are folded away: the matrix above has the same content.
const MOST_SENTENCES: usize = 4;

/// Title, question, and the facts of the run.
pub(crate) fn blocks(findings: &Findings, sections: &[&ScenarioFinding], depth: Depth) -> Vec<Block> {
    let run = &findings.run;
    let mut blocks = vec![Block::heading(1, run.title.as_str())];
    blocks.extend(paragraph(run.question.as_str()));
    let blocks_in_words = counted(u64::from(run.blocks), "round");
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

/// The answer in the box at the top of a page: one sentence, all subjects against all scenarios, and a sentence for each scenario.
pub(crate) fn verdicts(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Block> {
    if let Some(found) = &findings.duel {
        return vec![Block::Section { id: "verdict".to_owned(), blocks: vec![verdict(found)] }];
    }
    let mut blocks: Vec<Block> = headline::headline(findings, sections).map(Block::Verdict).into_iter().collect();
    let tools = findings.tools.iter();
    let tools =
        tools.map(|it| Fact::of(format!("{} · {}", tools::heading(it), it.load), it.verdict.as_str())).collect();
    blocks.push(Block::Facts(tools));
    let (matrix, notes) = matrix::matrix(findings, sections);
    if let Some(matrix) = matrix {
        let legend = glance::legend(findings, &matrix);
        let shades = "Shade and ×: share of the best. Outlined: the best, and all without a clear difference from it.";
        blocks.push(Block::Matrix(matrix));
        blocks.extend(muted(format!("{legend} {shades} Small: what limited it.")));
        blocks.extend((!notes.is_empty()).then_some(Block::Notes(notes)));
    }
    blocks.extend(sentences(findings, sections));
    vec![Block::Section { id: "verdict".to_owned(), blocks }]
}

/// A sentence for each scenario. Many are folded away; for very many, a table shows who is first in how many.
fn sentences(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Block> {
    let own: Vec<&&ScenarioFinding> = sections.iter().filter(|section| !is_of_tools(section)).collect();
    let ids = own.iter().map(|it| it.id.clone()).chain(findings.programs.iter().map(|it| it.id.clone()));
    let beside = own.iter().map(|it| apart(it, sections)).chain(findings.programs.iter().map(|_| String::new()));
    let standing_of_programs = findings
        .programs
        .iter()
        .map(|it| standing(&competitors(findings, &it.cases), matrix::is_program_told(it), Judge::Goodput));
    let standing = own
        .iter()
        .map(|it| standing(&competitors(findings, &it.cases), matrix::is_told(it), it.judged_by))
        .chain(standing_of_programs);
    let verdicts = glance::verdicts(findings, sections).into_iter().zip(ids).zip(beside).zip(standing);
    let is_few = own.len() + findings.programs.len() <= MOST_SENTENCES;
    let facts = verdicts.map(|((((label, verdict), id), beside), (word, look))| Fact {
        label: if is_few { label } else { format!("{label} · {id}") },
        words: Text::of(word, look).and(format!(" {verdict}"), Look::Plain).and(beside, Look::Muted),
    });
    let facts: Vec<Fact> = facts.collect();
    let matters =
        findings.variance.iter().map(|it| Fact::of(format!("What matters: {}", of_variance(it)), it.sentence.as_str()));
    let standings = standings(findings, sections).into_iter().map(|it| Fact {
        label: it.first,
        words: Text::from(it.number).and(format!(" {}", it.scenarios), Look::Muted),
    });
    let shown: Vec<Fact> = standings.chain(matters).collect();
    let mut blocks = vec![Block::Facts(shown)];
    match facts.len() {
        few if few <= MOST_SENTENCES => blocks.push(Block::Facts(facts)),
        _ => {
            let summary = "The verdict of each scenario".into();
            blocks.push(Block::Folded { summary, blocks: vec![Block::Facts(facts)] });
        }
    }
    blocks
}

/// The result of a scenario in a word.
fn standing<F>(cases: &[&CaseFinding<F>], is_told: bool, judge: Judge) -> (&'static str, Look) {
    let ranked = cases.iter().filter(|case| case.ranked).count();
    match (ranked, first_tier(cases).len()) {
        (0, _) => ("no data", Look::Warning),
        (1, _) => ("alone", Look::Emphasis),
        _ if !is_told => ("no data", Look::Warning),
        (_, 1) => (judge.superlative(), Look::Good),
        _ => ("level", Look::Emphasis),
    }
}

/// Load and environment of a scenario if the study has several environments; the load if another scenario has the same title.
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
    let few = findings.run.blocks < least_trials();
    let rank = match few {
        true => format!("{}, {} needed", counted(u64::from(findings.run.blocks), "round"), least_trials()),
        false => format!("{ranked} of {all} ranked"),
    };
    let mut chips = vec![judged(!few && ranked == cases.len(), rank, "trust"), of_checks(findings)];
    let warn = |number: usize, noun: &str, what: &str, section: &str| {
        (number > 0).then(|| judged(false, format!("{} {what}", counted(number as u64, noun)), section))
    };
    let TrialCounts { failed, disturbed, .. } = findings.trials;
    chips.extend(warn(objectives::crossed(findings), "objective", "crossed", "figures"));
    chips.extend(warn(failed as usize, "trial", "failed", "failures"));
    chips.extend(warn(disturbed as usize, "trial", "discarded", "failures"));
    let skipped = findings.skipped.len();
    chips.extend((skipped > 0).then(|| judged(false, format!("{skipped} skipped"), "failures")));
    chips.extend(scale_percent_words(findings.run.scale).map(|by| {
        let what = if findings.has_programs_only() { "runs" } else { "times" };
        judged(false, format!("{what} {by}"), "trust")
    }));
    let plain =
        |words: &str, section: &str| Chip { words: words.to_owned(), look: Look::Plain, section: section.to_owned() };
    chips.push(plain("Run it again", "again"));
    chips.extend(
        [("CSV", "report.csv"), ("JSON", "report.json"), ("Markdown", "report.md")]
            .map(|(name, file)| plain(name, file)),
    );
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
