//! A document for a terminal or a log.
//!
//! Words and marks carry all meaning; colour is optional. Lines are at most as wide as requested, down to
//! [`NARROWEST`]. A table that is too wide first moves its intervals below their values, then drops columns and names them.

mod matrix;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, TableStyle};

use crate::document::{Align, Block, Card, Document, Fact, Heading, List, Look, Matrix, Row, Span, Table, Text};
use crate::print::columns::{Fit, GAP, together};
use crate::printable::printable;

/// Below this width, tables would have one word per line.
const NARROWEST: usize = 60;
/// Longer labels precede their words directly, instead of having their own column.
const LABEL: usize = 28;
/// Columns by which the text below a heading is indented.
const INDENT: usize = 2;

/// The look of a terminal. Other formats ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether it shows colours. Colour alone carries no meaning.
    pub colour: bool,
    pub width: u16,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: 100 }
    }
}

/// The document as lines. Charts are left out.
pub fn terminal(document: &Document, style: &Style) -> String {
    let width = usize::from(style.width).max(NARROWEST);
    let mut screen = Screen { colour: style.colour, width, ..Screen::default() };
    screen.blocks(&document.blocks);
    screen.text
}

/// The text so far, and its layout.
#[derive(Default)]
struct Screen {
    text: String,
    colour: bool,
    width: usize,
    /// Indent of everything below the last heading.
    indent: usize,
    last: Last,
    /// Meanings of marks and words that the document has explained.
    explained: Vec<String>,
    /// Meanings of the columns of the table above, until its legend is printed.
    meanings: Vec<String>,
}

/// What was printed last, if that affects blank lines.
#[derive(Default, PartialEq, Eq)]
enum Last {
    #[default]
    Nothing,
    Heading,
    Section,
    Other,
}

