//! The verdicts of many scenarios at a glance: groups of scenarios with the same first tier.
//!
//! The analysis decides tiers; this module only groups scenarios by them.

use tolok_analysis::figures::{counted, listed};
use tolok_analysis::{CaseFinding, Findings, ScenarioFinding};

use crate::documents::run::sections::is_of_tools;

/// The most verdicts that are readable one after the other. For more, a list of who comes first precedes them.
const MOST_AT_A_GLANCE: usize = 12;

/// Scenarios with the same first tier.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The cases in it: `Bun.serve and Go net/http`.
    pub(crate) first: String,
    /// In how many scenarios, and what that means.
    pub(crate) number: String,
    /// Ids of the scenarios.
    pub(crate) scenarios: String,
}

/// The standings of a run with many scenarios, the most common first; empty if all verdicts are readable.
pub(crate) fn standings(findings: &Findings, sections: &[&ScenarioFinding]) -> Vec<Standing> {
    let of_servers: Vec<&&ScenarioFinding> = sections.iter().filter(|section| !is_of_tools(section)).collect();
    if of_servers.len() + findings.programs.len() <= MOST_AT_A_GLANCE {
        return Vec::new();
    }
    let servers = of_servers
        .iter()
        .map(|it| (first_titles(!it.comparisons.is_empty(), &competitors(findings, &it.cases)), it.id.clone()));
    let programs = findings
        .programs
        .iter()
        .map(|it| (first_titles(!it.comparisons.is_empty(), &competitors(findings, &it.cases)), it.id.clone()));
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for (first, id) in servers.chain(programs) {
        match groups.iter_mut().find(|(known, _)| *known == first) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((first, vec![id])),
        }
    }
    // Scenarios without a result come last, however many there are.
    groups.sort_by_key(|(first, ids)| (first.is_empty(), std::cmp::Reverse(ids.len())));
    groups.into_iter().map(standing).collect()
}

/// The cases that compete. References do less work, so none of them may be first or the runner-up.
pub(super) fn competitors<'a, F>(findings: &Findings, cases: &'a [CaseFinding<F>]) -> Vec<&'a CaseFinding<F>> {
    let references = || findings.fairness.rows.iter().filter(|row| row.less_work.is_some());
    cases.iter().filter(|case| !references().any(|row| row.subject == case.subject)).collect()
}

/// The cases that share the first tier. Without references, the cases of one letter may all have another letter, too. Then the other
/// counts.
pub(super) fn first_tier<'a, F>(competitors: &[&'a CaseFinding<F>]) -> Vec<&'a CaseFinding<F>> {
    let has = |case: &CaseFinding<F>, letter: char| case.tier.as_ref().is_some_and(|letters| letters.contains(letter));
    let of_letter =
        |letter: char| competitors.iter().copied().filter(|case| has(case, letter)).collect::<Vec<&CaseFinding<F>>>();
    let best = competitors.iter().find_map(|case| case.tier.as_ref());
    let tiers: Vec<Vec<&CaseFinding<F>>> = best.map(|best| best.chars().map(of_letter).collect()).unwrap_or_default();
    let is_part = |tier: &Vec<&CaseFinding<F>>, of: &Vec<&CaseFinding<F>>| {
        tier.len() < of.len() && tier.iter().all(|case| of.iter().any(|other| other.case == case.case))
    };
    let first = tiers.iter().find(|tier| !tiers.iter().any(|other| is_part(tier, other)));
    first.cloned().unwrap_or_default()
}

/// Titles of those that share the first tier, in alphabetical order; empty if nothing is compared.
fn first_titles<F>(is_compared: bool, cases: &[&CaseFinding<F>]) -> Vec<String> {
    let first = first_tier(cases).into_iter().filter(|_| is_compared);
    let mut titles: Vec<String> = first.map(|case| case.title.clone()).collect();
    titles.sort_unstable();
    titles
}

fn standing((first, ids): (Vec<String>, Vec<String>)) -> Standing {
    let scenarios = counted(ids.len() as u64, "scenario");
    let number = match first.len() {
        0 => format!("in {scenarios}"),
        1 => format!("first in {scenarios}, clearly ahead of all others"),
        _ => format!("first in {scenarios}, no clear difference among them"),
    };
    let first = if first.is_empty() { "Nothing compared".to_owned() } else { listed(&first, "and") };
    Standing { first, number, scenarios: ids.join(", ") }
}
