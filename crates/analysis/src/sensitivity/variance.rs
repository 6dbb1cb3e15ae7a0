//! How much of the differences within a workload each factor explains.
//!
//! It splits the logarithm of goodput over a complete grid: every subject at every combination of the factors. On that scale a
//! sum of squares measures ratios, not differences. So a subject that is twice as fast counts equally at slow and at fast levels.

use super::decomposition::{Cells, Shares, fill};
use super::factor::Factor;
use super::profile::{Profile, Setting, fixed_words, workload_of};
use super::resampling::Resampling;
use super::sentence::variance_sentence;
use super::{Goodput, Records};

use crate::findings::{CaseFinding, Estimate, ScenarioFinding, VarianceFinding, VarianceShare};
use crate::grouping::{each_once, grouped};

/// The parts of a link, or of a database, are one factor if a study does not combine them with each other.
const FAMILIES: [(Factor, &[Factor]); 3] = [
    (Factor::Link, &[Factor::LinkRtt, Factor::LinkRate, Factor::LinkLoss, Factor::Link]),
    (Factor::DatabaseLink, &[Factor::DatabaseRtt, Factor::DatabaseLink]),
    (Factor::Database, &[Factor::DatabaseRtt, Factor::DatabaseLink, Factor::Pool, Factor::Database]),
];

/// A scenario and its finding.
type Member<'a> = (&'a Profile<'a>, &'a ScenarioFinding);

/// A finding for each workload whose scenarios form a complete grid.
pub(crate) fn variance(
    records: &Records,
    profiles: &[Profile],
    findings: &[ScenarioFinding],
    goodput: &Goodput,
) -> Vec<VarianceFinding> {
    let mut groups: Vec<Vec<Member>> =
        grouped(profiles.iter().zip(findings), |one: &Member, other| one.0.is_beside(other.0));
    // In an open loop, the study itself sets the goodput, not only its conditions.
    groups.retain(|group| !group[0].0.scenario.load.executor.is_open());
    let mut resampling = Resampling::default();
    groups.iter().filter_map(|group| of_group(records, group, &groups, goodput, &mut resampling)).collect()
}

fn of_group(
    records: &Records,
    group: &[Member],
    all: &[Vec<Member>],
    goodput: &Goodput,
    resampling: &mut Resampling,
) -> Option<VarianceFinding> {
    let grid = Grid::of(group)?;
    let (kept, left_out) = grid.subjects(goodput);
    let mut factors: Vec<(Factor, usize)> =
        grid.axes.iter().map(|axis| (axis.factor.clone(), axis.levels.len())).collect();
    factors.extend((kept.len() > 1).then_some((Factor::Subject, kept.len())));
    if kept.is_empty() || factors.len() < 2 {
        return None;
    }
    let rows = grid.rows(&kept, goodput);
    let (values, filled) = fill(&rows);
    let blocks = values.first().map_or(0, Vec::len);
    let cells = Cells::new(&factors.iter().map(|(_, levels)| *levels).collect::<Vec<_>>(), &values)?;
    // With a single block, effects cannot be separated from chance.
    let shares = cells.shares(&vec![1.0; blocks]).filter(|_| blocks > 1)?;
    let intervals = resampling.of(blocks).map(|draws| cells.intervals(&shares, &draws));
    let profiles: Vec<&Profile> = group.iter().map(|(profile, _)| *profile).collect();
    let workload = workload_of(&profiles);
    let beside = all.iter().map(|group| group[0].0).filter(|it| it.is_of_workload(profiles[0]));
    let is_axis = |factor: &Factor| grid.axes.iter().any(|axis| axis.parts.contains(factor));
    let title = &group[0].1.title;
    let has_one_title = group.iter().all(|(_, finding)| finding.title == *title);
    let mut finding = VarianceFinding {
        workload_title: if has_one_title { title.clone() } else { records.names.workload(&workload) },
        workload,
        fixed: fixed_words(profiles[0], &beside.collect::<Vec<_>>(), is_axis),
        cases: values.len() as u32,
        blocks: blocks as u32,
        filled,
        shares: in_order(&factors, &cells, &shares, intervals.as_deref()),
        left_out,
        sentence: String::new(),
    };
    finding.sentence = variance_sentence(&finding);
    Some(finding)
}

/// The largest factor first, then interactions, and then the residual.
fn in_order(
    factors: &[(Factor, usize)],
    cells: &Cells,
    shares: &Shares,
    intervals: Option<&[(f64, f64)]>,
) -> Vec<VarianceShare> {
    let share = |place: usize, factor: &str, title: &str, range_ratio: Option<f64>| {
        // Only for factors: a few blocks show the variance of the scatter far less precisely than a mean.
        let ends = intervals.map(|all| all[place]).filter(|_| range_ratio.is_some());
        let value = shares.all()[place];
        let (low, high) = (ends.map(|(low, _)| low), ends.map(|(_, high)| high));
        VarianceShare {
            factor: factor.to_owned(),
            title: title.to_owned(),
            share: Estimate { value, low, high, trials: Vec::new() },
            range_ratio,
        }
    };
    let range = |place: usize| {
        let effects = cells.effects(place);
        let (low, high) = effects.iter().fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(*it), high.max(*it)));
        (high - low).exp()
    };
    let of = |(place, (factor, _)): (usize, &(Factor, usize))| {
        share(place, &factor.word(), &factor.title(), Some(range(place)))
    };
    let mut all: Vec<VarianceShare> = factors.iter().enumerate().map(of).collect();
    all.sort_by(|left, right| right.share.value.total_cmp(&left.share.value));
    all.push(share(factors.len(), "interactions", "factors together", None));
    all.push(share(factors.len() + 1, "residual", "scatter from round to round", None));
    all
}

