//! A number as it is printed.

use serde::Serialize;

/// A printed number: its value, and how exactly it is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Number {
    /// The value in base units (s, bytes, 1/s, share of 1, cores): of a range, its middle.
    pub value: f64,
    /// Half of one unit of its last printed digit, in base units: how far rounding may have moved it.
    pub half_unit: f64,
    /// As it stands in the file, trailing zeros and marks included: `2.750`, `~14000`.
    pub printed: String,
    /// Digits after the decimal point, as printed.
    pub decimals: u32,
    /// What the source says of it beyond its value.
    pub mark: Mark,
}

/// What a source says of a number beyond its value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Mark {
    /// Nothing: it is what it is.
    Plain,
    /// `~14000`: about so much.
    About,
    /// `>= 400`, `400+`: at least; also `> 5`.
    AtLeast,
    /// `<= 30`: at most; also `< 0.5`.
    AtMost,
    /// `0.5..0.9`: somewhere between, or from one to the other.
    Between {
        /// The lower end, in base units.
        low: f64,
        /// The upper end, in base units.
        high: f64,
    },
}
