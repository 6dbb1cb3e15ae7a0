//! Tables as HTML: each in a region that can be scrolled with the keyboard, with a label for screen readers.

use super::blocks::{shown, spans};
use super::escaped;
use super::matrix;
use crate::document::{Align, Cell, Column, Look, Matrix, Row, Table};
use crate::svg::palette::marker;
use crate::wording::MARKS;

/// From this many letters on, a cell is prose, and its column is kept wide enough to read.
const PROSE: usize = 48;

/// The tables of a page.
#[derive(Default)]
pub(super) struct Tables {
    /// Names of sections and tables so far: no two regions of a page may share one.
    names: Vec<String>,
}

impl Tables {
    pub(super) fn table(&mut self, table: &Table) -> String {
        let name = self.name(table);
        let title = match table.title.as_str() {
            "" => String::new(),
            title => format!("<caption>{}</caption>\n", shown(title)),
        };
        let classes: Vec<&str> =
            table.columns.iter().enumerate().map(|(place, column)| class(table, place, column)).collect();
        let head = head(&table.columns, &classes);
        let body = body(table, &classes);
        format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n<table>\n{title}{head}{body}</table>\n</div>\n",
            escaped(&name)
        )
    }

    /// A matrix as a heat map.
    pub(super) fn matrix(&mut self, matrix: &Matrix) -> String {
        let name = self.name_of([&matrix.caption, &matrix.caption]);
        format!(
            "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n",
            escaped(&name),
            matrix::tables(matrix)
        )
    }

    /// Reserves the name of a section.
    pub(super) fn keep(&mut self, name: String) {
        self.names.push(name);
    }

    fn name(&mut self, table: &Table) -> String {
        self.name_of([&table.caption, &table.title])
    }

    fn name_of(&mut self, words: [&String; 2]) -> String {
        let words = words.into_iter().find(|words| !words.is_empty());
        let words = words.map_or("Table", String::as_str);
        let further = (2..).map(|number| format!("{words}, table {number}"));
        let mut names = [words.to_owned(), format!("{words}, table")].into_iter().chain(further);
        let name = names.find(|name| !self.names.contains(name)).unwrap_or_default();
        self.names.push(name.clone());
        name
    }
}

/// CSS class of a column: numbers, prose, or none.
fn class(table: &Table, place: usize, column: &Column) -> &'static str {
    let letters = |row: &Row| row.cells.get(place).map_or(0, |cell| cell.text.plain().chars().count());
    match column.align {
        Align::Right => " class=\"n\"",
        Align::Left if place > 0 && table.rows.iter().any(|row| letters(row) >= PROSE) => " class=\"prose\"",
        Align::Left => "",
    }
}

fn head(columns: &[Column], classes: &[&str]) -> String {
    if columns.iter().all(|column| column.heading.is_empty()) {
        return String::new();
    }
    let heading = |(column, class): (&Column, &&str)| match column.heading.as_str() {
        "" => "<td></td>".to_owned(),
        heading => format!("<th scope=\"col\"{class}>{}</th>", shown(heading)),
    };
    let headings: String = columns.iter().zip(classes).map(heading).collect();
    format!("<thead><tr>{headings}</tr></thead>\n")
}

/// The rows. Rows about the same object share its name cell.
fn body(table: &Table, classes: &[&str]) -> String {
    let continues = |row: &Row| row.cells.first().is_none_or(|cell| cell.text.is_empty());
    let groups: Vec<&[Row]> = table.rows.chunk_by(|_, next| continues(next)).collect();
    let is_grouped = groups.iter().any(|group| group.len() > 1);
    let of_group = |group: &&[Row]| {
        let rows = group.iter().enumerate().map(|(place, it)| {
            let spanned = match (place, is_grouped) {
                (0, true) => Some(format!("scope=\"rowgroup\" rowspan=\"{}\"", group.len())),
                (0, false) => Some("scope=\"row\"".to_owned()),
                _ => None,
            };
            row(it, spanned.as_deref(), classes)
        });
        rows.collect::<String>()
    };
    let groups: Vec<String> = groups.iter().map(of_group).collect();
    if is_grouped {
        groups.iter().map(|rows| format!("<tbody>\n{rows}</tbody>\n")).collect()
    } else {
        format!("<tbody>\n{}</tbody>\n", groups.concat())
    }
}

fn row(row: &Row, naming: Option<&str>, classes: &[&str]) -> String {
    let class = match row.look {
        Look::Muted => " class=\"ceiling\"",
        Look::Warning => " class=\"warn\"",
        _ => "",
    };
    let cell = |(place, it): (usize, &Cell)| match (place, naming) {
        (0, Some(scope)) => format!("<th {scope}>{}</th>", name(row, it)),
        (0, None) => String::new(),
        _ => format!("<td{}>{}</td>", classes.get(place).copied().unwrap_or_default(), words(it)),
    };
    let cells: String = row.cells.iter().enumerate().map(cell).collect();
    format!("<tr{class}>{cells}</tr>\n")
}

fn name(row: &Row, cell: &Cell) -> String {
    let sign = if row.is_loud() { "! " } else { "" };
    let words = format!("{sign}{}", words(cell));
    match &row.runtime {
        None if cell.below.is_empty() => words,
        runtime => {
            let marker = runtime.as_deref().map(marker).unwrap_or_default();
            format!("<span class=\"who\">{marker}<span>{words}</span></span>")
        }
    }
}

/// A cell: its value and notes, and below it the interval, the meaning of the mark, and the second line.
fn words(cell: &Cell) -> String {
    let notes: String = cell.notes.iter().map(|number| format!("<sup>&nbsp;[{number}]</sup>")).collect();
    let interval = cell.interval.as_deref().map(shown).unwrap_or_default();
    let mark = MARKS.iter().find(|(mark, _)| *mark == cell.mark).map_or(cell.mark, |(_, verdict)| verdict.words());
    let mark = if mark.is_empty() { String::new() } else { format!(" <span class=\"word\">{mark}</span>") };
    let range = match interval.is_empty() && mark.is_empty() {
        true => String::new(),
        false => format!("<span class=\"range\">{interval}{mark}</span>"),
    };
    let below = if cell.below.is_empty() { String::new() } else { format!("<code>{}</code>", shown(&cell.below)) };
    format!("{}{notes}{range}{below}", spans(&cell.text))
}
