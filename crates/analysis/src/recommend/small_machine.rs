//! Recommends subjects for little memory, by correct responses per second per MiB.
//!
//! The figure is goodput over memory within each trial, and the general rule judges the pairs.

use tolok_model::Measurement;

use super::by_figure::{MORE, nobody};
use super::changes::goodput_changes;
use super::strength::{CLEARLY_AHEAD, Marks, aa_caveat, caveats};
use super::{Said, Scene};
use crate::estimate::median;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::findings::{CaseFinding, Verdict};
use crate::fit::Fit;
use crate::noise::{NoiseCheck, second_halves};
use crate::observations::{Observations, goodput};
use crate::slices::Comparand;
use crate::verdict::{Judged, judge_pairs};

const MIB: f64 = 1024.0 * 1024.0;

/// A case with its responses per second per MiB.
struct Candidate<'a> {
    case: &'a CaseFinding,
    value: f64,
    by_block: Comparand,
}

/// `None` in an open loop, where the rate is fixed, or with fewer than two ranked cases with known memory.
pub(super) fn small_machine(scene: &Scene) -> Option<Said> {
    if scene.planned.load.executor.is_open() {
        return None;
    }
    let ranked = scene.finding.cases.iter().filter(|case| case.ranked);
    let mut candidates: Vec<Candidate> = ranked.filter_map(|case| candidate(scene, case)).collect();
    let fit = Fit::of(candidates.iter().map(|candidate| &candidate.by_block).collect());
    let values: Vec<Option<f64>> = (0..candidates.len()).map(|place| Some(fit.value(place)?.value)).collect();
    for (candidate, value) in candidates.iter_mut().zip(values) {
        candidate.value = value.unwrap_or(candidate.value);
    }
    candidates.sort_by(|left, right| right.value.total_cmp(&left.value));
    (candidates.len() > 1).then(|| said(scene, &candidates))
}

fn candidate<'a>(scene: &Scene<'a>, case: &'a CaseFinding) -> Option<Candidate<'a>> {
    let observed = Observations::of(&case.case, scene.records.plan, scene.records.trials);
    let value = median(observed.every(|trial| per_mib(scene, trial)))?.value;
    Some(Candidate { case, value, by_block: observed.by_block(|trial| per_mib(scene, trial)).into() })
}

fn per_mib(scene: &Scene, trial: &Measurement) -> Option<f64> {
    let bytes = scene.finding.memory_source?.bytes(trial).filter(|bytes| *bytes > 0.0)?;
    Some(goodput(trial)? / (bytes / MIB))
}

/// The noise check of this figure by the subjects that were entered twice.
fn noise_check(scene: &Scene, candidates: &[Candidate]) -> Option<NoiseCheck> {
    let plan = scene.records.plan;
    let of = |case: &str| -> Comparand {
        Observations::of(case, plan, scene.records.trials).by_block(|trial| per_mib(scene, trial)).into()
    };
    let place = |id: &str| candidates.iter().position(|candidate| candidate.case.case == *id);
    let halves = second_halves(plan, &scene.finding.id).into_iter();
    let found: Vec<(usize, Comparand)> = halves.filter_map(|(twin, first)| Some((place(first)?, of(twin)))).collect();
    let rows: Vec<&Comparand> = candidates.iter().map(|candidate| &candidate.by_block).collect();
    NoiseCheck::of(&rows, &found.iter().map(|(first, again)| (*first, again)).collect::<Vec<_>>())
}

fn said(scene: &Scene, candidates: &[Candidate]) -> Said {
    let check = noise_check(scene, candidates);
    let rule = NoiseCheck::rule(check.as_ref(), scene.records.plan.smallest_effect);
    let fit = Fit::of(candidates.iter().map(|candidate| &candidate.by_block).collect()).widened(rule.widening);
    let pairs = judge_pairs(candidates.len(), |a, b| fit.ratio(a, b), rule);
    let find = |a: usize, b: usize| pairs.iter().find(|(places, _)| *places == (a, b)).map(|(_, judged)| judged);
    let is_ahead = |judged: &Judged| judged.verdict == Verdict::Faster;
    let is_behind = |place: &usize| (0..*place).any(|a| find(a, *place).is_some_and(is_ahead));
    // A case with too few blocks in common with the first is neither picked nor rejected.
    let is_known = |place: &usize| *place == 0 || find(0, *place).is_some_and(|it| it.pair.ratio.low.is_some());
    let judged: Vec<usize> = (0..candidates.len()).filter(is_known).collect();
    let is_whole = judged.len() == candidates.len();
    // No case is picked after one with a higher figure was rejected.
    let picks: Vec<usize> = judged.iter().copied().take_while(|place| !is_behind(place)).collect();
    let behind = &judged[picks.len()..];
    let value = |place: usize| {
        let Candidate { case, value, .. } = &candidates[place];
        format!("{} {}/s for each MiB", case.title, amount(Quantity::Number, *value))
    };
    let Some((next, over)) = behind.first().and_then(|next| Some((*next, find(0, *next)?))) else {
        let because = format!("no two show a clear difference: {}, {}", value(0), value(1));
        return nobody(scene, because, vec![MORE.to_owned()]);
    };
    let cases: Vec<&CaseFinding> = picks.iter().map(|place| candidates[*place].case).collect();
    let mut caveats = caveats(scene, &cases, over.pair.blocks, true);
    caveats.extend(aa_caveat(rule.aa_effect));
    let lead = over.pair.ratio.low.map_or(0.0, |low| (low - 1.0).max(0.0));
    let is_clear = picks.len() == 1 && is_whole;
    let marks = Marks { is_clear, is_far: lead >= CLEARLY_AHEAD, is_sound: caveats.is_empty() };
    let ratio = figure(Quantity::Ratio, &over.pair.ratio).line();
    let blocks = counted(u64::from(over.pair.blocks), "round");
    let values: Vec<String> = picks.iter().map(|place| value(*place)).collect();
    let because = format!("{}; {ratio} the next, {}, {blocks}", listed(&values, "and"), value(next));
    let said = Said::of(scene, &cases, because, marks.strength());
    let changes = goodput_changes(scene, cases, "a machine on which memory is not scarce");
    Said { changes, caveats, lead, ..said }
}
