//! Checks figures that are printed in two tables.

use std::collections::HashMap;

use tolok_model::transcription::{Figure, Mark, Quantity, Row, Transcription};

use super::Entry;
use crate::draft::Draft;
use crate::range::Range;
use crate::wording::{counted, noun, quoted};
use crate::{AuditFinding, Law};

/// A figure as two tables print it.
type Twice<'a> = (Entry<'a>, Entry<'a>);

/// Compares every two tables that print the same quantity for the same subject, setting and conditions. Two tables may
/// come from different runs, so differing figures alone contradict nothing.
pub(super) fn check(transcription: &Transcription) -> Vec<AuditFinding> {
    let mut pairs: Vec<(Names, Vec<Twice>)> = Vec::new();
    let mut uncompared: Vec<((Names, &str), Vec<Twice>)> = Vec::new();
    let rows = &transcription.rows;
    // Only rows of one subject and setting can print the same figures, and only in several tables.
    let mut alike: HashMap<(&str, Option<&str>), Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        alike.entry((row.subject.as_str(), row.scenario.as_deref())).or_default().push(index);
    }
    alike.retain(|_, places| places.iter().any(|place| rows[*place].table != rows[places[0]].table));
    for (index, first) in rows.iter().enumerate() {
        let Some(places) = alike.get(&(first.subject.as_str(), first.scenario.as_deref())) else { continue };
        for second in places.iter().filter(|place| **place > index).map(|place| &rows[*place]) {
            let Some(names) = two_tables(first, second) else { continue };
            let why = incomparable(first, second);
            let shared = first.figures.iter().filter(|figure| !matches!(figure.quantity, Quantity::Other(_)));
            let shared: Vec<Twice> = shared
                .filter_map(|figure| Some(((first, figure), (second, second.figure(&figure.quantity)?))))
                .collect();
            match why {
                None => add(&mut pairs, names, shared),
                Some(why) => add(&mut uncompared, (names, why), shared.into_iter().filter(differs).collect()),
            }
        }
    }
    let told = pairs.iter().flat_map(|(names, shared)| compare(transcription, *names, shared));
    told.chain(uncompared.iter().map(|((names, why), shared)| not_compared(*names, why, shared))).collect()
}

/// The names of two tables.
type Names<'a> = (&'a str, &'a str);

fn add<'a, K: PartialEq>(pairs: &mut Vec<(K, Vec<Twice<'a>>)>, key: K, shared: Vec<Twice<'a>>) {
    match pairs.iter_mut().find(|(known, _)| *known == key) {
        _ if shared.is_empty() => {}
        Some((_, all)) => all.extend(shared),
        None => pairs.push((key, shared)),
    }
}

fn two_tables<'a>(a: &'a Row, b: &'a Row) -> Option<Names<'a>> {
    let (of_a, of_b) = (a.table.as_deref()?, b.table.as_deref()?);
    (a.subject == b.subject && a.scenario == b.scenario && of_a != of_b).then_some((of_a, of_b))
}

/// Why figures of two rows of a subject may differ, if they may.
fn incomparable(a: &Row, b: &Row) -> Option<&'static str> {
    match (a.scenario.is_some(), a.conditions.agrees_with(&b.conditions)) {
        (true, true) => None,
        (_, false) => Some("the source states other conditions for each"),
        (false, true) => Some("the source names no setting of either"),
    }
}

/// Reports what two tables print about the same subjects but was not compared.
fn not_compared((a, b): Names, why: &str, shared: &[Twice]) -> AuditFinding {
    let statement = format!("{a} and {b} print the same figures where they print the same quantity.");
    let number = counted(shared.len(), "figure");
    Draft::new(Law::Claims, format!("{a} and {b}"), statement)
        .figures(shared.iter().flat_map(|(one, other)| [*one, *other]))
        .lacks(["whether both tables are of the same runs"])
        .cannot_tell(format!("{number} that both tables print and that differ were not compared, because {why}."))
}

fn differs((one, other): &Twice) -> bool {
    let ((_, one), (_, other)) = (one, other);
    !Range::of(one).meets(Range::of(other)) || other_digits(one, other)
}

/// Whether plain numbers with equally many digits differ. 19.3 and 19.4 could only be equal at the very edge of both.
fn other_digits(one: &Figure, other: &Figure) -> bool {
    let ([one_number], [other_number]) = (one.numbers.as_slice(), other.numbers.as_slice()) else { return false };
    let plain = one_number.mark == Mark::Plain && other_number.mark == Mark::Plain;
    let as_exact = one.unit == other.unit && one_number.decimals == other_number.decimals;
    plain && as_exact && (one_number.value - other_number.value).abs() > one_number.half_unit
}

fn compare(transcription: &Transcription, (a, b): Names, shared: &[Twice]) -> Vec<AuditFinding> {
    let statement = format!("{a} and {b} print the same figures where they print the same quantity.");
    let draft = |about: String| Draft::new(Law::Claims, about, statement.clone());
    let off: Vec<&Twice> = shared.iter().filter(|twice| differs(twice)).collect();
    if off.is_empty() {
        let number = counted(shared.len(), "figure");
        let (are, verb) = if shared.len() == 1 { ("is", "agrees") } else { ("are", "agree") };
        let sentence = format!("The {number} that {are} printed in both {verb}.");
        let inputs = shared.iter().flat_map(|(one, other)| [*one, *other]);
        return vec![draft(format!("{a} and {b}")).figures(inputs).holds(sentence)];
    }
    let one = |((row, one), (other_row, other)): &Twice| {
        let (left, right, what) = (quoted(one), quoted(other), noun(&one.quantity));
        draft(format!("{what} of {}", row.name(None)))
            .figure(row, one)
            .figure(other_row, other)
            .arithmetic(format!("{left} in {a}, {right} in {b}"))
            .lacks(["whether both tables are of the same runs"])
            .cannot_tell(format!(
                "The {what} of {} is {left}, but {right} in {b}; the source does not say why.",
                transcription.row_name(row)
            ))
    };
    off.into_iter().map(one).collect()
}
