//! Programs that are timed: from the records of their trials to what can be said of them.
//!
//! A part a file: `timings.rs` has the figures of a trial, `outliers.rs` and `flags.rs` the rules, `sentence.rs` the words,
//! `series.rs` lays scenarios of one workload beside each other, and `timers.rs` those of several timers.

pub(crate) mod findings;
mod flags;
mod outliers;
mod sentence;
mod series;
mod timers;
mod timings;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use tolok_model::{Case, ProgramScenario};

pub use flags::AT_FLOOR;
pub use outliers::{FEWEST_RUNS_FOR_OUTLIERS, OUTLIER_SD};
pub(crate) use series::series;
pub use timers::timer_title;
pub(crate) use timers::timers;
pub use timings::COARSE_TIMER;

use crate::analyse::{Records, failures};
use crate::environment::Surroundings;
use crate::estimate::{median, ratio_within_blocks};
use crate::findings::{Estimate, Verdict};
use crate::verdict::verdict;
use findings::{ProgramCaseFinding, ProgramComparison, ProgramFinding, TimeComparison};
use flags::{flags, is_at_floor};
use sentence::verdict_sentence;
use timings::Timings;

/// Steps below this share of a time are not spoken of.
const NEGLIGIBLE_STEP: f64 = 0.001;

/// Wall times of one case, block by block.
type Blocks = Vec<Option<f64>>;

/// A scenario on its way to its finding, with what others compare it by.
pub(crate) struct Timed<'a> {
    pub(crate) scenario: &'a ProgramScenario,
    pub(crate) finding: ProgramFinding,
    /// Wall times by subject.
    wall_s: BTreeMap<String, Blocks>,
    /// Mean wall times, as the timer says them, by subject.
    mean_s: BTreeMap<String, Vec<f64>>,
}

/// A case on its way: what is said of it, and the times that it is compared by.
struct Draft {
    finding: ProgramCaseFinding,
    wall_s: Blocks,
    /// Nothing of a case whose work cannot be told from its start.
    above_floor_s: Option<Blocks>,
    mean_s: Vec<f64>,
    /// Its timer's step as a share of its wall time.
    step: f64,
}

/// Every scenario of programs, in the order of the study.
pub(crate) fn timed<'a>(records: &Records<'a>) -> Vec<Timed<'a>> {
    records.plan.programs.iter().map(|scenario| of_scenario(records, scenario)).collect()
}

fn of_scenario<'a>(records: &Records<'a>, scenario: &'a ProgramScenario) -> Timed<'a> {
    let (plan, names) = (records.plan, records.names);
    let around = Surroundings::of_program(scenario, plan, records.run);
    let own: Vec<&Case> = plan.cases.iter().filter(|case| case.scenario == scenario.id && case.competes()).collect();
    let observed: Vec<Timings> = own.iter().map(|case| Timings::of(&case.id, plan, records.trials)).collect();
    let siblings = |case: &Case| own.iter().filter(|other| other.subject.subject == case.subject.subject).count();
    let draft = |(case, timings): (&&Case, &Timings)| {
        let title = names.title(&case.subject, siblings(case) > 1);
        draft(case, title, names.runtime(&case.subject.subject), timings, &around)
    };
    let mut drafts: Vec<Draft> = own.iter().zip(&observed).map(draft).collect();
    drafts.sort_by(|left, right| order(&left.finding, &right.finding));
    let comparisons = comparisons(&drafts, plan.smallest_effect);
    relate(&mut drafts, plan.smallest_effect);

    let scored = || observed.iter().flat_map(Timings::timings);
    let mut timer_versions: Vec<String> = scored().map(|timing| timing.timer.version.clone()).collect();
    timer_versions.sort_unstable();
    timer_versions.dedup();
    let by_subject = |draft: &Draft| (draft.finding.subject.clone(), draft.wall_s.clone());
    let means = |draft: &Draft| (draft.finding.subject.clone(), draft.mean_s.clone());
    let (wall_s, mean_s) = (drafts.iter().map(by_subject).collect(), drafts.iter().map(means).collect());
    let cases: Vec<ProgramCaseFinding> = drafts.into_iter().map(|draft| draft.finding).collect();
    let finding = ProgramFinding {
        id: scenario.id.clone(),
        workload: scenario.workload.clone(),
        title: names.workload(&scenario.workload),
        runs: scenario.runs.describe(),
        timer: scenario.timer.word().to_owned(),
        timer_versions,
        timer_resolution_s: scored().map(|timing| timing.resolution_s).reduce(f64::max),
        environment: around.of_program_finding(),
        verdict: verdict_sentence(&cases, &comparisons),
        cases,
        comparisons,
    };
    Timed { scenario, finding, wall_s, mean_s }
}

