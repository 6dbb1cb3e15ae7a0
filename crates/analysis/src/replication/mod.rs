//! Compares a published comparison with runs that repeat it: each figure, each ratio, each claim, and explanations of
//! differences.
//!
//! Sizes depend on the machine, so figures are shown side by side and not judged. Ratios of two subjects under one setting and
//! claims are judged, with the readings of [`crate::PublishedReading`].
//!
//! - **Ratios** are taken within blocks if one part measured both, and by Welch's t of the logarithms across parts.
//! - **One family**: it has every ratio that a table or a claim needs, and p values are adjusted for all of it (Holm).
//! - **A claim without figures** in its source is settled if the replication names the measured ratio that settles it. So is a
//!   claim whose figures cannot be measured here. If the source has no figure, it is *supported* and not *reproduced*.
//! - **A claim that restates a cell** counts as a figure, not as a claim.
//! - **Windows** shorter than a part requires judge nothing, and with fewer CPUs than the source used, no rates are judged.
//!   Seconds of a series are compared with the same seconds.
//! - **Unranked cases** have no ratio. Shares of failed requests are the exception, because they measure failures.
//! - **Factors** may use a case whose only fault is a limit or its failures, because that is often the explanation; a remark says
//!   so.
//!
//! Each file has one task: `gauge.rs` has the figure of a trial, `sites.rs` finds counterparts, `contrast.rs` and `family.rs`
//! compare. `ratios.rs`, `rows.rs`, `series.rs`, `claims.rs`, `settlements.rs` and `factors.rs` draw conclusions, and `words.rs`
//! has the words.

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

/// What the runs show about a published comparison. A part that is missing in `parts` was not run.
///
/// This is a pure function: the same records give the same findings.
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

/// The recommendations of all parts in order, but those without a pick last.
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
