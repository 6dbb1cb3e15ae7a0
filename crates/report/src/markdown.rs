//! Tables as GitHub shows them.

use std::fmt::Write as _;

use tolok_analysis::figures::{Figure, counted, moment};
use tolok_analysis::{Findings, ScenarioFinding, ToolsFinding};

use crate::documents::run::cold_start;
use crate::documents::run::database;
use crate::documents::run::failures::{FailedRequests, disturbed_trials, failed_requests, failed_trials};
use crate::documents::run::fairness;
use crate::documents::run::gates;
use crate::documents::run::isolation;
use crate::documents::run::judgement::{self, Sureness};
use crate::documents::run::latency;
use crate::documents::run::limits;
use crate::documents::run::objectives::{self, RULE};
use crate::documents::run::published;
use crate::documents::run::recommendations;
use crate::documents::run::resources::{self as details, Grid};
use crate::documents::run::seconds;
use crate::documents::run::sections::sections;
use crate::documents::run::surroundings::{asked, environment, heading};
use crate::documents::run::table::{Row, Table, percentiles};
use crate::documents::run::tool_remarks::{Remark, Remarks};
use crate::documents::run::tools;
use crate::documents::run::untested;
use crate::printable::printable;
use crate::programs::markdown as programs;
use crate::sensitivity::markdown as sensitivity;

pub(crate) fn render(findings: &Findings) -> String {
    let mut text = head(findings);
    // What a study of tools is about comes before what each of them measured.
    text += &tools(findings);
    text += &sensitivity::section(findings);
    for section in sections(findings) {
        text += &scenario(&section);
    }
    text += &latency::markdown(findings);
    text += &seconds::markdown(findings);
    text += &cold_start::markdown(findings);
    text += &programs::sections(findings);
    text += &sureness(findings);
    text += &published::markdown(findings);
    text += &recommendations::markdown(findings);
    text += &fairness::markdown(findings);
    let skipped: Vec<String> = findings
        .skipped
        .iter()
        .map(|skipped| format!("{}: {}", escaped(&skipped.subject), escaped(&skipped.reason)))
        .collect();
    let failed: Vec<String> = failed_trials(findings).iter().map(|failed| escaped(&failed.sentence())).collect();
    let disturbed: Vec<String> = disturbed_trials(findings).iter().map(|trial| escaped(&trial.sentence())).collect();
    text += &self::details(findings);
    text += &failed_requests(findings).as_ref().map(FailedRequests::markdown).unwrap_or_default();
    text += &list("Failed trials", &failed);
    text += &list("Disturbed trials, which are in no figure", &disturbed);
    text += &list("Left out", &skipped);
    text += &list("Checks of the trials", &gates(findings));
    text += &list(
        "Before quoting these figures",
        &findings.cautions.iter().map(|caution| escaped(caution)).collect::<Vec<_>>(),
    );
    text += &untested::markdown(findings);
    text += &held_apart(findings);
    let run = &findings.run;
    let programs: Vec<String> =
        run.programs.iter().map(|(name, version)| escaped(&format!("{name} {version}"))).collect();
    text += &list("Machine and versions", &[escaped(&run.machine), programs.join(", ")].map(String::from));
    text += &format!("\n## Run it again\n\n```sh\n{}\n```\n", run.command.replace("```", ""));
    text += &format!("\nSeed {}, plan `{}`, {}.\n", run.seed, run.plan_sha256, counted(u64::from(run.blocks), "block"));
    if let Some(hash) = &run.records_sha256 {
        text += &format!("Records `{hash}`; `tolok verify` makes every figure again from the raw data and says so.\n");
    }
    text
}

fn gates(findings: &Findings) -> Vec<String> {
    let item = |line: &gates::Line| match line.is_failed {
        true => format!("**{}**", escaped(&line.text)),
        false => escaped(&line.text),
    };
    gates::lines(findings).iter().map(item).collect()
}

