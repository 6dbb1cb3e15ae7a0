//! Whether the machine had two speeds during a run, by slices, or else by trials, in chronological order.
//!
//! Each value is the logarithm of a goodput minus the median of its case, so only what affected all cases alike remains. Launches
//! are not centred separately: if a machine was slow for a whole launch, it was slow. Open loops are left out, because their rate
//! is fixed.

use std::collections::BTreeMap;

use tolok_model::{Measurement, Outcome, SliceRow, TrialRecord, duration_words};
use tolok_stats::{LEAST_FOR_STATES, states};

use crate::estimate::middle;
use crate::figures::{counted, small_share};
use crate::findings::{MachineSpeeds, TwoSpeeds};
use crate::records::Records;

/// A goodput with its position: launch, place in it, case, logarithm, and its length including its overhead, in seconds.
struct Value<'a> {
    piece: u32,
    place: u32,
    case: &'a str,
    logarithm: f64,
    length_s: f64,
}

/// The result from all values, or `None` with too few.
pub(crate) fn speeds(records: &Records) -> Option<MachineSpeeds> {
    let measured: Vec<(&TrialRecord, &Measurement)> =
        records.trials.iter().filter_map(|it| closed(records, it)).collect();
    let mut values: Vec<Value> = measured.iter().flat_map(|(trial, found)| of_slices(trial, found)).collect();
    let is_sliced = !values.is_empty();
    if !is_sliced {
        values = measured.iter().filter_map(|(trial, found)| of_trial(trial, found)).collect();
    }
    if values.len() < LEAST_FOR_STATES {
        return None;
    }
    values.sort_by_key(|value| (value.piece, value.place));
    let mut by_case: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    values.iter().for_each(|value| by_case.entry(value.case).or_default().push(value.logarithm));
    let medians: BTreeMap<&str, f64> = by_case.iter().filter_map(|(case, own)| Some((*case, middle(own)?))).collect();
    let pieces: Vec<Vec<f64>> = values
        .chunk_by(|one, next| one.piece == next.piece)
        .map(|piece| piece.iter().map(|it| it.logarithm - medians.get(it.case).copied().unwrap_or_default()).collect())
        .collect();
    let length_s = values.iter().map(|value| value.length_s).sum::<f64>();
    let two = states(&pieces).map(|found| {
        let slow = values.iter().zip(found.is_low.iter().flatten()).filter(|(_, is_low)| **is_low);
        let slow_s: f64 = slow.map(|(value, _)| value.length_s).sum();
        TwoSpeeds {
            slower: -(-found.apart).exp_m1(),
            share: slow_s / length_s,
            stay_s: found.low_stay * length_s / values.len() as f64,
            separation: found.separation,
        }
    });
    let unit = if is_sliced { "slice" } else { "trial" };
    let number = counted(values.len() as u64, unit);
    let sentence = match &two {
        None => format!("No second, slower speed of the machine shows in {number}."),
        Some(two) => format!(
            "The machine had two speeds: {} of the time it was {} slower, for {} at a time ({number}).",
            small_share(two.share),
            small_share(two.slower),
            duration_words((two.stay_s * 10.0).round().max(1.0) / 10.0),
        ),
    };
    Some(MachineSpeeds { values: values.len() as u32, unit: unit.to_owned(), two, sentence })
}

/// A measured trial of a closed loop. A disturbed trial shows the machine's speed as well.
fn closed<'a>(records: &Records, trial: &'a TrialRecord) -> Option<(&'a TrialRecord, &'a Measurement)> {
    let Outcome::Completed(found) = &trial.outcome else { return None };
    let scenario = records.plan.scenario(&records.plan.case(&trial.case)?.scenario)?;
    (!scenario.load.executor.is_open()).then_some((trial, &**found))
}

fn of_slices<'a>(trial: &'a TrialRecord, found: &'a Measurement) -> Vec<Value<'a>> {
    let Some(slices) = &found.slices else { return Vec::new() };
    // Windows of all cases cover this share of the launch. The time between them is distributed evenly.
    let stretched = if slices.measured_share > 0.0 { slices.measured_share.recip() } else { 1.0 };
    let value = |row: &SliceRow| Value {
        piece: slices.launch,
        place: row.slice,
        case: &trial.case,
        logarithm: row.goodput_rps().ln(),
        length_s: row.window_s * stretched,
    };
    slices.rows.iter().filter(|row| row.good > 0).map(value).collect()
}

fn of_trial<'a>(trial: &'a TrialRecord, found: &Measurement) -> Option<Value<'a>> {
    let logarithm = Some(found.compared_goodput_rps()).filter(|rate| *rate > 0.0)?.ln();
    Some(Value { piece: 0, place: trial.number, case: &trial.case, logarithm, length_s: found.window_s })
}
