//! Compares two cases by one quantity: by their ratio, or for shares by their difference.

use tolok_model::transcription::Quantity;
use tolok_stats::{
    Interval, Sample, equivalence_paired, equivalence_welch, mean_interval, normal_cdf, normal_quantile, paired_t,
    welch,
};

use super::family::Span;
use super::gauge::{Scale, scale};
use super::sites::Site;
use crate::estimate::{BlockRatio, LEVEL, least_trials, ratio_within_blocks};
use crate::figures::counted;
use crate::findings::Estimate;
use crate::noise::aa_effect_of;
use crate::verdict::{Rule, p_of_difference, p_of_equivalence};

/// A share of failed requests below this, or a difference below this, does not matter: one in a hundred.
pub(super) const SMALLEST_SHARE: f64 = 0.01;

/// The comparison of two cases by one quantity, not yet judged.
#[derive(Debug, Clone)]
pub(super) struct Contrast {
    /// The first over the second, or the first minus the second.
    pub(super) found: Estimate,
    pub(super) scale: Scale,
    /// The probability of a difference this large between equal cases.
    pub(super) p: Option<f64>,
    /// The probability of a similarity this close between cases that differ by what matters.
    pub(super) p_equivalence: Option<f64>,
    pub(super) rule: Rule,
    /// Why there is no interval, if there is none.
    pub(super) too_few: Option<String>,
}

impl Contrast {
    /// Compares two ranked cases, or says why that is impossible. For failures, cases need not be ranked.
    pub(super) fn of(a: &Site, b: &Site, measured: &Quantity, span: Span) -> Result<Self, String> {
        let scale = scale(measured);
        let unranked = a.unranked_by(measured).or_else(|| b.unranked_by(measured)).filter(|_| scale == Scale::Ratio);
        match unranked {
            Some(why) => Err(why),
            None if span == Span::SameSeconds => Self::measured(a, b, measured),
            None => Self::of_any(a, b, measured),
        }
    }

    /// The same for ranked and unranked cases.
    pub(super) fn of_any(a: &Site, b: &Site, measured: &Quantity) -> Result<Self, String> {
        match a.unjudged(measured).or_else(|| b.unjudged(measured)) {
            Some(why) => Err(why),
            None => Self::measured(a, b, measured),
        }
    }

    /// The same for any window length.
    fn measured(a: &Site, b: &Site, measured: &Quantity) -> Result<Self, String> {
        let (above, below) = (a.by_block(measured), b.by_block(measured));
        for (site, figures) in [(a, &above), (b, &below)] {
            if figures.iter().flatten().next().is_none() {
                return Err(format!("{} has no such figure in every trial of {}", site.title(), site.case.scenario));
            }
        }
        let smallest_effect = a.run.records.plan.smallest_effect.max(b.run.records.plan.smallest_effect);
        let rule = Rule { aa_effect: aa_effect(a, b, measured), ..Rule::of(smallest_effect) };
        let found = match (scale(measured), a.part == b.part) {
            (Scale::Ratio, true) => within_blocks(&above, &below, [a.step(measured), b.step(measured)], rule),
            (Scale::Difference, true) => shares_within_blocks(&above, &below, rule),
            (scale, false) => across_parts(&above, &below, scale, rule),
        };
        let found = found.ok_or_else(|| "the two share no round in which both have it".to_owned())?;
        let by_number = a.binomial(measured).zip(b.binomial(measured));
        Ok(match by_number {
            Some((a, b)) => found.no_surer_than(a, b),
            None => found,
        })
    }
}

impl Contrast {
    /// Limits the certainty of a difference of shares to what the numbers of requests allow, however alike the trials are. The
    /// interval of the difference is that of R. G. Newcombe (Statistics in Medicine 17, 1998), with the exact ends of each share.
    fn no_surer_than(self, (a, of_a): (f64, Interval), (b, of_b): (f64, Interval)) -> Self {
        let difference = self.found.value;
        let below = (a - of_a.low).hypot(of_b.high - b);
        let above = (of_a.high - a).hypot(b - of_b.low);
        let errors = normal_quantile(f64::midpoint(1.0, LEVEL.fraction()));
        let beyond = |distance: f64, reach: f64| 1.0 - normal_cdf(distance / reach * errors);
        let larger = |p: Option<f64>, other: f64| p.map(|p| p.max(other));
        let towards_none = if difference > 0.0 { below } else { above };
        Self {
            p: larger(self.p, 2.0 * beyond(difference.abs(), towards_none)),
            p_equivalence: larger(self.p_equivalence, beyond(SMALLEST_SHARE - difference.abs(), below.max(above))),
            found: Estimate {
                low: self.found.low.map(|low| low.min(difference - below)),
                high: self.found.high.map(|high| high.max(difference + above)),
                ..self.found
            },
            ..self
        }
    }
}

