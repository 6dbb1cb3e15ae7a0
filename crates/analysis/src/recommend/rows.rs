//! Merges scenarios with the same pick of a rule into one row.

use std::collections::BTreeSet;

use tolok_model::sentences::sentence_unless;

use super::{Rule, Said, Says};
use crate::figures::{counted, listed};
use crate::findings::{Recommendation, ScenarioFinding, Strength};
use crate::grouping::{each_once, grouped};

/// Up to this many ids or conditions are named. Beyond that, only their number is given.
const MOST_NAMED: usize = 3;

/// The rows of a rule: those with a pick first, then those with the most scenarios.
pub(super) fn rows(rule: &Rule, said: Vec<Said>, scenarios: &[&ScenarioFinding]) -> Vec<Recommendation> {
    let all: Vec<String> = said.iter().flat_map(|said| said.scenarios.clone()).collect();
    let names = |said: &Said| said.picks.iter().cloned().collect::<BTreeSet<String>>();
    let mut groups = grouped(said, |one, other| names(one) == names(other));
    groups.sort_by_key(|group| (group[0].picks.is_empty(), std::cmp::Reverse(group.len())));
    groups.iter().map(|group| row(rule, group, &all, scenarios)).collect()
}

fn row(rule: &Rule, group: &[Said], all: &[String], scenarios: &[&ScenarioFinding]) -> Recommendation {
    let ids: Vec<String> = group.iter().flat_map(|said| said.scenarios.clone()).collect();
    // The weakest recommendation with the smallest lead represents the group.
    let least = group
        .iter()
        .max_by(|left, right| left.strength.cmp(&right.strength).then_with(|| right.lead.total_cmp(&left.lead)));
    let closest = least.unwrap_or(&group[0]);
    let because = match (group.len(), closest.scenarios.first()) {
        (1, _) | (_, None) => closest.because.clone(),
        (_, Some(id)) if closest.picks.is_empty() => format!("for example in {id}: {}", closest.because),
        (several, Some(id)) => format!("in each of {several} scenarios; the closest, {id}: {}", closest.because),
    };
    let need = match rule.says {
        Says::OfRun(_) => format!("{}: {}", rule.need, counted(ids.len() as u64, "scenario")),
        Says::OfScenario(_) => format!("{}: {}", rule.need, labels(&ids, all, scenarios)),
    };
    Recommendation {
        rule: rule.name.to_owned(),
        rule_words: rule.words.to_owned(),
        need,
        scenarios: ids,
        picks: closest.picks.clone(),
        because: sentence_unless(&because, titles(scenarios)),
        strength: closest.strength,
        changes_if: sentence_unless(&changes(group, closest.strength), titles(scenarios)),
    }
}

fn titles<'s>(scenarios: &[&'s ScenarioFinding]) -> impl Iterator<Item = &'s str> {
    scenarios.iter().flat_map(|scenario| &scenario.cases).map(|case| case.title.as_str())
}

/// `JSON, Hello and 1,000 rows (rows-c16, rows-c64)`: titles, with ids if not all scenarios of a title are meant.
fn labels(ids: &[String], all: &[String], scenarios: &[&ScenarioFinding]) -> String {
    let title = |id: &String| scenarios.iter().find(|it| it.id == *id).map_or(id.clone(), |it| it.title.clone());
    let titles = each_once(ids.iter().map(title));
    let label = |of: &String| {
        let own: Vec<&String> = ids.iter().filter(|id| title(id) == *of).collect();
        let every = all.iter().filter(|id| title(id) == *of).count();
        match (own.len(), every) {
            (1, 1) => of.clone(),
            (some, every) if some == every => format!("{of} (all {every})"),
            _ => format!("{of} ({})", few(own.into_iter().cloned().collect())),
        }
    };
    listed(&titles.iter().map(label).collect::<Vec<_>>(), "and")
}

/// The conditions of all scenarios, each once. Missing qualities of the figures come last, because none of them overturns the
/// pick.
fn changes(group: &[Said], strength: Strength) -> String {
    let mut parts = once_each(group.iter().flat_map(|said| said.changes.iter().cloned()), ": ");
    let rest = parts.len().saturating_sub(MOST_NAMED);
    if rest > 1 {
        parts.truncate(MOST_NAMED);
        parts.push(format!("{rest} more such conditions"));
    }
    let lacks = once_each(group.iter().flat_map(|said| said.caveats.iter().cloned()), " (now");
    match (parts.is_empty(), lacks.is_empty()) {
        _ if strength == Strength::None => [parts, lacks].concat().join("; "),
        (true, true) => "nothing that this run knows of; another machine or version may".to_owned(),
        (true, false) => format!("nothing that this run varied; for more certainty: {}", lacks.join("; ")),
        (false, true) => parts.join("; "),
        (false, false) => format!("{}; for more certainty: {}", parts.join("; "), lacks.join("; ")),
    }
}

/// Keeps the first of the texts that agree up to `end`: `more workers: their number limited Go` represents every scenario with
/// that limit.
fn once_each(all: impl Iterator<Item = String>, end: &str) -> Vec<String> {
    let what = |text: &str| text.split(end).next().unwrap_or_default().to_owned();
    let mut once: Vec<String> = Vec::new();
    for one in all {
        if !once.iter().any(|known| what(known) == what(&one)) {
            once.push(one);
        }
    }
    once
}

/// `a, b, c and 4 more`
fn few(mut names: Vec<String>) -> String {
    let rest = names.len().saturating_sub(MOST_NAMED);
    if rest > 1 {
        names.truncate(MOST_NAMED);
        names.push(format!("{rest} more"));
        return listed(&names, "and");
    }
    names.join(", ")
}
