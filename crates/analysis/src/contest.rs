//! All ranked cases of a scenario held against each other by one figure, with the rule that judges goodput (`verdict.rs`).
//!
//! The ratio of two cases is taken within blocks, and all pairs of the scenario and of this figure are judged together. Where
//! the A/A pair of the scenario was told apart by this figure, no difference is believed that is not larger.

use crate::compare::ComparedMetric;
use crate::estimate::size;
use crate::figure::table::Around;
use crate::findings::{Better, CaseFinding, Estimate, MemorySource, ScenarioFinding, Verdict};
use crate::observations::Observations;
use crate::records::Records;
use crate::slices::{self, Comparand};
use crate::verdict::{self, Judged, Rule, judge_pairs};

/// Two cases by one figure.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// The first over the second.
    pub(crate) ratio: Estimate,
    /// Blocks in which both were measured.
    pub(crate) blocks: u32,
    /// Blocks in which the figure of the first was the better one.
    pub(crate) won: u32,
    /// The verdict on the first; the one with the better figure is *faster*.
    pub(crate) verdict: Verdict,
}

/// The cases of a scenario that have a figure in every scored trial, the best by its median first, and all their pairs.
pub(crate) struct Contest<'a> {
    pub(crate) metric: ComparedMetric,
    pub(crate) cases: Vec<&'a CaseFinding>,
    /// By the places of the two, the lower first.
    pairs: Vec<((usize, usize), Pair)>,
    /// The size of the A/A pair's difference, or `None` if it does not differ or does not exist.
    pub(crate) aa_effect: Option<f64>,
}

impl<'a> Contest<'a> {
    /// None that are not ranked are in it.
    pub(crate) fn of(records: &Records, scenario: &'a ScenarioFinding, metric: ComparedMetric) -> Self {
        Self::among(records, scenario, metric, &|_| true)
    }

    /// The same among those of them that `may` take part.
    pub(crate) fn among(
        records: &Records,
        scenario: &'a ScenarioFinding,
        metric: ComparedMetric,
        may: &dyn Fn(&CaseFinding) -> bool,
    ) -> Self {
        let has = |case: &&CaseFinding| case.ranked && metric.of_server(case).is_some() && may(case);
        let mut cases: Vec<&CaseFinding> = scenario.cases.iter().filter(has).collect();
        let value = |case: &CaseFinding| metric.of_server(case).map_or(f64::NAN, |found| found.value);
        cases.sort_by(|left, right| match metric.better() {
            Better::Higher => value(right).total_cmp(&value(left)),
            Better::Lower => value(left).total_cmp(&value(right)),
        });
        let source = scenario.memory_source;
        let figures: Vec<Comparand> = cases.iter().map(|case| by_block(records, &case.case, metric, source)).collect();
        let aa_effect = aa_effect(records, scenario, metric);
        let rule = Rule { smallest_effect: records.plan.smallest_effect, aa_effect };
        let pair = |judged: Judged| Pair {
            won: judged.pair.won(metric.better()),
            verdict: metric.better().of(judged.verdict),
            blocks: judged.pair.blocks,
            ratio: judged.pair.ratio,
        };
        let judged = judge_pairs(cases.len(), |a, b| figures[a].over(&figures[b]), rule);
        let pairs = judged.into_iter().map(|(places, judged)| (places, pair(judged))).collect();
        Self { metric, pairs, cases, aa_effect }
    }

    /// The first over the second, or `None` where they share no block.
    pub(crate) fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        let find = |a, b| self.pairs.iter().find(|(places, _)| *places == (a, b)).map(|(_, pair)| pair.clone());
        find(a, b).or_else(|| find(b, a).map(Pair::turned))
    }

    /// Whether the first was told to have the better figure.
    pub(crate) fn is_ahead(&self, a: usize, b: usize) -> bool {
        self.pair(a, b).is_some_and(|pair| pair.verdict == Verdict::Faster)
    }

    /// Places of the cases that no other significantly beats.
    pub(crate) fn unbeaten(&self) -> Vec<usize> {
        let all = 0..self.cases.len();
        all.clone().filter(|case| !all.clone().any(|other| self.is_ahead(other, *case))).collect()
    }

    /// Most blocks that any two have in common.
    pub(crate) fn blocks(&self) -> u32 {
        self.pairs.iter().map(|(_, pair)| pair.blocks).max().unwrap_or(0)
    }
}

impl Pair {
    /// The second over the first.
    pub(crate) fn turned(self) -> Self {
        Self { ratio: self.ratio.turned(), won: self.blocks - self.won, verdict: self.verdict.turned(), ..self }
    }

    /// How far from equal the end of the interval is that lies nearer to it: 0 where it holds 1 or there is none.
    pub(crate) fn at_least(&self) -> f64 {
        match (self.ratio.low, self.ratio.high) {
            (Some(low), _) if low > 1.0 => size(low),
            (_, Some(high)) if high < 1.0 => size(high),
            _ => 0.0,
        }
    }
}

/// The figure of a case block by block.
pub(crate) fn by_block(
    records: &Records,
    case: &str,
    metric: ComparedMetric,
    source: Option<MemorySource>,
) -> Comparand {
    let observations = Observations::of(case, records.plan, records.trials);
    let around = Around { memory: source, ..Around::default() };
    match metric {
        // A block without a good answer leaves no ratio, whereas one that lacks a figure is only left out.
        ComparedMetric::Goodput => Comparand::of(&observations, observations.goodput_by_block(), slices::goodput),
        ComparedMetric::Cpu => Comparand::of(
            &observations,
            observations.by_block(|trial| metric.read(trial, &around)),
            slices::cpu_per_good,
        ),
        _ => observations.by_block(|trial| metric.read(trial, &around)).into(),
    }
}

/// By how much the same subject, entered twice, came out apart from itself, where it was told apart.
fn aa_effect(records: &Records, scenario: &ScenarioFinding, metric: ComparedMetric) -> Option<f64> {
    let is_twin = |case: &&tolok_model::Case| case.scenario == scenario.id && case.twin_of.is_some();
    let twin = records.plan.cases.iter().find(is_twin)?;
    let of = |case: &str| by_block(records, case, metric, scenario.memory_source);
    let pair = of(&twin.id).over(&of(twin.twin_of.as_deref()?))?;
    verdict::aa_effect(pair, records.plan.smallest_effect)
}
