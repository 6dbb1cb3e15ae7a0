//! Findings as data: CSV and JSON. Numbers are unrounded and in base units, and no column ever changes its position.

mod comparison;
mod forecast;
mod history;
pub(crate) mod junit;
mod programs;
mod run;
mod sensitivity;
mod tidy;

pub use comparison::comparison;
pub use forecast::forecast;
pub use history::history;
pub use junit::{Judged, junit};
pub(crate) use run::run;
pub(crate) use tidy::tidy;

use std::collections::BTreeMap;

use csv::{Terminator, WriterBuilder};
use serde::Serialize;
use tolok_analysis::Estimate;
use tolok_analysis::figure::{Column, Figure, Rows};
use tolok_model::shown::visible;

/// The fields of a row by column name.
type Fields = BTreeMap<String, String>;

/// Any findings as JSON, in the format of [`schema`].
///
/// # Panics
/// If a map in the findings has keys that are not text, which no type of findings has.
pub fn json<T: Serialize + ?Sized>(found: &T) -> String {
    let mut text = serde_json::to_string_pretty(found).expect("findings have string keys and serialise");
    text.push('\n');
    text
}

/// The JSON Schema of findings as [`json`] writes them.
#[cfg(feature = "schema")]
pub fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}

/// Rows in the format of RFC 4180. A field is quoted only if necessary.
fn csv<Row: IntoIterator<Item: AsRef<str>>>(rows: impl IntoIterator<Item = Row>) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        let fields: Vec<String> = row.into_iter().map(|field| inert(field.as_ref())).collect();
        writer.write_record(fields).expect("all rows have as many fields as columns");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("all fields are text")
}

/// A field that is harmless in spreadsheets and terminals: an apostrophe precedes what would be a formula.
fn inert(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    format!("{}{}", if is_formula { "'" } else { "" }, visible(field))
}

/// A number with all its digits, or an empty field.
fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The columns of figures with their fields, which are empty without a finding.
fn columns<F>(
    rows: Rows<Figure<F>>,
    found: Option<&F>,
    is_wanted: impl Fn(&Figure<F>) -> bool,
) -> Vec<(String, String)> {
    let fields = |figure: &Figure<F>| {
        let value = found.and_then(figure.value);
        match figure.column {
            Column::None => Vec::new(),
            Column::Value(name) | Column::Last(name) => vec![(name.to_owned(), number(value.map(|it| it.value)))],
            Column::Interval(name) => {
                let ends = [value.map(|it| it.value), value.and_then(|it| it.low), value.and_then(|it| it.high)];
                let names = ["", "_low", "_high"].map(|end| format!("{name}{end}"));
                names.into_iter().zip(ends.map(number)).collect()
            }
        }
    };
    rows.iter().copied().flatten().filter(|figure| is_wanted(figure)).flat_map(fields).collect()
}

/// Whether a figure was added after all other columns.
fn is_last<F>(figure: &Figure<F>) -> bool {
    matches!(figure.column, Column::Last(_))
}

/// The three columns of an estimate: its plain name, and with `_low` and `_high`.
fn estimate(name: &str, estimate: Option<&Estimate>) -> [(String, String); 3] {
    let ends = [estimate.map(|it| it.value), estimate.and_then(|it| it.low), estimate.and_then(|it| it.high)];
    let [value, low, high] = ends.map(number);
    [(name.to_owned(), value), (format!("{name}_low"), low), (format!("{name}_high"), high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_would_be_misread_is_quoted() {
        let check = |field: &str, written: &str| assert_eq!(csv([["a", field]]), format!("a,{written}\r\n"));
        check("Go net/http", "Go net/http");
        check("closed loop, 64", "\"closed loop, 64\"");
        check("a \"b\"", "\"a \"\"b\"\"\"");
        check("two\nlines", "\"two\nlines\"");
        check("", "");
    }

    #[test]
    fn no_field_is_a_formula() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)"] {
            assert_eq!(inert(formula), format!("'{formula}"));
        }
        for plain in ["-0.5", "+1e9", "-inf", "a=b", "json-c64", ""] {
            assert_eq!(inert(plain), plain);
        }
        assert_eq!(inert("\t=1\u{1b}[2J\u{202e}"), "␉=1␛[2J�");
    }
}
