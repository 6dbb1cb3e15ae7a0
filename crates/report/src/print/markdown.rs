//! A document as Markdown for GitHub and GitLab.

use crate::document::{Align, Block, Card, Cell, Column, Document, Fact, Look, Row, Span, Table, Text};
use crate::print::columns::together;
use crate::print::html;
use crate::printable::printable;

/// The document in Markdown. Charts are left out.
pub fn markdown(document: &Document) -> String {
    let mut page = Page::default();
    page.blocks(&document.blocks);
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
    /// Meanings of the columns of the table above, until its legend is printed.
    meanings: Vec<String>,
}

impl Page {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            if !matches!(block, Block::Legend(_)) {
                self.legend(&[]);
            }
            self.block(block);
        }
        self.legend(&[]);
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(heading) => {
                self.part(&format!("{} {}\n", "#".repeat(usize::from(heading.rank)), spans(&heading.text)));
                self.part(&sentence(&escaped(&heading.beside)));
            }
            Block::Paragraph(text) => self.part(&line(&spans(text))),
            Block::Verdict(text) => self.part(&line(&around("**", &escaped(&text.plain())))),
            Block::Table(table) => self.table(table),
            Block::Matrix(matrix) => self.table(&matrix.as_table()),
            Block::List(list) => self.part(&items(&list.items)),
            Block::Facts(facts) => {
                let fact = |(label, words): (&str, Vec<&Text>)| {
                    let lines: Vec<String> = words.into_iter().map(spans).collect();
                    format!("- {}: {}\n", escaped(label), lines.join("  \n  "))
                };
                self.part(&Fact::by_label(facts).into_iter().map(fact).collect::<String>());
            }
            Block::Notes(notes) => {
                let note = |(number, text): &(usize, Text)| format!("{number}. {}\n", spans(text));
                self.part(&notes.iter().map(note).collect::<String>());
            }
            Block::Legend(meanings) => self.legend(meanings),
            Block::Code(lines) if lines.is_empty() => {}
            Block::Code(lines) => {
                let lines: Vec<String> = lines.iter().map(|line| printable(line).replace("```", "")).collect();
                self.part(&format!("```sh\n{}\n```\n", lines.join("\n")));
            }
            Block::Folded { summary, blocks } => {
                // Markdown does not interpret what is between these tags.
                self.part(&format!("<details><summary>{}</summary>\n", html::escaped(&printable(&summary.plain()))));
                // Blank lines are needed for Markdown inside HTML.
                self.blocks(blocks);
                self.part("</details>\n");
            }
            Block::Section { blocks, .. } | Block::Apart(blocks) => self.blocks(blocks),
            Block::Cards(cards) => {
                let facts = cards.iter().map(Card::as_fact).collect();
                self.block(&Block::Facts(facts));
            }
            Block::Charts(_) | Block::Key(_) | Block::Chips(_) => {}
        }
    }

    /// Adds a part after a blank line.
    fn part(&mut self, part: &str) {
        if !part.is_empty() && !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text += part;
    }

    fn legend(&mut self, meanings: &[String]) {
        let all: Vec<String> = meanings.iter().cloned().chain(self.meanings.drain(..)).collect();
        self.part(&line(&escaped(&together(&all).join(" · "))));
    }

    fn table(&mut self, table: &Table) {
        if !table.title.is_empty() {
            self.part(&format!("{}:\n", escaped(&table.title)));
        }
        // Note numbers come last, so that the columns of figures stay narrow.
        let has_notes = table.rows.iter().any(|row| row.cells.iter().any(|cell| !cell.notes.is_empty()));
        let headings = table.columns.iter().map(|column| escaped(&column.heading));
        let headings: Vec<String> = headings.chain(has_notes.then(|| "notes".to_owned())).collect();
        let rule = |column: &Column| if column.align == Align::Right { "--:|" } else { "---|" };
        let rules: String = table.columns.iter().map(rule).chain(has_notes.then_some("---|")).collect();
        let row = |row: &Row| {
            let cells = row.cells.iter().enumerate().map(|(place, it)| cell(it, place == 0 && row.is_loud()));
            let notes: Vec<String> = row.cells.iter().flat_map(|it| &it.notes).map(usize::to_string).collect();
            let cells: Vec<String> = cells.chain(has_notes.then(|| notes.join(", "))).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rows: String = table.rows.iter().map(row).collect();
        self.part(&format!("| {} |\n|{rules}\n{rows}", headings.join(" | ")));
        self.meanings.extend(table.columns.iter().map(|column| column.meaning.clone()).filter(|it| !it.is_empty()));
    }
}

/// Words with a newline, if there are any.
fn line(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("{words}\n") }
}

/// Words as a separate paragraph, ended like a sentence.
fn sentence(words: &str) -> String {
    let end = if words.ends_with(['.', '?', '!']) { "" } else { "." };
    if words.is_empty() { String::new() } else { format!("{words}{end}\n") }
}

