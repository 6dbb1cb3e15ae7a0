//! A printed number.

use serde::Serialize;

/// A printed number: its value and its precision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Number {
    /// The value in base units (s, bytes, 1/s, share of 1, cores). For a range, its midpoint.
    pub value: f64,
    /// Half a unit of its last printed digit, in base units: how far rounding may have moved it.
    pub half_unit: f64,
    /// As in the file, including trailing zeros and marks: `2.750`, `~14000`.
    pub printed: String,
    /// Digits after the decimal point, as printed.
    pub decimals: u32,
    /// How the source qualifies the value.
    pub mark: Mark,
}

/// How a source qualifies a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Mark {
    /// Without qualification.
    Plain,
    /// `~14000`: approximately.
    About,
    /// `>= 400`, `400+`, also `> 5`: at least.
    AtLeast,
    /// `<= 30`, also `< 0.5`: at most.
    AtMost,
    /// `0.5..0.9`: somewhere between the two, or from one to the other.
    Between {
        /// The lower end, in base units.
        low: f64,
        /// The upper end, in base units.
        high: f64,
    },
}
