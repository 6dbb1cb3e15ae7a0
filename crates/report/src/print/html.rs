//! A document as one self-contained page, or as part of one: no script, font or picture from outside.
//!
//! All looks are in the style sheet. The page's content security policy forbids everything but its own style. All words from
//! servers or study files are escaped.

mod blocks;
mod matrix;
mod tables;

use crate::document::{Block, Document};
use crate::svg::palette::STYLE;
use blocks::Page;
use tolok_model::shown::is_hidden;

const FRAME: &str = include_str!("../../templates/page.html");

/// The style sheet of the pages: their colours in light and dark, tables, charts.
pub fn style() -> &'static str {
    &STYLE
}

/// The whole page: the head, the verdict, a table of contents, and the sections.
pub fn html(document: &Document) -> String {
    page(document, "")
}

/// The same, with the name of a picture beside it for link previews.
pub fn html_with_card(document: &Document, card: &str) -> String {
    let card = escaped(card);
    page(
        document,
        &format!(
            "<meta property=\"og:image\" content=\"{card}\">\n<meta property=\"og:image:width\" content=\"1200\">\n\
             <meta property=\"og:image:height\" content=\"630\">\n<meta name=\"twitter:card\" content=\"summary_large_image\">\n"
        ),
    )
}

fn page(document: &Document, card: &str) -> String {
    let is_section = |block: &Block| match block {
        Block::Section { .. } | Block::Verdict(_) => true,
        Block::Heading(heading) => heading.rank > 1,
        _ => false,
    };
    let is_verdict = |block: &Block| {
        matches!(block, Block::Verdict(_)) || matches!(block, Block::Section { id, .. } if id == blocks::VERDICT)
    };
    let start = document.blocks.iter().position(is_section).unwrap_or(document.blocks.len());
    let (head, rest) = document.blocks.split_at(start);
    let (verdict, sections) = rest.split_at(usize::from(rest.first().is_some_and(is_verdict)));
    let mut page = Page::default();
    let header = page.header(head);
    let verdict = page.written(verdict);
    let sections = page.written(sections);
    let skip = if verdict.is_empty() { "" } else { "<a class=\"skip\" href=\"#verdict\">Skip to the verdict</a>\n" };
    let values = [
        ("version", concat!("tolok ", env!("CARGO_PKG_VERSION"))),
        ("layout", &super::LAYOUT.to_string()),
        ("title", &escaped(&document.title)),
        ("og title", &escaped(&document.title)),
        ("og description", &escaped(&answer(document))),
        ("card", card),
        ("description", &escaped(&answer(document))),
        ("style", STYLE.as_str()),
        ("skip", skip),
        ("content", &format!("{header}{verdict}{}{sections}", page.contents())),
    ];
    filled(FRAME, &values)
}

/// The first verdict in words, for link previews.
fn answer(document: &Document) -> String {
    fn verdict(blocks: &[Block]) -> Option<String> {
        blocks.iter().find_map(|block| match block {
            Block::Verdict(text) => Some(text.plain()),
            Block::Section { blocks, .. } => verdict(blocks),
            _ => None,
        })
    }
    verdict(&document.blocks).unwrap_or_else(|| document.title.clone())
}

/// The document as part of a page that has its own title and style sheet.
pub fn piece(document: &Document) -> String {
    Page::piece().written(&document.blocks)
}

/// The frame with its values, which must be in the frame's order.
fn filled(frame: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = frame;
    for (name, value) in values {
        let place = format!("{{{{ {name} }}}}");
        let (before, after) = rest.split_once(&place).expect("the frame is part of the program, and tests fill it");
        text += before;
        text += value;
        rest = after;
    }
    text + rest
}

/// Escapes text for a page, including control characters and those that change the direction; also safe in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            other => escaped.push(if is_hidden(other) { '�' } else { other }),
        }
    }
    escaped
}
