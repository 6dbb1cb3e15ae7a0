//! Numbers of a column: with the digits that their intervals support, thin spaces, and their points beneath each other.

use tolok_analysis::Estimate;

/// Digits of a figure that stands alone.
const DIGITS: i32 = 3;
/// Most digits that an interval can give to a figure.
const MOST_DIGITS: i32 = 4;

/// An estimate in a unit, with 3 digits, or 4 if its interval is so narrow.
pub(super) fn number(estimate: &Estimate, unit: f64) -> String {
    written(estimate.value * unit, step(estimate, unit))
}

/// Its interval in brackets, in the same steps; a dash if it has none.
pub(super) fn interval(estimate: &Estimate, unit: f64) -> String {
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else { return "--".to_owned() };
    let step = step(estimate, unit);
    // An end that is much smaller than the value keeps a digit of its own, and is not 0.
    let end = |end: f64| written(end, if end == 0.0 { step } else { step.min(magnitude(end)) });
    format!("[{}, {}]", end(low * unit), end(high * unit))
}

/// An estimate alone, with 3 digits; a dash where there is none.
pub(super) fn scaled(estimate: Option<&Estimate>, unit: f64) -> String {
    estimate.map_or_else(
        || "--".to_owned(),
        |estimate| {
            let value = estimate.value * unit;
            // Digits before the point are not taken away.
            written(value, (magnitude(value) - DIGITS + 1).min(0))
        },
    )
}

/// The power of ten to which an estimate is rounded.
fn step(estimate: &Estimate, unit: f64) -> i32 {
    let (value, width) =
        (estimate.value * unit, (estimate.high.zip(estimate.low)).map(|(high, low)| (high - low) * unit));
    let (coarse, fine) = (magnitude(value) - DIGITS + 1, magnitude(value) - MOST_DIGITS + 1);
    match width {
        Some(width) if width > 0.0 => magnitude(width).clamp(fine, coarse),
        Some(_) => fine,
        None => coarse,
    }
}

/// Power of ten of the first digit.
fn magnitude(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() { 0 } else { (value.abs().log10() + 1e-12).floor() as i32 }
}

/// Rounded to a power of ten, with thin spaces between thousands.
fn written(value: f64, step: i32) -> String {
    let rounded = if step > 0 { (value / 10f64.powi(step)).round() * 10f64.powi(step) } else { value };
    let decimals = (-step).max(0) as usize;
    let text = format!("{rounded:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), ""), |(whole, fraction)| (whole, fraction));
    let digits = whole.trim_start_matches('-');
    let sign = if whole.len() > digits.len() { "$-$" } else { "" };
    let place = |place: usize| if place > 0 && (digits.len() - place).is_multiple_of(3) { "\\," } else { "" };
    let whole: String = digits.char_indices().map(|(at, digit)| format!("{}{digit}", place(at))).collect();
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// What stands behind the point.
fn decimals(cell: &str) -> &str {
    cell.split_once('.').map_or("", |(_, fraction)| fraction)
}

/// The same cells with room behind each, so that all points of the column stand beneath each other at its right edge.
pub(super) fn aligned(cells: &[&str]) -> Vec<String> {
    let is_number = |cell: &str| cell.ends_with(|last: char| last.is_ascii_digit());
    let most = cells.iter().filter(|cell| is_number(cell)).map(|cell| decimals(cell).len()).max().unwrap_or(0);
    let cell = |cell: &&str| {
        let lacking = most - decimals(cell).len().min(most);
        if !is_number(cell) || lacking == 0 {
            return (*cell).to_owned();
        }
        let point = if cell.contains('.') { "" } else { "." };
        format!("{cell}\\phantom{{{point}{}}}", "0".repeat(lacking))
    };
    cells.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low: Some(low), high: Some(high), trials: vec![] }
    }

    #[test]
    fn digits_are_those_of_the_other_reports_and_no_unit_is_hidden_in_them() {
        let check = |given: Estimate, text: &str| {
            assert_eq!(format!("{} {}", number(&given, 1.0), interval(&given, 1.0)), text)
        };
        check(estimate(34_321.0, 33_912.0, 34_790.0), "34\\,300 [33\\,900, 34\\,800]");
        check(estimate(34_321.0, 34_312.0, 34_332.0), "34\\,320 [34\\,310, 34\\,330]");
        check(estimate(21.44, 20.1, 22.9), "21.4 [20.1, 22.9]");
        check(estimate(1_234_567.0, 1_200_000.0, 1_300_000.0), "1\\,230\\,000 [1\\,200\\,000, 1\\,300\\,000]");
        check(estimate(-0.0012, -0.002, 0.001), "$-$0.00120 [$-$0.00200, 0.00100]");
        check(estimate(76_800.0, 0.4, 132_800.0), "76\\,800 [0.4, 132\\,800]");
        check(Estimate { value: 5.0, low: None, high: None, trials: vec![] }, "5.00 --");
        assert_eq!(scaled(Some(&estimate(1_250.4, 1.0, 2.0)), 1.0), "1\\,250");
    }

    #[test]
    fn points_stand_beneath_each_other() {
        let cells = ["34\\,300", "21.4", "0.50", "--", "did not start"];
        let set = ["34\\,300\\phantom{.00}", "21.4\\phantom{0}", "0.50", "--", "did not start"];
        assert_eq!(aligned(&cells), set);
    }
}
