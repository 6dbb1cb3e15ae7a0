//! Reads numbers of a transcription: digits, or text with a mark.

use super::{Mark, Number};
use crate::reading::kinds::read_kinds;
use crate::reading::several::Several;
use crate::reading::table::Spanned;
use crate::reading::text::Reading;

/// A number as written. Its digits are read from its place in the text, because a float would lose the last zero of
/// `2.750`.
#[derive(Debug)]
pub enum Written {
    /// A number; its digits are in the text.
    Digits,
    /// Text, possibly with a mark.
    Text(String),
}

pub(crate) const EXPECTED: &str = "a number as it is printed, or a text such as \"~14000\", \">= 400\" or \"0.5..0.9\"";
const HELP: &str = "digits and one decimal point, without unit and separators: 12345.60; in quotes with a mark: \
                    \"~14000\", \">= 400\", \"< 0.5\", \"0.5..0.9\"";

read_kinds!(Written, EXPECTED,
    visit_i64(_number: i64) Some(Written::Digits);
    visit_u64(_number: u64) Some(Written::Digits);
    visit_f64(_number: f64) Some(Written::Digits);
    visit_str(text: &str) Some(Written::Text(text.to_owned()));
);

/// Reads a number at its place in `text`. `factor` converts its unit to base units.
pub(crate) fn read_number(
    written: &Spanned<Written>,
    factor: f64,
    text: &str,
    reading: &mut Reading,
) -> Option<Number> {
    let printed = match written.get_ref() {
        Written::Digits => text.get(written.span()).unwrap_or("").replace('_', ""),
        Written::Text(printed) => printed.trim().to_owned(),
    };
    let number = parse_number(&printed, factor);
    if number.is_none() {
        reading.note(written.span(), format!("`{printed}` is no number as it is printed"), HELP.to_owned());
    }
    number
}

/// One number, or one for each repetition.
pub(crate) fn read_numbers(
    written: Spanned<Several<Written>>,
    factor: f64,
    text: &str,
    reading: &mut Reading,
) -> Option<Vec<Number>> {
    let span = written.span();
    let listed = written.into_inner().0;
    if listed.is_empty() {
        reading.note(span, "no number is listed", "leave the key out where the source has no figure");
        return None;
    }
    listed.iter().map(|one| read_number(one, factor, text, reading)).collect()
}

/// Reads `19.30`, `37.6k`, `~14000`, `>= 400`, `400+`, `< 0.5` or `0.5..0.9`. `factor` converts its unit to base units.
pub fn parse_number(printed: &str, factor: f64) -> Option<Number> {
    let number = |digits: &str, mark: Mark| {
        let Digits { value, half_unit, decimals } = parse_digits(digits)?.times(factor);
        Some(Number { value, half_unit, printed: printed.to_owned(), decimals, mark })
    };
    if let Some((low, high)) = printed.split_once("..") {
        return between(printed, low.trim(), high.trim(), factor);
    }
    for (sign, mark) in MARKS {
        if let Some(digits) = printed.strip_prefix(sign) {
            return number(digits.trim_start(), mark);
        }
    }
    match printed.strip_suffix('+') {
        Some(digits) => number(digits.trim_end(), Mark::AtLeast),
        None => number(printed, Mark::Plain),
    }
}

/// Signs before a number. Longer ones come first, because shorter ones are their prefixes.
const MARKS: [(&str, Mark); 7] = [
    ("~", Mark::About),
    (">=", Mark::AtLeast),
    ("≥", Mark::AtLeast),
    (">", Mark::AtLeast),
    ("<=", Mark::AtMost),
    ("≤", Mark::AtMost),
    ("<", Mark::AtMost),
];

fn between(printed: &str, low: &str, high: &str, factor: f64) -> Option<Number> {
    let (low, high) = (parse_digits(low)?.times(factor), parse_digits(high)?.times(factor));
    let mark = Mark::Between { low: low.value, high: high.value };
    // If the ends are rounded differently, the coarser one determines the precision.
    let half_unit = low.half_unit.max(high.half_unit);
    let decimals = low.decimals.min(high.decimals);
    let value = f64::midpoint(low.value, high.value);
    (low.value <= high.value).then(|| Number { value, half_unit, printed: printed.to_owned(), decimals, mark })
}

