//! The words of a replication.

use tolok_analysis::figures::{NONE, Quantity, amount, counted, figure, in_column, listed, moment};
use tolok_analysis::replication::{
    ClaimFinding, FactorFinding, FactorLevelFinding, PartFinding, PartRecommendation, ReplicatedFigure,
    ReplicatedRatio, ReplicatedSeries, ReplicationFindings, ReplicationTally, SeriesCourse,
};
use tolok_analysis::{PublishedReading, Recommendation, Strength};
use tolok_model::sentences::sentence;

use crate::document::Cell;

/// What the seconds mean.
pub(super) const SECONDS: &str = "Measured: the median of the clean trials in each second of the window. Nothing here is judged: the shapes can be compared, but the sizes depend on the machine. Slope: the median of all slopes between two instants (Theil and Sen).";

/// What the readings mean.
pub(super) const RULE: &str = "Reproduced: the published ratio lies in the measured 95% interval, widened by the smallest effect, or both show no difference that matters. Supported: it is as the source says, which has no figure of its own. Same direction: the same subject leads, by another ratio. No difference: one was published, none was found. A difference: one was found, none that matters was published. Reversed: the other subject leads. Cannot tell: the figure or its interval is missing, or the interval is too wide.";

/// How far sizes can be compared.
pub(super) const SIZES: &str = "Sizes depend on the machine, the versions and the network, so single figures are not judged. Ratios of two subjects are, if both were measured alike.";

/// `14 of 41 claims could be judged: 5 are reproduced and 9 found no difference where one was published.`
pub(super) fn verdict(found: &ReplicationFindings) -> String {
    let total = found.claims.len();
    if total == 0 {
        return "The transcription has no claim that could be judged.".to_owned();
    }
    let tally = found.tally;
    let ReplicationTally { reproduced, supported, same_direction, no_difference, difference, .. } = tally;
    let ReplicationTally { reversed, cannot_tell, .. } = tally;
    let claims = counted(total as u64, "claim");
    let be = |number: usize| if number == 1 { "is" } else { "are" };
    let counts = [
        (reproduced, format!("{reproduced} {} reproduced", be(reproduced))),
        (supported, format!("{supported} {} supported", be(supported))),
        (same_direction, format!("{same_direction} {} in the same direction by another ratio", be(same_direction))),
        (no_difference, format!("{no_difference} found no difference where one was published")),
        (difference, format!("{difference} found a difference where none was published")),
        (reversed, format!("{reversed} {} reversed", be(reversed))),
    ];
    let said: Vec<String> = counts.into_iter().filter(|(number, _)| *number > 0).map(|(_, words)| words).collect();
    match total - cannot_tell {
        0 => format!("No verdict on {claims}."),
        judged => format!("{judged} of {claims} could be judged: {}.", listed(&said, "and")),
    }
}

/// Authors, year and key of the source.
pub(super) fn source(found: &ReplicationFindings) -> String {
    if found.source.is_empty() { found.key.clone() } else { format!("{} ({})", found.source, found.key) }
}

/// The sign of a reading, beside its word.
pub(super) fn sign(reading: PublishedReading) -> char {
    match reading {
        PublishedReading::Reproduced | PublishedReading::Supported => '✓',
        PublishedReading::SameDirection => '≈',
        PublishedReading::NoDifference => '=',
        PublishedReading::Difference => '≠',
        PublishedReading::Reversed => '!',
        PublishedReading::CannotTell => '?',
    }
}

