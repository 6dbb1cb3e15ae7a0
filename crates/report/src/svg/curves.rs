//! Response times by percentile: the time is vertical, the share of slower responses horizontal, both logarithmic.

use tolok_analysis::figures::{Quantity, amount};
use tolok_analysis::{CaseFinding, CurvePoint, LatencyCurve, ScenarioFinding};

use super::lines::{Axis, Plane, line_class};
use super::series::seconds;
use super::{Anchor, Drawing, LETTER, WIDTH, few_words, short, trace};
use crate::svg::palette::look;
use crate::wording::heading;

/// More lines than this are indistinguishable, and their names would have no room; the table has them all.
pub(crate) const MOST_LINES: usize = 12;
/// For a paper's column.
const NARROW: Sheet = Sheet { plane: Plane { left: 50.0, right: 222.0, top: 42.0, bottom: 238.0 }, width: WIDTH };
/// For a page, two side by side.
const WIDE: Sheet = Sheet { plane: Plane { left: 50.0, right: 436.0, top: 42.0, bottom: 222.0 }, width: 544.0 };
/// Gap between the plane and the names of its lines.
const TO_NAMES: f64 = 10.0;
/// Approximate width of a letter in a tick label.
const TICK_LETTER: f64 = 7.0;
/// Least width of the range that no line reaches, so that it is visible.
const FEW: f64 = 20.0;
/// A curve with fewer points comes from the few percentiles that a tool reports, and each of them is marked.
const FEW_POINTS: usize = 8;

/// The area of a chart.
struct Sheet {
    plane: Plane,
    width: f64,
}

/// One line: a case, its curve, and its line style among those of its runtime.
struct Line<'a> {
    case: &'a CaseFinding,
    points: Vec<&'a CurvePoint>,
    way: usize,
}

/// The chart of a scenario; `None` if no case has a curve. `way` returns the line style of a subject.
pub(crate) fn curves(scenario: &ScenarioFinding, way: &dyn Fn(&str) -> usize, is_wide: bool) -> Option<String> {
    let Sheet { plane, width } = if is_wide { &WIDE } else { &NARROW };
    let lines: Vec<Line> = scenario.cases.iter().filter_map(|case| Line::of(case, way)).take(MOST_LINES).collect();
    let points = || lines.iter().flat_map(|line| &line.points);
    let low = points().map(|point| lowest(point)).reduce(f64::min)?;
    let high = points().map(|point| point.high_s).reduce(f64::max)?;
    let across = Across::of(points().map(|point| place(point.quantile)).reduce(f64::max)?, plane);
    let up = upright(low, high, plane);

    let mut drawing = Drawing::new(*width, plane.bottom + 34.0);
    drawing.heading(&heading(scenario), &few_words(&scenario.load));
    grid(&mut drawing, plane, (&across, &up), &scenario.loop_model);
    lines.iter().for_each(|line| line.draw_band(&mut drawing, (&across, &up)));
    lines.iter().for_each(|line| line.draw(&mut drawing, (&across, &up)));
    let ends = lines.iter().map(|line| (line.case.short.as_str(), line.end((&across, &up))));
    let names = plane.right + TO_NAMES;
    plane.names(&mut drawing, ends.collect(), names, (width - names - 4.0) / (1.02 * LETTER));
    let label = format!(
        "{}: response times by percentile of {} subjects; the table below has the same figures",
        heading(scenario),
        lines.len()
    );
    Some(drawing.finish(&label))
}

/// Position of a quantile: 1 for p90, 2 for p99.
fn place(quantile: f64) -> f64 {
    -(1.0 - quantile).log10()
}

