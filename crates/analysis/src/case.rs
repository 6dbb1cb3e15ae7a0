//! What cases of servers and of programs have in common.

use std::cmp::Ordering;

use tolok_model::{Case, Failure, FailureKind, Plan};

use crate::estimate::{BlockRatio, geometric_mean, wider};
use crate::figure::program::ProgramFigures;
use crate::figure::server::ServerFigures;
use crate::findings::{Better, CaseFinding, Comparison, Estimate, NoiseFloor, TrialFailure, TrialFinding, Verdict};
use crate::fit::Fit;
use crate::flag::Flag;
use crate::names::Names;
use crate::noise::{NoiseCheck, second_halves};
use crate::observations::{Found, Trials};
use crate::slices::Comparand;
use crate::tiers::tiers;
use crate::verdict::{Rule, judge_pairs};

/// The figure that cases are compared by.
pub(crate) trait Headline {
    /// Which way is better.
    const BETTER: Better;

    fn median(&self) -> Option<&Estimate>;

    /// The same as tables show it: the geometric mean that matches their ratios.
    fn typical(&mut self) -> &mut Option<Estimate>;

    /// The estimate that tables show.
    fn headline(&self) -> Option<&Estimate>;

    /// Its ratio to that of the first case.
    fn of_first(&mut self) -> &mut Option<Estimate>;
}

impl Headline for ServerFigures {
    const BETTER: Better = Better::Higher;

    fn median(&self) -> Option<&Estimate> {
        self.goodput_rps.as_ref()
    }

    fn typical(&mut self) -> &mut Option<Estimate> {
        &mut self.goodput_typical_rps
    }

    fn headline(&self) -> Option<&Estimate> {
        self.shown_goodput_rps()
    }

    fn of_first(&mut self) -> &mut Option<Estimate> {
        &mut self.of_first
    }
}

impl Headline for ProgramFigures {
    const BETTER: Better = Better::Lower;

    fn median(&self) -> Option<&Estimate> {
        self.wall_s.as_ref()
    }

    fn typical(&mut self) -> &mut Option<Estimate> {
        &mut self.wall_typical_s
    }

    fn headline(&self) -> Option<&Estimate> {
        self.shown_wall_s()
    }

    fn of_first(&mut self) -> &mut Option<Estimate> {
        &mut self.of_first
    }
}

/// A case before it is related to others.
pub(crate) struct Draft<F> {
    pub(crate) finding: CaseFinding<F>,
    /// The values it is compared by, block by block.
    pub(crate) blocks: Comparand,
    /// The coarsest step of its timer as a share of these values; 0 for a timer without steps.
    pub(crate) step: f64,
}

/// The finding of a single case, without its relation to others.
pub(crate) fn finding<T: Found, F: Headline>(
    case: &Case,
    names: &Names,
    own: &[&Case],
    trials: &Trials<T>,
    (figures, flags, found): (F, Vec<Flag>, Vec<TrialFinding>),
) -> CaseFinding<F> {
    let siblings = own.iter().filter(|other| other.subject.subject == case.subject.subject).count();
    CaseFinding {
        case: case.id.clone(),
        subject: case.subject.label.clone(),
        title: names.title(&case.subject, siblings > 1),
        short: names.short(&case.subject, siblings > 1),
        runtime: names.runtime(&case.subject.subject),
        trials_planned: trials.planned,
        trials_measured: trials.measured().count() as u32,
        trials_scored: trials.scored.len() as u32,
        reruns: trials.reruns,
        failures: failures(&trials.failed),
        trials: found,
        ranked: figures.headline().is_some() && !flags.iter().any(|flag| flag.voids_rank),
        figures,
        against_first: None,
        tier: None,
        flags,
    }
}

