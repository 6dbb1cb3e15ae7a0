//! A report before it has a format.
//!
//! A document is headings, sentences, tables, lists and charts in reading order. `documents/` builds one from
//! findings; `print/` turns one into text. A builder never writes markup, and a printer never reads findings.

/// How detailed a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// A few screens of a terminal.
    Short,
    /// A text file or a comment.
    Full,
    /// The same in the order of a page, with charts and folded details.
    Page,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Title of the page's window or tab; the first heading is a separate block.
    pub title: String,
    /// Its content, from the top.
    pub blocks: Vec<Block>,
}

impl Document {
    /// The same with its title as first heading, for a page of its own.
    pub fn under_its_title(mut self) -> Self {
        let title = Block::heading(1, self.title.as_str());
        self.blocks.insert(0, title);
        self
    }
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Heading(Heading),
    Paragraph(Text),
    /// The sentence that answers the question. Formats make it stand out from other paragraphs.
    Verdict(Text),
    Table(Table),
    /// Subjects against scenarios at a glance.
    Matrix(Matrix),
    /// Items, each an independent text.
    List(List),
    /// Labelled texts.
    Facts(Vec<Fact>),
    /// Texts for the numbers after names and cells.
    Notes(Vec<(usize, Text)>),
    /// Explanations of marks, words and columns in the table above, each given once in a document.
    Legend(Vec<String>),
    /// Charts side by side. Only a page shows them.
    Charts(Vec<Chart>),
    /// Explains the marks in the charts below. Only a page shows it.
    Key(Vec<Key>),
    /// Lines to copy verbatim: commands, hashes.
    Code(Vec<String>),
    /// Blocks that a page folds away under a summary. Formats that cannot fold show the summary as a heading.
    Folded {
        summary: Text,
        blocks: Vec<Block>,
    },
    /// Blocks that belong together, with an anchor for links. The section `verdict` is the box at the top of a page; it has no heading.
    Section {
        /// Name of the anchor, unique in the document.
        id: String,
        /// The blocks, their heading first.
        blocks: Vec<Block>,
    },
    /// Blocks with an empty line before them.
    Apart(Vec<Block>),
    /// Answers side by side, each to its own question.
    Cards(Vec<Card>),
    /// Short statements about the whole document, each a link into it.
    Chips(Vec<Chip>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// 1 for the title of the document, 2 for a section, 3 and 4 below.
    pub rank: u8,
    pub text: Text,
    /// Muted text after it.
    pub beside: String,
}

/// Words in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Span>);

/// Words with the same look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The words, unescaped.
    pub words: String,
    /// How they are emphasised. A look alone carries no meaning.
    pub look: Look,
}

/// How words are emphasised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Look {
    /// Like the surrounding text.
    #[default]
    Plain,
    /// A name or a headline.
    Strong,
    /// Less important.
    Muted,
    /// Bad news.
    Warning,
    /// Good news.
    Good,
    /// Something to type: a command, a path, a hash.
    Code,
    /// A label before words.
    Emphasis,
}

/// A label and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// One word or a few; empty if the label above covers this fact as well.
    pub label: String,
    /// The text.
    pub words: Text,
}

/// A list of items. An item that is entirely a warning gets `!` before it.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// Precedes each item in formats without bullets: `-`, `!`, `$`.
    pub sign: &'static str,
    pub items: Vec<Text>,
}

/// A table. The first column names the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Its content, for readers who cannot see it. Unique in the document.
    pub caption: String,
    /// Title above it; empty if the heading is enough.
    pub title: String,
    /// The columns; the first names the rows.
    pub columns: Vec<Column>,
    /// The rows, from the top.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub heading: String,
    /// Its heading if there is little room; empty if that is the same.
    pub short: String,
    /// Alignment of its cells.
    pub align: Align,
    /// In a narrow terminal, columns with the lowest priority are dropped first, those with equal priority together. A column with
    /// [`Column::ALWAYS`] is never dropped; one with [`Column::OPTIONAL`] appears only if all others have room.
    pub priority: u8,
    /// Its meaning, beginning with the word to explain: `p99 in a closed loop`. Added to the legend if the column is shown.
    pub meaning: String,
}

