//! How numbers stand in sentences.

use tolok_model::transcription::Figure;

/// A number with three significant digits, or all of its whole ones, in groups of three.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "without limit".to_owned();
    }
    if value.abs() >= 100.0 || value == 0.0 {
        return grouped(&format!("{value:.0}"));
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The digits before the point in groups of three.
fn grouped(text: &str) -> String {
    let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// A number without digits after the point, rounded up, so that an upper bound stays one.
pub(crate) fn whole(value: f64) -> String {
    if value < 10.0 { number(value) } else { number(value.ceil()) }
}

/// The number of a percentile: `95`, `99.9`.
pub(crate) fn percentile(share: f64) -> String {
    format!("{}", (share * 1e6).round() / 1e4)
}

/// A duration.
pub(crate) fn seconds(value: f64) -> String {
    scaled(value, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
}

/// The length of a run, to a hundredth of a second.
pub(crate) fn run_seconds(value: f64) -> String {
    if value.is_finite() { format!("{value:.2} s") } else { seconds(value) }
}

/// A number of bytes.
pub(crate) fn bytes(value: f64) -> String {
    scaled(value, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")])
}

/// Bits a second, of bytes a second.
pub(crate) fn bits_per_s(bytes_per_s: f64) -> String {
    scaled(8.0 * bytes_per_s, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")])
}

/// A share of 1 as percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", number(100.0 * share))
}

/// Answers a second.
pub(crate) fn per_second(value: f64) -> String {
    format!("{}/s", number(value))
}

/// A value in the largest unit that leaves at least 1 of it, or else in the smallest.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // A value that would be printed as 1,000 of a unit belongs to the next one.
    let fits = |(factor, _): &&(f64, &str)| value.abs() >= 0.9995 * factor;
    let chosen = units.iter().find(fits).or(units.last());
    chosen.map_or_else(|| number(value), |(factor, unit)| format!("{} {unit}", number(value / factor)))
}

/// A figure as it is printed, with its unit; of several repetitions, their mean.
pub(crate) fn quoted(figure: &Figure) -> String {
    let unit = figure.unit.suffix();
    match figure.numbers.as_slice() {
        [one] => format!("{}{unit}", one.printed),
        several => format!("{}{unit} (mean of {})", number(figure.value() / figure.unit.factor()), several.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(number(11705.0), "11,705");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(142.857), "143");
        assert_eq!(number(13.0), "13");
        assert_eq!(number(2.0166), "2.02");
        assert_eq!(seconds(0.01708), "17.1 ms");
        assert_eq!(seconds(90.909), "90.9 s");
        assert_eq!(seconds(0.99996), "1 s");
        assert_eq!(seconds(0.000074), "74 µs");
        assert_eq!(bytes(203.7), "204 B");
        assert_eq!(bits_per_s(193e6), "1.54 Gbit/s");
        assert_eq!(percent(0.839), "83.9 %");
    }
}