impl Screen {
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
            Block::Heading(heading) => self.heading(heading),
            Block::Paragraph(text) => self.paragraph(text, if text.is_all(Look::Warning) { "! " } else { "" }),
            Block::Verdict(text) => self.paragraph(text, ""),
            Block::Table(table) => self.table(table),
            Block::Matrix(matrix) => self.matrix(matrix),
            Block::List(list) => self.list(list),
            Block::Facts(facts) => self.facts(facts),
            Block::Notes(notes) => {
                for (number, text) in notes {
                    self.item(&format!("[{number}] "), text, Look::Warning);
                }
            }
            Block::Legend(meanings) => self.legend(meanings),
            Block::Code(lines) => {
                for line in lines {
                    self.item("", &Text::from(line.as_str()), Look::Code);
                }
            }
            Block::Folded { summary, blocks } => {
                let indent = self.indent;
                self.heading(&Heading { rank: 3, text: summary.clone(), beside: String::new() });
                self.blocks(blocks);
                self.indent = indent;
            }
            Block::Section { blocks, .. } => {
                let indent = self.indent;
                self.blocks(blocks);
                self.indent = indent;
                self.last = Last::Section;
            }
            Block::Apart(blocks) => {
                self.gap();
                self.blocks(blocks);
            }
            Block::Cards(cards) => self.facts(&cards.iter().map(Card::as_fact).collect::<Vec<_>>()),
            Block::Charts(_) | Block::Key(_) | Block::Chips(_) => {}
        }
    }

    /// Titles and section headings are at the left edge; lower ones are indented. Below the fourth rank everything is indented
    /// once more, like the content of a list item.
    fn heading(&mut self, heading: &Heading) {
        if heading.rank > 1 {
            self.gap();
        }
        self.indent = if heading.rank > 2 { INDENT } else { 0 };
        let beside = if heading.beside.is_empty() { String::new() } else { format!(": {}", heading.beside) };
        let look = if heading.rank < 4 { Look::Strong } else { Look::Plain };
        self.item("", &heading.text.clone().and(beside, Look::Plain), look);
        self.indent = [0, 0, INDENT, INDENT].get(usize::from(heading.rank)).copied().unwrap_or(INDENT * 2);
        self.last = Last::Heading;
    }

    fn paragraph(&mut self, text: &Text, before: &str) {
        self.item(before, text, Look::Plain);
    }

    fn list(&mut self, list: &List) {
        for item in list.items.iter().filter(|item| !item.is_empty()) {
            let sign = if item.is_all(Look::Warning) && list.sign == "-" { "!" } else { list.sign };
            let look = if sign == "!" { Look::Warning } else { Look::Plain };
            self.item(&format!("{sign} "), item, look);
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let widest = facts.iter().map(|fact| fact.label.chars().count()).max().unwrap_or(0);
        let is_narrow = widest > (self.width / 3).min(LABEL);
        let column = widest.min(self.width / 3) + GAP;
        for fact in facts.iter().filter(|fact| !fact.words.is_empty()) {
            if is_narrow && !fact.label.is_empty() {
                let words = Text::from(format!("{}: ", fact.label));
                self.behind(&Span { words: "- ".to_owned(), look: Look::Plain }, &words.also(&fact.words), Look::Plain);
                continue;
            }
            let label = printable(&fact.label);
            // A label wider than its column still gets a gap.
            let words = format!("{label:<column$}{}", if label.chars().count() >= column { "  " } else { "" });
            self.behind(&Span { words, look: Look::Plain }, &fact.words, Look::Plain);
        }
    }

    /// Meanings of marks and words in a table. A meaning is not repeated, unless the word has had another meaning since.
    fn legend(&mut self, meanings: &[String]) {
        let mut all: Vec<String> = meanings.iter().cloned().chain(self.meanings.drain(..)).collect();
        all.retain(|meaning| !self.explained.contains(meaning));
        let word = |meaning: &String| meaning.split(' ').next().unwrap_or_default().to_owned();
        self.explained.retain(|known| all.iter().all(|meaning| word(meaning) != word(known)));
        self.explained.extend(all.iter().cloned());
        self.item("", &Text::from(together(&all).join(" · ")), Look::Muted);
    }

    fn table(&mut self, table: &Table) {
        if self.last != Last::Heading {
            self.gap();
        }
        self.item("", &Text::from(table.title.as_str()), Look::Muted);
        let width = self.width - self.indent;
        let fit = Fit::of(table, width);
        let has_headings = fit.columns.iter().any(|shown| !shown.heading.is_empty());
        for (place, line) in grid(&table.rows, &fit, width, has_headings).iter().enumerate() {
            let look = if place == 0 && has_headings { Look::Muted } else { Look::Plain };
            self.line(&[(line.trim_end().to_owned(), look)]);
        }
        self.legend(&fit.lack().into_iter().collect::<Vec<String>>());
        let meanings = fit.columns.iter().map(|shown| shown.column.meaning.clone());
        self.meanings.extend(meanings.filter(|meaning| !meaning.is_empty()));
    }

    fn matrix(&mut self, matrix: &Matrix) {
        self.gap();
        let (lines, lack) = matrix::lines(matrix, self.width - self.indent);
        lines.into_iter().for_each(|(line, look)| self.line(&[(line.trim_end().to_owned(), look)]));
        self.item("", &Text::from(lack.unwrap_or_default()), Look::Muted);
    }

    /// A text after a sign that has the look of the text's first word. Words without a look get the given one.
    fn item(&mut self, sign: &str, text: &Text, look: Look) {
        let first = text.0.iter().find(|span| !span.words.is_empty()).map_or(Look::Plain, |span| span.look);
        let of_sign = if first == Look::Plain { look } else { first };
        self.behind(&Span { words: sign.to_owned(), look: of_sign }, text, look);
    }

    /// A text after a sign or label, in as many lines as needed; later lines are indented to its first word. Prints nothing without words.
    fn behind(&mut self, sign: &Span, text: &Text, look: Look) {
        if text.is_empty() {
            return;
        }
        if self.last == Last::Section {
            self.gap();
        }
        let hanging = sign.words.chars().count();
        let room = self.width - self.indent - hanging;
        // Text for copying is not broken.
        let longest = if sign.words == "$ " || look == Look::Code { usize::MAX } else { room };
        for (place, line) in wrapped(text, look, room, longest).into_iter().enumerate() {
            let before = if place == 0 { sign.words.clone() } else { " ".repeat(hanging) };
            let mut parts = vec![(before, sign.look)];
            parts.extend(line);
            self.line(&parts);
        }
    }

    fn gap(&mut self) {
        if self.last != Last::Nothing {
            self.text.push('\n');
        }
        self.last = Last::Other;
    }

    /// One line, in which each part has its look.
    fn line(&mut self, parts: &[(String, Look)]) {
        let mut line = " ".repeat(self.indent);
        for part in parts.chunk_by(|(_, one), (_, other)| code(*one) == code(*other)) {
            // Every line passes here, so this is where all words are made safe.
            let words = printable(&part.iter().map(|(words, _)| words.as_str()).collect::<String>());
            match code(part[0].1).filter(|_| self.colour && !words.trim().is_empty()) {
                Some(code) => line += &format!("\u{1b}[{code}m{words}\u{1b}[0m"),
                None => line += &words,
            }
        }
        self.text += line.trim_end();
        self.text.push('\n');
        self.last = Last::Other;
    }
}

