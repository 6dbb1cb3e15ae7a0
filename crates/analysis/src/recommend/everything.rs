//! One for everything: the case whose worst scenario is the least bad.
//!
//! Each candidate has its share of the best in each scenario (the ratio that the table shows; the best is the first of the
//! table), and the lowest of these counts. A candidate is behind another if the ratio of their two shares, block by block, is
//! significantly below 1. The same figures chose the worst scenario, so with S scenarios each pair counts S times in the
//! adjustment for all pairs. Then a scenario that is the worst by chance does not make a difference look certain.
//!
//! The picks are the candidates before the first that is behind. A case that scatters may not be significantly behind any other.
//! This does not justify listing it and leaving out one with a higher share.
//!
//! The best all-rounder must satisfy more: in no scenario is another case faster. If the first candidate does not meet that,
//! there is no pick, and the words name the case that is least far behind.

use super::by_figure::MORE;
use super::changes::goodput_changes;
use super::strength::{CLEARLY_AHEAD, Marks, aa_caveat, caveats};
use super::{Said, Scene};
use crate::compare::ComparedMetric;
use crate::contest::by_block;
use crate::estimate::BlockRatio;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{CaseFinding, Verdict};
use crate::fit::Fit;
use crate::grouping::pairs_of;
use crate::noise::aa_effect;
use crate::slices::Comparand;
use crate::verdict::{Judged, Rule, judge};

/// A candidate in its worst scenario.
struct Candidate<'a> {
    case: &'a CaseFinding,
    scene: &'a Scene<'a>,
    /// Goodput over that of the scenario's best case, block by block.
    shares: Comparand,
    worst: f64,
}

/// `None` with fewer than two scenarios that compare, or fewer than two candidates.
pub(super) fn everything(scenes: &[Scene]) -> Option<Said> {
    said_of(&scenes.iter().collect::<Vec<&Scene>>(), Claim::AllRounder)
}

/// The case that is least far behind in these scenarios, even if another is faster in one of them.
pub(super) fn least_far_behind(scenes: &[&Scene]) -> Option<Said> {
    said_of(scenes, Claim::LeastFarBehind)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// No other case is faster in any scenario.
    AllRounder,
    /// Its worst share is the highest.
    LeastFarBehind,
}

fn said_of(scenes: &[&Scene], claim: Claim) -> Option<Said> {
    let compares = |scene: &&&Scene| {
        !scene.planned.load.executor.is_open() && scene.finding.cases.iter().filter(|case| case.ranked).count() > 1
    };
    let scenes: Vec<&Scene> = scenes.iter().filter(compares).copied().collect();
    let first = scenes.first().filter(|_| scenes.len() > 1)?;
    let subjects = first.finding.cases.iter().filter(|case| case.ranked).map(|case| case.subject.as_str());
    let mut candidates: Vec<Candidate> = subjects.filter_map(|subject| candidate(&scenes, subject)).collect();
    candidates.sort_by(|left, right| right.worst.total_cmp(&left.worst));
    (candidates.len() > 1).then(|| said(&scenes, &candidates, claim))
}

/// The subject in the scenario where its share is lowest, or `None` unless it is ranked in every scenario.
fn candidate<'a>(scenes: &[&'a Scene<'a>], subject: &str) -> Option<Candidate<'a>> {
    let of = |scene: &&'a Scene<'a>| {
        let ranked = || scene.finding.cases.iter().filter(|case| case.ranked);
        let (best, case) = (ranked().next()?, ranked().find(|case| case.subject == subject)?);
        let goodput = |case: &CaseFinding| by_block(scene.records, &case.case, ComparedMetric::Goodput, None);
        // The table's first case may be a reference, which is not a candidate.
        let of_first = |case: &CaseFinding| case.figures.of_first.as_ref().map(|ratio| ratio.value);
        let worst = if case.case == best.case { 1.0 } else { of_first(case)? / of_first(best).unwrap_or(1.0) };
        let (own, best) = (goodput(case), goodput(best));
        let in_block = |block: usize| own.log_ratio_in(&best, block).map(f64::exp);
        let shares: Vec<Option<f64>> = (0..own.values.len()).map(in_block).collect();
        Some(Candidate { case, scene, shares: shares.into(), worst })
    };
    let all: Option<Vec<Candidate>> = scenes.iter().map(of).collect();
    all?.into_iter().min_by(|left, right| left.worst.total_cmp(&right.worst))
}

fn pairs(scenes: &[&Scene], candidates: &[Candidate]) -> Vec<((usize, usize), Judged)> {
    let floors = scenes.iter().filter_map(|scene| scene.finding.noise_floor.as_ref());
    let widening = floors.map(|floor| floor.widening).fold(1.0, f64::max);
    let fit = Fit::of(candidates.iter().map(|candidate| &candidate.shares).collect()).widened(widening);
    let ratio = |(a, b): (usize, usize)| Some(((a, b), fit.ratio(a, b)?));
    let (places, ratios): (Vec<(usize, usize)>, Vec<BlockRatio>) = pairs_of(candidates.len()).filter_map(ratio).unzip();
    let rule =
        Rule { aa_effect: largest_aa_effect(scenes), widening, ..Rule::of(scenes[0].records.plan.smallest_effect) };
    // Each pair counts once for each scenario that could have been the worst.
    let family: Vec<BlockRatio> = scenes.iter().flat_map(|_| ratios.clone()).collect();
    places.into_iter().zip(judge(family, rule)).collect()
}

