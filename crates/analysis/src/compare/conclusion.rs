//! What follows from all verdicts together, in a word, in a sentence, and with what must be known of it.

use super::conditions::Both;
use super::findings::{
    CaseChange, Change, CompareOutcome, FigureChange, RunComparison, ScenarioChange, Tally, UnmatchedCase,
};
use super::views::ScenarioView;
use crate::figures::{Quantity, amount, counted, figure, listed};
use crate::grouping::{each_once, grouped, sorted_once};

/// Regressions that a sentence names.
const NAMED: usize = 3;
/// Cases that must all move one way before that is said to be the machine's doing rather than theirs.
const FEWEST_TO_MOVE_TOGETHER: usize = 3;

/// Counts the verdicts.
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
        Change::Equivalent => &mut tally.equivalent,
        Change::NoDifferenceFound => &mut tally.no_difference_found,
        Change::CannotTell => {
            tally.main_cannot_tell += u32::from(figure.is_main);
            &mut tally.cannot_tell
        }
    };
    *counter += 1;
}

/// What follows. A regression is one whatever else is not known.
pub(super) fn outcome(both: &Both, found: &RunComparison) -> CompareOutcome {
    let lost_rank = found.scenarios.iter().flat_map(|scenario| &scenario.cases).any(|case| case.lost_rank);
    match found.tally {
        tally if tally.regressions > 0 => CompareOutcome::Regression,
        _ if unsound(both).is_some() => CompareOutcome::NotSound,
        tally if tally.main_cannot_tell > 0 || tally.judged == 0 || lost_rank => CompareOutcome::CannotTell,
        _ => CompareOutcome::NoRegression,
    }
}

/// The first run in which no case may be ranked, if there is one.
fn unsound(both: &Both) -> Option<usize> {
    let has_ranked =
        |scenarios: &[ScenarioView]| scenarios.iter().flat_map(|scenario| &scenario.cases).any(|case| case.ranked);
    both.scenarios.iter().position(|scenarios| !has_ranked(scenarios))
}

/// The answer in one sentence, and the count of verdicts in another.
pub(super) fn sentence(both: &Both, found: &RunComparison) -> String {
    let threshold = amount(Quantity::Share, found.threshold);
    let first = match found.outcome {
        CompareOutcome::Regression => {
            let worse = counted(u64::from(found.tally.regressions), "figure");
            let are = if found.tally.regressions == 1 { "is" } else { "are" };
            format!("{worse} {are} worse by {threshold} or more: {}.", worst(found))
        }
        CompareOutcome::NotSound => {
            let run = if unsound(both) == Some(1) { &found.after.id } else { &found.before.id };
            format!("no case of the run {run} may be ranked, so nothing can be compared with it.")
        }
        CompareOutcome::CannotTell => unknown(found),
        CompareOutcome::NoRegression => format!("nothing that was judged is worse by {threshold} or more."),
    };
    let allowed = if found.conditions.is_empty() { "" } else { " The conditions differ, which was allowed." };
    format!("{}: {first}{}{}{allowed}", found.outcome.words(), counts(found.tally), not_judged(found))
}

/// The regressions, the largest first.
fn worst(found: &RunComparison) -> String {
    let mut worse: Vec<(&ScenarioChange, &CaseChange, &FigureChange)> =
        found.figures().filter(|(_, _, figure)| figure.verdict == Some(Change::Regression)).collect();
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

fn unknown(found: &RunComparison) -> String {
    let tally = found.tally;
    if tally.judged == 0 {
        return "no case may be ranked in both runs.".to_owned();
    }
    let figures = (tally.main_cannot_tell > 0)
        .then(|| format!("{} cannot be told", counted(u64::from(tally.main_cannot_tell), "main figure")));
    let lost = found.scenarios.iter().flat_map(|scenario| &scenario.cases).filter(|case| case.lost_rank).count();
    let lost = (lost > 0).then(|| format!("{} may not be ranked any more", counted(lost as u64, "case")));
    let parts: Vec<String> = figures.into_iter().chain(lost).collect();
    format!("{}; no regression was found in the rest.", parts.join(", and "))
}

fn counts(tally: Tally) -> String {
    let parts = [
        (tally.regressions, "regression", "regressions"),
        (tally.improvements, "improvement", "improvements"),
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

/// Cases that may not be ranked are in no verdict, and a reader of the first sentences must know that. What is named in them
/// already is not counted again.
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

/// What must be known before this is relied on, the gravest first.
pub(super) fn cautions(found: &RunComparison) -> Vec<String> {
    let mut all = Vec::new();
    if !found.conditions.is_empty() {
        let what: Vec<String> = found.conditions.iter().map(|one| one.what.clone()).collect();
        all.push(format!(
            "The conditions differ ({}), and the comparison was made nevertheless: what is found may be their doing.",
            listed(&what, "and")
        ));
    }
    all.extend(without_control(found));
    all.extend(moved_together(found));
    all.extend(found.before.started_at.gt(&found.after.started_at).then(|| {
        "The second run is the older one: what is called a regression here is an improvement in time.".to_owned()
    }));
    let missing = [("before", &found.before), ("after", &found.after)].into_iter().filter_map(|(when, side)| {
        let trials = counted(u64::from(side.trials_missing), "trial");
        (side.trials_missing > 0).then(|| format!("The run {when} was stopped: {trials} of its plan have no record."))
    });
    all.extend(missing);
    all.extend(only("before", &found.only_before));
    all.extend(only("after", &found.only_after));
    all.push(
        "Intervals come from the scatter within each run and know nothing of what differs between two runs of the same \
         thing. A regression that matters is worth a second pair of runs."
            .to_owned(),
    );
    all
}

/// Where nothing shows what the machine did to a main figure.
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

/// The main figures that a scenario's control shows no shift of, although it is one for others.
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

/// Programs that have nothing in common but the machine seldom all change the same way.
fn moved_together(found: &RunComparison) -> Option<String> {
    let is_judged = |scenario: &ScenarioChange, figure: &FigureChange| {
        scenario.control.is_none() && figure.is_main && figure.verdict.is_some()
    };
    let judged = found.figures().filter(|(scenario, _, figure)| is_judged(scenario, figure));
    let judged: Vec<(&CaseChange, &FigureChange)> = judged.map(|(_, case, figure)| (case, figure)).collect();
    let subjects = sorted_once(judged.iter().map(|(case, _)| case.subject.as_str()));
    let all_are = |verdict: Change| judged.iter().all(|(_, figure)| figure.verdict == Some(verdict));
    let way = match () {
        () if all_are(Change::Regression) => "worse",
        () if all_are(Change::Improvement) => "better",
        () => return None,
    };
    let number = counted(subjects.len() as u64, "subject");
    let sentence = || format!("All {number} without a control became {way}: look for what they have in common.");
    (subjects.len() >= FEWEST_TO_MOVE_TOGETHER).then(sentence)
}

fn only(when: &str, cases: &[UnmatchedCase]) -> Option<String> {
    let names: Vec<String> = cases.iter().map(|case| format!("{} in {}", case.title, case.scenario)).collect();
    let number = counted(cases.len() as u64, "case");
    (!cases.is_empty()).then(|| format!("{number} in the run {when} only, so not compared: {}.", listed(&names, "and")))
}
