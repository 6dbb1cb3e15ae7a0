//! The pairs of cases that a claim is about, and what it claims about each.

use tolok_model::transcription::{Assertion, Extreme, Mark, Number, Quantity, Row, Selector};

use super::family::{Family, Judged, Span};
use super::gauge::{Scale, measured_as};
use super::sites::{Site, Sites};
use super::words;
use crate::findings::{PublishedReading, Verdict};
use crate::grouping::each_once;
use crate::published::{Said, reading};

/// A claim about the first of a pair relative to the second.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    /// The first is this multiple of the second.
    Times(Said),
    More,
    Less,
}

/// Two cases of the source that a claim compares: each a subject and a setting.
pub(super) struct ClaimPair {
    pub(super) a: (String, String),
    pub(super) b: (String, String),
    pub(super) expected: Expected,
}

/// A pair that was judged.
pub(super) struct PairReading {
    pub(super) reading: PublishedReading,
    pub(super) judged: Option<Judged>,
    pub(super) why: Option<String>,
}

/// The quantity and the pairs of a claim, or `None` if it does not concern pairs.
pub(super) fn pairs<'a>(sites: &Sites, asserts: &'a Assertion) -> Option<(&'a Quantity, Vec<ClaimPair>)> {
    Some(match asserts {
        Assertion::Ratio { quantity, a, b, is } => (quantity, two(sites, (a, b), |_, _| of_ratio(is))),
        Assertion::Difference { quantity, a, b, is, .. } => {
            let expected =
                |a: &(String, String), b: &(String, String)| of_difference(sites, quantity, is.value, (a, b));
            (quantity, two(sites, (a, b), expected))
        }
        Assertion::Extreme { quantity, at, subject, extreme } => {
            (quantity, extremes(sites, quantity, at, (subject, *extreme)))
        }
        Assertion::Order { quantity, at, subjects } => (quantity, order(sites, quantity, at, subjects)),
        Assertion::Value { .. } | Assertion::Untestable { .. } => return None,
    })
}

/// Pairs one case of each side, by equal settings. If one side has a single case, it is paired with each of the other's.
fn two(
    sites: &Sites,
    (a, b): (&Selector, &Selector),
    expected: impl Fn(&(String, String), &(String, String)) -> Expected,
) -> Vec<ClaimPair> {
    let (of_a, of_b) = (cases(sites, a), cases(sites, b));
    let is_single = of_a.len() == 1 || of_b.len() == 1;
    let mut found = Vec::new();
    for a in &of_a {
        for b in of_b.iter().filter(|b| (is_single || b.1 == a.1) && *b != a) {
            found.push(ClaimPair { a: a.clone(), b: b.clone(), expected: expected(a, b) });
        }
    }
    found
}

/// Subject and setting of everything that a selector matches, each once.
fn cases(sites: &Sites, selector: &Selector) -> Vec<(String, String)> {
    let of_row = |row: &Row| Some((row.subject.clone(), row.scenario.clone()?));
    let mut found: Vec<(String, String)> = sites.transcription.rows_of(selector).filter_map(of_row).collect();
    if let (true, Some(subject)) = (found.is_empty(), &selector.subject) {
        found = selector.scenarios.iter().map(|setting| (subject.clone(), setting.clone())).collect();
    }
    each_once(found)
}

/// The ratio in the source's rows, if it agrees with the sign of the difference; otherwise only the direction.
fn of_difference(
    sites: &Sites,
    quantity: &Quantity,
    difference: f64,
    (a, b): (&(String, String), &(String, String)),
) -> Expected {
    let said = published_ratio(sites, quantity, a, b);
    match said.filter(|said| (said.value > 1.0) == (difference > 0.0)) {
        Some(said) => Expected::Times(said),
        None if difference < 0.0 => Expected::Less,
        None => Expected::More,
    }
}

/// The ratio of two cases in the rows of the source.
pub(super) fn published_ratio(
    sites: &Sites,
    quantity: &Quantity,
    a: &(String, String),
    b: &(String, String),
) -> Option<Said> {
    let figure = |(subject, setting): &(String, String)| {
        let is_own = |row: &&Row| row.subject == *subject && row.scenario.as_ref() == Some(setting);
        sites.transcription.rows.iter().filter(is_own).find_map(|row| row.figure(quantity))
    };
    figure(a).zip(figure(b)).and_then(|(a, b)| words::ratio_of(a, b))
}

/// `> 1` and `< 1` give the direction, but no size.
pub(super) fn of_ratio(is: &Number) -> Expected {
    match is.mark {
        Mark::AtLeast if is.value == 1.0 => Expected::More,
        Mark::AtMost if is.value == 1.0 => Expected::Less,
        _ => Expected::Times(words::meant(is)),
    }
}

