//! Audits as GitHub and GitLab show them.

use tolok_analysis::figures::counted;
use tolok_audit::{Audit, AuditFinding, Input, sentence_of_several};

use super::lines::{ByLaw, Lack, MEANINGS, OfLine, Part, Sorted, by_line, subtitle, tallies};
use crate::markdown::{escaped, lines as table};

/// The audits for a document; in short, only what is contradicted.
pub fn markdown(audits: &[Audit], is_brief: bool) -> String {
    let mut text = String::new();
    if audits.len() > 1 {
        text += &format!("# {}\n\n{}\n", sentence_of_several(audits), overview(audits));
    }
    let parts: Vec<String> = audits.iter().map(|audit| one(audit, audits.len() > 1, is_brief)).collect();
    text += &parts.join("\n");
    if !is_brief {
        let meanings = MEANINGS.iter().map(|(word, meaning)| format!("- **{word}**: {meaning}\n"));
        text += &format!("\n## What an audit can say, and what it cannot\n\n{}", meanings.collect::<String>());
    }
    text
}

/// A row for each of several tables.
fn overview(audits: &[Audit]) -> String {
    let row = |audit: &Audit| {
        let counts = tallies(audit).map(|(verdict, count, _)| format!("{} {count}", verdict.sign()));
        std::iter::once(escaped(&audit.key)).chain(counts).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = audits.iter().map(row).collect();
    table(&["table", "contradicted", "cannot be told", "hold"], &rows, 3)
}

fn one(audit: &Audit, is_among_others: bool, is_brief: bool) -> String {
    let (title, section) = if is_among_others { ("##", "###") } else { ("#", "##") };
    let mut text = format!("{title} {}\n\n", escaped(&audit.title));
    text += &format!("**{}**\n\n{}.\n", escaped(&audit.sentence), escaped(&subtitle(audit)));
    let sorted = Sorted::of(audit);
    if !sorted.contradicted.is_empty() {
        text += &format!("\n{section} What is contradicted\n");
        text.extend(sorted.contradicted.iter().map(|own| contradicted(own, section)));
    }
    if is_brief {
        return text;
    }
    if !sorted.lacking.is_empty() {
        text += &format!("\n{section} What cannot be told\n");
        text.extend(sorted.lacking.iter().map(lacking));
    }
    if !sorted.held.is_empty() {
        let held: String = sorted.held.iter().map(held).collect();
        let summary = format!("What holds ({})", counted(audit.verdicts.holds as u64, "check"));
        // The blank lines are what lets Markdown stand in HTML.
        text += &format!("\n<details><summary>{summary}</summary>\n\n{held}\n</details>\n");
    }
    text
}

fn contradicted(own: &ByLaw<'_>, section: &str) -> String {
    let heading = format!("\n{section}# {}\n\n{}\n\n", own.law.title(), own.law.says());
    heading + &own.findings.iter().map(|finding| whole(finding)).collect::<String>()
}

/// A finding with everything that is needed to check it by hand.
fn whole(finding: &AuditFinding) -> String {
    let head = format!("{} **{}**: {}", finding.verdict.sign(), finding.verdict.words(), escaped(&finding.about));
    let mut text = format!("- {head}  \n  **{}**\n", escaped(&finding.sentence));
    let figures: Vec<String> = by_line(&finding.inputs).iter().map(figures).collect();
    let inference = finding.inference.as_deref().map(|words| format!("  - *Inference:* {}\n", escaped(words)));
    for (label, words) in [
        ("tested", escaped(&finding.statement)),
        ("arithmetic", escaped(&finding.arithmetic)),
        ("figures", figures.join("; ")),
    ] {
        if !words.is_empty() {
            text += &format!("  - {label}: {words}\n");
        }
    }
    text + &inference.unwrap_or_default()
}

/// `line 34: throughput_rps of left = 5000, connections = 50`
fn figures(line: &OfLine<'_>) -> String {
    let one = |input: &&Input| format!("{} = {}", escaped(&input.name), escaped(&input.printed));
    let words: Vec<String> = line.inputs.iter().map(one).collect();
    let place = if line.place.is_empty() { String::new() } else { format!("{}: ", line.place) };
    format!("{place}{}", words.join(", "))
}

fn lacking(lack: &Lack<'_>) -> String {
    let line = |finding: &&AuditFinding| {
        format!("- ? {}, {}: {}\n", finding.law.title(), escaped(&finding.about), escaped(&finding.sentence))
    };
    let part = |part: &Part<'_>| {
        let inference = part.inference.map(|words| format!("\n*{}* {}\n", part.label(), escaped(words)));
        part.findings.iter().map(line).collect::<String>() + &inference.unwrap_or_default()
    };
    let parts: Vec<String> = lack.parts.iter().map(part).collect();
    format!("\n**{}**\n\n{}", escaped(&lack.what), parts.join("\n"))
}

fn held(own: &ByLaw<'_>) -> String {
    let line = |finding: &&AuditFinding| {
        let arithmetic = if finding.arithmetic.is_empty() { &finding.sentence } else { &finding.arithmetic };
        format!("- ✓ {}, {}: {}\n", own.law.title(), escaped(&finding.about), escaped(arithmetic))
    };
    own.findings.iter().map(line).collect()
}
