//! Recommends the cases that stay correct if the database goes away, or under concurrent increments.

use super::by_figure::nobody;
use super::strength::{Marks, caveats};
use super::{Said, Scene};
use crate::figures::{counted, listed};
use crate::findings::CaseFinding;
use crate::flag::FlagKind;

/// Flags that an outage itself raises. They do not bar a case here, because correctness is compared and not goodput.
const OF_OUTAGE: [FlagKind; 2] = [FlagKind::Outage, FlagKind::Errors];

/// Trials of a case, and what was wrong in them, if anything.
type Found = (u32, Option<String>);

/// `None` if the database is not killed.
pub(super) fn outage(scene: &Scene) -> Option<Said> {
    scene.finding.database.as_ref()?.outage_at_s?;
    let is_sound = |case: &CaseFinding| {
        case.flags.iter().filter(|flag| flag.voids_rank).all(|flag| OF_OUTAGE.contains(&flag.kind))
    };
    let found = |case: &CaseFinding| {
        let outage = case.database.as_ref()?.outage.as_ref()?;
        let failing = outage.failing.clone().or((!is_sound(case)).then(|| "not ranked".to_owned()));
        Some((outage.trials, failing))
    };
    let what = "answered with an error and gave correct responses again";
    of_each(scene, &found, what, "an outage that is longer, or at another moment")
}

/// `None` if the workload counts nothing.
pub(super) fn counter(scene: &Scene) -> Option<Said> {
    let found = |case: &CaseFinding| {
        let counter = case.database.as_ref()?.counter.as_ref()?;
        let wrong = (counter.wrong > 0).then(|| counter.worst.clone().unwrap_or_else(|| "wrong".to_owned()));
        Some((counter.trials, wrong.or((!case.ranked).then(|| "not ranked".to_owned()))))
    };
    of_each(scene, &found, "every increment was counted once", "more increments at once")
}

/// The cases with nothing wrong in any trial.
fn of_each(scene: &Scene, found: &dyn Fn(&CaseFinding) -> Option<Found>, what: &str, change: &str) -> Option<Said> {
    let all: Vec<(&CaseFinding, u32, Option<String>)> = scene
        .finding
        .cases
        .iter()
        .filter_map(|case| found(case).map(|(trials, wrong)| (case, trials, wrong)))
        .collect();
    let trials = all.iter().map(|(_, trials, _)| *trials).min()?;
    let right: Vec<&CaseFinding> = all.iter().filter(|(.., wrong)| wrong.is_none()).map(|(case, ..)| *case).collect();
    let wrong: Vec<String> =
        all.iter().filter_map(|(case, _, wrong)| Some(format!("{} ({})", case.title, wrong.as_ref()?))).collect();
    let trials_words = counted(u64::from(trials), "trial");
    let but = if wrong.is_empty() { String::new() } else { format!("; not so {}", listed(&wrong, "and")) };
    if right.is_empty() {
        return Some(nobody(
            scene,
            format!("no case was right in each of {trials_words}{but}"),
            vec![change.to_owned()],
        ));
    }
    let caveats = caveats(scene, &right, trials, true);
    // Right or wrong needs no statistical test.
    let marks = Marks { is_clear: true, is_far: all.len() == scene.finding.cases.len(), is_sound: caveats.is_empty() };
    let because = format!("{what} in each of {trials_words}{but}");
    Some(Said { changes: vec![change.to_owned()], caveats, ..Said::of(scene, &right, because, marks.strength()) })
}
