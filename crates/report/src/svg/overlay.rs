//! Overlays several runs: bars of throughput, dots of response times.

use tolok_analysis::figures::{NONE, Quantity, amount, figure, in_column};
use tolok_analysis::{CaseFinding, Estimate};

use super::bars::Scale;
use super::lines::Axis;
use super::shared::{Shared, SharedCase, letter};
use super::{Anchor, Drawing, HEAD, LETTER, WIDTH, few_words, fitted, highest, lowest};
use crate::svg::palette::look;
use crate::wording::{LOWER_BOUND, heading, is_lower_bound};

/// Height of a subject's name.
const NAME: f64 = 22.0;
/// Height of one of its runs.
const LINE: f64 = 18.0;
/// Gap between two subjects.
const BETWEEN: f64 = 6.0;
const BAR: f64 = 9.0;
/// Width of a run's letter, at the left edge.
const LETTERS: f64 = 20.0;
/// Widths of the figures at the right edge.
const VALUES: f64 = 56.0;
const BOTH_VALUES: f64 = 88.0;
/// Least distance between labels of the axis.
const APART: f64 = 46.0;
/// A whisker no wider than a marker would only obscure it.
const MARKER: f64 = 11.0;

/// Correct responses per second of every subject in every run.
pub(crate) fn overlaid_throughput(shared: &Shared) -> String {
    let cases = shared.cases();
    let goodputs = cases.iter().flat_map(|case| &case.of_runs).filter_map(|(_, case)| case.shown_goodput_rps());
    let most = goodputs.map(highest).fold(0.0, f64::max);
    let scale = Scale { most, from: LETTERS, to: WIDTH - VALUES };
    let mut drawing = Drawing::new(WIDTH, HEAD + height(&cases));
    let first = shared.first();
    drawing.heading(&heading(first), &few_words(&first.load));
    drawing.text("m", Anchor::End, WIDTH, HEAD - 4.0, "correct responses/s");
    each_line(&mut drawing, &cases, |drawing, shared, case, top| {
        let Some(goodput) = case.shown_goodput_rps() else {
            drawing.text("m", Anchor::Start, LETTERS, top + 12.0, "no figure");
            return;
        };
        let bound = if is_lower_bound(case) { LOWER_BOUND } else { "" };
        let words = figure(Quantity::Number, goodput);
        drawing.text("v", Anchor::End, WIDTH, top + 12.0, &format!("{bound}{}", words.value));
        let kind = if case.ranked || shared.is_ceiling { "bar" } else { "bar hollow" };
        let class = format!("{} {kind}", look(shared.runtime).class);
        let place = [scale.from, top + 4.0, scale.at(goodput.value) - scale.from, BAR];
        drawing.bar(&class, place, &format!("{}: {bound}{} correct responses/s", shared.title, words.line()));
        drawing.interval(goodput, |value| scale.at(value), top + 4.0 + BAR / 2.0);
    });
    drawing.finish(&format!(
        "{}: correct responses per second in each run; the table has the same figures",
        heading(first)
    ))
}

/// Response times of every subject in every run; `None` if no trial has any.
pub(crate) fn overlaid_latency(shared: &Shared) -> Option<String> {
    let cases = shared.cases();
    let times = || {
        let all = cases.iter().flat_map(|case| &case.of_runs);
        all.flat_map(|(_, case)| [&case.latency_p50_s, &case.latency_p99_s]).flatten().filter(|time| time.value > 0.0)
    };
    let low = times().map(lowest).reduce(f64::min)?;
    let high = times().map(highest).reduce(f64::max)?;
    // A single value still needs a range around it.
    let (low, high) = (low / 1.15, (high * 1.15).max(low * 1.5));
    let axis = Axis::of(low, high, LETTERS + 6.0, WIDTH - BOTH_VALUES - 8.0);
    let bottom = HEAD + height(&cases);
    let mut drawing = Drawing::new(WIDTH, bottom + 16.0);
    let first = shared.first();
    drawing.heading(&heading(first), &few_words(&first.load));
    drawing.text("m", Anchor::End, WIDTH, HEAD - 4.0, "p50 / p99, ms");
    grid(&mut drawing, &axis, bottom);
    each_line(&mut drawing, &cases, |drawing, shared, case, top| {
        let marks = [(&case.latency_p50_s, false), (&case.latency_p99_s, true)];
        for (time, is_hollow) in marks {
            let Some(time) = time.as_ref().filter(|time| time.value > 0.0) else { continue };
            if let (Some(low), Some(high)) = (time.low.filter(|low| *low > 0.0), time.high)
                && axis.at(high) - axis.at(low) > MARKER
            {
                drawing.whisker(axis.at(low), axis.at(high), top + 8.0);
            }
            let what = if is_hollow { "p99" } else { "p50" };
            let title = format!("{}: {what} {}", shared.title, figure(Quantity::Seconds, time).line());
            look(shared.runtime).draw_point(drawing, [axis.at(time.value), top + 8.0], is_hollow, &title);
        }
        let in_ms =
            |time: &Option<Estimate>| time.as_ref().map_or_else(|| NONE.to_owned(), |time| in_column(time.value * 1e3));
        let values = format!("{} / {}", in_ms(&case.latency_p50_s), in_ms(&case.latency_p99_s));
        drawing.text("v", Anchor::End, WIDTH, top + 12.0, &values);
    });
    Some(drawing.finish(&format!("{}: response times in each run; the table has the same figures", heading(first))))
}

fn height(cases: &[SharedCase]) -> f64 {
    cases.iter().map(|case| NAME + LINE * case.of_runs.len() as f64 + BETWEEN).sum()
}

/// Writes the name of each subject and the letter of each of its runs, and calls `draw` for the rest of the line.
fn each_line(drawing: &mut Drawing, cases: &[SharedCase], draw: impl Fn(&mut Drawing, &SharedCase, &CaseFinding, f64)) {
    let mut top = HEAD;
    for shared in cases {
        look(shared.runtime).draw(drawing, 5.0, top + 9.0);
        drawing.text("l", Anchor::Start, 16.0, top + 13.0, &fitted(&shared.name(), (WIDTH - 16.0) / LETTER));
        top += NAME;
        for (place, case) in &shared.of_runs {
            drawing.text("v b", Anchor::Start, 1.0, top + 12.0, &letter(*place));
            draw(drawing, shared, case, top);
            top += LINE;
        }
        top += BETWEEN;
    }
}

/// Lines at round times within the axis, labelled if there is room.
fn grid(drawing: &mut Drawing, axis: &Axis, bottom: f64) {
    let mut free = f64::NEG_INFINITY;
    for time_s in axis.steps(&[1.0, 2.0, 5.0]) {
        let x = axis.at(time_s);
        drawing.path("grid-line", &format!("M{x:.1} {HEAD:.1}V{bottom:.1}"));
        if x - free >= APART {
            drawing.text("m", Anchor::Middle, x, bottom + 13.0, &amount(Quantity::Seconds, time_s));
            free = x;
        }
    }
}
