//! Bars from zero: good answers per second, and what they cost.

use tolok_analysis::figures::{NONE, Quantity, amount, figure, in_column};
use tolok_analysis::{CaseFinding, Estimate, ScenarioFinding, Verdict};

use super::{Anchor, Drawing, HEAD, LETTER, ROW, WIDTH, fitted, highest};
use crate::svg::palette::look;
use crate::wording::{LOWER_BOUND, heading, is_lower_bound, no_figure};

const BAR: f64 = 9.0;
const MIB: f64 = 1024.0 * 1024.0;
/// A ceiling this many times as high as the highest bar is left out of the scale.
const CEILING_IN_SIGHT: f64 = 8.0;
/// Of the share of the ceiling, which stands at the right edge.
const SHARE_COLUMN: f64 = 44.0;
/// Of the letters of a tier, at the right edge; what else stands there moves to the left.
const TIER_COLUMN: f64 = 36.0;
/// Between the bar of the CPU time and that of the memory.
const MIDDLE: f64 = 20.0;

/// Good answers per second of every case, with the ceiling as a dashed line.
pub(crate) fn throughput(scenario: &ScenarioFinding) -> String {
    let ceiling = scenario.ceiling.as_ref().and_then(|ceiling| ceiling.goodput_rps.as_ref());
    let of_cases = scenario.cases.iter().filter_map(|case| case.goodput_rps.as_ref()).map(highest).fold(0.0, f64::max);
    // A ceiling far away, as beside whoever asks a database, would leave no bar to look at.
    let in_sight = ceiling.filter(|ceiling| highest(ceiling) <= CEILING_IN_SIGHT * of_cases);
    let most = in_sight.map_or(of_cases, |ceiling| highest(ceiling).max(of_cases));
    let scale = Scale { most, from: 0.0, to: WIDTH - 2.0 };

    let foot = if ceiling.is_some() { 18.0 } else { 2.0 };
    let mut drawing = Drawing::new(WIDTH, HEAD + ROW * scenario.cases.len() as f64 + foot);
    drawing.heading(&heading(scenario), &scenario.load);
    let edge = if has_tiers(scenario) { WIDTH - TIER_COLUMN } else { WIDTH };
    drawing.text("m", Anchor::End, edge - SHARE_COLUMN - 18.0, HEAD - 4.0, "good answers/s");
    if ceiling.is_some() {
        drawing.text("m", Anchor::End, edge, HEAD - 4.0, "of ceiling");
    }
    if has_tiers(scenario) {
        drawing.text("m", Anchor::End, WIDTH, HEAD - 4.0, "tier");
    }
    for (place, case) in scenario.cases.iter().enumerate() {
        let top = HEAD + ROW * place as f64;
        throughput_row(&mut drawing, case, is_among_best(case, place == 0, scenario), &scale, [edge, top]);
        if let Some(ceiling) = in_sight {
            let x = scale.at(ceiling.value);
            drawing.path("ceil", &format!("M{x:.1} {:.1}v{:.1}", top + 19.0, BAR + 4.0));
        }
    }
    if let Some(ceiling) = ceiling {
        let bottom = HEAD + ROW * scenario.cases.len() as f64 + 12.0;
        let beyond = if in_sight.is_some() { "" } else { ", beyond the scale" };
        let text = format!("ceiling {}{beyond}", amount(Quantity::Number, ceiling.value));
        let x = if in_sight.is_some() { scale.at(ceiling.value).max(90.0) } else { WIDTH };
        drawing.text("m", Anchor::End, x, bottom, &text);
    }
    drawing
        .finish(&format!("{}: good answers per second; the same figures stand in the table below", heading(scenario)))
}

/// Whether any case has a letter.
fn has_tiers(scenario: &ScenarioFinding) -> bool {
    scenario.cases.iter().any(|case| case.tier.is_some())
}

/// The figures end at an edge, beyond which the letters of the tier stand.
fn throughput_row(
    drawing: &mut Drawing,
    case: &CaseFinding,
    is_among_best: bool,
    scale: &Scale,
    [edge, top]: [f64; 2],
) {
    let share =
        case.of_ceiling.as_ref().map(|of_ceiling| amount(Quantity::Share, of_ceiling.value)).unwrap_or_default();
    let weight = if is_among_best { "l b" } else { "l" };
    label(drawing, case, weight, top, edge - if edge < WIDTH { 100.0 } else { 120.0 });
    drawing.text("m", Anchor::End, edge, top + 13.0, &share);
    if let Some(tier) = &case.tier {
        drawing.text(weight, Anchor::End, WIDTH, top + 13.0, &fitted(tier, TIER_COLUMN / LETTER));
    }
    let Some(goodput) = &case.goodput_rps else {
        let words = no_figure(case);
        let words = if words == NONE { "no figure" } else { &words };
        drawing.text("m", Anchor::End, edge - SHARE_COLUMN, top + 13.0, words);
        return;
    };
    let bound = if is_lower_bound(case) { LOWER_BOUND } else { "" };
    let words = figure(Quantity::Number, goodput);
    let value = format!("{bound}{}", words.value);
    drawing.text(weight, Anchor::End, edge - SHARE_COLUMN, top + 13.0, &value);
    let title = format!("{}: {bound}{} good answers/s", case.title, words.line());
    bar(drawing, case, scale, goodput, top, &title);
}

