//! Bars from zero: correct responses per second, and their costs.

use tolok_analysis::figures::{NONE, Quantity, amount, figure, in_column};
use tolok_analysis::{CaseFinding, Estimate, ScenarioFinding, Verdict};

use super::{Anchor, Drawing, HEAD, WIDTH, few_words, fitted, fitted_apart, highest};
use crate::svg::palette::look;
use crate::wording::{LOWER_BOUND, heading, is_lower_bound, no_figure, of_limit};

const BAR: f64 = 11.0;
/// Height of a case: its name, bar and figures side by side.
const LINE: f64 = 21.0;
const MIB: f64 = 1024.0 * 1024.0;
/// A ceiling that is more than this many times the highest bar is left off the scale.
const CEILING_IN_SIGHT: f64 = 8.0;
/// Least and greatest width of the names, at the left edge.
const NAMES: [f64; 2] = [56.0, 158.0];
/// Widths of the figures and of the share of the ceiling, from the right.
const FIGURES: f64 = 52.0;
const SHARES: f64 = 48.0;
/// Least and greatest width of the tier letters, at the right edge.
const TIERS: [f64; 2] = [26.0, 62.0];
/// Gap before the letters of a tier.
const TIER_GAP: f64 = 8.0;
/// Approximate width of a bold letter.
const BOLD: f64 = 8.0;

/// Positions of the parts of a line.
struct Columns {
    bars: f64,
    figures: f64,
    shares: f64,
    /// Width of the tier letters.
    tiers: f64,
}

impl Columns {
    fn of(scenario: &ScenarioFinding) -> Self {
        let tiers = tiers(scenario);
        let has_shares = scenario.cases.iter().any(|case| case.of_ceiling.is_some());
        let shares = WIDTH - tiers;
        let figures = shares - if has_shares { SHARES } else { 0.0 };
        Self { bars: names(scenario), figures, shares, tiers }
    }
}

/// Width of the tier letters; 0 if no case has one.
fn tiers(scenario: &ScenarioFinding) -> f64 {
    let letters = scenario.cases.iter().filter_map(|case| Some(case.tier.as_ref()?.chars().count())).max();
    letters.map_or(0.0, |letters| (letters as f64 * BOLD + TIER_GAP).clamp(TIERS[0], TIERS[1]))
}

/// Width of the case names.
fn names(scenario: &ScenarioFinding) -> f64 {
    let after = |case: &CaseFinding| if case.ranked { 0 } else { NOT_RANKED.chars().count() };
    let letters = scenario.cases.iter().map(|case| case.short.chars().count() + after(case)).max().unwrap_or(0);
    (letters as f64 * BOLD + 22.0).clamp(NAMES[0], NAMES[1])
}

const NOT_RANKED: &str = " ×";

/// Correct responses per second of every case, with the ceiling as a dashed line.
pub(crate) fn throughput(scenario: &ScenarioFinding) -> String {
    let ceiling = scenario.ceiling.as_ref().and_then(|ceiling| ceiling.shown_goodput_rps());
    let of_cases = scenario.cases.iter().filter_map(|case| case.shown_goodput_rps()).map(highest).fold(0.0, f64::max);
    // A far higher ceiling, as with a database, would leave no visible bars.
    let in_sight = ceiling.filter(|ceiling| highest(ceiling) <= CEILING_IN_SIGHT * of_cases);
    let most = in_sight.map_or(of_cases, |ceiling| highest(ceiling).max(of_cases));
    let columns = Columns::of(scenario);
    let scale = Scale { most, from: columns.bars, to: columns.figures - FIGURES };

    let foot = if ceiling.is_some() { 18.0 } else { 4.0 };
    let bottom = HEAD + LINE * scenario.cases.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + foot);
    drawing.heading(&heading(scenario), &few_words(&scenario.load));
    drawing.text("m", Anchor::End, columns.figures, HEAD - 4.0, "resp/s");
    if columns.shares > columns.figures {
        drawing.text("m", Anchor::End, columns.shares, HEAD - 4.0, "of limit");
    }
    if columns.tiers > 0.0 {
        drawing.text("m", Anchor::End, WIDTH, HEAD - 4.0, "tier");
    }
    if let Some(ceiling) = in_sight {
        let x = scale.at(ceiling.value);
        drawing.path("ceil", &format!("M{x:.1} {HEAD}V{bottom:.1}"));
    }
    for (place, (case, name)) in scenario.cases.iter().zip(labels(scenario, columns.bars)).enumerate() {
        let top = HEAD + LINE * place as f64;
        let share = of_limit(case, scenario).unwrap_or_default();
        let weight = if is_among_best(case, place == 0, scenario) { "l b" } else { "l" };
        label(&mut drawing, (case, &name), weight, top);
        throughput_row(&mut drawing, case, (weight, &share), (&scale, &columns), top);
    }
    if let Some(ceiling) = ceiling {
        let beyond = if in_sight.is_some() { "" } else { ", beyond the scale" };
        let bound = if scenario.ceiling.as_ref().is_some_and(is_lower_bound) { LOWER_BOUND } else { "" };
        let text = format!("machine limit {bound}{}{beyond}", amount(Quantity::Number, ceiling.value));
        drawing.text("m", Anchor::End, columns.figures, bottom + 14.0, &text);
    }
    let what = "correct responses per second; the table has the same figures";
    drawing.finish(&format!("{}: {what}", heading(scenario)))
}

