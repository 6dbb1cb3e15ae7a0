//! The work of a response, as a source states it.

use serde::Serialize;

use super::{Mark, Number, parse_number};
use crate::units::parse_bytes;

/// The work of one response: an amount, and what it is an amount of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    /// The product of its numbers: 400,000.
    pub amount: f64,
    /// What they count: `rows × fields`, or `bytes`.
    pub of: String,
    /// As in the file: `10000 rows × 40 fields`.
    pub printed: String,
}

pub(super) const EXAMPLES: &str = "numbers and what they count: \"10000 rows × 40 fields\", \"20 queries\", \"5MB\"";

impl Work {
    /// Reads `10000 rows × 40 fields`, `10k rows`, `20 queries` or `5MB`.
    pub(super) fn parse(printed: &str) -> Option<Self> {
        let spelled = printed.replace(" x ", "×");
        let counts: Vec<(f64, &str)> = spelled.split('×').map(count).collect::<Option<_>>()?;
        let amount: f64 = counts.iter().map(|(number, _)| number).product();
        let of = counts.iter().map(|(_, what)| *what).collect::<Vec<_>>().join(" × ");
        (amount.is_finite() && amount > 0.0).then(|| Self { amount, of, printed: printed.to_owned() })
    }

    /// What it counts, spelt alike for `1 Query` and `20 queries`. Only work of one kind can be compared.
    pub fn kind(&self) -> String {
        self.of.to_lowercase().split(' ').map(singular).collect::<Vec<_>>().join(" ")
    }
}

/// One number and what it counts. Sizes are in bytes, because a source may print one in kB and the next in MB.
fn count(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    if let Some(bytes) = parse_bytes(text) {
        return Some((bytes, "bytes"));
    }
    let (digits, what) = text.split_once(' ')?;
    let what = what.trim_start();
    let Number { value, mark, .. } = parse_number(digits, 1.0)?;
    let is_word = what.starts_with(char::is_alphabetic) && !what.contains(|letter: char| letter.is_ascii_digit());
    (is_word && matches!(mark, Mark::Plain | Mark::About) && value > 0.0).then_some((value, what))
}

fn singular(word: &str) -> String {
    let is_plural = !word.ends_with("us") && !word.ends_with("ss");
    match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        (_, Some(stem)) if is_plural => stem.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(printed: &str) -> Option<(f64, String)> {
        Work::parse(printed).map(|work| (work.amount, work.kind()))
    }

    #[test]
    fn numbers_are_multiplied_and_words_say_what_they_count() {
        let cells = Some((400_000.0, "row × field".to_owned()));
        assert_eq!(read("10000 rows × 40 fields"), cells);
        assert_eq!(read("10k rows x 40 fields"), cells);
        assert_eq!(read("1 query"), Some((1.0, "query".to_owned())));
        assert_eq!(read("20 Queries"), Some((20.0, "query".to_owned())));
        assert_eq!(read("~1000 asynchronous tasks"), Some((1000.0, "asynchronous task".to_owned())));
    }

    #[test]
    fn sizes_in_any_unit_are_of_one_kind() {
        assert_eq!(read("534kB"), Some((534_000.0, "byte".to_owned())));
        assert_eq!(read("5 MB"), Some((5e6, "byte".to_owned())));
    }

    #[test]
    fn an_amount_of_nothing_named_is_refused() {
        for wrong in ["400000", "rows", "10,000 rows", "0 rows", "-5 rows", "10 rows × 40", "> 10 rows", "10 20", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read(&vec!["999999999999999999999999999999 rows"; 20].join("×")), None, "more than a float holds");
    }
}
