//! A scenario's table in words, the same for every format that people read.

use tolok_analysis::figures::{Figure, NONE, Quantity, amount, figure, in_column};
use tolok_analysis::{CaseFinding, Estimate, LatencyMark, MemorySource, ScenarioFinding, Verdict};

use crate::documents::run::judgement::TIER;
use crate::documents::run::notes::Notes;
use crate::documents::run::resources::throttled;
use crate::documents::run::sections::is_of_tools;
use crate::documents::run::surroundings::has_quota;

const MIB: f64 = 1024.0 * 1024.0;
/// Stands before a goodput that the generator limited.
pub(crate) const LOWER_BOUND: &str = "≥";

/// The table of a scenario.
pub(crate) struct Table<'a> {
    /// Competing cases, in the order of the findings.
    pub(crate) rows: Vec<Row<'a>>,
    /// The ceiling, which stands apart.
    pub(crate) ceiling: Option<Row<'a>>,
    /// Whether its subjects had a quota, so that there is a column for what it took.
    pub(crate) has_quota: bool,
    /// Whether any case was compared with the first.
    pub(crate) is_compared: bool,
    /// Whether any case has a share of the ceiling.
    pub(crate) has_ceiling: bool,
    /// Which memory its column holds.
    pub(crate) memory: &'static str,
    /// What the numbers behind the subjects refer to.
    pub(crate) notes: Notes,
}

/// One case in words. A figure that does not exist is a dash.
pub(crate) struct Row<'a> {
    pub(crate) case: &'a CaseFinding,
    pub(crate) goodput: Figure,
    pub(crate) against_first: Figure,
    /// `=`, `≈` or `?`, or nothing where the difference is clear.
    pub(crate) mark: &'static str,
    /// Letters of its tiers.
    pub(crate) tier: String,
    pub(crate) of_ceiling: String,
    pub(crate) cpu_us: String,
    pub(crate) memory_mib: String,
    pub(crate) p50_ms: String,
    pub(crate) p99_ms: String,
    pub(crate) cold_start_ms: String,
    /// Share of the periods in which the quota stopped it.
    pub(crate) throttled: String,
    pub(crate) notes: Vec<usize>,
}

/// The mark of a verdict and its meaning.
pub(crate) const MARKS: [(&str, Verdict); 3] =
    [("=", Verdict::Equivalent), ("≈", Verdict::NoDifferenceFound), ("?", Verdict::CannotTell)];

