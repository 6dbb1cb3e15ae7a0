//! Duplicates: different measurements do not give the same digits throughout.
//!
//! Compared are every two series of the same quantity, the columns of every two subjects of a table (over its settings), and
//! the columns of every two moments of a distribution (p99 and mean, over its rows).
//!
//! How likely is it that two of them agree by chance? Let d be the number of distinct printed values among the compared ones. Take
//! each new value to be one of these d with equal chances, give the first away, and count no value that comes again, because
//! a level that stays is no evidence: P = (1 / d)^(d − 1). Real readings can take more than d values, so that this errs on
//! the side of coincidence. Figures that agree together multiply. A pair is contradicted only if P · (number of pairs compared)
//! is below one in a million. That excludes short, constant and nearly constant columns (d ≤ 6); columns with equal steps are
//! left out too, because those are set rather than measured. Source: the argument is that of a birthday bound; the correction for
//! many pairs is Bonferroni's, O. J. Dunn, "Multiple comparisons among means", JASA 56(293), 1961.

use std::collections::BTreeSet;

use tolok_model::sentences::capital;
use tolok_model::transcription::{Figure, Moment, Quantity, Row, Series, Transcription};

use super::groups::tables;
use super::words::{chance, counted, listed, noun, setting};
use crate::draft::Draft;
use crate::{AuditFinding, Input, Law};

/// Coincidences that are rarer than this, over all pairs, are none.
const LOG10_CHANCE: f64 = -6.0;

/// Compares series, then columns.
pub(crate) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    of_series(transcription).into_iter().chain(of_columns(transcription)).collect()
}

/// log10 of the chance that a column agrees with another.
fn log10_chance(values: &[f64]) -> f64 {
    let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    let d = distinct.len() as f64;
    if d < 2.0 || has_equal_steps(values) { 0.0 } else { -(d - 1.0) * d.log10() }
}

fn has_equal_steps(values: &[f64]) -> bool {
    let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let size = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    steps.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= 1e-9 * size)
}

fn of_series(transcription: &Transcription) -> Vec<AuditFinding> {
    let all = &transcription.series;
    let pairs: Vec<(&Series, &Series)> =
        all.iter().enumerate().flat_map(|(index, a)| all[index + 1..].iter().map(move |b| (a, b))).collect();
    let pairs: Vec<(&Series, &Series)> = pairs.into_iter().filter(|(a, b)| !same_origin(a, b)).collect();
    let limit = LOG10_CHANCE - (pairs.len().max(1) as f64).log10();
    let doubles: Vec<(&Series, &Series, Vec<&Figure>, f64)> = pairs
        .iter()
        .filter_map(|(a, b)| {
            let equal = equal_figures(a, b);
            let log10: f64 = equal.iter().map(|figure| log10_chance(&values(figure))).sum();
            (!equal.is_empty() && log10 < limit).then_some((*a, *b, equal, log10))
        })
        .collect();
    if doubles.is_empty() {
        return (!pairs.is_empty()).then(|| no_series_twice(all, pairs.len())).into_iter().collect();
    }
    doubles.iter().map(|double| series_twice(transcription, double, (all.len(), pairs.len(), doubles.len()))).collect()
}

/// The same subject under the same setting may be printed twice.
fn same_origin(a: &Series, b: &Series) -> bool {
    a.subject == b.subject && a.scenario == b.scenario
}

fn values(figure: &Figure) -> Vec<f64> {
    figure.numbers.iter().map(|number| number.value).collect()
}

fn equal_figures<'a>(a: &'a Series, b: &Series) -> Vec<&'a Figure> {
    let equal = |one: &&Figure| {
        let other = b.figures.iter().find(|other| other.quantity == one.quantity);
        other.is_some_and(|other| other.unit == one.unit && values(other) == values(one))
    };
    a.figures.iter().filter(equal).collect()
}

