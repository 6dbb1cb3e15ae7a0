//! Findings as data: CSV and JSON. Numbers are unrounded and in base units, and no column is ever moved.

mod comparison;
mod forecast;
mod programs;
mod run;
mod sensitivity;
mod tidy;

pub use comparison::comparison;
pub use forecast::forecast;
pub(crate) use run::run;
pub(crate) use tidy::tidy;

use std::collections::BTreeMap;

use csv::{Terminator, WriterBuilder};
use schemars::JsonSchema;
use serde::Serialize;
use tolok_analysis::Estimate;

/// The fields of a row by the names of their columns.
type Fields = BTreeMap<String, String>;

/// Any findings as JSON, as [`schema`] describes them.
///
/// # Panics
/// If a map in the findings has keys that are no text, which no type of findings has.
pub fn json<T: Serialize + ?Sized>(found: &T) -> String {
    let mut text = serde_json::to_string_pretty(found).expect("findings have text as keys, and no value can fail");
    text.push('\n');
    text
}

/// The JSON Schema of findings as [`json`] writes them.
pub fn schema<T: JsonSchema>() -> serde_json::Value {
    schemars::schema_for!(T).to_value()
}

/// Rows as RFC 4180 has them. A field is quoted only where it would be misread.
fn csv<Row: IntoIterator<Item: AsRef<[u8]>>>(rows: impl IntoIterator<Item = Row>) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    rows.into_iter().for_each(|row| writer.write_record(row).expect("all rows have as many fields as columns"));
    let bytes = writer.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("all fields are text")
}

/// A number with all its digits, or an empty field.
fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The three columns of an estimate: its name alone, and with `_low` and `_high`.
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
}
