//! Tables and sentences for a terminal or a log.
//!
//! Everything is said in words and marks; colour only helps the eye and can be left out. Lines are at most as wide as
//! asked, down to [`NARROWEST`]. A wide terminal has an interval beside its value, a narrow one beneath it, and a very narrow
//! one leaves columns out and says so.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table as Grid, TableStyle};
use tolok_analysis::figures::Figure;

use crate::Style;
use crate::printable::printable;

/// Tables for less than this would be one word a line.
const NARROWEST: usize = 64;
/// Between two columns.
pub(crate) const GAP: u16 = 2;
/// Before everything that belongs to a heading.
pub(crate) const INDENT: &str = "  ";

/// A column after the subject's: its heading, and its cells.
pub(crate) type Column<'a> = (&'a str, Vec<String>);

/// The text so far, and how it is to look.
pub(crate) struct Page {
    pub(crate) text: String,
    colour: bool,
    pub(crate) width: usize,
}

/// How a line stands out, where there is colour.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    Plain,
    Bold,
    Dim,
    Warning,
    Good,
}

impl Page {
    /// An empty one.
    pub(crate) fn new(style: &Style) -> Self {
        Self { text: String::new(), colour: style.colour, width: usize::from(style.width).max(NARROWEST) }
    }

    pub(crate) fn list(&mut self, heading: &str, mark: &str, items: Vec<String>) {
        if items.is_empty() {
            return;
        }
        self.text.push('\n');
        self.paragraph("", heading, Look::Bold);
        for item in items {
            let look = if mark == "!" { Look::Warning } else { Look::Plain };
            self.paragraph(INDENT, &format!("{mark} {item}"), look);
        }
    }

    /// Text broken into lines (none if there is no text), the later ones indented like the text after a mark.
    pub(crate) fn paragraph(&mut self, indent: &str, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        let hanging = match text.split_once(' ') {
            Some((mark, _)) if !indent.is_empty() && is_mark(mark) => mark.chars().count() + 1,
            _ => 0,
        };
        for (place, line) in wrapped(text, self.width - indent.len(), hanging).into_iter().enumerate() {
            let extra = if place == 0 { 0 } else { hanging };
            self.line(&format!("{indent}{}{line}", " ".repeat(extra)), look);
        }
    }

    pub(crate) fn line(&mut self, text: &str, look: Look) {
        let code = match look {
            Look::Plain => None,
            Look::Bold => Some("1"),
            Look::Dim => Some("2"),
            Look::Warning => Some("33"),
            Look::Good => Some("32"),
        };
        match code.filter(|_| self.colour && !text.is_empty()) {
            Some(code) => self.text += &format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => self.text += text,
        }
        self.text.push('\n');
    }
}

fn is_mark(word: &str) -> bool {
    matches!(word, "!" | "-" | "$" | "?") || word.starts_with('[')
}

/// Breaks `text` at spaces into lines of at most `width` characters; later lines are shorter by `hanging`.
pub(crate) fn wrapped(text: &str, width: usize, hanging: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in printable(text).split(' ').filter(|word| !word.is_empty()) {
        let room = if lines.len() == 1 { width } else { width - hanging };
        let count = lines.len();
        let last = &mut lines[count - 1];
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= room {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A column of figures with their intervals, beside them or beneath, each of the two parts aligned by itself, and marks at
/// the end.
pub(crate) fn figure_cells(is_wide: bool, figures: &[(Figure, &str)]) -> Vec<String> {
    let interval_width = widest(&figures.iter().map(|(figure, _)| interval(figure)).collect::<Vec<_>>());
    let mark_width = figures.iter().map(|(_, mark)| mark.chars().count()).max().unwrap_or(0);
    let cell = |(figure, mark): &(Figure, &str)| {
        let value = &figure.value;
        let mark = if mark_width == 0 { String::new() } else { format!(" {mark:mark_width$}") };
        let interval = interval(figure);
        match is_wide {
            true if interval_width == 0 => format!("{value}{mark}"),
            true => format!("{value} {interval:<interval_width$}{mark}"),
            false if interval.is_empty() => format!("{value}{mark}"),
            // The blanks keep the interval below its value and not below the mark.
            false => format!("{value}{mark}\n{interval}{}", " ".repeat(mark.chars().count())),
        }
    };
    figures.iter().map(cell).collect()
}

/// The lines of a table of subjects and figures; what comes after so many cases stands apart.
pub(crate) fn lines_of(
    first: &str,
    subjects: &[String],
    columns: &[Column],
    cases: usize,
    width: usize,
) -> Vec<String> {
    let mut grid = Grid::new();
    grid.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    grid.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    grid.set_header(std::iter::once(first).chain(columns.iter().map(|(heading, _)| *heading)));
    for (place, subject) in subjects.iter().enumerate() {
        if place == cases && place > 0 {
            grid.add_row(vec![""; columns.len() + 1]);
        }
        let cells = columns.iter().map(|(_, cells)| cells[place].clone());
        grid.add_row(std::iter::once(subject.clone()).chain(cells).map(Cell::new));
    }
    for (place, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, if place == columns.len() { 0 } else { GAP }));
        if place > 0 {
            column.set_constraint(ColumnConstraint::ContentWidth).set_cell_alignment(CellAlignment::Right);
        }
    }
    grid.lines().collect()
}

fn interval(figure: &Figure) -> String {
    figure.interval.clone().unwrap_or_default()
}

pub(crate) fn widest(cells: &[String]) -> usize {
    cells.iter().flat_map(|cell| cell.lines()).map(|line| line.chars().count()).max().unwrap_or(0)
}