/// The largest significant difference of a noise check, over the scenarios.
fn largest_aa_effect(scenes: &[&Scene]) -> Option<f64> {
    let floors = scenes.iter().filter_map(|scene| aa_effect(scene.finding.noise_floor.as_ref()));
    floors.reduce(f64::max)
}

fn said(scenes: &[&Scene], candidates: &[Candidate], claim: Claim) -> Said {
    let scenarios: Vec<String> = scenes.iter().map(|scene| scene.finding.id.clone()).collect();
    let of_worst = |place: usize| {
        let Candidate { case, scene, worst, .. } = &candidates[place];
        format!("{} {} (in {})", case.title, amount(Quantity::Share, *worst), scene.finding.id)
    };
    // A case that is faster than a candidate, and the scenario.
    let faster = |place: usize| {
        let (subject, first) = (&candidates[place].case.subject, &candidates[0].case.subject);
        let counts = |other: &str| claim == Claim::AllRounder || other == first;
        scenes.iter().find_map(|scene| Some((told_faster(scene, subject, counts)?, scene.finding.id.as_str())))
    };
    if let Some((other, scenario)) = faster(0) {
        let because = format!("{}, the closest, is slower than {other} in {scenario}", of_worst(0));
        let changes = vec!["a study of fewer scenarios: one case may lead in all of them".to_owned()];
        return Said { scenarios, because, changes, ..Said::nothing() };
    }
    let pairs = pairs(scenes, candidates);
    let verdict = |a: usize, b: usize| pairs.iter().find(|(places, _)| *places == (a, b)).map(|(_, judged)| judged);
    let is_behind = |place: &usize| {
        faster(*place).is_some()
            || (0..*place).any(|a| verdict(a, *place).is_some_and(|it| it.verdict == Verdict::Faster))
    };
    let picks: Vec<usize> = (0..candidates.len()).take_while(|place| !is_behind(place)).collect();
    let behind: Vec<usize> = (picks.len()..candidates.len()).collect();
    let next = behind.first().and_then(|next| Some((*next, verdict(0, *next)?)));
    let Some((next, over)) = next else {
        let because = format!("the worst shares show no clear difference: {}, {}", of_worst(0), of_worst(1));
        let changes = vec![MORE.to_owned()];
        return Said { scenarios, because, changes, ..Said::nothing() };
    };
    let lead = over.pair.ratio.low.map_or(0.0, |low| (low - 1.0).max(0.0));
    let cases: Vec<&CaseFinding> = picks.iter().map(|place| candidates[*place].case).collect();
    let caveats = every_caveat(scenes, over.pair.blocks);
    let marks = Marks { is_clear: picks.len() == 1, is_far: lead >= CLEARLY_AHEAD, is_sound: caveats.is_empty() };
    let need = "a need that is not among these scenarios";
    let changes = goodput_changes(candidates[picks[0]].scene, cases.clone(), need);
    let blocks = counted(u64::from(over.pair.blocks), "round");
    let worst: Vec<String> = picks.iter().map(|place| of_worst(*place)).collect();
    Said {
        scenarios,
        picks: cases.iter().map(|case| case.title.clone()).collect(),
        because: format!(
            "share of the best where it is lowest: {}; the next, {}: {} as much, {blocks}",
            listed(&worst, "and"),
            of_worst(next),
            figure(Quantity::Ratio, &over.pair.ratio).line(),
        ),
        strength: marks.strength(),
        changes,
        caveats,
        lead,
    }
}

/// A case with a verdict of faster than the subject in a scenario, among those that count.
fn told_faster<'a>(scene: &Scene<'a>, subject: &str, counts: impl Fn(&str) -> bool) -> Option<&'a str> {
    let faster = scene.finding.comparisons.iter().find_map(|pair| match pair.verdict {
        Verdict::Faster if pair.b == subject => Some(&pair.a).filter(|other| counts(other)),
        Verdict::Slower if pair.a == subject => Some(&pair.b).filter(|other| counts(other)),
        _ => None,
    })?;
    let case = scene.finding.cases.iter().find(|case| case.subject == *faster);
    Some(case.map_or(faster, |case| &case.title))
}

/// The caveats of all scenarios' figures.
fn every_caveat(scenes: &[&Scene], blocks: u32) -> Vec<String> {
    let of = |scene: &&Scene| {
        let ranked: Vec<&CaseFinding> = scene.finding.cases.iter().filter(|case| case.ranked).collect();
        caveats(scene, &ranked, blocks, true)
    };
    scenes.iter().flat_map(of).chain(aa_caveat(largest_aa_effect(scenes))).collect()
}
