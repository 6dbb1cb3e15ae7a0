//! Predicts each scenario of the run from all the others. Only this shows how wrong a prediction from this run is.

use super::calibration::{Calibration, Point};
use super::findings::{HeldOut, Validation};
use super::group::Group;
use crate::estimate::middle;

/// The errors, or `None` if no scenario can be predicted from the others.
pub(super) fn validation(group: &Group) -> Option<Validation> {
    let points = points(group, None);
    let held_out: Vec<HeldOut> = (0..points.len()).filter_map(|place| held_out(group, &points, place)).collect();
    let errors: Vec<f64> = held_out.iter().map(|found| found.throughput_error).collect();
    let response_errors: Vec<f64> = held_out.iter().filter_map(|found| found.response_error).collect();
    let worst = |errors: &[f64]| errors.iter().copied().reduce(f64::max);
    Some(Validation {
        throughput_error_median: middle(&errors)?,
        throughput_error_worst: worst(&errors)?,
        response_error_median: middle(&response_errors),
        response_error_worst: worst(&response_errors),
        held_out,
    })
}

/// The scenarios with their medians, over all blocks or over the drawn ones.
pub(super) fn points(group: &Group, blocks: Option<&[u32]>) -> Vec<Point> {
    let point = |observed: &super::observed::Observed| Point {
        setting: observed.setting.clone(),
        figures: observed.figures(blocks),
    };
    group.observed.iter().map(point).collect()
}

fn held_out(group: &Group, points: &[Point], place: usize) -> Option<HeldOut> {
    let others: Vec<Point> =
        points.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, point)| point.clone()).collect();
    let (out, measured) = (&points[place], &points[place].figures);
    let solved = Calibration::of(&others)?.predict(&out.setting)?.solved;
    let error = |predicted: f64, measured: f64| (predicted - measured).abs() / measured;
    Some(HeldOut {
        scenario: group.observed[place].scenario.clone(),
        users: out.setting.users,
        measured_rps: measured.throughput_rps,
        predicted_rps: solved.throughput_rps,
        throughput_error: error(solved.throughput_rps, measured.throughput_rps),
        measured_response_s: measured.response_s,
        predicted_response_s: solved.response_s,
        response_error: measured.response_s.map(|measured_s| error(solved.response_s, measured_s)),
    })
}
