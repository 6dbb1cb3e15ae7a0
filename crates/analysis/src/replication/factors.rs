//! Explains a ratio by factors: the same two cases under several levels of a factor, and how much of the ratio each switch
//! removes.
//!
//! The ratio under the first level, r₁, is under the source's conditions. At another level, with the ratio rₖ, the **share** that
//! disappears is 1 − ln rₖ / ln r₁: 0 if nothing changes, 1 if the two become equal, more if the order flips.
//!
//! 1. The factor **explains** the ratio if at some other level ln rₖ differs from ln r₁ by more than its interval (95% for all
//!    other levels together; within blocks if one part measured both levels, otherwise Welch's) and at least half of it
//!    disappears.
//! 2. It **does not** if all levels were measured, and more than half remains at each other level: the whole 95% interval of ln
//!    rₖ − ln r₁ / 2 is on the side of r₁.
//! 3. If the first level is a tie (its interval contains 1), nothing can disappear, and the question is reversed. The factor
//!    explains the *tie* if at some other level the ratio has moved by more than its interval, and that level's own interval
//!    excludes 1. It does not if every other level is a tie too, each with a half width of at most [`EQUIVALENCE_HALF_WIDTH`].
//! 4. Otherwise it is undecided.
//!
//! A level may include a case that is unranked because of a limit or failed requests ([`LIMITS`]), because the factor may be the
//! cause of just that. The ratio then carries a remark.

use tolok_model::replication::{Factor, FactorLevel, ReplicationPart};
use tolok_model::sentences::sentence;
use tolok_stats::{Interval, Sample, mean_interval, welch};

use super::claims;
use super::contrast::Contrast;
use super::findings::{ClaimedRatio, FactorFinding, FactorLevelFinding};
use super::gauge::{Scale, measured_as, scale};
use super::orders::{ClaimPair, Expected, pairs};
use super::sites::{Site, Sites};
use super::words;
use crate::estimate::{LEVEL, half_width, least_trials};
use crate::figures::{Quantity as Kind, amount, figure, listed};
use crate::findings::Estimate;
use crate::flag::FlagKind;
use crate::verdict::EQUIVALENCE_HALF_WIDTH;

/// Flags that bar a case from the ranking because something limited it, not because its figures are wrong.
const LIMITS: [FlagKind; 3] = [FlagKind::GeneratorBound, FlagKind::Errors, FlagKind::TasksRefused];
/// A factor explains a ratio if at least this share of it disappears.
const HALF: f64 = 0.5;
/// A share above this counts as all of the ratio.
const ALL: f64 = 0.95;
/// With a share above this, the other subject is clearly ahead.
const FLIPS: f64 = 1.25;

/// A level with the logarithms of its ratio, block by block.
struct Level<'a> {
    level: &'a FactorLevel,
    found: Result<LevelRatio, String>,
    remark: Option<String>,
}

struct LevelRatio {
    part: String,
    ratio: Estimate,
    logarithms: Vec<Option<f64>>,
}

/// The conclusion from all levels.
struct Answer<'a> {
    explains: Option<bool>,
    share: Option<f64>,
    /// The deciding level, or `None` if no single one decides.
    by: Option<&'a Level<'a>>,
    /// The conclusion, as a fragment.
    words: String,
}

pub(super) fn factors(sites: &Sites) -> Vec<FactorFinding> {
    sites.replication.factors.iter().map(|factor| finding(sites, factor)).collect()
}

fn finding(sites: &Sites, factor: &Factor) -> FactorFinding {
    let levels: Vec<Level> = factor.levels.iter().map(|level| level_of(sites, factor, level)).collect();
    let answer = answer(&levels);
    FactorFinding {
        name: factor.name.clone(),
        meaning: factor.meaning.clone(),
        words: words::quantity(&factor.quantity),
        claims: factor.claims.clone(),
        explains: answer.explains,
        share: answer.share,
        published: published(sites, factor),
        in_short: in_short(factor, &levels, &answer),
        conclusion: conclusion(factor, &answer),
        sentence: all_of_it(factor, &levels, &answer),
        levels: levels.into_iter().map(Level::finding).collect(),
    }
}

fn level_of<'a>(sites: &Sites, factor: &Factor, level: &'a FactorLevel) -> Level<'a> {
    let site = |name: &str| sites.site(&level.part, &level.scenario, name);
    let both = site(&level.a).and_then(|a| Ok((a, site(&level.b)?)));
    let remark = both.as_ref().ok().and_then(|(a, b)| a.unranked().or_else(|| b.unranked()));
    let found = both.and_then(|(a, b)| ratio_of(factor, &a, &b));
    Level { level, found, remark }
}

