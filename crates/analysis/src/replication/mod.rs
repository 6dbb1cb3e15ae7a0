//! Compares a published comparison with runs of it: each figure, each ratio, each claim, and what explains a difference.
//!
//! Sizes belong to the machine, so figures stand beside each other and are not judged. Ratios of two subjects under one setting and
//! claims are judged, with the readings of [`crate::PublishedReading`].
//!
//! - **Ratios** are taken within blocks where one part measured both, and by Welch's t of the logarithms across parts.
//! - **All together**: every ratio that a table or a claim asks for is in one family, and p values are adjusted for all of it (Holm).
//! - **A claim without figures** of its source is settled if the replication names the measured ratio that settles it; so is one whose
//!   figures cannot be had here. It is *supported* and not *reproduced* where the source has no figure.
//! - **A claim that restates a cell** is a figure, and no claim.
//! - **Windows** shorter than a part says it needs judge nothing, and CPUs fewer than the source used judge no rates. Seconds of a
//!   series are compared with the same seconds.
//! - **Cases that are not ranked** have no ratio. Shares of failed requests are the exception: failing is what they measure.
//! - **Factors** may use a case whose only fault is a limit or its failures, because that is often the explanation; a remark says so.
//!
//! A part a file: `gauge.rs` has the figure of a trial, `sites.rs` finds what stands for what, `contrast.rs` and `family.rs` compare,
//! `ratios.rs`, `rows.rs`, `series.rs`, `claims.rs`, `settlements.rs` and `factors.rs` say what follows, `words.rs` has the words.

mod claims;
mod contrast;
mod factors;
mod family;
mod findings;
mod gauge;
mod orders;
mod parts;
mod ratios;
mod rows;
mod series;
mod settlements;
mod sites;
mod values;
mod words;

use tolok_model::replication::Replication;
use tolok_model::transcription::Transcription;

use family::Family;
use sites::Sites;

use crate::findings::{PublishedReading, Strength};

pub use findings::{
    ClaimFinding, ClaimedRatio, FactorFinding, FactorLevelFinding, MeasuredPart, MeasuredRun, PartFinding,
    PartRecommendation, REPLICATION_SCHEMA, ReplicatedFigure, ReplicatedRatio, ReplicatedRow, ReplicatedSeries,
    ReplicationFindings, ReplicationTally, SeriesCourse,
};

/// What the runs show about a published comparison. `parts` may lack some: a part that is missing was not run.
///
/// A pure function: the same records give the same findings.
pub fn replicate(
    transcription: &Transcription,
    replication: &Replication,
    parts: &[MeasuredPart],
) -> ReplicationFindings {
    let sites = Sites { transcription, replication, parts };
    let wanted = [ratios::wanted(&sites), claims::wanted(&sites), settlements::wanted(&sites)].concat();
    let family = Family::of(&wanted);
    let factors = factors::factors(&sites);
    let claims = claims::claims(&sites, &family, &factors);
    let restated = transcription.claims.len() - claims.len();
    ReplicationFindings {
        schema_version: REPLICATION_SCHEMA,
        key: transcription.key.clone(),
        title: transcription.title.clone(),
        source: words::source(transcription),
        note: replication.note.clone(),
        parts: parts::parts(&sites),
        tally: tally(&claims),
        claims,
        restated,
        rows: rows::rows(&sites),
        series: series::series(&sites),
        ratios: ratios::ratios(&sites, &family),
        factors,
        recommendations: recommendations(parts),
    }
}

fn tally(claims: &[ClaimFinding]) -> ReplicationTally {
    let mut tally = ReplicationTally::default();
    for claim in claims {
        let number = match claim.reading {
            PublishedReading::Reproduced => &mut tally.reproduced,
            PublishedReading::Supported => &mut tally.supported,
            PublishedReading::SameDirection => &mut tally.same_direction,
            PublishedReading::NoDifference => &mut tally.no_difference,
            PublishedReading::Difference => &mut tally.difference,
            PublishedReading::Reversed => &mut tally.reversed,
            PublishedReading::CannotTell => &mut tally.cannot_tell,
        };
        *number += 1;
    }
    tally
}

/// Those of all parts in their order, but those that say nothing last.
fn recommendations(parts: &[MeasuredPart]) -> Vec<PartRecommendation> {
    let measured = parts.iter().filter_map(|part| Some((part.name, part.run.as_ref().ok()?)));
    let of_part = measured.flat_map(|(part, run)| {
        let one = move |recommendation: &crate::Recommendation| PartRecommendation {
            part: part.to_owned(),
            recommendation: recommendation.clone(),
        };
        run.findings.recommendations.iter().map(one)
    });
    let mut all: Vec<PartRecommendation> = of_part.collect();
    all.sort_by_key(|one| one.recommendation.strength == Strength::None);
    all
}
