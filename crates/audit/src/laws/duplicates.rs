//! Duplicates: different measurements do not have the same digits throughout.
//!
//! The law compares every two series of the same quantity, and the columns of every two subjects of a table, over its
//! settings. It also compares the columns of every two moments of a distribution, such as p99 and mean. These are
//! compared over the table's rows, or, if the whole table differs, over those of each setting.
//!
//! How likely is it that two of them agree by chance? Let d be the number of distinct printed values among the compared
//! ones. Assume that each new value is one of these d with equal chances. Do not count the first value, nor any value
//! that repeats, because a constant level is no evidence. Then P = (1 / d)^(d − 1). Real readings can take more than d
//! values, so this errs on the side of coincidence. The chances of figures that agree together multiply.
//!
//! A pair is contradicted only if P · (number of pairs compared) is below one in a million. That excludes short,
//! constant and nearly constant columns (d ≤ 6). The law also leaves out:
//!
//! - columns with equal steps, and others that are set rather than measured (sizes of bodies, numbers of runs, rates of
//!   an open loop, round numbers of requests);
//! - numbers with fewer than three digits, in which servers of about the same speed agree;
//! - percentiles with fewer than two requests beyond them, because those are the maximum.
//!
//! Source: the argument is that of a birthday bound; the correction for many pairs is Bonferroni's, O. J. Dunn,
//! "Multiple comparisons among means", JASA 56(293), 1961.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use tolok_model::transcription::{Figure, LoopModel, Moment, Number, Quantity, Row, Series, Transcription};

use crate::draft::Draft;
use crate::groups::{groups, tables};
use crate::laws::LawInfo;
use crate::rows::throughput;
use crate::wording::{chance, counted, listed, noun, setting};
use crate::{AuditFinding, Input, Law};

/// Assumed number of requests of a run with printed percentiles.
const FEW_REQUESTS: f64 = 20.0;

/// A number with fewer units of its last digit than this is too coarse to be evidence.
const ROUGH: f64 = 100.0;

/// Agreement that is less likely than this by chance, over all pairs, is not a coincidence.
const LOG10_CHANCE: f64 = -6.0;

pub(super) const LAW: LawInfo = LawInfo {
    title: "Duplicates",
    says: "Different measurements do not have the same digits throughout.",
    needs: "several columns or series of many different figures with three digits or more",
    check,
};

/// Compares series, then columns.
fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    of_series(transcription).into_iter().chain(of_columns(transcription)).collect()
}

/// log10 of the chance that a column agrees with another.
fn log10_chance(values: &[f64]) -> f64 {
    let distinct: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
    let d = distinct.len() as f64;
    if d < 2.0 || has_equal_steps(values) { 0.0 } else { -(d - 1.0) * d.log10() }
}

/// log10 of the chance that any of several pairs agrees, from the chance of one pair.
fn of_any(log10: f64, pairs: usize) -> f64 {
    log10 + (pairs.max(1) as f64).log10()
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
            let log10: f64 = equal.iter().map(|figure| log10_chance(&telling(figure))).sum();
            (!equal.is_empty() && log10 < limit).then_some((*a, *b, equal, log10))
        })
        .collect();
    if doubles.is_empty() {
        return (!pairs.is_empty()).then(|| no_series_twice(all, pairs.len())).into_iter().collect();
    }
    doubles.iter().map(|double| series_twice(transcription, double, (all.len(), pairs.len(), doubles.len()))).collect()
}

/// The same subject in the same setting may be printed twice.
fn same_origin(a: &Series, b: &Series) -> bool {
    a.subject == b.subject && a.scenario == b.scenario
}

fn values(figure: &Figure) -> Vec<f64> {
    figure.numbers.iter().map(|number| number.value).collect()
}

/// The values that are precise enough to be evidence.
fn telling(figure: &Figure) -> Vec<f64> {
    let is_exact = |number: &&Number| number.value.abs() >= ROUGH * 2.0 * number.half_unit;
    figure.numbers.iter().filter(is_exact).map(|number| number.value).collect()
}

