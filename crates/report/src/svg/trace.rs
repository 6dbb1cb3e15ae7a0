//! Paths of many points, written compactly: a page may contain thousands of them.

use std::fmt::Write as _;

pub(super) fn line(points: &[[f64; 2]]) -> String {
    let mut text = String::with_capacity(6 * points.len());
    let mut last = [0, 0];
    append(&mut text, &mut last, points.iter().copied(), true);
    text
}

/// The area between two lines over the same positions.
pub(super) fn area(above: &[[f64; 2]], below: &[[f64; 2]]) -> String {
    let mut text = String::with_capacity(12 * above.len());
    let mut last = [0, 0];
    append(&mut text, &mut last, above.iter().copied(), true);
    append(&mut text, &mut last, below.iter().rev().copied(), false);
    text.push('z');
    text
}

/// Steps from point to point in tenths of a unit. Each starts at the rounded end of the previous one, so rounding errors do not add up.
fn append(text: &mut String, last: &mut [i64; 2], points: impl Iterator<Item = [f64; 2]>, is_new: bool) {
    for (place, [x, y]) in points.enumerate() {
        let tenths = [x, y].map(|value| (value * 10.0).round() as i64);
        let [across, down] = [tenths[0] - last[0], tenths[1] - last[1]];
        if is_new && place == 0 {
            _ = write!(text, "M{} {}", number(tenths[0]), number(tenths[1]));
        } else {
            match (across, down) {
                (0, 0) => {}
                (across, 0) => _ = write!(text, "h{}", number(across)),
                (0, down) => _ = write!(text, "v{}", number(down)),
                (across, down) => {
                    let gap = if down < 0 { "" } else { " " };
                    _ = write!(text, "l{}{gap}{}", number(across), number(down));
                }
            }
        }
        *last = tenths;
    }
}

/// Tenths as a number: `12.3`, `-.4`, `7`.
fn number(tenths: i64) -> String {
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, rest) = (tenths.abs() / 10, tenths.abs() % 10);
    match (whole, rest) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, rest) => format!("{sign}.{rest}"),
        (whole, rest) => format!("{sign}{whole}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_short_and_do_not_add_up_errors() {
        assert_eq!(line(&[[10.0, 20.0], [12.04, 20.0], [14.08, 19.52], [14.08, 22.0]]), "M10 20h2l2.1-.5v2.5");
        assert_eq!(area(&[[0.0, 1.0], [5.0, 1.5]], &[[0.0, 3.0], [5.0, 3.5]]), "M0 1l5 .5v2l-5-.5z");
    }
}
