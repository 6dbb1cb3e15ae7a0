//! Ratios of two subjects under one setting, which the tables of the source imply.

use tolok_model::transcription::{Figure, Quantity, Row};

use super::family::{Family, Wanted};
use super::findings::ReplicatedRatio;
use super::gauge::{is_judged, measured_as};
use super::sites::Sites;
use super::words;
use crate::findings::PublishedReading;
use crate::published::{Said, reading};

/// Two figures of one quantity, of two subjects under one setting.
struct Implied<'a> {
    setting: &'a str,
    a: &'a Row,
    b: &'a Row,
    quantity: &'a Quantity,
    said: Said,
}

/// What is to be compared for them.
pub(super) fn wanted<'a>(sites: &Sites<'a>) -> Vec<Wanted<'a>> {
    let of = |one: &Implied| {
        let (a, b) = pair(sites, one).ok()?;
        Some((a, b, measured_as(one.quantity)?))
    };
    implied(sites).iter().filter_map(of).collect()
}

/// All of them in the order of the rows.
pub(super) fn ratios(sites: &Sites, family: &Family) -> Vec<ReplicatedRatio> {
    implied(sites).iter().map(|one| judged(sites, family, one)).collect()
}

fn pair<'a>(sites: &Sites<'a>, one: &Implied) -> Result<(super::sites::Site<'a>, super::sites::Site<'a>), String> {
    let (a, b) =
        sites.pair((&one.a.subject, one.setting), (&one.b.subject, one.setting), measured_as(one.quantity).as_ref())?;
    match (a.part == b.part, a.case.id == b.case.id) {
        (false, _) => Err(format!("no part has both {} and {}", one.a.subject, one.b.subject)),
        (true, true) => Err("both are the same case".to_owned()),
        (true, false) => Ok((a, b)),
    }
}

/// Every two rows of a table and a setting, by each quantity that both have. What a later table repeats is not judged twice.
fn implied<'a>(sites: &Sites<'a>) -> Vec<Implied<'a>> {
    let rows = &sites.transcription.rows;
    let mut found: Vec<Implied> = Vec::new();
    for (place, a) in rows.iter().enumerate() {
        let is_beside = |b: &&Row| b.subject != a.subject && b.scenario == a.scenario && b.table == a.table;
        let Some(setting) = a.scenario.as_deref() else { continue };
        for b in rows[place + 1..].iter().filter(is_beside) {
            for figure in a.figures.iter().filter(|figure| is_judged(&figure.quantity, a)) {
                let is_same = |known: &Implied| {
                    let subjects = [&known.a.subject, &known.b.subject];
                    let is_of_both = subjects == [&a.subject, &b.subject] || subjects == [&b.subject, &a.subject];
                    known.setting == setting && is_of_both && *known.quantity == figure.quantity
                };
                if !found.iter().any(is_same) {
                    found.extend(one(setting, (a, figure), b));
                }
            }
        }
    }
    found
}

fn one<'a>(setting: &'a str, (a, of_a): (&'a Row, &'a Figure), b: &'a Row) -> Option<Implied<'a>> {
    let said = words::ratio_of(of_a, b.figure(&of_a.quantity)?)?;
    Some(Implied { setting, a, b, quantity: &of_a.quantity, said })
}

fn judged(sites: &Sites, family: &Family, one: &Implied) -> ReplicatedRatio {
    let sites_of = pair(sites, one);
    let part = sites_of.as_ref().ok().map(|(a, _)| a.part.to_owned());
    let found = sites_of.and_then(|(a, b)| {
        let measured = measured_as(one.quantity).ok_or_else(|| "no such figure is measured".to_owned())?;
        family.pair(&a, &b, &measured)
    });
    let (measured, reading, why) = match found {
        Ok(found) => {
            let reading = reading(&one.said, &found.found, found.verdict, found.smallest_effect);
            let why = found.why.filter(|_| reading == PublishedReading::CannotTell);
            (Some(found.found), reading, why)
        }
        Err(why) => (None, PublishedReading::CannotTell, Some(why)),
    };
    ReplicatedRatio {
        setting: sites.setting(one.setting),
        words: words::quantity(one.quantity),
        a: one.a.subject.clone(),
        b: one.b.subject.clone(),
        part,
        published: one.said.value,
        measured,
        reading,
        why,
    }
}
