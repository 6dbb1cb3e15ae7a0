//! How sure a prediction is: the scatter between blocks, and at least the errors that were seen near what is asked.

use tolok_stats::{Rng, Sample};

use super::calibration::Calibration;
use super::findings::{HeldOut, Predicted, Validation};
use super::group::Group;
use super::observed::Setting;
use super::validation::points;

/// Resamples of the blocks. The ends are widened by the held-out error, so that more would change nothing that is shown.
const RESAMPLES: usize = 100;
/// Shares of the resamples below the lower and the upper end.
const ENDS: [f64; 2] = [0.025, 0.975];

/// Throughput and mean response time with their intervals.
pub(super) fn intervals(
    group: &Group,
    setting: &Setting,
    (throughput_rps, response_s): (f64, f64),
    validation: &Validation,
) -> [Predicted; 2] {
    let drawn = resampled(group, setting);
    let of = |value: f64, values: Vec<f64>, error: f64| {
        let sample = Sample::new(&values).ok();
        let [low, high] = ENDS.map(|end| sample.as_ref().and_then(|sample| sample.quantile(end).ok()).unwrap_or(value));
        Predicted { value, low: low.min(value / (1.0 + error)), high: high.max(value * (1.0 + error)) }
    };
    let near = nearest(&validation.held_out, setting.users);
    let worst = |errors: &mut dyn Iterator<Item = f64>| errors.reduce(f64::max).unwrap_or(0.0);
    let throughput_error =
        worst(&mut near.iter().map(|found| found.throughput_error)).max(validation.throughput_error_median);
    let response_error = worst(&mut near.iter().filter_map(|found| found.response_error))
        .max(validation.response_error_median.unwrap_or(throughput_error));
    [
        of(throughput_rps, drawn.iter().map(|drawn| drawn.0).collect(), throughput_error),
        of(response_s, drawn.iter().map(|drawn| drawn.1).collect(), response_error),
    ]
}

/// The half of the held-out scenarios whose users are nearest to these, by their ratio, and those that are as near.
fn nearest(held_out: &[HeldOut], users: u64) -> Vec<&HeldOut> {
    let distance = |found: &&HeldOut| (found.users as f64 / users.max(1) as f64).ln().abs();
    let mut distances: Vec<f64> = held_out.iter().map(|found| distance(&found)).collect();
    distances.sort_by(f64::total_cmp);
    let farthest = distances.get(held_out.len().div_ceil(2).saturating_sub(1)).copied().unwrap_or(f64::INFINITY);
    held_out.iter().filter(|found| distance(found) <= farthest).collect()
}

/// The same prediction from blocks drawn with replacement: a block is drawn for all scenarios at once, as its trials were taken
/// near each other.
fn resampled(group: &Group, setting: &Setting) -> Vec<(f64, f64)> {
    let mut random = Rng::seeded(group.seed);
    let mut draw = || {
        let blocks: Vec<u32> = (0..group.blocks).map(|_| 1 + random.below(u64::from(group.blocks)) as u32).collect();
        let solved = Calibration::of(&points(group, Some(&blocks)))?.predict(setting)?.solved;
        Some((solved.throughput_rps, solved.response_s))
    };
    (0..RESAMPLES).filter_map(|_| draw()).collect()
}