fn equal_figures<'a>(a: &'a Series, b: &Series) -> Vec<&'a Figure> {
    let equal = |one: &&Figure| {
        let other = b.figures.iter().find(|other| other.quantity == one.quantity);
        other.is_some_and(|other| other.unit == one.unit && values(other) == values(one))
    };
    a.figures.iter().filter(equal).collect()
}

fn no_series_twice(all: &[Series], pairs: usize) -> AuditFinding {
    let (number, pairs) = (counted(all.len(), "series"), counted(pairs, "pair"));
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
            let distinct: BTreeSet<u64> = telling(figure).iter().map(|value| value.to_bits()).collect();
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
            "{} of {of_a} and of {of_b} are the same in all {length} readings; by chance any of so many pairs would do so in at most {}.{only}",
            tolok_model::sentences::capital(&what),
            chance(of_any(*log10, pairs)),
        ))
}

/// A column of a table: the key and numbers of each entry.
struct Column<'a> {
    name: String,
    table: Option<&'a str>,
    kind: &'a Quantity,
    entries: Vec<Entry<'a>>,
    /// The row and figure where it first appears.
    first: (&'a Row, &'a Figure),
}

/// A row's numbers in a column.
struct Entry<'a> {
    key: Cow<'a, str>,
    figure: &'a Figure,
}

/// The first entry of a column, for each key.
type Places<'c> = HashMap<&'c str, &'c Figure>;

/// What two columns have at the same keys.
struct Shared {
    /// The count of numbers, if all are equal.
    equal: Option<usize>,
    telling: Vec<f64>,
}

type IsPair = dyn Fn(&Column<'_>, &Column<'_>) -> bool;

/// Columns of a table, and which of them to compare.
struct Compared<'a> {
    columns: Vec<Column<'a>>,
    is_pair: Box<IsPair>,
    /// The number of pairs.
    pairs: usize,
    /// The same columns setting by setting, used only if none of the whole table agree.
    finer: Vec<Compared<'a>>,
}

fn of_columns(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut all: Vec<Compared> = Vec::new();
    for (table, rows) in tables(transcription) {
        let columns = by_subject(table, &rows);
        let mut of_kind: HashMap<&Quantity, usize> = HashMap::new();
        columns.iter().for_each(|column| *of_kind.entry(column.kind).or_default() += 1);
        let pairs = of_kind.values().map(|number| number * (number - 1) / 2).sum();
        all.push(Compared { columns, is_pair: Box::new(|a, b| a.kind == b.kind), pairs, finer: Vec::new() });
        let mut settings = groups(rows.iter().copied());
        settings.retain(|group| group.rows.len() < rows.len());
        let finer = settings.iter().map(|group| of_moments(group.scenario.or(table), &group.rows)).collect();
        all.push(Compared { finer, ..of_moments(table, &rows) });
    }
    let pairs = all.iter().flat_map(|one| one.finer.iter().chain([one])).map(|one| one.pairs).sum();
    all.iter().flat_map(|compared| compared.twice_or_finer(pairs)).collect()
}

