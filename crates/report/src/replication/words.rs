//! What all formats of a replication say alike.

use tolok_analysis::PublishedReading;
use tolok_analysis::figures::{NONE, Quantity, amount, counted, figure, listed, moment};
use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, FactorLevelFinding, PartFinding, ReplicatedFigure, ReplicatedRatio,
    ReplicationFindings, ReplicationTally,
};

/// How the readings are meant.
pub(super) const RULE: &str = "Reproduced: the published ratio lies in the measured 95% interval, widened by the smallest effect, or both say that nothing that matters differs. Same direction: the same one is ahead, by another ratio. No difference: none was found where one was published. A difference: one was found where none that matters was published. Reversed: the other one is ahead. Cannot tell: there is no figure, no interval, or too wide a one.";

/// What sizes are worth.
pub(super) const SIZES: &str = "Sizes belong to the machine, the versions and the network, so figures stand beside each other without a judgement; ratios of two subjects measured alike are judged.";

/// `Of 14 claims, 5 are reproduced, 2 go in the same direction, and 1 is reversed; 6 cannot be told.`
pub(super) fn verdict(found: &ReplicationFindings) -> String {
    let total = found.claims.len();
    if total == 0 {
        return "The transcription has no claim that could be judged.".to_owned();
    }
    let ReplicationTally { reproduced, same_direction, no_difference, difference, reversed, cannot_tell } = found.tally;
    let be = |number: usize| if number == 1 { "is" } else { "are" };
    let counts = [
        (reproduced, format!("{reproduced} {} reproduced", be(reproduced))),
        (same_direction, format!("{same_direction} {} in the same direction, by another ratio", be(same_direction))),
        (no_difference, format!("{no_difference} found no difference where one was published")),
        (difference, format!("{difference} found a difference where none was published")),
        (reversed, format!("{reversed} {} reversed", be(reversed))),
        (cannot_tell, format!("{cannot_tell} cannot be told")),
    ];
    let said: Vec<String> = counts.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words).collect();
    format!("Of {}, {}.", counted(total as u64, "claim"), listed(&said, "and"))
}

/// The claims as they are shown: first those of which something could be told, each kind in the source's order.
pub(super) fn in_order(found: &ReplicationFindings) -> impl Iterator<Item = &ClaimFinding> {
    let is_told = |claim: &&ClaimFinding| claim.reading != PublishedReading::CannotTell;
    found.claims.iter().filter(is_told).chain(found.claims.iter().filter(move |claim| !is_told(claim)))
}

/// Authors, year, and where the source is known by.
pub(super) fn source(found: &ReplicationFindings) -> String {
    if found.source.is_empty() { found.key.clone() } else { format!("{} ({})", found.source, found.key) }
}

/// A sign for a reading, beside its word.
pub(super) fn sign(reading: PublishedReading) -> char {
    match reading {
        PublishedReading::Reproduced => '✓',
        PublishedReading::SameDirection => '≈',
        PublishedReading::NoDifference => '=',
        PublishedReading::Difference => '≠',
        PublishedReading::Reversed => '!',
        PublishedReading::CannotTell => '?',
    }
}

/// `published 4.5–5×, measured 4.86× (4.80–4.92)`
pub(super) fn beside(claim: &ClaimFinding) -> String {
    match &claim.measured {
        Some(measured) => format!("published {}, measured {measured}", claim.published),
        None => format!("published {}, not measured", claim.published),
    }
}

/// A part in a line: `wan · Across the ocean · 2026-11-22-…: 90 trials, 2 failed`.
pub(super) fn part(part: &PartFinding) -> String {
    let name = format!("{} · {}", part.name, part.study);
    match &part.run {
        Some(run) => {
            let trials = counted(u64::from(part.trials), "trial");
            let failed = if part.failed > 0 { format!(", {} failed", part.failed) } else { String::new() };
            let began = part.began.as_deref().map(|began| format!(", {}", moment(began))).unwrap_or_default();
            format!("{name} · {run}: {trials}{failed}{began}")
        }
        None => format!("{name}: not run"),
    }
}

/// The machines of the parts, each once.
pub(super) fn machines(found: &ReplicationFindings) -> Vec<&str> {
    let mut machines: Vec<&str> = Vec::new();
    for machine in found.parts.iter().filter_map(|part| part.machine.as_deref()) {
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    machines
}

/// A published ratio.
pub(super) fn published(ratio: &ReplicatedRatio) -> String {
    amount(Quantity::Ratio, ratio.published)
}

/// A measured ratio with its interval, or a dash.
pub(super) fn measured(ratio: &ReplicatedRatio) -> String {
    ratio.measured.as_ref().map_or(NONE.to_owned(), |measured| figure(Quantity::Ratio, measured).line())
}

/// The measured figure in the source's unit, or a dash.
pub(super) fn measured_figure(one: &ReplicatedFigure) -> String {
    one.measured_words.clone().unwrap_or_else(|| NONE.to_owned())
}

/// A level and its ratio: `170 ms away: node/http over apache/prefork 4.86× (4.80–4.92)`.
pub(super) fn level(level: &FactorLevelFinding) -> String {
    let ratio = level.ratio.as_ref().map_or("not measured".to_owned(), |ratio| figure(Quantity::Ratio, ratio).line());
    let remark = level.remark.as_ref().map(|remark| format!("; {remark}")).unwrap_or_default();
    format!("{}: {} {ratio}{remark}", level.name, level.of)
}

/// Whether a factor explains what it was tried for.
pub(super) fn explains(factor: &FactorFinding) -> &'static str {
    match factor.explains {
        Some(true) => "explains it",
        Some(false) => "does not explain it",
        None => "cannot tell",
    }
}