impl<'a> Table<'a> {
    pub(crate) fn of(scenario: &'a ScenarioFinding) -> Self {
        let notes = Notes::of(scenario);
        let row = |(place, case): (usize, &'a CaseFinding)| Row::of(case, place == 0, notes.numbers(case));
        let rows = scenario.cases.iter().enumerate().map(row).collect();
        let ceiling = scenario.ceiling.as_ref().map(|case| Row::of(case, false, notes.numbers(case)));
        let memory = scenario.memory_source.map_or("", MemorySource::words);
        Self {
            rows,
            ceiling,
            has_quota: has_quota(scenario),
            is_compared: scenario.cases.iter().any(|case| case.against_first.is_some()),
            has_ceiling: scenario.ceiling.is_some() || scenario.cases.iter().any(|case| case.of_ceiling.is_some()),
            memory,
            notes,
        }
    }

    /// Meanings of the marks that occur.
    pub(crate) fn legend(&self) -> Vec<String> {
        let mut legend: Vec<String> = MARKS
            .iter()
            .filter(|(mark, _)| self.rows.iter().any(|row| row.mark == *mark))
            .map(|(mark, verdict)| format!("{mark} {}", verdict.words()))
            .collect();
        if self.is_compared {
            legend.push(TIER.to_owned());
        }
        if self.rows.iter().any(|row| is_lower_bound(row.case)) {
            legend.push(format!("{LOWER_BOUND} lower bound"));
        }
        if self.has_quota {
            legend.push("throttled: share of the periods in which its quota stopped it".to_owned());
        }
        legend
    }
}

impl<'a> Row<'a> {
    fn of(case: &'a CaseFinding, is_first: bool, notes: Vec<usize>) -> Self {
        let scaled = |estimate: &Option<Estimate>, unit: f64| {
            estimate.as_ref().map_or(NONE.to_owned(), |estimate| in_column(estimate.value * unit))
        };
        Self {
            case,
            goodput: goodput(case),
            against_first: against_first(case, is_first),
            mark: MARKS.iter().find(|(_, verdict)| case.against_first == Some(*verdict)).map_or("", |(mark, _)| mark),
            tier: case.tier.clone().unwrap_or_else(|| NONE.to_owned()),
            of_ceiling: case.of_ceiling.as_ref().map_or(NONE.to_owned(), |of| amount(Quantity::Share, of.value)),
            cpu_us: scaled(&case.cpu_s_per_good, 1e6),
            memory_mib: scaled(&case.memory_bytes, 1.0 / MIB),
            p50_ms: scaled(&case.latency_p50_s, 1e3),
            p99_ms: scaled(&case.latency_p99_s, 1e3),
            cold_start_ms: scaled(&case.cold_start_s, 1e3),
            throttled: throttled(&case.resources).unwrap_or_else(|| NONE.to_owned()),
            notes,
        }
    }
}

/// What the percentiles of a scenario are: in a closed loop they hold for its number of users only.
pub(crate) fn percentiles(scenario: &ScenarioFinding) -> String {
    if is_of_tools(scenario) {
        return format!("p50 and p99 in the {} loop as each tool takes them", scenario.loop_model);
    }
    match scenario.loop_model.as_str() {
        "open" => format!("p50 and p99 {} (open loop)", counted_from(scenario)),
        model => format!("p50 and p99 in a {model} loop{}", added(scenario)),
    }
}

/// When a latency of an open loop begins, by the tool that took it.
fn counted_from(scenario: &ScenarioFinding) -> &'static str {
    let from_send = scenario.latency_marks.contains(&LatencyMark::FromSend);
    if from_send { "from the moment of sending" } else { "from the planned instant" }
}

fn added(scenario: &ScenarioFinding) -> &'static str {
    if scenario.latency_marks.contains(&LatencyMark::BackFilled) { ", with samples that the tool added" } else { "" }
}

/// The same in the heading of a column.
pub(crate) fn percentiles_heading(scenario: &ScenarioFinding) -> String {
    if is_of_tools(scenario) {
        return format!("{} loop, as its tool takes it", scenario.loop_model);
    }
    match scenario.loop_model.as_str() {
        "open" => counted_from(scenario).to_owned(),
        model => format!("{model} loop{}", added(scenario)),
    }
}

/// Whether the generator, and not the subject, decided the case's goodput.
pub(crate) fn is_lower_bound(case: &CaseFinding) -> bool {
    case.flags.iter().any(|flag| flag.kind == "generator-bound")
}

fn goodput(case: &CaseFinding) -> Figure {
    let Some(estimate) = &case.goodput_rps else { return Figure { value: no_figure(case), interval: None } };
    let mut figure = figure(Quantity::Number, estimate);
    if is_lower_bound(case) {
        figure.value = format!("{LOWER_BOUND}{}", figure.value);
    }
    figure
}

/// What stands in the place of a goodput that there is none of: a bound, or why every trial failed. It is never 0.
pub(crate) fn no_figure(case: &CaseFinding) -> String {
    if let Some(below_rps) = case.goodput_below_rps {
        return format!("<{}", amount(Quantity::Number, below_rps));
    }
    let is_unmeasured = case.trials_measured == 0;
    let reason = case.failures.first().map(|failure| failure.reason.as_str()).filter(|_| is_unmeasured);
    let is_only = |reason: &&str| case.failures.iter().all(|failure| failure.reason == *reason);
    reason.filter(is_only).unwrap_or(NONE).to_owned()
}

fn against_first(case: &CaseFinding, is_first: bool) -> Figure {
    match &case.of_first {
        Some(_) if is_first => Figure { value: "first".to_owned(), interval: None },
        Some(ratio) => figure(Quantity::Ratio, ratio),
        None => nothing(),
    }
}

fn nothing() -> Figure {
    Figure { value: NONE.to_owned(), interval: None }
}
