//! The figures of each second: a narrow column of charts for each subject, all on the same scales.

use tolok_analysis::figures::{Quantity, amount};
use tolok_analysis::{Band, CaseFinding, SecondsFinding, TailFinding};

use super::factors::rate;
use super::{Anchor, Drawing, LETTER, fitted, short, trace};
use crate::svg::palette::look;

/// Narrow, so that two fit side by side on a phone and many on a wide page, with text as large as the page's in both.
const CELL: f64 = 160.0;
const LEFT: f64 = 36.0;
const RIGHT: f64 = CELL - 6.0;
/// Top of the first chart.
const TOP: f64 = 22.0;
/// Height of a chart with its heading, and of the heading.
const STEP: f64 = 76.0;
const HEADING: f64 = 18.0;
/// More points than this are indistinguishable, so seconds are combined.
const MOST_POINTS: usize = 48;
/// Points further apart than this many steps are not connected.
const GAP: f64 = 1.6;
const MIB: f64 = 1024.0 * 1024.0;

/// The part that a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Subject,
    Generator,
    Database,
    /// Failed requests, in the chart of correct responses.
    Failed,
}

impl Part {
    /// Its line style, besides the colour of the subject.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Subject => "line",
            Self::Generator => "ref gen",
            Self::Database => "ref db",
            Self::Failed => "ref",
        }
    }
}

/// The greatest value of each row over all subjects of a scenario, so that they can be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scales {
    good_rps: f64,
    cpus: f64,
    memory_bytes: f64,
    /// `None` if no subject has a long tail over time.
    tail_s: Option<f64>,
    from_s: f64,
    to_s: f64,
}

impl Scales {
    /// The scales of all subjects of a scenario.
    pub(crate) fn of<'a>(all: impl Iterator<Item = &'a SecondsFinding> + Clone) -> Self {
        let most = |of: fn(&SecondsFinding) -> Vec<&Band>| {
            let highs = all.clone().flat_map(of).filter_map(|band| band.high);
            highs.fold(0.0, f64::max)
        };
        let starts = || all.clone().flat_map(|seconds| &seconds.start_s).copied();
        Self {
            good_rps: most(|it| it.good_rps.iter().chain(&it.failed_rps).collect()),
            cpus: most(|it| it.subject_cpus.iter().chain(&it.generator_cpus).chain(&it.database_cpus).collect()),
            memory_bytes: most(|it| it.subject_memory_bytes.iter().chain(&it.database_memory_bytes).collect()),
            tail_s: Some(most(|it| it.tail.iter().flat_map(|tail| &tail.latency_p999_s).collect()))
                .filter(|most| *most > 0.0),
            from_s: starts().fold(0.0, f64::min),
            to_s: starts().fold(1.0, |latest, start_s| latest.max(start_s + 1.0)),
        }
    }
}

impl Scales {
    /// Charts in a column.
    fn rows(&self) -> usize {
        if self.tail_s.is_some() { 4 } else { 3 }
    }
}

/// One of the charts of a column.
struct Row {
    top: f64,
    most: f64,
}

impl Row {
    fn at(&self, value: f64) -> f64 {
        let (top, bottom) = (self.top + HEADING, self.top + STEP - 8.0);
        bottom - (bottom - top) * (value / self.most).clamp(0.0, 1.0)
    }
}

/// The column of a case.
pub(crate) fn seconds(case: &CaseFinding, seconds: &SecondsFinding, scales: &Scales) -> String {
    let shown = Shown::of(seconds, scales);
    let mut drawing = Drawing::new(CELL, TOP + STEP * scales.rows() as f64 + 14.0);
    look(&case.runtime).draw(&mut drawing, 5.0, 9.0);
    drawing.text("l b", Anchor::Start, 16.0, 13.0, &fitted(&case.title, (CELL - 22.0) / (1.18 * LETTER)));
    let subject = look(&case.runtime).class;
    let row = |place: usize, most: f64| Row { top: TOP + STEP * place as f64, most: nice(most) };

    let throughput = row(0, scales.good_rps);
    shown.frame(&mut drawing, &throughput, "correct responses/s", &rate(throughput.most));
    shown.draw(&mut drawing, &throughput, subject, Part::Subject, &seconds.good_rps);
    shown.line(&mut drawing, &throughput, Part::Failed.class(), &seconds.failed_rps);
    let cpus = row(1, scales.cpus);
    shown.frame(&mut drawing, &cpus, "CPUs busy", &rate(cpus.most));
    shown.line(&mut drawing, &cpus, Part::Generator.class(), &seconds.generator_cpus);
    shown.line(&mut drawing, &cpus, Part::Database.class(), &seconds.database_cpus);
    shown.draw(&mut drawing, &cpus, subject, Part::Subject, &seconds.subject_cpus);
    let memory = row(2, scales.memory_bytes / MIB);
    let memory = Row { most: memory.most * MIB, ..memory };
    shown.frame(&mut drawing, &memory, "memory, MiB", &rate(memory.most / MIB));
    shown.line(&mut drawing, &memory, Part::Database.class(), &seconds.database_memory_bytes);
    shown.draw(&mut drawing, &memory, subject, Part::Subject, &seconds.subject_memory_bytes);
    if let Some(most_s) = scales.tail_s {
        draw_tail(&mut drawing, &row(3, most_s * 1e3), subject, seconds.tail.as_ref(), scales);
    }
    shown.times(&mut drawing);
    drawing.finish(&words(case, seconds))
}

