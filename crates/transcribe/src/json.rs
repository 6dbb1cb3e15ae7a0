//! JSON with every digit as it stands in the text, and where.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::digits::plain;
use crate::row::Row;

/// A value of JSON.
#[derive(Debug)]
pub(crate) enum Json<'a> {
    Object(Vec<(String, Json<'a>)>),
    /// Its digits.
    Number(&'a str),
    /// Anything else.
    Other,
}

impl<'a> Json<'a> {
    pub fn read(text: &'a str) -> serde_json::Result<Self> {
        Self::of(serde_json::from_str(text.trim_start_matches('\u{feff}'))?)
    }

    fn of(raw: &'a RawValue) -> serde_json::Result<Self> {
        let text = raw.get();
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(text)?;
                let entries = entries.into_iter().map(|(key, raw)| Ok((key, Self::of(raw)?)));
                Self::Object(entries.collect::<serde_json::Result<_>>()?)
            }
            Some(b'-' | b'0'..=b'9') => Self::Number(text),
            _ => Self::Other,
        })
    }

    pub fn entries(&self) -> &[(String, Json<'a>)] {
        match self {
            Self::Object(entries) => entries,
            _ => &[],
        }
    }

    /// What is under a key, or below several: `["summary", "total"]`.
    pub fn at(&self, path: &[&str]) -> Option<&Json<'a>> {
        path.iter().try_fold(self, |value, key| value.entries().iter().find(|(name, _)| name == key).map(|(_, it)| it))
    }

    /// The digits of a number, without an exponent.
    pub fn digits(&self) -> Option<String> {
        match self {
            Self::Number(digits) => plain(digits),
            _ => None,
        }
    }
}

/// Digits as they stand under a path go to the row; `with` makes them what the key wants. What is `null` or not there is no figure.
pub(crate) fn figure(json: &Json<'_>, path: &[&str], row: &mut Row, with: impl FnOnce(&mut Row, &str) -> bool) {
    let Some(value @ Json::Number(printed)) = json.at(path) else { return };
    let understood = value.digits().is_some_and(|digits| with(row, &digits));
    if understood {
        row.raw.push(format!("{}: {printed}", path.join(".")));
    }
}

/// The entries of an object in their order.
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