/// Ranked before unranked, the better figure first. Names break ties, so the order is deterministic.
fn order<F: Headline>(left: &CaseFinding<F>, right: &CaseFinding<F>) -> Ordering {
    let better = |left: &Estimate, right: &Estimate| match F::BETTER {
        Better::Higher => right.value.total_cmp(&left.value),
        Better::Lower => left.value.total_cmp(&right.value),
    };
    let by_figure = match (left.figures.headline(), right.figures.headline()) {
        (Some(left), Some(right)) => better(left, right),
        (left, right) => right.is_some().cmp(&left.is_some()),
    };
    (right.ranked.cmp(&left.ranked)).then(by_figure).then_with(|| left.case.cmp(&right.case))
}

/// Gives every case the value that tables show, and sorts the cases by it. Ranked cases are fitted together. Others get the
/// geometric mean of their own trials.
pub(crate) fn settle<F: Headline>(drafts: &mut [Draft<F>]) {
    let ranked: Vec<usize> = (0..drafts.len()).filter(|place| drafts[*place].finding.ranked).collect();
    let fit = Fit::of(ranked.iter().map(|place| &drafts[*place].blocks).collect());
    let fitted: Vec<Option<Estimate>> = (0..ranked.len()).map(|place| fit.value(place)).collect();
    for draft in drafts.iter_mut() {
        let trials = draft.finding.figures.median().map(|median| median.trials.clone()).unwrap_or_default();
        *draft.finding.figures.typical() = geometric_mean(&trials);
    }
    for (place, value) in ranked.into_iter().zip(fitted) {
        if value.is_some() {
            *drafts[place].finding.figures.typical() = value;
        }
    }
    for draft in drafts.iter_mut() {
        let step = draft.step;
        let typical = draft.finding.figures.typical();
        *typical = typical.take().map(|value| wider(value, step));
    }
    drafts.sort_by(|left, right| order(&left.finding, &right.finding));
}

/// Every pair of ranked cases that share a block, the first in the table first. All are judged together by their `blocks`.
pub(crate) fn comparisons<'a, F: Headline>(
    drafts: &'a [Draft<F>],
    blocks: &dyn Fn(&'a Draft<F>) -> Option<&'a Comparand>,
    rule: Rule,
) -> Vec<Comparison> {
    let ranked: Vec<&'a Draft<F>> = drafts.iter().filter(|draft| draft.finding.ranked).collect();
    let none = Comparand::default();
    let fit = Fit::of(ranked.iter().map(|draft| blocks(draft).unwrap_or(&none)).collect()).widened(rule.widening);
    let ratio = |a: usize, b: usize| Some(fit.ratio(a, b)?.read_in_steps([ranked[a].step, ranked[b].step]));
    let subject = |place: usize| ranked[place].finding.subject.clone();
    let judged = judge_pairs(ranked.len(), ratio, rule).into_iter();
    judged.map(|((a, b), pair)| Comparison { a: subject(a), b: subject(b), by: pair.finding(F::BETTER) }).collect()
}

/// How much cases that were entered twice differ from themselves, and the rule for judging pairs that follows from it. `again`
/// gives the blocks of a second half and its step. There is no finding without such a case, or if no halves share a block.
pub(crate) fn noise_floor_of<F: Headline>(
    plan: &Plan,
    scenario: &str,
    drafts: &[Draft<F>],
    again: impl Fn(&str) -> (Comparand, f64),
) -> (Option<NoiseFloor>, Rule) {
    let halves = second_halves(plan, scenario);
    let is_entered_twice = |draft: &Draft<F>| halves.iter().any(|(_, first)| **first == draft.finding.case);
    let has_ranked = drafts.iter().any(|draft| draft.finding.ranked && is_entered_twice(draft));
    // Unranked cases say nothing about the noise of ranked ones, unless there are no others.
    let is_meant = |draft: &&Draft<F>| draft.finding.ranked || (!has_ranked && is_entered_twice(draft));
    let cases: Vec<&Draft<F>> = drafts.iter().filter(is_meant).collect();
    let place = |id: &str| cases.iter().position(|draft| draft.finding.case == *id);
    let found: Vec<(usize, Comparand, f64)> = halves
        .iter()
        .filter_map(|(twin, first)| {
            let (figures, step) = again(twin);
            Some((place(first)?, figures, step))
        })
        .collect();
    let step = found.iter().map(|(first, _, step)| step.max(cases[*first].step)).fold(0.0, f64::max);
    let rows: Vec<&Comparand> = cases.iter().map(|draft| &draft.blocks).collect();
    let check = NoiseCheck::of(&rows, &found.iter().map(|(first, again, _)| (*first, again)).collect::<Vec<_>>());
    let check = check.map(|check| check.read_in_steps(step));
    let names: Vec<(&str, &str)> =
        cases.iter().map(|draft| (draft.finding.subject.as_str(), draft.finding.title.as_str())).collect();
    let finding = check.as_ref().and_then(|check| check.finding(&names, plan.smallest_effect, F::BETTER));
    (finding, NoiseCheck::rule(check.as_ref(), plan.smallest_effect))
}