/// The columns of moments of each distribution.
fn of_moments<'a>(place: Option<&'a str>, rows: &[&'a Row]) -> Compared<'a> {
    let least = rows.iter().map(|row| requests(row)).fold(f64::INFINITY, f64::min);
    let is_pair = move |a: &Column, b: &Column| is_time(a.kind, b.kind) && are_apart(a.kind, b.kind, least);
    let columns = by_quantity(place, rows);
    let of_column = |(index, a): (usize, &Column)| columns[index + 1..].iter().filter(|b| is_pair(a, b)).count();
    let pairs = columns.iter().enumerate().map(of_column).sum();
    Compared { columns, is_pair: Box::new(is_pair), pairs, finer: Vec::new() }
}

impl Compared<'_> {
    /// Pairs that agree in the whole table, or else in settings. The first finding represents all with the same two
    /// columns.
    fn twice_or_finer(&self, pairs: usize) -> Vec<AuditFinding> {
        let whole = self.twice(pairs);
        if !whole.is_empty() {
            return whole;
        }
        let mut found: Vec<(AuditFinding, usize)> = Vec::new();
        for finding in self.finer.iter().flat_map(|setting| setting.twice(pairs)) {
            match found.iter_mut().find(|(first, _)| first.statement == finding.statement) {
                Some((first, more)) => {
                    first.about = format!("{}; {}", first.about, finding.about);
                    first.inputs.extend(finding.inputs);
                    *more += 1;
                }
                None => found.push((finding, 0)),
            }
        }
        let told = |(mut finding, more): (AuditFinding, usize)| {
            if more > 0 {
                let settings = if more == 1 { "setting" } else { "settings" };
                finding.sentence += &format!(" The same holds in {more} more {settings}.");
            }
            finding
        };
        found.into_iter().map(told).collect()
    }

    /// Pairs that agree too well. `pairs` is their number over all tables.
    fn twice(&self, pairs: usize) -> Vec<AuditFinding> {
        let limit = LOG10_CHANCE - (pairs.max(1) as f64).log10();
        // Columns that agree in many places agree in at least one, so we need not compare every two.
        let mut alike: HashMap<(&str, Vec<u64>), Vec<usize>> = HashMap::new();
        let telling: Vec<usize> =
            (0..self.columns.len()).filter(|place| self.columns[*place].log10_chance() < limit).collect();
        let places: HashMap<usize, Places> =
            telling.iter().map(|place| (*place, self.columns[*place].places())).collect();
        for place in &telling {
            for entry in &self.columns[*place].entries {
                alike.entry(entry.bits()).or_default().push(*place);
            }
        }
        let mut found = Vec::new();
        for place in telling {
            let a = &self.columns[place];
            let others = a.entries.iter().filter_map(|entry| alike.get(&entry.bits())).flatten();
            let others: BTreeSet<usize> = others.copied().filter(|other| *other > place).collect();
            for (other, b) in others.into_iter().map(|other| (other, &self.columns[other])) {
                if !(self.is_pair)(a, b) {
                    continue;
                }
                let Shared { equal, telling } = shared(a, &places[&other]);
                let count = equal.filter(|_| log10_chance(&telling) < limit);
                found.extend(count.map(|count| columns_twice((a, b), count, &telling, pairs)));
            }
        }
        found
    }
}

impl Column<'_> {
    fn places(&self) -> Places<'_> {
        self.entries.iter().rev().map(|entry| (entry.key.as_ref(), entry.figure)).collect()
    }

    fn input(&self) -> Input {
        Input::of_row(self.first.0, self.first.1)
    }

    /// The chance for the whole column. No part of it is less likely.
    fn log10_chance(&self) -> f64 {
        let telling: BTreeSet<u64> =
            self.entries.iter().flat_map(|entry| telling(entry.figure)).map(f64::to_bits).collect();
        let d = telling.len() as f64;
        if d < 2.0 { 0.0 } else { -(d - 1.0) * d.log10() }
    }
}

impl Entry<'_> {
    /// What another column must have here to agree.
    fn bits(&self) -> (&str, Vec<u64>) {
        (self.key.as_ref(), values(self.figure).into_iter().map(f64::to_bits).collect())
    }
}

/// Whether both are response times, or both times of programs, and neither is a standard deviation.
fn is_time(a: &Quantity, b: &Quantity) -> bool {
    let spread = |quantity: &Quantity| matches!(quantity, Quantity::Latency(Moment::Sd) | Quantity::Time(Moment::Sd));
    let both = matches!((a, b), (Quantity::Latency(_), Quantity::Latency(_)) | (Quantity::Time(_), Quantity::Time(_)));
    both && !spread(a) && !spread(b)
}

/// Requests of a row, or the fewest that percentiles are computed from.
fn requests(row: &Row) -> f64 {
    let printed = row.figure(&Quantity::Requests).map(Figure::value);
    let stated = || row.conditions.requests.map(|requests| requests as f64);
    let implied = || Some(throughput(row)?.value * row.conditions.duration_s?);
    printed.or_else(stated).or_else(implied).unwrap_or(FEW_REQUESTS)
}

