//! Checks figures that a text repeats from its tables.

use tolok_model::transcription::{Claim, Figure, Mark, Number, Quantity, Row, Selector, Transcription, Unit};

use super::{Entry, draft, without_rows};
use crate::range::Range;
use crate::wording::{amount, listed, noun, printed, quoted};
use crate::{AuditFinding, AuditVerdict};

/// Checks that figures have a value, or span a range.
pub(super) fn value(
    transcription: &Transcription,
    claim: &Claim,
    (quantity, unit): (&Quantity, Unit),
    at: &Selector,
    is: &Number,
) -> AuditFinding {
    let what = noun(quantity);
    let of = at.subject.as_deref().map(|subject| format!(" of {subject}")).unwrap_or_default();
    let entries: Vec<Entry> =
        transcription.rows_of(at).filter_map(|row| row.figure(quantity).map(|figure| (row, figure))).collect();
    let statement = format!("The {what}{of} is {}.", in_words(is, unit));
    if entries.is_empty() {
        return without_rows(transcription, claim, statement, (quantity, &[at]));
    }
    match is.mark {
        Mark::Between { low, high } if several(&entries) => {
            let statement = format!("The {what}{of} goes from {}.", in_words(is, unit));
            let ends = Range::ends_of_text(low, high, is.half_unit);
            range(transcription, claim, statement, &entries, (is, unit), ends)
        }
        _ => each(transcription, claim, statement, &entries, is, unit),
    }
}

/// A number of the text, with its unit.
fn in_words(is: &Number, unit: Unit) -> String {
    let one = amount(unit.factor(), unit);
    format!("{}{}", printed(is), one.trim_start_matches('1'))
}

/// Whether there is more than one value that a range could span.
fn several(entries: &[Entry]) -> bool {
    let numbers: Vec<&Number> = entries.iter().flat_map(|(_, figure)| &figure.numbers).collect();
    numbers.len() > 1 || numbers.iter().any(|number| matches!(number.mark, Mark::Between { .. }))
}

/// Checks that each figure is what the text says.
fn each(
    transcription: &Transcription,
    claim: &Claim,
    statement: String,
    entries: &[Entry],
    is: &Number,
    unit: Unit,
) -> AuditFinding {
    let text = Range::of_text(is, unit.factor());
    let judged: Vec<(Entry, AuditVerdict)> =
        entries.iter().map(|&entry| (entry, Range::of(entry.1).agrees(text))).collect();
    let verdict = AuditVerdict::of_all(judged.iter().map(|(_, verdict)| *verdict));
    let in_table = |(row, figure): Entry| format!("{} for {}", quoted(figure), transcription.row_name(row));
    let decisive: Vec<String> =
        judged.iter().filter(|(_, of_it)| *of_it == verdict).map(|(entry, _)| in_table(*entry)).collect();
    let (words, list) = (in_words(is, unit), listed(&decisive));
    let sentence = match verdict {
        AuditVerdict::Holds => format!("The table has {list}, as the text says ({words})."),
        AuditVerdict::Contradicted => format!("The text says {words}; the table has {list}."),
        AuditVerdict::CannotTell | AuditVerdict::FewerUsers => {
            format!("The table has {list}, which allows {words} and other values.")
        }
    };
    draft(claim, statement)
        .claim(claim, &is.printed)
        .figures(entries.iter().copied())
        .arithmetic(format!(
            "{words} against {}",
            listed(&entries.iter().map(|&entry| in_table(entry)).collect::<Vec<_>>())
        ))
        .found(verdict, sentence)
}

