//! What each subject got, and what differed.

use tolok_analysis::figures::{NONE, Quantity, amount, count};
use tolok_analysis::{FairnessLedger, FairnessRow, Findings, ParameterFact, ProcessSetup};

use super::columns::named;
use super::program_table::words;
use super::{muted, paragraph, section};
use crate::document::{Block, Cell, Column, Depth, Heading, Look, Row, Table, Text};

/// What a reader can do about an unfair budget.
const OBJECTION: &str = "Only recorded facts are judged. If a setting or a rule seems unfair, `tolok help BIAS.md` (“How to object”) says what to change and how to show the difference.";
/// The most lines on a terminal.
const MOST_LINES: usize = 4;

/// The section: what differed and what was the same, what each subject got, and how each is set up.
pub(crate) fn blocks(findings: &Findings, depth: Depth) -> Vec<Block> {
    let ledger = &findings.fairness;
    if ledger.rows.is_empty() {
        return Vec::new();
    }
    let mut blocks: Vec<Block> = paragraph(OBJECTION).into_iter().collect();
    blocks.extend(verdicts(ledger));
    blocks.push(Block::Table(table(ledger)));
    blocks.extend(bytes(ledger).map(Block::Table));
    blocks.extend(setups(ledger, depth));
    if depth == Depth::Page {
        // Differences come first; details are for readers who want to object.
        let unequal = ledger.unequal.iter().take(MOST_LINES).map(|text| Text::from(text.as_str())).collect();
        let shown = Block::list(unequal).or_else(|| muted("No recorded fact differed between servers."));
        let folded = Block::Folded { summary: "What each had, what was the same, how each is set up".into(), blocks };
        return section(
            "fairness",
            "Fairness: what differed between servers",
            shown.into_iter().chain([folded]).collect(),
        );
    }
    section("fairness", "Fairness", blocks)
}

fn verdicts(ledger: &FairnessLedger) -> Option<Block> {
    let kinds = [
        (Text::of("not the same", Look::Warning), &ledger.unequal),
        (Text::from("the same"), &ledger.equal),
        (Text::from("unknown"), &ledger.unknown),
    ];
    let of = |(kind, sentences): &(Text, &Vec<String>)| {
        let verdict = |text: &String| kind.clone().and(format!(": {text}"), Look::Plain);
        sentences.iter().map(verdict).collect::<Vec<Text>>()
    };
    Block::list(kinds.iter().flat_map(of).collect())
}

fn table(ledger: &FairnessLedger) -> Table {
    let has_processes = ledger.rows.iter().any(|row| row.processes_max.is_some());
    let has_pools = ledger.rows.iter().any(|row| !row.database_pools.is_empty());
    let mut headings = vec!["subject", "given", "settings"];
    headings.extend(has_processes.then_some("processes / threads seen"));
    headings.extend(has_pools.then_some("connections to the database"));
    let number = |number: Option<u32>| number.map_or(NONE.to_owned(), |number| number.to_string());
    let row = |of: &FairnessRow| {
        let pools: Vec<String> = of.database_pools.iter().map(u32::to_string).collect();
        let settings = or_none(of.parameters.iter().map(setting).collect::<Vec<_>>().join(", "));
        let processes = || format!("{} / {}", number(of.processes_max), number(of.threads_max));
        let mut row = named(&of.title, &of.runtime, of.is_ceiling);
        row.cells[0].below.clone_from(&of.subject);
        row.cells.extend([of.given.join("; "), settings].map(Cell::from));
        row.cells.extend(has_processes.then(|| Cell::from(processes())));
        row.cells.extend(has_pools.then(|| Cell::from(or_none(pools.join(", ")))));
        row
    };
    Table::of(
        "What each subject had",
        headings.into_iter().map(Column::words).collect(),
        ledger.rows.iter().map(row).collect(),
    )
}

/// How each subject is set up, in the words of its own `subject.toml`.
fn setups(ledger: &FairnessLedger, depth: Depth) -> Vec<Block> {
    let words = Text::from("How each is set up, as described in its own ").and("subject.toml", Look::Code);
    match depth {
        Depth::Page => {
            vec![Block::Folded { summary: words, blocks: ledger.rows.iter().flat_map(setup).collect() }]
        }
        _ => {
            let title = Block::Paragraph(words.and(":", Look::Plain));
            std::iter::once(title).chain(ledger.rows.iter().flat_map(declaration)).collect()
        }
    }
}

fn declared(row: &FairnessRow) -> &str {
    row.setup.as_deref().unwrap_or("not recorded")
}

