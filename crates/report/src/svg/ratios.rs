//! Ratios of two cases with their intervals, on a logarithmic axis around 1.
//!
//! n cases have n (n − 1) / 2 pairs, too many for a chart. It shows each case against the first. The table below has all pairs.
//!
//! The light band around 1 covers differences that do not matter, from 1 / (1 + e) to 1 + e for a smallest effect e. The whisker is
//! the ratio's own interval, as everywhere. The dot's fill shows the verdict, which covers all pairs of the scenario.

use tolok_analysis::figures::{Quantity, amount, figure};
use tolok_analysis::{Comparison, ScenarioFinding, Verdict};

use super::{Anchor, DOT, Drawing, WIDTH, fitted_apart, short};
use crate::svg::palette::look;
use crate::wording::heading;

/// Height of the heading, which has no line of column titles here.
const HEAD: f64 = 40.0;
/// Height of a pair.
const LINE: f64 = 21.0;
/// Left edge of an axis without names before it; the label of a mark there needs room on both sides.
const AXIS_START: f64 = 12.0;
/// Possible marks of the axis; marks that are too close to others are left out.
const TICKS: [f64; 25] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0,
    20.0, 50.0, 100.0, 1000.0,
];

/// The comparisons of a scenario; `None` if nothing was compared.
pub(crate) fn ratios(scenario: &ScenarioFinding, smallest_effect: f64) -> Option<String> {
    let drawn: Vec<&Comparison> = scenario.comparisons.iter().filter(|pair| is_drawn(pair, scenario)).collect();
    if drawn.is_empty() {
        return None;
    }
    // The ratios are written after the axis, which leaves them the room they need.
    let words = drawn.iter().map(|pair| words(pair).chars().count()).max().unwrap_or(0);
    let name = |pair: &&&Comparison| short_of(scenario, &pair.b).chars().count();
    let names = (drawn.iter().map(|pair| name(&pair)).max().unwrap_or(0) as f64 * 7.0 + 24.0).clamp(56.0, 132.0);
    let axis = Axis::around(&drawn, smallest_effect, [names, WIDTH - words as f64 * 6.2 - 12.0]);
    let bottom = HEAD + LINE * drawn.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 20.0);
    let first = drawn.first().map_or("", |pair| short_of(scenario, &pair.a));
    drawing.heading(&heading(scenario), &format!("{first} over each of the others"));
    axis.strip(&mut drawing, HEAD, bottom - HEAD, smallest_effect);
    let others: Vec<&str> = drawn.iter().map(|pair| short_of(scenario, &pair.b)).collect();
    let others = fitted_apart(&others, (names - 22.0) / 7.0);
    for (place, (pair, other)) in drawn.iter().zip(&others).enumerate() {
        row(&mut drawing, (pair, other), scenario, &axis, HEAD + LINE * place as f64);
    }
    axis.number(&mut drawing, bottom + 14.0);
    let what = "ratios within rounds; the table below has all pairs";
    Some(drawing.finish(&format!("{}: {what}", heading(scenario))))
}

fn is_drawn(pair: &Comparison, scenario: &ScenarioFinding) -> bool {
    scenario.cases.first().is_some_and(|first| first.subject == pair.a)
}

fn short_of<'a>(scenario: &'a ScenarioFinding, subject: &'a str) -> &'a str {
    scenario.cases.iter().find(|case| case.subject == subject).map_or(subject, |case| case.short.as_str())
}

/// The ratio with the drawn interval.
fn words(pair: &Comparison) -> String {
    figure(Quantity::Ratio, &pair.ratio).line()
}

fn row(drawing: &mut Drawing, (pair, name): (&Comparison, &str), scenario: &ScenarioFinding, axis: &Axis, top: f64) {
    let runtime = scenario.cases.iter().find(|case| case.subject == pair.b).map_or("", |case| case.runtime.as_str());
    look(runtime).draw(drawing, 5.0, top + 10.0);
    drawing.text("l", Anchor::Start, 15.0, top + 14.0, name);
    let y = top + 10.0;
    drawing.interval(&pair.ratio, |value| axis.at(value), y);
    let class = match pair.verdict {
        Verdict::Faster | Verdict::Slower => "dot",
        Verdict::Equivalent | Verdict::NoDifferenceFound => "dot open",
        Verdict::CannotTell => "dot unclear",
    };
    drawing.point(class, [axis.at(pair.ratio.value), y], DOT, pair.verdict.words());
    drawing.text("m", Anchor::End, WIDTH, top + 14.0, &words(pair));
}

/// A logarithmic axis that contains 1 and every interval.
pub(super) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn around(pairs: &[&Comparison], smallest_effect: f64, [start, end]: [f64; 2]) -> Self {
        let bounds = |pair: &Comparison| [pair.ratio.low, pair.ratio.high, Some(pair.ratio.value)];
        let axis = Self::holding(|| pairs.iter().flat_map(|pair| bounds(pair)).flatten(), smallest_effect, end);
        Self { start, ..axis }
    }

    /// From slightly below the least value to slightly above the greatest, including the band of what does not matter.
    pub(super) fn holding<T: Iterator<Item = f64>>(values: impl Fn() -> T, smallest_effect: f64, end: f64) -> Self {
        let margin = 1.0 + smallest_effect.max(0.02) * 1.5;
        let low = values().fold(1.0 / margin, |least, value| least.min(value / 1.02));
        let high = values().fold(margin, |most, value| most.max(value * 1.02));
        Self { low: low.ln(), high: high.ln(), start: AXIS_START, end }
    }

    pub(super) fn at(&self, ratio: f64) -> f64 {
        self.start + (self.end - self.start) * (ratio.ln() - self.low) / (self.high - self.low)
    }

    /// Draws that band and the marks, from `top` down.
    pub(super) fn strip(&self, drawing: &mut Drawing, top: f64, height: f64, smallest_effect: f64) {
        let (band_start, band_end) = (self.at(1.0 / (1.0 + smallest_effect)), self.at(1.0 + smallest_effect));
        let effect = amount(Quantity::Share, smallest_effect);
        let title = format!("differences below {effect} do not matter");
        drawing.bar("same", [band_start, top, band_end - band_start, height], &title);
        for tick in self.labelled() {
            let class = if tick == 1.0 { "axis" } else { "grid-line" };
            drawing.path(class, &format!("M{} {}v{height}", short(self.at(tick)), short(top)));
        }
    }

    pub(super) fn number(&self, drawing: &mut Drawing, y: f64) {
        for tick in self.labelled() {
            drawing.text("m", Anchor::Middle, self.at(tick), y, &tick.to_string());
        }
    }

    fn ticks(&self) -> impl DoubleEndedIterator<Item = f64> {
        TICKS.into_iter().filter(|tick| (self.low..=self.high).contains(&tick.ln()))
    }

    /// The labelled marks: 1, and outwards from it all that do not overlap the previous one.
    fn labelled(&self) -> Vec<f64> {
        let mut labelled = vec![1.0];
        let mut keep = |last: &mut f64, tick: f64| {
            if (self.at(tick) - self.at(*last)).abs() >= 28.0 {
                *last = tick;
                labelled.push(tick);
            }
        };
        let (mut above, mut below) = (1.0, 1.0);
        self.ticks().filter(|tick| *tick > 1.0).for_each(|tick| keep(&mut above, tick));
        self.ticks().rev().filter(|tick| *tick < 1.0).for_each(|tick| keep(&mut below, tick));
        labelled
    }
}