/// ANSI code for the colour or weight of a look.
fn code(look: Look) -> Option<&'static str> {
    match look {
        Look::Plain | Look::Code | Look::Emphasis => None,
        Look::Strong => Some("1"),
        Look::Muted => Some("2"),
        Look::Warning => Some("33"),
        Look::Good => Some("32"),
    }
}

/// Breaks a text at spaces into lines of at most `width` characters. A word longer than `longest` is cut.
fn wrapped(text: &Text, look: Look, width: usize, longest: usize) -> Vec<Vec<(String, Look)>> {
    let own = |of: Look| if of == Look::Plain { look } else { of };
    let letters = text.0.iter().flat_map(|span| {
        let look = own(span.look);
        printable(&span.words).chars().map(move |letter| (letter, look)).collect::<Vec<_>>()
    });
    let letters: Vec<(char, Look)> = letters.collect();
    let words = letters.split(|(letter, _)| *letter == ' ').flat_map(|word| word.chunks(longest));
    let mut lines: Vec<Vec<(char, Look)>> = vec![Vec::new()];
    for word in words.filter(|word| !word.is_empty()) {
        let count = lines.len();
        let last = &mut lines[count - 1];
        match last.last().copied() {
            None => last.extend(word),
            Some((_, look)) if last.len() + 1 + word.len() <= width => {
                let blank = if look == word[0].1 { look } else { Look::Plain };
                last.push((' ', blank));
                last.extend(word);
            }
            Some(_) => lines.push(word.to_vec()),
        }
    }
    let parts = |line: Vec<(char, Look)>| {
        let parts = line.chunk_by(|(_, one), (_, other)| one == other);
        parts.map(|part| (part.iter().map(|(letter, _)| letter).collect(), part[0].1)).collect()
    };
    lines.into_iter().map(parts).collect()
}

/// The lines of a table. Muted rows after louder ones are set apart.
fn grid(rows: &[Row], fit: &Fit, width: usize, has_headings: bool) -> Vec<String> {
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    if has_headings {
        grid.set_header(fit.columns.iter().map(|shown| printable(shown.heading)));
    }
    for (place, row) in rows.iter().enumerate() {
        if row.look == Look::Muted && place > 0 && rows[place - 1].look != Look::Muted {
            grid.add_row(vec![""; fit.columns.len()]);
        }
        grid.add_row(fit.columns.iter().map(|shown| Cell::new(&shown.cells[place])));
    }
    let last = fit.columns.len().saturating_sub(1);
    for (place, column) in grid.column_iter_mut().enumerate() {
        let align = fit.columns[place].column.align;
        column.set_padding((0, if place == last { 0 } else { u16::try_from(GAP).unwrap_or(u16::MAX) }));
        // Numbers are never broken, and words only if the table is too wide otherwise.
        if place > 0 && (fit.is_narrow_enough || align == Align::Right) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        if align == Align::Right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.lines().collect()
}