fn head(findings: &Findings) -> String {
    let run = &findings.run;
    let mut text = format!("# {}\n", escaped(&run.title));
    if !run.question.is_empty() {
        _ = write!(text, "\n{}\n", escaped(&run.question));
    }
    _ = write!(text, "\nRun `{}`, {}, tolok {}.\n", run.id, moment(&run.started_at), run.tolok_version);
    let stopping = judgement::stopping(findings);
    text += &if stopping.is_empty() { stopping } else { format!("\n{}\n", escaped(&stopping)) };
    text += &findings.scaled().map(|scaled| format!("\n**{scaled}**\n")).unwrap_or_default();
    text
}

fn scenario(scenario: &ScenarioFinding) -> String {
    let table = Table::of(scenario);
    let mut text = format!("\n## {}\n\n{}.\n", escaped(&heading(scenario)), escaped(&scenario.load));
    _ = write!(text, "\nEnvironment: {}.\n", escaped(&environment(scenario)));
    _ = write!(text, "\n**{}**\n\n", escaped(&scenario.verdict));
    let headings = headings(&table);
    let mut rows: Vec<Vec<String>> = table.rows.iter().map(|row| cells(&table, row, "")).collect();
    rows.extend(table.ceiling.iter().map(|row| cells(&table, row, "*ceiling:* ")));
    // Everything but the subject and its notes is a number.
    text += &lines(&headings, &rows, headings.len() - 2);
    let mut legend = table.legend();
    legend.push(percentiles(scenario));
    _ = write!(text, "\n{}\n", legend.join(" · "));
    if table.notes.numbered().next().is_some() {
        text.push('\n');
    }
    for (number, note) in table.notes.numbered() {
        _ = writeln!(text, "{number}. {}", escaped(&note));
    }
    text += &limits(scenario);
    text += &objectives(scenario);
    text += &database(scenario);
    text
}

