//! Which one for what: a row for each need, and the rules, so that a reader can apply them himself.

use std::fmt::Write as _;

use serde::Serialize;
use tolok_analysis::figures::{counted, listed};
use tolok_analysis::{Findings, Recommendation, Strength};

use crate::markdown::{escaped, lines};
use crate::palette::marker;

/// So many rows are shown at once; the others are folded.
const MOST_SHOWN: usize = 12;
/// So many needs are named in a terminal.
const MOST_IN_TERMINAL: usize = 6;
/// Stands where nobody is taken.
const NOBODY: &str = "nothing can be said";
/// What strength means, beneath the table.
const STRENGTH: &str = "Strong: one case is told apart from every other; the near end of the interval of its lead is 10% or more; and nothing is wrong with the figures (10 blocks or more, windows of 10 s or more, no check failed, CPUs of their own, the A/A pair not told apart). Moderate: one of these three is lacking. Weak: more than one. Of objectives in fewer than 5 trials it is weak. Of objectives, outages and counts clear is that of every case it is known whether it kept them, and far that times stay 10% below their limit, or that every case was looked at; several may be taken. Each need and scenario is judged by itself: of twenty rows of equals, one would name a winner by chance.";

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Recommendations {
    rows: Vec<Row>,
    folded: Vec<Row>,
    rules: Vec<Rule>,
    strength: &'static str,
    summary: String,
}

#[derive(Serialize)]
struct Row {
    need: String,
    /// Marker and title of each who is taken.
    picks: Vec<(String, String)>,
    nobody: &'static str,
    because: String,
    strength: &'static str,
    changes_if: String,
}

/// A rule by what its need is called.
#[derive(Serialize)]
struct Rule {
    need: String,
    words: String,
}

impl Recommendations {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        let (shown, folded) = shown(&findings.recommendations);
        (!shown.is_empty()).then(|| Self {
            rows: shown.iter().map(|one| Row::of(one, findings)).collect(),
            summary: more_rows(folded.len()),
            folded: folded.iter().map(|one| Row::of(one, findings)).collect(),
            rules: rules(findings),
            strength: STRENGTH,
        })
    }
}

impl Row {
    fn of(one: &Recommendation, findings: &Findings) -> Self {
        let runtime = |title: &String| {
            let cases = findings.scenarios.iter().flat_map(|scenario| &scenario.cases);
            cases.into_iter().find(|case| case.title == *title).map_or("", |case| case.runtime.as_str())
        };
        Self {
            need: one.need.clone(),
            picks: one.picks.iter().map(|title| (marker(runtime(title)), title.clone())).collect(),
            nobody: NOBODY,
            because: one.because.clone(),
            strength: one.strength.word(),
            changes_if: one.changes_if.clone(),
        }
    }
}

/// The rows that are shown, in their order, and those that are folded: of each rule the first row comes before the second of any.
fn shown(all: &[Recommendation]) -> (Vec<&Recommendation>, Vec<&Recommendation>) {
    let place = |at: usize| all[..at].iter().filter(|earlier| earlier.rule == all[at].rule).count();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| (place(*at), *at));
    let mut kept: Vec<usize> = order.into_iter().take(MOST_SHOWN).collect();
    kept.sort_unstable();
    let folded = (0..all.len()).filter(|at| !kept.contains(at)).map(|at| &all[at]).collect();
    (kept.iter().map(|at| &all[*at]).collect(), folded)
}

/// Each rule that said something, once.
fn rules(findings: &Findings) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for one in &findings.recommendations {
        if rules.iter().all(|rule| rule.words != one.rule_words) {
            let need = one.need.split(": ").next().unwrap_or(&one.need).to_owned();
            rules.push(Rule { need, words: one.rule_words.clone() });
        }
    }
    rules
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(findings: &Findings) -> String {
    let (shown, folded) = shown(&findings.recommendations);
    if shown.is_empty() {
        return String::new();
    }
    let mut text = format!("\n## Which one for what\n\n{}", table(&shown));
    if !folded.is_empty() {
        let summary = more_rows(folded.len());
        _ = write!(text, "\n<details><summary>{summary}</summary>\n\n{}\n</details>\n", table(&folded));
    }
    text += "\nThe rules:\n\n";
    text.extend(rules(findings).iter().map(|rule| format!("- {}: {}\n", rule.need, escaped(&rule.words))));
    _ = write!(text, "\n{STRENGTH}\n");
    text
}

fn table(rows: &[&Recommendation]) -> String {
    let row = |one: &&Recommendation| {
        let who = if one.picks.is_empty() { NOBODY.to_owned() } else { format!("**{}**", escaped(&either(one))) };
        vec![escaped(&one.need), who, escaped(&one.because), one.strength.word().to_owned(), escaped(&one.changes_if)]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(row).collect();
    lines(&["need", "take", "because", "strength", "what could change it"], &rows, 0)
}

/// `6 more rows`
fn more_rows(number: usize) -> String {
    counted(number as u64, "more row")
}

fn either(one: &Recommendation) -> String {
    listed(&one.picks, "or")
}

/// One line for each need of which something can be said, for a terminal.
pub(crate) fn short_lines(findings: &Findings) -> Vec<String> {
    let (shown, folded) = shown(&findings.recommendations);
    // Of each rule the row with the most scenarios.
    let is_first = |at: usize| (0..at).all(|earlier| shown[earlier].rule != shown[at].rule);
    let said = (0..shown.len()).filter(|at| is_first(*at) && shown[*at].strength != Strength::None).map(|at| shown[at]);
    let line = |one: &Recommendation| format!("{}: {} ({})", one.need, either(one), one.strength.word());
    let mut found: Vec<String> = said.take(MOST_IN_TERMINAL).map(line).collect();
    let rest = findings.recommendations.len() - found.len();
    if !found.is_empty() {
        let more = if rest > 0 { format!("{}, and why", more_rows(rest)) } else { "why".to_owned() };
        found.push(format!("{more}, the rules, and what could change it: in the HTML and Markdown reports"));
    } else if !shown.is_empty() || !folded.is_empty() {
        found.push("nothing can be said; what would tell stands in the HTML and Markdown reports".to_owned());
    }
    found
}
