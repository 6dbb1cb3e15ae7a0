//! Rows that belong together: those of a table, a setting, or a comparison.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use tolok_model::transcription::{Row, Transcription};

use crate::range::Range;
use crate::rows::rate;
use crate::wording::{listed, place};

/// Rows of one setting in one table.
pub(crate) struct Group<'a> {
    /// The source's table.
    pub table: Option<&'a str>,
    /// Name of the setting.
    pub scenario: Option<&'a str>,
    /// The rows, in file order.
    pub rows: Vec<&'a Row>,
}

impl Group<'_> {
    /// The name of what the rows share: `10,000 rows (Table 4)`.
    pub fn name(&self, transcription: &Transcription) -> String {
        place(transcription, self.scenario, self.table)
    }
}

/// Groups rows by a key, in file order.
pub(crate) fn by<'a, K: Eq + Hash>(
    rows: impl IntoIterator<Item = &'a Row>,
    key: impl Fn(&'a Row) -> K,
) -> Vec<Vec<&'a Row>> {
    let (mut places, mut found): (HashMap<K, usize>, Vec<Vec<&Row>>) = Default::default();
    for row in rows {
        let place = *places.entry(key(row)).or_insert(found.len());
        if place == found.len() {
            found.push(Vec::new());
        }
        found[place].push(row);
    }
    found
}

/// A group of rows that share table and setting.
fn group(rows: Vec<&Row>) -> Group<'_> {
    let first = rows.first();
    let (table, scenario) = (first.and_then(|row| row.table.as_deref()), first.and_then(|row| row.scenario.as_deref()));
    Group { table, scenario, rows }
}

/// Rows by table and setting.
pub(crate) fn groups<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Group<'a>> {
    by(rows, |row| (&row.table, &row.scenario)).into_iter().map(group).collect()
}

/// Groups rows by table, setting and connections, with one row for each subject, as a reader compares them. Drops
/// groups with several rows of one subject, because it is ambiguous which one is meant.
pub(crate) fn comparable(transcription: &Transcription) -> Vec<Group<'_>> {
    let alike = by(&transcription.rows, |row| (&row.table, &row.scenario, row.conditions.connections));
    let is_plain = |rows: &Vec<&Row>| {
        let subjects: BTreeSet<&str> = rows.iter().map(|row| row.subject.as_str()).collect();
        subjects.len() == rows.len()
    };
    alike.into_iter().filter(is_plain).map(group).collect()
}

/// Tables in file order, each with its rows.
pub(crate) fn tables(transcription: &Transcription) -> Vec<(Option<&str>, Vec<&Row>)> {
    let tables = by(&transcription.rows, |row| &row.table).into_iter();
    tables.map(|rows| (rows.first().and_then(|row| row.table.as_deref()), rows)).collect()
}

/// The rates that a table prints.
type OfTable<'a> = (&'a Option<String>, Vec<Range>);

/// Rows without repetitions from an earlier table: the same rate for the same subject and setting.
pub(crate) fn measured(transcription: &Transcription) -> Vec<&Row> {
    // Keyed by subject and setting.
    let mut printed: HashMap<(&str, &Option<String>), Vec<OfTable>> = HashMap::new();
    let mut kept = Vec::new();
    for row in &transcription.rows {
        let Some(own) = rate(row) else {
            kept.push(row);
            continue;
        };
        let tables = printed.entry((row.subject.as_str(), &row.scenario)).or_default();
        let others = tables.iter().filter(|(table, _)| **table != row.table);
        let is_again = others.flat_map(|(_, rates)| rates).any(|before| before.meets(own.range));
        match tables.iter_mut().find(|(table, _)| **table == row.table) {
            Some((_, rates)) => rates.push(own.range),
            None => tables.push((&row.table, vec![own.range])),
        }
        kept.extend((!is_again).then_some(row));
    }
    kept
}

/// The names of the rows' tables: `Table 1 and Table 2`.
pub(crate) fn names_of_tables(rows: &[&Row]) -> String {
    let names: Vec<String> =
        by(rows.iter().copied(), |row| &row.table).iter().filter_map(|rows| rows[0].table.clone()).collect();
    if names.is_empty() { "the table".to_owned() } else { listed(&names) }
}
