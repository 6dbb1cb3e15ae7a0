//! Reasons to doubt a forecast, one sentence each.

use super::calibration::Calibration;
use super::group::Group;
use super::observed::{Observed, Setting};
use super::validation::points;
use crate::estimate::least_trials;
use crate::figures::{Quantity, amount, count, counted};
use crate::grouping::sorted_once;

/// More users than this multiple of the measured ones are far beyond the evidence.
const FAR_BEYOND: u64 = 10;

/// Remarks on the predicted setting and response time. Without a prediction, only on what was left out.
pub(super) fn remarks(group: &Group, predicted: Option<(&Setting, f64)>) -> Vec<String> {
    let Some((setting, response_s)) = predicted else { return left_out(group).into_iter().collect() };
    let all = [
        left_out(group),
        few(group),
        beyond(group, setting),
        too_short(group),
        gives_up(group, response_s),
        shared(group),
        unknown(group),
    ];
    all.into_iter().flatten().collect()
}

fn left_out(group: &Group) -> Option<String> {
    let reasons = sorted_once(group.left_out.iter().map(|(_, reason)| *reason));
    let number = counted(group.left_out.len() as u64, "scenario");
    (!reasons.is_empty()).then(|| format!("{number} told nothing for this: {}.", reasons.join("; ")))
}

/// With few blocks, the scatter between them is hardly known, and an interval is too narrow.
fn few(group: &Group) -> Option<String> {
    let least = least_trials();
    let is_few = |observed: &&Observed| observed.trials.len() < least as usize;
    let few = group.observed.iter().filter(is_few).count() as u64;
    let all = group.observed.len();
    (few > 0).then(|| {
        format!("{few} of {all} scenarios have fewer than {least} clean trials, so the scatter between rounds is hardly known and the intervals are too narrow.")
    })
}

fn beyond(group: &Group, setting: &Setting) -> Option<String> {
    let most = group.observed.iter().map(|observed| observed.setting.users).max()?;
    let is_far = setting.users > FAR_BEYOND.saturating_mul(most);
    is_far.then(|| {
        let (users, most) = (count(setting.users), counted(most, "user"));
        format!("{users} users are far beyond the {most} that were measured: the model knows no limits of memory, connections, ports or bandwidth.")
    })
}

/// If the time between the parts is unknown and taken as 0, predicted response times at low load are too short.
fn too_short(group: &Group) -> Option<String> {
    let calibration = Calibration::of(&points(group, None))?;
    (!calibration.knows_other()).then(|| {
        "A CPU was full in every scenario, so the time between the parts is unknown. Where nothing is full, a response takes longer than predicted. A scenario with one user would show it.".to_owned()
    })
}

fn gives_up(group: &Group, response_s: f64) -> Option<String> {
    let timeout_s = group.base()?.timeout_s;
    let [response, timeout] = [response_s, timeout_s].map(|seconds| amount(Quantity::Seconds, seconds));
    (response_s > timeout_s)
        .then(|| format!("No user waits {response}: the measured load gave a request up after {timeout}."))
}

fn shared(group: &Group) -> Option<String> {
    let parts = sorted_once(group.observed.iter().flat_map(|observed| observed.database_shares_with.clone()));
    if !parts.is_empty() {
        let parts = parts.join(" and the ");
        return Some(format!(
            "The database was measured on CPUs that the {parts} used as well; the prediction gives it CPUs of its own."
        ));
    }
    let is_shared = group.observed.iter().any(|observed| observed.is_shared);
    is_shared.then(|| {
        "Subject and generator were measured on the same CPUs; the prediction gives the subject CPUs of its own."
            .to_owned()
    })
}

fn unknown(group: &Group) -> Option<String> {
    let is_unknown = |observed: &Observed| {
        let is_unread = observed.trials.iter().all(|(_, figures)| figures.database_s.is_none());
        observed.setting.database.as_ref().is_some_and(|database| database.cpus.is_none() || is_unread)
    };
    group
        .observed
        .iter()
        .any(is_unknown)
        .then(|| "The database’s CPU time is unknown, so the prediction never shows it full.".to_owned())
}
