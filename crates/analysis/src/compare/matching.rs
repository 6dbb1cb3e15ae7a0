//! Matches the scenarios of two runs.
//!
//! Scenarios with the same facts match first, whatever their names. The rest match by name and kind, as in a study that changed
//! between the runs. Their facts differ, which counts as a difference of conditions.

use super::views::ScenarioView;

/// Indexes of a scenario in the runs before and after.
pub(super) type Match = (usize, usize);

/// Whether a scenario of the run before matches one of the run after.
type Rule = fn(&ScenarioView, &ScenarioView) -> bool;

/// Every match, in the order of the run before.
pub(super) fn matches(before: &[ScenarioView], after: &[ScenarioView]) -> Vec<Match> {
    let mut found: Vec<Match> = Vec::new();
    // If several ask the same, those with the same name belong together.
    let rules: [Rule; 3] =
        [|a, b| asks_the_same(a, b) && a.id == b.id, asks_the_same, |a, b| a.id == b.id && a.kind == b.kind];
    for is_match in rules {
        for (place, one) in before.iter().enumerate() {
            let is_free = |other: usize| found.iter().all(|(a, b)| *a != place && *b != other);
            let other = (0..after.len()).find(|&other| is_free(other) && is_match(one, &after[other]));
            found.extend(other.map(|other| (place, other)));
        }
    }
    found.sort_unstable();
    found
}

fn asks_the_same(before: &ScenarioView, after: &ScenarioView) -> bool {
    before.kind == after.kind && before.facts == after.facts
}