fn throughput_row(
    drawing: &mut Drawing,
    case: &CaseFinding,
    (weight, share): (&str, &str),
    (scale, columns): (&Scale, &Columns),
    top: f64,
) {
    drawing.text(
        "m",
        Anchor::End,
        columns.shares,
        top + 14.0,
        if columns.shares > columns.figures { share } else { "" },
    );
    if let Some(tier) = &case.tier {
        drawing.text(weight, Anchor::End, WIDTH, top + 14.0, &fitted(tier, (columns.tiers - TIER_GAP) / BOLD));
    }
    let Some(goodput) = case.shown_goodput_rps() else {
        let words = no_figure(case);
        let words = if words == NONE { "no figure" } else { &words };
        drawing.text("m", Anchor::End, columns.figures, top + 14.0, words);
        return;
    };
    let bound = if is_lower_bound(case) { LOWER_BOUND } else { "" };
    let words = figure(Quantity::Number, goodput);
    let value = format!("{bound}{}", words.value);
    drawing.text(weight, Anchor::End, columns.figures, top + 14.0, &value);
    let title = format!("{}: {bound}{} correct responses/s", case.title, words.line());
    bar(drawing, case, scale, goodput, top, &title);
}

/// CPU time and memory of every case, side by side.
pub(crate) fn costs(scenario: &ScenarioFinding) -> String {
    let names = names(scenario);
    let half = (WIDTH - names) / 2.0;
    let most = |of: &dyn Fn(&CaseFinding) -> Option<&Estimate>| {
        let estimates = scenario.cases.iter().filter_map(of);
        estimates.map(highest).fold(0.0, f64::max)
    };
    // Room for the figure after the longest bar.
    let room = 58.0;
    let cpu = Scale { most: most(&|case| case.shown_cpu_s_per_good()), from: names, to: names + half - room };
    let memory = Scale { most: most(&|case| case.shown_memory_bytes()), from: names + half, to: WIDTH - room };

    let mut drawing = Drawing::new(WIDTH, HEAD + LINE * scenario.cases.len() as f64);
    drawing.heading(&heading(scenario), &few_words(&scenario.load));
    drawing.text("m", Anchor::Start, cpu.from, HEAD - 4.0, "CPU, µs");
    drawing.text("m", Anchor::Start, memory.from, HEAD - 4.0, "memory, MiB");
    for (place, (case, name)) in scenario.cases.iter().zip(labels(scenario, names)).enumerate() {
        let top = HEAD + LINE * place as f64;
        label(&mut drawing, (case, &name), "l", top);
        cost(&mut drawing, case, &cpu, case.shown_cpu_s_per_good(), 1e6, top);
        cost(&mut drawing, case, &memory, case.shown_memory_bytes(), 1.0 / MIB, top);
    }
    let what = "CPU time per correct response and memory";
    drawing.finish(&format!("{}: {what}; the table below has the same figures", heading(scenario)))
}

fn cost(drawing: &mut Drawing, case: &CaseFinding, scale: &Scale, cost: Option<&Estimate>, unit: f64, top: f64) {
    let Some(estimate) = cost else {
        drawing.text("m", Anchor::Start, scale.from, top + 14.0, "no figure");
        return;
    };
    let value = in_column(estimate.value * unit);
    bar(drawing, case, scale, estimate, top, &format!("{}: {value}", case.title));
    let end = scale.at(highest(estimate));
    drawing.text("v", Anchor::Start, end + 6.0, top + 14.0, &value);
}

/// The names of all cases, shortened to the room that they have.
fn labels(scenario: &ScenarioFinding, room: f64) -> Vec<String> {
    let is_any_marked = scenario.cases.iter().any(|case| !case.ranked);
    let mark = if is_any_marked { NOT_RANKED.chars().count() as f64 } else { 0.0 };
    let whole: Vec<&str> = scenario.cases.iter().map(|case| case.short.as_str()).collect();
    fitted_apart(&whole, (room - 22.0) / BOLD - mark)
}

fn label(drawing: &mut Drawing, (case, name): (&CaseFinding, &str), class: &str, top: f64) {
    look(&case.runtime).draw(drawing, 5.0, top + 10.0);
    let after = if case.ranked { "" } else { NOT_RANKED };
    drawing.text(class, Anchor::Start, 15.0, top + 14.0, &format!("{name}{after}"));
}

/// A bar with the interval of its value. An unranked case is only outlined.
fn bar(drawing: &mut Drawing, case: &CaseFinding, scale: &Scale, estimate: &Estimate, top: f64, title: &str) {
    let class = look(&case.runtime).class;
    let kind = if case.ranked { "bar" } else { "bar hollow" };
    let y = top + 4.5;
    drawing.bar(&format!("{class} {kind}"), [scale.from, y, scale.at(estimate.value) - scale.from, BAR], title);
    drawing.interval(estimate, |value| scale.at(value), y + BAR / 2.0);
}

/// The first, and all whose interval does not separate them from it; none if nothing has an interval.
fn is_among_best(case: &CaseFinding, is_first: bool, scenario: &ScenarioFinding) -> bool {
    let is_compared = |case: &CaseFinding| case.of_first.as_ref().is_some_and(|ratio| ratio.low.is_some());
    if is_first {
        return case.ranked && scenario.cases.iter().skip(1).any(is_compared);
    }
    let is_tied =
        matches!(case.against_first, Some(Verdict::Equivalent | Verdict::NoDifferenceFound | Verdict::CannotTell));
    is_tied && is_compared(case)
}

/// Maps a value to a position between two edges; zero is at the first.
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

/// Whether any cost is known: for servers that tolok did not start, none is.
pub(crate) fn has_costs(scenario: &ScenarioFinding) -> bool {
    scenario.cases.iter().any(|case| case.cpu_s_per_good.is_some() || case.memory_bytes.is_some())
}