fn items(items: &[Text]) -> String {
    items.iter().filter(|item| !item.is_empty()).map(|item| format!("- {}\n", spans(item))).collect()
}

fn cell(cell: &Cell, is_loud: bool) -> String {
    let words = if is_loud { around("**", &escaped(&cell.text.plain())) } else { spans(&cell.text) };
    let interval = cell.interval.as_ref().map(|interval| format!("({})", escaped(interval)));
    let parts = [Some(words), interval, Some(cell.mark.to_owned())];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<String>>().join(" ")
}

fn spans(text: &Text) -> String {
    text.0.iter().map(span).collect()
}

fn span(span: &Span) -> String {
    match span.look {
        Look::Plain | Look::Muted | Look::Good => escaped(&span.words),
        Look::Strong | Look::Warning => around("**", &escaped(&span.words)),
        Look::Emphasis => around("*", &escaped(&span.words)),
        Look::Code => around("`", &printable(&span.words).replace('`', "")),
    }
}

/// Words between two signs. Spaces at their ends stay outside, because Markdown ignores signs next to spaces.
fn around(sign: &str, words: &str) -> String {
    let inner = words.trim();
    if inner.is_empty() {
        return words.to_owned();
    }
    let before = &words[..words.len() - words.trim_start().len()];
    let after = &words[words.trim_end().len()..];
    format!("{before}{sign}{inner}{sign}{after}")
}

/// Escapes text for Markdown. Underscores inside a word need no escape, and most of ours are there.
pub(crate) fn escaped(text: &str) -> String {
    let letters: Vec<char> = printable(text).chars().collect();
    let in_word = |place: usize| {
        let is_letter = |place: usize| letters.get(place).is_some_and(|letter| letter.is_alphanumeric());
        place > 0 && is_letter(place - 1) && is_letter(place + 1)
    };
    let begins_block = block_sign(&letters);
    let mut text = String::new();
    for (place, letter) in letters.iter().enumerate() {
        if matches!(letter, '\\' | '|' | '<' | '>' | '*' | '[' | ']' | '`')
            || (*letter == '_' && !in_word(place))
            || begins_block == Some(place)
        {
            text.push('\\');
        }
        text.push(*letter);
    }
    text
}

/// The position of a sign that would make a line a heading, a list, a rule or a fence.
fn block_sign(letters: &[char]) -> Option<usize> {
    let start = letters.iter().position(|letter| !letter.is_whitespace())?;
    let run = |is: &dyn Fn(char) -> bool| letters[start..].iter().take_while(|letter| is(**letter)).count();
    let is_apart = |place: usize| letters.get(place).is_none_or(|letter| letter.is_whitespace());
    let sign = letters[start];
    match sign {
        '#' => is_apart(start + run(&|letter| letter == '#')).then_some(start),
        '-' | '+' | '~' => {
            let length = run(&|letter| letter == sign);
            (length > 2 || is_apart(start + length)).then_some(start)
        }
        // A line of nothing else would make the line above a heading.
        '=' => (run(&|letter| letter == '=' || letter.is_whitespace()) == letters.len() - start).then_some(start),
        '0'..='9' => {
            let end = start + run(&|letter| letter.is_ascii_digit());
            let is_number = matches!(letters.get(end), Some('.' | ')')) && is_apart(end + 1);
            is_number.then_some(end)
        }
        _ => None,
    }
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
        for (text, written) in
            [("# no heading", "\\# no heading"), ("- no item", "\\- no item"), ("12. no item", "12\\. no item")]
        {
            check(text, written);
        }
        check("--- no rule", "\\--- no rule");
        check("~~~", "\\~~~");
        check("===", "\\===");
        check("= equivalent", "= equivalent");
        check("-3% of 1.5 s, #1", "-3% of 1.5 s, #1");
    }

    #[test]
    fn looks_become_signs_that_no_blank_disables() {
        let text = Text::from("so ").and(" bold ", Look::Strong).and("tolok `run`", Look::Code).and("", Look::Emphasis);
        assert_eq!(spans(&text), "so  **bold** `tolok run`");
    }

    #[test]
    fn a_legend_stands_below_its_table_with_the_meanings_of_its_columns() {
        let columns = vec![
            Column::words("subject"),
            Column::numbers("p50 ms").meaning("p50 in a closed loop"),
            Column::numbers("p99 ms").meaning("p99 in a closed loop"),
        ];
        let cells = vec![Cell::from("Bun"), "1".into(), Cell { mark: "≈", interval: Some("2–3".into()), .."2".into() }];
        let table = Table { columns, rows: vec![Row { cells, ..Row::default() }], ..Table::default() };
        let blocks = vec![Block::Table(table), Block::Legend(vec!["≈ no difference found".into()])];
        let text = markdown(&Document { blocks, ..Document::default() });
        let expected = "| subject | p50 ms | p99 ms |\n|---|--:|--:|\n| Bun | 1 | 2 (2–3) ≈ |\n\n\
                        ≈ no difference found · p50 and p99 in a closed loop\n";
        assert_eq!(text, expected);
    }
}