fn no_series_twice(all: &[Series], pairs: usize) -> AuditFinding {
    let (number, pairs) = (counted(all.len(), "series").replace("seriess", "series"), counted(pairs, "pair"));
    let inputs = all.iter().filter_map(|series| series.figures.first().map(|figure| (series, figure)));
    inputs
        .fold(
            Draft::new(Law::Duplicates, number.clone(), "No two series have the same digits throughout."),
            |draft, (of, figure)| draft.series(of, figure),
        )
        .arithmetic(format!("{pairs} compared"))
        .holds(format!("No two of the {number} agree throughout."))
}

fn series_twice(
    transcription: &Transcription,
    (a, b, equal, log10): &(&Series, &Series, Vec<&Figure>, f64),
    (series, pairs, doubles): (usize, usize, usize),
) -> AuditFinding {
    let name = |series: &Series| {
        let setting =
            setting(transcription, series.scenario.as_deref()).map(|text| format!(", {text}")).unwrap_or_default();
        format!("{}{setting}", series.subject)
    };
    let (of_a, of_b) = (name(a), name(b));
    let what = listed(&equal.iter().map(|figure| noun(&figure.quantity)).collect::<Vec<_>>());
    let length = equal.iter().map(|figure| figure.numbers.len()).max().unwrap_or_default();
    let only = if doubles == 1 { format!(" No other two of the {series} series do.") } else { String::new() };
    let distinct: Vec<String> = equal
        .iter()
        .map(|figure| {
            let distinct: BTreeSet<u64> = values(figure).iter().map(|value| value.to_bits()).collect();
            let d = distinct.len();
            format!("{d} distinct values of {}: (1/{d})^{}", noun(&figure.quantity), d - 1)
        })
        .collect();
    let draft =
        Draft::new(Law::Duplicates, format!("{of_a} and {of_b}"), format!("{what} of {of_a} and of {of_b} differ."));
    let draft = equal.iter().fold(draft, |draft, figure| draft.series(a, figure));
    let of_b_too = equal.iter().filter_map(|figure| b.figures.iter().find(|other| other.quantity == figure.quantity));
    of_b_too
        .fold(draft, |draft, figure| draft.series(b, figure))
        .arithmetic(format!("{}; {} compared", distinct.join(", "), counted(pairs, "pair")))
        .inferring(Some("One of the two was probably printed in the place of the other, whose figures are then missing.".to_owned()))
        .contradicted(format!(
            "{} of {of_a} and of {of_b} are the same in all {length} readings; by chance that happens in at most {}.{only}",
            capital(&what),
            chance(*log10),
        ))
}

/// A column of a table: what its entries are of, and their numbers.
struct Column<'a> {
    name: String,
    table: Option<&'a str>,
    kind: &'a Quantity,
    entries: Vec<(String, Vec<f64>)>,
    input: Input,
}

fn of_columns(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut candidates: Vec<(Column, Column)> = Vec::new();
    for (table, rows) in tables(transcription) {
        candidates.extend(pairs_of(by_subject(table, &rows), |a, b| a.kind == b.kind));
        candidates.extend(pairs_of(by_quantity(table, &rows), |a, b| is_time(a.kind, b.kind)));
    }
    let compared: Vec<(Column, Column, Vec<f64>, bool)> = candidates
        .into_iter()
        .map(|(a, b)| {
            let (values, equal) = shared(&a, &b);
            (a, b, values, equal)
        })
        .collect();
    let limit = LOG10_CHANCE - (compared.len().max(1) as f64).log10();
    let number = compared.len();
    let doubles = compared.into_iter().filter(|(_, _, values, equal)| *equal && log10_chance(values) < limit);
    doubles.map(|(a, b, values, _)| columns_twice(&a, &b, &values, number)).collect()
}

/// Pairs of columns, each made once.
fn pairs_of<'a>(columns: Vec<Column<'a>>, is_pair: impl Fn(&Column, &Column) -> bool) -> Vec<(Column<'a>, Column<'a>)> {
    let mut pairs = Vec::new();
    for (index, a) in columns.iter().enumerate() {
        for b in columns[index + 1..].iter().filter(|b| is_pair(a, b)) {
            pairs.push((a.copy(), b.copy()));
        }
    }
    pairs
}

