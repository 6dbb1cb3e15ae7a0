//! How far ratios scatter within launches and between them, for servers in slices and programs in turns.

use tolok_stats::{SD_OF_MAD, Sample, student_t_quantile};

use super::Comparand;
use crate::estimate::{least_trials, middle};
use crate::figures::small_share;
use crate::findings::SliceRatio;

/// Under normal noise the Hodges-Lehmann estimate has 0.955 of the efficiency of a mean.
const EFFICIENCY: f64 = 0.955;

/// How far the ratio of a pair scatters, in logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Of a launch's estimate, by the scatter of its slices.
    pub(super) within: f64,
    /// Of the launches beyond that.
    pub(super) between: f64,
}

impl Spread {
    fn of(above: &Comparand, below: &Comparand) -> Option<Self> {
        let ratio = above.over(below)?;
        let total = ratio.logarithms.variance()?;
        let of_launch = |launch: &u32| within_variance(&above.differences(below, *launch as usize - 1));
        let within = middle(&ratio.numbers.iter().filter_map(of_launch).collect::<Vec<f64>>())?;
        Some(Self { within: within.sqrt(), between: (total - within).max(0.0).sqrt() })
    }

    fn total(self) -> f64 {
        self.within.hypot(self.between)
    }

    /// What launches add, as a share of the variance.
    fn between_share(self) -> f64 {
        if self.total() > 0.0 { (self.between / self.total()).powi(2) } else { 0.0 }
    }

    /// Half of the 95 % interval of a ratio, as a share of it, of so many launches each so many times as long.
    pub(super) fn half_width(self, launches: usize, longer: f64) -> f64 {
        let variance = self.within.powi(2) / longer + self.between.powi(2);
        let t = student_t_quantile(0.975, launches.saturating_sub(1).max(1) as f64);
        (t * (variance / launches.max(1) as f64).sqrt()).exp_m1()
    }

    pub(super) fn sentence(self, launches: usize) -> String {
        let half_width = |launches, longer| small_share(self.half_width(launches, longer));
        format!(
            "The median pair is known to ±{}. Its ratio scatters by {} within a launch and by {} between launches ({} of the \
             variance); twice the launches would give ±{}, launches twice as long ±{}.",
            half_width(launches, 1.0),
            small_share(self.within.exp_m1()),
            small_share(self.between.exp_m1()),
            small_share(self.between_share()),
            half_width(2 * launches, 1.0),
            half_width(launches, 2.0),
        )
    }
}

/// The variance of the Hodges-Lehmann estimate of these differences, from their robust scatter. A single one has none.
fn within_variance(differences: &[f64]) -> Option<f64> {
    let sample = Sample::new(differences).ok().filter(|sample| sample.len() > 1)?;
    let off: Vec<f64> = differences.iter().map(|value| (value - sample.median()).abs()).collect();
    let sd = Sample::new(&off).ok()?.median() * SD_OF_MAD;
    Some(sd.powi(2) / (EFFICIENCY * differences.len() as f64))
}

/// The pair in the middle, by how far its launches scatter; none with too few launches for an interval.
pub(super) fn median_pair(ranked: &[Comparand]) -> Option<Spread> {
    let mut spreads: Vec<Spread> = pairs(ranked.len())
        .filter(|(a, b)| ranked[*a].over(&ranked[*b]).is_some_and(|ratio| ratio.blocks >= least_trials()))
        .filter_map(|(a, b)| Spread::of(&ranked[a], &ranked[b]))
        .collect();
    spreads.sort_by(|left, right| left.total().total_cmp(&right.total()));
    spreads.get(spreads.len() / 2).copied()
}

pub(super) fn pairs(cases: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..cases).flat_map(move |a| (a + 1..cases).map(move |b| (a, b)))
}

/// The figure of each case over that of the first, by their titles.
pub(super) fn over_first(cases: &[(String, Comparand)]) -> Vec<SliceRatio> {
    let Some(((first, below), others)) = cases.split_first() else { return Vec::new() };
    let ratio = |(subject, above): &(String, Comparand)| {
        let ratio = above.over(below)?.ratio;
        Some(SliceRatio { subject: subject.clone(), first: first.clone(), ratio })
    };
    others.iter().filter_map(ratio).collect()
}

/// Such ratios in a sentence, if there are any. `figure` names the figure: `CPU time per run`.
pub(super) fn ratios_sentence(figure: &str, ratios: &[SliceRatio]) -> Option<String> {
    let first = &ratios.first()?.first;
    let ratio = |of: &SliceRatio| match (of.ratio.low, of.ratio.high) {
        (Some(low), Some(high)) => format!("{} {:.2}× ({low:.2}–{high:.2})", of.subject, of.ratio.value),
        _ => format!("{} {:.2}×", of.subject, of.ratio.value),
    };
    let all: Vec<String> = ratios.iter().map(ratio).collect();
    Some(format!("{figure} over that of {first}: {}.", all.join(", ")))
}

pub(super) fn launches_in_words(launches: u32) -> String {
    if launches == 1 { "1 launch".to_owned() } else { format!("{launches} launches") }
}
