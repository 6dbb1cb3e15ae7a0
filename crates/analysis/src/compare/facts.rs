//! The facts of a scenario. Two scenarios ask the same question if all their facts are equal.
//!
//! Facts are compared and shown as words, so every difference can be shown. Names of scenarios and environments are not facts,
//! nor is the seed of a link.

use std::collections::{BTreeMap, BTreeSet};

use tolok_model::{
    CpuMap, Database, Environment, Link, Plan, ProgramScenario, RunRecord, Scenario, TrialRecord, duration_words,
};

use crate::environment::Surroundings;
use crate::names::Names;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) what: &'static str,
    pub(super) words: String,
}

/// The word for an unknown value, which never counts as a difference.
pub(super) const UNKNOWN: &str = "unknown";

fn fact(what: &'static str, words: impl Into<String>) -> Fact {
    Fact { what, words: words.into() }
}

/// What a scenario of servers asks: the same facts in the same order for every such scenario.
pub(super) fn of_scenario(scenario: &Scenario, plan: &Plan, run: &RunRecord, names: &Names) -> Vec<Fact> {
    let around = Surroundings::of(scenario, plan, run);
    let database = around.database(scenario);
    let Environment { subject, generator, link, network, .. } = &around.environment;
    let script = scenario.tool.script.as_ref().map(|script| fingerprint(&script.file, &script.text));
    let sysctls: Vec<String> = network.sysctls.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut facts = workload(&scenario.workload, names);
    facts.extend([
        fact("load", scenario.describe_load()),
        fact("warm-up", duration_words(scenario.load.warmup_s)),
        fact("time-out", duration_words(scenario.load.timeout_s)),
        fact("tool", scenario.tool.name.word()),
        fact("script", script.unwrap_or_else(none)),
        fact("limits of the subject", subject.describe()),
        fact("limits of the generator", generator.describe()),
        fact("link", of_link(link)),
        fact("congestion control", network.congestion.clone()),
        fact("kernel settings of the network", if sysctls.is_empty() { none() } else { sysctls.join(", ") }),
        fact("database", database.map_or_else(none, Database::describe_all)),
    ]);
    facts
}

/// What a scenario of programs asks. Only the subject's limits matter, as a program gets no requests.
pub(super) fn of_program(scenario: &ProgramScenario, plan: &Plan, run: &RunRecord, names: &Names) -> Vec<Fact> {
    let around = Surroundings::of_program(scenario, plan, run);
    let mut facts = workload(&scenario.workload, names);
    facts.extend([
        fact("runs", scenario.runs.describe()),
        fact("time-out", duration_words(scenario.runs.timeout_s)),
        fact("timer", scenario.timer.word()),
        fact("limits of the subject", around.environment.subject.describe()),
    ]);
    facts
}

/// The CPUs that the parts ran on. This is what a scenario got, not what it asked for.
pub(super) fn cpus(cpus: Option<&CpuMap>, is_program: bool) -> Vec<Fact> {
    let list = |cpus: &[u32]| match cpus {
        [] => none(),
        cpus => cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    };
    let of = |part: fn(&CpuMap) -> &Vec<u32>| cpus.map_or_else(|| UNKNOWN.to_owned(), |map| list(part(map)));
    let mut facts = vec![fact("CPUs of the subject", of(|map| &map.subject))];
    if !is_program {
        facts.extend([
            fact("CPUs of the generator", of(|map| &map.generator)),
            fact("CPUs of the link", of(|map| &map.link)),
            fact("CPUs of the database", of(|map| &map.database)),
        ]);
    }
    facts
}

/// The network between client and subject in the trials of these cases.
pub(super) fn network(trials: &[TrialRecord], is_own: &dyn Fn(&str) -> bool) -> Fact {
    let own = trials.iter().filter(|trial| is_own(&trial.case));
    let networks: BTreeSet<&str> = own.filter_map(|trial| Some(trial.isolation.as_ref()?.network.as_str())).collect();
    let networks: Vec<&str> = networks.into_iter().collect();
    fact("network of the trials", if networks.is_empty() { UNKNOWN.to_owned() } else { networks.join(", ") })
}

/// The release series of the databases that ran: `10.11` of `10.11.19-MariaDB`.
pub(super) fn database_series(versions: &[String]) -> Fact {
    let series = |version: &String| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let mut all: Vec<String> = versions.iter().map(series).collect();
    all.dedup();
    fact("release series of the database", if all.is_empty() { UNKNOWN.to_owned() } else { all.join(", ") })
}

fn workload(text: &str, names: &Names) -> Vec<Fact> {
    let name = text.split('?').next().unwrap_or(text);
    let values: BTreeMap<String, u32> = names.values(text);
    let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    vec![
        fact("workload", name),
        fact("parameters of the workload", if values.is_empty() { none() } else { values.join(", ") }),
    ]
}

/// Describes a link without its seed and without its preset's name, whose meaning may have changed.
fn of_link(link: &Link) -> String {
    let plain = Link { preset: None, seed: None, ..link.clone() };
    if plain.is_local() { "loopback".to_owned() } else { plain.describe() }
}

/// `users.js (checksum 1f3a0c2b)`
fn fingerprint(file: &str, text: &str) -> String {
    format!("{file} (checksum {:08x})", checksum(text))
}

/// 32-bit FNV-1a: enough to detect that a text differs, and the same on every machine.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn none() -> String {
    "none".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_series_is_what_stands_before_the_second_point() {
        let series =
            |versions: &[&str]| database_series(&versions.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).words;
        assert_eq!(series(&["10.11.19-MariaDB"]), "10.11");
        assert_eq!(series(&["8.4.1", "8.4.2"]), "8.4");
        assert_eq!(series(&[]), UNKNOWN);
    }

    #[test]
    fn a_link_is_what_it_does_and_not_what_it_is_called() {
        let preset = Link { seed: Some(7), ..Link::preset("wan-170ms").unwrap() };
        assert_eq!(of_link(&preset), of_link(&Link { rtt_s: 0.17, ..Link::default() }));
        assert_eq!(of_link(&Link::preset("localhost").unwrap()), "loopback");
    }

    #[test]
    fn another_script_of_the_same_name_is_seen() {
        assert_eq!(fingerprint("users.js", "a"), "users.js (checksum e40c292c)");
        assert_ne!(fingerprint("users.js", "a"), fingerprint("users.js", "b"));
    }
}
