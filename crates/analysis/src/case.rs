//! What is the same for cases of servers and of programs.

use tolok_model::{Failure, FailureKind};

use crate::findings::{TrialFailure, Verdict};
use crate::tiers::tiers;

/// Of each ranked subject, in their order, its tiers and its verdict against the first; no verdict of the first itself.
pub(crate) fn places(ranked: &[String], verdicts: &[(&str, &str, Verdict)]) -> Vec<(String, Option<Verdict>)> {
    let place = |subject: &str| ranked.iter().position(|known| known == subject);
    let told = verdicts.iter().filter(|(.., verdict)| verdict.is_told_apart());
    let apart: Vec<(usize, usize)> = told.filter_map(|(a, b, _)| place(a).zip(place(b))).collect();
    let against_first = |at: usize| {
        let pair = verdicts.iter().find(|(a, b, _)| place(a) == Some(0) && place(b) == Some(at));
        // Without a common block there is no ratio, and no verdict but this one.
        (at > 0).then(|| pair.map_or(Verdict::CannotTell, |(.., verdict)| verdict.turned()))
    };
    tiers(ranked.len(), &apart).into_iter().enumerate().map(|(at, tier)| (tier, against_first(at))).collect()
}

pub(crate) fn failures(failed: &[(u32, &Failure)]) -> Vec<TrialFailure> {
    // A runtime is not to be blamed for what it asks.
    let blame = |failure: &Failure| match failure.reason {
        FailureKind::DatabaseFailed => "the database’s failure, and not the subject’s: ",
        _ => "",
    };
    let failure = |(trial, failure): &(u32, &Failure)| TrialFailure {
        trial: *trial,
        reason: failure.reason.word().to_owned(),
        message: format!("{}{}", blame(failure), failure.message),
    };
    failed.iter().map(failure).collect()
}
