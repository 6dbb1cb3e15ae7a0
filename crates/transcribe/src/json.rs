//! JSON that keeps every digit as written, and its place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::digits::plain;
use crate::row::Row;

/// Maximum depth of nested values. No supported format comes close.
const DEEPEST: usize = 32;

/// A value of JSON.
#[derive(Debug)]
pub(crate) struct Json<'a> {
    /// Its text, which is a slice of the whole.
    text: &'a str,
    value: Value<'a>,
}

#[derive(Debug)]
enum Value<'a> {
    Object(Vec<(String, Json<'a>)>),
    List(Vec<Json<'a>>),
    Text(String),
    /// A number; its text is its digits.
    Number,
    /// Anything else, and anything nested too deep.
    Other,
}

impl<'a> Json<'a> {
    pub fn read(text: &'a str) -> serde_json::Result<Self> {
        Self::of(serde_json::from_str(text.trim_start_matches('\u{feff}'))?, DEEPEST)
    }

    fn of(raw: &'a RawValue, deepest: usize) -> serde_json::Result<Self> {
        let text = raw.get();
        let value = match text.as_bytes().first() {
            Some(b'{' | b'[') if deepest == 0 => Value::Other,
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(text)?;
                let entries = entries.into_iter().map(|(key, raw)| Ok((key, Self::of(raw, deepest - 1)?)));
                Value::Object(entries.collect::<serde_json::Result<_>>()?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                Value::List(items.into_iter().map(|raw| Self::of(raw, deepest - 1)).collect::<serde_json::Result<_>>()?)
            }
            Some(b'"') => serde_json::from_str(text).map_or(Value::Other, Value::Text),
            Some(b'-' | b'0'..=b'9') => Value::Number,
            _ => Value::Other,
        };
        Ok(Self { text, value })
    }

    pub fn entries(&self) -> &[(String, Json<'a>)] {
        match &self.value {
            Value::Object(entries) => entries,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Json<'a>] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    pub fn words(&self) -> Option<&str> {
        match &self.value {
            Value::Text(words) => Some(words),
            _ => None,
        }
    }

    /// The value under a path of keys: `["summary", "total"]`.
    pub fn at(&self, path: &[&str]) -> Option<&Json<'a>> {
        path.iter().try_fold(self, |value, key| value.entries().iter().find(|(name, _)| name == key).map(|(_, it)| it))
    }

    /// The digits of a number as written.
    fn printed(&self) -> Option<&'a str> {
        matches!(self.value, Value::Number).then_some(self.text)
    }

    /// The digits of a number, without an exponent.
    pub fn digits(&self) -> Option<String> {
        self.printed().and_then(plain)
    }

    /// A text without its quotes, or anything else as written.
    pub fn shown(&self) -> &str {
        self.words().unwrap_or(self.text)
    }
}

/// Where the lines of a text begin, to find the line of a value.
pub(crate) struct Places<'a> {
    whole: &'a str,
    begins: Vec<usize>,
}

impl<'a> Places<'a> {
    pub fn of(whole: &'a str) -> Self {
        Self { whole, begins: whole.match_indices('\n').map(|(at, _)| at + 1).collect() }
    }

    /// The line of a value, from 1.
    pub fn line(&self, json: &Json<'_>) -> usize {
        let at = (json.text.as_ptr() as usize).saturating_sub(self.whole.as_ptr() as usize);
        1 + self.begins.partition_point(|begin| *begin <= at)
    }
}

/// Adds the number under a path to the row. `with` converts its digits for the key. A missing or `null` value is not a
/// figure.
pub(crate) fn figure(json: &Json<'_>, path: &[&str], row: &mut Row, with: impl FnOnce(&mut Row, &str) -> bool) {
    let Some((value, printed)) = json.at(path).and_then(|value| Some((value, value.printed()?))) else { return };
    let understood = value.digits().is_some_and(|digits| with(row, &digits));
    if understood {
        row.raw.push(format!("{}: {printed}", path.join(".")));
    }
}

/// The entries of an object, in order.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
