//! Judges the claims of the source.
//!
//! A claim that restates cells of a table is left out: its figures are among the rows.
//!
//! A claim about several pairs (an order, an extreme, a ratio under several settings) holds if it holds for each. Its reading is
//! that of the pair that contradicts it most: *reversed* before *no difference*, *a difference*, *cannot tell*, *same direction*
//! and *reproduced*.

use tolok_model::replication::Settlement;
use tolok_model::sentences::sentence_unless;
use tolok_model::transcription::{Assertion, Claim, Extreme, Quantity, Row};

use super::family::{Family, Judged, Span, Wanted};
use super::findings::{ClaimFinding, FactorFinding};
use super::gauge::{Scale, measured_as};
use super::orders::{ClaimPair, PairReading, pairs, published_ratio};
use super::sites::Sites;
use super::{settlements, values, words};

use crate::figures;
use crate::findings::PublishedReading;

/// The comparisons that the claims need.
pub(super) fn wanted<'a>(sites: &Sites<'a>) -> Vec<Wanted<'a>> {
    let of_claim = |claim: &Claim| -> Vec<Wanted<'a>> {
        let Some((quantity, pairs)) = pairs(sites, &claim.asserts) else { return Vec::new() };
        let Some(measured) = measured_as(quantity) else { return Vec::new() };
        let both = |pair: &ClaimPair| {
            pair.sites(sites, Some(&measured)).ok().map(|(a, b)| (a, b, measured.clone(), Span::Window))
        };
        pairs.iter().filter_map(both).collect()
    };
    sites.transcription.claims.iter().flat_map(of_claim).collect()
}

pub(super) fn claims(sites: &Sites, family: &Family, factors: &[FactorFinding]) -> Vec<ClaimFinding> {
    let own = sites.transcription.claims.iter().filter(|claim| !values::restates(sites, &claim.asserts));
    own.map(|claim| judged(sites, family, factors, claim)).collect()
}

/// The judgement of a claim, before factors.
pub(super) struct Outcome {
    pub(super) reading: PublishedReading,
    pub(super) measured: Option<String>,
    pub(super) ratio: Option<crate::Estimate>,
    pub(super) why: Option<String>,
}

impl Outcome {
    pub(super) fn untold(why: impl Into<String>) -> Self {
        Self { reading: PublishedReading::CannotTell, measured: None, ratio: None, why: Some(why.into()) }
    }
}

fn judged(sites: &Sites, family: &Family, factors: &[FactorFinding], claim: &Claim) -> ClaimFinding {
    let own = by_figures(sites, family, &claim.asserts);
    // A substitute for figures that exist here is not needed.
    let is_needed = |one: &&Settlement| one.in_place_of.is_none() || own.reading == PublishedReading::CannotTell;
    let settlement = settlements::of_claim(sites, &claim.id).filter(is_needed);
    let (outcome, measure) = match settlement {
        Some(settlement) => (settled(sites, family, settlement, own), Some(&settlement.quantity)),
        None => (own, quantity_of(&claim.asserts)),
    };
    let published = settlement.map_or_else(|| published(&claim.asserts), settlements::published);
    ClaimFinding {
        id: claim.id.clone(),
        place: claim.place.clone(),
        says: claim.says.clone(),
        raw: claim.raw.clone(),
        measure: measure.and_then(measured_as).map(|quantity| words::measure(&quantity)),
        own_table: own_table(sites, &claim.asserts),
        published,
        explanation: explanation(sites, &claim.id, (outcome.reading, outcome.why), factors),
        measured: outcome.measured,
        ratio: outcome.ratio,
        reading: outcome.reading,
    }
}

/// Judges by a ratio that the replication names. `own` is the judgement by the claim's own figures.
fn settled(sites: &Sites, family: &Family, settlement: &Settlement, own: Outcome) -> Outcome {
    let found = settlements::outcome(sites, family, settlement);
    let lacking = own.why.unwrap_or_else(|| "nothing could be told".to_owned());
    let (reading, lacking) = match (&settlement.in_place_of, found.reading) {
        (Some(what), reading) => (reading, format!("in place of {what}: {lacking}")),
        (None, PublishedReading::Reproduced) => {
            (PublishedReading::Supported, format!("the source has no figures for it: {lacking}"))
        }
        (None, reading) => (reading, format!("the source has no figures for it: {lacking}")),
    };
    let why = found.why.map_or(lacking.clone(), |untold| format!("{untold}; {lacking}"));
    Outcome { reading, why: Some(why), ..found }
}

fn quantity_of(asserts: &Assertion) -> Option<&Quantity> {
    match asserts {
        Assertion::Ratio { quantity, .. }
        | Assertion::Difference { quantity, .. }
        | Assertion::Value { quantity, .. }
        | Assertion::Extreme { quantity, .. }
        | Assertion::Order { quantity, .. } => Some(quantity),
        Assertion::Untestable { .. } => None,
    }
}

