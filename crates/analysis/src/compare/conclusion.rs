//! The conclusion from all verdicts: a word, a sentence, and its cautions.

use super::changes::versions;
use super::findings::{
    CaseChange, Change, CompareOutcome, ComparedSide, FigureChange, RunComparison, ScenarioChange, Tally, UnmatchedCase,
};
use super::sides::Sides;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::grouping::{each_once, grouped, sorted_once};

/// The most regressions that the sentence names.
const NAMED: usize = 3;
/// The fewest cases that must all move one way before the sentence blames the machine.
const FEWEST_TO_MOVE_TOGETHER: usize = 3;

pub(super) fn tally(scenarios: &[ScenarioChange]) -> Tally {
    let mut tally = Tally::default();
    for case in scenarios.iter().flat_map(|scenario| &scenario.cases) {
        tally.cases_not_judged += u32::from(case.not_judged.is_some());
        case.figures.iter().for_each(|figure| count(&mut tally, figure));
    }
    tally
}

fn count(tally: &mut Tally, figure: &FigureChange) {
    let Some(verdict) = figure.verdict else { return };
    tally.judged += 1;
    let counter = match verdict {
        Change::Regression => &mut tally.regressions,
        Change::Improvement => &mut tally.improvements,
        Change::Worse => &mut tally.worse,
        Change::Better => &mut tally.better,
        Change::Equivalent => &mut tally.equivalent,
        Change::NoDifferenceFound => &mut tally.no_difference_found,
        Change::CannotTell => {
            tally.main_cannot_tell += u32::from(figure.is_main);
            &mut tally.cannot_tell
        }
    };
    *counter += 1;
}

/// The outcome. A regression counts even if other answers are unknown.
pub(super) fn outcome(sides: &Sides, found: &RunComparison) -> CompareOutcome {
    let lost_rank = found.scenarios.iter().flat_map(|scenario| &scenario.cases).any(|case| case.lost_rank);
    match found.tally {
        tally if tally.regressions > 0 => CompareOutcome::Regression,
        _ if sides.unsound().is_some() => CompareOutcome::NotSound,
        tally if tally.worse > 0 => CompareOutcome::Changed,
        tally if tally.main_cannot_tell > 0 || tally.judged == 0 || lost_rank => CompareOutcome::CannotTell,
        _ => CompareOutcome::NoRegression,
    }
}

/// One sentence with the answer, and another with the count of verdicts.
pub(super) fn sentence(sides: &Sides, found: &RunComparison) -> String {
    let threshold = amount(Quantity::Share, found.threshold);
    let first = match found.outcome {
        CompareOutcome::Regression | CompareOutcome::Changed => {
            let number = found.tally.regressions + found.tally.worse;
            let worse = counted(u64::from(number), "figure");
            let are = if number == 1 { "is" } else { "are" };
            format!("{worse} {are} worse by {threshold} or more: {}.", worst(found))
        }
        CompareOutcome::NotSound => {
            let run = sides.unsound().map(|run| run.records.run.id.as_str()).unwrap_or_default();
            format!("no case of the run {run} may be ranked, so nothing can be compared with it.")
        }
        CompareOutcome::CannotTell => unknown(found),
        CompareOutcome::NoRegression => format!("nothing that was judged is worse by {threshold} or more."),
    };
    let allowed = if found.conditions.is_empty() { "" } else { " The conditions differ, which was allowed." };
    let pair = if found.outcome == CompareOutcome::Changed { PAIR } else { "" };
    format!("{}: {first}{}{}{pair}{allowed}", found.outcome.words(), counts(found.tally), not_judged(found))
}

/// What a single pair cannot tell, and what can.
const PAIR: &str = " One run of each cannot tell whether the version or the run did it. Two or more runs of each can \
                    (--before A1 A2 --after B1 B2), or tolok duel.";

/// The regressions, the largest first.
fn worst(found: &RunComparison) -> String {
    let mut worse: Vec<(&ScenarioChange, &CaseChange, &FigureChange)> =
        found.figures().filter(|(_, _, figure)| is_worse(figure)).collect();
    let size = |figure: &FigureChange| figure.ratio.map_or(0.0, |ratio| ratio.size());
    worse.sort_by(|left, right| size(right.2).total_cmp(&size(left.2)));
    let words = |(scenario, case, it): &(&ScenarioChange, &CaseChange, &FigureChange)| {
        let ratio = it.ratio.map(|ratio| figure(Quantity::Ratio, &ratio.estimate()).line()).unwrap_or_default();
        format!("{} in {}, {} {ratio}", case.title, scenario.id, it.metric.title(scenario.kind))
    };
    let more = worse.len().saturating_sub(NAMED);
    let named: Vec<String> = worse.iter().take(NAMED).map(words).collect();
    if more > 0 { format!("{}; and {more} more", named.join("; ")) } else { named.join("; ") }
}

