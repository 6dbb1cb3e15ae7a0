//! Ratios of two subjects under one setting, as implied by the tables of the source.

use tolok_model::transcription::{Figure, Moment, Number, Quantity, Row, Series};

use super::family::{Family, Judged, Span, Wanted};
use super::findings::ReplicatedRatio;
use super::gauge::{is_judged, measured_as};
use super::sites::{Site, Sites};
use super::words;
use crate::findings::PublishedReading;
use crate::published::{Said, reading};

/// Figures of one quantity for two subjects under one setting.
struct Implied<'a> {
    setting: &'a str,
    a: &'a str,
    b: &'a str,
    quantity: &'a Quantity,
    said: Said,
}

/// The comparisons that the ratios need.
pub(super) fn wanted<'a>(sites: &Sites<'a>) -> Vec<Wanted<'a>> {
    let of = |one: &Implied| {
        let (a, b) = pair(sites, one).ok()?;
        Some((a, b, measured_as(one.quantity)?, Span::Window))
    };
    let by_second = by_second(sites);
    let of_series = by_second.iter().map(|(_, a, b, _)| (*a, *b, CPU, Span::SameSeconds));
    implied(sites).iter().filter_map(of).chain(of_series).collect()
}

/// All ratios, in the order of the rows.
pub(super) fn ratios(sites: &Sites, family: &Family) -> Vec<ReplicatedRatio> {
    let of_rows = implied(sites).iter().map(|one| judged(sites, family, one)).collect::<Vec<_>>();
    let of_series = by_second(sites).into_iter().map(|(one, a, b, seconds)| {
        let found = family.pair(&a, &b, &CPU, Span::SameSeconds);
        let words = format!("CPU in seconds 1 to {seconds}");
        read(sites, &one, (words, Some(a.part.to_owned())), found)
    });
    of_rows.into_iter().chain(of_series).collect()
}

/// The quantity that compares series of CPU.
const CPU: Quantity = Quantity::Cpu(Moment::Whole);

/// Every pair of subjects with CPU second by second under one setting of the source. Each has their ratio over the seconds that
/// were measured, the cases, and the last of these seconds.
fn by_second<'a>(sites: &Sites<'a>) -> Vec<(Implied<'a>, Site<'a>, Site<'a>, u64)> {
    let all = &sites.transcription.series;
    let beside = |a: &Series, b: &Series| a.subject != b.subject && a.scenario == b.scenario && a.table == b.table;
    let pairs = all.iter().enumerate().flat_map(|(place, a)| all[place + 1..].iter().map(move |b| (a, b)));
    let one = |(a, b): (&'a Series, &'a Series)| {
        let setting = a.scenario.as_deref()?;
        let (of_a, of_b) = sites.pair((&a.subject, setting), (&b.subject, setting), Some(&CPU)).ok()?;
        let seconds = of_a.window_s()?.min(of_b.window_s()?).round();
        let is_same_run = of_a.part == of_b.part && of_a.case.id != of_b.case.id;
        let said = words::ratio_of(&until(a, seconds)?, &until(b, seconds)?).filter(|_| is_same_run)?;
        let one = Implied { setting, a: &a.subject, b: &b.subject, quantity: &CPU, said };
        Some((one, of_a, of_b, seconds as u64))
    };
    pairs.filter(|(a, b)| beside(a, b)).filter_map(one).collect()
}

/// CPU in the seconds up to `last_s`. A reading belongs to the second that it ends.
fn until(series: &Series, last_s: f64) -> Option<Figure> {
    let figure = series.figures.iter().find(|figure| matches!(figure.quantity, Quantity::Cpu(_)))?;
    let read = series.second.iter().zip(&figure.numbers);
    let numbers: Vec<Number> =
        read.filter(|(at_s, _)| **at_s > 0.0 && **at_s <= last_s).map(|(_, number)| number.clone()).collect();
    (!numbers.is_empty()).then(|| Figure { numbers, ..figure.clone() })
}

fn pair<'a>(sites: &Sites<'a>, one: &Implied) -> Result<(Site<'a>, Site<'a>), String> {
    let (a, b) = sites.pair((one.a, one.setting), (one.b, one.setting), measured_as(one.quantity).as_ref())?;
    match (a.part == b.part, a.case.id == b.case.id) {
        (false, _) => Err(format!("no part has both {} and {}", one.a, one.b)),
        (true, true) => Err("both are the same case".to_owned()),
        (true, false) => Ok((a, b)),
    }
}

/// Every pair of rows of one table and setting, by each quantity that both have. Repetitions in a later table are not judged
/// again.
fn implied<'a>(sites: &Sites<'a>) -> Vec<Implied<'a>> {
    let rows = &sites.transcription.rows;
    let mut found: Vec<Implied> = Vec::new();
    for (place, a) in rows.iter().enumerate() {
        let is_beside = |b: &&Row| b.subject != a.subject && b.scenario == a.scenario && b.table == a.table;
        let Some(setting) = a.scenario.as_deref() else { continue };
        for b in rows[place + 1..].iter().filter(is_beside) {
            for figure in a.figures.iter().filter(|figure| is_judged(&figure.quantity, a)) {
                let is_same = |known: &Implied| {
                    let subjects = [known.a, known.b];
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
    Some(Implied { setting, a: &a.subject, b: &b.subject, quantity: &of_a.quantity, said })
}

fn judged(sites: &Sites, family: &Family, one: &Implied) -> ReplicatedRatio {
    let sites_of = pair(sites, one);
    let part = sites_of.as_ref().ok().map(|(a, _)| a.part.to_owned());
    let found = sites_of.and_then(|(a, b)| {
        let measured = measured_as(one.quantity).ok_or_else(|| "no such figure is measured".to_owned())?;
        let side = |subject: &str| (subject.to_owned(), one.setting.to_owned());
        let short = sites.short_of_cpus(&side(one.a), &a, &measured);
        match short.or_else(|| sites.short_of_cpus(&side(one.b), &b, &measured)) {
            Some(why) => Err(why),
            None => family.pair(&a, &b, &measured, Span::Window),
        }
    });
    read(sites, one, (words::quantity(one.quantity), part), found)
}

fn read(
    sites: &Sites,
    one: &Implied,
    (words, part): (String, Option<String>),
    found: Result<Judged, String>,
) -> ReplicatedRatio {
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
        words,
        a: one.a.to_owned(),
        b: one.b.to_owned(),
        part,
        published: one.said.value,
        measured,
        reading,
        why,
    }
}
