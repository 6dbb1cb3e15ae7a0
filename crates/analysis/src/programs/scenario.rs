//! Derives the findings of program scenarios from the records of their trials.

use std::collections::BTreeMap;

use tolok_model::{Case, ProgramScenario};

use super::flags::{flags, is_at_floor};
use super::sentence::verdict_sentence;
use super::timings::{self, Timings, above_floor_in_turns, coarsest_step, wall_in_turns};
use crate::case::{Draft, comparisons, finding, noise_floor_of, relate, settle};
use crate::environment::Surroundings;
use crate::figure::program::{PROGRAM_TRIALS, ProgramFigures};
use crate::figure::table::{Around, Readings};
use crate::findings::{Comparison, ProgramCaseFinding, ProgramComparison, ProgramFinding};
use crate::grouping::sorted_once;
use crate::names::Names;
use crate::records::Records;
use crate::slices::{Comparand, turns_finding};
use crate::trial_findings::of_trials;

/// Wall times of one case, block by block.
type Blocks = Vec<Option<f64>>;

/// A scenario with its finding in progress, and the figures that others compare it by.
pub(crate) struct Timed<'a> {
    pub(crate) scenario: &'a ProgramScenario,
    pub(crate) finding: ProgramFinding,
    pub(super) wall_s: BTreeMap<String, Blocks>,
    /// Mean wall times as the timer reports them, by subject.
    pub(super) mean_s: BTreeMap<String, Vec<f64>>,
}

/// A case before it is related to others, with the times that only programs have.
struct TimedDraft {
    draft: Draft<ProgramFigures>,
    /// Absent if the work of the case is indistinguishable from its start.
    above_floor_s: Option<Comparand>,
    mean_s: Vec<f64>,
}

/// Every scenario of programs, in the order of the study, without the number of blocks that it needs.
pub(crate) fn timed<'a>(records: &Records<'a>) -> Vec<Timed<'a>> {
    records.plan.programs.iter().map(|scenario| of_scenario(records, scenario)).collect()
}

fn of_scenario<'a>(records: &Records<'a>, scenario: &'a ProgramScenario) -> Timed<'a> {
    let (plan, names) = (records.plan, records.names);
    let around = Surroundings::of_program(scenario, plan, records.run);
    let own: Vec<&Case> = plan.cases.iter().filter(|case| case.scenario == scenario.id && case.competes()).collect();
    let observed: Vec<Timings> = own.iter().map(|case| Timings::of(&case.id, plan, records.trials)).collect();
    let timed = own.iter().zip(&observed).map(|(case, timings)| draft(case, &own, names, timings, &around));
    let (mut drafts, mut above_s, mut mean_s) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for TimedDraft { draft, above_floor_s, mean_s: means } in timed {
        above_s.extend(above_floor_s.map(|above_s| (draft.finding.case.clone(), above_s)));
        mean_s.insert(draft.finding.subject.clone(), means);
        drafts.push(draft);
    }
    settle(&mut drafts);
    let again = |twin: &str| {
        let again = Timings::of(twin, plan, records.trials);
        (wall_in_turns(&again), coarsest_step(&again))
    };
    let (noise_floor, rule) = noise_floor_of(plan, &scenario.id, &drafts, again);
    let walls = comparisons(&drafts, &|draft| Some(&draft.blocks), rule);
    // Times above the start are a family of their own. A time that is not above 0 in a common block has no ratio.
    let above = comparisons(&drafts, &|draft| above_s.get(&draft.finding.case), rule);
    relate(&mut drafts, &walls, rule);

    let scored = || observed.iter().flat_map(Timings::trials);
    let wall_s = drafts.iter().map(|draft| (draft.finding.subject.clone(), draft.blocks.values.clone())).collect();
    let cases: Vec<ProgramCaseFinding> = drafts.into_iter().map(|draft| draft.finding).collect();
    let timings_of = |case: &ProgramCaseFinding| own.iter().position(|own| own.id == case.case).map(|at| &observed[at]);
    let ranked: Vec<(&ProgramCaseFinding, &Timings)> =
        cases.iter().filter(|case| case.ranked).filter_map(|case| Some((case, timings_of(case)?))).collect();
    let turns = turns_finding(scenario, &ranked);
    let finding = ProgramFinding {
        id: scenario.id.clone(),
        workload: scenario.workload.clone(),
        title: names.workload(&scenario.workload),
        runs: scenario.describe(),
        timer: scenario.timer.word().to_owned(),
        timer_versions: sorted_once(scored().map(|timing| timing.timer.version.clone())),
        timer_resolution_s: scored().map(|timing| timing.resolution_s).reduce(f64::max),
        environment: around.of_program_finding(),
        verdict: verdict_sentence(&cases, (&walls, &above), plan.smallest_effect, |case| records.is_reference(case)),
        cases,
        comparisons: walls.into_iter().map(|wall| with_above(wall, &above)).collect(),
        noise_floor,
        turns,
        power: None,
    };
    Timed { scenario, finding, wall_s, mean_s }
}

/// A single case, without its relations to others.
fn draft(case: &Case, own: &[&Case], names: &Names, timings: &Timings, around: &Surroundings) -> TimedDraft {
    let readings = Readings { trials: timings, around: &Around::default() };
    let mut figures = ProgramFigures::of(&readings);
    let both = figures.above_floor_s.as_ref().zip(figures.wall_s.as_ref());
    figures.is_at_floor = both.is_some_and(|(above, wall)| is_at_floor(above, wall));
    let has_above = figures.above_floor_s.is_some() && !figures.is_at_floor;
    let flags = flags(&figures, timings, around);
    let finding = finding(case, names, own, timings, (figures, flags, of_trials(&readings, &[PROGRAM_TRIALS])));
    TimedDraft {
        draft: Draft { finding, blocks: wall_in_turns(timings), step: coarsest_step(timings) },
        above_floor_s: has_above.then(|| above_floor_in_turns(timings)),
        mean_s: timings.every(timings::mean_s),
    }
}

/// The comparison of wall times, with that of the times above the start if there is one.
fn with_above(wall: Comparison, above: &[Comparison]) -> ProgramComparison {
    let of_both = above.iter().find(|pair| pair.a == wall.a && pair.b == wall.b);
    ProgramComparison { above_floor: of_both.map(|pair| pair.by.clone()), a: wall.a, b: wall.b, wall: wall.by }
}
