//! Blocks as HTML.

use super::escaped;
use super::tables::Tables;
use crate::document::{Block, Card, Chart, Chip, Fact, Heading, Key, List, Look, Span, Text};
use crate::print::columns::together;
use crate::printable::printable;

/// The section for the box at the top.
pub(super) const VERDICT: &str = "verdict";
/// Folded content with more rows than this is omitted on paper.
const MOST_ROWS_ON_PAPER: usize = 12;

/// Start of a chart of a single subject, many of which are side by side.
const NARROW_CHART: &str = "<svg viewBox=\"0 0 160 ";
/// Start of a chart that is shown in two columns.
const WIDE_CHART: &str = "<svg viewBox=\"0 0 544 ";

/// A page being written.
#[derive(Default)]
pub(super) struct Page {
    text: String,
    tables: Tables,
    /// Sections with their anchors, for the table of contents.
    sections: Vec<(String, String)>,
    /// Rank of the last heading: the next is at most one lower.
    rank: u8,
    /// Anchor of the section whose heading comes next.
    id: Option<String>,
    /// Whether an item, begun by a heading of the fourth rank, is open.
    is_in_item: bool,
    /// Whether facts and chips go into the verdict's box.
    is_in_verdict: bool,
    /// Meanings of the columns of the table above, until its legend is printed.
    meanings: Vec<String>,
}

impl Page {
    /// Part of a page that already has a title.
    pub(super) fn piece() -> Self {
        Self { rank: 1, ..Self::default() }
    }

    /// Everything before the first section.
    pub(super) fn header(&mut self, blocks: &[Block]) -> String {
        let mut header = String::from("<header>\n");
        let mut rest = blocks;
        while let Some((first, others)) = rest.split_first() {
            let muted = rest.iter().take_while(|block| is_muted(block)).count();
            rest = match first {
                _ if muted > 0 => {
                    let lines = rest[..muted].iter().filter_map(|block| match block {
                        Block::Paragraph(text) => Some(spans_within(text, Look::Muted)),
                        _ => None,
                    });
                    header += &format!("<p class=\"sub\">{}</p>\n", lines.collect::<Vec<String>>().join("<br>"));
                    &rest[muted..]
                }
                Block::Paragraph(text) if text.is_all(Look::Plain) => {
                    header += &format!("<p class=\"question\">{}</p>\n", spans(text));
                    others
                }
                block => {
                    header += &self.written(std::slice::from_ref(block));
                    others
                }
            };
        }
        header + "</header>\n\n"
    }

    /// Blocks as a separate text.
    pub(super) fn written(&mut self, blocks: &[Block]) -> String {
        self.blocks(blocks);
        std::mem::take(&mut self.text)
    }

