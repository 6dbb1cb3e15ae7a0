//! Other differences between two runs: the change under comparison, such as a runtime's version, and what readers must know.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tolok_model::{Case, Plan, RunRecord, TrialRecord};

use super::ComparedRun;
use super::conditions::{Both, add, differs};
use super::facts::UNKNOWN;
use super::findings::Difference;
use super::views::ScenarioView;

/// The compared parts of the machine's fingerprint and their names. Parts that change on their own from day to day are left out.
const OF_MACHINE: [(&str, &str); 9] = [
    ("C library", "/kernel/libc"),
    ("microcode", "/processor/microcode"),
    ("frequency governor", "/processor/governor"),
    ("boost", "/processor/boost"),
    ("siblings on a core", "/processor/smt"),
    ("clock source", "/kernel/clocksource"),
    ("randomised addresses", "/kernel/randomised_addresses"),
    ("congestion control of the machine", "/network/congestion_control"),
    ("autogroups", "/scheduler/autogroup/enabled"),
];

/// Shown characters of a digest.
const DIGEST: usize = 16;

/// Everything else that differs: programs first, then sources, then the machine.
pub(super) fn changes(both: &Both) -> Vec<Difference> {
    let records = both.runs.map(|run| run.records.run);
    let mut found = programs(records);
    found.extend(differs("tolok", records.map(|run| run.tolok_version.clone())));
    found.extend(differs("sources", records.map(|run| run.git.clone().unwrap_or_else(unknown))));
    found.extend(subjects(both.runs));
    found.extend(differs("kernel", records.map(|run| run.machine.kernel.clone())));
    found.extend(differs("distribution", records.map(|run| run.machine.distribution.clone())));
    let of_machine =
        |(what, place): (&'static str, &str)| differs(what, records.map(|run| at(&run.fingerprint, place)));
    found.extend(OF_MACHINE.into_iter().filter_map(of_machine));
    let mut of_scenarios = Vec::new();
    for (before, after) in both.pairs() {
        // A tool with another name is already a difference of conditions.
        let is_same_tool = before.tool.split(' ').next() == after.tool.split(' ').next();
        // If no trial was scored, the version is unknown.
        let has_version = |view: &&ScenarioView| view.tool.split(' ').nth(1).is_some_and(|word| word != "with");
        let is_known = [before, after].iter().all(has_version);
        let tool = differs("version of the tool", [before.tool.clone(), after.tool.clone()]);
        let tool = tool.filter(|_| is_same_tool && is_known);
        let is_told = !before.database.is_empty() && !after.database.is_empty();
        let database = differs("version of the database", [before.database.clone(), after.database.clone()]);
        let database = database.filter(|_| is_told);
        for found in tool.into_iter().chain(database) {
            add(&mut of_scenarios, Difference { scenarios: vec![before.id.to_owned()], ..found });
        }
    }
    found.extend(of_scenarios);
    found
}

/// What differs between two runs that should be alike: versions, parameters and builds.
pub(super) fn versions(runs: [&ComparedRun; 2]) -> Vec<Difference> {
    let mut found = programs(runs.map(|run| run.records.run));
    found.extend(subjects(runs));
    found
}

fn unknown() -> String {
    UNKNOWN.to_owned()
}

/// Versions of the programs that subjects use, by name.
fn programs(records: [&RunRecord; 2]) -> Vec<Difference> {
    let versions = records.map(|run| {
        let mut of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        run.programs.iter().for_each(|program| {
            of.entry(&program.name).or_default().insert(&program.version);
        });
        of
    });
    let names: BTreeSet<&str> = versions.iter().flat_map(BTreeMap::keys).copied().collect();
    let words = |of: &BTreeMap<&str, BTreeSet<&str>>, name: &str| match of.get(name) {
        Some(versions) => versions.iter().copied().collect::<Vec<_>>().join(", "),
        None => "not used".to_owned(),
    };
    let of_name = |name| {
        differs(name, [0, 1].map(|run| words(&versions[run], name))).or_else(|| same_version_other_file(records, name))
    };
    names.into_iter().filter_map(of_name).collect()
}

/// A program with the same version but different files in the two runs: another build, or a modified one.
fn same_version_other_file(records: [&RunRecord; 2], name: &str) -> Option<Difference> {
    let files = records.map(|run| {
        let of_name = run.programs.iter().filter(|program| program.name == name);
        // Older records lack the hash.
        of_name.map(|program| program.sha256.as_deref().map(short)).collect::<Option<BTreeSet<String>>>()
    });
    let [Some(before), Some(after)] = files else { return None };
    let words = [before, after].map(|digests| digests.into_iter().collect::<Vec<_>>().join(", "));
    differs(&format!("binary of {name}"), words)
}

fn short(digest: &str) -> String {
    digest.chars().take(DIGEST).collect()
}

/// Parameters and builds of subjects that are in both runs, each once.
fn subjects(runs: [&ComparedRun; 2]) -> Vec<Difference> {
    let plans = runs.map(|run| run.records.plan);
    let labels =
        |plan: &'_ Plan| plan.cases.iter().map(|case| case.subject.label.clone()).collect::<BTreeSet<String>>();
    let [before, after] = plans.map(labels);
    let mut found = Vec::new();
    for label in before.intersection(&after) {
        let cases = plans.map(|plan| plan.cases.iter().find(|case| case.subject.label == *label));
        let [Some(a), Some(b)] = cases else { continue };
        found.extend(differs(&format!("parameters of {label}"), [a, b].map(parameters)));
        let builds = [(a, 0), (b, 1)].map(|(case, run)| build_of(runs[run].records.trials, plans[run], case));
        if let [Some(before), Some(after)] = builds {
            found.extend(differs(&format!("build of {}", a.subject.subject), [before, after]));
        }
    }
    // Variants of a subject share one build.
    found.dedup();
    found
}

fn parameters(case: &Case) -> String {
    let values: Vec<String> = case.subject.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if values.is_empty() { "none".to_owned() } else { values.join(", ") }
}

/// The build that the commands of a subject name. It depends only on the subject's sources and on what they are built with.
/// `None` for a subject that is not built, or if no trial got that far.
pub(super) fn build_of(trials: &[TrialRecord], plan: &Plan, case: &Case) -> Option<String> {
    let marker = format!("/{}-", case.subject.subject.replace('/', "-"));
    let own =
        |trial: &&TrialRecord| plan.case(&trial.case).is_some_and(|it| it.subject.subject == case.subject.subject);
    let mut commands = trials.iter().filter(own).flat_map(|trial| &trial.commands);
    let in_path = |command: &String| command.split(&marker).skip(1).find_map(digest);
    commands.find_map(|command| in_path(command).or_else(|| named_build(command)))
}

/// The build that a command names explicitly. The ceiling's does, because the ceiling is part of tolok's own program.
fn named_build(command: &str) -> Option<String> {
    let name = command.split(" --build ").nth(1)?.split(' ').next()?;
    (name.len() == DIGEST && name.bytes().all(|letter| letter.is_ascii_hexdigit())).then(|| name.to_owned())
}

/// The digest at the start of a text, if a path follows it.
fn digest(text: &str) -> Option<String> {
    let digest = text.get(..DIGEST)?;
    let is_digest = digest.bytes().all(|letter| letter.is_ascii_hexdigit());
    (is_digest && text[DIGEST..].starts_with('/')).then(|| digest.to_owned())
}

/// A recorded fact about a machine, in words.
fn at(fingerprint: &Value, place: &str) -> String {
    match fingerprint.pointer(place) {
        None | Some(Value::Null) => unknown(),
        Some(Value::Bool(true)) => "on".to_owned(),
        Some(Value::Bool(false)) => "off".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_known_by_the_digest_in_a_command() {
        assert_eq!(digest("0123456789abcdef/target/release/ceiling").as_deref(), Some("0123456789abcdef"));
        assert_eq!(digest("0123456789abcdef0/target"), None, "longer than a digest");
        assert_eq!(digest("http/server"), None);
        assert_eq!(named_build("tolok ceiling --build 0123456789abcdef --port 1").as_deref(), Some("0123456789abcdef"));
        assert_eq!(named_build("make --build server"), None);
    }
}
