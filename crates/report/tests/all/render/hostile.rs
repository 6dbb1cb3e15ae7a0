//! Every document with hostile words in all of its texts, in every format: nothing steers a terminal, and nothing is markup.

use tolok_model::shown::is_hidden;
use tolok_report::document::{Block, Cell, Depth, Document, Text};
use tolok_report::print::{html, latex, markdown, terminal};
use tolok_report::{Style, documents};

use super::edge_cases;

/// Markup of every format, and what a text is made of that wants to be more.
const MARKUP: &str = "<evil a=\"1\">|`*[x](y)\\input{evil}$&#%~^";

/// All control characters, and all that change the direction of writing.
fn steering() -> String {
    (0..0x3000).filter_map(char::from_u32).filter(|letter| *letter == '\n' || is_hidden(*letter)).collect()
}

/// A document in which every text ends with these words.
struct Poisoned(String);

impl Poisoned {
    fn word(&self, word: &mut String) {
        word.push_str(&self.0);
    }

    fn text(&self, text: &mut Text) {
        text.0.iter_mut().for_each(|span| self.word(&mut span.words));
    }

    fn cell(&self, cell: &mut Cell) {
        self.text(&mut cell.text);
        self.word(&mut cell.below);
        cell.interval.iter_mut().for_each(|interval| self.word(interval));
    }

    fn blocks(&self, blocks: &mut [Block]) {
        blocks.iter_mut().for_each(|block| self.block(block));
    }

    fn block(&self, block: &mut Block) {
        match block {
            Block::Heading(heading) => {
                self.text(&mut heading.text);
                self.word(&mut heading.beside);
            }
            Block::Paragraph(text) | Block::Verdict(text) => self.text(text),
            Block::Table(table) => {
                self.word(&mut table.title);
                for column in &mut table.columns {
                    [&mut column.heading, &mut column.short, &mut column.meaning]
                        .into_iter()
                        .for_each(|word| self.word(word));
                }
                table.rows.iter_mut().flat_map(|row| &mut row.cells).for_each(|cell| self.cell(cell));
            }
            Block::Matrix(matrix) => {
                matrix.columns.iter_mut().for_each(|column| {
                    [&mut column.heading, &mut column.beside].into_iter().for_each(|word| self.word(word));
                });
                matrix.costs.iter_mut().for_each(|word| self.word(word));
                for row in &mut matrix.rows {
                    [&mut row.name, &mut row.short].into_iter().for_each(|word| self.word(word));
                    row.costs.iter_mut().for_each(|word| self.word(word));
                    row.cells.iter_mut().for_each(|cell| {
                        [&mut cell.value, &mut cell.tier, &mut cell.below].into_iter().for_each(|word| self.word(word));
                    });
                }
            }
            Block::List(list) => list.items.iter_mut().for_each(|item| self.text(item)),
            Block::Facts(facts) => facts.iter_mut().for_each(|fact| {
                self.word(&mut fact.label);
                self.text(&mut fact.words);
            }),
            Block::Notes(notes) => notes.iter_mut().for_each(|(_, note)| self.text(note)),
            Block::Legend(words) | Block::Code(words) => words.iter_mut().for_each(|word| self.word(word)),
            Block::Charts(charts) => charts.iter_mut().for_each(|chart| self.word(&mut chart.caption)),
            Block::Key(keys) => keys.iter_mut().for_each(|key| self.word(&mut key.words)),
            Block::Folded { summary, blocks } => {
                self.text(summary);
                self.blocks(blocks);
            }
            Block::Section { blocks, .. } | Block::Apart(blocks) => self.blocks(blocks),
            Block::Cards(cards) => cards.iter_mut().for_each(|card| {
                [&mut card.question, &mut card.because, &mut card.sureness]
                    .into_iter()
                    .for_each(|word| self.word(word));
                self.text(&mut card.answer);
            }),
            Block::Chips(chips) => chips.iter_mut().for_each(|chip| self.word(&mut chip.words)),
        }
    }

    fn of(words: &str, document: &Document) -> Document {
        let mut poisoned = document.clone();
        let poison = Self(words.to_owned());
        poison.word(&mut poisoned.title);
        poison.blocks(&mut poisoned.blocks);
        poisoned
    }
}

fn every_document() -> Vec<(String, Document)> {
    let mut all = Vec::new();
    for (name, findings) in edge_cases::all() {
        let depths = [Depth::Short, Depth::Full, Depth::Page];
        all.extend(depths.map(|depth| (format!("{name} {depth:?}"), documents::run(&findings, depth))));
        all.push((format!("{name} glance"), documents::glance(&findings)));
        all.push((format!("{name} paper"), documents::paper(&findings)));
    }
    all
}

fn has_hidden(text: &str) -> bool {
    text.chars().any(is_hidden)
}

/// Markdown without what it shows as it is: code.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let mut kept = String::new();
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            // A sign that is escaped opens no code.
            let line = line.replace("\\`", "");
            kept.extend(line.split('`').step_by(2));
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn nothing_steers_and_nothing_is_markup_in_any_format() {
    let steering = steering();
    assert!(steering.chars().count() > 70);
    let words = format!("\u{1b}[2J\u{1b}]0;{MARKUP}\u{7}{steering}{MARKUP}");
    for (name, document) in every_document() {
        let poisoned = Poisoned::of(&words, &document);
        let plain = terminal(&poisoned, &Style::default());
        assert!(!has_hidden(&plain), "{name} in a terminal");
        let marked = markdown(&poisoned);
        assert!(!has_hidden(&marked), "{name} in Markdown");
        let shown = without_code(&marked);
        assert!(!shown.replace("\\<evil", "").contains("<evil"), "{name} in Markdown: {shown}");
        let page = html(&poisoned);
        assert!(!has_hidden(&page.replace('\t', "")) && !page.contains("<evil"), "{name} in HTML");
        let paper = latex(&poisoned);
        assert!(!has_hidden(&paper), "{name} in LaTeX");
        // A comment is one line, and what is in it is no TeX.
        let is_text = |line: &&str| !line.starts_with('%');
        assert!(!paper.lines().filter(is_text).any(|line| line.contains("\\input{")), "{name} in LaTeX");
    }
}
