//! The correct answers, computed without a database.
//!
//! JSON without whitespace; fields in the order of the columns; text in UTF-8, of which only `"` and `\` are escaped; decimal
//! numbers and dates as strings; no newline at the end.

use std::io::Write;
use std::iter;

use super::columns::Rows;
use super::content::{Value, row};

/// Modulus and factor of the generator that turns a seed into numbers (Park and Miller, 1988): small enough for
/// the numbers of every runtime.
const MODULUS: u64 = 2_147_483_647;
const FACTOR: u64 = 16_807;

/// The first `limit` rows of the table with `fields` columns, or all if it has fewer, or `None` if there is no such table.
pub fn rows_body(fields: u32, limit: u32) -> Option<Vec<u8>> {
    let table = Rows::ALL.into_iter().find(|table| table.columns().count() == fields as usize)?;
    Some(array(table, 1..=limit.min(table.count())))
}

/// The row of the table with 40 columns that has this key, or `None` if there is none.
pub fn query_body(id: u32) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    (1..=Rows::Narrow.count()).contains(&id).then(|| write_object(&mut body, Rows::Narrow, id))?;
    Some(body)
}

/// The `n` rows of the table with 40 columns whose keys follow from `seed`.
pub fn queries_body(n: u32, seed: u32) -> Vec<u8> {
    array(Rows::Narrow, keys(n, seed))
}

/// The keys that follow from a seed.
fn keys(n: u32, seed: u32) -> impl Iterator<Item = u32> {
    lehmer(seed).take(n as usize).map(|number| 1 + (number % u64::from(Rows::Narrow.count())) as u32)
}

/// The numbers that follow from a seed, without the seed itself.
pub(crate) fn lehmer(seed: u32) -> impl Iterator<Item = u64> {
    iter::successors(Some(u64::from(seed)), |number| Some(number * FACTOR % MODULUS)).skip(1)
}

fn array(table: Rows, keys: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut body = vec![b'['];
    for (index, key) in keys.enumerate() {
        if index > 0 {
            body.push(b',');
        }
        write_object(&mut body, table, key);
    }
    body.push(b']');
    body
}

fn write_object(body: &mut Vec<u8>, table: Rows, key: u32) {
    let mut before = b'{';
    for (column, value) in row(table, key) {
        body.extend([before, b'"']);
        body.extend(column.name.as_bytes());
        body.extend(b"\":");
        match value {
            Value::Null => body.extend(b"null"),
            Value::Whole(number) => write!(body, "{number}").expect("writing to a vector cannot fail"),
            Value::Text(text) => write_string(body, &text),
        }
        before = b',';
    }
    body.push(b'}');
}

fn write_string(body: &mut Vec<u8>, text: &str) {
    body.push(b'"');
    if text.as_bytes().contains(&b'"') || text.as_bytes().contains(&b'\\') {
        for byte in text.bytes() {
            if byte == b'"' || byte == b'\\' {
                body.push(b'\\');
            }
            body.push(byte);
        }
    } else {
        body.extend(text.as_bytes());
    }
    body.push(b'"');
}
