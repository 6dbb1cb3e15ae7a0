//! A report before it has a format.
//!
//! A document is headings, sentences, tables, lists and charts, in the order in which a reader meets them. `documents/` builds one from
//! findings; `print/` turns one into text. A builder never writes markup, and a printer never reads findings.

/// How much a document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What fits a few screens of a terminal.
    Short,
    /// What a file of text or a comment holds.
    Full,
    /// The same in the order of a page, with charts and what a page can fold away.
    Page,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What the window or the tab of a page is called; the first heading is a block.
    pub title: String,
    /// What it says, from the top.
    pub blocks: Vec<Block>,
}

impl Document {
    /// The same below its title, for a page of its own.
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
    /// The sentence that answers the question. Formats set it apart from other paragraphs.
    Verdict(Text),
    Table(Table),
    /// Subjects against scenarios at a glance.
    Matrix(Matrix),
    /// Items, each a text of its own.
    List(List),
    /// Labels, each with what it stands for.
    Facts(Vec<Fact>),
    /// What the numbers behind names and cells refer to.
    Notes(Vec<(usize, Text)>),
    /// Marks, words and columns of the table above, each explained once in a document.
    Legend(Vec<String>),
    /// Charts side by side. Only a page shows them.
    Charts(Vec<Chart>),
    /// What the looks of the marks in the charts below mean. Only a page shows it.
    Key(Vec<Key>),
    /// Lines to be copied as they are: commands, hashes.
    Code(Vec<String>),
    /// Blocks that a page folds away under a summary. Formats that cannot fold show the summary as a heading.
    Folded {
        summary: Text,
        blocks: Vec<Block>,
    },
    /// Blocks that belong together, with a place to link to. The section `verdict` is the box at the top of a page; it has no heading.
    Section {
        /// Name of the place, unique in the document.
        id: String,
        /// The blocks, their heading first.
        blocks: Vec<Block>,
    },
    /// Blocks with an empty line before them.
    Apart(Vec<Block>),
    /// Answers side by side, each to a question of its own.
    Cards(Vec<Card>),
    /// Short words on the whole document, each a link into it.
    Chips(Vec<Chip>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Heading {
    /// 1 for the title of the document, 2 for a section, 3 and 4 below.
    pub rank: u8,
    pub text: Text,
    /// What stands behind it, less loud.
    pub beside: String,
}

/// Words in a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Span>);

/// Words of one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The words, unescaped.
    pub words: String,
    /// How they stand out. A look alone carries no meaning.
    pub look: Look,
}

/// How words stand out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Look {
    /// As everything around.
    #[default]
    Plain,
    /// A name or a headline.
    Strong,
    /// Of less weight.
    Muted,
    /// Bad news.
    Warning,
    /// Good news.
    Good,
    /// A name that a person types: a command, a path, a hash.
    Code,
    /// A label before words.
    Emphasis,
}

/// A label and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// One word or a few; empty where the label above stands for this fact as well.
    pub label: String,
    /// What it stands for.
    pub words: Text,
}

/// A list of items. An item whose every word is a warning has `!` before it.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// What stands before each item where a format has no bullets of its own: `-`, `!`, `$`.
    pub sign: &'static str,
    pub items: Vec<Text>,
}

/// A table. The first column names the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// What it shows, for readers who do not see it. Unique in the document.
    pub caption: String,
    /// What stands above it for everybody; empty where the heading says it.
    pub title: String,
    /// The columns, the naming one first.
    pub columns: Vec<Column>,
    /// The rows, from the top.
    pub rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub heading: String,
    /// Its heading where there is little room; empty where that is the same.
    pub short: String,
    /// Where its cells stand.
    pub align: Align,
    /// The lowest go first where a terminal is too narrow, those of the same priority together. A column of [`Column::ALWAYS`] never
    /// goes, and one of [`Column::OPTIONAL`] is there only where all others have room.
    pub priority: u8,
    /// What it means, beginning with the word that is explained: `p99 in a closed loop`. It joins the legend where the column is shown.
    pub meaning: String,
}

