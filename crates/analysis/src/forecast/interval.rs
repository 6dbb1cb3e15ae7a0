//! The uncertainty of a prediction: the scatter between blocks, and at least the errors seen near the predicted load.

use tolok_stats::{Rng, Sample};

use super::calibration::Calibration;
use super::findings::{HeldOut, Predicted, Validation};
use super::group::Group;
use super::observed::Setting;
use super::validation::points;

/// Resamples of the blocks. The held-out error widens the ends, so more resamples would not change any shown digit.
const RESAMPLES: usize = 100;
/// Shares of the resamples below the lower and the upper end.
const ENDS: [f64; 2] = [0.025, 0.975];

type Solution = (f64, f64);

/// Throughput and mean response time with their intervals.
pub(super) fn intervals(
    group: &Group,
    (calibration, setting): (&Calibration, &Setting),
    solved: Solution,
    validation: &Validation,
) -> [Predicted; 2] {
    let drawn = resampled(group, setting);
    let of = |figure: fn(&Solution) -> f64, error: f64| {
        let values: Vec<f64> = drawn.iter().map(figure).collect();
        let (sample, value) = (Sample::new(&values).ok(), figure(&solved));
        let ends = ENDS.map(|end| sample.as_ref().and_then(|sample| sample.quantile(end).ok()).unwrap_or(value));
        let off = [1.0 + error, 1.0 / (1.0 + error)];
        let off = off.iter().filter_map(|factor| as_if_slower(calibration, setting, *factor));
        let all = || ends.into_iter().chain(off.clone().map(|solved| figure(&solved))).chain([value]);
        Predicted { value, low: all().fold(value, f64::min), high: all().fold(value, f64::max) }
    };
    let near = nearest(&validation.held_out, setting.users);
    let worst = |errors: &mut dyn Iterator<Item = f64>| errors.reduce(f64::max).unwrap_or(0.0);
    let throughput_error =
        worst(&mut near.iter().map(|found| found.throughput_error)).max(validation.throughput_error_median);
    let response_error = worst(&mut near.iter().filter_map(|found| found.response_error))
        .max(validation.response_error_median.unwrap_or(0.0));
    // Users and their pause are given, so an error of throughput is also one of the response time.
    [of(|solved| solved.0, throughput_error), of(|solved| solved.1, response_error.max(throughput_error))]
}

/// The prediction if everything but the users' pause took `factor` times as long. Without pauses, throughput falls by that
/// factor. With long pauses, it hardly changes below the knee. Beyond the knee, the response time changes by more than the
/// factor: R = N / X − Z.
fn as_if_slower(calibration: &Calibration, setting: &Setting, factor: f64) -> Option<Solution> {
    // To lengthen all times but the pause, shorten the pause and slow the clock.
    let setting = Setting { think_s: setting.think_s / factor, ..setting.clone() };
    let solved = calibration.predict(&setting)?.solved;
    Some((solved.throughput_rps / factor, solved.response_s * factor))
}

/// The half of the held-out scenarios nearest in users, by ratio, including ties.
fn nearest(held_out: &[HeldOut], users: u64) -> Vec<&HeldOut> {
    let distance = |found: &&HeldOut| (found.users as f64 / users.max(1) as f64).ln().abs();
    let mut distances: Vec<f64> = held_out.iter().map(|found| distance(&found)).collect();
    distances.sort_by(f64::total_cmp);
    let farthest = distances.get(held_out.len().div_ceil(2).saturating_sub(1)).copied().unwrap_or(f64::INFINITY);
    held_out.iter().filter(|found| distance(found) <= farthest).collect()
}

/// The same prediction from blocks drawn with replacement. A draw uses the same blocks for all scenarios, because the trials of a
/// block ran near each other in time.
fn resampled(group: &Group, setting: &Setting) -> Vec<Solution> {
    let mut random = Rng::seeded(group.seed);
    let known = group.blocks();
    let mut draw = || {
        let blocks: Vec<u32> = known.iter().map(|_| known[random.below(known.len() as u64) as usize]).collect();
        let solved = Calibration::of(&points(group, Some(&blocks)))?.predict(setting)?.solved;
        Some((solved.throughput_rps, solved.response_s))
    };
    (0..RESAMPLES).filter_map(|_| draw()).collect()
}
