//! Values with a unit, as people write them: `"500ms"`, `"3%"`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A span of time written with its unit, such as `"500ms"`, `"2s"` or `"1m 30s"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

/// A share written with its sign, such as `"3%"`; held as a fraction (0.03).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

struct Text<T>(fn(&str) -> Result<T, String>, &'static str);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.1)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

const DURATION: &str = "a duration with its unit in quotes, such as \"500ms\" or \"2s\"";
const PERCENT: &str = "a share in quotes, such as \"3%\"";

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| match humantime::parse_duration(text) {
            Ok(duration) => Ok(Seconds(duration.as_secs_f64())),
            Err(_) => Err(format!("`{text}` is not {DURATION}")),
        };
        deserializer.deserialize_str(Text(parse, DURATION))
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parse = |text: &str| {
            text.strip_suffix('%')
                .and_then(|number| number.trim().parse::<f64>().ok())
                .filter(|number| number.is_finite() && *number >= 0.0)
                .map(|number| Percent(number / 100.0))
                .ok_or_else(|| format!("`{text}` is not {PERCENT}"))
        };
        deserializer.deserialize_str(Text(parse, PERCENT))
    }
}

impl Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(self.0))
    }
}

impl Serialize for Percent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Rounded, as 0.07 × 100 is 7.000000000000001 to a computer.
        serializer.serialize_str(&format!("{}%", (self.0 * 1e10).round() / 1e8))
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": DURATION,
            "pattern": "^ *[0-9].*[a-zA-Zµ] *$",
            "examples": ["500ms", "2s", "1m 30s"],
        })
    }
}

impl JsonSchema for Percent {
    fn schema_name() -> Cow<'static, str> {
        "Percent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": PERCENT, "pattern": "^[0-9.]+ *%$" })
    }
}

/// Writes seconds the way a study does: `0.3` is `300ms`, `95.0` is `1m 35s`.
pub fn format_duration(seconds: f64) -> String {
    let rounded = Duration::from_micros((seconds.max(0.0) * 1e6).round() as u64);
    humantime::format_duration(rounded).to_string()
}
