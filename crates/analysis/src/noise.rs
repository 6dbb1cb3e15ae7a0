//! The noise check: the difference between the halves of A/A pairs, which are the same subject entered twice.
//!
//! Any difference between the two is noise. Cases take turns at being entered twice, and all pairs of a scenario are judged
//! together. A pair can have two effects. If the mean of the differences is significant, this run finds differences that do not
//! exist, so differences of that size or below do not count (`verdict.rs`). If they scatter significantly more than the fit of
//! all cases expects, every standard error of the scenario grows by that excess (`tolok_stats::Twins`).

use tolok_model::{CaseId, Plan};
use tolok_stats::Twins;

use crate::estimate::{BlockRatio, geometric_mean, ratio_of_blocks, size};
use crate::figures::{Quantity, figure, small_share};
use crate::findings::{Better, Estimate, NoiseFloor, NoisePair, Verdict};
use crate::fit::Fit;
use crate::slices::Comparand;
use crate::verdict::{Rule, judge_alone};

/// All pairs of a scenario by one figure.
#[derive(Debug, Clone)]
pub(crate) struct NoiseCheck {
    /// The second halves over the first, block by block.
    pub(crate) pair: BlockRatio,
    /// The ratios of each case's blocks, by the index of its first half.
    pub(crate) by_case: Vec<(usize, Vec<f64>)>,
    twins: Option<Twins>,
}

/// Ids of the second halves of a scenario, each with its first.
pub(crate) fn second_halves<'a>(plan: &'a Plan, scenario: &str) -> Vec<(&'a CaseId, &'a CaseId)> {
    let own = plan.cases.iter().filter(|case| case.scenario == scenario);
    own.filter_map(|case| Some((&case.id, case.twin_of.as_ref()?))).collect()
}

impl NoiseCheck {
    /// Compares second halves, each given with the index of its first half among the cases. `None` if no block has both.
    pub(crate) fn of(cases: &[&Comparand], halves: &[(usize, &Comparand)]) -> Option<Self> {
        let mut pairs: Vec<(u32, usize, f64)> = Vec::new();
        for (first, again) in halves {
            let ratio = |block: usize| Some((block as u32 + 1, *first, again.log_ratio_in(cases[*first], block)?));
            pairs.extend((0..again.values.len()).filter_map(ratio));
        }
        pairs.sort_by_key(|(block, ..)| *block);
        // The pairs alone are too few to show how trials scatter.
        let twins = Fit::of(cases.to_vec()).twins(pairs.iter().map(|(_, first, ratio)| (*first, *ratio)));
        let pair = ratio_of_blocks(pairs.iter().map(|(block, _, ratio)| (*block, *ratio)))?;
        let mut by_case: Vec<(usize, Vec<f64>)> = Vec::new();
        for (_, first, ratio) in &pairs {
            match by_case.iter_mut().find(|(known, _)| known == first) {
                Some((_, own)) => own.push(ratio.exp()),
                None => by_case.push((*first, vec![ratio.exp()])),
            }
        }
        Some(Self { pair: twins.map_or(pair.clone(), |twins| pair.estimated_by(twins.mean)), by_case, twins })
    }

    /// The same for timer readings in steps of this share.
    pub(crate) fn read_in_steps(self, step: f64) -> Self {
        Self { pair: self.pair.read_in_steps([step, step]), ..self }
    }

    /// The size of the difference, if it is significant.
    pub(crate) fn aa_effect(&self, smallest_effect: f64) -> Option<f64> {
        aa_effect_of(self.pair.clone(), smallest_effect)
    }

    /// The factor by which the scenario's standard errors are too small.
    pub(crate) fn widening(&self) -> f64 {
        self.twins.map_or(1.0, |twins| twins.widening())
    }

    /// The rule that judges the pairs of this scenario.
    pub(crate) fn rule(found: Option<&Self>, smallest_effect: f64) -> Rule {
        let aa_effect = found.and_then(|check| check.aa_effect(smallest_effect));
        Rule { aa_effect, widening: found.map_or(1.0, Self::widening), ..Rule::of(smallest_effect) }
    }

    pub(crate) fn finding(&self, names: &[(&str, &str)], smallest_effect: f64, better: Better) -> Option<NoiseFloor> {
        let judged = judge_alone(self.pair.clone(), Rule::of(smallest_effect))?;
        let (ratio, verdict) = (judged.pair.ratio, better.of(judged.verdict));
        let of_case = |(place, ratios): &(usize, Vec<f64>)| {
            let (subject, _) = names.get(*place)?;
            let ratio = geometric_mean(ratios)?;
            Some(NoisePair { subject: (*subject).to_owned(), blocks: ratios.len() as u32, ratio })
        };
        let pairs: Vec<NoisePair> = self.by_case.iter().filter_map(of_case).collect();
        let titles: Vec<&str> = self.by_case.iter().filter_map(|(place, _)| Some(names.get(*place)?.1)).collect();
        let subjects: Vec<&str> = pairs.iter().map(|pair| pair.subject.as_str()).collect();
        let widening = self.widening();
        Some(NoiseFloor {
            subject: subjects.join(", "),
            blocks: judged.pair.blocks,
            size: size(ratio.value),
            verdict,
            sentence: sentence(&titles, &ratio, verdict, widening),
            scatter: self.twins.map(|twins| twins.scatter.exp_m1()),
            widening,
            pairs,
            ratio,
        })
    }
}

fn sentence(titles: &[&str], ratio: &Estimate, verdict: Verdict, widening: f64) -> String {
    let entered = match titles {
        [only] => (*only).to_owned(),
        all => format!("each of {} subjects in turn", all.len()),
    };
    let (off, words) = (small_share(size(ratio.value)), words(ratio));
    let what_follows = match verdict {
        Verdict::Faster | Verdict::Slower => format!(
            "differed from itself by {off} ({words}): this run finds differences where there are none, so trust none of that size or less"
        ),
        Verdict::Equivalent | Verdict::NoDifferenceFound => {
            format!("differed by {off} ({words}): no difference found")
        }
        Verdict::CannotTell if ratio.low.is_none() => {
            format!("differed by {off} ({words}): too few rounds to judge")
        }
        Verdict::CannotTell => format!("differed by {off} ({words}): inconclusive"),
    };
    let wider = match widening > 1.0 && ratio.low.is_some() {
        true => format!(
            " The rounds of the check scatter more than the cases do, so every interval here is {widening:.1} times as wide."
        ),
        false => String::new(),
    };
    format!("{entered}, entered twice, {what_follows}.{wider}")
}

/// The size of the difference between two equal halves, if it is significant.
pub(crate) fn aa_effect_of(pair: BlockRatio, smallest_effect: f64) -> Option<f64> {
    let judged = judge_alone(pair, Rule::of(smallest_effect))?;
    judged.verdict.is_told_apart().then(|| size(judged.pair.ratio.value))
}

/// The size of the difference in a finding, if it is significant.
pub(crate) fn aa_effect(floor: Option<&NoiseFloor>) -> Option<f64> {
    floor.filter(|floor| floor.verdict.is_told_apart()).map(|floor| floor.size)
}

/// `1.06×, 1.05–1.07`
fn words(ratio: &Estimate) -> String {
    let figure = figure(Quantity::Ratio, ratio);
    figure.interval.map_or(figure.value.clone(), |interval| format!("{}, {interval}", figure.value))
}
