//! Goodput of subjects across the values of one factor.
//!
//! Goodput has a logarithmic axis, on which lines that run side by side differ by the same factor. So has the factor, unless its
//! lowest value is 0. Where the order of two subjects flips for sure, a circle stands at the crossing, with its interval.

use tolok_analysis::figures::{Quantity, amount, figure};
use tolok_analysis::{Estimate, FactorCrossover, FactorLine, FactorPanel, FactorPoint};

use super::series::{Axis, ways};
use super::{Anchor, Drawing, LETTER, WIDTH, fitted, short};
use crate::svg::palette::look;

const LEFT: f64 = 44.0;
/// Beyond it stand the names of the lines.
const RIGHT: f64 = 238.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 236.0;
const NAMES: f64 = 250.0;
/// Names stand at least so far apart, one beneath the other.
const NAME: f64 = 14.0;
/// Numbers of an axis stand at least so far apart.
const APART_X: f64 = 34.0;
const APART_Y: f64 = 18.0;

/// The axis of the factor.
enum Across {
    Logarithmic(Axis),
    Even { low: f64, high: f64 },
}

impl Across {
    fn of(panel: &FactorPanel) -> Option<Self> {
        let (low, high) = (panel.levels.first()?.value, panel.levels.last()?.value);
        let (from, to) = (LEFT + 10.0, RIGHT - 8.0);
        Some(if low > 0.0 { Self::Logarithmic(Axis::of(low, high, from, to)) } else { Self::Even { low, high } })
    }

    fn at(&self, value: f64) -> f64 {
        match self {
            Self::Logarithmic(axis) => axis.at(value),
            Self::Even { low, high } => LEFT + 10.0 + (RIGHT - LEFT - 18.0) * (value - low) / (high - low),
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Logarithmic(_) => "logarithmic axes",
            Self::Even { .. } => "logarithmic upright",
        }
    }
}

/// The chart of a panel; none where nothing can be drawn.
pub(crate) fn factor_panel(panel: &FactorPanel) -> Option<String> {
    let across = Across::of(panel)?;
    let shown = || panel.lines.iter().flat_map(|line| &line.points).filter_map(goodput);
    let low = shown().map(lowest).reduce(f64::min)?;
    let high = shown().map(|goodput| goodput.high.unwrap_or(goodput.value)).reduce(f64::max)?;
    let up = Axis::of(low, high, BOTTOM - 8.0, TOP + 10.0);
    let mut drawing = Drawing::new(WIDTH, BOTTOM + 38.0);
    let heading = if panel.fixed.is_empty() { &panel.workload_title } else { &panel.fixed };
    drawing.heading(heading, &format!("good answers/s, {}", across.words()));
    grid(&mut drawing, panel, &across, &up);
    let ways = ways(&panel.lines.iter().map(|line| (line.runtime.as_str(), line.subject.as_str())).collect::<Vec<_>>());
    for (line, way) in panel.lines.iter().zip(ways) {
        draw_line(&mut drawing, panel, line, way, (&across, &up));
    }
    for crossing in panel.crossovers.iter().filter(|crossing| crossing.sure) {
        mark(&mut drawing, panel, crossing, (&across, &up));
    }
    names(&mut drawing, panel, (&across, &up));
    let number = panel.lines.len();
    let label = format!("Goodput of {number} subjects by {}; the same figures stand in the table below", panel.title);
    Some(drawing.finish(&label))
}

/// A goodput that can stand on a logarithmic axis.
fn goodput(point: &FactorPoint) -> Option<&Estimate> {
    Some(&point.goodput_rps).filter(|goodput| goodput.value > 0.0)
}

fn lowest(goodput: &Estimate) -> f64 {
    goodput.low.filter(|low| *low > 0.0).unwrap_or(goodput.value)
}

fn grid(drawing: &mut Drawing, panel: &FactorPanel, across: &Across, up: &Axis) {
    let mut last = f64::INFINITY;
    for tick in up.ticks() {
        let y = up.at(tick);
        drawing.path("grid-line", &format!("M{LEFT} {}H{RIGHT}", short(y)));
        if last - y >= APART_Y {
            drawing.text("m", Anchor::End, LEFT - 5.0, y + 4.0, &rate(tick));
            last = y;
        }
    }
    let mut last = f64::NEG_INFINITY;
    for level in &panel.levels {
        let x = across.at(level.value);
        drawing.path("grid-line", &format!("M{} {TOP}V{BOTTOM}", short(x)));
        if x - last >= APART_X {
            drawing.text("m", Anchor::Middle, x, BOTTOM + 14.0, &level.label);
            last = x;
        }
    }
    drawing.path("axis", &format!("M{LEFT} {BOTTOM}H{RIGHT}"));
    drawing.text("m", Anchor::End, RIGHT, BOTTOM + 29.0, &fitted(&panel.title, (RIGHT - 2.0) / 6.3));
}

