//! JSON as written: with the order of fields, duplicate fields, and every digit of a number.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The kinds of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Flag,
    Number,
    Text,
    Array,
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Null => "null",
            Self::Flag => "true or false",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

/// The JSON value of a text, if the whole text is JSON.
pub(super) fn parse(text: &[u8]) -> Option<&RawValue> {
    serde_json::from_slice(text).ok()
}

/// The kind of a value, by its first character.
pub(super) fn kind(value: &RawValue) -> Kind {
    match value.get().as_bytes().first() {
        Some(b'n') | None => Kind::Null,
        Some(b't' | b'f') => Kind::Flag,
        Some(b'"') => Kind::Text,
        Some(b'[') => Kind::Array,
        Some(b'{') => Kind::Object,
        Some(_) => Kind::Number,
    }
}

/// The text of a string. A string with an unpaired surrogate has none, so it is returned as written.
pub(super) fn text(value: &RawValue) -> Cow<'_, str> {
    serde_json::from_str::<String>(value.get()).map_or(Cow::Borrowed(value.get()), Cow::Owned)
}

/// The elements of an array, or `None` for other values.
pub(super) fn elements(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// The fields of an object, in their order, or `None` for other values.
pub(super) fn fields(value: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    let mut deserializer = serde_json::Deserializer::from_str(value.get());
    deserializer.deserialize_map(Fields).ok()
}

struct Fields;

impl<'a> Visitor<'a> for Fields {
    type Value = Vec<(String, &'a RawValue)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = entries.next_entry()? {
            fields.push(field);
        }
        Ok(fields)
    }
}

/// Whether the whole of a text is JSON.
pub(crate) fn is_json(text: &[u8]) -> bool {
    parse(text).is_some()
}