/// Relates every ranked case to the first, and assigns its tiers. `comparisons` has every pair of ranked cases.
pub(crate) fn relate<F: Headline>(drafts: &mut [Draft<F>], comparisons: &[Comparison], rule: Rule) {
    let Some(first_step) = drafts.first().filter(|draft| draft.finding.ranked).map(|draft| draft.step) else { return };
    let fit = Fit::of(drafts.iter().filter(|it| it.finding.ranked).map(|it| &it.blocks).collect());
    let fit = fit.widened(rule.widening);
    let of_first: Vec<Option<BlockRatio>> = (0..drafts.iter().filter(|it| it.finding.ranked).count())
        .map(|place| if place == 0 { drafts[0].blocks.over(&drafts[0].blocks) } else { fit.ratio(place, 0) })
        .collect();
    let ranked: Vec<String> =
        drafts.iter().filter(|it| it.finding.ranked).map(|it| it.finding.subject.clone()).collect();
    // Ranked cases come before the others.
    let places = places(&ranked, comparisons).into_iter().zip(of_first).enumerate();
    for (draft, (place, ((tier, against_first), found))) in drafts.iter_mut().zip(places) {
        // The ratio of the first to itself is 1, whatever its timer.
        let steps = if place == 0 { [0.0, 0.0] } else { [draft.step, first_step] };
        *draft.finding.figures.of_first() = found.map(|found| found.read_in_steps(steps).ratio);
        (draft.finding.tier, draft.finding.against_first) = (Some(tier), against_first);
    }
}

/// The tiers of each ranked subject, in order, and its verdict against the first. The first has no verdict.
fn places(ranked: &[String], comparisons: &[Comparison]) -> Vec<(String, Option<Verdict>)> {
    let place = |subject: &String| ranked.iter().position(|known| known == subject);
    let apart = comparisons.iter().filter(|pair| pair.verdict.is_told_apart());
    let apart: Vec<(usize, usize)> = apart.filter_map(|pair| place(&pair.a).zip(place(&pair.b))).collect();
    let against_first = |at: usize| {
        let pair = comparisons.iter().find(|pair| place(&pair.a) == Some(0) && place(&pair.b) == Some(at));
        // Without a common block there is no ratio, so the verdict is *cannot tell*.
        (at > 0).then(|| pair.map_or(Verdict::CannotTell, |pair| pair.verdict.turned()))
    };
    tiers(ranked.len(), &apart).into_iter().enumerate().map(|(at, tier)| (tier, against_first(at))).collect()
}

fn failures(failed: &[(u32, &Failure)]) -> Vec<TrialFailure> {
    // A runtime is not to blame for the database that it uses.
    let blame = |failure: &Failure| match failure.reason {
        FailureKind::DatabaseFailed => "the database’s failure, and not the subject’s: ",
        _ => "",
    };
    let failure = |(trial, failure): &(u32, &Failure)| TrialFailure {
        trial: *trial,
        reason: failure.reason.word().to_owned(),
        message: format!("{}{}", blame(failure), failure.message),
    };
    failed.iter().map(failure).collect()
}
