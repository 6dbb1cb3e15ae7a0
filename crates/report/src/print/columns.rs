//! Chooses the columns of a table that fit, and fills their cells.

use tolok_analysis::figures::listed;

use crate::document::{Column, Row, Table};
use crate::printable::printable;

/// Gap between two columns.
pub(super) const GAP: usize = 2;
/// The least width of row names; a longer name is broken.
const NAME: usize = 18;
/// The same if intervals are below their values: then a name of two lines costs no space.
const SHORT_NAME: usize = 12;

/// The columns of a table that fit a width.
pub(super) struct Fit<'a> {
    /// The naming column first.
    pub(super) columns: Vec<Shown<'a>>,
    /// The columns without room.
    pub(super) left_out: Vec<&'a Column>,
    /// Whether the table is as narrow as requested.
    pub(super) is_narrow_enough: bool,
}

/// A column with its printed content.
pub(super) struct Shown<'a> {
    pub(super) column: &'a Column,
    pub(super) heading: &'a str,
    /// One for each row; with two lines if the interval is below its value.
    pub(super) cells: Vec<String>,
}

/// Position of intervals.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Intervals {
    Beside,
    Below,
}

impl<'a> Fit<'a> {
    /// The first of these that fits: intervals beside their values; intervals below; then without the columns of the lowest priority, and
    /// so on. Optional columns do not influence this: they are added at the end, if all others are shown.
    pub(super) fn of(table: &'a Table, width: usize) -> Self {
        let (mut fit, intervals) = Self::required(table, width);
        if fit.left_out.is_empty() {
            let all = shown(table, intervals, |_| true);
            if taken(&all, usize::MAX) <= width {
                fit.columns = all;
            }
        }
        fit
    }

    fn required(table: &'a Table, width: usize) -> (Self, Intervals) {
        let mut levels: Vec<u8> = table.columns.iter().map(|column| column.priority).collect();
        levels.retain(|&level| level != Column::OPTIONAL && level != Column::ALWAYS);
        levels.sort_unstable();
        levels.dedup();
        let lowest = Column::OPTIONAL + 1;
        let fewer = levels.iter().map(|level| (Intervals::Below, level + 1));
        let attempts = [(Intervals::Beside, lowest), (Intervals::Below, lowest)].into_iter().chain(fewer);
        let has_intervals = table.rows.iter().any(|row| row.cells.iter().any(|cell| cell.interval.is_some()));
        let attempt = |(intervals, least): (Intervals, u8)| {
            let columns = shown(table, intervals, |column| column.priority >= least);
            let name = if has_intervals && intervals == Intervals::Below { SHORT_NAME } else { NAME };
            let is_narrow_enough = taken(&columns, name) <= width;
            let is_left_out = |column: &&Column| column.priority < least && column.priority != Column::OPTIONAL;
            let left_out = table.columns.iter().filter(is_left_out).collect();
            (Self { columns, left_out, is_narrow_enough }, intervals)
        };
        let mut last = attempt((Intervals::Beside, lowest));
        for next in attempts.skip(1) {
            if last.0.is_narrow_enough {
                break;
            }
            last = attempt(next);
        }
        last
    }

    /// The sentence about columns without room.
    pub(super) fn lack(&self) -> Option<String> {
        let names: Vec<String> = self.left_out.iter().map(|column| column.heading.clone()).collect();
        match names.as_slice() {
            [] => None,
            [only] => Some(format!("{only} is left out: it needs a wider terminal")),
            all => Some(format!("{} are left out: they need a wider terminal", listed(all, "and"))),
        }
    }
}

/// Combines meanings that several words share: `p50 and p99 in a closed loop`.
pub(super) fn together(meanings: &[String]) -> Vec<String> {
    let mut all: Vec<(Vec<String>, &str)> = Vec::new();
    for meaning in meanings {
        let (word, rest) = meaning.split_once(' ').unwrap_or((meaning, ""));
        match all.iter_mut().find(|(_, known)| *known == rest) {
            Some((words, _)) if words.iter().any(|known| known == word) => {}
            Some((words, _)) => words.push(word.to_owned()),
            None => all.push((vec![word.to_owned()], rest)),
        }
    }
    all.iter().map(|(words, rest)| format!("{} {rest}", listed(words, "and"))).collect()
}

/// Width of all columns and gaps, if the first is no wider than `name`.
fn taken(columns: &[Shown], name: usize) -> usize {
    let width = |shown: &Shown| widest(&shown.cells).max(shown.heading.chars().count());
    let rest: usize = columns.iter().skip(1).map(|shown| width(shown) + GAP).sum();
    columns.first().map_or(0, |first| widest(&first.cells).min(name)) + rest
}

fn shown(table: &Table, intervals: Intervals, is_shown: impl Fn(&Column) -> bool) -> Vec<Shown<'_>> {
    let shown = |(place, column)| {
        let Column { heading, short, .. }: &Column = column;
        let heading = if intervals == Intervals::Below && !short.is_empty() { short } else { heading };
        let mut cells = cells(table, place, intervals);
        if place == 0 {
            cells.iter_mut().zip(&table.rows).for_each(|(cell, row)| mark(cell, row));
        }
        Shown { column, heading, cells }
    };
    table.columns.iter().enumerate().filter(|(_, column)| is_shown(column)).map(shown).collect()
}

/// Adds a warning before the name of a row, and note numbers after it.
fn mark(name: &mut String, row: &Row) {
    if row.is_loud() {
        name.insert_str(0, "! ");
    }
    name.extend(row.cells.iter().flat_map(|cell| &cell.notes).map(|number| format!(" [{number}]")));
}

/// The cells of a column. Values, intervals and marks are aligned separately, with marks at the end.
fn cells(table: &Table, place: usize, intervals: Intervals) -> Vec<String> {
    let cells = || table.rows.iter().filter_map(|row| row.cells.get(place));
    let of = |text: Option<&String>| text.map(|text| printable(text)).unwrap_or_default();
    let interval_width = cells().map(|cell| of(cell.interval.as_ref()).chars().count()).max().unwrap_or(0);
    let mark_width = cells().map(|cell| cell.mark.chars().count()).max().unwrap_or(0);
    let cell = |row: &Row| {
        let Some(cell) = row.cells.get(place) else { return String::new() };
        let (value, interval) = (printable(&cell.text.plain()), of(cell.interval.as_ref()));
        let mark = if mark_width == 0 { String::new() } else { format!(" {:mark_width$}", cell.mark) };
        match intervals {
            Intervals::Beside if interval_width == 0 => format!("{value}{mark}"),
            Intervals::Beside => format!("{value} {interval:<interval_width$}{mark}"),
            Intervals::Below if interval.is_empty() => format!("{value}{mark}"),
            // The spaces keep the interval below its value and not below the mark.
            Intervals::Below => format!("{value}{mark}\n{interval}{}", " ".repeat(mark.chars().count())),
        }
    };
    table.rows.iter().map(cell).collect()
}

fn widest(cells: &[String]) -> usize {
    cells.iter().flat_map(|cell| cell.lines()).map(|line| line.chars().count()).max().unwrap_or(0)
}
