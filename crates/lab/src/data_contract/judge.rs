//! How a driver represents each type: its answer to the fidelity workload, compared with the table's true content.

use serde_json::value::RawValue;
use tolok_model::Wire;
use tolok_model::fidelity::{ColumnVerdict, Verdict};

use super::document::{Kind, elements, fields, kind, parse, text};
use super::fidelity::{Column, Expected, ROW_COUNT, columns};
use super::judge_value::judge_value;

/// The result for each type in this answer to the fidelity workload, or why it is not such an answer. `wire` selects the table.
pub fn judge_fidelity(body: &[u8], wire: Wire) -> Result<Vec<ColumnVerdict>, String> {
    let document = parse(body).ok_or_else(|| format!("the {} bytes of the answer are no JSON", body.len()))?;
    let given = elements(document).ok_or_else(|| format!("{} instead of an array of rows", kind(document)))?;
    if given.len() != ROW_COUNT {
        return Err(format!("{} rows instead of {ROW_COUNT}", given.len()));
    }
    let rows: Option<Vec<_>> = given.into_iter().map(fields).collect();
    let rows = rows.ok_or("a row that is no object")?;
    let column = |column: Column| {
        let value = |row: &[(String, &'_ RawValue)]| row.iter().position(|(field, _)| field == column.name);
        let tokens = rows.iter().map(|row| value(row).map(|position| row[position].1));
        let judged = column.values.into_iter().zip(tokens).map(|(expected, token)| Judged::new(expected, token));
        judge_column(&column, &judged.collect::<Vec<_>>())
    };
    Ok(columns(wire).into_iter().map(column).collect())
}

/// A value, its representation in the answer, and the judgement.
struct Judged<'a> {
    expected: Expected,
    token: Option<&'a RawValue>,
    verdict: Verdict,
}

impl<'a> Judged<'a> {
    fn new(expected: Expected, token: Option<&'a RawValue>) -> Self {
        let verdict = token.map_or(Verdict::Lost, |token| judge_value(&expected, token));
        Self { expected, token, verdict }
    }

    /// Whether the value can be recovered.
    fn is_intact(&self) -> bool {
        self.verdict.damage().is_none()
    }

    /// The form of a value that is present, or `None` if it shows no form.
    fn form(&self) -> Option<String> {
        let token = self.token?;
        match &self.verdict {
            Verdict::Lost => None,
            Verdict::Reformatted(form) => Some(form.clone()),
            _ if matches!(self.expected, Expected::Null | Expected::Bytes([])) => None,
            _ => Some(kind(token).to_string()),
        }
    }
}

fn judge_column(column: &Column, judged: &[Judged<'_>]) -> ColumnVerdict {
    let worst = judged.iter().map(|judged| &judged.verdict).max().cloned().unwrap_or(Verdict::Lost);
    let sentence = if judged.iter().all(|judged| judged.token.is_none()) {
        "left out".to_owned()
    } else {
        sentence(judged, column.awkward, &worst)
    };
    let awkward = printed(&judged[column.awkward].expected);
    ColumnVerdict { column: column.name, sql_type: column.sql_type, awkward, worst, sentence }
}

/// The forms of these values, each listed once.
fn forms<'a>(judged: impl Iterator<Item = &'a Judged<'a>>) -> Vec<String> {
    let mut forms: Vec<String> = Vec::new();
    for form in judged.filter_map(Judged::form) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms
}

fn sentence(judged: &[Judged<'_>], awkward: usize, worst: &Verdict) -> String {
    // If some values of a type are damaged, the others show its form.
    let intact = forms(judged.iter().filter(|judged| judged.is_intact()));
    let forms = if intact.is_empty() { forms(judged.iter()) } else { intact };
    let mut sentence = forms.join(" or ");
    if forms.len() > 1 {
        sentence += ", depending on the value";
    }
    if matches!(worst, Verdict::Exact | Verdict::AsString) {
        sentence += ", exact";
    }
    for word in ["rounded", "lost", "altered"] {
        // Prefer the same value as example for all drivers, so that they can be compared.
        let examples = judged[awkward..=awkward].iter().chain(judged);
        if let Some(example) = examples.into_iter().find(|judged| judged.verdict.damage() == Some(word)) {
            let separator = if sentence.is_empty() { "" } else { ", " };
            let given = example.token.map_or_else(|| "nothing".to_owned(), given);
            sentence += &format!("{separator}{word}: {} became {}", printed(&example.expected), shortened(&given));
        }
    }
    sentence
}

/// A given value in readable form. Encoders escape text in different ways that mean the same.
fn given(token: &RawValue) -> String {
    if kind(token) == Kind::Text { format!("{:?}", text(token)) } else { token.get().to_owned() }
}

/// A value in readable form.
fn printed(expected: &Expected) -> String {
    match expected {
        Expected::Null => "NULL".to_owned(),
        Expected::Flag(flag) => u8::from(*flag).to_string(),
        Expected::Truth(truth) => truth.to_string(),
        Expected::Double(number) if number.is_infinite() => number.to_string().replace("inf", "Infinity"),
        Expected::Double(number) => short(&number.to_string(), &format!("{number:e}")),
        Expected::Float(number) => short(&number.to_string(), &format!("{number:e}")),
        Expected::Bytes(bytes) => bytes.iter().fold("0x".to_owned(), |hex, byte| hex + &format!("{byte:02X}")),
        Expected::Text(text) => shortened(&format!("{text:?}")),
        Expected::Whole(text) | Expected::Decimal(text) | Expected::Json(text) => (*text).to_owned(),
        Expected::Day(text) | Expected::Moment(text) | Expected::Time(text) => (*text).to_owned(),
        Expected::Instant(text) | Expected::Interval(text) | Expected::Array(text, _) => (*text).to_owned(),
    }
}

/// The shorter of two spellings.
fn short(plain: &str, scientific: &str) -> String {
    if plain.len() <= 20 { plain.to_owned() } else { scientific.to_owned() }
}

/// The quoted part of a value: enough to recognise it.
fn shortened(token: &str) -> String {
    const CHARACTERS: usize = 60;
    let shown: String = token.chars().take(CHARACTERS).collect();
    if shown.len() < token.len() { shown + "…" } else { shown }
}
