//! Compares all ranked cases of a scenario by one figure, with the rule that judges goodput (`verdict.rs`).
//!
//! Ratios of two cases come from within blocks. All pairs of the scenario and this figure are judged together. If this figure
//! tells the scenario's A/A pair apart, only larger differences count.

use crate::compare::ComparedMetric;
use crate::estimate::size;
use crate::figure::table::Around;
use crate::findings::{Better, CaseFinding, Estimate, MemorySource, ScenarioFinding, Verdict};
use crate::fit::Fit;
use crate::noise::{NoiseCheck, second_halves};
use crate::observations::Observations;
use crate::records::Records;
use crate::slices::{self, Comparand};
use crate::verdict::{Judged, judge_pairs};

/// The comparison of two cases by one figure.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// The first over the second.
    pub(crate) ratio: Estimate,
    /// Blocks in which both were measured.
    pub(crate) blocks: u32,
    /// Blocks in which the figure of the first was better.
    pub(crate) won: u32,
    /// The verdict on the first; the one with the better figure is *faster*.
    pub(crate) verdict: Verdict,
}

/// The cases of a scenario that have a figure in every scored trial, the best first, and all their pairs.
pub(crate) struct Contest<'a> {
    pub(crate) metric: ComparedMetric,
    pub(crate) cases: Vec<&'a CaseFinding>,
    /// Pairs by the indexes of both cases, the lower first.
    pairs: Vec<((usize, usize), Pair)>,
    /// The size of the A/A pair's difference, or `None` without a difference or a pair.
    pub(crate) aa_effect: Option<f64>,
}

impl<'a> Contest<'a> {
    pub(crate) fn of(records: &Records, scenario: &'a ScenarioFinding, metric: ComparedMetric) -> Self {
        Self::among(records, scenario, metric, &|_| true)
    }

    /// A contest of the ranked cases that `may` take part.
    pub(crate) fn among(
        records: &Records,
        scenario: &'a ScenarioFinding,
        metric: ComparedMetric,
        may: &dyn Fn(&CaseFinding) -> bool,
    ) -> Self {
        let has = |case: &&CaseFinding| case.ranked && metric.of_server(case).is_some() && may(case);
        let figures = |case: &str| by_block(records, case, metric, scenario.memory_source);
        let taking_part = scenario.cases.iter().filter(has);
        let mut entries: Vec<Entry> = taking_part.map(|case| Entry::of(case, metric, figures(&case.case))).collect();
        let fit = Fit::of(entries.iter().map(|entry| &entry.figures).collect());
        let values: Vec<Option<f64>> = (0..entries.len()).map(|place| Some(fit.value(place)?.value)).collect();
        for (entry, value) in entries.iter_mut().zip(values) {
            entry.value = value.unwrap_or(entry.value);
        }
        entries.sort_by(|left, right| match metric.better() {
            Better::Higher => right.value.total_cmp(&left.value),
            Better::Lower => left.value.total_cmp(&right.value),
        });
        let check = noise_check(records, &scenario.id, &entries, figures);
        let rule = NoiseCheck::rule(check.as_ref(), records.plan.smallest_effect);
        let fit = Fit::of(entries.iter().map(|entry| &entry.figures).collect()).widened(rule.widening);
        let pair = |judged: Judged| Pair {
            won: judged.pair.won(metric.better()),
            verdict: metric.better().of(judged.verdict),
            blocks: judged.pair.blocks,
            ratio: judged.pair.ratio,
        };
        let judged = judge_pairs(entries.len(), |a, b| fit.ratio(a, b), rule);
        let pairs = judged.into_iter().map(|(places, judged)| (places, pair(judged))).collect();
        let cases = entries.iter().map(|entry| entry.case).collect();
        Self { metric, pairs, cases, aa_effect: rule.aa_effect }
    }

    /// The value of a case as tables show it.
    pub(crate) fn shown(&self, place: usize) -> f64 {
        self.metric.shown_of_server(self.cases[place]).map_or(f64::NAN, |shown| shown.value)
    }

    /// The first over the second, or `None` if they share no block.
    pub(crate) fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        let find = |a, b| self.pairs.iter().find(|(places, _)| *places == (a, b)).map(|(_, pair)| pair.clone());
        find(a, b).or_else(|| find(b, a).map(Pair::turned))
    }

    /// Whether the first has the better figure, by its verdict.
    pub(crate) fn is_ahead(&self, a: usize, b: usize) -> bool {
        self.pair(a, b).is_some_and(|pair| pair.verdict == Verdict::Faster)
    }

    /// Indexes of the cases that no other significantly beats.
    pub(crate) fn unbeaten(&self) -> Vec<usize> {
        let all = 0..self.cases.len();
        all.clone().filter(|case| !all.clone().any(|other| self.is_ahead(other, *case))).collect()
    }

    /// The most blocks that any two cases have in common.
    pub(crate) fn blocks(&self) -> u32 {
        self.pairs.iter().map(|(_, pair)| pair.blocks).max().unwrap_or(0)
    }
}

impl Pair {
    /// The same pair in reverse: the second over the first.
    pub(crate) fn turned(self) -> Self {
        Self { ratio: self.ratio.turned(), won: self.blocks - self.won, verdict: self.verdict.turned(), ..self }
    }

    /// The smallest size that the interval allows: 0 if it contains 1 or there is none.
    pub(crate) fn at_least(&self) -> f64 {
        match (self.ratio.low, self.ratio.high) {
            (Some(low), _) if low > 1.0 => size(low),
            (_, Some(high)) if high < 1.0 => size(high),
            _ => 0.0,
        }
    }
}

pub(crate) fn by_block(
    records: &Records,
    case: &str,
    metric: ComparedMetric,
    source: Option<MemorySource>,
) -> Comparand {
    let observations = Observations::of(case, records.plan, records.trials);
    let around = Around { memory: source, ..Around::default() };
    match metric {
        // A block without a correct response leaves no ratio, whereas a block that lacks the figure is only left out.
        ComparedMetric::Goodput => Comparand::of(&observations, observations.goodput_by_block(), slices::goodput),
        ComparedMetric::Cpu => Comparand::of(
            &observations,
            observations.by_block(|trial| metric.read(trial, &around)),
            slices::cpu_per_good,
        ),
        _ => observations.by_block(|trial| metric.read(trial, &around)).into(),
    }
}

/// A case that takes part.
struct Entry<'a> {
    case: &'a CaseFinding,
    value: f64,
    figures: Comparand,
}

impl<'a> Entry<'a> {
    fn of(case: &'a CaseFinding, metric: ComparedMetric, figures: Comparand) -> Self {
        // A value until the fit replaces it, and if nothing can be fitted.
        let value = metric.of_server(case).map_or(f64::NAN, |found| found.value);
        Self { case, value, figures }
    }
}

/// The noise check of this figure by the subjects that were entered twice.
fn noise_check(
    records: &Records,
    scenario: &str,
    entries: &[Entry],
    figures: impl Fn(&str) -> Comparand,
) -> Option<NoiseCheck> {
    let place = |id: &str| entries.iter().position(|entry| entry.case.case == *id);
    let halves = second_halves(records.plan, scenario).into_iter();
    let found: Vec<(usize, Comparand)> =
        halves.filter_map(|(twin, first)| Some((place(first)?, figures(twin)))).collect();
    let rows: Vec<&Comparand> = entries.iter().map(|entry| &entry.figures).collect();
    NoiseCheck::of(&rows, &found.iter().map(|(first, again)| (*first, again)).collect::<Vec<_>>())
}
