//! A document as compact text for snapshots: every word and its look, independent of formats.
//!
//! Signs around words show looks: `*strong*`, `~muted~`, `!warning!`, `+good+`, `_emphasis_`. A column of numbers has `:` after its
//! heading, and a caption is in brackets. Charts are counted, not drawn.

use tolok_report::document::{Align, Block, Cell, Column, Depth, Document, Look, Row, Table, Text};

pub const DEPTHS: [Depth; 3] = [Depth::Short, Depth::Full, Depth::Page];

/// The document, one line per part.
pub fn outline(document: &Document) -> String {
    let mut text = format!("{}\n", document.title);
    blocks(&mut text, &document.blocks, 0);
    text
}

fn blocks(text: &mut String, all: &[Block], depth: usize) {
    let indent = "  ".repeat(depth);
    for block in all {
        for line in lines(block) {
            *text += &format!("{indent}{line}\n");
        }
        if let Block::Folded { blocks: inner, .. } | Block::Section { blocks: inner, .. } | Block::Apart(inner) = block
        {
            blocks(text, inner, depth + 1);
        }
    }
}

fn lines(block: &Block) -> Vec<String> {
    match block {
        Block::Heading(heading) => {
            let beside = if heading.beside.is_empty() { String::new() } else { format!(" ({})", heading.beside) };
            vec![format!("{} {}{beside}", "#".repeat(usize::from(heading.rank)), words(&heading.text))]
        }
        Block::Paragraph(text) => vec![words(text)],
        Block::Verdict(text) => vec![format!("=> {}", words(text))],
        Block::Table(table) => of_table(table),
        Block::Matrix(matrix) => of_table(&matrix.as_table()),
        Block::List(list) => list.items.iter().map(|item| format!("{} {}", list.sign, words(item))).collect(),
        Block::Facts(facts) => facts.iter().map(|fact| format!("{}: {}", fact.label, words(&fact.words))).collect(),
        Block::Notes(notes) => notes.iter().map(|(number, note)| format!("[{number}] {}", words(note))).collect(),
        Block::Legend(meanings) => vec![format!("legend: {}", meanings.join(" · "))],
        Block::Charts(charts) => vec![format!("{} charts", charts.len())]
            .into_iter()
            .chain(charts.iter().map(|chart| chart.caption.clone()).filter(|caption| !caption.is_empty()))
            .collect(),
        Block::Key(keys) => {
            vec![format!("key: {}", keys.iter().map(|key| key.words.clone()).collect::<Vec<_>>().join(" · "))]
        }
        Block::Code(code) => code.iter().map(|line| format!("$ {line}")).collect(),
        Block::Folded { summary, .. } => vec![format!("> {}", words(summary))],
        Block::Section { id, .. } => vec![format!("section {id}")],
        Block::Apart(_) => Vec::new(),
        Block::Cards(cards) => cards.iter().map(|card| format!("{}: {}", card.question, words(&card.answer))).collect(),
        Block::Chips(chips) => {
            let chip = |look: Look, words: &str, section: &str| match section {
                "" => around(look, words),
                place => format!("{} #{place}", around(look, words)),
            };
            let chips = chips.iter().map(|it| chip(it.look, &it.words, &it.section));
            vec![format!("chips: {}", chips.collect::<Vec<_>>().join(" | "))]
        }
    }
}

fn of_table(table: &Table) -> Vec<String> {
    let column = |column: &Column| format!("{}{}", column.heading, if column.align == Align::Right { ":" } else { "" });
    let title = if table.title.is_empty() { String::new() } else { format!(" {}", table.title) };
    let mut lines = vec![format!("[{}]{title}", table.caption)];
    lines.push(format!("| {}", table.columns.iter().map(column).collect::<Vec<_>>().join(" | ")));
    let row = |row: &Row| {
        let runtime = row.runtime.as_ref().map(|runtime| format!("{runtime}: ")).unwrap_or_default();
        let line = format!("{runtime}{}", row.cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
        format!("| {}", around(row.look, &line))
    };
    lines.extend(table.rows.iter().map(row));
    lines
}

fn cell(cell: &Cell) -> String {
    let interval = cell.interval.as_ref().map(|interval| format!(" ({interval})")).unwrap_or_default();
    let mark = if cell.mark.is_empty() { String::new() } else { format!(" {}", cell.mark) };
    let notes: String = cell.notes.iter().map(|number| format!(" [{number}]")).collect();
    let below = if cell.below.is_empty() { String::new() } else { format!(" / {}", cell.below) };
    format!("{}{interval}{mark}{notes}{below}", words(&cell.text))
}

fn words(text: &Text) -> String {
    text.0.iter().map(|span| around(span.look, &span.words)).collect()
}

fn around(look: Look, words: &str) -> String {
    let sign = match look {
        Look::Plain => "",
        Look::Strong => "*",
        Look::Muted => "~",
        Look::Warning => "!",
        Look::Good => "+",
        Look::Code => "`",
        Look::Emphasis => "_",
    };
    if words.is_empty() { String::new() } else { format!("{sign}{words}{sign}") }
}
