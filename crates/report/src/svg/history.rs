//! A figure of a scenario over the runs of a history: a line for each subject, and a mark where a level changes.
//!
//! All lines are relative to their own first level, so subjects that differ tenfold share one axis, and a step of a few per cent is
//! visible. The vertical axis is logarithmic, so equal ratios have equal heights. The horizontal axis has equal steps, because
//! runs are not evenly spaced in time.

use tolok_analysis::figures::{Quantity, amount, count, counted, figure};
use tolok_analysis::{Estimate, FigureSeries, HistoryPoint, RunHistory};

use super::lines::{Axis, Plane, Spot, draw_spots, line_class, ways};
use super::palette::look;
use super::{Anchor, Drawing, WIDTH, fitted, highest, lowest, short};

const PLANE: Plane = Plane { left: 54.0, right: WIDTH - 12.0, top: 44.0, bottom: 204.0 };
/// Height of a line of the legend.
const LEGEND: f64 = 19.0;
/// The mark of a change: a triangle pointing down.
const CHANGE: &str = "M0 0l-5 -8h10z";
/// The axis covers at least this range on either side of 1, so that noise does not look like steps.
const LEAST_REACH: f64 = 0.05;
/// Beyond this ratio of its ends, the axis has powers of ten instead of equal steps.
const WIDE: f64 = 3.0;
/// Steps of the vertical axis, and the most lines on it.
const STEPS: [f64; 6] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
const LINES_MAX: f64 = 7.0;

/// The series of one scenario and one figure; `None` if no run has it.
pub(crate) fn history(found: &RunHistory, all: &[&FigureSeries]) -> Option<String> {
    let first = all.first()?;
    let lines: Vec<(&FigureSeries, Vec<Estimate>)> =
        all.iter().filter_map(|series| Some((*series, relative(series)?))).collect();
    let shown = || lines.iter().flat_map(|(_, points)| points);
    let low = shown().map(lowest).filter(|value| *value > 0.0).reduce(f64::min)?.min(1.0 - LEAST_REACH);
    let high = shown().map(highest).reduce(f64::max)?.max(1.0 + LEAST_REACH);
    let across = |run: usize| {
        let room = (PLANE.right - PLANE.left - 20.0) / found.runs.len().saturating_sub(1).max(1) as f64;
        PLANE.left + 10.0 + room * run as f64
    };
    let up = Axis::of(low, high, PLANE.bottom - 10.0, PLANE.top + 14.0);
    let mut drawing = Drawing::new(WIDTH, PLANE.bottom + 40.0 + LEGEND * lines.len() as f64);
    let figure_name = first.metric.title(first.kind);
    drawing.heading(&first.scenario_title, &format!("{figure_name} ÷ its first level, logarithmic"));
    PLANE.upright_at(&mut drawing, &up, &ticks(&up, low, high), |value| amount(Quantity::Ratio, value));
    let marks = (0..found.runs.len()).map(|run| (across(run), count(run as u64 + 1)));
    PLANE.across(&mut drawing, marks, "run");
    let ways = ways(&lines.iter().map(|(it, _)| (it.runtime.as_str(), it.subject.as_str())).collect::<Vec<_>>());
    for ((series, points), way) in lines.iter().zip(&ways) {
        let spot = |(point, estimate): (&HistoryPoint, &Estimate)| Spot {
            x: across(point.run),
            estimate: estimate.clone(),
            title: words(found, series, point),
        };
        let spots = series.points.iter().zip(points).map(spot).collect();
        draw_spots(&mut drawing, (&series.runtime, *way), &up, spots);
    }
    for (series, points) in &lines {
        mark(&mut drawing, found, series, |place| [across(series.points[place].run), up.at(highest(&points[place]))]);
    }
    for (row, ((series, _), way)) in lines.iter().zip(&ways).enumerate() {
        let y = PLANE.bottom + 50.0 + LEGEND * row as f64;
        drawing.path(&line_class(&series.runtime, *way), &format!("M{} {}h24", short(PLANE.left), short(y - 4.0)));
        look(&series.runtime).draw_point(&mut drawing, [PLANE.left + 12.0, y - 4.0], *way > 0, &series.title);
        let name = if series.is_ceiling { format!("ceiling: {}", series.title) } else { series.title.clone() };
        drawing.text("p", Anchor::Start, PLANE.left + 30.0, y, &fitted(&name, (PLANE.right - PLANE.left - 30.0) / 6.8));
    }
    let changes: usize = lines.iter().map(|(series, _)| series.changes.len()).sum();
    let (changes, runs) = (counted(changes as u64, "change"), counted(found.runs.len() as u64, "run"));
    Some(drawing.finish(&format!(
        "{figure_name} of {} over {runs}, {changes} of level; the table says the same in numbers",
        first.scenario
    )))
}

/// The points of a series divided by the geometric mean of its first level. `None` without points, or if that level is 0.
fn relative(series: &FigureSeries) -> Option<Vec<Estimate>> {
    let end = series.changes.first().map_or(usize::MAX, |change| change.run);
    let logarithms: Vec<f64> =
        series.points.iter().filter(|point| point.run < end).map(|point| point.value.value.ln()).collect();
    let level = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    let over = |value: f64| value / level;
    let relative = |point: &HistoryPoint| Estimate {
        value: over(point.value.value),
        low: point.value.low.map(over),
        high: point.value.high.map(over),
        trials: Vec::new(),
    };
    (level.is_finite() && level > 0.0).then(|| series.points.iter().map(relative).collect())
}

/// Values of the vertical axis: equal steps around 1, or powers of ten for a wide range.
fn ticks(up: &Axis, low: f64, high: f64) -> Vec<f64> {
    let step = STEPS.into_iter().find(|step| (high - low) / step <= LINES_MAX).filter(|_| high / low <= WIDE);
    let Some(step) = step else { return up.ticks() };
    let places = (low / step).ceil() as i32..=(high / step).floor() as i32;
    places.map(|place| f64::from(place) * step).collect()
}

fn words(found: &RunHistory, series: &FigureSeries, point: &HistoryPoint) -> String {
    let value = figure(series.metric.quantity(), &point.value).line();
    format!("{} in {}: {value}", series.title, found.runs[point.run].id)
}

/// A triangle in the colour of the line, above each point that begins a new level.
fn mark(drawing: &mut Drawing, found: &RunHistory, series: &FigureSeries, at: impl Fn(usize) -> [f64; 2]) {
    for change in &series.changes {
        let Some(place) = series.points.iter().position(|point| point.run == change.run) else { continue };
        let [x, y] = at(place);
        let (run, ratio) = (&found.runs[change.run].id, amount(Quantity::Ratio, change.ratio));
        let title = format!("{}: a new level from {run} on, {ratio} of the one before", series.title);
        let class = format!("{} fill", look(&series.runtime).class);
        drawing.point(&class, [x, (y - 7.0).max(PLANE.top + 8.0)], CHANGE, &title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_equal_steps_around_one_or_powers_of_ten() {
        let axis = |low: f64, high: f64| ticks(&Axis::of(low, high, 0.0, 100.0), low, high);
        let near = |found: Vec<f64>, expected: &[f64]| {
            assert!(
                found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9),
                "{found:?}"
            );
        };
        near(axis(0.95, 1.05), &[0.96, 0.98, 1.0, 1.02, 1.04]);
        near(axis(0.84, 1.05), &[0.85, 0.9, 0.95, 1.0, 1.05]);
        near(axis(0.04, 1.5), &[0.05, 0.1, 0.2, 0.5, 1.0]);
    }
}
