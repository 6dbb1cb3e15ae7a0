//! The results of a scenario's objectives: a line for each, with the cases that keep and cross it.

use tolok_analysis::figures::{counted, listed, of_objective};
use tolok_analysis::{CaseFinding, Findings, ObjectiveFinding, ObjectiveOutcome, ScenarioFinding};

use super::{muted, paragraph};
use crate::document::{Block, Depth, List, Look, Text};

/// The rule, as printed.
const RULE: &str = "crossed: in at least one clean trial; kept: in all, and no trial failed; figure: the worst trial";

/// One objective of a scenario.
struct Line {
    /// As written in the study: `p95 < 50ms`.
    objective: String,
    /// `kept by A (12 ms) and B (14 ms); crossed by C (84 ms, 3 of 5 trials)`.
    sentence: String,
    /// Whether a competing case crossed it.
    is_crossed: bool,
}

/// The results of a scenario's objectives.
pub(crate) fn blocks(scenario: &ScenarioFinding, depth: Depth) -> Vec<Block> {
    if scenario.objectives.is_empty() {
        return Vec::new();
    }
    let title = match depth {
        Depth::Short => muted(format!("Objectives ({RULE})")),
        _ => paragraph(format!("Objectives ({RULE}):")),
    };
    let item = |line: Line| match (line.is_crossed, depth) {
        (true, Depth::Short) => Text::of(format!("{}: {}", line.objective, line.sentence), Look::Warning),
        (is_crossed, _) => {
            let look = if is_crossed { Look::Warning } else { Look::Plain };
            Text::of(line.objective, Look::Code).and(": ", Look::Plain).and(line.sentence, look)
        }
    };
    let items = lines(scenario).into_iter().map(item).collect();
    title.into_iter().chain([Block::List(List { sign: "-", items })]).collect()
}

/// Every objective of a scenario, in its order.
fn lines(scenario: &ScenarioFinding) -> Vec<Line> {
    (0..).zip(&scenario.objectives).map(|(place, objective)| line(scenario, place, objective)).collect()
}

/// The number of crossed objectives over all cases except ceilings.
pub(crate) fn crossed(findings: &Findings) -> usize {
    let objectives = findings.scenarios.iter().flat_map(|it| &it.cases).flat_map(|case| &case.objectives);
    objectives.filter(|objective| objective.outcome == ObjectiveOutcome::Crossed).count()
}

fn line(scenario: &ScenarioFinding, place: usize, objective: &str) -> Line {
    let competing = scenario.cases.iter().map(|case| (case, case.title.clone()));
    let ceiling = scenario.ceiling.iter().map(|case| (case, format!("the ceiling, {}", case.title)));
    let of_cases: Vec<(&CaseFinding, String, &ObjectiveFinding)> =
        competing.chain(ceiling).filter_map(|(case, title)| Some((case, title, case.objectives.get(place)?))).collect();
    let with = |outcome: ObjectiveOutcome, words: &str| {
        let of_outcome = of_cases.iter().filter(|(_, _, found)| found.outcome == outcome);
        let names: Vec<String> = of_outcome.map(|(case, title, found)| named(case, title, found)).collect();
        if names.is_empty() { None } else { Some(format!("{words} {}", listed(&names, "and"))) }
    };
    let parts = [
        with(ObjectiveOutcome::Kept, "kept by"),
        with(ObjectiveOutcome::Crossed, "crossed by"),
        with(ObjectiveOutcome::Unknown, "unknown for"),
    ];
    let is_crossed = scenario.cases.iter().filter_map(|case| case.objectives.get(place));
    Line {
        objective: objective.to_owned(),
        sentence: parts.into_iter().flatten().collect::<Vec<_>>().join("; "),
        is_crossed: is_crossed.into_iter().any(|found| found.outcome == ObjectiveOutcome::Crossed),
    }
}

/// A case with its worst figure, and the number of its trials that crossed the objective.
fn named(case: &CaseFinding, title: &str, found: &ObjectiveFinding) -> String {
    let worst = found.worst.map(|worst| of_objective(&found.unit, worst));
    let trials = counted(u64::from(case.trials_scored), "trial");
    let in_trials = (found.trials_crossed > 0).then(|| format!("in {} of {trials}", found.trials_crossed));
    let facts: Vec<String> = worst.into_iter().chain(in_trials).collect();
    if facts.is_empty() { title.to_owned() } else { format!("{title} ({})", facts.join(", ")) }
}
