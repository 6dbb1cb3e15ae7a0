//! Formats figures for people: digits, units and intervals. No other module does.
//!
//! A figure has three significant digits, and a fourth if its interval is so narrow that three would hide it. Text that
//! programs read (CSV, JSON) does not go through this module.

/// Significant digits of a figure without an interval.
const DIGITS: i32 = 3;
/// Most significant digits that an interval can justify.
const MOST_DIGITS: i32 = 4;
/// Decimals of a ratio near 1.
const RATIO_DECIMALS: usize = 2;
/// A non-breaking space, between a number and its unit.
const GAP: char = '\u{a0}';
/// Shown in place of a missing figure.
pub const NONE: &str = "–";

/// The kind of a figure, which determines its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A rate or another bare number: `34.3k`.
    Number,
    /// Seconds: `340 ns`, `842 µs`, `1.25 ms`.
    Seconds,
    /// Bytes: `12.3 MiB`.
    Bytes,
    /// One value over another: `1.92×`.
    Ratio,
    /// A share of a whole: `79%`.
    Share,
}

/// A formatted estimate: its value, and its interval if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Such as `34.3k`.
    pub value: String,
    /// Such as `33.9–34.8k`, with the same unit and decimals.
    pub interval: Option<String>,
}

impl Figure {
    /// On one line: `34.3k (33.9–34.8k)`.
    pub fn line(&self) -> String {
        match &self.interval {
            Some(interval) => format!("{} ({interval})", self.value),
            None => self.value.clone(),
        }
    }
}

/// Formats a value without interval, with three significant digits and its unit.
pub fn amount(quantity: Quantity, value: f64) -> String {
    let scale = Scale::fit(quantity, value);
    let scaled = value / scale.divisor;
    scale.write(&decimal(scaled, quantity.decimals(scaled, DIGITS)))
}

/// Formats a value and its interval, with the decimals that the interval supports.
pub fn with_interval(quantity: Quantity, value: f64, [low, high]: [f64; 2]) -> Figure {
    let scale = Scale::fit(quantity, value);
    let [value, low, high] = [value, low, high].map(|value| value / scale.divisor);
    let decimals = supported_decimals(quantity, value, high - low);
    let [low, high] = [low, high].map(|end| {
        let needed = bound_decimals(end, value, decimals);
        decimal(end, if quantity == Quantity::Ratio { decimals_off_one(end, needed) } else { needed })
    });
    Figure { value: scale.write(&decimal(value, decimals)), interval: Some(scale.write_interval(&low, &high)) }
}

/// Formats an RFC 3339 time for people: `2026-11-21 10:00:00 UTC`.
pub fn moment(rfc_3339: &str) -> String {
    let (date, time) = rfc_3339.split_once('T').unwrap_or((rfc_3339, ""));
    let (clock, zone) = time.split_at(time.find(['Z', '+', '-']).unwrap_or(time.len()));
    let seconds = clock.split('.').next().unwrap_or(clock);
    let zone = if zone == "Z" { "UTC" } else { zone };
    [date, seconds, zone].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Formats a value that is already in the unit of its column's heading.
pub fn in_column(value: f64) -> String {
    decimal(value, decimals_for(value, DIGITS))
}

/// Like [`in_column`], for a value with an interval: with as many digits as the interval supports. Unsupported digits
/// before the point become zeros.
pub fn in_unit(value: f64, interval: Option<[f64; 2]>) -> Figure {
    let Scale { divisor, .. } = Scale::fit(Quantity::Number, value);
    // Rounds in thousands or millions, but prints ones.
    let whole = |scaled: f64, decimals: usize| {
        let step = 10f64.powi(decimals as i32);
        let shown = (decimals as i32 - divisor.log10().round() as i32).max(0) as usize;
        decimal((scaled * step).round() / step * divisor, shown).replace('-', "−")
    };
    let scaled = value / divisor;
    let Some([low, high]) = interval.map(|ends| ends.map(|end| end / divisor)) else {
        return Figure { value: whole(scaled, decimals_for(scaled, DIGITS)), interval: None };
    };
    let decimals = supported_decimals(Quantity::Number, scaled, high - low);
    let [low, high] = [low, high].map(|end| whole(end, bound_decimals(end, scaled, decimals)));
    Figure { value: whole(scaled, decimals), interval: Some(format!("{low}–{high}")) }
}

/// A whole number with separators: `1,234,567`.
pub fn count(number: u64) -> String {
    separated(&number.to_string())
}

/// Formats a small share, never rounding it to "0%": `0.85%`, `<0.01%`.
pub fn small_share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        zero if zero <= 0.0 => "0%".to_owned(),
        tiny if tiny < 0.01 => "<0.01%".to_owned(),
        few if few < 10.0 => format!("{}%", trimmed(&decimal(few, decimals_for(few, 2)))),
        many => format!("{}%", decimal(many, 0)),
    }
}

