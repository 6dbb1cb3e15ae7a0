//! Programs across the values of one parameter: how the times grow, and where the order of two subjects changes.
//!
//! A crossover appears between two values only if both decide: the verdict on the pair is *faster* at one and *slower* at the
//! other. Undecided values between them are part of the gap.

use std::collections::BTreeMap;

use super::scenario::Timed;
use crate::figures::{Quantity, count, figure};
use crate::findings::{
    Crossover, CrossoverBy, Estimate, PairComparison, ProgramComparison, ProgramFinding, ProgramSeries, SeriesLine,
    SeriesPoint, Verdict,
};
use crate::names::Names;

/// What the scenarios of a series have in common: environment, timer and whether cases take turns, workload, parameter, other
/// values.
type Key = (String, (String, bool), String, String, Vec<(String, u32)>);

/// Every series of at least two values, in the order of the study.
pub(crate) fn series(timed: &[Timed], names: &Names) -> Vec<ProgramSeries> {
    let mut groups: Vec<(Key, BTreeMap<u32, &ProgramFinding>)> = Vec::new();
    for one in timed {
        let values = names.values(&one.scenario.workload);
        for (parameter, value) in &values {
            let fixed: Vec<(String, u32)> = values
                .iter()
                .filter(|(name, _)| *name != parameter)
                .map(|(name, value)| (name.clone(), *value))
                .collect();
            let key = (
                one.scenario.environment.clone(),
                (one.finding.timer.clone(), one.scenario.in_turns),
                one.scenario.workload_name().to_owned(),
                parameter.clone(),
                fixed,
            );
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => _ = group.entry(*value).or_insert(&one.finding),
                None => groups.push((key, [(*value, &one.finding)].into())),
            }
        }
    }
    groups.iter().filter(|(_, group)| group.len() > 1).map(|(key, group)| of_group(key, group, names)).collect()
}

fn of_group(key: &Key, group: &BTreeMap<u32, &ProgramFinding>, names: &Names) -> ProgramSeries {
    let (environment, (timer, _), workload, parameter, fixed) = key;
    let lines = lines(group);
    let fixed: Vec<String> =
        fixed.iter().map(|(name, value)| format!("{name} = {}", count(u64::from(*value)))).collect();
    ProgramSeries {
        workload: workload.clone(),
        title: names.workload(workload),
        parameter: parameter.clone(),
        fixed: fixed.join(", "),
        timer: timer.clone(),
        environment: environment.clone(),
        values: group.keys().copied().collect(),
        crossovers: crossovers(group, &lines, parameter),
        lines,
    }
}

/// Lines in the order of the last scenario's table. Subjects missing there come last.
fn lines(group: &BTreeMap<u32, &ProgramFinding>) -> Vec<SeriesLine> {
    let mut lines: Vec<SeriesLine> = Vec::new();
    for case in group.values().rev().flat_map(|program| &program.cases) {
        if lines.iter().all(|line| line.subject != case.subject) {
            let (subject, title, runtime) = (case.subject.clone(), case.title.clone(), case.runtime.clone());
            let points = group.iter().filter_map(|(value, program)| point(*value, program, &subject)).collect();
            lines.push(SeriesLine { subject, title, runtime, points });
        }
    }
    lines
}

fn point(value: u32, program: &ProgramFinding, subject: &str) -> Option<SeriesPoint> {
    let case = program.cases.iter().find(|case| case.subject == subject)?;
    Some(SeriesPoint {
        value,
        scenario: program.id.clone(),
        wall_s: case.shown_wall_s().cloned(),
        above_floor_s: case.above_floor_s.clone().filter(|_| !case.is_at_floor),
        ranked: case.ranked,
    })
}

fn crossovers(group: &BTreeMap<u32, &ProgramFinding>, lines: &[SeriesLine], parameter: &str) -> Vec<Crossover> {
    let pairs = lines.iter().enumerate().flat_map(|(place, a)| lines[place + 1..].iter().map(move |b| (a, b)));
    let mut found = Vec::new();
    for (a, b) in pairs {
        for by in [CrossoverBy::Wall, CrossoverBy::AboveFloor] {
            let decided: Vec<(u32, Estimate, bool)> = group
                .iter()
                .filter_map(|(value, program)| decided(*value, program, [&a.subject, &b.subject], by))
                .collect();
            let turns = decided.windows(2).filter(|both| both[0].2 != both[1].2);
            found.extend(turns.map(|both| crossover(a, b, by, both, parameter)));
        }
    }
    found
}

/// The ratio of the two at a value, and whether the first takes less time there. `None` if undecided.
fn decided(value: u32, program: &ProgramFinding, [a, b]: [&str; 2], by: CrossoverBy) -> Option<(u32, Estimate, bool)> {
    let is_pair = |it: &&ProgramComparison| (it.a == a && it.b == b) || (it.a == b && it.b == a);
    let pair = program.comparisons.iter().find(is_pair)?;
    let found: &PairComparison = match by {
        CrossoverBy::Wall => &pair.wall,
        CrossoverBy::AboveFloor => pair.above_floor.as_ref()?,
    };
    let is_turned = pair.a != a;
    let ratio = if is_turned { found.ratio.turned() } else { found.ratio.clone() };
    match found.verdict {
        Verdict::Faster => Some((value, ratio, !is_turned)),
        Verdict::Slower => Some((value, ratio, is_turned)),
        Verdict::Equivalent | Verdict::NoDifferenceFound | Verdict::CannotTell => None,
    }
}

/// `both` are two consecutive deciding values with opposite results.
fn crossover(
    a: &SeriesLine,
    b: &SeriesLine,
    by: CrossoverBy,
    both: &[(u32, Estimate, bool)],
    parameter: &str,
) -> Crossover {
    let [(below, ratio_below, a_is_less), (above, ratio_above, _)] = [&both[0], &both[1]];
    let (less, more) = if *a_is_less { (a, b) } else { (b, a) };
    let way = |ratio: &Estimate| if *a_is_less { ratio.clone() } else { ratio.turned() };
    let (ratio_below, ratio_above) = (way(ratio_below), way(ratio_above));
    let time = if by == CrossoverBy::Wall { "less time" } else { "less time above the start" };
    let words = |ratio: &Estimate| figure(Quantity::Ratio, ratio).line();
    let [at_below, at_above] = [below, above].map(|value| format!("{parameter} = {}", count(u64::from(*value))));
    let sentence = format!(
        "At {at_below} {} takes {time} than {}: {}; at {at_above} the order reverses: {} takes {} the time of {}.",
        less.title,
        more.title,
        words(&ratio_below),
        more.title,
        words(&ratio_above.turned()),
        less.title,
    );
    Crossover {
        a: less.subject.clone(),
        b: more.subject.clone(),
        by,
        below: *below,
        above: *above,
        ratio_below,
        ratio_above,
        sentence,
    }
}