/// Alignment of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A row of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The runtime whose marker precedes its name on a page; `None` for rows that are not about a subject.
    pub runtime: Option<String>,
    /// The look of the whole row: `Muted` for the ceiling, `Warning` for something important.
    pub look: Look,
    /// One for each column. A row with an empty first cell continues the row above.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: Text,
    /// The interval of its value in words; beside the value or below it.
    pub interval: Option<String>,
    /// `=`, `≈` or `?` after the value.
    pub mark: &'static str,
    /// Numbers of its notes.
    pub notes: Vec<usize>,
    /// A muted second line on a page: the name to type.
    pub below: String,
}

/// Subjects against scenarios: the speed of each in each, as a share of the best.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// Its content, for readers who cannot see it. Unique in the document.
    pub caption: String,
    pub columns: Vec<MatrixColumn>,
    /// Headings of the figures at the end of each row.
    pub costs: Vec<String>,
    /// The scenario of those figures.
    pub costs_of: String,
    /// The subjects, followed by what they are compared with.
    pub rows: Vec<MatrixRow>,
}

/// A scenario of a matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixColumn {
    pub heading: String,
    /// Its load, in a few words.
    pub beside: String,
}

/// A subject of a matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixRow {
    /// Its runtime, which determines the marker.
    pub runtime: String,
    pub name: String,
    /// Its name if there is little room.
    pub short: String,
    /// `Muted` for the machine limit.
    pub look: Look,
    /// Numbers of its notes.
    pub notes: Vec<usize>,
    pub cells: Vec<MatrixCell>,
    pub costs: Vec<String>,
}

/// The speed of a subject in a scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixCell {
    /// The figure; a dash if there is none.
    pub value: String,
    /// The figure as a share of the scenario's best, from 0 to 1; `None` if it is not ranked.
    pub share: Option<f64>,
    /// That share in words: `0.56×`.
    pub ratio: String,
    /// Letters of its tiers.
    pub tier: String,
    /// Whether it is the first, or indistinguishable from it.
    pub is_best: bool,
    /// What limited it, or why it is not ranked, in a word or two.
    pub below: String,
}

/// Explains a kind of mark in charts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// A small drawing of it: complete and safe SVG; empty if words suffice.
    pub svg: String,
    /// Its meaning.
    pub words: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Complete SVG that is safe in a page.
    pub svg: String,
    /// Its content and how to read it; empty if several charts share a caption.
    pub caption: String,
}

/// An answer to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The question: `least memory: Hello and JSON`.
    pub question: String,
    pub answer: Text,
    /// The figures behind it.
    pub because: String,
    /// How certain it is: `●●○ moderate`.
    pub sureness: String,
}

/// A short statement about the whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip {
    pub words: String,
    /// `Good`, `Warning` or `Plain`.
    pub look: Look,
    /// The section that it links to, or a file beside the page, whose name contains a dot.
    pub section: String,
}

impl Column {
    /// Priority of a column that is never dropped.
    pub const ALWAYS: u8 = u8::MAX;
    /// Priority of a column that may be dropped without a remark.
    pub const OPTIONAL: u8 = 0;

    pub fn words(heading: impl Into<String>) -> Self {
        Self::of(heading.into(), Align::Left)
    }

    pub fn numbers(heading: impl Into<String>) -> Self {
        Self::of(heading.into(), Align::Right)
    }

    fn of(heading: String, align: Align) -> Self {
        Self { heading, short: String::new(), align, priority: Self::ALWAYS, meaning: String::new() }
    }

    /// The same column with a shorter heading for narrow outputs.
    pub fn short(self, short: impl Into<String>) -> Self {
        Self { short: short.into(), ..self }
    }

    /// The same column with a meaning.
    pub fn meaning(self, meaning: impl Into<String>) -> Self {
        Self { meaning: meaning.into(), ..self }
    }

    /// The same column with another priority.
    pub fn priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

impl Text {
    pub fn of(words: impl Into<String>, look: Look) -> Self {
        Self(vec![Span { words: words.into(), look }])
    }

    /// Text between backticks becomes code.
    pub fn with_code(text: &str) -> Self {
        let look = |place: usize| if place % 2 == 1 { Look::Code } else { Look::Plain };
        let spans = text.split('`').enumerate().filter(|(_, words)| !words.is_empty());
        spans.fold(Self::default(), |text, (place, words)| text.and(words, look(place)))
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.words.is_empty())
    }