/// Where the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A row of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The runtime whose marker stands before its name on a page; none for rows that are about no subject.
    pub runtime: Option<String>,
    /// How the whole row stands out: `Muted` for the ceiling, `Warning` for what must not be missed.
    pub look: Look,
    /// One for each column. A row whose first cell is empty is about what the row above is about.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    pub text: Text,
    /// The interval of its value, as words; beside the value or below it.
    pub interval: Option<String>,
    /// `=`, `≈`, `?` behind the value.
    pub mark: &'static str,
    /// Notes that it refers to, by number.
    pub notes: Vec<usize>,
    /// A second line on a page, less loud: the name that a person types.
    pub below: String,
}

/// Subjects against scenarios: how fast each is in each, as a share of the best.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matrix {
    /// What it shows, for readers who do not see it. Unique in the document.
    pub caption: String,
    pub columns: Vec<MatrixColumn>,
    /// Headings of the figures at the end of each row.
    pub costs: Vec<String>,
    /// The scenario that those are of.
    pub costs_of: String,
    /// The subjects, and last what they are compared with.
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
    /// Its runtime, which gives the marker.
    pub runtime: String,
    pub name: String,
    /// The same where there is little room.
    pub short: String,
    /// `Muted` for the machine's limit.
    pub look: Look,
    /// Notes that it refers to, by number.
    pub notes: Vec<usize>,
    pub cells: Vec<MatrixCell>,
    pub costs: Vec<String>,
}

/// How fast a subject is in a scenario.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixCell {
    /// The figure; a dash where there is none.
    pub value: String,
    /// It as a share of the best of its scenario, from 0 to 1; none where it is not ranked.
    pub share: Option<f64>,
    /// That share in words: `0.56×`.
    pub ratio: String,
    /// Letters of its tiers.
    pub tier: String,
    /// Whether it is the first, or was not told apart from it.
    pub is_best: bool,
    /// What limited it, or why it has no rank, in a word or two.
    pub below: String,
}

/// What a look of marks in charts means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// A small drawing of it: SVG, complete and safe; empty where the words say it.
    pub svg: String,
    /// What it means.
    pub words: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// SVG, complete and safe to place in a page.
    pub svg: String,
    /// What it shows and how to read it; empty where several charts share one.
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
    /// How sure it is: `●●○ moderate`.
    pub sureness: String,
}

/// A short word on the whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip {
    pub words: String,
    /// `Good`, `Warning` or `Plain`.
    pub look: Look,
    /// The section that it links to; or a file beside the page, whose name has a point.
    pub section: String,
}

impl Column {
    /// Priority of a column that no terminal is too narrow for.
    pub const ALWAYS: u8 = u8::MAX;
    /// Priority of a column that may be missing without a word.
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

    /// The same column with a shorter heading for where there is little room.
    pub fn short(self, short: impl Into<String>) -> Self {
        Self { short: short.into(), ..self }
    }

    /// The same column with what it means.
    pub fn meaning(self, meaning: impl Into<String>) -> Self {
        Self { meaning: meaning.into(), ..self }
    }

    /// The same column, left out earlier or later than others where there is no room.
    pub fn priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

impl Text {
    pub fn of(words: impl Into<String>, look: Look) -> Self {
        Self(vec![Span { words: words.into(), look }])
    }

    /// Nothing at all.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|span| span.words.is_empty())
    }

    /// This text with more words behind it.
    pub fn and(mut self, words: impl Into<String>, look: Look) -> Self {
        self.0.push(Span { words: words.into(), look });
        self
    }

    /// This text with another behind it.
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

    /// The facts by their labels, without those that have no words.
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
    /// The same as a table of figures, for formats that can draw nothing.
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
    /// A row that is about no subject and has no look.
    pub fn of(cells: Vec<Cell>) -> Self {
        Self { cells, ..Self::default() }
    }

    /// Whether it must not be missed.
    pub fn is_loud(&self) -> bool {
        self.look == Look::Warning
    }
}

impl Card {
    /// The same in a line.
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

    /// A section with a heading of the second rank, or `None` where it would be empty.
    pub fn section(id: &str, heading: &str, mut blocks: Vec<Self>) -> Option<Self> {
        if blocks.is_empty() {
            return None;
        }
        blocks.insert(0, Self::heading(2, heading));
        Some(Self::Section { id: id.to_owned(), blocks })
    }

    /// A list with `-` before each item, or `None` without items.
    pub fn list(items: Vec<Text>) -> Option<Self> {
        (!items.is_empty()).then_some(Self::List(List { sign: "-", items }))
    }
}