fn extremes(
    sites: &Sites,
    quantity: &Quantity,
    at: &Selector,
    (subject, extreme): (&String, Extreme),
) -> Vec<ClaimPair> {
    let mut found = Vec::new();
    for (setting, subjects) in by_setting(sites, quantity, at) {
        for other in subjects.into_iter().filter(|other| other != subject) {
            let (own, other) = ((subject.clone(), setting.clone()), (other, setting.clone()));
            let (a, b) = if extreme == Extreme::Highest { (own, other) } else { (other, own) };
            found.push(ClaimPair { a, b, expected: Expected::More });
        }
    }
    found
}

fn order(sites: &Sites, quantity: &Quantity, at: &Selector, subjects: &[String]) -> Vec<ClaimPair> {
    let mut found = Vec::new();
    for (setting, _) in by_setting(sites, quantity, at) {
        for (place, higher) in subjects.iter().enumerate() {
            for lower in &subjects[place + 1..] {
                let (a, b) = ((higher.clone(), setting.clone()), (lower.clone(), setting.clone()));
                found.push(ClaimPair { a, b, expected: Expected::More });
            }
        }
    }
    found
}

/// The selected settings, with the subjects that have the figure there; all rows if none has it.
fn by_setting(sites: &Sites, quantity: &Quantity, at: &Selector) -> Vec<(String, Vec<String>)> {
    let rows: Vec<&Row> = sites.transcription.rows_of(at).collect();
    let has = |row: &&&Row| row.figure(quantity).is_some();
    let own: Vec<&Row> =
        if rows.iter().any(|row| has(&row)) { rows.iter().filter(has).copied().collect() } else { rows };
    let settings = each_once(own.iter().filter_map(|row| row.scenario.clone()));
    let subjects = |setting: &String| {
        each_once(own.iter().filter(|row| row.scenario.as_ref() == Some(setting)).map(|row| row.subject.clone()))
    };
    settings.into_iter().map(|setting| (setting.clone(), subjects(&setting))).collect()
}

impl ClaimPair {
    /// The two counterparts of the pair.
    pub(super) fn sites<'a>(
        &self,
        sites: &Sites<'a>,
        measured: Option<&Quantity>,
    ) -> Result<(Site<'a>, Site<'a>), String> {
        let (a, b) = sites.pair((&self.a.0, &self.a.1), (&self.b.0, &self.b.1), measured)?;
        if (a.part, &a.case.id) == (b.part, &b.case.id) {
            return Err("both are the same case".to_owned());
        }
        Ok((a, b))
    }

    /// `go over bun, 10,000 rows`
    pub(super) fn words(&self, sites: &Sites) -> String {
        let (a, b) = (&self.a, &self.b);
        match (a.1 == b.1, a.0 == b.0) {
            (true, _) => format!("{} over {}, {}", a.0, b.0, sites.setting(&a.1)),
            (false, true) => format!("{}, {} over {}", a.0, sites.setting(&a.1), sites.setting(&b.1)),
            (false, false) => format!("{} ({}) over {} ({})", a.0, sites.setting(&a.1), b.0, sites.setting(&b.1)),
        }
    }

    pub(super) fn read(&self, sites: &Sites, family: &Family, quantity: &Quantity) -> PairReading {
        let measured = measured_as(quantity);
        let found = self.sites(sites, measured.as_ref()).and_then(|(a, b)| {
            let measured = measured.clone().ok_or_else(|| format!("nothing measures {}", words::quantity(quantity)))?;
            let short =
                sites.short_of_cpus(&self.a, &a, &measured).or_else(|| sites.short_of_cpus(&self.b, &b, &measured));
            match short {
                Some(why) => Err(why),
                None => family.pair(&a, &b, &measured, Span::Window),
            }
        });
        self.expected.read(found)
    }
}

impl Expected {
    /// The reading of the pair from its judgement, or why it has none.
    pub(super) fn read(self, found: Result<Judged, String>) -> PairReading {
        let judged = match found {
            Ok(judged) => judged,
            Err(why) => {
                return PairReading { reading: PublishedReading::CannotTell, judged: None, why: Some(why) };
            }
        };
        let reading = match self {
            Self::Times(said) if judged.scale == Scale::Ratio => {
                reading(&said, &judged.found, judged.verdict, judged.smallest_effect)
            }
            // For shares, which may be 0, only the direction is judged.
            Self::Times(said) => direction(judged.verdict, said.says_more(), PublishedReading::SameDirection),
            Self::More => direction(judged.verdict, true, PublishedReading::Reproduced),
            Self::Less => direction(judged.verdict, false, PublishedReading::Reproduced),
        };
        let why = judged.why.clone().filter(|_| reading == PublishedReading::CannotTell);
        PairReading { reading, judged: Some(judged), why }
    }
}

fn direction(verdict: Verdict, says_more: bool, agreed: PublishedReading) -> PublishedReading {
    match verdict {
        Verdict::CannotTell => PublishedReading::CannotTell,
        Verdict::Equivalent | Verdict::NoDifferenceFound => PublishedReading::NoDifference,
        Verdict::Faster if says_more => agreed,
        Verdict::Slower if !says_more => agreed,
        Verdict::Faster | Verdict::Slower => PublishedReading::Reversed,
    }
}