impl Column<'_> {
    fn copy(&self) -> Self {
        Self { name: self.name.clone(), entries: self.entries.clone(), input: self.input.clone(), ..*self }
    }
}

/// Response times, or times of programs, of different moments.
fn is_time(a: &Quantity, b: &Quantity) -> bool {
    let spread = |quantity: &Quantity| matches!(quantity, Quantity::Latency(Moment::Sd) | Quantity::Time(Moment::Sd));
    let both = matches!((a, b), (Quantity::Latency(_), Quantity::Latency(_)) | (Quantity::Time(_), Quantity::Time(_)));
    both && !spread(a) && !spread(b)
}

/// A figure of each subject over the settings.
fn by_subject<'a>(table: Option<&'a str>, rows: &[&'a Row]) -> Vec<Column<'a>> {
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        for figure in row.figures.iter().filter(|figure| !matches!(figure.quantity, Quantity::Other(_))) {
            let name = format!("{} of {}", noun(&figure.quantity), row.subject);
            push(&mut columns, (name, table), row, figure, row.scenario.clone().unwrap_or_default());
        }
    }
    columns
}

/// A figure over all rows.
fn by_quantity<'a>(table: Option<&'a str>, rows: &[&'a Row]) -> Vec<Column<'a>> {
    let mut columns: Vec<Column> = Vec::new();
    for row in rows {
        for figure in row.figures.iter().filter(|figure| is_time(&figure.quantity, &figure.quantity)) {
            push(&mut columns, (noun(&figure.quantity), table), row, figure, row.name(None));
        }
    }
    columns
}

fn push<'a>(
    columns: &mut Vec<Column<'a>>,
    (name, table): (String, Option<&'a str>),
    row: &Row,
    figure: &'a Figure,
    key: String,
) {
    let entry = (key, values(figure));
    match columns.iter_mut().find(|column| column.name == name) {
        Some(column) => column.entries.push(entry),
        None => columns.push(Column {
            name,
            table,
            kind: &figure.quantity,
            entries: vec![entry],
            input: Input::of_row(row, figure),
        }),
    }
}

/// The numbers of the entries that two columns share, and whether they are all equal.
fn shared(a: &Column, b: &Column) -> (Vec<f64>, bool) {
    let mut values = Vec::new();
    let mut equal = true;
    for (key, numbers) in &a.entries {
        if let Some((_, others)) = b.entries.iter().find(|(other, _)| other == key) {
            equal &= numbers == others;
            values.extend(numbers);
        }
    }
    (values, equal)
}

fn columns_twice(a: &Column, b: &Column, values: &[f64], pairs: usize) -> AuditFinding {
    let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    let d = distinct.len();
    let table = a.table.map(|table| format!(" ({table})")).unwrap_or_default();
    Draft::new(
        Law::Duplicates,
        format!("{} and {}{table}", a.name, b.name),
        format!("The {} and the {} differ.", a.name, b.name),
    )
    .with(a.input.clone())
    .with(b.input.clone())
    .arithmetic(format!("{d} distinct values: (1/{d})^{}; {} compared", d - 1, counted(pairs, "pair")))
    .inferring(Some("One of the two columns was probably printed in the place of the other.".to_owned()))
    .contradicted(format!(
        "The {} and the {} are the same in all {} of the table; by chance that happens in at most {}.",
        a.name,
        b.name,
        counted(values.len(), "number"),
        chance(log10_chance(values)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_distinct_values_are_no_evidence() {
        assert_eq!(log10_chance(&[3.0; 30]), 0.0);
        assert_eq!(log10_chance(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]), 0.0);
        let repeated = [1.0, 5.0, 5.0, 1.0, 5.0];
        assert!((log10_chance(&repeated) + 2f64.log10()).abs() < 1e-12);
    }
}