    /// Links to all sections so far.
    pub(super) fn contents(&self) -> String {
        if self.sections.is_empty() {
            return String::new();
        }
        let links = self.sections.iter().map(|(id, name)| format!("<li><a href=\"#{id}\">{name}</a></li>\n"));
        let links: String = links.collect();
        format!("<nav class=\"contents\" aria-label=\"On this page\">\n<ul>\n{links}</ul>\n</nav>\n\n")
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            if !matches!(block, Block::Legend(_)) {
                self.legend(&[]);
            }
            self.block(block);
        }
        self.legend(&[]);
        self.end_item();
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Heading(heading) => self.heading(heading),
            Block::Paragraph(text) => self.paragraph(text),
            Block::Verdict(text) if self.is_in_verdict => {
                let warning = if text.is_all(Look::Warning) { " warn" } else { "" };
                self.text += &format!("<p class=\"big{warning}\">{}</p>\n", spans_within(text, Look::Warning));
            }
            Block::Verdict(_) if self.sections.is_empty() && self.rank < 2 => {
                self.section(VERDICT, std::slice::from_ref(block));
            }
            Block::Verdict(text) => self.text += &format!("<p><b>{}</b></p>\n", spans(text)),
            Block::Table(table) => {
                self.text += &self.tables.table(table);
                let meanings = table.columns.iter().map(|column| column.meaning.clone());
                self.meanings.extend(meanings.filter(|meaning| !meaning.is_empty()));
            }
            Block::Matrix(matrix) => self.text += &self.tables.matrix(matrix),
            Block::Apart(blocks) => self.blocks(blocks),
            Block::List(list) => self.text += &self::list(list),
            Block::Facts(facts) => self.facts(facts),
            Block::Notes(notes) => self.notes(notes),
            Block::Legend(meanings) => self.legend(meanings),
            Block::Charts(charts) => self.charts(charts),
            Block::Key(keys) => self.text += &key(keys),
            Block::Code(lines) if lines.is_empty() => {}
            Block::Code(lines) => {
                self.text += &format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(&lines.join("\n")));
            }
            Block::Folded { summary, blocks } => self.folded(summary, blocks),
            Block::Section { id, blocks } => self.section(id, blocks),
            Block::Chips(chips) => self.text += &self::chips(chips),
            Block::Cards(cards) => self.text += &self::cards(cards),
        }
    }

    fn heading(&mut self, heading: &Heading) {
        self.end_item();
        let level = heading.rank.clamp(1, self.rank + 1);
        // A heading needs no additional weight, unlike in a terminal.
        let words = spans_within(&heading.text, Look::Muted);
        let id = match (self.id.take(), heading.rank) {
            (Some(id), _) => Some(id),
            (None, 2) => Some(format!("section-{}", self.sections.len() + 1)),
            (None, _) => None,
        };
        if let (Some(id), 2) = (&id, heading.rank) {
            self.sections.push((id.clone(), words.clone()));
            self.tables.keep(heading.text.plain());
        }
        if heading.rank > 3 {
            self.text += "<article class=\"item\">\n";
            self.is_in_item = true;
        }
        let id = id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
        let beside = match heading.beside.as_str() {
            "" => String::new(),
            words => format!(" <span class=\"sub\">{}</span>", escaped(words)),
        };
        self.text += &format!("<h{level}{id}>{words}{beside}</h{level}>\n");
        self.rank = level;
    }

    fn end_item(&mut self) {
        if std::mem::take(&mut self.is_in_item) {
            self.text += "</article>\n";
        }
    }

    fn paragraph(&mut self, text: &Text) {
        self.text += &if text.is_empty() {
            String::new()
        } else if text.is_all(Look::Muted) {
            format!("<p class=\"note\">{}</p>\n", spans_within(text, Look::Muted))
        } else if text.is_all(Look::Warning) {
            format!("<p class=\"warn\">! {}</p>\n", spans_within(text, Look::Warning))
        } else {
            format!("<p>{}</p>\n", spans(text))
        };
    }

    fn facts(&mut self, facts: &[Fact]) {
        let class = if self.is_in_verdict { "" } else { " class=\"terms\"" };
        let fact = |(label, words): (&str, Vec<&Text>)| {
            let lines: Vec<String> = words.into_iter().map(spans).collect();
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", shown(label), lines.join("<br>"))
        };
        let facts: String = Fact::by_label(facts).into_iter().map(fact).collect();
        if !facts.is_empty() {
            self.text += &format!("<dl{class}>\n{facts}</dl>\n");
        }
    }

    fn notes(&mut self, notes: &[(usize, Text)]) {
        let note = |(number, text): &(usize, Text)| format!("<li value=\"{number}\">{}</li>\n", spans(text));
        if !notes.is_empty() {
            self.text += &format!("<ol class=\"notes\">\n{}</ol>\n", notes.iter().map(note).collect::<String>());
        }
    }

    fn legend(&mut self, meanings: &[String]) {
        let all: Vec<String> = meanings.iter().cloned().chain(self.meanings.drain(..)).collect();
        if !all.is_empty() {
            self.text += &format!("<p class=\"note\">{}</p>\n", shown(&together(&all).join(" · ")));
        }
    }

    fn charts(&mut self, charts: &[Chart]) {
        let figure = |chart: &Chart| {
            let caption = match chart.caption.as_str() {
                "" => String::new(),
                words => format!("<figcaption class=\"note\">{}</figcaption>", shown(words)),
            };
            format!("<figure class=\"card\">{}{caption}</figure>\n", chart.svg)
        };
        let charts: Vec<String> = charts.iter().filter(|chart| !chart.svg.is_empty()).map(figure).collect();
        if !charts.is_empty() {
            // Two or four charts look better in two columns; narrow ones would be too large there.
            let columns = match charts.len() {
                _ if charts.iter().all(|chart| chart.contains(NARROW_CHART)) => "many",
                _ if charts.iter().all(|chart| chart.contains(WIDE_CHART)) => "wide",
                2 | 4 => "two",
                _ => "three",
            };
            self.text += &format!("<div class=\"grid {columns}\">\n{}</div>\n", charts.concat());
        }
    }

    fn folded(&mut self, summary: &Text, blocks: &[Block]) {
        let rows = rows(blocks);
        let is_long = rows > MOST_ROWS_ON_PAPER;
        let class = if is_long { " class=\"long\"" } else { "" };
        self.text += &format!("<details{class}>\n<summary>{}</summary>\n", spans(summary));
        self.blocks(blocks);
        self.text += "</details>\n";
        if is_long {
            self.on_paper(rows);
        }
    }

    /// A section that shows only its heading.
    fn folded_section(&mut self, id: &str, heading: &Heading, summary: &Text, blocks: &[Block]) {
        let id = escaped(id);
        let is_long = rows(blocks) > MOST_ROWS_ON_PAPER;
        let class = if is_long { "fold long" } else { "fold" };
        self.text += &format!("<section aria-labelledby=\"{id}\">\n<details class=\"{class}\">\n<summary>");
        self.id = Some(id);
        self.heading(heading);
        let beside =
            if summary.is_empty() { String::new() } else { format!("<span class=\"sub\">{}</span>", spans(summary)) };
        self.text += &format!("{beside}</summary>\n");
        self.blocks(blocks);
        self.text += "</details>\n";
        if is_long {
            self.on_paper(rows(blocks));
        }
        self.text += "</section>\n\n";
    }

    /// Names what is omitted on paper.
    fn on_paper(&mut self, rows: usize) {
        self.text += &format!(
            "<p class=\"note on-paper\">Paper omits these {rows} rows; report.html and report.json in the run’s folder have them.</p>\n"
        );
    }

    fn section(&mut self, id: &str, blocks: &[Block]) {
        self.end_item();
        if let [Block::Heading(heading), Block::Folded { summary, blocks }] = blocks
            && heading.rank == 2
        {
            return self.folded_section(id, heading, summary, blocks);
        }
        let rank = blocks.first().map_or(0, |first| if let Block::Heading(heading) = first { heading.rank } else { 0 });
        let id = escaped(id);
        let end = match rank {
            _ if id == VERDICT => {
                self.text +=
                    &format!("<section class=\"verdict\" id=\"{VERDICT}\" tabindex=\"-1\" aria-label=\"Verdict\">\n");
                "</section>\n\n"
            }
            0 => {
                self.text += &format!("<div id=\"{id}\">\n");
                "</div>\n"
            }
            2 => {
                self.text += &format!("<section aria-labelledby=\"{id}\">\n");
                self.id = Some(id.clone());
                "</section>\n\n"
            }
            _ => {
                self.id = Some(id.clone());
                ""
            }
        };
        let is_outside = std::mem::replace(&mut self.is_in_verdict, id == VERDICT);
        self.blocks(blocks);
        self.is_in_verdict = is_outside;
        self.text += end;
    }
}