/// The lowest and highest of some values, each with its row.
struct Reach<'a> {
    lowest: (&'a Row, Range, f64),
    highest: (&'a Row, Range, f64),
}

/// Checks that the range begins and ends where the figures do, either as means or one by one.
fn range(
    transcription: &Transcription,
    claim: &Claim,
    statement: String,
    entries: &[Entry],
    (is, unit): (&Number, Unit),
    (low, high): (Range, Range),
) -> AuditFinding {
    let of_means = reach(entries.iter().flat_map(|&(row, figure)| ends_of(row, figure)));
    let of_readings = reach(entries.iter().flat_map(|&(row, figure)| readings(row, figure)));
    let fits = |reach: &Reach| AuditVerdict::of_all([reach.lowest.1.agrees(low), reach.highest.1.agrees(high)]);
    let (Some(means), Some(singles)) = (of_means, of_readings) else {
        return without_rows(transcription, claim, statement, (&entries[0].1.quantity, &[]));
    };
    let (verdict, reach) = match (fits(&means), fits(&singles)) {
        (AuditVerdict::Contradicted, AuditVerdict::Contradicted) => (AuditVerdict::Contradicted, &means),
        (AuditVerdict::Contradicted, other) => (other, &singles),
        (other, _) => (other, &means),
    };
    let end =
        |(row, _, value): (&Row, Range, f64)| format!("{} for {}", amount(value, unit), transcription.row_name(row));
    let (from, to) = (end(reach.lowest), end(reach.highest));
    let words = in_words(is, unit);
    let note = inside(reach, low, high);
    let sentence = match verdict {
        AuditVerdict::Holds => format!("The figures go from {from} to {to}, as the text says ({words})."),
        AuditVerdict::Contradicted => format!("The text says {words}; the table goes from {from} to {to}.{note}"),
        AuditVerdict::CannotTell | AuditVerdict::FewerUsers => {
            format!("The figures, from {from} to {to}, allow {words} and other ranges.")
        }
    };
    let astray = [(low, reach.lowest.1), (high, reach.highest.1)];
    let inference = astray
        .into_iter()
        .filter(|(text, found)| !text.meets(*found))
        .find_map(|(text, _)| elsewhere(transcription, entries, text, unit));
    draft(claim, statement)
        .claim(claim, &is.printed)
        .figures(entries.iter().copied())
        .arithmetic(format!("lowest {from}, highest {to}; the text: {words}"))
        .inferring(inference.filter(|_| verdict == AuditVerdict::Contradicted))
        .found(verdict, sentence)
}

/// If all figures are within the text's range: which of its ends they do not reach.
fn inside(reach: &Reach, low: Range, high: Range) -> &'static str {
    let (short_of_low, short_of_high) = (reach.lowest.1.low > low.high, reach.highest.1.high < high.low);
    match (short_of_low, short_of_high) {
        _ if reach.lowest.1.high < low.low || reach.highest.1.low > high.high => "",
        (true, true) => " All figures lie within the text's range, but none near its ends.",
        (true, false) => " All figures lie within the text's range, but none is as low as it begins.",
        (false, true) => " All figures lie within the text's range, but none is as high as it ends.",
        (false, false) => "",
    }
}

/// A figure's value; for a printed range, its ends.
fn ends_of<'a>(row: &'a Row, figure: &Figure) -> Vec<(&'a Row, Range, f64)> {
    match figure.numbers.as_slice() {
        [one] => of_number(row, one),
        _ => vec![(row, Range::of(figure), figure.value())],
    }
}

fn readings<'a>(row: &'a Row, figure: &Figure) -> Vec<(&'a Row, Range, f64)> {
    figure.numbers.iter().flat_map(|number| of_number(row, number)).collect()
}

fn of_number<'a>(row: &'a Row, number: &Number) -> Vec<(&'a Row, Range, f64)> {
    let half = number.half_unit;
    match number.mark {
        Mark::Between { low, high } => {
            [low, high].map(|end| (row, Range::between(end - half, end + half), end)).to_vec()
        }
        _ => vec![(row, Range::of_number(number), number.value)],
    }
}

fn reach<'a>(values: impl Iterator<Item = (&'a Row, Range, f64)>) -> Option<Reach<'a>> {
    let all: Vec<(&Row, Range, f64)> = values.collect();
    let lowest = *all.iter().min_by(|a, b| a.2.total_cmp(&b.2))?;
    let highest = *all.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(Reach { lowest, highest })
}

/// Where the rows have the text's number in another column.
fn elsewhere(transcription: &Transcription, entries: &[Entry], text: Range, unit: Unit) -> Option<String> {
    entries.iter().find_map(|&(row, own)| {
        let others = row.figures.iter().filter(|figure| figure.key != own.key && figure.unit == unit);
        let other = others.into_iter().find(|figure| Range::of(figure).is_within(text))?;
        let (value, what) = (quoted(other), noun(&other.quantity));
        let name = transcription.row_name(row);
        Some(format!("{value} is the {what} of {name}: the range seems to mix two columns."))
    })
}
