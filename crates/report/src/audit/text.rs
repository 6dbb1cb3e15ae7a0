//! Audits for a terminal or a log.

use tolok_analysis::figures::counted;
use tolok_audit::{Audit, AuditFinding, AuditVerdict, sentence_of_several};

use super::lines::{ByLaw, Lack, MEANINGS, Sorted, by_line, subtitle, tallies};
use crate::Style;
use crate::printable::printable;
use crate::terminal::{GAP, INDENT, Look, Page, wrapped};

/// Columns of the words before a finding's parts: `Inference:` and two blanks.
const LABEL: usize = 12;
/// What stands below a sign is indented by so many columns more.
const BELOW: usize = 2;
/// So many findings that lack the same are shown; the others are counted.
const MOST_LACKING: usize = 6;
/// What so many checks of a law are about is named; the others are counted.
const MOST_HELD: usize = 6;

/// The audits in lines; in short, only what is contradicted.
pub fn text(audits: &[Audit], style: &Style, is_brief: bool) -> String {
    let mut page = Page::new(style);
    if audits.len() > 1 {
        page.paragraph("", &sentence_of_several(audits), Look::Bold);
        overview(&mut page, audits);
        page.text.push('\n');
    }
    for (place, audit) in audits.iter().enumerate() {
        if place > 0 {
            page.text.push('\n');
        }
        one(&mut page, audit, is_brief);
    }
    if !is_brief {
        meanings(&mut page);
    }
    page.text
}

/// A line for each of several tables, its counts below those of the others.
fn overview(page: &mut Page, audits: &[Audit]) {
    let counts: Vec<[String; 3]> = audits.iter().map(|audit| tallies(audit).map(|(_, _, words)| words)).collect();
    let widest = |place: usize| counts.iter().map(|own| own[place].chars().count()).max().unwrap_or_default();
    let [first, second, third] = [widest(0), widest(1), widest(2)];
    let room = page.width.saturating_sub(INDENT.len() + first + second + third + 3 * usize::from(GAP));
    let names = audits.iter().map(|audit| audit.key.chars().count()).max().unwrap_or_default();
    let is_wide = names <= room;
    for (audit, [contradicted, cannot_tell, holds]) in audits.iter().zip(&counts) {
        let look = if audit.is_contradicted() { Look::Warning } else { Look::Plain };
        let counts = format!("{contradicted:<first$}  {cannot_tell:<second$}  {holds}");
        if is_wide {
            page.line(&format!("{INDENT}{:<names$}  {counts}", printable(&audit.key)), look);
        } else {
            put(page, INDENT, "", &audit.key, look);
            page.line(&format!("{INDENT}{INDENT}{counts}"), look);
        }
    }
}

fn one(page: &mut Page, audit: &Audit, is_brief: bool) {
    put(page, "", "", &audit.title, Look::Bold);
    put(page, "", "", &subtitle(audit), Look::Dim);
    let look = if audit.is_contradicted() { Look::Warning } else { Look::Bold };
    put(page, "", "", &audit.sentence, look);
    let sorted = Sorted::of(audit);
    sorted.contradicted.iter().for_each(|own| contradicted(page, own));
    if is_brief {
        return;
    }
    if !sorted.lacking.is_empty() {
        heading(page, "What cannot be told", audit.verdicts.cannot_tell);
        sorted.lacking.iter().for_each(|lack| lacking(page, lack));
    }
    if !sorted.held.is_empty() {
        heading(page, "What holds", audit.verdicts.holds);
        sorted.held.iter().for_each(|own| held(page, own));
    }
}

fn heading(page: &mut Page, title: &str, count: usize) {
    page.text.push('\n');
    page.paragraph("", &format!("{title} ({})", counted(count as u64, "check")), Look::Bold);
}

fn contradicted(page: &mut Page, own: &ByLaw<'_>) {
    page.text.push('\n');
    put(page, "", "", own.law.title(), Look::Bold);
    put(page, "", "", own.law.says(), Look::Dim);
    for finding in &own.findings {
        page.text.push('\n');
        whole(page, finding);
    }
}

