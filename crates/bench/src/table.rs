//! A table for the terminal and for the document.

use tolok_model::figures;
use tolok_report::Style;
use tolok_report::document::{Block, Cell, Column, Document, List, Row, Table as Grid, Text};
use tolok_report::print::{markdown, terminal};

pub use tolok_model::figures::{NONE, in_column as digits};

/// A heading, the figures as text, and notes.
#[derive(Debug)]
pub struct Table {
    pub title: String,
    /// Names of the columns; the first column holds names.
    pub columns: Vec<&'static str>,
    /// Each row has one text per column.
    pub rows: Vec<Vec<String>>,
    pub notes: Vec<String>,
}

impl Table {
    /// For a terminal of any width: rows do not wrap.
    pub fn text(&self) -> String {
        terminal(&self.document(), &Style { colour: false, width: u16::MAX })
    }

    pub fn markdown(&self) -> String {
        markdown(&self.document())
    }

    fn document(&self) -> Document {
        let column =
            |(place, name): (usize, &&str)| if place == 0 { Column::words(*name) } else { Column::numbers(*name) };
        let columns = self.columns.iter().enumerate().map(column).collect();
        let rows = self.rows.iter().map(|row| Row::of(row.iter().map(Cell::from).collect())).collect();
        let notes = self.notes.iter().map(|note| Text::from(note.as_str())).collect();
        let blocks = vec![
            Block::heading(2, &self.title),
            Block::Table(Grid::of(&self.title, columns, rows)),
            Block::List(List { sign: "!", items: notes }),
        ];
        Document { title: self.title.clone(), blocks }
    }
}

/// A value as text, or a dash.
pub fn or_dash<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), words)
}

/// A share of a whole: `8.7%`.
pub fn percent(share: Option<f64>) -> String {
    or_dash(share, figures::share)
}

/// A whole number: `89,911`.
pub fn grouped(value: f64) -> String {
    figures::count(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_for_both_places() {
        let (row, notes) = (vec!["wrk".to_owned(), "1".to_owned()], vec!["so".to_owned()]);
        let table = Table { title: "T".to_owned(), columns: vec!["who", "µs"], rows: vec![row], notes };
        assert_eq!(table.markdown(), "## T\n\n| who | µs |\n|---|--:|\n| wrk | 1 |\n\n- so\n");
        assert!(table.text().starts_with("T\n") && table.text().ends_with("! so\n"), "{}", table.text());
        assert_eq!([8.836, 9.996, 48.09, 161.2].map(digits), ["8.84", "10.0", "48.1", "161"]);
    }
}
