//! Ratios of two cases with their intervals, on a logarithmic axis around 1.
//!
//! Of n cases there are n (n − 1) / 2 pairs, too many to look at. Drawn are those that answer a question: each case
//! against the first, and each against its neighbour in the table. All pairs stand in the table beneath.
//!
//! The light band around 1 holds what does not matter, from 1 / (1 + e) to 1 + e for a smallest effect e. The short whisker is
//! the interval of the pair by itself, and the thin line beyond it the one that holds for all pairs of the scenario together.

use tolok_analysis::figures::{Quantity, amount, figure};
use tolok_analysis::{Comparison, ScenarioFinding, Verdict};

use super::{Anchor, DOT, Drawing, ROW, WIDTH, fitted, short};
use crate::wording::heading;

/// Height of the heading, which has no line for columns here.
const HEAD: f64 = 40.0;
/// Left edge of the axis; the number of a mark there needs room on both sides.
const AXIS_START: f64 = 12.0;
/// Where the axis may have a mark; those that would stand too close are left out.
const TICKS: [f64; 25] = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.67, 0.8, 0.9, 0.95, 0.98, 1.0, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0,
    20.0, 50.0, 100.0, 1000.0,
];

/// Comparisons of a scenario; none if nothing was compared.
pub(crate) fn ratios(scenario: &ScenarioFinding, smallest_effect: f64) -> Option<String> {
    let drawn: Vec<&Comparison> = scenario.comparisons.iter().filter(|pair| is_drawn(pair, scenario)).collect();
    if drawn.is_empty() {
        return None;
    }
    // The ratios stand in words behind the axis, which leaves them the room they need.
    let words = drawn.iter().map(|pair| figure(Quantity::Ratio, &pair.ratio).line().chars().count()).max().unwrap_or(0);
    let axis = Axis::around(&drawn, smallest_effect, WIDTH - words as f64 * 6.2 - 12.0);
    let bottom = HEAD + ROW * drawn.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 20.0);
    drawing.heading(&heading(scenario), &scenario.load);
    for (place, pair) in drawn.iter().enumerate() {
        let top = HEAD + ROW * place as f64;
        axis.draw(&mut drawing, top + 17.0, smallest_effect);
        row(&mut drawing, pair, scenario, &axis, top);
    }
    axis.number(&mut drawing, bottom + 14.0);
    Some(
        drawing.finish(&format!(
            "{}: ratios of goodput within blocks; all pairs stand in the table below",
            heading(scenario)
        )),
    )
}

fn is_drawn(pair: &Comparison, scenario: &ScenarioFinding) -> bool {
    let place = |subject: &str| scenario.cases.iter().position(|case| case.subject == subject);
    let (a, b) = (place(&pair.a), place(&pair.b));
    a == Some(0) || a.zip(b).is_some_and(|(a, b)| a.abs_diff(b) == 1)
}

fn row(drawing: &mut Drawing, pair: &Comparison, scenario: &ScenarioFinding, axis: &Axis, top: f64) {
    let words = figure(Quantity::Ratio, &pair.ratio);
    let verdict = pair.verdict.words();
    // Letters of the label are a little narrower than those of other charts.
    let room = (WIDTH - verdict.chars().count() as f64 * 6.2 - 10.0) / 6.3;
    let title = |subject: &str| {
        let title =
            scenario.cases.iter().find(|case| case.subject == subject).map_or(subject, |case| case.title.as_str());
        fitted(title, (room - 6.0) / 2.0)
    };
    drawing.text("p", Anchor::Start, 0.0, top + 13.0, &format!("{} over {}", title(&pair.a), title(&pair.b)));
    drawing.text("p b", Anchor::End, WIDTH, top + 13.0, verdict);
    let y = top + 24.0;
    if let (Some(low), Some(high)) = (pair.simultaneous_low, pair.simultaneous_high) {
        drawing.path("all", &format!("M{} {}H{}", short(axis.at(low)), short(y), short(axis.at(high))));
    }
    drawing.interval(&pair.ratio, |value| axis.at(value), y);
    let class = match pair.verdict {
        Verdict::Faster | Verdict::Slower => "dot",
        Verdict::Equivalent | Verdict::NoDifferenceFound => "dot open",
        Verdict::CannotTell => "dot unclear",
    };
    drawing.path_at(class, axis.at(pair.ratio.value), y, DOT);
    drawing.text("m", Anchor::End, WIDTH, y + 4.0, &words.line());
}

/// A logarithmic axis that holds 1 and every interval.
pub(super) struct Axis {
    low: f64,
    high: f64,
    /// Its right edge.
    end: f64,
}

impl Axis {
    fn around(pairs: &[&Comparison], smallest_effect: f64, end: f64) -> Self {
        let bounds = |pair: &Comparison| {
            let own = [pair.ratio.low, pair.ratio.high, Some(pair.ratio.value)];
            own.into_iter().chain([pair.simultaneous_low, pair.simultaneous_high])
        };
        Self::holding(|| pairs.iter().flat_map(|pair| bounds(pair)).flatten(), smallest_effect, end)
    }

    /// From a little below the least of the values to a little above the most, and around what does not matter.
    pub(super) fn holding<T: Iterator<Item = f64>>(values: impl Fn() -> T, smallest_effect: f64, end: f64) -> Self {
        let margin = 1.0 + smallest_effect.max(0.02) * 1.5;
        let low = values().fold(1.0 / margin, |least, value| least.min(value / 1.02));
        let high = values().fold(margin, |most, value| most.max(value * 1.02));
        Self { low: low.ln(), high: high.ln(), end }
    }

    pub(super) fn at(&self, ratio: f64) -> f64 {
        AXIS_START + (self.end - AXIS_START) * (ratio.ln() - self.low) / (self.high - self.low)
    }

    /// Draws the part of the axis that belongs to one row, so that it does not run through the words of others.
    fn draw(&self, drawing: &mut Drawing, top: f64, smallest_effect: f64) {
        self.strip(drawing, top, ROW - 17.0, smallest_effect);
    }

    /// The same of any height.
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

    /// The marks that have a number: 1, and outwards from it all that do not touch the last one.
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