/// `correct responses per second: text 4.5–5×, its own table 16.3×, measured 4.86× (4.80–4.92)`
pub(super) fn beside(claim: &ClaimFinding) -> String {
    let measure = claim.measure.as_ref().map(|measure| format!("{measure}: ")).unwrap_or_default();
    let own = claim.own_table.as_ref().map(|own| format!(", its own table {own}")).unwrap_or_default();
    let measured = claim.measured.as_ref().map_or("not measured".to_owned(), |measured| format!("measured {measured}"));
    format!("{measure}text {}{own}, {measured}", claim.published)
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

pub(super) fn published(ratio: &ReplicatedRatio) -> String {
    amount(Quantity::Ratio, ratio.published)
}

/// A measured ratio with its interval, or a dash.
pub(super) fn measured(ratio: &ReplicatedRatio) -> Cell {
    let figure = ratio.measured.as_ref().map(|measured| figure(Quantity::Ratio, measured));
    figure.map_or(NONE.into(), |figure| Cell { interval: figure.interval, ..figure.value.into() })
}

/// The measured figure in the source's unit, or a dash.
pub(super) fn measured_figure(one: &ReplicatedFigure) -> String {
    one.measured_words.clone().unwrap_or_else(|| NONE.to_owned())
}

/// A remark on a level, or an empty text.
pub(super) fn remark(level: &FactorLevelFinding) -> String {
    level.remark.as_deref().map(sentence).unwrap_or_default()
}

/// The ratio under a level with its interval, or that it was not measured.
pub(super) fn of_level(level: &FactorLevelFinding) -> String {
    level.ratio.as_ref().map_or("not measured".to_owned(), |ratio| figure(Quantity::Ratio, ratio).line())
}

/// The course of a series: `0 to 4.02, highest 4.64 at 8 s, mean 2.95, +0.171 a second`.
pub(super) fn course(course: &SeriesCourse) -> String {
    let SeriesCourse { start, end, mean, highest, highest_at_s, slope_per_s, .. } = course;
    let slope = slope_per_s.map(|slope| {
        let sign = if slope < 0.0 { "−" } else { "+" };
        format!(", {sign}{} a second", in_column(slope.abs()))
    });
    format!(
        "{} to {}, highest {} at {highest_at_s:.0} s, mean {}{}",
        in_column(*start),
        in_column(*end),
        in_column(*highest),
        in_column(*mean),
        slope.unwrap_or_default()
    )
}

/// `apache, hello world, 100 connections: CPU in %`
pub(super) fn series_name(series: &ReplicatedSeries) -> String {
    let setting = if series.setting.is_empty() { String::new() } else { format!(", {}", series.setting) };
    format!("{}{setting}: {} in {}", series.subject, series.words, series.unit)
}

/// Why series were not measured, with counts: `Nothing was measured for 24 series: part file was not run.`
pub(super) fn without_seconds(all: &[ReplicatedSeries]) -> Vec<String> {
    let mut reasons: Vec<(&str, u64)> = Vec::new();
    for why in all.iter().filter_map(|one| one.stands_for_it.as_ref().err()) {
        match reasons.iter_mut().find(|(known, _)| known == why) {
            Some((_, number)) => *number += 1,
            None => reasons.push((why, 1)),
        }
    }
    reasons.into_iter().map(|(why, number)| format!("Nothing was measured for {number} series: {why}.")).collect()
}

/// The subjects that a recommendation picks; any of them will do.
pub(super) fn picks(of: &Recommendation) -> String {
    let any_of = if of.picks.len() > 1 { "any of " } else { "" };
    format!("{any_of}{}", listed(&of.picks, "or"))
}

/// The recommendations that pick a subject, and a line for each need without one.
pub(super) fn advice(found: &ReplicationFindings) -> (Vec<&PartRecommendation>, Vec<String>) {
    let (taken, untold): (Vec<&PartRecommendation>, Vec<&PartRecommendation>) =
        found.recommendations.iter().partition(|one| one.recommendation.strength != Strength::None);
    let line = |one: &&PartRecommendation| {
        let Recommendation { need, because, changes_if, .. } = &one.recommendation;
        format!("{need} ({}): {because} What would decide it: {changes_if}", one.part)
    };
    (taken, untold.iter().map(line).collect())
}

/// Whether a factor explains the difference it was tested for.
pub(super) fn explains(factor: &FactorFinding) -> &'static str {
    match factor.explains {
        Some(true) => "explains it",
        Some(false) => "does not explain it",
        None => "cannot tell",
    }
}
