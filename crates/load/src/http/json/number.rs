//! Exact decimal numbers: doubles cannot distinguish 9007199254740992 and 9007199254740993.

use std::fmt;

/// Longest exponent in digits, without leading zeros. No realistic number has a longer one, and sums with it cannot overflow.
const EXPONENT_DIGITS: usize = 9;

/// A JSON number: `digits` · 10^`exponent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::http) struct Number {
    negative: bool,
    /// Without leading and trailing zeros, so empty for zero.
    digits: Vec<u8>,
    exponent: i64,
    /// The double that a reader would get, if the number has a point or an exponent.
    double: Option<u64>,
}

impl Number {
    /// Parses a number in JSON's grammar; `None` if its exponent is too large.
    pub fn of(text: &[u8]) -> Option<Number> {
        let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
        let split = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, written) = split.map_or((text, &b"0"[..]), |at| (&text[..at], &text[at + 1..]));
        let point = mantissa.iter().position(|&byte| byte == b'.');
        let fraction = point.map_or(0, |at| mantissa.len() - at - 1);
        let all: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
        let start = all.iter().position(|&digit| digit != b'0').unwrap_or(all.len());
        let end = all.iter().rposition(|&digit| digit != b'0').map_or(start, |last| last + 1);
        let digits = all[start..end].to_vec();
        let exponent = exponent(written)? - fraction as i64 + (all.len() - end) as i64;
        let float = point.is_some() || split.is_some();
        let exponent = if digits.is_empty() { 0 } else { exponent };
        Some(Number { double: if float { double(text) } else { None }, negative, digits, exponent })
    }

    /// Equal in value. Two numbers that both have a point or an exponent are also equal if they denote the same double: 0.1 and
    /// 0.10000000000000001 do.
    pub fn equals(&self, other: &Number) -> bool {
        let signs = self.negative == other.negative;
        let exactly = self.digits == other.digits && self.exponent == other.exponent;
        // Zeros are equal whatever their sign.
        exactly && (signs || self.digits.is_empty()) || signs && self.double.is_some() && self.double == other.double
    }
}

/// Without an exponent, unless it is large.
impl fmt::Display for Number {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let digits = String::from_utf8_lossy(&self.digits);
        let digits = if digits.is_empty() { "0" } else { &digits };
        // Position of the decimal point, counted from before the first digit.
        let point = digits.len() as i64 + self.exponent;
        match (self.exponent, point) {
            (0, _) => write!(to, "{sign}{digits}"),
            (zeros @ 1..20, _) => write!(to, "{sign}{digits}{:0<width$}", "", width = zeros as usize),
            (..0, 1..) => write!(to, "{sign}{}.{}", &digits[..point as usize], &digits[point as usize..]),
            (..0, -20..=0) => write!(to, "{sign}0.{:0<width$}{digits}", "", width = -point as usize),
            (exponent, _) => write!(to, "{sign}{digits}e{exponent}"),
        }
    }
}

fn exponent(written: &[u8]) -> Option<i64> {
    let (sign, digits) = match written {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    let start = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len());
    let digits = &digits[start..];
    let small = digits.len() <= EXPONENT_DIGITS;
    small.then(|| sign * digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// The bits of the double nearest to an unsigned text. `None` for infinity and zero: all numbers out of range share them, so they prove no
/// equality.
fn double(text: &[u8]) -> Option<u64> {
    let double: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (double.is_finite() && double > 0.0).then(|| double.to_bits())
}