/// On a page: its description, parameters, commands and files.
fn setup(row: &FairnessRow) -> Vec<Block> {
    let title = Heading { rank: 3, text: row.title.as_str().into(), beside: row.subject.clone() };
    let parameter = |parameter: &ParameterFact| {
        let kind = match parameter.is_changed {
            None => "",
            Some(true) => " changed",
            Some(false) => " default",
        };
        let value = Text::of(parameter.value.as_str(), Look::Code).and(kind, Look::Muted);
        let name = Text::of(parameter.name.as_str(), Look::Code);
        Row::of(vec![name.into(), value.into(), parameter.help.as_str().into()])
    };
    let table = Table::of(
        format!("Parameters of {}", row.subject),
        ["parameter", "value", "what it tunes"].map(Column::words).to_vec(),
        row.parameters.iter().map(parameter).collect(),
    );
    let files = row.files.join(", ");
    let files = (!files.is_empty()).then(|| muted(format!("Further files: {files}.")));
    let mut blocks = vec![Block::Heading(title)];
    blocks.extend(paragraph(declared(row)));
    blocks.extend((!table.rows.is_empty()).then_some(Block::Table(table)));
    for process in &row.declared {
        blocks.extend(muted(process.name.as_str()));
        blocks.push(Block::Code(command_lines(process)));
    }
    blocks.extend(files.flatten());
    blocks
}

/// The environment of a process, a line each, and its command.
fn command_lines(process: &ProcessSetup) -> Vec<String> {
    let environment = process.env.iter().map(|(name, value)| format!("{name}={value}"));
    environment.chain([process.command.join(" ")]).collect()
}

/// In a text file: its description, and a line for each parameter and command.
fn declaration(row: &FairnessRow) -> Vec<Block> {
    let name = Text::from(format!("{} ", row.title)).and(row.subject.as_str(), Look::Code);
    let parameters = row.parameters.iter().filter(|parameter| !parameter.help.is_empty()).map(|parameter| {
        let setting = format!("{} = {}", parameter.name, parameter.value);
        Text::of(setting, Look::Code).and(format!(": {}", parameter.help), Look::Plain)
    });
    let commands = row
        .declared
        .iter()
        .map(|process| Text::from(format!("{}: ", process.name)).and(command_lines(process).join(" "), Look::Code));
    let title = Block::Paragraph(name.and(format!(": {}", declared(row)), Look::Plain));
    std::iter::once(title).chain(Block::list(parameters.chain(commands).collect())).collect()
}

fn or_none(text: String) -> String {
    if text.is_empty() { NONE.to_owned() } else { text }
}

/// `pool = 16`, with a star if that is not the default.
fn setting(parameter: &ParameterFact) -> String {
    let star = if parameter.is_changed == Some(true) { "*" } else { "" };
    format!("{}\u{a0}=\u{a0}{}{star}", parameter.name, parameter.value)
}

/// The caption of the table of bytes.
const BYTES: &str = "Bytes on the wire per response, with headers of HTTP, TCP and IP; over loopback with the request";

/// Bytes of responses, if any were counted or the bodies are known.
fn bytes(ledger: &FairnessLedger) -> Option<Table> {
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
        let cells = own
            .iter()
            .map(|answers| words(answers.as_ref().and_then(|it| it.network_bytes_per_answer).map(in_column_of_bytes)));
        let names = [(*scenario).to_owned(), range(&bodies)].map(Cell::from);
        Row::of(names.into_iter().chain(cells).collect())
    };
    let subjects = ledger.rows.iter().map(|row| Column::numbers(row.title.as_str()));
    let columns = [Column::words("scenario"), Column::numbers("body")].into_iter().chain(subjects).collect();
    let rows: Vec<Row> = scenarios.iter().map(row).collect();
    let (caption, title) = ("Bytes of a response".to_owned(), BYTES.to_owned());
    (!rows.is_empty()).then_some(Table { caption, title, columns, rows })
}

/// `27`, or `27–31` if the responses of subjects differ in length.
fn range(values: &[f64]) -> String {
    let [low, high] = [f64::min, f64::max].map(|of| values.iter().copied().reduce(of).unwrap_or(0.0));
    let [low, high] = [low, high].map(in_column_of_bytes);
    if low == high { low } else { format!("{low}–{high}") }
}

/// Exact bytes for small numbers, rounded ones for large numbers.
fn in_column_of_bytes(bytes: f64) -> String {
    if bytes < 10_000.0 { count(bytes.round() as u64) } else { amount(Quantity::Bytes, bytes) }
}

/// What differed, in a few lines for a terminal.
pub(crate) fn short(findings: &Findings) -> Vec<String> {
    let unequal = &findings.fairness.unequal;
    let more = unequal.len().saturating_sub(MOST_LINES);
    let mut short: Vec<String> = unequal.iter().take(MOST_LINES).cloned().collect();
    short.extend((more > 0).then(|| format!("{more} more in the report.")));
    short
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