fn ratio_of(factor: &Factor, a: &Site, b: &Site) -> Result<LevelRatio, String> {
    let is_wrong = |site: &&&Site| {
        let flags = site.flags().iter().filter(|flag| flag.voids_rank);
        site.unranked().is_some() && flags.clone().any(|flag| !LIMITS.contains(&flag.kind))
    };
    if let Some(why) = [a, b].iter().find(is_wrong).and_then(|site| site.unranked()) {
        return Err(why);
    }
    let measured = measured_as(&factor.quantity).filter(|measured| scale(measured) == Scale::Ratio);
    let measured = measured.ok_or_else(|| format!("tolok takes no ratio of {}", words::quantity(&factor.quantity)))?;
    let contrast = Contrast::of_any(a, b, &measured)?;
    if let Some(why) = contrast.too_few {
        return Err(why);
    }
    let both = a.by_block(&measured).into_iter().zip(b.by_block(&measured));
    let logarithms = both.map(|(a, b)| Some((a? / b?).ln())).collect();
    Ok(LevelRatio { part: a.part.to_owned(), ratio: contrast.found, logarithms })
}

impl LevelRatio {
    fn sample(&self) -> Option<Sample> {
        Sample::new(&self.logarithms.iter().flatten().copied().collect::<Vec<f64>>()).ok()
    }

    fn mean(&self) -> f64 {
        self.ratio.value.ln()
    }

    /// Whether the ratio may be 1.
    fn is_tie(&self) -> bool {
        !self.ratio.excludes_one()
    }

    /// The interval of this logarithm minus `weight` times that of the first level. The confidence holds for `others` intervals
    /// together.
    fn less(&self, first: &Self, weight: f64, others: usize) -> Option<Interval> {
        let level = LEVEL.simultaneous(others);
        if self.part == first.part {
            let both = self.logarithms.iter().zip(&first.logarithms);
            let differences: Vec<f64> = both.filter_map(|(own, first)| Some((*own)? - weight * (*first)?)).collect();
            if differences.len() >= least_trials() as usize {
                return mean_interval(&Sample::new(&differences).ok()?, level);
            }
        }
        let weighted: Vec<f64> = first.logarithms.iter().flatten().map(|it| weight * it).collect();
        welch(&self.sample()?, &Sample::new(&weighted).ok()?, 0.0, level)?.interval
    }

    fn share(&self, first: &Self) -> f64 {
        1.0 - self.mean() / first.mean()
    }
}