/// The long tail over time; an empty chart if this subject had too few responses for one.
fn draw_tail(drawing: &mut Drawing, row: &Row, subject: &str, tail: Option<&TailFinding>, scales: &Scales) {
    let (starts, span_s, bands) = match tail {
        Some(tail) => (starts_of(tail), tail.span_s, tail.latency_p999_s.as_slice()),
        None => (Vec::new(), 1.0, [].as_slice()),
    };
    let shown = Shown::of_spans(&starts, span_s, scales);
    shown.frame(drawing, row, "p99.9, ms", &rate(row.most));
    let row = Row { most: row.most / 1e3, ..*row };
    shown.draw(drawing, &row, subject, Part::Subject, bands);
}

fn starts_of(tail: &TailFinding) -> Vec<f64> {
    (0..tail.latency_p999_s.len()).map(|place| tail.span_s * place as f64).collect()
}

/// A short piece of a line, for a legend.
pub(crate) fn stroke(class: &str) -> String {
    let mut drawing = Drawing::new(26.0, 12.0);
    drawing.path(class, "M1 6h24");
    drawing.finish_hidden().replace(r#"class="marker""#, r#"class="stroke-key""#)
}

/// A description of the chart for screen readers.
fn words(case: &CaseFinding, seconds: &SecondsFinding) -> String {
    let window = seconds.start_s.iter().zip(&seconds.good_rps).filter(|(start_s, _)| **start_s >= 0.0);
    let good = || window.clone().filter_map(|(_, band)| band.value);
    let [low, high] = [good().reduce(f64::min), good().reduce(f64::max)];
    let range = low.zip(high).map_or(String::new(), |(low, high)| {
        let [low, high] = [low, high].map(|value| amount(Quantity::Number, value));
        format!(": between {low} and {high} correct responses in a second of the window")
    });
    format!("{} second by second{range}", case.title)
}

/// The seconds, or longer spans, that are drawn as one point, and their positions.
struct Shown<'a> {
    /// First and last of each point.
    groups: Vec<[usize; 2]>,
    start_s: &'a [f64],
    /// Length of each.
    span_s: f64,
    /// How many are in a point.
    step: usize,
    scales: &'a Scales,
}

impl<'a> Shown<'a> {
    fn of(seconds: &'a SecondsFinding, scales: &'a Scales) -> Self {
        Self::of_spans(&seconds.start_s, 1.0, scales)
    }

    fn of_spans(start_s: &'a [f64], span_s: f64, scales: &'a Scales) -> Self {
        let number = start_s.len();
        let step = number.div_ceil(MOST_POINTS).max(1);
        // The first second of the window begins a point, because no point may mix warm-up and window.
        let warm_up = start_s.iter().filter(|start_s| **start_s < 0.0).count();
        let within = |from: usize, to: usize| (from..to).step_by(step).map(move |at| [at, (at + step).min(to) - 1]);
        let groups = within(0, warm_up).chain(within(warm_up, number)).collect();
        Self { groups, start_s, span_s, step, scales }
    }

    fn x(&self, at_s: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (at_s - self.scales.from_s) / (self.scales.to_s - self.scales.from_s)
    }

    fn frame(&self, drawing: &mut Drawing, row: &Row, heading: &str, most: &str) {
        let [top, bottom] = [row.at(row.most), row.at(0.0)];
        if self.scales.from_s < 0.0 {
            let width = short(self.x(0.0) - LEFT);
            drawing.path("same", &format!("M{LEFT} {}h{width}V{}H{LEFT}z", short(top), short(bottom)));
        }
        drawing.text("m", Anchor::Start, LEFT, row.top + 12.0, heading);
        drawing.path("grid-line", &format!("M{LEFT} {}H{RIGHT}", short(top)));
        drawing.path("axis", &format!("M{LEFT} {}H{RIGHT}", short(bottom)));
        drawing.text("m", Anchor::End, LEFT - 4.0, top + 4.0, most);
        drawing.text("m", Anchor::End, LEFT - 4.0, bottom + 4.0, "0");
    }

    /// The seconds at the foot of the column.
    fn times(&self, drawing: &mut Drawing) {
        let y = TOP + STEP * self.scales.rows() as f64 + 8.0;
        let end = format!("{:.0} s", self.scales.to_s);
        if self.x(0.0) + 12.0 < RIGHT - 30.0 {
            drawing.text("m", Anchor::Middle, self.x(0.0), y, "0");
        }
        drawing.text("m", Anchor::End, RIGHT, y, &end);
    }

