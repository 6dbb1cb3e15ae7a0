//! What several runs share: the scenarios that at least two of them have, and their subjects.

use tolok_analysis::{CaseFinding, Findings, ScenarioFinding, without_brackets};

/// The letter of a run by its position: `A` for the first, `AA` for the 27th.
pub(crate) fn letter(place: usize) -> String {
    let last = char::from(b'A' + u8::try_from(place % 26).unwrap_or_default());
    let before = (place / 26).checked_sub(1).map(letter).unwrap_or_default();
    format!("{before}{last}")
}

/// A scenario that several runs have.
pub(crate) struct Shared<'a> {
    /// The position of each run that has it, and its findings.
    pub(crate) of_runs: Vec<(usize, &'a ScenarioFinding)>,
}

/// A subject of such a scenario, with its case in each run that has one.
pub(crate) struct SharedCase<'a> {
    pub(crate) title: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) runtime: &'a str,
    pub(crate) is_ceiling: bool,
    pub(crate) of_runs: Vec<(usize, &'a CaseFinding)>,
}

impl<'a> Shared<'a> {
    /// The scenarios that at least two runs have with the same load, tool and environment, in the order in which they first
    /// appear.
    pub(crate) fn all(runs: &[&'a Findings]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            for scenario in &run.scenarios {
                match all.iter_mut().find(|shared| shared.is_of(scenario)) {
                    Some(shared) => shared.of_runs.push((place, scenario)),
                    None => all.push(Self { of_runs: vec![(place, scenario)] }),
                }
            }
        }
        all.retain(|shared| shared.of_runs.len() > 1);
        all
    }

    pub(crate) fn is_of(&self, other: &ScenarioFinding) -> bool {
        sameness(self.first()) == sameness(other)
    }

    pub(crate) fn first(&self) -> &'a ScenarioFinding {
        self.of_runs[0].1
    }

    /// Its subjects: those of the first run in the order of its table, then those that only others have. Ceilings
    /// come last.
    pub(crate) fn cases(&self) -> Vec<SharedCase<'a>> {
        let mut cases: Vec<SharedCase<'a>> = Vec::new();
        for is_ceiling in [false, true] {
            for (place, scenario) in &self.of_runs {
                let own: Vec<&CaseFinding> =
                    if is_ceiling { scenario.ceiling.iter().collect() } else { scenario.cases.iter().collect() };
                for case in own {
                    match cases.iter_mut().find(|shared| shared.subject == case.subject) {
                        Some(shared) => shared.of_runs.push((*place, case)),
                        None => cases.push(SharedCase {
                            title: &case.title,
                            subject: &case.subject,
                            runtime: &case.runtime,
                            is_ceiling,
                            of_runs: vec![(*place, case)],
                        }),
                    }
                }
            }
        }
        cases
    }
}

impl SharedCase<'_> {
    /// Its title, marked if it is a ceiling.
    pub(crate) fn name(&self) -> String {
        if self.is_ceiling { format!("ceiling: {}", self.title) } else { self.title.to_owned() }
    }
}

/// What must be equal for two scenarios to be the same: name, load, tool, environment and link.
fn sameness(scenario: &ScenarioFinding) -> [String; 5] {
    let link = scenario.link.as_ref().map_or("", |link| &link.words);
    let tool = without_brackets(&scenario.tool);
    [&scenario.id, &scenario.load, &tool, &scenario.environment.words, link].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_letters_of_its_own() {
        assert_eq!([0, 25, 26, 27, 701, 702].map(letter), ["A", "Z", "AA", "AB", "ZZ", "AAA"]);
    }
}
