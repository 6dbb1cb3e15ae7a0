//! A matrix as lines: a bar and a tier for each scenario, in as few blocks of columns as the width allows.
//!
//! Bars shrink first, then names, and then the costs are dropped. After that, scenarios are split into several blocks, or lose their
//! bars if that saves a block.

use crate::apart::shortened_apart;
use crate::document::{Look, Matrix, MatrixCell, MatrixColumn, MatrixRow};
use crate::printable::printable;

/// The greatest and the least width of a bar.
const BAR: [usize; 2] = [6, 3];
/// Gap between two columns.
const GAP: usize = 2;
/// The greatest width of a name; a longer one is replaced by the short one.
const NAME: usize = 22;
/// Lines in a heading.
const HEADING: usize = 3;
/// A column is as wide as the longest word of its heading, up to this.
const WORD: usize = 10;

pub(super) type Line = (String, Look);

/// The layout of a matrix in a given width.
struct Layout<'a> {
    of: &'a Matrix,
    names: Vec<String>,
    name: usize,
    bar: usize,
    /// Width of each scenario: its value, its bar, its tier.
    scenarios: Vec<usize>,
    has_costs: bool,
}

/// The lines of a matrix, and what was dropped.
pub(super) fn lines(matrix: &Matrix, width: usize) -> (Vec<Line>, Option<String>) {
    let (layout, blocks) = Layout::of(matrix, width);
    let mut lines = Vec::new();
    for (place, columns) in blocks.iter().enumerate() {
        if place > 0 {
            lines.push((String::new(), Look::Plain));
        }
        layout.block(columns, place + 1 == blocks.len(), &mut lines);
    }
    let lack = !layout.has_costs && !matrix.costs.is_empty();
    (lines, lack.then(|| format!("A wider terminal also shows {}.", matrix.costs.join(", "))))
}

impl<'a> Layout<'a> {
    /// The first that fits: one block with bars and costs, one with bars, one without; or the fewest blocks with bars.
    fn of(of: &'a Matrix, width: usize) -> (Self, Vec<Vec<usize>>) {
        let all: Vec<usize> = (0..of.columns.len()).collect();
        let bars = || (BAR[1]..=BAR[0]).rev();
        let with_bars = [(true, false), (true, true), (false, false), (false, true)];
        let with_bars = with_bars.into_iter().flat_map(|(costs, short)| bars().map(move |bar| (bar, costs, short)));
        for (bar, has_costs, is_short) in with_bars.chain([(0, true, false), (0, false, false), (0, false, true)]) {
            let layout = Self::with(of, bar, has_costs && !of.costs.is_empty(), is_short);
            if layout.width(&all) <= width {
                return (layout, vec![all]);
            }
        }
        let layout = Self::with(of, BAR[1], false, false);
        let fit = (1..all.len()).rev().find(|number| all.chunks(*number).all(|part| layout.width(part) <= width));
        let blocks = all.len().div_ceil(fit.unwrap_or(1));
        let blocks = all.chunks(all.len().div_ceil(blocks.max(1)).max(1)).map(<[usize]>::to_vec).collect();
        (layout, blocks)
    }

    fn with(of: &'a Matrix, bar: usize, has_costs: bool, is_short: bool) -> Self {
        let names = names(of, is_short);
        let name = names.iter().map(|name| letters(name)).max().unwrap_or(0);
        let value = |place: usize| column(of, place).map(|cell| letters(&cell.value)).max().unwrap_or(0);
        let tier = |place: usize| column(of, place).map(|cell| letters(&cell.tier)).max().unwrap_or(0);
        let of_bar = if bar == 0 { 0 } else { bar + 1 };
        let word = |place: usize| {
            let MatrixColumn { heading, beside } = &of.columns[place];
            let words = heading.split(' ').chain([beside.as_str()]);
            words.map(letters).max().unwrap_or(0).min(WORD)
        };
        let filled = |place| value(place) + of_bar + 1 + tier(place).max(1);
        let scenarios = (0..of.columns.len()).map(|place| filled(place).max(word(place))).collect();
        Self { of, names, name, bar, scenarios, has_costs }
    }

    fn width(&self, columns: &[usize]) -> usize {
        let scenarios: usize = columns.iter().map(|place| self.scenarios[*place] + GAP).sum();
        let costs: usize = if self.has_costs { self.costs().iter().map(|width| width + GAP).sum() } else { 0 };
        self.name + scenarios + costs
    }

    fn costs(&self) -> Vec<usize> {
        let widest = |(place, heading): (usize, &String)| {
            let cells = self.of.rows.iter().filter_map(|row| row.costs.get(place)).map(|cell| letters(cell));
            cells.chain([letters(heading)]).max().unwrap_or(0)
        };
        self.of.costs.iter().enumerate().map(widest).collect()
    }

    fn block(&self, columns: &[usize], is_last: bool, lines: &mut Vec<Line>) {
        let has_costs = self.has_costs && is_last;
        for line in self.headings(columns, has_costs) {
            lines.push((line, Look::Muted));
        }
        for (row, name) in self.of.rows.iter().zip(&self.names) {
            let mut line = padded(name, self.name);
            for place in columns {
                line += &" ".repeat(GAP);
                line += &self.cell(row, *place);
            }
            if has_costs {
                for (cost, width) in row.costs.iter().zip(self.costs()) {
                    line += &format!("{}{cost:>width$}", " ".repeat(GAP));
                }
            }
            lines.push((line, row.look));
        }
    }

