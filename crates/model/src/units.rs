//! Values with a unit, as people write them: `"500ms"`, `"3%"`.

use std::time::Duration;

use serde::Serialize;

use crate::reading::kinds::read_kinds;

/// A span of time written with its unit, such as `"500ms"`, `"2s"` or `"1m 30s"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

/// A share written with its sign, such as `"3%"`, stored as a fraction (0.03).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

/// A number of requests per second: a bare number, or with a time unit as in `"500/s"`, `"30000/m"`, `"90/h"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate {
    /// Requests per second.
    pub per_s: f64,
    pub has_unit: bool,
}

/// A number of bytes written with its unit, such as `"512MiB"` or `"150kB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Bits per second, written with their unit, such as `"54Mbit/s"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct BitRate(pub f64);

/// Bytes per second of a client, in the form of `tolok load --read-rate`, such as `"64KiB/s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRate(pub u64);

pub(crate) const DURATION: &str = "a duration with its unit in quotes, such as \"500ms\" or \"2s\"";
pub(crate) const PERCENT: &str = "a share in quotes, such as \"3%\"";

read_kinds!(Seconds, DURATION,
    visit_str(text: &str) humantime::parse_duration(text).ok().map(|duration| Seconds(duration.as_secs_f64()));
);

read_kinds!(Percent, PERCENT,
    visit_str(text: &str) text.strip_suffix('%')
        .and_then(|number| number.trim().parse::<f64>().ok())
        .filter(|number| number.is_finite() && *number >= 0.0)
        .map(|number| Percent(number / 100.0));
);

pub(crate) const BYTES: &str = "a size with its unit in quotes, such as \"512MiB\" or \"150kB\"";
pub(crate) const BYTE_RATE: &str = "a size a second in quotes, such as \"10KB/s\", \"64KiB/s\" or \"2MB/s\"";
pub(crate) const BIT_RATE: &str = "bits a second with their unit in quotes, such as \"54Mbit/s\"";

/// Units of sizes: powers of 1000, or of 1024 with an `i`, as standards define them.
const BYTE_UNITS: [(&str, u64); 10] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];
const BIT_UNITS: [(&str, f64); 4] = [("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];

/// Splits `54Mbit/s` into a positive number and the unit as written.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number > 0.0).then(|| (number, unit.trim()))
}

fn factor<T: Copy>(unit: &str, units: &[(&str, T)]) -> Option<T> {
    units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor)
}

read_kinds!(Bytes, BYTES,
    visit_str(text: &str) parse_bytes(text)
        .filter(|bytes| (1.0..=1e15).contains(bytes))
        .map(|bytes| Bytes(bytes.round() as u64));
);

/// Reads `534kB` or `5 MB` as bytes.
pub(crate) fn parse_bytes(text: &str) -> Option<f64> {
    let (number, unit) = number_and_unit(text)?;
    factor(unit, &BYTE_UNITS).map(|bytes| number * bytes as f64)
}

read_kinds!(BitRate, BIT_RATE,
    visit_str(text: &str) number_and_unit(text)
        .and_then(|(number, unit)| Some(BitRate(number * factor(unit, &BIT_UNITS)?)))
        .filter(|rate| (1e3..=1e12).contains(&rate.0));
);

read_kinds!(ByteRate, BYTE_RATE,
    visit_str(text: &str) parse_byte_rate(text).map(ByteRate);
);

pub(crate) const RATE: &str = "a rate: a number per second, or a text such as \"500/s\" or \"30000/m\"";

read_kinds!(Rate, RATE,
    visit_i64(number: i64) Rate::a_second(number as f64);
    visit_u64(number: u64) Rate::a_second(number as f64);
    visit_f64(number: f64) Rate::a_second(number);
    visit_str(text: &str) parse_rate(text).map(|per_s| Rate { per_s, has_unit: text.contains('/') });
);

impl Rate {
    fn a_second(number: f64) -> Option<Self> {
        (number.is_finite() && number >= 0.0).then_some(Self { per_s: number, has_unit: false })
    }
}

impl Serialize for Seconds {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format_duration(self.0))
    }
}

impl Serialize for Percent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{}%", percent_words(self.0)))
    }
}

/// Splits `30000/m` into the number as written and the seconds that it covers.
pub fn rate_parts(text: &str) -> Option<(&str, f64)> {
    let (number, time) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match time.trim() {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some((number, seconds))
}

/// Reads `500`, `500/s`, `30000/m` or `90/h` as a number per second.
pub fn parse_rate(text: &str) -> Option<f64> {
    let (number, seconds) = rate_parts(text)?;
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number / seconds)
}

/// Reads `10KB/s`, `64KiB/s` or `2MB` as bytes per second, at least 1.
pub fn parse_byte_rate(text: &str) -> Option<u64> {
    let text = text.trim();
    let size = text.strip_suffix("/s").unwrap_or(text).trim();
    let digits = size.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(size.len());
    let (number, unit) = size.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    (bytes >= 1.0).then_some(bytes as u64)
}

/// The number before the `%` of a share, rounded, because 0.07 × 100 is 7.000000000000001 in floating point.
pub fn percent_words(share: f64) -> f64 {
    (share * 1e10).round() / 1e8
}

/// Writes seconds as a study does: `0.3` is `300ms`, `95.0` is `1m 35s`.
pub fn format_duration(seconds: f64) -> String {
    let rounded = Duration::from_micros((seconds.max(0.0) * 1e6).round() as u64);
    humantime::format_duration(rounded).to_string()
}

/// Writes a duration for prose: `90.0` is `1 min 30 s`, `1.5` is `1.5 s`, `0.05` is `50 ms`.
pub fn duration_words(seconds: f64) -> String {
    if (1.0..60.0).contains(&seconds) {
        return format!("{} s", (seconds * 1e3).round() / 1e3);
    }
    let spelled = |part: &str| match spaced(part) {
        minutes if minutes.ends_with(" m") => minutes + "in",
        other => other.replace("us", "µs"),
    };
    format_duration(seconds).split(' ').map(spelled).collect::<Vec<_>>().join(" ")
}

/// Writes bytes for prose: `150 kB`.
pub fn bytes_words(bytes: u64) -> String {
    spaced(&format_bytes(bytes))
}

/// Writes bits per second for prose: `54 Mbit/s`.
pub fn bit_rate_words(rate_bps: f64) -> String {
    spaced(&format_bit_rate(rate_bps))
}

/// Inserts a space between a number and its unit: `64MiB` becomes `64 MiB`.
fn spaced(notation: &str) -> String {
    let (number, unit) = notation.split_at(notation.find(char::is_alphabetic).unwrap_or(notation.len()));
    format!("{number} {unit}")
}

/// Writes bytes as a study does: `536870912` is `512MiB`, `150000` is `150kB`.
pub fn format_bytes(bytes: u64) -> String {
    let fits = |(_, factor): &&(&str, u64)| *factor > 1 && bytes >= *factor && bytes.is_multiple_of(*factor);
    match BYTE_UNITS.iter().filter(|(unit, _)| *unit != "KB").filter(fits).max_by_key(|(_, factor)| *factor) {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => format!("{bytes}B"),
    }
}

/// Writes bits per second as a study does: `54e6` is `54Mbit/s`.
pub fn format_bit_rate(rate_bps: f64) -> String {
    let (unit, factor) = BIT_UNITS.iter().rev().find(|(_, factor)| rate_bps >= *factor).unwrap_or(&BIT_UNITS[0]);
    format!("{}{unit}", (rate_bps / factor * 1e3).round() / 1e3)
}