fn tools(findings: &Findings) -> String {
    let words = |remark: &Remark| format!("**{}**: {}\n", escaped(&remark.tool), escaped(&remark.text));
    let remarks = Remarks::of(findings);
    let legends = tools::legends(&findings.tools);
    let part = |(place, finding): (usize, &ToolsFinding)| {
        let asked = format!("{}; {}.", finding.load, finding.environment_words);
        let mut text = format!("\n### {}\n\n{}\n", escaped(&tools::heading(finding)), escaped(&asked));
        _ = write!(text, "\n**{}**\n\n", escaped(&finding.verdict));
        let sheet = tools::sheet(finding, place, &remarks);
        let mut headings = vec!["tool"];
        headings.extend(&sheet.columns);
        let has_notes = sheet.rows.iter().any(|line| !line.notes.is_empty());
        headings.extend(has_notes.then_some("notes"));
        let cells = |line: &tools::Line| {
            let figures = line.cells.iter().map(|cell| escaped(&cell.line()));
            let notes = line.notes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            let ends = has_notes.then_some(notes);
            std::iter::once(escaped(&line.tool)).chain(figures).chain(ends).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = sheet.rows.iter().map(cells).collect();
        text += &lines(&headings, &rows, sheet.columns.len());
        if !legends[place].is_empty() {
            _ = write!(text, "\n{}.\n", legends[place].join(" · "));
        }
        if !remarks.unchecked(place).is_empty() {
            _ = write!(text, "\n{}\n", escaped(remarks.unchecked(place)));
        }
        let own: String = remarks.beneath(place).iter().map(|remark| format!("- {}", words(remark))).collect();
        if own.is_empty() { text } else { format!("{text}\n{own}") }
    };
    let mut text: String = findings.tools.iter().enumerate().map(part).collect();
    if text.is_empty() {
        return text;
    }
    if remarks.numbered().next().is_some() {
        text += "\n### In several of these tables\n\n";
    }
    text.extend(remarks.numbered().map(|(number, remark)| format!("{number}. {}", words(remark))));
    format!("\n## What each tool says\n{text}")
}

/// How sure the comparisons are, those of servers and those of programs.
fn sureness(findings: &Findings) -> String {
    let all = sections(findings);
    let of_servers = Sureness::of_servers(&all.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    let of_programs = Sureness::of_programs(&findings.programs);
    let table = |table: &Sureness| {
        let headings: Vec<&str> =
            std::iter::once("scenario").chain(table.headings.iter().map(String::as_str)).collect();
        let row = |row: &judgement::SureRow| {
            let title = format!("{} `{}`", escaped(&row.title), row.id);
            let title = if row.is_warning { format!("**{title}**") } else { title };
            std::iter::once(title).chain(row.cells.iter().cloned()).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
        format!("\n{}\n{}\n", lines(&headings, &rows, table.headings.len()), table.note)
    };
    let text: String = of_servers.iter().chain(&of_programs).map(table).collect();
    if text.is_empty() { text } else { format!("\n## How sure the comparisons are\n{text}") }
}

fn limits(scenario: &ScenarioFinding) -> String {
    let line = |line: &limits::Line| format!("- **{}**: {}\n", line.word, escaped(&line.cases));
    let lines: String = limits::lines(scenario).iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nBottlenecks, {}:\n\n{lines}", limits::RULE) }
}

/// What the database did, and what its outage did to the subjects.
fn database(scenario: &ScenarioFinding) -> String {
    let grids: String = database::grids(scenario).iter().map(grid).collect();
    let failing: String = database::failing(scenario).iter().map(|text| format!("- **{}**\n", escaped(text))).collect();
    if failing.is_empty() { grids } else { format!("{grids}\n{failing}") }
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

fn headings(table: &Table) -> Vec<String> {
    let memory = if table.memory.is_empty() { String::new() } else { format!(" ({})", table.memory) };
    let mut headings = ["subject", "good answers/s"].map(str::to_owned).to_vec();
    headings.extend(table.is_compared.then_some(["vs first", "tier"]).into_iter().flatten().map(str::to_owned));
    headings.extend(table.has_ceiling.then(|| "of ceiling".to_owned()));
    headings.extend(table.has_quota.then(|| "throttled".to_owned()));
    headings.extend(["CPU per answer, µs".to_owned(), format!("memory{memory}, MiB")]);
    headings.extend(["p50, ms", "p99, ms", "notes"].map(str::to_owned));
    headings
}

fn cells(table: &Table, row: &Row, before: &str) -> Vec<String> {
    let notes: Vec<String> = row.notes.iter().map(usize::to_string).collect();
    let against_first = format!("{} {}", row.against_first.line(), row.mark);
    let subject = format!("{before}{}", escaped(&row.case.title));
    let mut cells = vec![subject, Figure::line(&row.goodput)];
    let compared = table.is_compared.then(|| [against_first.trim_end().to_owned(), row.tier.clone()]);
    cells.extend(compared.into_iter().flatten());
    cells.extend(table.has_ceiling.then(|| row.of_ceiling.clone()));
    cells.extend(table.has_quota.then(|| row.throttled.clone()));
    cells.extend([&row.cpu_us, &row.memory_mib, &row.p50_ms, &row.p99_ms].map(String::clone));
    cells.push(notes.join(", "));
    cells
}

/// The table of a scenario alone, without notes.
pub(crate) fn table(scenario: &ScenarioFinding) -> String {
    let table = Table::of(scenario);
    let mut headings = headings(&table);
    headings.pop();
    let mut rows: Vec<Vec<String>> = table.rows.iter().map(|row| cells(&table, row, "")).collect();
    rows.extend(table.ceiling.iter().map(|row| cells(&table, row, "*ceiling:* ")));
    rows.iter_mut().for_each(|row| _ = row.pop());
    let mut legend = table.legend();
    legend.push(percentiles(scenario));
    format!("{}\n<sub>{}</sub>\n", lines(&headings, &rows, headings.len() - 1), legend.join(" · "))
}

/// A table whose first column is text, as are those after so many of numbers.
pub(crate) fn lines(headings: &[impl AsRef<str>], rows: &[Vec<String>], numbers: usize) -> String {
    let headings: Vec<&str> = headings.iter().map(AsRef::as_ref).collect();
    let rest = "---|".repeat(headings.len() - 1 - numbers);
    let mut text = format!("| {} |\n|---|{}{rest}\n", headings.join(" | "), "--:|".repeat(numbers));
    for row in rows {
        _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// What stands behind the figures: resources, links, and what was counted unscored.
fn details(findings: &Findings) -> String {
    let all = sections(findings);
    let section = |heading: &str, of: &dyn Fn(&ScenarioFinding) -> String| {
        let parts: Vec<(&ScenarioFinding, String)> =
            all.iter().map(|it| (it.as_ref(), of(it))).filter(|(_, text)| !text.is_empty()).collect();
        let part = |(scenario, text): &(&ScenarioFinding, String)| {
            let place = format!("{}; {}.", scenario.load, scenario.environment.words);
            format!("\n### {}\n\n{}\n{text}", escaped(&self::heading(scenario)), escaped(&place))
        };
        let text: String = parts.iter().map(part).collect();
        if text.is_empty() { text } else { format!("\n## {heading}\n{text}") }
    };
    let resources = |scenario: &ScenarioFinding| {
        let grids: String = details::resources(scenario).iter().map(grid).collect();
        if grids.is_empty() { grids } else { format!("{grids}\n{}\n", details::sources(scenario)) }
    };
    let link = |scenario: &ScenarioFinding| {
        let asked = scenario.link.as_ref().map(|link| format!("\nAsked for: {}.\n", escaped(&asked(link))));
        asked.unwrap_or_default() + &details::link(scenario).iter().map(grid).collect::<String>()
    };
    let diagnosis = |scenario: &ScenarioFinding| {
        let lacking: String =
            details::undiagnosed(scenario).iter().map(|text| format!("- {}\n", escaped(text))).collect();
        let lacking = if lacking.is_empty() { lacking } else { format!("\n{lacking}") };
        details::diagnosis(scenario).iter().map(grid).collect::<String>() + &lacking
    };
    section("Resources", &resources)
        + &section("Links", &link)
        + &section("Unscored diagnosis: no result, as the counting slows down what it counts", &diagnosis)
}

fn grid(grid: &Grid) -> String {
    let mut headings = vec!["subject"];
    headings.extend(&grid.columns);
    let row = |line: &details::Line| {
        let before = if line.is_ceiling { "*ceiling:* " } else { "" };
        let mut cells = vec![format!("{before}{}", escaped(&line.title))];
        cells.extend(line.cells.iter().cloned());
        cells
    };
    let rows: Vec<Vec<String>> = grid.rows.iter().map(row).collect();
    format!("\n{}:\n\n{}", grid.title, lines(&headings, &rows, grid.columns.len()))
}

fn held_apart(findings: &Findings) -> String {
    let facts = isolation::facts(findings);
    let mut items: Vec<String> = facts.iter().map(|fact| format!("{}: {}", fact.what, escaped(&fact.words))).collect();
    items.extend(isolation::fallbacks(findings).iter().map(|text| format!("**not had**: {}", escaped(text))));
    list("What held the parts apart", &items)
}

pub(crate) fn list(heading: &str, items: &[String]) -> String {
    let items: Vec<String> = items.iter().filter(|item| !item.is_empty()).map(|item| format!("- {item}\n")).collect();
    if items.is_empty() { String::new() } else { format!("\n## {heading}\n\n{}", items.concat()) }
}

/// Text that Markdown shows as it is. Underscores inside a word need no escape, and most of ours are there.
pub(crate) fn escaped(text: &str) -> String {
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
