//! Every document with hostile words in all texts, in every format: nothing may control a terminal or become markup.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tolok_model::shown::is_hidden;
use tolok_report::document::{Block, Cell, Document, Text};
use tolok_report::print::{html, latex, markdown, terminal};
use tolok_report::{Style, documents};

use crate::outline::DEPTHS;
use crate::print::everything;
use crate::{audit, compare, duel, edge_cases, fidelity, forecast, replication, verification};

/// Markup of every format.
const MARKUP: &str = "<evil a=\"1\">|`*[x](y)\\input{evil}$&#%~^";

/// All control characters, and all that change the direction of writing.
fn steering() -> String {
    (0..0x3000).filter_map(char::from_u32).filter(|letter| *letter == '\n' || is_hidden(*letter)).collect()
}

/// A document in which every text begins or ends with these words.
struct Poisoned {
    words: String,
    is_first: bool,
}

impl Poisoned {
    fn word(&self, word: &mut String) {
        word.insert_str(if self.is_first { 0 } else { word.len() }, &self.words);
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
        Self { words: words.to_owned(), is_first: false }.put_into(document)
    }

    fn put_into(&self, document: &Document) -> Document {
        let (poison, mut poisoned) = (self, document.clone());
        poison.word(&mut poisoned.title);
        poison.blocks(&mut poisoned.blocks);
        poisoned
    }
}

fn every_document() -> Vec<(String, Document)> {
    let mut all: Vec<(String, Document)> = Vec::new();
    let others = [
        ("audit", audit::every_document()),
        ("comparison", compare::every_document()),
        ("duel", duel::every_document()),
        ("fidelity", fidelity::every_document()),
        ("forecast", forecast::every_document()),
        ("replication", replication::every_document()),
        ("verification", verification::every_document()),
    ];
    for (name, documents) in others {
        all.extend((1..).zip(documents).map(|(number, document)| (format!("{name} {number}"), document)));
    }
    for (name, findings) in edge_cases::all() {
        all.extend(DEPTHS.map(|depth| (format!("{name} {depth:?}"), documents::run(&findings, depth))));
        all.push((format!("{name} glance"), documents::glance(&findings)));
        all.push((format!("{name} paper"), documents::paper(&findings)));
    }
    all
}

fn has_hidden(text: &str) -> bool {
    text.chars().any(is_hidden)
}

/// Markdown without code, which is shown verbatim.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let mut kept = String::new();
    for line in text.lines() {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            // An escaped backtick does not begin code.
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
        // A comment is one line, and TeX ignores its content.
        let is_text = |line: &&str| !line.starts_with('%');
        assert!(!paper.lines().filter(is_text).any(|line| line.contains("\\input{")), "{name} in LaTeX");
    }
}

/// Everything in a line of Markdown that is more than text, outside code blocks.
fn marks(text: &str) -> Vec<String> {
    let mut is_code = false;
    let is_text = |line: &&str| {
        is_code ^= line.starts_with("```");
        !is_code
    };
    let mark = |line: &str| {
        let line = line.trim_start();
        let sign = line.split(' ').next().unwrap_or_default();
        let is_number = sign.len() > 1
            && sign.ends_with(['.', ')'])
            && sign[..sign.len() - 1].bytes().all(|byte| byte.is_ascii_digit());
        let is_block = is_number || ["#", "##", "###", "####", "-", "+", "*", ">"].contains(&sign);
        let begins = ["```", "~~~", "|", "<", "---", "===", "***"].into_iter().find(|begins| line.starts_with(begins));
        begins.map(str::to_owned).or_else(|| is_block.then(|| sign.to_owned()))
    };
    text.lines().filter(is_text).filter_map(mark).collect()
}

/// Texts made of characters with a meaning in some format.
fn hostile() -> impl Strategy<Value = String> {
    let bits = [
        "# ",
        "> ",
        "- ",
        "+ ",
        "1. ",
        "```",
        "~~~",
        "---",
        "|",
        "=1+1",
        "@",
        "<evil>",
        "</td>",
        "&lt;",
        "\\input{evil}",
        "$$",
        "%",
        "{",
        "}",
        "`",
        "*",
        "_",
        "[a](b)",
        "![a](b)",
        "<!--",
        "]]>",
        "\\",
        "\n",
        "\r",
        "\t",
        "\u{1b}[2J",
        "\u{7}",
        "\u{9b}",
        "\u{202e}",
        "\u{2066}",
        "\u{2028}",
        "\u{feff}",
        "\u{0}",
        "a",
        " ",
        "é",
    ];
    prop::collection::vec(prop::sample::select(bits.to_vec()), 1..8).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        rng_seed: RngSeed::Fixed(20_261_126),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_becomes_a_heading_a_list_or_markup_wherever_it_stands(words in hostile(), is_first in any::<bool>()) {
        let plain = Poisoned { words: "x".to_owned(), is_first }.put_into(&everything());
        let poisoned = Poisoned { words: words.clone(), is_first }.put_into(&everything());
        let marked = markdown(&poisoned);
        prop_assert!(!has_hidden(&marked) && !has_hidden(&terminal(&poisoned, &Style::default())));
        prop_assert_eq!(marks(&marked), marks(&markdown(&plain)), "{:?} in\n{}", words, marked);
        let (page, paper) = (html(&poisoned), latex(&poisoned));
        prop_assert!(!has_hidden(&page.replace('\t', "")) && !has_hidden(&paper));
        let tags = |page: &str| page.matches('<').count();
        prop_assert_eq!(tags(&page), tags(&html(&plain)), "{:?}", words);
        let is_text = |line: &&str| !line.starts_with('%');
        prop_assert!(!paper.lines().filter(is_text).any(|line| line.contains("\\input{")), "{:?}", words);
    }
}
