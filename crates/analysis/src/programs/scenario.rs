//! Scenarios of programs: from the records of their trials to what can be said of them.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use tolok_model::{Case, ProgramScenario};

use super::flags::{flags, is_at_floor};
use super::outliers;
use super::sentence::verdict_sentence;
use super::timings::{self, Timings};
use crate::case::{failures, places};
use crate::environment::Surroundings;
use crate::estimate::{BlockRatio, median, ratio_within_blocks, wider};
use crate::findings::{
    Better, NoiseFloor, ProgramCaseFinding, ProgramComparison, ProgramFinding, TimeComparison, Verdict,
};
use crate::noise::{noise_floor, told_of_itself};
use crate::outlier_blocks::outlier_blocks;
use crate::records::Records;
use crate::trial_findings;
use crate::verdict::{Judged, Rule, judge};

/// Wall times of one case, block by block.
type Blocks = Vec<Option<f64>>;

/// A scenario on its way to its finding, with what others compare it by.
pub(crate) struct Timed<'a> {
    pub(crate) scenario: &'a ProgramScenario,
    pub(crate) finding: ProgramFinding,
    /// Wall times by subject.
    pub(super) wall_s: BTreeMap<String, Blocks>,
    /// Mean wall times, as the timer says them, by subject.
    pub(super) mean_s: BTreeMap<String, Vec<f64>>,
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

/// Every scenario of programs, in the order of the study, but for how many blocks it would need.
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
    let noise_floor = noise_floor_of(records, scenario, &drafts);
    let rule = Rule { smallest_effect: plan.smallest_effect, told_of_itself: told_of_itself(noise_floor.as_ref()) };
    let comparisons = comparisons(&drafts, rule);
    relate(&mut drafts, &comparisons);

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
        verdict: verdict_sentence(&cases, &comparisons, plan.smallest_effect),
        cases,
        comparisons,
        noise_floor,
        power: None,
    };
    Timed { scenario, finding, wall_s, mean_s }
}

/// What is said of a case by itself; its relations to others come later.
fn draft(case: &Case, title: String, runtime: String, timings: &Timings, around: &Surroundings) -> Draft {
    let of = |figure: fn(&tolok_model::ProgramTiming) -> Option<f64>| median(timings.every(figure));
    let (wall_s, above_floor_s) = (of(timings::wall_s), of(timings::above_floor_s));
    let step = step(timings);
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
        trials: trial_findings::of_trials(timings, &|trial| timings::of_trial(trial).to_vec()),
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
        tier: None,
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

/// The coarsest step of its timer as a share of a wall time.
fn step(timings: &Timings) -> f64 {
    timings.timings().filter_map(timings::step).fold(0.0, f64::max)
}

/// How far apart the program that was entered twice came out; none without one, or where its halves share no block.
fn noise_floor_of(records: &Records, scenario: &ProgramScenario, drafts: &[Draft]) -> Option<NoiseFloor> {
    let plan = records.plan;
    let twin = plan.cases.iter().find(|case| case.scenario == scenario.id && case.twin_of.is_some())?;
    let first = drafts.iter().find(|draft| twin.twin_of.as_ref() == Some(&draft.finding.case))?;
    let again = Timings::of(&twin.id, plan, records.trials);
    let pair = ratio_within_blocks(&again.by_block(timings::wall_s), &first.wall_s)?;
    let pair = pair.read_in_steps([step(&again), first.step]);
    noise_floor((&first.finding.subject, &first.finding.title), pair, plan.smallest_effect, Better::Lower)
}

/// Every pair of ranked cases, the first in the table first. Times above the start are a family of their own.
fn comparisons(drafts: &[Draft], rule: Rule) -> Vec<ProgramComparison> {
    let ranked: Vec<&Draft> = drafts.iter().filter(|draft| draft.finding.ranked).collect();
    let pairs = ranked.iter().enumerate().flat_map(|(place, a)| ranked[place + 1..].iter().map(move |b| (*a, *b)));
    let of_wall = |(a, b): (&Draft, &Draft)| Some(read(ratio_within_blocks(&a.wall_s, &b.wall_s)?, a, b));
    // None if one of the two is not above 0 in a block that they share.
    let of_above = |(a, b): (&Draft, &Draft)| {
        Some(read(ratio_within_blocks(a.above_floor_s.as_ref()?, b.above_floor_s.as_ref()?)?, a, b))
    };
    let pairs: Vec<(&Draft, &Draft)> = pairs.filter(|pair| of_wall(*pair).is_some()).collect();
    let walls: Vec<BlockRatio> = pairs.iter().copied().filter_map(of_wall).collect();
    let above: Vec<Option<BlockRatio>> = pairs.iter().copied().map(of_above).collect();
    let mut judged_above = judge(above.iter().flatten().cloned().collect(), rule).into_iter();
    let judged = pairs.iter().zip(judge(walls, rule)).zip(above);
    let comparisons = judged.map(|(((a, b), wall), above)| ProgramComparison {
        a: a.finding.subject.clone(),
        b: b.finding.subject.clone(),
        wall: of_times(wall),
        above_floor: above.and_then(|_| judged_above.next()).map(of_times),
    });
    comparisons.collect()
}

/// The steps of two readings together.
fn read(pair: BlockRatio, a: &Draft, b: &Draft) -> BlockRatio {
    pair.read_in_steps([a.step, b.step])
}

/// The rule calls the larger one faster; of two times it is the shorter one.
fn of_times(judged: Judged) -> TimeComparison {
    TimeComparison {
        outlier_blocks: outlier_blocks(&judged.pair),
        simultaneous_low: judged.simultaneous.map(|interval| interval.low),
        simultaneous_high: judged.simultaneous.map(|interval| interval.high),
        p_adjusted: judged.p_adjusted,
        p_equivalence_adjusted: judged.p_equivalence_adjusted,
        blocks_won: judged.pair.ratio.trials.iter().filter(|ratio| **ratio < 1.0).count() as u32,
        blocks: judged.pair.blocks,
        verdict: Better::Lower.of(judged.verdict),
        ratio: judged.pair.ratio,
    }
}

/// Puts every ranked case beside the first, and into its tiers.
fn relate(drafts: &mut [Draft], comparisons: &[ProgramComparison]) {
    let ranked = drafts.first().filter(|draft| draft.finding.ranked);
    let Some((first, first_step)) = ranked.map(|draft| (draft.wall_s.clone(), draft.step)) else { return };
    let of_ranked = drafts.iter().filter(|draft| draft.finding.ranked);
    let subjects: Vec<String> = of_ranked.map(|draft| draft.finding.subject.clone()).collect();
    let verdicts: Vec<(&str, &str, Verdict)> =
        comparisons.iter().map(|pair| (pair.a.as_str(), pair.b.as_str(), pair.wall.verdict)).collect();
    // Ranked cases stand before the others.
    for (place, (draft, (tier, against_first))) in drafts.iter_mut().zip(places(&subjects, &verdicts)).enumerate() {
        // The first over itself is 1 whatever its timer.
        let steps = if place == 0 { [0.0, 0.0] } else { [draft.step, first_step] };
        let of_first = ratio_within_blocks(&draft.wall_s, &first);
        draft.finding.of_first = of_first.map(|found| found.read_in_steps(steps).ratio);
        (draft.finding.tier, draft.finding.against_first) = (Some(tier), against_first);
    }
}
