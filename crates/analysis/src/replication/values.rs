//! Claims of a value. Its size depends on the machine, so the report shows both figures without a verdict. Two kinds are judged:
//! the share of requests that fail, and the size of a response.
//!
//! A number of failed requests becomes a share of all, if the row has their number; 0 needs no such number. A share is
//! **reproduced** if the published value is within the measured interval, widened by [`SMALLEST_SHARE`] at both ends. Otherwise
//! both are compared with 0, which means less than [`SMALLEST_SHARE`]: **same direction** if both failed, **no difference** if
//! only the source's requests did, **a difference** if only the measured ones did.
//!
//! The interval is never narrower than the number of requests allows (Clopper and Pearson). An interval wider than twice
//! [`SMALLEST_SHARE`], and than half of the published share, includes too much to reproduce anything: **cannot tell**.

use tolok_model::transcription::{Assertion, Mark, Number, Quantity, Row, Selector, Unit};

use super::claims::{Outcome, against};
use super::contrast::SMALLEST_SHARE;
use super::gauge::{Scale, measured_as, scale};
use super::sites::{Site, Sites, with};
use super::words;
use crate::figures::small_share;
use crate::findings::{Estimate, PublishedReading};
use crate::published::Said;

/// A value in a text may differ by this share from the cell that it repeats.
const RESTATED: f64 = 0.05;

/// Whether a claim only repeats a cell of the source's tables. For sizes, which depend on the machine, it may repeat several
/// cells.
pub(super) fn restates(sites: &Sites, asserts: &Assertion) -> bool {
    let Assertion::Value { quantity, at, is, .. } = asserts else { return false };
    if matches!(is.mark, Mark::AtLeast | Mark::AtMost) {
        return false;
    }
    let said = words::meant(is);
    let figures: Vec<Said> =
        sites.transcription.rows_of(at).filter_map(|row| row.figure(quantity)).map(words::meant_by).collect();
    let is_size = measured_as(quantity).is_some_and(|measured| scale(&measured) == Scale::Ratio);
    let agrees = |cell: &Said| {
        let slack = RESTATED * cell.value.abs();
        said.low - slack <= cell.high && cell.low <= said.high + slack
    };
    let is_cell = figures.len() == 1 || is_size && *quantity != Quantity::Body;
    !figures.is_empty() && is_cell && figures.iter().all(agrees)
}

/// The figures of a claim, and its judgement if there can be one.
pub(super) fn value(sites: &Sites, quantity: &Quantity, unit: Unit, at: &Selector, is: &Number) -> Outcome {
    let Some(measured) = measured_as(quantity) else {
        return Outcome::untold(format!("nothing measures {}", words::quantity(quantity)));
    };
    let mut why = None;
    let said = words::meant(is);
    let mut readings = Vec::new();
    let mut found: Vec<(Site, Estimate)> = Vec::new();
    for row in sites.transcription.rows_of(at) {
        match of_row(sites, row, &measured) {
            Ok((site, _)) if found.iter().any(|(known, _)| known.words() == site.words()) => {}
            Ok((site, estimate)) => {
                let unjudged = site.unjudged(&measured);
                readings.push(match unjudged {
                    Some(_) => PublishedReading::CannotTell,
                    None => read(quantity, of_all(quantity, said, row), &site, &estimate),
                });
                why = why.or(unjudged);
                found.push((site, estimate));
            }
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    if found.is_empty() {
        return Outcome::untold(why.unwrap_or_else(|| "the transcription has no rows for it".to_owned()));
    }
    let reading = readings.into_iter().max_by_key(|reading| against(*reading)).unwrap_or(PublishedReading::CannotTell);
    let is_untold = reading == PublishedReading::CannotTell;
    Outcome {
        reading,
        measured: in_words(&found, &measured, unit),
        ratio: None,
        why: is_untold.then(|| why.unwrap_or_else(|| why_untold(quantity))),
    }
}

fn of_row<'a>(sites: &Sites<'a>, row: &Row, measured: &Quantity) -> Result<(Site<'a>, Estimate), String> {
    let setting = row.scenario.as_deref().ok_or_else(|| "its setting has no name".to_owned())?;
    let site = with(&sites.of(&row.subject, setting)?, Some(measured));
    let estimate = site.estimate(measured);
    let none = || format!("{} has no such figure in every trial", site.title());
    let estimate = estimate.ok_or_else(|| site.blind_to(measured).unwrap_or_else(none))?;
    Ok((site, estimate))
}

/// The claim about a number of requests as a share of all, or `None` if their number is unknown.
fn of_all(quantity: &Quantity, said: Said, row: &Row) -> Option<Said> {
    match quantity {
        Quantity::Failures | Quantity::Timeouts if said.high > 0.0 => {
            let answers = row.figure(&Quantity::Requests)?.value();
            let share = |number: f64| if number.is_finite() { number / (answers + number) } else { 1.0 };
            Some(Said { value: share(said.value), low: share(said.low), high: share(said.high) })
        }
        _ => Some(said),
    }
}

fn in_words(found: &[(Site, Estimate)], measured: &Quantity, unit: Unit) -> Option<String> {
    let figure = |estimate: &Estimate| match scale(measured) {
        Scale::Difference => format!("{} of the requests", small_share(estimate.value)),
        Scale::Ratio => words::in_unit(estimate, unit),
    };
    let all: Vec<(String, String)> = found.iter().map(|(site, it)| (site.words(), figure(it))).collect();
    words::named(&all, "cases")
}

fn why_untold(quantity: &Quantity) -> String {
    match quantity {
        Quantity::Body => "too few trials for an interval".to_owned(),
        Quantity::ErrorRate | Quantity::HttpFailRate => "too few trials or requests for a narrow interval".to_owned(),
        Quantity::Failures | Quantity::Timeouts => {
            "too few trials or requests for a narrow interval, or no number of all requests".to_owned()
        }
        _ => "the size depends on the machine: only ratios can be compared".to_owned(),
    }
}

fn read(quantity: &Quantity, said: Option<Said>, site: &Site, measured: &Estimate) -> PublishedReading {
    let (Some((low, high)), Some(said)) = (measured.low.zip(measured.high), said) else {
        return PublishedReading::CannotTell;
    };
    match quantity {
        Quantity::ErrorRate | Quantity::HttpFailRate | Quantity::Failures | Quantity::Timeouts => {
            of_share(&said, measured.value, (low, high))
        }
        Quantity::Body => {
            let smallest_effect = 1.0 + site.run.records.plan.smallest_effect;
            let is_within = said.low <= high * smallest_effect && said.high >= low / smallest_effect;
            if is_within { PublishedReading::Reproduced } else { PublishedReading::Difference }
        }
        _ => PublishedReading::CannotTell,
    }
}

fn of_share(said: &Said, measured: f64, (low, high): (f64, f64)) -> PublishedReading {
    let is_within = said.low <= high + SMALLEST_SHARE && said.high >= low - SMALLEST_SHARE;
    let is_wide = high - low > (2.0 * SMALLEST_SHARE).max(said.value / 2.0);
    match (is_within, said.value >= SMALLEST_SHARE, measured >= SMALLEST_SHARE) {
        (true, ..) if is_wide => PublishedReading::CannotTell,
        (true, ..) => PublishedReading::Reproduced,
        (false, true, true) => PublishedReading::SameDirection,
        (false, true, false) => PublishedReading::NoDifference,
        (false, false, _) => PublishedReading::Difference,
    }
}