/// Formats a share, never rounding it to 0% or 100%: `0.012%`, `4.1%`, `34%`, `99.95%`.
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        99.0..100.0 => format!("{}%", trimmed(&format!("{:.3}", (percent * 1e3).floor() / 1e3))),
        9.95.. => format!("{percent:.0}%"),
        0.1.. => format!("{}%", trimmed(&format!("{percent:.1}"))),
        0.0 => "0%".to_owned(),
        _ => format!("{percent:.3}%"),
    }
}

/// Formats a number with this many significant digits and no trailing zeros. Whole numbers keep all their digits:
/// `2.02`, `11,705`.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "undefined" } else { "without limit" }.to_owned();
    }
    let text = decimal(value.abs(), decimals_for(value, digits));
    format!("{}{}", if value < 0.0 { "−" } else { "" }, trimmed(&text))
}

/// Removes trailing zeros after the point.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// A number with its noun: `1 trial`, `5 trials`, `2 series`.
pub fn counted(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('s') => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

/// Joins a list for a sentence: `A, B and C`.
pub fn listed(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [start @ .., end] => format!("{} {last} {end}", start.join(", ")),
    }
}

impl Quantity {
    /// Decimals of a scaled value with this many significant digits.
    fn decimals(self, scaled: f64, digits: i32) -> usize {
        match self {
            // Two decimals of a share of 7% would claim more precision than matters.
            Self::Share => decimals_for(scaled, digits - 1),
            // Ratios are read against 1, so those just below and above it share a form.
            Self::Ratio if is_near_one(scaled) => RATIO_DECIMALS,
            Self::Ratio if scaled.abs() < 0.1 => decimals_for(scaled, digits - 1),
            _ => decimals_for(scaled, digits),
        }
    }

    /// Decimals of a figure whose interval is too wide to support more.
    fn fewest_decimals(self, value: f64) -> usize {
        self.decimals(value, DIGITS)
    }
}

/// Whether a ratio is formatted like those near 1.
fn is_near_one(ratio: f64) -> bool {
    (0.1..9.995).contains(&ratio.abs())
}

/// A unit: the divisor, and the text after the number.
struct Scale {
    divisor: f64,
    gap: bool,
    unit: &'static str,
}

impl Scale {
    /// The unit in which `value` has one to three digits before the point.
    fn fit(quantity: Quantity, value: f64) -> Self {
        const KIB: f64 = 1024.0;
        // Rounds first, so that 999.7 becomes 1.00k, not 1,000.
        let shown = rounded(value.abs(), DIGITS);
        let (divisor, gap, unit) = match quantity {
            Quantity::Number if shown >= 1e6 => (1e6, false, "M"),
            Quantity::Number if shown >= 1e3 => (1e3, false, "k"),
            Quantity::Number => (1.0, false, ""),
            Quantity::Seconds if shown >= 1.0 => (1.0, true, "s"),
            Quantity::Seconds if shown >= 1e-3 => (1e-3, true, "ms"),
            Quantity::Seconds if shown >= 1e-6 || shown == 0.0 => (1e-6, true, "µs"),
            Quantity::Seconds => (1e-9, true, "ns"),
            Quantity::Bytes if value >= KIB * KIB * KIB => (KIB * KIB * KIB, true, "GiB"),
            Quantity::Bytes if value >= KIB * KIB => (KIB * KIB, true, "MiB"),
            Quantity::Bytes if value >= KIB => (KIB, true, "KiB"),
            Quantity::Bytes => (1.0, true, "B"),
            Quantity::Ratio => (1.0, false, "×"),
            Quantity::Share => (0.01, false, "%"),
        };
        Self { divisor, gap, unit }
    }

    fn write(&self, number: &str) -> String {
        let gap = if self.gap { GAP.to_string() } else { String::new() };
        // Drops `.0`: `3%`, but `0.5%`.
        let number = if self.unit == "%" { number.strip_suffix(".0").unwrap_or(number) } else { number };
        format!("{number}{gap}{}", self.unit)
    }

    /// Writes the unit once, after the upper bound. A ratio's sign would only be noise there.
    fn write_interval(&self, low: &str, high: &str) -> String {
        let range = format!("{low}–{high}");
        if self.unit == "×" { range } else { self.write(&range) }
    }
}

/// Decimals that an interval of this width can support.
fn supported_decimals(quantity: Quantity, value: f64, width: f64) -> usize {
    let fewest = quantity.fewest_decimals(value);
    let most = decimals_for(value, MOST_DIGITS);
    let resolved = if width > 0.0 { (-magnitude(width)).max(0) as usize } else { most };
    // An interval narrower than the last digit would print the same number twice.
    resolved.clamp(fewest, most)
}

