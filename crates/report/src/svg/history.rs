//! A figure of a scenario over the runs of a history: a line for each subject, and a mark where a level changes.
//!
//! The axis across has one place for each run, as runs are no equal time apart. The upright axis is logarithmic, so equal ratios are
//! equally high.

use tolok_analysis::figures::{amount, count, figure};
use tolok_analysis::{FigureSeries, LevelChange, RunHistory};

use super::lines::{Axis, Plane, Spot, draw_spots, line_class, ways};
use super::{Anchor, Drawing, WIDTH, fitted, highest, lowest, short};

const PLANE: Plane = Plane { left: 54.0, right: WIDTH - 12.0, top: 44.0, bottom: 204.0 };
/// Height of a line of the legend.
const LEGEND: f64 = 19.0;
/// A mark of a change: a triangle that stands on its tip.
const CHANGE: &str = "M0 0l-5 -8h10z";

/// The series of one scenario and one figure; none where no run has it.
pub(crate) fn history(found: &RunHistory, all: &[&FigureSeries]) -> Option<String> {
    let first = all.first()?;
    let shown = || all.iter().flat_map(|series| &series.points).map(|point| &point.value);
    let low = shown().map(lowest).filter(|value| *value > 0.0).reduce(f64::min)?;
    let high = shown().map(highest).reduce(f64::max)?;
    let across = |run: usize| {
        let room = (PLANE.right - PLANE.left - 20.0) / found.runs.len().saturating_sub(1).max(1) as f64;
        PLANE.left + 10.0 + room * run as f64
    };
    let up = Axis::of(low, high, PLANE.bottom - 10.0, PLANE.top + 14.0);
    let mut drawing = Drawing::new(WIDTH, PLANE.bottom + 40.0 + LEGEND * all.len() as f64);
    drawing.heading(&first.scenario_title, &format!("{} over runs, logarithmic", first.metric.title(first.kind)));
    PLANE.upright(&mut drawing, &up, |value| amount(first.metric.quantity(), value));
    let marks = (0..found.runs.len()).map(|run| (across(run), count(run as u64 + 1)));
    PLANE.across(&mut drawing, marks, "run");
    let ways = ways(&all.iter().map(|it| (it.runtime.as_str(), it.subject.as_str())).collect::<Vec<_>>());
    for (series, way) in all.iter().zip(&ways) {
        let spot = |point: &tolok_analysis::HistoryPoint| Spot {
            x: across(point.run),
            estimate: point.value.clone(),
            title: format!(
                "{} in {}: {}",
                series.title,
                found.runs[point.run].id,
                figure(series.metric.quantity(), &point.value).line()
            ),
        };
        draw_spots(&mut drawing, (&series.runtime, *way), &up, series.points.iter().map(spot).collect());
    }
    for change in all.iter().flat_map(|series| &series.changes) {
        mark(&mut drawing, found, across(change.run), change);
    }
    for (row, (series, way)) in all.iter().zip(&ways).enumerate() {
        let y = PLANE.bottom + 50.0 + LEGEND * row as f64;
        drawing.path(&line_class(&series.runtime, *way), &format!("M{} {}h24", short(PLANE.left), short(y - 4.0)));
        let name = if series.is_ceiling { format!("ceiling: {}", series.title) } else { series.title.clone() };
        drawing.text("p", Anchor::Start, PLANE.left + 30.0, y, &fitted(&name, (PLANE.right - PLANE.left - 30.0) / 6.8));
    }
    let changes = all.iter().map(|series| series.changes.len()).sum::<usize>();
    Some(drawing.finish(&format!(
        "{} of {} over {} runs, {changes} changes of level; the table says the same in numbers",
        first.metric.title(first.kind),
        first.scenario,
        found.runs.len()
    )))
}

/// Between the last run of the old level and the first one of the new.
fn mark(drawing: &mut Drawing, found: &RunHistory, x: f64, change: &LevelChange) {
    let title = format!("a new level from {} on: {:.3}×", found.runs[change.run].id, change.ratio);
    drawing.point("axis", [x, PLANE.top + 10.0], CHANGE, &title);
}
