//! A table, for the terminal and for the document, and how figures are written in it.

use comfy_table::{CellAlignment, ContentArrangement, Table as Grid, TableStyle};

/// Shown in place of a missing figure.
pub const NONE: &str = "–";

/// A heading, figures in words, and what they cannot say.
#[derive(Debug)]
pub struct Table {
    pub title: String,
    /// Names of the columns, of which the first holds names.
    pub columns: Vec<&'static str>,
    /// As many words as there are columns, each.
    pub rows: Vec<Vec<String>>,
    pub notes: Vec<String>,
}

impl Table {
    pub fn text(&self) -> String {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Disabled);
        grid.set_header(&self.columns).add_rows(&self.rows);
        for (place, column) in grid.column_iter_mut().enumerate() {
            column.set_cell_alignment(if place == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        let notes: String = self.notes.iter().map(|note| format!("  ! {note}\n")).collect();
        format!("{}\n{grid}\n{notes}", self.title)
    }

    /// Takes columns away; those that it does not have are not missed.
    pub fn leave_out(&mut self, names: &[&str]) {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|place| !names.contains(&self.columns[*place])).collect();
        self.columns = kept.iter().map(|place| self.columns[*place]).collect();
        for row in &mut self.rows {
            *row = kept.iter().map(|place| std::mem::take(&mut row[*place])).collect();
        }
    }

    /// For the document, without the heading.
    pub fn markdown(&self) -> String {
        let header: Vec<String> = self.columns.iter().map(|name| (*name).to_owned()).collect();
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|---|{}\n", "---:|".repeat(self.columns.len().saturating_sub(1)));
        let rows = self.rows.iter().map(|row| line(row));
        let table: String = [line(&header), rule].into_iter().chain(rows).collect();
        let notes: String = self.notes.iter().map(|note| format!("- {note}\n")).collect();
        if notes.is_empty() { table } else { format!("{table}\n{notes}") }
    }
}

/// A figure in words, or a dash.
pub fn or_dash<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.to_owned(), words)
}

/// `8 %`.
pub fn percent(share: Option<f64>) -> String {
    or_dash(share, |share| format!("{:.0} %", share * 100.0))
}

/// Three digits that count: `8.84`, `48.1`, `161`.
pub fn digits(value: f64) -> String {
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$}")
}

/// `89,911`.
pub fn grouped(value: f64) -> String {
    let plain = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in plain.chars().enumerate() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 round`, `10 rounds`.
pub fn rounds(count: u32) -> String {
    format!("{count} round{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_that_count() {
        assert_eq!([8.836, 9.996, 48.09, 99.96, 161.2].map(digits), ["8.84", "10.0", "48.1", "100", "161"]);
        assert_eq!([0.0, 999.4, 89_911.0, 1_234_567.0].map(grouped), ["0", "999", "89,911", "1,234,567"]);
        assert_eq!([percent(Some(0.087)), percent(None)], ["9 %", "–"]);
    }

    #[test]
    fn a_table_is_written_for_both_places() {
        let row = vec!["wrk".to_owned(), "1".to_owned()];
        let notes = vec!["so".to_owned()];
        let mut table = Table { title: "T".to_owned(), columns: vec!["who", "µs"], rows: vec![row], notes };
        assert_eq!(table.markdown(), "| who | µs |\n|---|---:|\n| wrk | 1 |\n\n- so\n");
        assert!(table.text().starts_with("T\n") && table.text().ends_with("  ! so\n"), "{}", table.text());
        table.leave_out(&["none"]);
        assert_eq!((table.columns.len(), table.rows[0].len()), (2, 2));
        table.leave_out(&["who"]);
        assert_eq!((table.columns.clone(), table.rows.clone()), (vec!["µs"], vec![vec!["1".to_owned()]]));
        (table.columns, table.rows) = (vec!["who", "µs"], vec![vec!["wrk".to_owned(), "1".to_owned()]]);
        table.notes.clear();
        assert!(table.markdown().ends_with("| wrk | 1 |\n"));
    }
}
