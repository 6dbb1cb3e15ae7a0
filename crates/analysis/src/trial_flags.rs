//! The rules that raise flags of servers and programs alike, from the outcomes of their trials.

use tolok_model::{FailureKind, Limits, bytes_words};

use crate::case_inputs::causes_of;
use crate::estimate::least_trials;
use crate::figures::{counted, listed};
use crate::flag::{Flag, FlagKind};
use crate::grouping::sorted_once;
use crate::observations::{Found, Trials};

/// `words` describes a reason in a way that readers cannot misunderstand.
pub(crate) fn failed_trials<T: Found>(trials: &Trials<T>, words: impl Fn(FailureKind) -> String) -> Option<Flag> {
    let reasons = sorted_once(trials.failed.iter().map(|(_, failure)| failure.reason));
    let reasons: Vec<String> = reasons.into_iter().map(words).collect();
    let planned = counted(u64::from(trials.planned), "trial");
    FlagKind::FailedTrials.raised_if(!reasons.is_empty(), || {
        format!("{} of {planned} failed: {}", trials.failed.len(), listed(&reasons, "and"))
    })
}

/// A case that runs out of memory is not the requested case. `killed` counts measured trials, including disturbed ones, because
/// the limit is the subject's own, whatever else ran.
pub(crate) fn out_of_memory<T: Found>(trials: &Trials<T>, killed: usize, whole: &str, limits: &Limits) -> Option<Flag> {
    let failed = trials.failed.iter().filter(|(_, failure)| failure.reason == FailureKind::OutOfMemory).count();
    let all = counted((trials.failed.len() + trials.measured().count()) as u64, "trial");
    let limit = limits.memory_bytes.map(|bytes| format!(" of {}", bytes_words(bytes))).unwrap_or_default();
    FlagKind::OutOfMemory.raised_if(failed + killed > 0, || {
        format!("in {} of {all} it reached its limit{limit}, and the kernel killed {whole}", failed + killed)
    })
}

pub(crate) fn disturbed<T: Found>(trials: &Trials<T>) -> Option<Flag> {
    let disturbed = trials.disturbed.len();
    if disturbed == 0 {
        return None;
    }
    let causes = causes_of(trials.disturbed.iter().flat_map(|(_, found)| found.disturbances()));
    let all = counted(trials.measured().count() as u64, "trial");
    let message = format!("{disturbed} of {all} discarded: {causes}");
    FlagKind::Disturbed.raised_voiding(trials.scored.is_empty(), message)
}

pub(crate) fn too_few_trials<T: Found>(trials: &Trials<T>) -> Option<Flag> {
    let (scored, least) = (trials.scored.len() as u64, least_trials());
    let left = if trials.disturbed.is_empty() { "measured" } else { "left" };
    FlagKind::TooFewTrials.raised_if(0 < scored && scored < u64::from(least), || {
        format!("{} {left}, too few for an interval ({least} are needed)", counted(scored, "trial"))
    })
}

impl<T: Found> Trials<'_, T> {
    /// `4 of 6 trials`, among the scored ones.
    pub(crate) fn of_scored(&self, number: usize) -> String {
        format!("{number} of {}", counted(self.scored.len() as u64, "trial"))
    }
}