/// A finding with everything that is needed to check it by hand.
fn whole(page: &mut Page, finding: &AuditFinding) {
    let verdict = finding.verdict;
    listed(page, verdict, &format!("{}: {}", verdict.words(), finding.about));
    let indent = format!("{INDENT}{}", " ".repeat(BELOW));
    put(page, &indent, "", &finding.sentence, Look::Plain);
    put(page, &indent, "tested", &finding.statement, Look::Plain);
    put(page, &indent, "arithmetic", &finding.arithmetic, Look::Plain);
    figures(page, &indent, finding);
    put(page, &indent, "Inference:", finding.inference.as_deref().unwrap_or_default(), Look::Plain);
}

/// The figures that went in, those of a line of the transcription together.
fn figures(page: &mut Page, indent: &str, finding: &AuditFinding) {
    for line in by_line(&finding.inputs) {
        let words: Vec<String> =
            line.inputs.iter().map(|input| format!("{} = {}", input.name, input.printed)).collect();
        let place = if line.place.is_empty() { "figures" } else { &line.place };
        put(page, indent, place, &words.join(", "), Look::Dim);
    }
}

fn lacking(page: &mut Page, lack: &Lack<'_>) {
    page.text.push('\n');
    put(page, INDENT, "", &lack.what, Look::Plain);
    let indent = format!("{INDENT}{}", " ".repeat(BELOW));
    for part in &lack.parts {
        for finding in part.findings.iter().take(MOST_LACKING) {
            listed(page, finding.verdict, &format!("{}, {}: {}", finding.law.title(), finding.about, finding.sentence));
        }
        let more = part.findings.len().saturating_sub(MOST_LACKING);
        if more > 0 {
            put(page, &indent, "", &format!("and {more} more that lack the same: --format md has them"), Look::Dim);
        }
        if let Some(inference) = part.inference {
            put(page, &indent, "", &format!("{} {inference}", part.label()), Look::Plain);
        }
    }
}

/// The checks of a law that hold. What several of them are about is named once.
fn held(page: &mut Page, own: &ByLaw<'_>) {
    let mut named: Vec<&str> = Vec::new();
    for finding in &own.findings {
        if !named.contains(&finding.about.as_str()) {
            named.push(&finding.about);
        }
    }
    let more = named.len().saturating_sub(MOST_HELD);
    named.truncate(MOST_HELD);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    let count = if own.findings.len() == 1 { String::new() } else { format!(" ({})", own.findings.len()) };
    listed(page, AuditVerdict::Holds, &format!("{}{count}: {}{more}", own.law.title(), named.join("; ")));
}

/// A line with its sign before it.
fn listed(page: &mut Page, verdict: AuditVerdict, words: &str) {
    let look = match verdict {
        AuditVerdict::Contradicted => Look::Warning,
        AuditVerdict::CannotTell => Look::Plain,
        AuditVerdict::Holds => Look::Good,
    };
    let (indent, room) = (format!("{INDENT}{} ", verdict.sign()), page.width - INDENT.len() - BELOW);
    for (place, line) in within(words, room).iter().enumerate() {
        let before = if place == 0 { indent.clone() } else { format!("{INDENT}{}", " ".repeat(BELOW)) };
        page.line(&format!("{before}{line}"), look);
    }
}

/// Words behind a label, or without one, in lines that end where the page does; nothing where there are no words.
fn put(page: &mut Page, indent: &str, label: &str, words: &str, look: Look) {
    if words.trim().is_empty() {
        return;
    }
    let column = if label.is_empty() { 0 } else { LABEL };
    for (place, line) in within(words, page.width - indent.len() - column).iter().enumerate() {
        let before = if place == 0 { label } else { "" };
        page.line(&format!("{indent}{before:column$}{line}"), look);
    }
}

/// Lines of at most `width` characters. A name may be longer than that, and is cut where the line ends.
fn within(words: &str, width: usize) -> Vec<String> {
    let short = |word: &str| {
        let letters: Vec<char> = word.chars().collect();
        letters.chunks(width).map(|part| part.iter().collect()).collect::<Vec<String>>().join(" ")
    };
    let words: Vec<String> = printable(words).split(' ').filter(|word| !word.is_empty()).map(short).collect();
    wrapped(&words.join(" "), width, 0)
}

fn meanings(page: &mut Page) {
    page.text.push('\n');
    page.paragraph("", "What an audit can say, and what it cannot", Look::Bold);
    for (word, meaning) in MEANINGS {
        page.paragraph(INDENT, &format!("- {word}: {meaning}"), Look::Dim);
    }
}
