//! How much ratios scatter within launches and between them, for servers in slices and programs in turns.

use std::f64;

use tolok_stats::{SD_OF_MAD, Sample, student_t_quantile};

use super::Comparand;
use crate::estimate::{least_trials, middle};
use crate::figures::small_share;
use crate::findings::SliceRatio;

/// Under normal noise the Hodges-Lehmann estimate has 0.955 of the efficiency of a mean.
const EFFICIENCY: f64 = 0.955;

/// How much the ratio of a pair scatters, in logarithms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Standard deviation of a launch's estimate, from the scatter of its slices.
    pub(super) within: f64,
    /// Additional standard deviation between launches.
    pub(super) between: f64,
}

impl Spread {
    fn of(above: &Comparand, below: &Comparand) -> Option<Self> {
        let ratio = above.over(below)?;
        let total = ratio.logarithms.variance()?;
        let of_launch = |launch: &u32| above.differences(below, *launch as usize - 1);
        let within = within_variance(&ratio.numbers.iter().map(of_launch).collect::<Vec<_>>())?;
        Some(Self { within: within.sqrt(), between: (total - within).max(0.0).sqrt() })
    }

    fn total(self) -> f64 {
        self.within.hypot(self.between)
    }

    /// The contribution of launches, as a share of the variance.
    fn between_share(self) -> f64 {
        if self.total() > 0.0 { (self.between / self.total()).powi(2) } else { 0.0 }
    }

    /// Half width of the 95% interval of a ratio, as a share of it, for `launches` launches that are `longer` times as long.
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

/// The variance of a launch's Hodges-Lehmann estimate, from the differences of slices in each launch.
///
/// It uses the distances of all pairs of slices in a launch (Shamos 1976), over all launches. Each launch's own MAD would halve
/// the variance at four slices.
fn within_variance(launches: &[Vec<f64>]) -> Option<f64> {
    let apart = |slices: &Vec<f64>| -> Vec<f64> {
        pairs(slices.len()).map(|(one, other)| (slices[one] - slices[other]).abs()).collect()
    };
    let apart: Vec<f64> = launches.iter().flat_map(apart).collect();
    let sd = Sample::new(&apart).ok()?.median() / (f64::consts::SQRT_2 / SD_OF_MAD);
    let slices = middle(&launches.iter().map(|slices| slices.len() as f64).collect::<Vec<f64>>())?;
    Some(sd.powi(2) / (EFFICIENCY * slices))
}

/// The median pair by the scatter of its launches; `None` with too few launches for an interval.
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

/// The figure of each case over that of the first, with their titles.
pub(super) fn over_first(cases: &[(String, Comparand)]) -> Vec<SliceRatio> {
    let Some(((first, below), others)) = cases.split_first() else { return Vec::new() };
    let ratio = |(subject, above): &(String, Comparand)| {
        let ratio = above.over(below)?.ratio;
        Some(SliceRatio { subject: subject.clone(), first: first.clone(), ratio })
    };
    others.iter().filter_map(ratio).collect()
}

/// These ratios in a sentence, if there are any. `figure` names the figure: `CPU time per run`.
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

#[cfg(test)]
mod tests {
    use tolok_model::SplitMix64;

    use super::*;
    use crate::normal::normal;

    #[test]
    fn the_scatter_of_few_slices_is_found_without_bias() {
        let mut random = SplitMix64::new(5);
        let mut drawn = || normal(|| random.unit());
        for slices in [4, 16] {
            let launches: Vec<Vec<f64>> = (0..10_000).map(|_| (0..slices).map(|_| drawn()).collect()).collect();
            let of_one_slice = within_variance(&launches).unwrap() * EFFICIENCY * f64::from(slices);
            assert!((of_one_slice - 1.0).abs() < 0.05, "{slices} slices: {of_one_slice}");
        }
        assert_eq!(within_variance(&[vec![0.1], vec![0.2]]), None, "a single slice has no scatter");
    }
}