/// Whether at least two requests are beyond the lower of two percentiles, so that they are not both the maximum.
fn are_apart(a: &Quantity, b: &Quantity, requests: f64) -> bool {
    let share = |quantity: &Quantity| match quantity {
        Quantity::Latency(Moment::Percentile(hundredths)) | Quantity::Time(Moment::Percentile(hundredths)) => {
            f64::from(*hundredths) / 10_000.0
        }
        Quantity::Latency(Moment::Max) | Quantity::Time(Moment::Max) => 1.0,
        _ => 0.0,
    };
    requests * (1.0 - share(a).min(share(b))) >= 2.0
}

/// Whether the authors set a figure instead of measuring it.
fn is_set(row: &Row, figure: &Figure) -> bool {
    let is_open = row.conditions.loop_model == Some(LoopModel::Open);
    match figure.quantity {
        Quantity::Body | Quantity::Runs => true,
        Quantity::Throughput | Quantity::Goodput => is_open,
        Quantity::Requests => is_open || values(figure).iter().all(|requests| requests % 100.0 == 0.0),
        _ => false,
    }
}

/// Columns, and the index of each by name.
#[derive(Default)]
struct Columns<'a> {
    all: Vec<Column<'a>>,
    named: HashMap<String, usize>,
}

/// Each subject's figures over the settings.
fn by_subject<'a>(table: Option<&'a str>, rows: &[&'a Row]) -> Vec<Column<'a>> {
    let mut columns = Columns::default();
    for row in rows {
        let is_other = |figure: &&Figure| matches!(figure.quantity, Quantity::Other(_));
        for figure in row.figures.iter().filter(|figure| !is_other(figure) && !is_set(row, figure)) {
            let name = format!("{} of {}", noun(&figure.quantity), row.subject);
            columns.push((name, table), row, figure, row.scenario.as_deref().unwrap_or_default().into());
        }
    }
    columns.all
}

/// Each figure over all rows.
fn by_quantity<'a>(table: Option<&'a str>, rows: &[&'a Row]) -> Vec<Column<'a>> {
    let mut columns = Columns::default();
    for row in rows {
        for figure in row.figures.iter().filter(|figure| is_time(&figure.quantity, &figure.quantity)) {
            columns.push((noun(&figure.quantity), table), row, figure, row.name(None).into());
        }
    }
    columns.all
}

impl<'a> Columns<'a> {
    fn push(&mut self, (name, table): (String, Option<&'a str>), row: &'a Row, figure: &'a Figure, key: Cow<'a, str>) {
        let place = *self.named.entry(name.clone()).or_insert(self.all.len());
        if place == self.all.len() {
            let (kind, entries, first) = (&figure.quantity, Vec::new(), (row, figure));
            self.all.push(Column { name, table, kind, entries, first });
        }
        self.all[place].entries.push(Entry { key, figure });
    }
}

/// What two columns share.
fn shared(a: &Column, b: &Places) -> Shared {
    let (mut count, mut equal, mut of_both) = (0, true, Vec::new());
    for entry in &a.entries {
        if let Some(other) = b.get(entry.key.as_ref()) {
            equal &= values(entry.figure) == values(other);
            count += entry.figure.numbers.len();
            of_both.extend(telling(entry.figure));
        }
        if !equal {
            break;
        }
    }
    Shared { equal: equal.then_some(count), telling: of_both }
}

fn columns_twice((a, b): (&Column, &Column), count: usize, telling: &[f64], pairs: usize) -> AuditFinding {
    let distinct: BTreeSet<u64> = telling.iter().map(|value| value.to_bits()).collect();
    let d = distinct.len();
    let table = a.table.map(|table| format!(" ({table})")).unwrap_or_default();
    Draft::new(
        Law::Duplicates,
        format!("{} and {}{table}", a.name, b.name),
        format!("The {} and the {} differ.", a.name, b.name),
    )
    .with(a.input())
    .with(b.input())
    .arithmetic(format!("{d} distinct values: (1/{d})^{}; {} compared", d - 1, counted(pairs, "pair")))
    .inferring(Some("One of the two columns was probably printed in the place of the other.".to_owned()))
    .contradicted(format!(
        "The {} and the {} are the same in all {}; by chance any of so many pairs would do so in at most {}.",
        a.name,
        b.name,
        counted(count, "number"),
        chance(of_any(log10_chance(telling), pairs)),
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