    /// This text followed by more words.
    pub fn and(mut self, words: impl Into<String>, look: Look) -> Self {
        self.0.push(Span { words: words.into(), look });
        self
    }

    /// This text followed by another.
    pub fn also(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Whether all of its words have this look.
    pub fn is_all(&self, look: Look) -> bool {
        !self.is_empty() && self.0.iter().all(|span| span.look == look)
    }

    /// The words without their looks.
    pub fn plain(&self) -> String {
        self.0.iter().map(|span| span.words.as_str()).collect()
    }
}

impl Fact {
    pub fn of(label: impl Into<String>, words: impl Into<Text>) -> Self {
        Self { label: label.into(), words: words.into() }
    }

    /// The facts grouped by label, without empty ones.
    pub(crate) fn by_label(facts: &[Self]) -> Vec<(&str, Vec<&Text>)> {
        let mut groups: Vec<(&str, Vec<&Text>)> = Vec::new();
        for fact in facts.iter().filter(|fact| !fact.words.is_empty()) {
            match groups.last_mut().filter(|_| fact.label.is_empty()) {
                Some((_, words)) => words.push(&fact.words),
                None => groups.push((&fact.label, vec![&fact.words])),
            }
        }
        groups
    }
}

impl Table {
    /// A table without a title.
    pub fn of(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Self {
        Self { caption: caption.into(), title: String::new(), columns, rows }
    }
}

impl Matrix {
    /// The same as a table of figures, for formats without drawings.
    pub fn as_table(&self) -> Table {
        let columns = self.columns.iter().map(|column| Column::numbers(column.heading.as_str()));
        let columns = std::iter::once(Column::words("subject")).chain(columns);
        let costs = self.costs.iter().map(|cost| Column::numbers(format!("{cost} of {}", self.costs_of)));
        let row = |row: &MatrixRow| {
            let name = Cell { notes: row.notes.clone(), ..row.name.as_str().into() };
            let figure = |cell: &MatrixCell| Cell::from(format!("{} {}", cell.value, cell.tier).trim_end());
            let costs = row.costs.iter().map(|cost| cost.as_str().into());
            let cells = std::iter::once(name).chain(row.cells.iter().map(figure)).chain(costs).collect();
            Row { runtime: Some(row.runtime.clone()), look: row.look, cells }
        };
        Table::of(self.caption.as_str(), columns.chain(costs).collect(), self.rows.iter().map(row).collect())
    }
}

impl Row {
    /// A plain row that is not about a subject.
    pub fn of(cells: Vec<Cell>) -> Self {
        Self { cells, ..Self::default() }
    }

    /// Whether it is a warning.
    pub fn is_loud(&self) -> bool {
        self.look == Look::Warning
    }
}

impl Card {
    /// The same as a line.
    pub(crate) fn as_fact(&self) -> Fact {
        let words = self.answer.clone().and(format!(" ({}): {}", self.sureness, self.because), Look::Plain);
        Fact::of(self.question.as_str(), words)
    }
}

impl Chart {
    /// A drawing without a caption of its own.
    pub fn of(svg: String) -> Self {
        Self { svg, caption: String::new() }
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(words: T) -> Self {
        Self::of(words, Look::Plain)
    }
}

impl<T: Into<Text>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

impl Block {
    /// A heading with nothing beside it.
    pub fn heading(rank: u8, text: impl Into<Text>) -> Self {
        Self::Heading(Heading { rank, text: text.into(), beside: String::new() })
    }

    pub fn paragraph(words: impl Into<String>, look: Look) -> Self {
        Self::Paragraph(Text::of(words, look))
    }

    /// A section with a heading of the second rank, or `None` if it would be empty.
    pub fn section(id: &str, heading: &str, mut blocks: Vec<Self>) -> Option<Self> {
        if blocks.is_empty() {
            return None;
        }
        blocks.insert(0, Self::heading(2, heading));
        Some(Self::Section { id: id.to_owned(), blocks })
    }

    /// A list with `-` before each item, or `None` if there are no items.
    pub fn list(items: Vec<Text>) -> Option<Self> {
        (!items.is_empty()).then_some(Self::List(List { sign: "-", items }))
    }
}