/// How much the same subject, entered twice, differs from itself in either scenario, if the two were told apart.
fn aa_effect(a: &Site, b: &Site, measured: &Quantity) -> Option<f64> {
    let of = |site: &Site| {
        let [again, first] = site.twins_by_block(measured);
        let pair = ratio_within_blocks(&again, &first).filter(|_| scale(measured) == Scale::Ratio)?;
        aa_effect_of(pair.read_in_steps([site.step(measured); 2]), site.run.records.plan.smallest_effect)
    };
    [of(a), of(b)].into_iter().flatten().reduce(f64::max)
}

fn within_blocks(above: &[Option<f64>], below: &[Option<f64>], steps: [f64; 2], rule: Rule) -> Option<Contrast> {
    let pair: BlockRatio = ratio_within_blocks(above, below)?.read_in_steps(steps);
    Some(Contrast {
        scale: Scale::Ratio,
        p: p_of_difference(&pair),
        p_equivalence: p_of_equivalence(&pair, rule.smallest_effect),
        rule,
        too_few: too_few(pair.blocks, "common round"),
        found: pair.ratio,
    })
}

/// Compares two independent samples (Welch): by their logarithms, or for shares by the shares themselves. Their trials do not
/// form pairs, so the contrast has no values by block.
fn across_parts(above: &[Option<f64>], below: &[Option<f64>], scale: Scale, rule: Rule) -> Option<Contrast> {
    let is_ratio = scale == Scale::Ratio;
    let there = |value: f64| if is_ratio { value.ln() } else { value };
    let back = |value: f64| if is_ratio { value.exp() } else { value };
    let margin = if is_ratio { rule.smallest_effect.ln_1p() } else { SMALLEST_SHARE };
    let sample = |figures: &[Option<f64>]| {
        Sample::new(&figures.iter().flatten().map(|value| there(*value)).collect::<Vec<f64>>()).ok()
    };
    let (a, b) = (sample(above)?, sample(below)?);
    let found = welch(&a, &b, 0.0, LEVEL);
    let interval = found.and_then(|it| it.interval);
    let (low, high) = (interval.map(|it| back(it.low)), interval.map(|it| back(it.high)));
    Some(Contrast {
        found: Estimate { value: back(a.mean() - b.mean()), low, high, trials: Vec::new() },
        scale,
        p: found.filter(|_| interval.is_some()).map(|it| it.p),
        p_equivalence: equivalence_welch(&a, &b, margin),
        rule,
        too_few: too_few(a.len().min(b.len()) as u32, "trial"),
    })
}

fn shares_within_blocks(above: &[Option<f64>], below: &[Option<f64>], rule: Rule) -> Option<Contrast> {
    let both = above.iter().zip(below);
    let trials: Vec<f64> = both.filter_map(|(above, below)| Some((*above)? - (*below)?)).collect();
    let differences = Sample::new(&trials).ok()?;
    let interval = mean_interval(&differences, LEVEL);
    let (low, high) = (interval.map(|it| it.low), interval.map(|it| it.high));
    Some(Contrast {
        scale: Scale::Difference,
        p: paired_t(&differences, 0.0).filter(|_| interval.is_some()).map(|test| test.p),
        p_equivalence: equivalence_paired(&differences, SMALLEST_SHARE),
        rule,
        too_few: too_few(trials.len() as u32, "common round"),
        found: Estimate { value: differences.mean(), low, high, trials },
    })
}

fn too_few(number: u32, what: &str) -> Option<String> {
    let least = least_trials();
    (number < least).then(|| format!("{}, and an interval needs {least}", counted(u64::from(number), what)))
}