fn is_muted(block: &Block) -> bool {
    matches!(block, Block::Paragraph(text) if text.is_all(Look::Muted))
}

/// Rows of all tables in blocks.
fn rows(blocks: &[Block]) -> usize {
    let of = |block: &Block| match block {
        Block::Table(table) => table.rows.len(),
        Block::Section { blocks, .. } | Block::Folded { blocks, .. } => rows(blocks),
        _ => 0,
    };
    blocks.iter().map(of).sum()
}

fn list(list: &List) -> String {
    let item = |item: &&Text| {
        if item.is_all(Look::Warning) {
            format!("<li class=\"warn\">! {}</li>\n", spans_within(item, Look::Warning))
        } else {
            format!("<li>{}</li>\n", spans(item))
        }
    };
    let items: String =
        list.items.iter().filter(|item| !item.is_empty()).collect::<Vec<_>>().iter().map(item).collect();
    if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") }
}

fn chips(chips: &[Chip]) -> String {
    let chip = |chip: &Chip| {
        let class = match chip.look {
            Look::Good => "chip ok",
            Look::Warning => "chip warn",
            _ => "chip",
        };
        match chip.section.as_str() {
            "" => format!("<span class=\"{class}\">{}</span>\n", shown(&chip.words)),
            file if file.contains('.') => {
                format!("<a class=\"{class}\" href=\"{}\">{}</a>\n", escaped(file), shown(&chip.words))
            }
            section => format!("<a class=\"{class}\" href=\"#{}\">{}</a>\n", escaped(section), shown(&chip.words)),
        }
    };
    let chips: String = chips.iter().map(chip).collect();
    if chips.is_empty() { chips } else { format!("<p class=\"chips\">\n{chips}</p>\n") }
}

fn cards(cards: &[Card]) -> String {
    let card = |card: &Card| {
        let (question, answer) = (shown(&card.question), spans(&card.answer));
        let (because, sureness) = (shown(&card.because), shown(&card.sureness));
        format!(
            "<li class=\"card\"><span class=\"need\">{question}</span><span class=\"pick\">{answer}</span>\
             <span class=\"sure\">{sureness}</span><span class=\"because\">{because}</span></li>\n"
        )
    };
    let cards: String = cards.iter().map(card).collect();
    if cards.is_empty() { cards } else { format!("<ul class=\"grid three cards\">\n{cards}</ul>\n") }
}

fn key(keys: &[Key]) -> String {
    let keys: String = keys.iter().map(|key| format!("<span>{}{}</span>", key.svg, shown(&key.words))).collect();
    if keys.is_empty() { keys } else { format!("<p class=\"key\">{keys}</p>\n") }
}

/// Words made safe for a page.
pub(super) fn shown(words: &str) -> String {
    escaped(&printable(words))
}

pub(super) fn spans(text: &Text) -> String {
    spans_within(text, Look::Plain)
}

/// Words inside an element that already has a look.
pub(super) fn spans_within(text: &Text, outer: Look) -> String {
    text.0.iter().map(|it| if it.look == outer { shown(&it.words) } else { span(it) }).collect()
}

fn span(span: &Span) -> String {
    let words = shown(&span.words);
    match span.look {
        _ if words.is_empty() => words,
        Look::Plain => words,
        Look::Strong => format!("<b>{words}</b>"),
        Look::Muted => format!("<span class=\"sub\">{words}</span>"),
        Look::Warning => format!("<b class=\"warn\">{words}</b>"),
        Look::Good => format!("<span class=\"ok\">{words}</span>"),
        Look::Code => format!("<code>{words}</code>"),
        Look::Emphasis => format!("<em>{words}</em>"),
    }
}