/// The name of a quantile, with enough digits to distinguish it from 1: `p99.9`, `p99.9987`.
pub(crate) fn quantile_words(quantile: f64) -> String {
    let decimals = (place(quantile).floor() as usize).saturating_sub(1) + 1;
    let text = format!("{:.decimals$}", quantile * 100.0);
    format!("p{}", if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
}

/// The low end of a band, if a logarithmic axis can show it.
fn lowest(point: &CurvePoint) -> f64 {
    if point.low_s > 0.0 { point.low_s } else { point.latency_s }
}

/// The axis of percentiles.
struct Across {
    /// Where the longest line ends.
    end: f64,
    /// Where the axis ends.
    last: f64,
    /// Its edges on the drawing.
    edges: [f64; 2],
}

impl Across {
    /// Up to the next power of ten, with room to label the range that no line reaches.
    fn of(end: f64, plane: &Plane) -> Self {
        let width = plane.right - plane.left;
        Self { end, last: end.ceil().max(end * width / (width - FEW)).max(1.0), edges: [plane.left, plane.right] }
    }

    fn at(&self, place: f64) -> f64 {
        let [left, right] = self.edges;
        left + (right - left) * place / self.last
    }
}

/// The time axis. If it would contain fewer than two ticks, it is extended to the ticks around it.
fn upright(low: f64, high: f64, plane: &Plane) -> Axis {
    let axis = |low, high| Axis::of(low, high, plane.bottom - 6.0, plane.top + 6.0);
    if axis(low, high).ticks().len() >= 2 {
        return axis(low, high);
    }
    let round = |value: f64, is_wanted: &dyn Fn(f64) -> bool| {
        let power = 10f64.powf(value.log10().floor());
        let steps = [0.5, 1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        steps
            .into_iter()
            .filter(|step| is_wanted(*step))
            .min_by(|one, other| (one / value).ln().abs().total_cmp(&(other / value).ln().abs()))
    };
    let below = round(low, &|step| step <= low * 1.000_001).unwrap_or(low);
    let above = round(high, &|step| step >= high * 0.999_999).unwrap_or(high);
    axis(below * 0.999, above * 1.001)
}

fn grid(drawing: &mut Drawing, plane: &Plane, (across, up): (&Across, &Axis), model: &str) {
    let from = across.at(across.end);
    let Plane { right, top, bottom, .. } = plane;
    drawing.path("same", &format!("M{} {top}H{}V{bottom}H{0}z", short(from), short(*right)));
    plane.upright(drawing, up, seconds);
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for quantile in ticks(across.last) {
        let (x, words) = (across.at(place(quantile)), quantile_words(quantile));
        // The axis title already says that these are percentiles.
        let words = words.trim_start_matches('p');
        plane.mark(drawing, x);
        let half = words.chars().count() as f64 * TICK_LETTER / 2.0 + 3.0;
        if taken.iter().all(|[from, to]| x + half < *from || x - half > *to) {
            drawing.text("m", Anchor::Middle, x, bottom + 14.0, words);
            taken.push([x - half, x + half]);
        }
    }
    plane.foot(drawing, &format!("percentile, {model} loop"));
}

/// Percentiles on the axis, those that must be labelled first.
fn ticks(last: f64) -> Vec<f64> {
    let nines = (2..=last.floor() as i32).map(|nines| 1.0 - 10f64.powi(-nines));
    std::iter::once(0.5).chain(nines).chain([0.9, 0.0]).collect()
}

impl<'a> Line<'a> {
    /// `None` if nothing can be drawn on a logarithmic axis. The shortest response is not drawn: it is a single one, often by far
    /// the shortest, and would squeeze the others into a strip at the top.
    fn of(case: &'a CaseFinding, way: &dyn Fn(&str) -> usize) -> Option<Self> {
        let points = &case.latency_curve.as_ref()?.points;
        let points: Vec<&CurvePoint> =
            points.iter().filter(|point| point.quantile > 0.0 && point.latency_s > 0.0).collect();
        (points.len() > 1).then(|| Self { case, points, way: way(&case.subject) })
    }

    fn places(&self, (across, up): (&Across, &Axis), of: fn(&CurvePoint) -> f64) -> Vec<[f64; 2]> {
        self.points.iter().map(|point| [across.at(place(point.quantile)), up.at(of(point))]).collect()
    }

    fn end(&self, axes: (&Across, &Axis)) -> [f64; 2] {
        self.places(axes, |point| point.latency_s).last().copied().unwrap_or_default()
    }

    fn draw_band(&self, drawing: &mut Drawing, axes: (&Across, &Axis)) {
        let path = trace::area(&self.places(axes, |point| point.high_s), &self.places(axes, lowest));
        if self.points.iter().any(|point| point.high_s > point.low_s) {
            drawing.path(&format!("{} band", look(&self.case.runtime).class), &path);
        }
    }

    fn draw(&self, drawing: &mut Drawing, axes: (&Across, &Axis)) {
        let places = self.places(axes, |point| point.latency_s);
        drawing.path(&line_class(&self.case.runtime, self.way), &trace::line(&places));
        let marked = if places.len() < FEW_POINTS { places.as_slice() } else { &places[places.len() - 1..] };
        for at in marked {
            look(&self.case.runtime).draw_point(drawing, *at, self.way > 0, &words(self.case));
        }
    }
}

/// The name of a case and some of its percentiles, as tooltip.
fn words(case: &CaseFinding) -> String {
    let points = case.latency_curve.iter().flat_map(|curve: &LatencyCurve| &curve.points);
    let last = points.clone().last().map_or(0.0, |point| point.quantile);
    let is_told = |point: &&CurvePoint| [0.5, 0.9, 0.99, 0.999, last].contains(&point.quantile);
    let words = |point: &CurvePoint| {
        format!("{} {}", quantile_words(point.quantile), amount(Quantity::Seconds, point.latency_s))
    };
    let told: Vec<String> = points.filter(is_told).map(words).collect();
    format!("{}: {}", case.title, told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_has_as_many_digits_as_it_needs() {
        let quantiles = [0.0, 0.5, 0.9, 0.99, 0.999, 0.99999, 0.999_866_6, 0.4377];
        let words = ["p0", "p50", "p90", "p99", "p99.9", "p99.999", "p99.987", "p43.8"];
        assert_eq!(quantiles.map(quantile_words), words);
    }

    #[test]
    fn an_axis_of_times_always_has_two_ticks() {
        for (low, high) in [(0.000_31, 0.000_39), (0.000_3, 0.000_3), (1.1, 1.9), (0.09, 0.11), (0.001, 3.0)] {
            assert!(upright(low, high, &NARROW.plane).ticks().len() >= 2, "{low} to {high}");
        }
    }

    #[test]
    fn what_no_line_reaches_has_room_for_its_words() {
        for end in [0.9, 1.0, 2.3, 3.999, 5.0] {
            let across = Across::of(end, &NARROW.plane);
            assert!(NARROW.plane.right - across.at(end) >= FEW - 0.001, "{end}");
        }
    }
}
