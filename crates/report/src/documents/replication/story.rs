//! The essentials first: what holds, what does not, why, what is undecided, and how certain it is.

use tolok_analysis::PublishedReading;
use tolok_analysis::figures::{Quantity, amount, counted, figure, listed};
use tolok_analysis::replication::{ClaimFinding, FactorFinding, PartFinding, ReplicationFindings};
use tolok_model::scale_words;
use tolok_model::sentences::{capital, sentence};

use super::words::sign;

/// The most claims of each kind in the head.
const MOST_CLAIMS: usize = 3;
/// The most reasons in the head.
const MOST_REASONS: usize = 3;

/// Undecided claims that share a reason.
pub(super) struct Untold<'a> {
    /// A sentence.
    pub(super) reason: &'a str,
    /// In the source's order.
    pub(super) claims: Vec<&'a ClaimFinding>,
}

/// The reasons for undecided claims; the one with the most claims first.
pub(super) fn untold(found: &ReplicationFindings) -> Vec<Untold<'_>> {
    let mut all: Vec<Untold> = Vec::new();
    for claim in found.claims.iter().filter(|claim| claim.reading == PublishedReading::CannotTell) {
        let reason = claim.explanation.as_deref().unwrap_or("No reason is known.");
        match all.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.claims.push(claim),
            None => all.push(Untold { reason, claims: vec![claim] }),
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.claims.len()));
    all
}

/// Judged claims: those that hold first, each kind in the source's order.
pub(super) fn judged(found: &ReplicationFindings) -> Vec<&ClaimFinding> {
    let is_judged = |claim: &&ClaimFinding| claim.reading != PublishedReading::CannotTell;
    let mut judged: Vec<&ClaimFinding> = found.claims.iter().filter(is_judged).collect();
    judged.sort_by_key(|claim| place(claim.reading));
    judged
}

fn place(reading: PublishedReading) -> u8 {
    match reading {
        PublishedReading::Reproduced | PublishedReading::Supported => 0,
        PublishedReading::SameDirection => 1,
        PublishedReading::NoDifference => 2,
        PublishedReading::Difference => 3,
        PublishedReading::Reversed => 4,
        PublishedReading::CannotTell => 5,
    }
}

/// The head of the report: labels with their lines. A label without lines is left out.
pub(super) fn story(found: &ReplicationFindings) -> Vec<(&'static str, Vec<String>)> {
    let judged = judged(found);
    let of =
        |reading: PublishedReading| judged.iter().filter(|claim| claim.reading == reading).copied().collect::<Vec<_>>();
    let explains = |wanted: bool| found.factors.iter().filter(move |factor| factor.explains == Some(wanted));
    let mut why: Vec<String> = explains(true).map(|factor| sentence(&factor.in_short)).collect();
    let not: Vec<String> = explains(false).map(|factor: &FactorFinding| factor.name.clone()).collect();
    why.extend((!not.is_empty()).then(|| format!("Not because of {}.", listed(&not, "or"))));
    // The strongest evidence against the source comes first.
    let against = [PublishedReading::Reversed, PublishedReading::Difference, PublishedReading::NoDifference];
    let all = [
        ("holds", claims(&[PublishedReading::Reproduced, PublishedReading::Supported].map(of).concat())),
        ("holds by another ratio", claims(&of(PublishedReading::SameDirection))),
        ("does not hold", claims(&against.map(of).concat())),
        ("why", why),
        ("undecided", reasons(&untold(found))),
        ("how sure", surety(&found.parts)),
    ];
    all.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
}

fn claims(claims: &[&ClaimFinding]) -> Vec<String> {
    let mut lines: Vec<String> = claims.iter().take(MOST_CLAIMS).map(|claim| line(claim)).collect();
    let rest = claims.len().saturating_sub(MOST_CLAIMS);
    lines.extend((rest > 0).then(|| format!("{rest} more, below")));
    lines
}

/// `≈ Node answers 4.5 to 5 times as many: published 4.5–5×, measured 120× (113–128)`
fn line(claim: &ClaimFinding) -> String {
    let reading = match claim.reading {
        PublishedReading::Reproduced | PublishedReading::Supported => String::new(),
        PublishedReading::SameDirection => String::new(),
        other => format!("{}, ", other.words()),
    };
    let measured = match (&claim.ratio, &claim.measured) {
        (Some(ratio), _) => figure(Quantity::Ratio, ratio).line(),
        (_, Some(measured)) => match measured.split_once("; ") {
            Some((first, _)) => format!("{first} and others"),
            None => measured.clone(),
        },
        (_, None) => "not measured".to_owned(),
    };
    let measure = claim.measure.as_ref().map(|measure| format!("{measure} ")).unwrap_or_default();
    format!(
        "{} {}: {reading}{measure}published {}, measured {measured}",
        sign(claim.reading),
        claim.says,
        claim.published
    )
}

fn reasons(untold: &[Untold]) -> Vec<String> {
    let line = |one: &Untold| format!("{}: {}", counted(one.claims.len() as u64, "claim"), one.reason);
    let mut lines: Vec<String> = untold.iter().take(MOST_REASONS).map(line).collect();
    let rest: usize = untold.iter().skip(MOST_REASONS).map(|one| one.claims.len()).sum();
    lines.extend((rest > 0).then(|| format!("{rest} more for other reasons, below")));
    lines
}

/// A line for parts that were measured the same way: blocks, windows, and the share of the study's length.
fn surety(parts: &[PartFinding]) -> Vec<String> {
    let mut alike: Vec<(String, Vec<String>)> = Vec::new();
    for part in parts.iter().filter(|part| part.run.is_some()) {
        let words = length(part);
        match alike.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(part.name.clone()),
            None => alike.push((words, vec![part.name.clone()])),
        }
    }
    let is_short = parts.iter().any(|part| part.run.is_some() && part.scale < 1.0);
    let mut lines: Vec<String> =
        alike.into_iter().map(|(words, names)| format!("{}: {words}", listed(&names, "and"))).collect();
    lines.extend(is_short.then(|| {
        "A shortened run shows directions and factors. Sizes, and what takes time to build up, need the full length.".to_owned()
    }));
    lines
}

/// `5 rounds, windows of 1.00 s, shortened to 5%, and to no less than 100 ms`
fn length(part: &PartFinding) -> String {
    let blocks = counted(u64::from(part.blocks), "round");
    let windows = part.windows_s.map(|[least, most]| {
        let [least, most] = [least, most].map(|window_s| amount(Quantity::Seconds, window_s));
        if least == most { format!(", windows of {least}") } else { format!(", windows of {least} to {most}") }
    });
    let scaled = scale_words(part.scale).map(|words| format!(", {words}"));
    format!("{blocks}{}{}", windows.unwrap_or_default(), scaled.unwrap_or_default())
}

/// The name of a factor, capitalised for a heading.
pub(super) fn name(factor: &FactorFinding) -> String {
    capital(&factor.name)
}
