//! Compares numbers by their digits, because rounding would hide the rounding that is to be found.

/// A decimal number: its sign, its digits without zeros at either end, and the power of ten of the last digit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digits {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

impl Digits {
    /// Reads a number in the notation of JSON or SQL, or `None` for other text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        if whole.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let significant = all.trim_end_matches('0');
        let exponent = i64::from(exponent) - fraction.len() as i64 + (all.len() - significant.len()) as i64;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        Some(Self { is_negative, digits, exponent })
    }
}

/// Whether two numbers are so close that one may be the other with fewer digits.
pub(super) fn is_near(one: f64, other: f64) -> bool {
    let distance = (one - other).abs();
    distance.is_finite() && distance <= one.abs().max(other.abs()) * 1e-5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        let same = [
            ["17", "17.0", "1.7e1", "0.17E+2"],
            ["-0.0010", "-1e-3", "-0.001", "-10E-4"],
            ["0", "-0", "0.000", "0e7"],
            ["9007199254740993", "9007199254740993.0", "9007199254740.993e3", "9.007199254740993e15"],
        ];
        for group in same {
            let read = group.map(|text| Digits::read(text).unwrap());
            assert!(read.iter().all(|digits| *digits == read[0]), "{read:?}");
        }
        assert_ne!(Digits::read("9007199254740993"), Digits::read("9007199254740992"));
        assert_ne!(Digits::read("1"), Digits::read("-1"));
        for text in ["", "-", ".5", "1e", "abc", "1.2.3", "Infinity", "1e99999999999"] {
            assert_eq!(Digits::read(text), None, "{text}");
        }
    }

    #[test]
    fn near_is_within_the_digits_that_the_shortest_type_keeps() {
        assert!(is_near(8_388_609.0, 8_388_610.0) && is_near(0.0, 0.0));
        assert!(!is_near(1.0, 1.1) && !is_near(f64::MAX, f64::INFINITY) && !is_near(1.0, -1.0));
    }
}
