//! Times of programs across the values of one parameter, both axes logarithmic.

use tolok_analysis::figures::{Quantity, amount, count, figure};
use tolok_analysis::{Estimate, ProgramSeries, SeriesLine, SeriesPoint};

use super::{Anchor, Drawing, LETTER, WIDTH, fitted, short};
use crate::svg::palette::look;

const LEFT: f64 = 50.0;
const RIGHT: f64 = WIDTH - 10.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 244.0;
/// Height of a line of the legend.
const LEGEND: f64 = 19.0;
/// Numbers of an axis stand at least so far apart.
const APART_X: f64 = 34.0;
const APART_Y: f64 = 18.0;
/// Ways to draw a line, for several variants of one runtime; the first is solid.
const WAYS: usize = 4;

/// Which time a chart shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    Wall,
    AboveFloor,
}

impl Time {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::AboveFloor => "wall time above the start",
        }
    }

    /// That time at a point, if it can stand on a logarithmic axis.
    fn of(self, point: &SeriesPoint) -> Option<&Estimate> {
        let estimate = match self {
            Self::Wall => point.wall_s.as_ref(),
            Self::AboveFloor => point.above_floor_s.as_ref(),
        };
        estimate.filter(|estimate| estimate.value > 0.0)
    }
}

/// A chart of one time; none where no subject has it.
pub(crate) fn series(series: &ProgramSeries, time: Time) -> Option<String> {
    let shown = || series.lines.iter().flat_map(|line| &line.points).filter_map(|point| time.of(point));
    let low = shown().map(lowest).reduce(f64::min)?;
    let high = shown().map(|estimate| estimate.high.unwrap_or(estimate.value)).reduce(f64::max)?;
    let (first, last) = (series.values.first().copied()?, series.values.last().copied()?);
    let across = Axis::of(place(first), place(last), LEFT + 10.0, RIGHT - 8.0);
    let up = Axis::of(low, high, BOTTOM - 8.0, TOP + 8.0);

    let mut drawing = Drawing::new(WIDTH, BOTTOM + 40.0 + LEGEND * series.lines.len() as f64);
    drawing.heading(&series.title, &format!("{} by {}, logarithmic axes", time.words(), series.parameter));
    grid(&mut drawing, &across, &up, series);
    for (line, way) in series.lines.iter().zip(of_lines(series)) {
        draw_line(&mut drawing, series, line, way, time, [&across, &up]);
    }
    for (row, (line, way)) in series.lines.iter().zip(of_lines(series)).enumerate() {
        legend(&mut drawing, line, way, BOTTOM + 50.0 + LEGEND * row as f64);
    }
    let what = time.words();
    Some(drawing.finish(&format!(
        "{}: {what} by {} of {} subjects; the same figures stand in the table below",
        series.title,
        series.parameter,
        series.lines.len()
    )))
}

fn of_lines(series: &ProgramSeries) -> Vec<usize> {
    ways(&series.lines.iter().map(|line| (line.runtime.as_str(), line.subject.as_str())).collect::<Vec<_>>())
}

/// How each line of a runtime and a subject is drawn: the place of a subject among those of its runtime, by name, so that it does
/// not change from one chart to the next.
pub(crate) fn ways(lines: &[(&str, &str)]) -> Vec<usize> {
    let before =
        |(runtime, subject): &(&str, &str)| lines.iter().filter(|it| it.0 == *runtime && it.1 < *subject).count();
    lines.iter().map(|line| before(line).min(WAYS - 1)).collect()
}

fn class(line: &SeriesLine, way: usize) -> String {
    let dashes = if way == 0 { String::new() } else { format!(" way-{way}") };
    format!("{} line{dashes}", look(&line.runtime).class)
}

fn draw_line(
    drawing: &mut Drawing,
    series: &ProgramSeries,
    line: &SeriesLine,
    way: usize,
    time: Time,
    [across, up]: [&Axis; 2],
) {
    let points: Vec<(u32, &Estimate)> =
        line.points.iter().filter_map(|point| Some((point.value, time.of(point)?))).collect();
    let at = |(value, estimate): &(u32, &Estimate)| [across.at(place(*value)), up.at(estimate.value)];
    let path: Vec<String> = points.iter().map(at).map(|[x, y]| format!("{} {}", short(x), short(y))).collect();
    if path.len() > 1 {
        drawing.path(&class(line, way), &format!("M{}", path.join("L")));
    }
    for (value, estimate) in &points {
        let [x, y] = at(&(*value, estimate));
        if let (Some(_), Some(high)) = (estimate.low, estimate.high) {
            drawing.upright_whisker(x, up.at(lowest(estimate)), up.at(high));
        }
        let words = figure(Quantity::Seconds, estimate).line();
        let title = format!("{}, {} = {}: {words}", line.title, series.parameter, count(u64::from(*value)));
        look(&line.runtime).draw_point(drawing, [x, y], way > 0, &title);
    }
}

