//! Settles claims without figures in the source by what the studies measured.

use tolok_model::replication::{Settlement, SettlingCase, SettlingPair};

use super::claims::{Outcome, of_pairs};
use super::family::{Family, Span, Wanted};
use super::gauge::measured_as;
use super::orders::{Expected, of_ratio};
use super::sites::{Site, Sites};
use super::words;

/// The comparisons that the settlements need.
pub(super) fn wanted<'a>(sites: &Sites<'a>) -> Vec<Wanted<'a>> {
    let of_one = |settlement: &'a Settlement| -> Vec<Wanted<'a>> {
        let Some(measured) = measured_as(&settlement.quantity) else { return Vec::new() };
        let both = |pair| cases(sites, pair).ok().map(|(a, b)| (a, b, measured.clone(), Span::Window));
        settlement.pairs.iter().filter_map(both).collect()
    };
    sites.replication.settlements.iter().flat_map(of_one).collect()
}

/// The settlement of a claim, or `None` without one.
pub(super) fn of_claim<'a>(sites: &Sites<'a>, id: &str) -> Option<&'a Settlement> {
    sites.replication.settlements.iter().find(|settlement| settlement.claim == id)
}

/// The judgement of its claim, before factors.
pub(super) fn outcome(sites: &Sites, family: &Family, settlement: &Settlement) -> Outcome {
    let expected = of_ratio(&settlement.is);
    let nothing_measures = || format!("nothing measures {}", words::quantity(&settlement.quantity));
    let read = |pair: &SettlingPair| {
        let measured = measured_as(&settlement.quantity).ok_or_else(nothing_measures);
        let judged = measured.and_then(|measured| {
            let (a, b) = cases(sites, pair)?;
            family.pair(&a, &b, &measured, Span::Window)
        });
        (words_of(pair), expected.read(judged))
    };
    of_pairs(settlement.pairs.iter().map(read).collect())
}

/// `> 1×`, `3–10×`
pub(super) fn published(settlement: &Settlement) -> String {
    match of_ratio(&settlement.is) {
        Expected::More => "more than 1×".to_owned(),
        Expected::Less => "less than 1×".to_owned(),
        Expected::Times(_) => format!("{}×", words::number(&settlement.is)),
    }
}

fn cases<'a>(sites: &Sites<'a>, pair: &SettlingPair) -> Result<(Site<'a>, Site<'a>), String> {
    let site = |case: &SettlingCase| sites.site(&case.part, &case.scenario, &case.subject);
    Ok((site(&pair.a)?, site(&pair.b)?))
}

/// `Go, 10,000 rows, go/nethttp:encoder over go/nethttp:prerendered`; only the name if just the setting differs.
fn words_of(pair: &SettlingPair) -> String {
    let (a, b) = (&pair.a.subject, &pair.b.subject);
    if a == b { pair.name.clone() } else { format!("{}, {a} over {b}", pair.name) }
}
