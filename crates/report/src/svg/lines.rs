//! Shared parts of line charts: a plane with two axes, lines that differ by colour and dashes, and names at their ends.

use tolok_analysis::Estimate;

use super::{Anchor, Drawing, fitted_apart, lowest, short};
use crate::svg::palette::look;

/// Least distance between labels of the vertical axis.
const APART_Y: f64 = 18.0;
/// Least vertical distance between names.
const NAME: f64 = 14.0;
/// Number of line styles for variants of one runtime; the first is solid.
const WAYS: usize = 4;

/// The area of a chart's lines.
pub(super) struct Plane {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Plane {
    /// The lines of the vertical axis, and the labels that have room.
    pub(super) fn upright(&self, drawing: &mut Drawing, up: &Axis, words: impl Fn(f64) -> String) {
        self.upright_at(drawing, up, &up.ticks(), words);
    }

    /// The same at these values, in increasing order.
    pub(super) fn upright_at(&self, drawing: &mut Drawing, up: &Axis, ticks: &[f64], words: impl Fn(f64) -> String) {
        let mut last = f64::INFINITY;
        for &tick in ticks {
            let y = up.at(tick);
            drawing.path("grid-line", &format!("M{} {}H{}", self.left, short(y), self.right));
            if last - y >= APART_Y {
                drawing.text("m", Anchor::End, self.left - 5.0, y + 4.0, &words(tick));
                last = y;
            }
        }
    }

    /// A line of the horizontal axis.
    pub(super) fn mark(&self, drawing: &mut Drawing, x: f64) {
        drawing.path("grid-line", &format!("M{} {}V{}", short(x), self.top, self.bottom));
    }

    /// The lines of the horizontal axis at these positions, the labels that have room, and the axis title.
    pub(super) fn across(&self, drawing: &mut Drawing, marks: impl Iterator<Item = (f64, String)>, title: &str) {
        const APART_X: f64 = 34.0;
        let mut last = f64::NEG_INFINITY;
        for (x, words) in marks {
            self.mark(drawing, x);
            if x - last >= APART_X {
                drawing.text("m", Anchor::Middle, x, self.bottom + 14.0, &words);
                last = x;
            }
        }
        self.foot(drawing, title);
    }

    /// The horizontal axis and its title.
    pub(super) fn foot(&self, drawing: &mut Drawing, title: &str) {
        drawing.path("axis", &format!("M{} {}H{}", self.left, self.bottom, self.right));
        drawing.text("m", Anchor::End, self.right, self.bottom + 29.0, title);
    }

    /// The name of each line beside its end, moved if two would overlap.
    pub(super) fn names(&self, drawing: &mut Drawing, mut ends: Vec<(&str, [f64; 2])>, from: f64, letters: f64) {
        ends.sort_by(|(_, one), (_, other)| one[1].total_cmp(&other[1]));
        let wanted: Vec<f64> = ends.iter().map(|(_, [_, y])| *y).collect();
        let names: Vec<&str> = ends.iter().map(|(name, _)| *name).collect();
        let names = fitted_apart(&names, letters);
        let places = spread(&wanted, self.top + 4.0, self.bottom);
        for (((_, [x, y]), name), at) in ends.iter().zip(&names).zip(places) {
            let lead = format!("M{} {}L{} {}", short(x + 6.0), short(*y), short(from - 3.0), short(at));
            drawing.path("lead", &lead);
            drawing.text("m n", Anchor::Start, from, at + 4.0, name);
        }
    }
}

/// A point of a line.
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) estimate: Estimate,
    /// Tooltip.
    pub(super) title: String,
}

/// A line through estimates, with their intervals and a mark at each. Runtime and style determine its look.
pub(super) fn draw_spots(drawing: &mut Drawing, (runtime, way): (&str, usize), up: &Axis, spots: Vec<Spot>) {
    let path: Vec<String> =
        spots.iter().map(|spot| format!("{} {}", short(spot.x), short(up.at(spot.estimate.value)))).collect();
    if path.len() > 1 {
        drawing.path(&line_class(runtime, way), &format!("M{}", path.join("L")));
    }
    for Spot { x, estimate, title } in &spots {
        if let (Some(_), Some(high)) = (estimate.low, estimate.high) {
            drawing.upright_whisker(*x, up.at(lowest(estimate)), up.at(high));
        }
        look(runtime).draw_point(drawing, [*x, up.at(estimate.value)], way > 0, title);
    }
}

/// The class of a line in one of the styles of [`ways`].
pub(super) fn line_class(runtime: &str, way: usize) -> String {
    let dashes = if way == 0 { String::new() } else { format!(" way-{way}") };
    format!("{} line{dashes}", look(runtime).class)
}

/// The line style for each runtime and subject: the position of a subject among those of its runtime, by name, so that it is
/// the same in all charts.
pub(crate) fn ways(lines: &[(&str, &str)]) -> Vec<usize> {
    let before =
        |(runtime, subject): &(&str, &str)| lines.iter().filter(|it| it.0 == *runtime && it.1 < *subject).count();
    lines.iter().map(|line| before(line).min(WAYS - 1)).collect()
}

/// Positions near the wanted ones, which increase, at least the height of a name apart; between the two ends if there is room.
pub(super) fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    for y in wanted {
        let least = places.last().map_or(top, |last| last + NAME);
        places.push(y.max(least));
    }
    let mut most = bottom.max(top + NAME * wanted.len().saturating_sub(1) as f64);
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - NAME;
    }
    places
}

/// A logarithmic axis between two positions of the drawing.
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    pub(super) fn of(low: f64, high: f64, from: f64, to: f64) -> Self {
        // A single value is centred.
        let (low, high) = if high / low < 1.05 { (low / 1.5, high * 1.5) } else { (low, high) };
        Self { low: low.ln(), high: high.ln(), from, to }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value.ln() - self.low) / (self.high - self.low)
    }

    /// Powers of ten within it; if there are few, also 2 and 5 times these.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let wide = self.steps(&[1.0]);
        if wide.len() >= 3 { wide } else { self.steps(&[1.0, 2.0, 5.0]) }
    }

    /// These multiples of each power of ten within the axis.
    pub(super) fn steps(&self, steps: &[f64]) -> Vec<f64> {
        let power = |end: f64| end / std::f64::consts::LN_10;
        let decades = power(self.low).floor() as i32..=power(self.high).ceil() as i32;
        let all = decades.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        all.filter(|tick| (self.low..=self.high).contains(&tick.ln())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_moved_apart_and_stay_inside() {
        assert_eq!(spread(&[50.0, 52.0, 120.0], 40.0, 200.0), [50.0, 64.0, 120.0]);
        assert_eq!(spread(&[190.0, 195.0, 199.0], 40.0, 200.0), [172.0, 186.0, 200.0]);
        assert_eq!(spread(&[], 40.0, 200.0), Vec::<f64>::new());
    }

    #[test]
    fn an_axis_of_one_value_has_it_in_the_middle() {
        assert!((Axis::of(2.0, 2.0, 0.0, 10.0).at(2.0) - 5.0).abs() < 1e-9);
    }
}
