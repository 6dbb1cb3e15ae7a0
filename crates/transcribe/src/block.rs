//! One run in a text, and what is read from it.

use std::collections::BTreeSet;

use crate::digits::{number, time};
use crate::row::{Remark, Row};

/// A line of a text, without its newline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub number: usize,
    /// Without surrounding blanks.
    pub text: &'a str,
}

/// The lines of one run, and the row they become.
pub(crate) struct Block<'a> {
    pub lines: &'a [Line<'a>],
    pub row: Row,
    pub remarks: Vec<Remark>,
    /// Indices in `lines` that are understood.
    known: BTreeSet<usize>,
    /// Indices in `lines` that the row uses.
    used: BTreeSet<usize>,
}

impl<'a> Block<'a> {
    pub fn new(lines: &'a [Line<'a>], tool: &str) -> Self {
        let mut row = Row { line: lines.first().map_or(1, |line| line.number), ..Row::default() };
        row.text("tool", tool);
        Self { lines, row, remarks: Vec::new(), known: BTreeSet::new(), used: BTreeSet::new() }
    }

    /// The first line with this label: its index, and the rest of the line.
    pub fn find(&self, label: &str) -> Option<(usize, &'a str)> {
        self.find_from(0, label)
    }

    pub fn find_from(&self, from: usize, label: &str) -> Option<(usize, &'a str)> {
        let mut lines = self.lines.iter().enumerate().skip(from);
        lines.find_map(|(at, line)| Some((at, line.text.strip_prefix(label)?.trim())))
    }

    /// Reads the text after a label into the row. `read` returns whether it understood it.
    pub fn read(&mut self, label: &str, read: impl FnOnce(&mut Row, &'a str) -> bool) {
        if let Some((at, text)) = self.find(label) {
            self.at(at, |row| read(row, text));
        }
    }

    /// Reads a line into the row. `read` returns whether it understood it.
    pub fn at(&mut self, at: usize, read: impl FnOnce(&mut Row) -> bool) {
        self.known.insert(at);
        self.used.insert(at);
        if !read(&mut self.row) {
            let Line { number, text } = self.lines[at];
            self.remarks.push(Remark { line: number, text: format!("not understood: {}", shortened(text)) });
        }
    }

    /// Reads a number after a label.
    pub fn number(&mut self, label: &str, key: &str) {
        self.read(label, |row, text| number(text).is_some_and(|digits| row.figure(key, digits)));
    }

    /// Reads a time and its unit after a label. `key` has no unit.
    pub fn time(&mut self, label: &str, key: &str) {
        self.read(label, |row, text| time_into(row, key, text));
    }

    /// The row with its lines. Adds a remark for each line that was neither read nor accepted by `skips`.
    pub fn finish(mut self, skips: impl Fn(&str) -> bool) -> (Row, Vec<Remark>) {
        for (at, line) in self.lines.iter().enumerate() {
            if !line.text.is_empty() && !self.known.contains(&at) && !skips(line.text) {
                self.remarks
                    .push(Remark { line: line.number, text: format!("not understood: {}", shortened(line.text)) });
            }
        }
        self.row.raw = self.used.iter().map(|at| self.lines[*at].text.to_owned()).collect();
        (self.row, self.remarks)
    }
}

/// Adds a time under its key: `latency_mean` and `5.03ms` become `latency_mean_ms` and `5.03`.
pub(crate) fn time_into(row: &mut Row, key: &str, text: &str) -> bool {
    let Some((digits, unit)) = time(text) else { return false };
    let has_it = ["s", "ms", "us"].iter().any(|unit| row.has(&format!("{key}_{unit}")));
    let comment = digits.contains("..").then_some("printed in minutes or hours: the seconds that it is rounded from");
    has_it || row.figure_with(&format!("{key}_{unit}"), &digits, comment)
}

/// Sets the length of a run.
pub(crate) fn duration_into(row: &mut Row, text: &str) -> bool {
    let Some((digits, unit)) = time(text) else { return false };
    // `2.00m` is a range of seconds, but the setting takes only one value, so it keeps the printed text.
    let value =
        if digits.contains("..") { text.trim().replace(' ', "") } else { format!("{}{unit}", measured(&digits, unit)) };
    row.duration(&value)
}

/// Truncates a time to nanoseconds: tools write all digits of a float, such as 15.133894378666668.
fn measured<'a>(digits: &'a str, unit: &str) -> &'a str {
    let decimals = match unit {
        "s" => 9,
        "ms" => 6,
        _ => 3,
    };
    digits.find('.').map_or(digits, |point| &digits[..digits.len().min(point + 1 + decimals)])
}

/// The beginning of a line, short enough for a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 100;
    let short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() { format!("{short} …") } else { short }
}