    /// A line with its band.
    fn draw(&self, drawing: &mut Drawing, row: &Row, subject: &str, part: Part, bands: &[Band]) {
        for run in self.runs(bands) {
            let side = |of: fn(&Point) -> f64| run.iter().map(|it| [it.x, row.at(of(it))]).collect::<Vec<_>>();
            if run.iter().any(|point| point.high > point.low) {
                drawing.path(&format!("{subject} band"), &trace::area(&side(|it| it.high), &side(|it| it.low)));
            }
            drawing.path(&format!("{subject} {}", part.class()), &trace::line(&side(|it| it.value)));
        }
    }

    /// The line of another part, without its band.
    fn line(&self, drawing: &mut Drawing, row: &Row, class: &str, bands: &[Band]) {
        for run in self.runs(bands) {
            let places: Vec<[f64; 2]> = run.iter().map(|point| [point.x, row.at(point.value)]).collect();
            drawing.path(class, &trace::line(&places));
        }
    }

    /// The points of a series, split where seconds are missing.
    fn runs(&self, bands: &[Band]) -> Vec<Vec<Point>> {
        let mut runs: Vec<Vec<Point>> = Vec::new();
        let mut last_s = f64::NEG_INFINITY;
        for [first, last] in &self.groups {
            let Some(point) = self.point(bands, *first, *last) else { continue };
            let start_s = self.start_s[*first];
            match runs.last_mut().filter(|_| start_s - last_s <= GAP * self.span_s * self.step as f64) {
                Some(run) => run.push(point),
                None => runs.push(vec![point]),
            }
            last_s = start_s;
        }
        runs.retain(|run| run.len() > 1);
        runs
    }

    fn point(&self, bands: &[Band], first: usize, last: usize) -> Option<Point> {
        let bands = bands.get(first..=last)?;
        let values: Vec<f64> = bands.iter().filter_map(|band| band.value).collect();
        let middle_s = f64::midpoint(*self.start_s.get(first)?, self.start_s.get(last)? + self.span_s);
        let value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)?;
        Some(Point {
            x: self.x(middle_s),
            value,
            low: bands.iter().filter_map(|band| band.low).fold(value, f64::min),
            high: bands.iter().filter_map(|band| band.high).fold(value, f64::max),
        })
    }
}

/// One or several seconds.
struct Point {
    x: f64,
    value: f64,
    low: f64,
    high: f64,
}

/// The next round number.
pub(super) fn nice(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|step| *step >= value * 0.999).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number_above_all() {
        assert_eq!([0.98, 1.02, 34_300.0, 61.8, 0.0].map(nice), [1.0, 1.2, 40_000.0, 80.0, 1.0]);
    }

    fn of_seconds(starts: impl Iterator<Item = f64>) -> SecondsFinding {
        let start_s: Vec<f64> = starts.collect();
        let band = Band { value: Some(10.0), low: Some(8.0), high: Some(12.0) };
        SecondsFinding {
            good_rps: vec![band; start_s.len()],
            start_s,
            failed_rps: Vec::new(),
            latency_p50_s: Vec::new(),
            subject_cpus: Vec::new(),
            subject_memory_bytes: Vec::new(),
            generator_cpus: Vec::new(),
            database_cpus: Vec::new(),
            database_memory_bytes: Vec::new(),
            tail: None,
        }
    }

    #[test]
    fn a_tail_has_a_chart_of_its_own_whose_points_stand_in_the_middle_of_their_spans() {
        let band = Band { value: Some(0.004), low: Some(0.003), high: Some(0.005) };
        let tail = TailFinding { span_s: 5.0, fewest_answers: 10_000, trials: 3, latency_p999_s: vec![band; 4] };
        let seconds = SecondsFinding { tail: Some(tail.clone()), ..of_seconds((0..20).map(f64::from)) };
        let scales = Scales::of(std::iter::once(&seconds));
        assert_eq!((scales.tail_s, scales.rows()), (Some(0.005), 4));
        let starts = starts_of(&tail);
        let shown = Shown::of_spans(&starts, tail.span_s, &scales);
        let runs = shown.runs(&tail.latency_p999_s);
        assert_eq!(runs.iter().map(Vec::len).collect::<Vec<_>>(), [4]);
        assert!((runs[0][0].x - shown.x(2.5)).abs() < 1e-9);
    }

    #[test]
    fn a_long_window_is_drawn_with_few_points_and_the_warm_up_apart() {
        let seconds = of_seconds((-31..600).map(f64::from));
        let scales = Scales::of(std::iter::once(&seconds));
        let shown = Shown::of(&seconds, &scales);
        assert!(shown.groups.len() <= MOST_POINTS + 1, "{}", shown.groups.len());
        assert!(shown.groups.iter().any(|[first, _]| *first == 31), "no point spans the start of the window");
    }

    #[test]
    fn a_line_is_broken_where_seconds_are_missing() {
        let seconds = of_seconds([-3.5, -2.5, 0.0, 1.0, 2.0].into_iter());
        let scales = Scales::of(std::iter::once(&seconds));
        let runs = Shown::of(&seconds, &scales).runs(&seconds.good_rps);
        assert_eq!(runs.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
    }
}
