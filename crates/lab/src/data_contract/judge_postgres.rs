//! Compares values of types that only PostgreSQL has.

use serde_json::Value;
use serde_json::value::RawValue;
use tolok_model::fidelity::Verdict;

use super::difference::is_same_value;
use super::document::{Kind, fields, kind, parse, text};
use super::judge_value::{is_near_value, moment, reformatted};
use Verdict::{Altered, AsString, Exact, Rounded};

pub(super) fn truth(owed: bool, token: &RawValue) -> Verdict {
    match (token.get(), owed) {
        ("true", true) | ("false", false) => Exact,
        ("\"true\"", true) | ("\"false\"", false) => AsString,
        ("\"t\"", true) | ("\"f\"", false) => reformatted("the letter t or f"),
        ("1", true) | ("0", false) => reformatted("1 or 0"),
        _ => Altered(token.get().to_owned()),
    }
}

/// A moment with its time zone. PostgreSQL writes it in the session's zone.
pub(super) fn instant(owed: &str, token: &RawValue) -> Verdict {
    let given = text(token);
    if given.strip_suffix("+00") == Some(owed) {
        Exact
    } else if given == owed && !owed.ends_with("infinity") {
        reformatted("a string without the zone")
    } else {
        moment(owed, token)
    }
}

pub(super) fn interval(owed: &str, token: &RawValue) -> Verdict {
    let altered = || Altered(token.get().to_owned());
    let Some(length) = Length::read(owed) else { return altered() };
    if kind(token) == Kind::Object {
        return match Length::of_fields(token) {
            Some(given) if given == length => reformatted("an object with a field per unit"),
            Some(given) if given.is_near(length) => Rounded(token.get().to_owned()),
            _ => altered(),
        };
    }
    let given = text(token);
    if given == owed {
        return Exact;
    }
    let (read, form) = match given.strip_prefix('P') {
        Some(rest) => (Length::read_iso(rest), "a duration in ISO form"),
        None => (Length::read(&given), "a string with other words"),
    };
    match read {
        Some(read) if read == length => reformatted(form),
        Some(read) if read.is_near(length) => Rounded(token.get().to_owned()),
        _ => altered(),
    }
}

/// A length of time. Its parts stay separate, because months and days differ in length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Length {
    months: i64,
    days: i64,
    microseconds: i64,
}

impl Length {
    /// Adds `number` of a unit. Only the first letters of its name matter. Saturates, because servers may answer any number.
    fn add(&mut self, number: &str, unit: &str) -> Option<()> {
        const MICROSECONDS: [(&str, f64); 5] =
            [("milli", 1e3), ("micro", 1.0), ("hour", 3.6e9), ("min", 6e7), ("sec", 1e6)];
        if let Some((_, length)) = MICROSECONDS.iter().find(|(name, _)| unit.starts_with(name)) {
            let microseconds = (number.parse::<f64>().ok()? * length).round() as i64;
            self.microseconds = self.microseconds.saturating_add(microseconds);
        } else {
            let number = number.parse::<i64>().ok()?;
            match unit.get(..3)? {
                "yea" => self.months = self.months.saturating_add(number.saturating_mul(12)),
                "mon" => self.months = self.months.saturating_add(number),
                "day" => self.days = self.days.saturating_add(number),
                _ => return None,
            }
        }
        Some(())
    }

    /// Reads `1 year 2 mons 3 days 04:05:06.789`.
    fn read(written: &str) -> Option<Self> {
        let mut length = Self::default();
        let mut words = written.split(' ');
        while let Some(word) = words.next() {
            let Some((hours, rest)) = word.split_once(':') else {
                length.add(word, words.next()?)?;
                continue;
            };
            let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "0"));
            let sign = if hours.starts_with('-') { "-" } else { "" };
            length.add(hours.trim_start_matches('+'), "hours")?;
            length.add(&format!("{sign}{minutes}"), "minutes")?;
            length.add(&format!("{sign}{seconds}"), "seconds")?;
        }
        Some(length)
    }

    /// Reads `1Y2M3DT4H5M6.789S`.
    fn read_iso(written: &str) -> Option<Self> {
        let (date, time) = written.split_once('T').unwrap_or((written, ""));
        let mut length = Self::default();
        for (part, units) in
            [(date, [('Y', "year"), ('M', "month"), ('D', "day")]), (time, [('H', "hour"), ('M', "min"), ('S', "sec")])]
        {
            for piece in part.split_inclusive(char::is_alphabetic) {
                let letter = piece.chars().next_back()?;
                let (_, unit) = units.into_iter().find(|(name, _)| *name == letter)?;
                length.add(piece.trim_end_matches(letter), unit)?;
            }
        }
        Some(length)
    }

    /// Reads `{"days": 3, "milliseconds": 6.5}`.
    fn of_fields(token: &RawValue) -> Option<Self> {
        let mut length = Self::default();
        for (unit, number) in fields(token)? {
            length.add(number.get(), &unit)?;
        }
        Some(length)
    }

    /// Whether the two differ by less than a second.
    fn is_near(self, other: Self) -> bool {
        let distance = self.microseconds.abs_diff(other.microseconds);
        (self.months, self.days) == (other.months, other.days) && distance < 1_000_000
    }
}

/// `written` is the array as PostgreSQL writes it, `elements` as JSON.
pub(super) fn array(written: &str, elements: &str, token: &RawValue) -> Verdict {
    let altered = || Altered(token.get().to_owned());
    if kind(token) == Kind::Text {
        return if text(token) == written { reformatted("a string in PostgreSQL's notation") } else { altered() };
    }
    let Some(owed) = parse(elements.as_bytes()) else { return altered() };
    if is_same_value(owed, token) {
        return Exact;
    }
    let value = |value: &RawValue| serde_json::from_str::<Value>(value.get()).unwrap_or_default();
    let (owed_value, given) = (value(owed), value(token));
    if is_same_text(&owed_value, &given) {
        return reformatted("an array of strings");
    }
    // JavaScript writes its typed arrays as such objects.
    let numbered = given.as_object().is_some_and(|fields| {
        let owed = owed_value.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_field = |(index, element): (usize, &Value)| fields.get(&index.to_string()) == Some(element);
        fields.len() == owed.len() && owed.iter().enumerate().all(is_field)
    });
    if numbered {
        reformatted("an object with a field per element")
    } else if is_near_value(owed, token) {
        Rounded(token.get().to_owned())
    } else {
        altered()
    }
}

/// Whether two values are the same, if strings may stand for numbers.
fn is_same_text(owed: &Value, given: &Value) -> bool {
    match (owed, given) {
        (Value::Array(owed), Value::Array(given)) => {
            owed.len() == given.len() && owed.iter().zip(given).all(|(owed, given)| is_same_text(owed, given))
        }
        (Value::Number(number), Value::String(text)) => number.to_string() == *text,
        _ => owed == given,
    }
}
