//! What isolated the parts of the trials, in words that every format shares.

use tolok_analysis::figures::{count, counted, listed};
use tolok_analysis::{FallbackFinding, Findings, IsolationFinding, SysctlFinding, WeightsFinding};

use super::section;
use super::surroundings::backend;
use crate::document::{Block, Look, Text};

/// The section; unavailable isolation comes last.
pub(crate) fn blocks(findings: &Findings) -> Vec<Block> {
    let had = parts(findings).into_iter().map(|part| Text::from(format!("{}: {}", part.what, part.words)));
    let lacking = fallbacks(findings)
        .into_iter()
        .map(|words| Text::of("not had", Look::Warning).and(format!(": {words}"), Look::Plain));
    let items: Vec<Text> = had.chain(lacking).collect();
    section("isolation", "Isolation", Block::list(items).into_iter().collect())
}

/// One kind of isolation.
struct Part {
    what: &'static str,
    words: String,
}

/// All of them; empty if no trial got that far.
fn parts(findings: &Findings) -> Vec<Part> {
    let isolation = &findings.isolation;
    if isolation.trials == 0 {
        return Vec::new();
    }
    let settings: Vec<String> = isolation.sysctls.iter().filter(|it| differs(it)).map(setting).collect();
    // A program has no client.
    let is_asked = !findings.scenarios.is_empty() || findings.programs.is_empty();
    let facts = [
        Some(("the subject’s own namespaces", or_none(&isolation.namespaces))),
        Some(("control groups", groups(isolation))),
        isolation
            .weights
            .as_ref()
            .map(|it| ("weights of the groups (an ordinary one has 100)", weights(it, isolation.trials))),
        Some((
            if is_asked { "between client and subject" } else { "network" },
            listed(&isolation.networks.iter().map(|it| backend(it)).collect::<Vec<_>>(), "or"),
        )),
        (!settings.is_empty()).then(|| ("kernel settings that differ from the machine’s", settings.join("; "))),
        autogroup(isolation).map(|words| ("autogroup", words.to_owned())),
    ];
    facts.into_iter().flatten().map(|(what, words)| Part { what, words }).collect()
}

/// All unavailable isolation, each once.
fn fallbacks(findings: &Findings) -> Vec<String> {
    let trials = findings.isolation.trials;
    let said = |fallback: &FallbackFinding| {
        let all = counted(u64::from(trials), "trial");
        let text = fallback.text.trim_end_matches('.');
        if fallback.trials == trials { text.to_owned() } else { format!("{text} (in {} of {all})", fallback.trials) }
    };
    findings.isolation.fallbacks.iter().map(said).collect()
}

/// A line for the head of a terminal report; empty if nothing is known.
pub(crate) fn line(findings: &Findings) -> String {
    let isolation = &findings.isolation;
    if isolation.trials == 0 {
        return String::new();
    }
    let namespaces = match isolation.namespaces.as_slice() {
        [] => "no namespaces".to_owned(),
        names => format!("namespaces {}", names.join(", ")),
    };
    let networks: Vec<String> = isolation.networks.iter().map(|network| backend(network)).collect();
    let groups = groups(isolation);
    let groups = if groups == "none" { "no control groups".to_owned() } else { format!("control groups {groups}") };
    format!("isolation: {namespaces} · {groups} · {}", listed(&networks, "or"))
}

fn groups(isolation: &IsolationFinding) -> String {
    let layouts = listed(&isolation.groups, "or");
    if isolation.controllers.is_empty() { layouts } else { format!("{layouts} ({})", isolation.controllers.join(", ")) }
}

/// CPU weights: those of neighbours, of the trial, and of its parts.
fn weights(weights: &WeightsFinding, trials: u32) -> String {
    let values = |values: &[u32]| values.iter().map(|it| count(u64::from(*it))).collect::<Vec<_>>().join(" or ");
    let parts: Vec<String> = weights.parts.iter().map(|(part, found)| format!("{part} {}", values(found))).collect();
    let below = if weights.own_group.is_empty() {
        "below the root of all groups".to_owned()
    } else {
        format!("in a group of {}", values(&weights.own_group))
    };
    let among = if parts.is_empty() { String::new() } else { format!("; its parts: {}", parts.join(", ")) };
    let some = if weights.trials == trials {
        String::new()
    } else {
        format!(" (in {} of {})", weights.trials, counted(u64::from(trials), "trial"))
    };
    format!("the trial {} {below}{among}{some}", values(&weights.whole))
}

fn or_none(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// A setting that equals the machine's is left out.
fn differs(setting: &SysctlFinding) -> bool {
    setting.machine.as_ref().is_none_or(|machine| setting.values.iter().any(|value| value != machine))
}

fn setting(setting: &SysctlFinding) -> String {
    let machine = setting.machine.as_ref().map(|machine| format!(" (machine: {machine})")).unwrap_or_default();
    format!("{} = {}{machine}", setting.name, setting.values.join(" or "))
}

fn autogroup(isolation: &IsolationFinding) -> Option<&'static str> {
    Some(match isolation.autogroup? {
        false => "off",
        true if isolation.is_autogrouped() => "on, and it weighs the parts by their sessions",
        true => "on, but groups of their own keep the parts out of it",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_said_from_the_outside_to_the_inside() {
        let mut found = WeightsFinding {
            trials: 6,
            own_group: vec![100],
            whole: vec![10_000],
            parts: [("link".to_owned(), vec![1_000]), ("subject".to_owned(), vec![100])].into(),
        };
        let words = "the trial 10,000 in a group of 100; its parts: link 1,000, subject 100";
        assert_eq!(weights(&found, 6), words);
        found.own_group.clear();
        found.parts.clear();
        assert_eq!(weights(&found, 8), "the trial 10,000 below the root of all groups (in 6 of 8 trials)");
    }
}
