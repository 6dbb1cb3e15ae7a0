//! Writes rows as TOML, and reads them as a transcription.

use std::sync::Arc;

use tolok_model::Problem;
use tolok_model::transcription::{Conditions, Transcription, figure_key};

use crate::row::{Figure, Row};

/// Rows in the form of a transcription. `heads` has a comment for each row, which says where it comes from.
pub fn rows_in_toml(rows: &[Row], heads: &[String]) -> String {
    let heads = heads.iter().map(String::as_str).chain(std::iter::repeat(""));
    rows.iter().zip(heads).map(|(row, head)| row_in_toml(row, head)).collect::<Vec<_>>().join("\n")
}

/// A key of `[method]` given as `key=value`, as TOML.
pub fn setting_in_toml(option: &str) -> String {
    let (key, value) = option.split_once('=').unwrap_or((option, ""));
    let (key, value) = (key.trim(), value.trim());
    let is_bare = value.parse::<f64>().is_ok() || value == "true" || value == "false";
    format!("{key} = {}", if is_bare { value.to_owned() } else { quoted(value) })
}

/// The rows as a transcription, whose line numbers are those of the source text. `method` completes their conditions.
///
/// # Errors
///
/// The problems of the generated TOML, which would be a bug in this crate.
pub fn transcription(rows: &[Row], key: &str, title: &str, method: &Conditions) -> Result<Transcription, Vec<Problem>> {
    let text = format!("title = {}\n\n{}", quoted(title), rows_in_toml(rows, &[]));
    let mut read = Transcription::read(&text, key)?;
    for (row, from) in read.rows.iter_mut().zip(rows) {
        row.line = from.line;
        let conditions = Arc::make_mut(&mut row.conditions);
        *conditions = std::mem::take(conditions).within(method);
    }
    read.conditions = method.clone();
    Ok(read)
}

fn row_in_toml(row: &Row, head: &str) -> String {
    let mut lines: Vec<String> = head.lines().map(|line| format!("# {line}")).collect();
    lines.push("[[row]]".to_owned());
    lines.extend(row.table.as_ref().map(|table| format!("table = {}", quoted(table))));
    lines.push(format!("subject = {}", quoted(&row.subject)));
    for setting in &row.settings {
        let comment = setting.comment.as_ref().map(|comment| format!("  # {comment}")).unwrap_or_default();
        lines.push(format!("{} = {}{comment}", setting.key, setting.value));
    }
    let (known, other): (Vec<&Figure>, Vec<&Figure>) =
        row.figures.iter().partition(|figure| figure_key(&figure.key).is_some());
    lines.extend(known.iter().map(|figure| figure_in_toml(&figure.key, figure)));
    if !row.raw.is_empty() {
        lines.push("raw = [".to_owned());
        lines.extend(row.raw.iter().map(|line| format!("  {},", quoted(line))));
        lines.push("]".to_owned());
    }
    if !other.is_empty() {
        lines.push("\n[row.other]".to_owned());
        lines.extend(other.iter().map(|figure| figure_in_toml(&name(&figure.key), figure)));
    }
    lines.join("\n") + "\n"
}

fn figure_in_toml(key: &str, figure: &Figure) -> String {
    let numbers: Vec<String> = figure.numbers.iter().map(|number| number_in_toml(number)).collect();
    let comment = figure.comment.map(|comment| format!("  # {comment}")).unwrap_or_default();
    match numbers.as_slice() {
        [one] => format!("{key} = {one}{comment}"),
        several => format!("{key} = [{}]{comment}", several.join(", ")),
    }
}

/// The number as TOML, in quotes if TOML does not accept its digits.
fn number_in_toml(number: &str) -> String {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let begins_well = whole == "0" || !whole.starts_with('0');
    let is_bare = are_digits(whole) && are_digits(decimals) && begins_well && whole.len() < 18;
    if is_bare { number.to_owned() } else { quoted(number) }
}

/// A key, in quotes if necessary.
fn name(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { key.to_owned() } else { quoted(key) }
}

/// A text on one line, in quotes.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(on_one_line(text)).to_string()
}

/// Replaces each control character except the tab with a blank.
pub(crate) fn on_one_line(text: &str) -> String {
    let is_plain = |letter: char| !letter.is_control() || letter == '\t';
    text.chars().map(|letter| if is_plain(letter) { letter } else { ' ' }).collect()
}