    /// The names of the scenarios in a limited number of lines, and their loads.
    fn headings(&self, columns: &[usize], has_costs: bool) -> Vec<String> {
        let of = |place: &usize| {
            let column = &self.of.columns[*place];
            let mut lines = in_lines(&column.heading, self.scenarios[*place]);
            lines.push(cut(&column.beside, self.scenarios[*place]));
            lines
        };
        let headings: Vec<Vec<String>> = columns.iter().map(of).collect();
        let height = headings.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = columns.iter().map(|place| self.scenarios[*place]).collect();
        let mut lines = Vec::new();
        for at in 0..height {
            let mut line = " ".repeat(self.name);
            for (heading, width) in headings.iter().zip(&widths) {
                // Headings with fewer lines are aligned at the bottom.
                let from = height - heading.len();
                let words = if at >= from { heading[at - from].as_str() } else { "" };
                line += &format!("{}{}", " ".repeat(GAP), padded(words, *width));
            }
            if has_costs {
                line += &self.heading_of_costs(at + 1 == height, at + 2 == height);
            }
            lines.push(line);
        }
        lines
    }

    fn heading_of_costs(&self, is_last: bool, is_above: bool) -> String {
        let costs = self.of.costs.iter().zip(self.costs());
        match (is_last, is_above) {
            (true, _) => costs.map(|(heading, width)| format!("{}{heading:>width$}", " ".repeat(GAP))).collect(),
            (_, true) => {
                let width = costs.map(|(_, width)| width + GAP).sum::<usize>() - GAP;
                format!("{}{}", " ".repeat(GAP), right(&cut(&format!("of {}", self.of.costs_of), width), width))
            }
            _ => String::new(),
        }
    }

    fn cell(&self, row: &MatrixRow, place: usize) -> String {
        let width = self.scenarios[place];
        let Some(cell) = row.cells.get(place) else { return " ".repeat(width) };
        let value = column(self.of, place).map(|cell| letters(&cell.value)).max().unwrap_or(0);
        let bar = match (self.bar, cell.share) {
            (0, _) => String::new(),
            (bar, share) => format!(" {}", padded(&share.map(|share| of_blocks(share, bar)).unwrap_or_default(), bar)),
        };
        padded(&format!("{}{bar} {}", right(&cell.value, value), cell.tier), width)
    }
}

fn column(of: &Matrix, place: usize) -> impl Iterator<Item = &MatrixCell> {
    of.rows.iter().filter_map(move |row| row.cells.get(place))
}

/// The names of all rows with their notes.
fn names(of: &Matrix, is_short: bool) -> Vec<String> {
    let name = |row: &MatrixRow| {
        let name = if is_short || letters(&row.name) > NAME { &row.short } else { &row.name };
        printable(name)
    };
    let whole: Vec<String> = of.rows.iter().map(name).collect();
    let fitted = shortened_apart(&whole.iter().map(String::as_str).collect::<Vec<_>>(), NAME, cut);
    let notes = |row: &MatrixRow| row.notes.iter().map(|number| format!(" [{number}]")).collect::<String>();
    of.rows.iter().zip(fitted).map(|(row, name)| name + &notes(row)).collect()
}

/// A bar in eighths of a character; a positive share has at least one.
fn of_blocks(share: f64, most: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share.clamp(0.0, 1.0) * most as f64 * 8.0).round() as usize).max(usize::from(share > 0.0));
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Words in lines of this width; the last line is cut.
fn in_lines(words: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words.split(' ') {
        let count = lines.len();
        let last = &mut lines[count - 1];
        if last.is_empty() || letters(last) + 1 + letters(word) <= width || count == HEADING {
            let gap = if last.is_empty() { "" } else { " " };
            *last += &format!("{gap}{word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

fn cut(words: &str, width: usize) -> String {
    if letters(words) <= width {
        return words.to_owned();
    }
    let start: String = words.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

fn padded(words: &str, width: usize) -> String {
    format!("{words}{}", " ".repeat(width.saturating_sub(letters(words))))
}

fn right(words: &str, width: usize) -> String {
    format!("{}{words}", " ".repeat(width.saturating_sub(letters(words))))
}

fn letters(words: &str) -> usize {
    words.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_grows_by_eighths_and_never_vanishes() {
        let bars = [1.0, 0.5, 0.56, 0.001, 0.0].map(|share| of_blocks(share, 6));
        assert_eq!(bars, ["██████", "███", "███▍", "▏", ""]);
    }

    #[test]
    fn a_heading_has_three_lines_at_most() {
        assert_eq!(in_lines("1,000 rows of 40 fields", 12), ["1,000 rows", "of 40 fields"]);
        assert_eq!(in_lines("1,000 rows of 40 fields and more", 8), ["1,000", "rows of", "40 fiel…"]);
        assert_eq!(in_lines("JSON", 12), ["JSON"]);
    }
}