fn answer<'a>(levels: &'a [Level<'a>]) -> Answer<'a> {
    let untold =
        |why: &str| Answer { explains: None, share: None, by: None, words: format!("so it is undecided: {why}") };
    let Some((first, others)) = levels.split_first() else { return untold("it has no levels") };
    let Ok(first) = &first.found else { return untold("the first level has no ratio") };
    let measured: Vec<(&Level, &LevelRatio)> =
        others.iter().filter_map(|level| Some((level, level.found.as_ref().ok()?))).collect();
    if measured.is_empty() {
        return untold("no other level has a ratio");
    }
    let is_whole = measured.len() == others.len();
    if first.is_tie() { of_tie(first, &measured, is_whole) } else { of_difference(first, &measured, is_whole) }
}

fn of_difference<'a>(first: &LevelRatio, others: &[(&'a Level<'a>, &LevelRatio)], is_whole: bool) -> Answer<'a> {
    let changed = |(_, other): &&(&Level, &LevelRatio)| {
        let moved = other.less(first, 1.0, others.len());
        moved.is_some_and(|moved| !moved.contains(0.0)) && other.share(first) >= HALF
    };
    let most = |left: &&(&Level, &LevelRatio), right: &&(&Level, &LevelRatio)| {
        left.1.share(first).total_cmp(&right.1.share(first))
    };
    if let Some((level, other)) = others.iter().filter(changed).max_by(most) {
        let share = other.share(first);
        return Answer {
            explains: Some(true),
            share: Some(share),
            by: Some(*level),
            words: gone(share, &level.level.name),
        };
    }
    let remains = |(_, other): &(&Level, &LevelRatio)| {
        let above_half = other.less(first, HALF, 1);
        above_half.is_some_and(|it| if first.mean() > 0.0 { it.low > 0.0 } else { it.high < 0.0 })
    };
    let share = others.iter().map(|(_, other)| other.share(first)).reduce(f64::max);
    match is_whole && others.iter().all(remains) {
        true => Answer {
            explains: Some(false),
            share,
            by: None,
            words: "so most of it remains, and this does not explain it".to_owned(),
        },
        false => {
            let why = if is_whole { "the intervals are too wide" } else { "not every level has a ratio" };
            Answer { explains: None, share, by: None, words: format!("so it is undecided: {why}") }
        }
    }
}

fn gone(share: f64, level: &str) -> String {
    match share {
        flips if flips > FLIPS => format!("so the order flips with “{level}”, and this explains it"),
        all if all > ALL => format!("so “{level}” removes all of it, and this explains it"),
        some => format!("so “{level}” removes {} of it, and this explains it", amount(Kind::Share, some)),
    }
}

fn of_tie<'a>(first: &LevelRatio, others: &[(&'a Level<'a>, &LevelRatio)], is_whole: bool) -> Answer<'a> {
    let moved = |(_, other): &&(&Level, &LevelRatio)| {
        let moved = other.less(first, 1.0, others.len());
        !other.is_tie() && moved.is_some_and(|moved| !moved.contains(0.0))
    };
    let answer = |explains, by, words: String| Answer { explains, share: None, by, words };
    if let Some((level, _)) = others.iter().find(moved) {
        return answer(
            Some(true),
            Some(*level),
            format!("so “{}” breaks the tie, and this explains it", level.level.name),
        );
    }
    let is_narrow = |ratio: &Estimate| half_width(ratio).is_some_and(|width| width <= EQUIVALENCE_HALF_WIDTH);
    let stays = |(_, other): &(&Level, &LevelRatio)| other.is_tie() && is_narrow(&other.ratio);
    if is_whole && is_narrow(&first.ratio) && others.iter().all(stays) {
        return answer(Some(false), None, "so it is a tie throughout, and this does not explain it".to_owned());
    }
    answer(None, None, "so it is undecided: the first level is a tie, and no other level clearly differs".to_owned())
}

/// The source's claim about the two cases of the first level, by the same quantity.
fn published(sites: &Sites, factor: &Factor) -> Option<ClaimedRatio> {
    let first = factor.levels.first()?;
    let mut asked = sites.transcription.claims.iter().filter(|claim| factor.claims.contains(&claim.id));
    asked.find_map(|claim| {
        let (quantity, pairs) = pairs(sites, &claim.asserts)?;
        let [ClaimPair { a, b, expected: Expected::Times(said) }] = pairs.as_slice() else { return None };
        let is_same = measured_as(quantity) == measured_as(&factor.quantity);
        let stands = |above: &str, below: &str| {
            let is =
                |part: &ReplicationPart, name: &str, label: &str| part.subjects.get(name).is_some_and(|it| it == label);
            sites.replication.parts.iter().any(|part| is(part, &a.0, above) && is(part, &b.0, below))
        };
        let value = said.value;
        match (is_same && stands(&first.a, &first.b), is_same && stands(&first.b, &first.a)) {
            (true, _) => Some(ClaimedRatio { value, words: claims::published(&claim.asserts) }),
            (_, true) => Some(ClaimedRatio { value: value.recip(), words: amount(Kind::Ratio, value.recip()) }),
            _ => None,
        }
    })
}

/// `the way to the server: 138× (132–144) with “170 ms away” and 3.86× (3.45–4.32) with “next door”, so 73% of it goes`
fn in_short(factor: &Factor, levels: &[Level], answer: &Answer) -> String {
    let first = levels.first().map(|first| first.words(""));
    let both = [first, answer.by.map(|level| level.words(""))].into_iter().flatten().collect::<Vec<_>>();
    let follows = match (answer.explains, answer.share) {
        (Some(true), Some(share)) if share > FLIPS => "so the order flips".to_owned(),
        (Some(true), Some(share)) if share > ALL => "so all of it disappears".to_owned(),
        (Some(true), Some(share)) => format!("so {} of it disappears", amount(Kind::Share, share)),
        (Some(true), None) => "so the tie breaks there".to_owned(),
        _ => answer.words.clone(),
    };
    format!("{}: {}, {follows}", factor.name, listed(&both, "and"))
}

fn all_of_it(factor: &Factor, levels: &[Level], answer: &Answer) -> String {
    let pair = |level: &Level| format!("{} over {}", level.level.a, level.level.b);
    let of_all = levels.first().map(pair).filter(|first| levels.iter().all(|level| pair(level) == *first));
    let of = |level: &Level| if of_all.is_some() { String::new() } else { format!("{} ", pair(level)) };
    let figures: Vec<String> = levels.iter().map(|level| level.words(&of(level))).collect();
    let of_all = of_all.map(|pair| format!(" of {pair}")).unwrap_or_default();
    let what = format!("{}, by {}{of_all}", factor.name, words::quantity(&factor.quantity));
    sentence(&format!("{what}: {}; {}", figures.join("; "), answer.words)) + &meaning(factor, answer)
}

fn conclusion(factor: &Factor, answer: &Answer) -> String {
    sentence(answer.words.trim_start_matches("so ")) + &meaning(factor, answer)
}

/// The factor's meaning, after a space, if it explains the ratio.
fn meaning(factor: &Factor, answer: &Answer) -> String {
    if answer.explains == Some(true) { format!(" {}", sentence(&factor.meaning)) } else { String::new() }
}

impl Level<'_> {
    /// `5.1× (4.9–5.3) with “170 ms away”`
    fn words(&self, of: &str) -> String {
        let name = &self.level.name;
        match &self.found {
            Ok(found) => format!("{of}{} with “{name}”", figure(Kind::Ratio, &found.ratio).line()),
            Err(why) => format!("{of}not measured with “{name}” ({why})"),
        }
    }

    fn finding(self) -> FactorLevelFinding {
        let FactorLevel { name, part, scenario, a, b } = self.level;
        let (ratio, why) = match self.found {
            Ok(found) => (Some(found.ratio), None),
            Err(why) => (None, Some(why)),
        };
        FactorLevelFinding {
            name: name.clone(),
            part: part.clone(),
            scenario: scenario.clone(),
            of: format!("{a} over {b}"),
            ratio,
            remark: why.or(self.remark),
        }
    }
}
