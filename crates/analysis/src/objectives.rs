//! Whether the trials of a case kept a scenario's objectives.
//!
//! An objective is **crossed** if any scored trial crossed it: a service that keeps its promise in four runs out of five does not
//! keep it. It is **kept** if every scored trial kept it and no trial failed. Otherwise it is **unknown**: a trial failed, has no
//! figure for it, or its figures cannot be trusted. A disturbed trial counts neither for nor against the subject.

use tolok_model::{Limit, LoadProfile, Measurement, Objective, ObjectiveOutcome, Scenario};

use crate::case_inputs::warnings_that_count;
use crate::findings::ObjectiveFinding;
use crate::observations::Observations;

pub(crate) fn objectives(scenario: &Scenario, observations: &Observations) -> Vec<ObjectiveFinding> {
    scenario.objectives.iter().map(|objective| finding(objective, &scenario.load, observations)).collect()
}

fn finding(objective: &Objective, load: &LoadProfile, observations: &Observations) -> ObjectiveFinding {
    let text = objective.to_string();
    let outcomes = || observations.trials().map(|trial| outcome(&text, load, trial));
    let number = |wanted| outcomes().filter(|found| *found == wanted).count() as u32;
    let (kept, crossed) = (number(ObjectiveOutcome::Kept), number(ObjectiveOutcome::Crossed));
    let all_kept = kept > 0 && kept as usize == observations.scored.len() && observations.failed.is_empty();
    let records = observations.trials().flat_map(|trial| &trial.objectives);
    let values = records.filter(|record| record.objective == text).filter_map(|record| record.value);
    let worse =
        |left: f64, right: f64| if objective.comparison.wants_little() { left.max(right) } else { left.min(right) };
    ObjectiveFinding {
        outcome: match () {
            () if crossed > 0 => ObjectiveOutcome::Crossed,
            () if all_kept => ObjectiveOutcome::Kept,
            () => ObjectiveOutcome::Unknown,
        },
        worst: values.reduce(worse),
        unit: unit(objective.value).to_owned(),
        trials_kept: kept,
        trials_crossed: crossed,
        objective: text,
    }
}

fn outcome(objective: &str, load: &LoadProfile, trial: &Measurement) -> ObjectiveOutcome {
    if warnings_that_count(trial, load).next().is_some() {
        return ObjectiveOutcome::Unknown;
    }
    let record = trial.objectives.iter().find(|record| record.objective == objective);
    record.map_or(ObjectiveOutcome::Unknown, |record| record.outcome)
}

fn unit(limit: Limit) -> &'static str {
    match limit {
        Limit::Seconds(_) => "s",
        Limit::Share(_) => "share",
        Limit::PerSecond(_) => "per_s",
        Limit::Count(_) => "requests",
    }
}