/// A printed number without its mark.
struct Digits {
    value: f64,
    half_unit: f64,
    decimals: u32,
}

impl Digits {
    fn times(self, factor: f64) -> Self {
        // 18 / 1000 is the float nearest to 0.018, but 18 × 0.001 is not.
        let times = |value: f64| if factor < 1.0 { value / factor.recip().round() } else { value * factor };
        Self { value: times(self.value), half_unit: times(self.half_unit), decimals: self.decimals }
    }
}

/// Plain digits, possibly with a suffix for thousands or millions: `19.30`, `37.6k`.
fn parse_digits(printed: &str) -> Option<Digits> {
    let (digits, factor) = match (printed.strip_suffix('k'), printed.strip_suffix('M')) {
        (Some(digits), _) => (digits, 1e3),
        (_, Some(digits)) => (digits, 1e6),
        _ => (printed, 1.0),
    };
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let has_point = unsigned.contains('.');
    if !are_digits(whole) || (has_point && !are_digits(decimals)) || unsigned.len() > 30 {
        return None;
    }
    let decimals = u32::try_from(decimals.len()).ok()?;
    let half_unit = 0.5 / 10_f64.powi(i32::try_from(decimals).ok()?);
    Some(Digits { value: digits.parse().ok()?, half_unit, decimals }.times(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(printed: &str) -> Number {
        parse_number(printed, 1.0).unwrap()
    }

    #[test]
    fn printed_digits_say_how_exact_a_number_is() {
        let number = read("2.750");
        assert_eq!((number.value, number.decimals, number.printed.as_str()), (2.75, 3, "2.750"));
        assert!((number.half_unit - 0.0005).abs() < 1e-12);
        assert_eq!((read("425").half_unit, read("425").decimals), (0.5, 0));
    }

    #[test]
    fn a_number_is_kept_in_base_units() {
        let number = parse_number("26.79", 1e-3).unwrap();
        assert!((number.value - 0.026_79).abs() < 1e-12);
        assert!((number.half_unit - 0.000_005).abs() < 1e-12);
        assert_eq!(parse_number("18", 1e-3).unwrap().value, 0.018);
    }

    #[test]
    fn marks_say_what_a_source_says_beyond_a_value() {
        assert_eq!((read("~14000").value, read("~14000").mark), (14_000.0, Mark::About));
        for at_least in [">= 400", ">400", "≥ 400", "400+", "400 +"] {
            assert_eq!((read(at_least).value, read(at_least).mark), (400.0, Mark::AtLeast), "{at_least}");
        }
        assert_eq!((read("< 0.5").value, read("< 0.5").mark), (0.5, Mark::AtMost));
        assert_eq!(read("<=30").mark, Mark::AtMost);
    }

    #[test]
    fn thousands_are_as_exact_as_they_are_printed() {
        let number = read("37.6k");
        assert_eq!((number.value, number.half_unit, number.decimals), (37_600.0, 50.0, 1));
        assert_eq!((read("~15k").value, read("2M").value), (15_000.0, 2e6));
    }

    #[test]
    fn a_range_is_as_exact_as_its_rougher_end() {
        let range = read("4.5..5");
        assert_eq!((range.value, range.decimals, range.half_unit), (4.75, 0, 0.5));
        assert_eq!(range.mark, Mark::Between { low: 4.5, high: 5.0 });
    }

    #[test]
    fn anything_else_is_no_printed_number() {
        for wrong in ["", "~", "14,000", "50%", "1e3", "inf", "5..4", "1.", ".5", "0x10", "1..2..3", "--1", "~1+"] {
            assert_eq!(parse_number(wrong, 1.0), None, "{wrong}");
        }
    }
}
