//! What each subject had, and where that was not the same for all.

use std::fmt::Write;

use serde::Serialize;
use tolok_analysis::figures::{NONE, Quantity, amount, count};
use tolok_analysis::{FairnessLedger, FairnessRow, Findings, ParameterFact, ProcessSetup};

use crate::markdown::{escaped, lines};
use crate::palette::marker;

/// How somebody objects who finds a budget unfair.
const OBJECTION: &str = "Only what is recorded is judged. Who holds a setting or a rule to be unfair finds in BIAS.md, under “How to object”, \
                         what to change and how to show the difference.";
/// So many lines stand in a terminal.
const MOST_LINES: usize = 4;

/// What the template reads.
#[derive(Serialize)]
pub(crate) struct Fairness {
    objection: &'static str,
    verdicts: Vec<Verdict>,
    has_pools: bool,
    has_processes: bool,
    rows: Vec<Row>,
    bytes: Option<Bytes>,
}

/// A sentence with its sign.
#[derive(Serialize)]
struct Verdict {
    class: &'static str,
    sign: &'static str,
    text: String,
}

/// A subject.
#[derive(Serialize)]
struct Row {
    marker: String,
    title: String,
    subject: String,
    is_ceiling: bool,
    setup: String,
    /// Parameters in a line.
    settings: String,
    parameters: Vec<Parameter>,
    given: String,
    processes: String,
    pool: String,
    commands: Vec<Command>,
    files: String,
}

#[derive(Serialize)]
struct Parameter {
    name: String,
    value: String,
    help: String,
    /// Whether it is its default, in words; empty where that is not known.
    kind: &'static str,
}

#[derive(Serialize)]
struct Command {
    name: String,
    /// The command and its environment as one text.
    text: String,
}

/// Bytes on the wire for each answer, scenario by scenario.
#[derive(Serialize)]
struct Bytes {
    subjects: Vec<String>,
    rows: Vec<BytesRow>,
    /// Whether there are so many rows that they are folded away.
    is_long: bool,
}

#[derive(Serialize)]
struct BytesRow {
    scenario: String,
    body: String,
    cells: Vec<String>,
}

impl Fairness {
    /// The section; none where there is nothing to show.
    pub(crate) fn of(findings: &Findings) -> Option<Self> {
        let ledger = &findings.fairness;
        (!ledger.rows.is_empty()).then(|| Self {
            objection: OBJECTION,
            verdicts: verdicts(ledger),
            has_pools: ledger.rows.iter().any(|row| !row.database_pools.is_empty()),
            has_processes: ledger.rows.iter().any(|row| row.processes_max.is_some()),
            rows: ledger.rows.iter().map(row).collect(),
            bytes: bytes(ledger),
        })
    }
}

fn verdicts(ledger: &FairnessLedger) -> Vec<Verdict> {
    let kinds = [("warn", "!", &ledger.unequal), ("", "=", &ledger.equal), ("sub", "?", &ledger.unknown)];
    let of = |(class, sign, sentences): (&'static str, &'static str, &Vec<String>)| {
        let verdict = move |text: &String| Verdict { class, sign, text: text.clone() };
        sentences.iter().map(verdict).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(of).collect()
}

fn row(row: &FairnessRow) -> Row {
    let number = |number: Option<u32>| number.map_or(NONE.to_owned(), |number| number.to_string());
    let pools: Vec<String> = row.database_pools.iter().map(u32::to_string).collect();
    Row {
        marker: marker(&row.runtime),
        title: row.title.clone(),
        subject: row.subject.clone(),
        is_ceiling: row.is_ceiling,
        setup: row.setup.clone().unwrap_or_else(|| "not kept by this run".to_owned()),
        settings: or_none(row.parameters.iter().map(setting).collect::<Vec<_>>().join(", ")),
        parameters: row.parameters.iter().map(parameter).collect(),
        given: row.given.join("; "),
        processes: format!("{} / {}", number(row.processes_max), number(row.threads_max)),
        pool: or_none(pools.join(", ")),
        commands: row.declared.iter().map(command).collect(),
        files: row.files.join(", "),
    }
}

fn or_none(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// `pool = 16`, with a star where that is not the default.
fn setting(parameter: &ParameterFact) -> String {
    let star = if parameter.is_changed == Some(true) { "*" } else { "" };
    format!("{}\u{a0}=\u{a0}{}{star}", parameter.name, parameter.value)
}

fn parameter(parameter: &ParameterFact) -> Parameter {
    let kind = match parameter.is_changed {
        None => "",
        Some(true) => "changed",
        Some(false) => "default",
    };
    let ParameterFact { name, value, help, .. } = parameter;
    Parameter { name: name.clone(), value: value.clone(), help: help.clone(), kind }
}

fn command(process: &ProcessSetup) -> Command {
    // What is left empty by a template is no part of the command; nor is it of any use to a reader.
    let mut text: String = process.env.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    text += &process.command.join(" ");
    Command { name: process.name.clone(), text }
}

/// Bytes of answers, where any were read or bodies are known.
fn bytes(ledger: &FairnessLedger) -> Option<Bytes> {
    let mut scenarios: Vec<&str> = Vec::new();
    for answers in ledger.rows.iter().flat_map(|row| &row.scenarios).filter(|it| it.body_bytes.is_some()) {
        if !scenarios.contains(&answers.scenario.as_str()) {
            scenarios.push(&answers.scenario);
        }
    }
    let row = |scenario: &&str| {
        let of = |row: &FairnessRow| row.scenarios.iter().find(|it| it.scenario == *scenario).cloned();
        let own: Vec<_> = ledger.rows.iter().map(of).collect();
        let bodies: Vec<f64> = own.iter().flatten().filter_map(|answers| answers.body_bytes).collect();
        let cell = |bytes: Option<f64>| bytes.map_or(NONE.to_owned(), in_column_of_bytes);
        let cells = own.iter().map(|answers| cell(answers.as_ref().and_then(|it| it.network_bytes_per_answer)));
        BytesRow { scenario: (*scenario).to_owned(), body: range(&bodies), cells: cells.collect() }
    };
    let rows: Vec<BytesRow> = scenarios.iter().map(row).collect();
    let subjects = ledger.rows.iter().map(|row| row.title.clone()).collect();
    (!rows.is_empty()).then_some(Bytes { subjects, is_long: rows.len() > 6, rows })
}

/// `27`, or `27–31` where answers of different subjects are not equally long.
fn range(values: &[f64]) -> String {
    let [low, high] = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of).unwrap_or(0.0));
    let [low, high] = [low, high].map(in_column_of_bytes);
    if low == high { low } else { format!("{low}–{high}") }
}