/// The ratios, or the values, in the source's own tables.
fn own_table(sites: &Sites, asserts: &Assertion) -> Option<String> {
    if let Assertion::Value { quantity, at, .. } = asserts {
        let figure = |row: &Row| Some((row.subject.clone(), words::printed(row.figure(quantity)?)));
        return words::named(&sites.transcription.rows_of(at).filter_map(figure).collect::<Vec<_>>(), "rows");
    }
    let (quantity, pairs) = pairs(sites, asserts)?;
    let ratio = |pair: &ClaimPair| {
        let said = published_ratio(sites, quantity, &pair.a, &pair.b)?;
        Some((pair.words(sites), figures::amount(figures::Quantity::Ratio, said.value)))
    };
    words::named(&pairs.iter().filter_map(ratio).collect::<Vec<_>>(), "pairs")
}

/// Judges by the counterparts of the source's figures.
fn by_figures(sites: &Sites, family: &Family, asserts: &Assertion) -> Outcome {
    match (asserts, pairs(sites, asserts)) {
        (_, Some((quantity, pairs))) => {
            let read = |pair: &ClaimPair| (pair.words(sites), pair.read(sites, family, quantity));
            of_pairs(pairs.iter().map(read).collect())
        }
        (Assertion::Value { quantity, unit, at, is }, None) => values::value(sites, quantity, *unit, at, is),
        (Assertion::Untestable { why }, None) => Outcome::untold(why.clone()),
        (_, None) => Outcome::untold("it names nothing that could be compared"),
    }
}

/// The judgement from all pairs, each with its name.
pub(super) fn of_pairs(mut read: Vec<(String, PairReading)>) -> Outcome {
    // The most contradicting pairs come first.
    read.sort_by_key(|(_, one)| std::cmp::Reverse(against(one.reading)));
    let Some((_, first)) = read.first() else {
        return Outcome::untold("the transcription has no rows for it");
    };
    let (worst, why) = (first.reading, first.why.clone());
    let compared = |judged: &Judged| words::compared(&judged.found, judged.scale);
    let judged: Vec<(String, String)> =
        read.iter().filter_map(|(name, one)| Some((name.clone(), compared(one.judged.as_ref()?)))).collect();
    let ratio = match read.as_slice() {
        [(_, PairReading { judged: Some(judged), .. })] if judged.scale == Scale::Ratio => Some(judged.found.clone()),
        _ => None,
    };
    Outcome {
        reading: worst,
        measured: words::named(&judged, "pairs"),
        ratio,
        why: why.filter(|_| worst == PublishedReading::CannotTell),
    }
}

/// How much the reading of one pair contradicts a claim about all.
pub(super) fn against(reading: PublishedReading) -> u8 {
    match reading {
        PublishedReading::Reproduced | PublishedReading::Supported => 0,
        PublishedReading::SameDirection => 1,
        PublishedReading::CannotTell => 2,
        PublishedReading::Difference => 3,
        PublishedReading::NoDifference => 4,
        PublishedReading::Reversed => 5,
    }
}

/// The claim, in a few words.
pub(super) fn published(asserts: &Assertion) -> String {
    match asserts {
        Assertion::Ratio { is, .. } => format!("{}×", words::number(is)),
        Assertion::Difference { unit, is, .. } => {
            let more = if is.value < 0.0 { "less" } else { "more" };
            format!("{}{} {more}", words::number(is).trim_start_matches('-'), words::unit(*unit))
        }
        Assertion::Value { unit, is, .. } => format!("{}{}", words::number(is), words::unit(*unit)),
        Assertion::Extreme { subject, extreme: Extreme::Highest, .. } => format!("{subject} highest"),
        Assertion::Extreme { subject, extreme: Extreme::Lowest, .. } => format!("{subject} lowest"),
        Assertion::Order { subjects, .. } => subjects.join(" > "),
        Assertion::Untestable { .. } => "not a statement about figures".to_owned(),
    }
}

/// Why it is undecided, and every factor that explains it.
fn explanation(
    sites: &Sites,
    id: &str,
    (reading, why): (PublishedReading, Option<String>),
    factors: &[FactorFinding],
) -> Option<String> {
    let explains = |factor: &&FactorFinding| factor.explains == Some(true) && factor.claims.iter().any(|it| it == id);
    let explaining: Vec<&FactorFinding> = factors.iter().filter(explains).collect();
    let mut parts: Vec<String> = why.iter().map(|why| sentence_unless(why, sites.names())).collect();
    let by: Vec<String> = explaining.iter().map(|factor| factor.in_short.clone()).collect();
    let what = match reading {
        PublishedReading::Reproduced => "Reproduced, and what makes it is",
        _ => "Explained by",
    };
    parts.extend((!by.is_empty()).then(|| format!("{what} {}.", by.join("; and by "))));
    (!parts.is_empty()).then(|| parts.join(" "))
}