/// A tick without decimals that nobody needs: `20k`.
pub(super) fn rate(tick: f64) -> String {
    let (scaled, unit) = match tick {
        tick if tick > 0.999e6 => (tick / 1e6, "M"),
        tick if tick > 0.999e3 => (tick / 1e3, "k"),
        tick => (tick, ""),
    };
    format!("{}{unit}", (scaled * 1e3).round() / 1e3)
}

fn draw_line(drawing: &mut Drawing, panel: &FactorPanel, line: &FactorLine, way: usize, axes: (&Across, &Axis)) {
    let path: Vec<String> =
        places(line, axes).iter().map(|(_, [x, y])| format!("{} {}", short(*x), short(*y))).collect();
    let dashes = if way == 0 { String::new() } else { format!(" way-{way}") };
    if path.len() > 1 {
        drawing.path(&format!("{} line{dashes}", look(&line.runtime).class), &format!("M{}", path.join("L")));
    }
    for (point, [x, y]) in places(line, axes) {
        if let (Some(_), Some(high)) = (point.goodput_rps.low, point.goodput_rps.high) {
            drawing.upright_whisker(x, axes.1.at(lowest(&point.goodput_rps)), axes.1.at(high));
        }
        let words = figure(Quantity::Number, &point.goodput_rps).line();
        let limit = point.limited_by.as_ref().map(|limit| format!("; limited by {limit}")).unwrap_or_default();
        let title = format!("{} at {}: {words}{limit}", line.title, label(panel, point.value));
        look(&line.runtime).draw_point(drawing, [x, y], way > 0, &title);
    }
}

fn label(panel: &FactorPanel, value: f64) -> &str {
    panel.levels.iter().find(|level| level.value == value).map_or("", |level| &level.label)
}

/// The points of a line with their places.
fn places<'a>(line: &'a FactorLine, (across, up): (&Across, &Axis)) -> Vec<(&'a FactorPoint, [f64; 2])> {
    let place = |point: &'a FactorPoint| Some((point, [across.at(point.value), up.at(goodput(point)?.value)]));
    line.points.iter().filter_map(place).collect()
}

/// A circle where two lines cross, halfway between what is drawn of both, with the interval of its place.
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

/// The name of each line at its end, moved where two would stand in one place.
fn names(drawing: &mut Drawing, panel: &FactorPanel, axes: (&Across, &Axis)) {
    let end = |line| places(line, axes).last().map(|(_, place)| *place);
    let mut ends: Vec<(&FactorLine, [f64; 2])> =
        panel.lines.iter().filter_map(|line| Some((line, end(line)?))).collect();
    ends.sort_by(|left, right| left.1[1].total_cmp(&right.1[1]));
    let wanted: Vec<f64> = ends.iter().map(|(_, [_, y])| *y).collect();
    for ((line, [x, y]), at) in ends.iter().zip(spread(&wanted, TOP + 4.0, BOTTOM)) {
        let lead = format!("M{} {}L{} {}", short(x + 6.0), short(*y), short(NAMES - 3.0), short(at));
        drawing.path("lead", &lead);
        drawing.text("m n", Anchor::Start, NAMES, at + 4.0, &fitted(&line.title, (WIDTH - NAMES) / (0.93 * LETTER)));
    }
}

/// Places near those wanted, which rise, so that no two are nearer than a name is high; within two ends if there is room.
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

/// A value of the panel and what it is of the lowest level's, for tables: `141 · 0.93×`.
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
    fn names_are_moved_apart_and_stay_inside() {
        assert_eq!(spread(&[50.0, 52.0, 120.0], 40.0, 200.0), [50.0, 64.0, 120.0]);
        assert_eq!(spread(&[190.0, 195.0, 199.0], 40.0, 200.0), [172.0, 186.0, 200.0]);
        assert_eq!(spread(&[], 40.0, 200.0), Vec::<f64>::new());
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.5, 20.0, 5_000.0, 2e6].map(rate), ["0.5", "20", "5k", "2M"]);
    }
}
