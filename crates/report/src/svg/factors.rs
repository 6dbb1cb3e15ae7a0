//! Goodput of subjects across the values of one factor.
//!
//! Goodput has a logarithmic axis, so parallel lines differ by a constant ratio. So has the factor, unless its
//! lowest value is 0. If the order of two subjects certainly flips, a circle marks the crossing, with its interval.

use tolok_analysis::figures::{Quantity, amount, figure};
use tolok_analysis::{Estimate, FactorCrossover, FactorLine, FactorPanel, FactorPoint};

use super::lines::{Axis, Plane, Spot, draw_spots, ways};
use super::{Drawing, LETTER, WIDTH, fitted, highest, lowest};

/// The names of the lines are to the right of it.
const PLANE: Plane = Plane { left: 44.0, right: 238.0, top: 40.0, bottom: 236.0 };
const NAMES: f64 = 250.0;

/// The axis of the factor.
enum Across {
    Logarithmic(Axis),
    Even { low: f64, high: f64 },
}

impl Across {
    fn of(panel: &FactorPanel) -> Option<Self> {
        let (low, high) = (panel.levels.first()?.value, panel.levels.last()?.value);
        let (from, to) = (PLANE.left + 10.0, PLANE.right - 8.0);
        Some(if low > 0.0 { Self::Logarithmic(Axis::of(low, high, from, to)) } else { Self::Even { low, high } })
    }

    fn at(&self, value: f64) -> f64 {
        match self {
            Self::Logarithmic(axis) => axis.at(value),
            Self::Even { low, high } => {
                PLANE.left + 10.0 + (PLANE.right - PLANE.left - 18.0) * (value - low) / (high - low)
            }
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Logarithmic(_) => "logarithmic axes",
            Self::Even { .. } => "logarithmic upright",
        }
    }
}

/// The chart of a panel; `None` if there is nothing to draw.
pub(crate) fn factor_panel(panel: &FactorPanel) -> Option<String> {
    let across = Across::of(panel)?;
    let shown = || panel.lines.iter().flat_map(|line| &line.points).filter_map(goodput);
    let low = shown().map(lowest).reduce(f64::min)?;
    let high = shown().map(highest).reduce(f64::max)?;
    let up = Axis::of(low, high, PLANE.bottom - 8.0, PLANE.top + 10.0);
    let mut drawing = Drawing::new(WIDTH, PLANE.bottom + 38.0);
    let heading = if panel.fixed.is_empty() { &panel.workload_title } else { &panel.fixed };
    drawing.heading(heading, &format!("correct responses/s, {}", across.words()));
    PLANE.upright(&mut drawing, &up, rate);
    let marks = panel.levels.iter().map(|level| (across.at(level.value), level.label.clone()));
    PLANE.across(&mut drawing, marks, &fitted(&panel.title, (PLANE.right - 2.0) / 6.3));
    let ways = ways(&panel.lines.iter().map(|line| (line.runtime.as_str(), line.subject.as_str())).collect::<Vec<_>>());
    for (line, way) in panel.lines.iter().zip(ways) {
        draw_line(&mut drawing, panel, line, way, (&across, &up));
    }
    for crossing in panel.crossovers.iter().filter(|crossing| crossing.sure) {
        mark(&mut drawing, panel, crossing, (&across, &up));
    }
    let end = |line| places(line, (&across, &up)).last().map(|(_, place)| *place);
    let ends = panel.lines.iter().filter_map(|line| Some((line.title.as_str(), end(line)?)));
    PLANE.names(&mut drawing, ends.collect(), NAMES, (WIDTH - NAMES) / (0.93 * LETTER));
    let number = panel.lines.len();
    let label = format!("Goodput of {number} subjects by {}; the table below has the same figures", panel.title);
    Some(drawing.finish(&label))
}

/// A goodput that a logarithmic axis can show.
fn goodput(point: &FactorPoint) -> Option<&Estimate> {
    Some(&point.goodput_rps).filter(|goodput| goodput.value > 0.0)
}

/// A tick without superfluous decimals: `20k`.
pub(super) fn rate(tick: f64) -> String {
    let (scaled, unit) = match tick {
        tick if tick > 0.999e6 => (tick / 1e6, "M"),
        tick if tick > 0.999e3 => (tick / 1e3, "k"),
        tick => (tick, ""),
    };
    format!("{}{unit}", (scaled * 1e3).round() / 1e3)
}

fn draw_line(
    drawing: &mut Drawing,
    panel: &FactorPanel,
    line: &FactorLine,
    way: usize,
    (across, up): (&Across, &Axis),
) {
    let spot = |point: &FactorPoint| {
        let estimate = goodput(point)?.clone();
        let words = figure(Quantity::Number, &estimate).line();
        let limit = point.limited_by.as_ref().map(|limit| format!("; limited by {limit}")).unwrap_or_default();
        let title = format!("{} at {}: {words}{limit}", line.title, label(panel, point.value));
        Some(Spot { x: across.at(point.value), estimate, title })
    };
    draw_spots(drawing, (&line.runtime, way), up, line.points.iter().filter_map(spot).collect());
}

fn label(panel: &FactorPanel, value: f64) -> &str {
    panel.levels.iter().find(|level| level.value == value).map_or("", |level| &level.label)
}

/// The points of a line with their positions.
fn places<'a>(line: &'a FactorLine, (across, up): (&Across, &Axis)) -> Vec<(&'a FactorPoint, [f64; 2])> {
    let place = |point: &'a FactorPoint| Some((point, [across.at(point.value), up.at(goodput(point)?.value)]));
    line.points.iter().filter_map(place).collect()
}

/// A circle where two lines cross, vertically between both, with the interval of its position.
fn mark(drawing: &mut Drawing, panel: &FactorPanel, crossing: &FactorCrossover, axes: (&Across, &Axis)) {
    let line = |subject: &str| panel.lines.iter().find(|line| line.subject == subject);
    let x = axes.0.at(crossing.at);
    let of = |subject: &str| {
        let line = line(subject)?;
        let places: Vec<[f64; 2]> = places(line, axes)
            .into_iter()
            .filter(|(point, _)| point.value == crossing.between.0 || point.value == crossing.between.1)
            .map(|(_, place)| place)
            .collect();
        let [[left, from], [right, to]] = places.as_slice() else { return None };
        Some((line.title.as_str(), from + (to - from) * (x - left) / (right - left)))
    };
    let (Some((below, one)), Some((above, other))) = (of(&crossing.faster_below), of(&crossing.faster_above)) else {
        return;
    };
    let y = f64::midpoint(one, other);
    if let (Some(low), Some(high)) = (crossing.at_low, crossing.at_high) {
        drawing.whisker(axes.0.at(low), axes.0.at(high), y);
    }
    let title = format!("{below} is faster below, {above} above");
    drawing.point("flip", [x, y], "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z", &title);
}

/// A value of the panel and its ratio to the lowest level's, for tables: `141 · 0.93×`.
pub(crate) fn cell(point: &FactorPoint) -> String {
    let goodput = amount(Quantity::Number, point.goodput_rps.value);
    match &point.of_lowest {
        None => goodput,
        Some(ratio) => format!("{goodput} · {}", figure(Quantity::Ratio, ratio).line()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.5, 20.0, 5_000.0, 2e6].map(rate), ["0.5", "20", "5k", "2M"]);
    }
}
