//! The frame of a table: its columns, its rules, its footnotes.

use std::fmt::Write as _;

use super::numbers::aligned;

/// A subject's name of more letters, marks included, is broken.
const LONGEST_SUBJECT: usize = 48;

/// A column after the subject's.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// `r` or `l`.
    side: &'static str,
    heading: &'static str,
    /// Beneath the heading.
    unit: &'static str,
    is_number: bool,
}

impl Column {
    /// A column of numbers, their points beneath each other.
    pub(super) fn number(heading: &'static str, unit: &'static str) -> Self {
        Self { side: "r", heading, unit, is_number: true }
    }

    /// A column of anything else.
    pub(super) fn text(side: &'static str, heading: &'static str, unit: &'static str) -> Self {
        Self { side, heading, unit, is_number: false }
    }
}

/// A row: who, and what of it.
pub(super) struct Row {
    pub(super) subject: String,
    pub(super) cells: Vec<String>,
    /// Whether a rule stands before it.
    pub(super) is_apart: bool,
}

/// A table, ready for LaTeX.
pub(super) struct Tabular {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    pub(super) footnotes: Vec<String>,
}

impl Tabular {
    /// The whole environment; `what` is said in a comment before it.
    pub(super) fn environment(&self, caption: &str, label: &str, what: &str) -> String {
        // A name that is too long is broken; any other takes the room that it needs.
        let is_broken = self.rows.iter().any(|row| row.subject.chars().count() > LONGEST_SUBJECT);
        let (subjects, before) = if is_broken { ("p{3.2cm}", "\\raggedright ") } else { ("l", "") };
        let sides: String = self.columns.iter().map(|column| column.side).collect();
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let of = |of: fn(&Column) -> &'static str| self.columns.iter().map(move |column| of(column).to_owned());
        let headings = line(std::iter::once("subject".to_owned()).chain(of(|column| column.heading)).collect());
        let units = line(std::iter::once(String::new()).chain(of(|column| column.unit)).collect());
        let mut text = format!(
            "\n% {what}\n\\begin{{table}}[tbp]\n\\centering\n\\caption[{what}]{{{caption}}}\n\\label{{{label}}}\n\\smallskip\n\\footnotesize\n\
             \\setlength{{\\tabcolsep}}{{3pt}}\n\\begin{{tabular}}{{@{{}}{subjects}{sides}@{{}}}}\n\\toprule\n{headings}{units}\\midrule\n"
        );
        let columns: Vec<Vec<String>> = (0..self.columns.len()).map(|place| self.column(place)).collect();
        for (place, row) in self.rows.iter().enumerate() {
            text += if row.is_apart { "\\midrule\n" } else { "" };
            let cells = columns.iter().map(|cells| cells[place].clone());
            text += &line(std::iter::once(format!("{before}{}", row.subject)).chain(cells).collect());
        }
        text += "\\bottomrule\n\\end{tabular}\n";
        if !self.footnotes.is_empty() {
            let notes = self.footnotes.join("\\par\n");
            _ = write!(
                text,
                "\\par\\smallskip\n\\begin{{minipage}}{{\\linewidth}}\n\\raggedright\n{notes}\n\\end{{minipage}}\n"
            );
        }
        text + "\\end{table}\n"
    }

    fn column(&self, place: usize) -> Vec<String> {
        let cells: Vec<&str> = self.rows.iter().map(|row| row.cells[place].as_str()).collect();
        if self.columns[place].is_number { aligned(&cells) } else { cells.into_iter().map(str::to_owned).collect() }
    }
}