fn legend(drawing: &mut Drawing, line: &SeriesLine, way: usize, y: f64) {
    drawing.path(&class(line, way), &format!("M2 {}h28", short(y - 4.0)));
    look(&line.runtime).draw_point(drawing, [16.0, y - 4.0], way > 0, &line.title);
    // A name of many wide letters is wider than its number of letters says, and here it may fill the whole line.
    let letters = (WIDTH - 40.0) / (1.12 * LETTER);
    drawing.text("l", Anchor::Start, 40.0, y, &fitted(&line.title, letters));
}

fn grid(drawing: &mut Drawing, across: &Axis, up: &Axis, series: &ProgramSeries) {
    let mut last = f64::INFINITY;
    for tick in up.ticks() {
        let y = up.at(tick);
        drawing.path("grid-line", &format!("M{LEFT} {}H{RIGHT}", short(y)));
        if last - y >= APART_Y {
            drawing.text("m", Anchor::End, LEFT - 5.0, y + 4.0, &seconds(tick));
            last = y;
        }
    }
    let mut last = f64::NEG_INFINITY;
    for value in &series.values {
        let x = across.at(place(*value));
        drawing.path("grid-line", &format!("M{} {TOP}V{BOTTOM}", short(x)));
        if x - last >= APART_X {
            drawing.text("m", Anchor::Middle, x, BOTTOM + 14.0, &whole(*value));
            last = x;
        }
    }
    drawing.path("axis", &format!("M{LEFT} {BOTTOM}H{RIGHT}"));
    drawing.text("m", Anchor::End, RIGHT, BOTTOM + 29.0, &series.parameter);
}

/// Where a value of the parameter stands: a logarithm has no place for 0.
fn place(value: u32) -> f64 {
    f64::from(value).max(0.5)
}

/// The lower end of an interval, as far as a logarithmic axis can show it.
fn lowest(estimate: &Estimate) -> f64 {
    estimate.low.filter(|low| *low > 0.0).unwrap_or(estimate.value)
}

/// A tick of the time in the unit that fits it: `20 ms`.
pub(super) fn seconds(tick: f64) -> String {
    let (scaled, unit) = match tick {
        tick if tick > 0.999 => (tick, "s"),
        tick if tick > 0.999e-3 => (tick * 1e3, "ms"),
        tick if tick > 0.999e-6 => (tick * 1e6, "µs"),
        tick => (tick * 1e9, "ns"),
    };
    format!("{} {unit}", scaled.round())
}

/// A value of the parameter, as short as it goes: `100k`.
fn whole(value: u32) -> String {
    let short = |of: u32, unit: &str| value.is_multiple_of(of).then(|| format!("{}{unit}", value / of));
    match value {
        1_000_000.. => short(1_000_000, "M").unwrap_or_else(|| amount(Quantity::Number, value.into())),
        1_000.. => short(1_000, "k").unwrap_or_else(|| amount(Quantity::Number, value.into())),
        few => few.to_string(),
    }
}

/// A logarithmic axis between two places of the drawing.
pub(super) struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    pub(super) fn of(low: f64, high: f64, from: f64, to: f64) -> Self {
        // A single value stands in the middle.
        let (low, high) = if high / low < 1.05 { (low / 1.5, high * 1.5) } else { (low, high) };
        Self { low: low.ln(), high: high.ln(), from, to }
    }

    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value.ln() - self.low) / (self.high - self.low)
    }

    /// Powers of ten within it; where those are few, 2 and 5 times them as well.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let decades =
            (self.low / std::f64::consts::LN_10).floor() as i32..=(self.high / std::f64::consts::LN_10).ceil() as i32;
        let within = |steps: &[f64]| -> Vec<f64> {
            let all = decades.clone().flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
            all.filter(|tick| (self.low..=self.high).contains(&tick.ln())).collect()
        };
        let wide = within(&[1.0]);
        if wide.len() >= 3 { wide } else { within(&[1.0, 2.0, 5.0]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_powers_of_ten_and_more_where_those_are_few() {
        let ticks =
            |low, high| Axis::of(low, high, 0.0, 1.0).ticks().iter().map(|tick| seconds(*tick)).collect::<Vec<_>>();
        assert_eq!(ticks(0.002, 1.5), ["10 ms", "100 ms", "1 s"]);
        assert_eq!(ticks(0.04, 0.3), ["50 ms", "100 ms", "200 ms"]);
        assert_eq!(ticks(0.000_000_5, 0.000_02), ["500 ns", "1 µs", "2 µs", "5 µs", "10 µs", "20 µs"]);
    }

    #[test]
    fn values_are_written_short_if_that_loses_nothing() {
        assert_eq!([100, 1_000, 10_000_000, 1_500].map(whole), ["100", "1k", "10M", "1.50k"]);
    }

    #[test]
    fn an_axis_of_one_value_has_it_in_the_middle() {
        assert!((Axis::of(2.0, 2.0, 0.0, 10.0).at(2.0) - 5.0).abs() < 1e-9);
    }
}
