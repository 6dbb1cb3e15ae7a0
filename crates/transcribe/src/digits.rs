//! Printed digits, and the units after them.

use tolok_model::transcription::parse_number;

/// Whether a transcription accepts it as it is.
pub(crate) fn is_number(digits: &str) -> bool {
    parse_number(digits, 1.0).is_some()
}

/// Splits a number from what follows: `2.01s,` into `2.01` and `s,`.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    is_number(number).then_some((number, unit.trim_start()))
}

/// A number with nothing after it.
pub(crate) fn number(text: &str) -> Option<&str> {
    split(text).filter(|(_, unit)| unit.is_empty()).map(|(number, _)| number)
}

/// The number before this unit, such as `804.30` of `804.30us`.
pub(crate) fn with_unit<'a>(text: &'a str, unit: &str) -> Option<&'a str> {
    split(text).filter(|(_, found)| *found == unit).map(|(number, _)| number)
}

/// A time as `(digits, unit of a key)`. Minutes and hours have no key, so such a time becomes the range of seconds that
/// it is rounded from.
pub(crate) fn time(text: &str) -> Option<(String, &'static str)> {
    // Two points are a range in a transcription, but no tool prints them.
    let (number, unit) = split(text).filter(|(number, _)| !number.contains(".."))?;
    let as_it_is = |unit| Some((number.to_owned(), unit));
    match unit {
        "ns" => Some((shifted(number, -3)?, "us")),
        "us" | "µs" | "μs" => as_it_is("us"),
        "ms" => as_it_is("ms"),
        "s" | "sec" | "secs" | "seconds" => as_it_is("s"),
        "m" | "min" => Some((range_of_seconds(number, 60.0)?, "s")),
        "h" | "hr" => Some((range_of_seconds(number, 3_600.0)?, "s")),
        _ => together(text).map(|seconds| (seconds, "s")),
    }
}

/// Converts `1m2.5s` to seconds. This is the only sum that we compute for a transcription.
fn together(text: &str) -> Option<String> {
    let (minutes, seconds) = text.trim().split_once('m')?;
    let (hours, minutes) = minutes.split_once('h').unwrap_or(("0", minutes));
    let seconds = with_unit(seconds, "s")?;
    let (whole, decimals) = seconds.split_once('.').map_or((seconds, None), |(whole, part)| (whole, Some(part)));
    let [hours, minutes, whole] =
        [hours, minutes, whole].map(|part| part.parse::<u64>().ok().filter(|it| *it < 1_000_000));
    let sum = hours? * 3_600 + minutes? * 60 + whole?;
    Some(decimals.map_or_else(|| sum.to_string(), |decimals| format!("{sum}.{decimals}")))
}

fn range_of_seconds(number: &str, factor: f64) -> Option<String> {
    let read = parse_number(number, factor)?;
    let [low, high] = [read.value - read.half_unit, read.value + read.half_unit].map(|end| format!("{end:.6}"));
    let [low, high] = [&low, &high].map(|end| end.trim_end_matches('0').trim_end_matches('.'));
    Some(format!("{low}..{high}"))
}

/// Moves the point right by this many digits, which converts a unit.
pub(crate) fn shifted(number: &str, by: i32) -> Option<String> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{decimals}");
    if !(-30..=30).contains(&by) || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = i32::try_from(whole.len()).ok()? + by;
    let zeros = |count: i32| "0".repeat(count.try_into().unwrap_or(0));
    let padded = format!("{}{digits}{}", zeros(1 - point), zeros(point - i32::try_from(digits.len()).ok()?));
    let (whole, decimals) = padded.split_at(usize::try_from(point.max(1)).ok()?);
    let trimmed = whole.trim_start_matches('0');
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    Some(if decimals.is_empty() { whole.to_owned() } else { format!("{whole}.{decimals}") })
}

/// A JSON number without an exponent: `5.116e-05` becomes `0.00005116`.
pub(crate) fn plain(number: &str) -> Option<String> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    if exponent == "0" && is_number(mantissa) {
        return Some(mantissa.to_owned());
    }
    shifted(mantissa, exponent.trim_start_matches('+').parse().ok()?).filter(|plain| is_number(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_keeps_its_digits_and_its_unit() {
        let told = |text| time(text).map(|(digits, unit)| format!("{digits} {unit}"));
        for (text, expected) in [
            ("804.30us", "804.30 us"),
            ("26.5µs", "26.5 us"),
            ("2.62ms", "2.62 ms"),
            ("10.0 s", "10.0 s"),
            ("0.0243 secs", "0.0243 s"),
            ("1500ns", "1.500 us"),
            ("1.01m", "60.3..60.9 s"),
            ("2h", "5400..9000 s"),
            ("1m2.50s", "62.50 s"),
            ("1h0m5s", "3605 s"),
        ] {
            assert_eq!(told(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "NaN secs", "-nan%", "1.5", "1.5 cm", "-1ms", "m5s", "1mm"] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn a_point_moves_and_the_digits_stay() {
        for (number, by, expected) in [
            ("0.0123", 2, "1.23"),
            ("5", 2, "500"),
            ("1.5", -3, "0.0015"),
            ("0.00", 2, "0"),
            ("120", -2, "1.20"),
            ("1.50", 1, "15.0"),
        ] {
            assert_eq!(shifted(number, by).as_deref(), Some(expected), "{number} {by}");
        }
        for (number, expected) in
            [("5.116e-05", "0.00005116"), ("3.6e-6", "0.0000036"), ("1E+3", "1000"), ("0.50", "0.50")]
        {
            assert_eq!(plain(number).as_deref(), Some(expected), "{number}");
        }
        for number in ["null", "1e99", "e5", "1e", "0x1"] {
            assert_eq!(plain(number), None, "{number}");
        }
    }
}