/// CPU time and memory of every case, side by side.
pub(crate) fn costs(scenario: &ScenarioFinding) -> String {
    let half = (WIDTH - MIDDLE) / 2.0;
    let most = |of: &dyn Fn(&CaseFinding) -> &Option<Estimate>| {
        let estimates = scenario.cases.iter().filter_map(|case| of(case).as_ref());
        estimates.map(highest).fold(0.0, f64::max)
    };
    // Room for the figure behind the longest bar.
    let room = 46.0;
    let cpu = Scale { most: most(&|case| &case.cpu_s_per_good), from: 0.0, to: half - room };
    let memory = Scale { most: most(&|case| &case.memory_bytes), from: half + MIDDLE, to: WIDTH - room };

    let mut drawing = Drawing::new(WIDTH, HEAD + ROW * scenario.cases.len() as f64);
    drawing.heading(&heading(scenario), &scenario.load);
    drawing.text("m", Anchor::Start, cpu.from, HEAD - 4.0, "CPU, µs per good answer");
    drawing.text("m", Anchor::Start, memory.from, HEAD - 4.0, &memory_heading(scenario));
    for (place, case) in scenario.cases.iter().enumerate() {
        let top = HEAD + ROW * place as f64;
        label(&mut drawing, case, "l", top, WIDTH);
        cost(&mut drawing, case, &cpu, &case.cpu_s_per_good, 1e6, top);
        cost(&mut drawing, case, &memory, &case.memory_bytes, 1.0 / MIB, top);
    }
    let what = "CPU time per good answer and memory";
    drawing.finish(&format!("{}: {what}; the same figures stand in the table below", heading(scenario)))
}

/// The heading of the memory, which says what is called so.
fn memory_heading(scenario: &ScenarioFinding) -> String {
    scenario.memory_source.map_or("memory, MiB".to_owned(), |source| format!("{}, MiB", source.words()))
}

fn cost(drawing: &mut Drawing, case: &CaseFinding, scale: &Scale, cost: &Option<Estimate>, unit: f64, top: f64) {
    let Some(estimate) = cost else {
        drawing.text("m", Anchor::Start, scale.from, top + 28.0, "no figure");
        return;
    };
    let value = in_column(estimate.value * unit);
    bar(drawing, case, scale, estimate, top, &format!("{}: {value}", case.title));
    let end = scale.at(highest(estimate));
    drawing.text("v", Anchor::Start, end + 6.0, top + 28.0, &value);
}

fn label(drawing: &mut Drawing, case: &CaseFinding, class: &str, top: f64, room: f64) {
    look(&case.runtime).draw(drawing, 5.0, top + 9.0);
    let after = if case.ranked { "" } else { " · not ranked" };
    let title = fitted(&case.title, (room - 16.0) / LETTER - after.chars().count() as f64);
    drawing.text(class, Anchor::Start, 16.0, top + 13.0, &format!("{title}{after}"));
}

/// A bar with the interval of its value. A case that is not ranked is only outlined.
fn bar(drawing: &mut Drawing, case: &CaseFinding, scale: &Scale, estimate: &Estimate, top: f64, title: &str) {
    let class = look(&case.runtime).class;
    let kind = if case.ranked { "bar" } else { "bar hollow" };
    let y = top + 19.0 + 2.0;
    drawing.bar(&format!("{class} {kind}"), [scale.from, y, scale.at(estimate.value) - scale.from, BAR], title);
    drawing.interval(estimate, |value| scale.at(value), y + BAR / 2.0);
}

/// The first, and all whose interval does not set them apart from it; nobody, where nothing has an interval.
fn is_among_best(case: &CaseFinding, is_first: bool, scenario: &ScenarioFinding) -> bool {
    let is_compared = |case: &CaseFinding| case.of_first.as_ref().is_some_and(|ratio| ratio.low.is_some());
    if is_first {
        return case.ranked && scenario.cases.iter().skip(1).any(is_compared);
    }
    let is_tied =
        matches!(case.against_first, Some(Verdict::Equivalent | Verdict::NoDifferenceFound | Verdict::CannotTell));
    is_tied && is_compared(case)
}

/// From a value to a place between two edges; zero is at the first.
pub(super) struct Scale {
    pub(super) most: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Scale {
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.most > 0.0 { self.from + (self.to - self.from) * value / self.most } else { self.from }
    }
}

/// Whether anything is known of what good answers cost: of servers that tolok did not start, nothing is.
pub(crate) fn has_costs(scenario: &ScenarioFinding) -> bool {
    scenario.cases.iter().any(|case| case.cpu_s_per_good.is_some() || case.memory_bytes.is_some())
}