/// Decimals of a bound. A wide interval's bound can be far from the value. It drops decimals that its own size does not
/// need, and gets more if it would otherwise print as 0.
fn bound_decimals(bound: f64, value: f64, decimals: usize) -> usize {
    let digits = (decimals as i32 + magnitude(value) + 1).max(DIGITS);
    let own = decimals_for(bound, digits).min(decimals);
    own.max(decimals_for(bound, 1))
}

/// Adds decimals until a bound other than 1 does not print as 1, because a verdict may depend on it.
fn decimals_off_one(bound: f64, decimals: usize) -> usize {
    let looks_like_one = |decimals: usize| bound != 1.0 && decimal(bound, decimals) == decimal(1.0, decimals);
    (decimals..=MOST_DIGITS as usize).find(|&decimals| !looks_like_one(decimals)).unwrap_or(decimals)
}

/// Decimals that give `value` this many significant digits.
fn decimals_for(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    (digits - 1 - magnitude(rounded(value, digits))).max(0) as usize
}

/// Power of ten of the first digit.
fn magnitude(value: f64) -> i32 {
    // The small addend corrects 10^n, whose logarithm may come out just below n.
    (value.abs().log10() + 1e-12).floor() as i32
}

/// Rounded to this many significant digits.
fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powi(magnitude(value) - digits + 1);
    (value / step).round() * step
}

/// Formats with this many decimals, and separators before the point.
fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", separated(whole)),
        None => separated(&text),
    }
}