/// Whole bytes of what is short, and no more digits than can be read of what is long.
fn in_column_of_bytes(bytes: f64) -> String {
    if bytes < 10_000.0 { count(bytes.round() as u64) } else { amount(Quantity::Bytes, bytes) }
}

/// What was not the same, for a terminal: a few lines.
pub(crate) fn short(findings: &Findings) -> Vec<String> {
    let unequal = &findings.fairness.unequal;
    let more = unequal.len().saturating_sub(MOST_LINES);
    let mut short: Vec<String> = unequal.iter().take(MOST_LINES).cloned().collect();
    short.extend((more > 0).then(|| format!("{more} more in the report.")));
    short
}

/// The section in Markdown, with an empty line before it; empty where there is nothing to show.
pub(crate) fn markdown(findings: &Findings) -> String {
    let ledger = &findings.fairness;
    let Some(section) = Fairness::of(findings) else { return String::new() };
    let mut text = format!("\n## Did all have the same?\n\n{}\n\n", escaped(OBJECTION));
    let kinds = [("**not the same**", &ledger.unequal), ("the same", &ledger.equal), ("unknown", &ledger.unknown)];
    for (kind, sentences) in kinds {
        sentences.iter().for_each(|sentence| _ = writeln!(text, "- {kind}: {}", escaped(sentence)));
    }
    text += &format!("\n{}", table(&section));
    if let Some(bytes) = &section.bytes {
        text += &format!("\n{BYTES}:\n\n{}", bytes_table(bytes));
    }
    text += "\nHow each is set up, in the words of its own `subject.toml`:\n\n";
    section.rows.iter().for_each(|row| text += &declaration(row));
    text
}

/// What the table of bytes holds.
const BYTES: &str =
    "Bytes on the wire for each answer, headers of HTTP, TCP and IP included, and over a loopback the request";

fn table(section: &Fairness) -> String {
    let mut headings = vec!["subject", "given", "settings"];
    headings.extend(section.has_processes.then_some("processes / threads seen"));
    headings.extend(section.has_pools.then_some("connections to the database"));
    let row = |row: &Row| {
        let before = if row.is_ceiling { "*ceiling:* " } else { "" };
        let mut cells = vec![format!("{before}{}", escaped(&row.title)), escaped(&row.given), escaped(&row.settings)];
        cells.extend(section.has_processes.then(|| row.processes.clone()));
        cells.extend(section.has_pools.then(|| row.pool.clone()));
        cells
    };
    lines(&headings, &section.rows.iter().map(row).collect::<Vec<_>>(), 0)
}

fn bytes_table(bytes: &Bytes) -> String {
    let subjects = bytes.subjects.iter().map(|subject| escaped(subject));
    let headings: Vec<String> = ["scenario".to_owned(), "body".to_owned()].into_iter().chain(subjects).collect();
    let row = |row: &BytesRow| {
        let first = [escaped(&row.scenario), row.body.clone()];
        first.into_iter().chain(row.cells.iter().cloned()).collect::<Vec<_>>()
    };
    lines(&headings, &bytes.rows.iter().map(row).collect::<Vec<_>>(), headings.len() - 1)
}

fn declaration(row: &Row) -> String {
    let mut text = format!("- {} `{}`: {}\n", escaped(&row.title), row.subject.replace('`', ""), escaped(&row.setup));
    for parameter in row.parameters.iter().filter(|parameter| !parameter.help.is_empty()) {
        _ = writeln!(text, "  - `{} = {}`: {}", parameter.name, parameter.value, escaped(&parameter.help));
    }
    for command in &row.commands {
        let command_line = command.text.replace('\n', " ").replace('`', "");
        _ = writeln!(text, "  - {}: `{command_line}`", escaped(&command.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_answers_have_whole_bytes_and_long_ones_a_unit() {
        assert_eq!(range(&[27.0, 27.0]), "27");
        assert_eq!(range(&[27.0, 31.2]), "27–31");
        assert_eq!(in_column_of_bytes(546_812.0), "534\u{a0}KiB");
    }
}