fn is_worse(figure: &FigureChange) -> bool {
    matches!(figure.verdict, Some(Change::Regression | Change::Worse))
}

fn unknown(found: &RunComparison) -> String {
    let tally = found.tally;
    if tally.judged == 0 {
        return "no case may be ranked in all runs.".to_owned();
    }
    let figures = (tally.main_cannot_tell > 0)
        .then(|| format!("{} undecided", counted(u64::from(tally.main_cannot_tell), "main figure")));
    let lost = found.scenarios.iter().flat_map(|scenario| &scenario.cases).filter(|case| case.lost_rank).count();
    let lost = (lost > 0).then(|| format!("{} may not be ranked any more", counted(lost as u64, "case")));
    let parts: Vec<String> = figures.into_iter().chain(lost).collect();
    format!("{}; no regression was found in the rest.", parts.join(", and "))
}

fn counts(tally: Tally) -> String {
    let parts = [
        (tally.regressions, "regression", "regressions"),
        (tally.improvements, "improvement", "improvements"),
        (tally.worse, "changed for the worse", "changed for the worse"),
        (tally.better, "changed for the better", "changed for the better"),
        (tally.equivalent, "equivalent", "equivalent"),
        (tally.no_difference_found, "no difference found", "no difference found"),
        (tally.cannot_tell, "cannot tell", "cannot tell"),
    ];
    let words = |(number, one, several): &(u32, &str, &str)| {
        (*number > 0).then(|| format!("{number} {}", if *number == 1 { one } else { several }))
    };
    let parts: Vec<String> = parts.iter().filter_map(words).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!(" Of {}: {}.", counted(u64::from(tally.judged), "judged figure"), parts.join(", "))
}

/// Unranked cases get no verdict, and the first sentences must say so. Cases already named there are not counted again.
fn not_judged(found: &RunComparison) -> String {
    let is_named = |case: &CaseChange| found.outcome == CompareOutcome::CannotTell && case.lost_rank;
    let cases = found.scenarios.iter().flat_map(|scenario| &scenario.cases);
    let number = cases.filter(|case| case.not_judged.is_some() && !is_named(case)).count();
    if number == 0 || found.tally.judged == 0 {
        return String::new();
    }
    let is_not = if number == 1 {
        "is not judged, as it may not be ranked"
    } else {
        "are not judged, as they may not be ranked"
    };
    format!(" {} {is_not}.", counted(number as u64, "case"))
}

/// What readers must know before relying on the comparison, the most serious first.
pub(super) fn cautions(sides: &Sides, found: &RunComparison) -> Vec<String> {
    let mut all = Vec::new();
    if !found.conditions.is_empty() {
        let what: Vec<String> = found.conditions.iter().map(|one| one.what.clone()).collect();
        all.push(format!(
            "The conditions differ ({}), which was allowed: differences may come from them.",
            listed(&what, "and")
        ));
    }
    all.extend(mixed(sides, found));
    all.extend(without_control(found));
    all.extend(moved_together(found));
    all.extend(order_in_time(sides, found));
    let missing = [("before", &found.before), ("after", &found.after)];
    all.extend(missing.into_iter().flat_map(|(when, runs)| runs.iter().filter_map(move |run| stopped(when, run))));
    all.extend(only("before", &found.only_before));
    all.extend(only("after", &found.only_after));
    all.push(if sides.is_single_pair() {
        "Intervals come from the trials of these two runs. They do not include what differs from run to run (build, memory layout, day). So a change here is between two runs, not necessarily between versions."
            .to_owned()
    } else {
        "The run is the unit: intervals include what differs from run to run on either side, as far as these runs show it."
            .to_owned()
    });
    all
}

/// Runs of one side with different versions.
fn mixed(sides: &Sides, found: &RunComparison) -> Vec<String> {
    let caution = |(side, when): (usize, &str)| {
        let [first, rest @ ..] = sides.runs[side] else { return None };
        let pairs = rest.iter().map(|other| versions([first, other]));
        let what: Vec<String> = sorted_once(pairs.flatten().map(|one| one.what));
        let runs = counted(if side == 0 { found.before.len() } else { found.after.len() } as u64, "run");
        let sentence = || format!("The {runs} {when} differ in what they measure: {}.", listed(&what, "and"));
        (!what.is_empty()).then(sentence)
    };
    [(0, "before"), (1, "after")].into_iter().filter_map(caution).collect()
}