fn separated(whole: &str) -> String {
    let digits = whole.trim_start_matches('-');
    let mut text = whole[..whole.len() - digits.len()].to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(quantity: Quantity, [value, low, high]: [f64; 3]) -> String {
        with_interval(quantity, value, [low, high]).line()
    }

    #[test]
    fn a_value_alone_has_three_digits_and_the_fitting_unit() {
        let check = |quantity, value, text: &str| assert_eq!(amount(quantity, value).replace(GAP, " "), text);
        check(Quantity::Number, 0.0, "0");
        check(Quantity::Number, 0.01234, "0.0123");
        check(Quantity::Number, 9.996, "10.0");
        check(Quantity::Number, 21.44, "21.4");
        check(Quantity::Number, 238.4, "238");
        check(Quantity::Number, 999.7, "1.00k");
        check(Quantity::Number, 34_321.0, "34.3k");
        check(Quantity::Number, 1_234_567.0, "1.23M");
        check(Quantity::Seconds, 3.4e-7, "340 ns");
        check(Quantity::Seconds, 0.0, "0 µs");
        check(Quantity::Seconds, 0.000_842, "842 µs");
        check(Quantity::Seconds, 0.000_999_9, "1.00 ms");
        check(Quantity::Seconds, 0.001_25, "1.25 ms");
        check(Quantity::Seconds, 0.9, "900 ms");
        check(Quantity::Seconds, 72.0, "72.0 s");
        check(Quantity::Bytes, 512.0, "512 B");
        check(Quantity::Bytes, 54_840_000.0, "52.3 MiB");
        check(Quantity::Bytes, 3.5 * 1024.0 * 1024.0 * 1024.0, "3.50 GiB");
        check(Quantity::Ratio, 1.9249, "1.92×");
        check(Quantity::Ratio, 13.44, "13.4×");
        check(Quantity::Share, 0.794, "79%");
        check(Quantity::Ratio, 0.588, "0.59×");
        check(Quantity::Ratio, 0.0828, "0.083×");
        check(Quantity::Share, 0.0712, "7.1%");
        check(Quantity::Share, 0.03, "3%");
        check(Quantity::Share, 1.0, "100%");
    }

    #[test]
    fn an_interval_decides_how_many_decimals_are_shown() {
        let check = |quantity, given: [f64; 3], text: &str| assert_eq!(line(quantity, given), text);
        check(Quantity::Number, [34_321.0, 33_912.0, 34_790.0], "34.3k (33.9–34.8k)");
        check(Quantity::Number, [34_321.0, 34_312.0, 34_332.0], "34.32k (34.31–34.33k)");
        check(Quantity::Number, [34_321.0, 12_000.0, 56_000.0], "34.3k (12.0–56.0k)");
        check(Quantity::Number, [34_321.0, 34_321.0, 34_321.0], "34.32k (34.32–34.32k)");
        check(Quantity::Number, [1_020.0, 890.0, 1_140.0], "1.02k (0.89–1.14k)");
        check(Quantity::Ratio, [1.9249, 1.851, 1.992], "1.92× (1.85–1.99)");
        check(Quantity::Ratio, [1.03, 0.93, 1.13], "1.03× (0.93–1.13)");
        check(Quantity::Ratio, [0.709, 0.7051, 0.723], "0.71× (0.71–0.72)");
        check(Quantity::Ratio, [0.0521, 0.0514, 0.0563], "0.052× (0.051–0.056)");
        check(Quantity::Ratio, [13.44, 12.9, 13.9], "13.4× (12.9–13.9)");
        check(Quantity::Ratio, [0.998, 0.73, 1.38], "1.00× (0.73–1.38)");
        check(Quantity::Ratio, [0.1034, 0.05, 0.2], "0.10× (0.05–0.20)");
        check(Quantity::Share, [0.794, 0.78, 0.81], "79% (78–81%)");
    }

    #[test]
    fn figures_in_a_columns_unit_have_no_false_precision() {
        let check =
            |[value, low, high]: [f64; 3], text: &str| assert_eq!(in_unit(value, Some([low, high])).line(), text);
        check([34_321.0, 33_912.0, 34_790.0], "34,300 (33,900–34,800)");
        check([34_321.0, 34_312.0, 34_332.0], "34,320 (34,310–34,330)");
        check([21.44, 20.1, 22.9], "21.4 (20.1–22.9)");
        check([1_234_567.0, 1_200_000.0, 1_300_000.0], "1,230,000 (1,200,000–1,300,000)");
        check([-0.0012, -0.002, 0.001], "−0.00120 (−0.00200–0.00100)");
        check([76_800.0, 410.0, 132_800.0], "76,800 (400–133,000)");
        assert_eq!([5.0, 1_250.4].map(|value| in_unit(value, None).value), ["5.00", "1,250"]);
    }

    #[test]
    fn a_bound_close_to_one_is_never_printed_as_one() {
        let ratio = |value, low, high| line(Quantity::Ratio, [value, low, high]);
        assert_eq!(ratio(1.03, 1.0004, 1.06), "1.03× (1.0004–1.06)");
        assert_eq!(ratio(0.97, 0.94, 0.997), "0.97× (0.94–0.997)");
        assert_eq!(ratio(26.2, 1.04, 56.07), "26.2× (1.04–56.1)");
        assert_eq!(ratio(1.0, 1.0, 1.0), "1.000× (1.000–1.000)");
    }

    #[test]
    fn a_bound_far_from_the_value_keeps_its_own_size() {
        let check = |quantity, given: [f64; 3], text: &str| assert_eq!(line(quantity, given), text);
        check(Quantity::Ratio, [1.02, 0.0046, 209.67], "1.02× (0.005–210)");
        check(Quantity::Number, [76_800.0, 410.0, 132_800.0], "76.8k (0.4–133k)");
        check(Quantity::Number, [98_700.0, 95_200.0, 102_300.0], "98.7k (95.2–102k)");
    }

    #[test]
    fn a_moment_is_read_by_people() {
        let check = |rfc_3339: &str, text: &str| assert_eq!(moment(rfc_3339), text);
        check("2026-11-21T21:51:43.875649745Z", "2026-11-21 21:51:43 UTC");
        check("2026-11-21T21:51:43+07:00", "2026-11-21 21:51:43 +07:00");
        check("today", "today");
    }

    #[test]
    fn a_share_of_failures_is_never_rounded_to_none() {
        let check = |share: f64, text: &str| assert_eq!(small_share(share), text);
        check(0.0, "0%");
        check(0.000_000_3, "<0.01%");
        check(0.000_15, "0.015%");
        check(0.0085, "0.85%");
        check(0.0712, "7.1%");
        check(0.57, "57%");
    }

    #[test]
    fn a_share_is_never_rounded_to_none_or_all() {
        assert_eq!([0.0, 0.341, 0.041, 0.000_12, 1.0].map(share), ["0%", "34%", "4.1%", "0.012%", "100%"]);
        assert_eq!([0.9985, 0.999_999_9].map(share), ["99.85%", "99.999%"]);
    }

    #[test]
    fn significant_digits_have_no_empty_zeros() {
        assert_eq!(
            [2.02, 0.5, 11_705.4, 0.0, -17.08].map(|value| significant(value, 3)),
            ["2.02", "0.5", "11,705", "0", "−17.1"]
        );
        assert_eq!([significant(5.0266, 4), significant(f64::NAN, 3)], ["5.027", "undefined"]);
    }

    #[test]
    fn whole_numbers_get_separators() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([in_column(0.0821), in_column(28.94), in_column(1_250.0)], ["0.0821", "28.9", "1,250"]);
        assert_eq!(
            [counted(1, "trial"), counted(2_000, "trial"), counted(2, "search")],
            ["1 trial", "2,000 trials", "2 searches"]
        );
    }

    #[test]
    fn a_list_reads_as_a_sentence() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        assert_eq!(listed(&names(&[]), "and"), "");
        assert_eq!(listed(&names(&["A"]), "and"), "A");
        assert_eq!(listed(&names(&["A", "B", "C"]), "or"), "A, B or C");
    }
}