struct Axis {
    factor: Factor,
    /// The factors that it consists of.
    parts: Vec<Factor>,
    levels: Vec<Vec<Setting>>,
}

/// Scenarios with exactly one for each combination of the factors.
struct Grid<'a> {
    axes: Vec<Axis>,
    /// In the order of the combinations, the last factor varying fastest.
    scenarios: Vec<&'a ScenarioFinding>,
}

impl<'a> Grid<'a> {
    /// Separate factors if they form a complete grid; otherwise with the parts of a link or of the database merged.
    fn of(group: &[Member<'a>]) -> Option<Self> {
        let varies = |factor: &&Factor| {
            let first = group[0].0.settings.get(*factor);
            group.iter().any(|(profile, _)| profile.settings.get(*factor) != first)
        };
        let factors: Vec<Factor> = group[0].0.settings.keys().filter(varies).cloned().collect();
        let mut sets: Vec<(Factor, Vec<Factor>)> =
            factors.into_iter().map(|factor| (factor.clone(), vec![factor])).collect();
        let mut found = Self::complete(group, &sets);
        for (family, parts) in &FAMILIES {
            if found.is_some() {
                break;
            }
            let (own, others): (Vec<_>, Vec<_>) =
                sets.into_iter().partition(|(_, set)| set.iter().all(|it| parts.contains(it)));
            sets = others;
            if !own.is_empty() {
                sets.push((family.clone(), own.into_iter().flat_map(|(_, set)| set).collect()));
            }
            found = Self::complete(group, &sets);
        }
        found
    }

    fn complete(group: &[Member<'a>], sets: &[(Factor, Vec<Factor>)]) -> Option<Self> {
        let at = |profile: &Profile, parts: &[Factor]| -> Vec<Setting> {
            parts.iter().filter_map(|part| profile.settings.get(part).cloned()).collect()
        };
        let axis = |(factor, parts): &(Factor, Vec<Factor>)| {
            let levels = each_once(group.iter().map(|(profile, _)| at(profile, parts)));
            Axis { factor: factor.clone(), parts: parts.clone(), levels }
        };
        let axes: Vec<Axis> = sets.iter().map(axis).collect();
        let place = |profile: &Profile| {
            axes.iter().try_fold(0, |place, axis| {
                let level = at(profile, &axis.parts);
                Some(place * axis.levels.len() + axis.levels.iter().position(|known| *known == level)?)
            })
        };
        let combinations = axes.iter().try_fold(1_usize, |all, axis| all.checked_mul(axis.levels.len()))?;
        if combinations > group.len() {
            return None;
        }
        let mut scenarios: Vec<Option<&ScenarioFinding>> = vec![None; combinations];
        for (profile, finding) in group {
            // Scenarios that differ only in their objectives are one, represented by the first.
            _ = scenarios[place(profile)?].get_or_insert(finding);
        }
        let scenarios = scenarios.into_iter().collect::<Option<Vec<_>>>()?;
        Some(Self { axes, scenarios })
    }

    /// Subjects with at least half of the blocks in every scenario, and the other competing ones.
    fn subjects(&self, goodput: &Goodput) -> (Vec<String>, Vec<String>) {
        let cases = self.scenarios.iter().flat_map(|scenario| &scenario.cases);
        let all = each_once(cases.map(|case| case.subject.clone()));
        let is_there = |scenario: &&ScenarioFinding, subject: &str| {
            let blocks = case_of(scenario, subject).map(|case| goodput.of(case)).unwrap_or_default();
            let measured = blocks.iter().flatten().filter(|goodput| **goodput > 0.0).count();
            measured > 0 && measured * 2 >= blocks.len()
        };
        all.into_iter().partition(|subject| self.scenarios.iter().all(|scenario| is_there(scenario, subject)))
    }

    /// The logarithms of goodput of every cell, the subject varying fastest, in the blocks in which most was measured.
    fn rows(&self, subjects: &[String], goodput: &Goodput) -> Vec<Vec<Option<f64>>> {
        let logarithm = |goodput: &Option<f64>| goodput.filter(|goodput| *goodput > 0.0).map(f64::ln);
        let row = |scenario: &ScenarioFinding, subject: &String| -> Vec<Option<f64>> {
            case_of(scenario, subject).map(|case| goodput.of(case).iter().map(logarithm).collect()).unwrap_or_default()
        };
        let of_scenario =
            |scenario: &&'a ScenarioFinding| subjects.iter().map(|subject| row(scenario, subject)).collect();
        let mut rows: Vec<Vec<Option<f64>>> =
            self.scenarios.iter().flat_map(|it| -> Vec<_> { of_scenario(it) }).collect();
        let blocks = rows.first().map_or(0, Vec::len);
        let cells = rows.len();
        let is_measured = |block: usize| rows.iter().filter(|row| row[block].is_some()).count() * 2 > cells;
        let kept: Vec<bool> = (0..blocks).map(is_measured).collect();
        for row in &mut rows {
            let mut kept = kept.iter();
            row.retain(|_| kept.next().copied().unwrap_or(false));
        }
        rows
    }
}

fn case_of<'a>(scenario: &'a ScenarioFinding, subject: &str) -> Option<&'a CaseFinding> {
    scenario.cases.iter().find(|case| case.subject == subject && case.ranked)
}
