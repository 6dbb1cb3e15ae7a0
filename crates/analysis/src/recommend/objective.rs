//! Recommends the cases that keep the objectives of a scenario.

use tolok_model::{Limit, Objective, ObjectiveOutcome};

use super::by_figure::nobody;
use super::strength::{CLEARLY_AHEAD, Marks, caveats};
use super::{Said, Scene};
use crate::estimate::least_trials;
use crate::figures::{listed, of_objective};
use crate::findings::{CaseFinding, Strength};

/// `None` if the scenario has no objectives.
pub(super) fn objectives(scene: &Scene) -> Option<Said> {
    let asked = &scene.planned.objectives;
    if asked.is_empty() {
        return None;
    }
    let outcome = |case: &CaseFinding, wanted| case.objectives.iter().any(|it| it.outcome == wanted);
    let keeps = |case: &&CaseFinding| {
        case.ranked
            && !case.objectives.is_empty()
            && case.objectives.iter().all(|it| it.outcome == ObjectiveOutcome::Kept)
    };
    let cases: Vec<&CaseFinding> = scene.finding.cases.iter().collect();
    let (kept, others): (Vec<&CaseFinding>, Vec<&CaseFinding>) = cases.iter().copied().partition(keeps);
    let crossed = others.iter().filter(|case| outcome(case, ObjectiveOutcome::Crossed));
    let crossed: Vec<String> = crossed.map(|case| case.title.clone()).collect();
    let listed_objectives = listed(&scene.finding.objectives, "and");
    if kept.is_empty() {
        let because = format!("no ranked case kept {listed_objectives} in every trial");
        let rate = if scene.planned.load.executor.is_open() { "a lower rate" } else { "fewer users" };
        return Some(nobody(scene, because, vec![rate.to_owned()]));
    }
    let trials = kept.iter().map(|case| case.trials_scored).min().unwrap_or(0);
    let caveats = caveats(scene, &kept, trials, true);
    let marks = Marks {
        is_clear: kept.len() + crossed.len() == cases.len(),
        is_far: kept.iter().all(|case| is_far(case, asked)),
        is_sound: caveats.is_empty(),
    };
    // A case with few trials has shown little more than that it can keep them.
    let strength = if trials < least_trials() { Strength::Weak } else { marks.strength() };
    let crossed = (!crossed.is_empty()).then(|| format!("; crossed by {}", listed(&crossed, "and")));
    let trials = if trials == 1 { "its only trial".to_owned() } else { format!("each of {trials} trials") };
    let because = format!("kept {listed_objectives} in {trials}{}{}", worst(&kept), crossed.unwrap_or_default());
    Some(Said { caveats, ..Said::of(scene, &kept, because, strength) })
}

/// The worst figure of the first objective, from the case that came closest to crossing it.
fn worst(kept: &[&CaseFinding]) -> String {
    let first = |case: &&CaseFinding| {
        let objective = case.objectives.first()?;
        Some((case.title.clone(), objective.unit.clone(), objective.worst?, objective.objective.contains('<')))
    };
    let nearest = kept.iter().filter_map(first).reduce(|left, right| {
        let is_nearer = if left.3 { right.2 > left.2 } else { right.2 < left.2 };
        if is_nearer { right } else { left }
    });
    nearest
        .map_or(String::new(), |(title, unit, value, _)| format!(" ({title} {} at worst)", of_objective(&unit, value)))
}

/// Whether every time stays well below its limit. Shares and counts have no margin.
fn is_far(case: &CaseFinding, asked: &[Objective]) -> bool {
    case.objectives.iter().zip(asked).all(|(found, asked)| match (asked.value, found.worst) {
        (Limit::Seconds(most), Some(worst)) if asked.comparison.wants_little() => worst * (1.0 + CLEARLY_AHEAD) <= most,
        _ => true,
    })
}
