//! Which subject for which purpose: a row for each need, and the rules, so that readers can apply them themselves.

use tolok_analysis::figures::{counted, listed};
use tolok_analysis::{Findings, Recommendation, Strength};

use super::{muted, paragraph, section};
use crate::document::{Block, Card, Column, Depth, Fact, Look, Row, Table, Text};

/// The most rows shown at once; the others are folded.
const MOST_SHOWN: usize = 12;
/// The most cards on a page.
const MOST_CARDS: usize = 6;
const NOTE: &str =
    "Declared rules choose from this run’s figures only. Several names: no clear difference, or all meet the need.";
/// The most needs named on a terminal.
const MOST_IN_TERMINAL: usize = 6;
/// Shown if no subject is picked.
const NOBODY: &str = "no pick";
/// The meaning of strength, below the table.
const STRENGTH: &str = "Strong: (1) one case is clearly ahead of all others; (2) the near end of its lead’s interval is 10% or more; (3) the figures are sound. Sound means 10 rounds or more, windows of 10 s or more, no failed check, separate CPUs, and no difference in the noise check. Moderate: one of the three is missing. Weak: two or more are missing. Objectives, outages and counts may have several picks. For them (1) means that every case’s result is known. (2) means that times stay 10% below their limit, or that every case was examined. Objectives in fewer than 5 trials are weak. Each need and scenario is judged by itself: among twenty rows of equals, expect one winner by chance.";

/// The section: the first rows, the others folded away, and the rules.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let (shown, folded) = shown(&findings.recommendations);
    if shown.is_empty() {
        return Vec::new();
    }
    if depth == Depth::Page {
        return of_page(findings, &shown, &folded);
    }
    let mut blocks: Vec<Block> = Vec::new();
    blocks.push(table("Needs and who meets them", &shown));
    if !folded.is_empty() {
        let rest = table("Needs and who meets them, further rows", &folded);
        blocks.push(Block::Folded { summary: more_rows(folded.len()).into(), blocks: vec![rest] });
    }
    let rules = rules(findings);
    let item = |rule: Fact| Text::from(format!("{}: {}", rule.label, rule.words.plain()));
    blocks.extend(paragraph("The rules:"));
    blocks.extend(Block::list(rules.into_iter().map(item).collect()));
    blocks.extend(paragraph(STRENGTH));
    section("recommendations", "Recommendations", blocks)
}

/// On a page: a card for each need with an answer, followed by all rows with what could change them, and the rules.
fn of_page(findings: &Findings, shown: &[&Recommendation], folded: &[&Recommendation]) -> Vec<Block> {
    let card = |one: &&Recommendation| Card {
        question: one.need.clone(),
        answer: either(one).into(),
        because: one.because.clone(),
        sureness: sureness(one.strength),
    };
    let is_first = |at: &usize| (0..*at).all(|earlier| shown[earlier].rule != shown[*at].rule);
    let picked = (0..shown.len()).filter(|at| is_first(at) && !shown[*at].picks.is_empty()).map(|at| shown[at]);
    let cards: Vec<Card> = picked.take(MOST_CARDS).map(|one| card(&one)).collect();
    let all: Vec<&Recommendation> = shown.iter().chain(folded).copied().collect();
    let strength = Fact::of("strength", STRENGTH);
    let rules = Block::Facts(rules(findings).into_iter().chain([strength]).collect());
    let summary = format!("All {}, what could change them, and the rules", counted(all.len() as u64, "need"));
    let more = Block::Folded { summary: summary.into(), blocks: vec![table("Needs and who meets them", &all), rules] };
    let note = if cards.is_empty() { "Nothing can be recommended from this run." } else { NOTE };
    let blocks = muted(note).into_iter().chain([Block::Cards(cards), more]).collect();
    section("recommendations", "Recommendations", blocks)
}

/// `●●○ moderate`
fn sureness(strength: Strength) -> String {
    let dots = match strength {
        Strength::Strong => "●●●",
        Strength::Moderate => "●●○",
        Strength::Weak => "●○○",
        Strength::None => "○○○",
    };
    format!("{dots} {}", strength.word())
}

fn table(caption: &str, rows: &[&Recommendation]) -> Block {
    let row = |one: &&Recommendation| {
        let picks = match one.picks.is_empty() {
            true => Text::of(NOBODY, Look::Muted),
            false => Text::of(either(one), Look::Strong),
        };
        let words = |words: &str| words.into();
        let cells = vec![
            words(&one.need),
            picks.into(),
            words(&one.because),
            words(one.strength.word()),
            words(&one.changes_if),
        ];
        Row::of(cells)
    };
    Block::Table(Table::of(
        caption,
        ["need", "take", "because", "strength", "what could change it"].map(Column::words).to_vec(),
        rows.iter().map(row).collect(),
    ))
}

/// The shown rows in order, and the folded ones. The first row of each rule takes precedence over any second row.
fn shown(all: &[Recommendation]) -> (Vec<&Recommendation>, Vec<&Recommendation>) {
    let place = |at: usize| all[..at].iter().filter(|earlier| earlier.rule == all[at].rule).count();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| (place(*at), *at));
    let mut kept: Vec<usize> = order.into_iter().take(MOST_SHOWN).collect();
    kept.sort_unstable();
    let folded = (0..all.len()).filter(|at| !kept.contains(at)).map(|at| &all[at]).collect();
    (kept.iter().map(|at| &all[*at]).collect(), folded)
}

/// Each rule that gave an answer, once.
fn rules(findings: &Findings) -> Vec<Fact> {
    let mut rules: Vec<Fact> = Vec::new();
    for one in &findings.recommendations {
        if rules.iter().all(|rule| rule.words.plain() != one.rule_words) {
            let label = one.need.split(": ").next().unwrap_or(&one.need).to_owned();
            rules.push(Fact { label, words: one.rule_words.as_str().into() });
        }
    }
    rules
}

/// `6 more rows`
fn more_rows(number: usize) -> String {
    counted(number as u64, "more row")
}

fn either(one: &Recommendation) -> String {
    listed(&one.picks, "or")
}

/// A line for each need with an answer, for a terminal.
pub(crate) fn short_lines(findings: &Findings) -> Vec<String> {
    let (shown, folded) = shown(&findings.recommendations);
    // For each rule, the row with the most scenarios.
    let is_first = |at: usize| (0..at).all(|earlier| shown[earlier].rule != shown[at].rule);
    let said = (0..shown.len()).filter(|at| is_first(*at) && shown[*at].strength != Strength::None).map(|at| shown[at]);
    let line = |one: &Recommendation| format!("{}: {} ({})", one.need, either(one), one.strength.word());
    let mut found: Vec<String> = said.take(MOST_IN_TERMINAL).map(line).collect();
    let rest = findings.recommendations.len() - found.len();
    if !found.is_empty() {
        let more = if rest > 0 { format!("{}, and why", more_rows(rest)) } else { "why".to_owned() };
        found.push(format!("{more}, and the rules: in the HTML and Markdown reports"));
    } else if !shown.is_empty() || !folded.is_empty() {
        found.push("none; the HTML and Markdown reports say what is missing".to_owned());
    }
    found
}