/// What is said of a case by itself; its relations to others come later.
fn draft(case: &Case, title: String, runtime: String, timings: &Timings, around: &Surroundings) -> Draft {
    let of = |figure: fn(&tolok_model::ProgramTiming) -> Option<f64>| median(timings.every(figure));
    let (wall_s, above_floor_s) = (of(timings::wall_s), of(timings::above_floor_s));
    let step = timings.timings().filter_map(timings::step).fold(0.0, f64::max);
    let wall_s = wall_s.map(|wall_s| wider(wall_s, step));
    let is_at_floor = above_floor_s.as_ref().zip(wall_s.as_ref()).is_some_and(|(above, wall)| is_at_floor(above, wall));
    let has_above = above_floor_s.is_some() && !is_at_floor;
    let mut finding = ProgramCaseFinding {
        case: case.id.clone(),
        subject: case.subject.label.clone(),
        title,
        runtime,
        trials_planned: timings.planned,
        trials_measured: (timings.scored.len() + timings.disturbed.len()) as u32,
        trials_scored: timings.scored.len() as u32,
        disturbed: timings.disturbed_trials(),
        reruns: timings.reruns,
        failures: failures(&timings.failed),
        runs: timings.timings().map(|timing| timing.runs.len() as u32).sum(),
        floor_runs: timings.timings().map(|timing| timing.floor.len() as u32).sum(),
        cpu_s: of(timings::cpu_s),
        user_s: of(timings::user_s),
        system_s: of(timings::system_s),
        cpu_is_mean: timings.timings().any(timings::tells_mean_cpu_only),
        rss_bytes: of(timings::rss_bytes),
        floor_s: of(timings::floor_s),
        floor_cpu_s: of(timings::floor_cpu_s),
        floor_rss_bytes: of(timings::floor_rss_bytes),
        above_floor_cpu_s: of(timings::above_floor_cpu_s),
        busy: of(timings::busy),
        fastest_run_s: timings.walls().reduce(f64::min),
        slowest_run_s: timings.walls().reduce(f64::max),
        outliers: timings.timings().flat_map(outliers::outliers).filter(|is_outlier| *is_outlier).count() as u32,
        of_first: None,
        against_first: None,
        flags: Vec::new(),
        ranked: false,
        wall_s,
        above_floor_s,
        is_at_floor,
    };
    finding.flags = flags(&finding, timings, around);
    finding.ranked = finding.wall_s.is_some() && !finding.flags.iter().any(|flag| flag.voids_rank);
    Draft {
        finding,
        wall_s: timings.by_block(timings::wall_s),
        above_floor_s: has_above.then(|| timings.by_block(timings::above_floor_s)),
        mean_s: timings.every(timings::mean_s),
        step,
    }
}

/// Ranked before unranked, the shorter time first; names decide between equals, so that the order is always the same.
fn order(left: &ProgramCaseFinding, right: &ProgramCaseFinding) -> Ordering {
    let wall_s = |case: &ProgramCaseFinding| case.wall_s.as_ref().map_or(f64::INFINITY, |wall| wall.value);
    (right.ranked.cmp(&left.ranked))
        .then_with(|| wall_s(left).total_cmp(&wall_s(right)))
        .then_with(|| left.case.cmp(&right.case))
}

/// Every pair of ranked cases, the first in the table first.
fn comparisons(drafts: &[Draft], smallest_effect: f64) -> Vec<ProgramComparison> {
    let ranked: Vec<&Draft> = drafts.iter().filter(|draft| draft.finding.ranked).collect();
    let pairs = ranked.iter().enumerate().flat_map(|(place, a)| ranked[place + 1..].iter().map(move |b| (a, b)));
    let compared = |(a, b): (&&Draft, &&Draft)| {
        let above = a.above_floor_s.as_ref().zip(b.above_floor_s.as_ref());
        let (a_step, b_step) = (a.step, b.step);
        Some(ProgramComparison {
            a: a.finding.subject.clone(),
            b: b.finding.subject.clone(),
            wall: compare(&a.wall_s, &b.wall_s, of_both(a.step, b.step), smallest_effect)?,
            above_floor: above.and_then(|(a, b)| compare(a, b, of_both(a_step, b_step), smallest_effect)),
        })
    };
    pairs.filter_map(compared).collect()
}

/// Compares two times; none if they share no block, or one of them is not above 0 in a block that they share.
fn compare(a: &[Option<f64>], b: &[Option<f64>], step: f64, smallest_effect: f64) -> Option<TimeComparison> {
    let found = ratio_within_blocks(a, b)?;
    let blocks_won = found.ratio.trials.iter().filter(|ratio| **ratio < 1.0).count() as u32;
    let ratio = wider(found.ratio, step);
    let verdict = of_times(verdict(&ratio, smallest_effect));
    Some(TimeComparison { ratio, blocks_won, blocks: found.blocks, verdict })
}

/// A reading of a timer stands for all times within one of its steps, so an interval of readings is wider by a step at either
/// end. Without this, two equal programs on either side of a step would differ with certainty.
fn wider(estimate: Estimate, step: f64) -> Estimate {
    // Of a time that the timer cannot tell from none nothing more can be said.
    if step < NEGLIGIBLE_STEP || !step.is_finite() {
        return estimate;
    }
    let (low, high) = (estimate.low.map(|low| low / (1.0 + step)), estimate.high.map(|high| high * (1.0 + step)));
    Estimate { low, high, ..estimate }
}

/// The steps of two readings together.
fn of_both(a: f64, b: f64) -> f64 {
    (1.0 + a) * (1.0 + b) - 1.0
}

/// The rule for goodput calls the larger one faster; of two times it is the shorter one.
fn of_times(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        other => other,
    }
}

/// Puts every ranked case beside the first.
fn relate(drafts: &mut [Draft], smallest_effect: f64) {
    let ranked = drafts.first().filter(|draft| draft.finding.ranked);
    let Some((first, step)) = ranked.map(|draft| (draft.wall_s.clone(), draft.step)) else { return };
    for (place, draft) in drafts.iter_mut().enumerate().filter(|(_, draft)| draft.finding.ranked) {
        // The first over itself is 1 whatever its timer.
        let step = if place == 0 { 0.0 } else { of_both(draft.step, step) };
        draft.finding.of_first = ratio_within_blocks(&draft.wall_s, &first).map(|found| wider(found.ratio, step));
        let of_first = draft.finding.of_first.as_ref();
        // Without a common block there is no ratio, and no verdict but this one.
        let against = of_first.map_or(Verdict::CannotTell, |ratio| of_times(verdict(ratio, smallest_effect)));
        draft.finding.against_first = (place > 0).then_some(against);
    }
}
