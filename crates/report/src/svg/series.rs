//! Times of programs across the values of one parameter, both axes logarithmic.

use tolok_analysis::figures::{Quantity, amount, count, figure};
use tolok_analysis::{Estimate, ProgramSeries, SeriesLine, SeriesPoint};

use super::lines::{Axis, Plane, Spot, draw_spots, line_class, ways};
use super::{Anchor, Drawing, LETTER, WIDTH, fitted_apart, highest, lowest, short};
use crate::svg::palette::look;

const PLANE: Plane = Plane { left: 50.0, right: WIDTH - 10.0, top: 44.0, bottom: 244.0 };
/// Height of a line of the legend.
const LEGEND: f64 = 19.0;

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

    /// That time at a point, if a logarithmic axis can show it.
    fn of(self, point: &SeriesPoint) -> Option<&Estimate> {
        let estimate = match self {
            Self::Wall => point.wall_s.as_ref(),
            Self::AboveFloor => point.above_floor_s.as_ref(),
        };
        estimate.filter(|estimate| estimate.value > 0.0)
    }
}

/// A chart of one time; `None` if no subject has it.
pub(crate) fn series(series: &ProgramSeries, time: Time) -> Option<String> {
    let shown = || series.lines.iter().flat_map(|line| &line.points).filter_map(|point| time.of(point));
    let low = shown().map(lowest).reduce(f64::min)?;
    let high = shown().map(highest).reduce(f64::max)?;
    let (first, last) = (series.values.first().copied()?, series.values.last().copied()?);
    let across = Axis::of(place(first), place(last), PLANE.left + 10.0, PLANE.right - 8.0);
    let up = Axis::of(low, high, PLANE.bottom - 8.0, PLANE.top + 8.0);

    let mut drawing = Drawing::new(WIDTH, PLANE.bottom + 40.0 + LEGEND * series.lines.len() as f64);
    drawing.heading(&series.title, &format!("{} by {}, logarithmic axes", time.words(), series.parameter));
    PLANE.upright(&mut drawing, &up, seconds);
    let marks = series.values.iter().map(|value| (across.at(place(*value)), whole(*value)));
    PLANE.across(&mut drawing, marks, &series.parameter);
    for (line, way) in series.lines.iter().zip(of_lines(series)) {
        draw_line(&mut drawing, series, line, way, time, [&across, &up]);
    }
    // Wide letters make a name wider than its letter count suggests, and here a name may fill the whole line.
    let letters = (WIDTH - 40.0) / (1.12 * LETTER);
    let names = fitted_apart(&series.lines.iter().map(|line| line.title.as_str()).collect::<Vec<_>>(), letters);
    for (row, ((line, way), name)) in series.lines.iter().zip(of_lines(series)).zip(&names).enumerate() {
        legend(&mut drawing, (line, name), way, PLANE.bottom + 50.0 + LEGEND * row as f64);
    }
    let what = time.words();
    Some(drawing.finish(&format!(
        "{}: {what} by {} of {} subjects; the table below has the same figures",
        series.title,
        series.parameter,
        series.lines.len()
    )))
}

fn of_lines(series: &ProgramSeries) -> Vec<usize> {
    ways(&series.lines.iter().map(|line| (line.runtime.as_str(), line.subject.as_str())).collect::<Vec<_>>())
}

fn draw_line(
    drawing: &mut Drawing,
    series: &ProgramSeries,
    line: &SeriesLine,
    way: usize,
    time: Time,
    [across, up]: [&Axis; 2],
) {
    let spot = |point: &'_ SeriesPoint| {
        let estimate = time.of(point)?.clone();
        let words = figure(Quantity::Seconds, &estimate).line();
        let title = format!("{}, {} = {}: {words}", line.title, series.parameter, count(u64::from(point.value)));
        Some(Spot { x: across.at(place(point.value)), estimate, title })
    };
    draw_spots(drawing, (&line.runtime, way), up, line.points.iter().filter_map(spot).collect());
}

fn legend(drawing: &mut Drawing, (line, name): (&SeriesLine, &str), way: usize, y: f64) {
    drawing.path(&line_class(&line.runtime, way), &format!("M2 {}h28", short(y - 4.0)));
    look(&line.runtime).draw_point(drawing, [16.0, y - 4.0], way > 0, &line.title);
    drawing.text("l", Anchor::Start, 40.0, y, name);
}

/// Position of a parameter value: a logarithmic axis cannot show 0.
fn place(value: u32) -> f64 {
    f64::from(value).max(0.5)
}

/// A time tick in a suitable unit: `20 ms`.
pub(super) fn seconds(tick: f64) -> String {
    let (scaled, unit) = match tick {
        tick if tick > 0.999 => (tick, "s"),
        tick if tick > 0.999e-3 => (tick * 1e3, "ms"),
        tick if tick > 0.999e-6 => (tick * 1e6, "µs"),
        tick => (tick * 1e9, "ns"),
    };
    format!("{} {unit}", scaled.round())
}

/// A parameter value, as short as possible: `100k`.
fn whole(value: u32) -> String {
    let short = |of: u32, unit: &str| value.is_multiple_of(of).then(|| format!("{}{unit}", value / of));
    match value {
        1_000_000.. => short(1_000_000, "M").unwrap_or_else(|| amount(Quantity::Number, value.into())),
        1_000.. => short(1_000, "k").unwrap_or_else(|| amount(Quantity::Number, value.into())),
        few => few.to_string(),
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
}