/// Runs should be in chronological order. If all runs before are older than all runs after, time and version cannot be separated.
fn order_in_time(sides: &Sides, found: &RunComparison) -> Option<String> {
    let started = |runs: &[ComparedSide]| {
        let mut all: Vec<String> = runs.iter().map(|run| run.started_at.clone()).collect();
        all.sort();
        all
    };
    let (before, after) = (started(&found.before), started(&found.after));
    let is_earlier = |one: &[String], other: &[String]| one.last() < other.first();
    match sides.is_single_pair() {
        true if is_earlier(&after, &before) => Some(
            "The second run is the older one: what became worse here is an improvement in time.".to_owned(),
        ),
        false if is_earlier(&before, &after) || is_earlier(&after, &before) => Some(
            "All runs of one side were made before all of the other: what changed on the machine in between looks like the \
             version. Take turns: before, after, before, after."
                .to_owned(),
        ),
        _ => None,
    }
}

fn stopped(when: &str, run: &ComparedSide) -> Option<String> {
    let trials = counted(u64::from(run.trials_missing), "trial");
    (run.trials_missing > 0)
        .then(|| format!("The run {} ({when}) was stopped: {trials} of its plan have no record.", run.id))
}

/// Main figures for which nothing shows the effect of the machine.
fn without_control(found: &RunComparison) -> Vec<String> {
    let reason = |scenario: &ScenarioChange| scenario.no_control.clone().or_else(|| without_main(scenario));
    let lacking = found.scenarios.iter().filter_map(|scenario| Some((reason(scenario)?, scenario.id.clone())));
    let words = |group: Vec<(String, String)>| {
        let (reasons, ids): (Vec<String>, Vec<String>) = group.into_iter().unzip();
        format!(
            "No control in {} ({}): a shift of the machine between the runs would look like one of the programs.",
            listed(&ids, "and"),
            reasons[0]
        )
    };
    grouped(lacking, |one, other| one.0 == other.0).into_iter().map(words).collect()
}

/// The main figures for which the control shows no usable shift, although it does for others.
fn without_main(scenario: &ScenarioChange) -> Option<String> {
    let has_control = |figure: &FigureChange| {
        let mut shifts = scenario.control.iter().flat_map(|control| &control.shifts);
        shifts.any(|shift| shift.metric == figure.metric && shift.is_usable)
    };
    let judged = scenario.cases.iter().flat_map(|case| &case.figures).filter(|figure| figure.is_main);
    let lacking = judged.filter(|figure| figure.verdict.is_some() && !has_control(figure));
    let names = each_once(lacking.map(|figure| figure.metric.title(scenario.kind).to_owned()));
    let figures = listed(&names, "and");
    (!names.is_empty()).then(|| format!("the ceiling scatters too much to show a shift of {figures}"))
}

/// Programs that share only the machine seldom all change the same way.
fn moved_together(found: &RunComparison) -> Option<String> {
    let is_judged = |scenario: &ScenarioChange, figure: &FigureChange| {
        scenario.control.is_none() && figure.is_main && figure.verdict.is_some()
    };
    let judged = found.figures().filter(|(scenario, _, figure)| is_judged(scenario, figure));
    let judged: Vec<(&CaseChange, &FigureChange)> = judged.map(|(_, case, figure)| (case, figure)).collect();
    let subjects = sorted_once(judged.iter().map(|(case, _)| case.subject.as_str()));
    let is_better = |figure: &FigureChange| matches!(figure.verdict, Some(Change::Improvement | Change::Better));
    let way = match () {
        () if judged.iter().all(|(_, figure)| is_worse(figure)) => "worse",
        () if judged.iter().all(|(_, figure)| is_better(figure)) => "better",
        () => return None,
    };
    let number = counted(subjects.len() as u64, "subject");
    let sentence = || format!("All {number} without a control became {way}: look for what they have in common.");
    (subjects.len() >= FEWEST_TO_MOVE_TOGETHER).then(sentence)
}

fn only(when: &str, cases: &[UnmatchedCase]) -> Option<String> {
    let names: Vec<String> = cases.iter().map(|case| format!("{} in {}", case.title, case.scenario)).collect();
    let number = counted(cases.len() as u64, "case");
    (!cases.is_empty()).then(|| {
        format!("{number} of the run {when} that not every run has, so not compared: {}.", listed(&names, "and"))
    })
}
