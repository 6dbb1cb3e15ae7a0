//! Tables as GitHub shows them.

use std::fmt::Write as _;

use tolok_analysis::figures::{Figure, counted, moment};
use tolok_analysis::{Findings, ScenarioFinding};

use crate::failures::failed_trials;
use crate::objectives::{self, RULE};
use crate::printable::printable;
use crate::table::{Row, Table, percentiles};

const HEADINGS: [&str; 9] = [
    "subject",
    "good answers/s",
    "vs first",
    "of ceiling",
    "CPU per answer, µs",
    "memory, MiB",
    "p50, ms",
    "p99, ms",
    "notes",
];

pub(crate) fn render(findings: &Findings) -> String {
    let mut text = head(findings);
    for scenario in &findings.scenarios {
        text += &self::scenario(scenario);
    }
    let skipped: Vec<String> = findings
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", escaped(&skipped.subject), escaped(&skipped.reason)))
        .collect();
    let failed: Vec<String> = failed_trials(findings).iter().map(|failed| escaped(&failed.sentence())).collect();
    text += &list("Failed trials", &failed);
    text += &list("Left out", &skipped);
    text += &list(
        "Before quoting these figures",
        &findings.cautions.iter().map(|caution| escaped(caution)).collect::<Vec<_>>(),
    );
    let run = &findings.run;
    let programs: Vec<String> =
        run.programs.iter().map(|(name, version)| escaped(&format!("{name} {version}"))).collect();
    text += &list("Machine and versions", &[escaped(&run.machine), programs.join(", ")].map(String::from));
    text += &format!("\n## Run it again\n\n```sh\n{}\n```\n", run.command.replace("```", ""));
    text += &format!("\nSeed {}, plan `{}`, {}.\n", run.seed, run.plan_sha256, counted(u64::from(run.blocks), "block"));
    text
}

fn head(findings: &Findings) -> String {
    let run = &findings.run;
    let mut text = format!("# {}\n", escaped(&run.title));
    if !run.question.is_empty() {
        _ = write!(text, "\n{}\n", escaped(&run.question));
    }
    _ = write!(text, "\nRun `{}`, {}, tolok {}.\n", run.id, moment(&run.started_at), run.tolok_version);
    text
}

fn scenario(scenario: &ScenarioFinding) -> String {
    let table = Table::of(scenario);
    let mut text = format!("\n## {}\n\n{}.\n", escaped(&scenario.title), escaped(&scenario.load));
    _ = write!(text, "\n**{}**\n\n", escaped(&scenario.verdict));
    _ = writeln!(text, "| {} |", HEADINGS.join(" | "));
    _ = writeln!(text, "|---|{}---|", "--:|".repeat(HEADINGS.len() - 2));
    for row in &table.rows {
        _ = writeln!(text, "| {} |", cells(row, "").join(" | "));
    }
    if let Some(row) = &table.ceiling {
        _ = writeln!(text, "| {} |", cells(row, "*ceiling:* ").join(" | "));
    }
    let mut legend = table.legend();
    legend.push(percentiles(scenario));
    _ = write!(text, "\n{}\n", legend.join(" · "));
    if table.notes.numbered().next().is_some() {
        text.push('\n');
    }
    for (number, note) in table.notes.numbered() {
        _ = writeln!(text, "{number}. {}", escaped(&note.sentence()));
    }
    text += &objectives(scenario);
    text
}

fn objectives(scenario: &ScenarioFinding) -> String {
    let lines = objectives::lines(scenario);
    if lines.is_empty() {
        return String::new();
    }
    let item = |line: &objectives::Line| {
        let sentence = escaped(&line.sentence);
        let sentence = if line.is_crossed { format!("**{sentence}**") } else { sentence };
        format!("- `{}`: {sentence}\n", line.objective)
    };
    format!("\nObjectives ({RULE}):\n\n{}", lines.iter().map(item).collect::<String>())
}

fn cells(row: &Row, before: &str) -> [String; HEADINGS.len()] {
    let notes: Vec<String> = row.notes.iter().map(usize::to_string).collect();
    let against_first = format!("{} {}", row.against_first.line(), row.mark);
    [
        format!("{before}{}", escaped(&row.case.title)),
        Figure::line(&row.goodput),
        against_first.trim_end().to_owned(),
        row.of_ceiling.clone(),
        row.cpu_us.clone(),
        row.memory_mib.clone(),
        row.p50_ms.clone(),
        row.p99_ms.clone(),
        notes.join(", "),
    ]
}

fn list(heading: &str, items: &[String]) -> String {
    let items: Vec<String> = items.iter().filter(|item| !item.is_empty()).map(|item| format!("- {item}\n")).collect();
    if items.is_empty() { String::new() } else { format!("\n## {heading}\n\n{}", items.concat()) }
}

/// Text that Markdown shows as it is. Underscores inside a word need no escape, and most of ours are there.
fn escaped(text: &str) -> String {
    let letters: Vec<char> = printable(text).chars().collect();
    let in_word = |place: usize| {
        let is_letter = |place: usize| letters.get(place).is_some_and(|letter| letter.is_alphanumeric());
        place > 0 && is_letter(place - 1) && is_letter(place + 1)
    };
    let mut text = String::new();
    for (place, letter) in letters.iter().enumerate() {
        if matches!(letter, '\\' | '|' | '<' | '>' | '*' | '[' | ']' | '`') || (*letter == '_' && !in_word(place)) {
            text.push('\\');
        }
        text.push(*letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_shown_and_not_obeyed() {
        let check = |text: &str, written: &str| assert_eq!(escaped(text), written);
        check("Apache + mod_php", "Apache + mod_php");
        check("_all_ | of *it*", "\\_all\\_ \\| of \\*it\\*");
        check("<script>", "\\<script\\>");
        check("two\nlines", "two lines");
    }
}
