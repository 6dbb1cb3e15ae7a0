//! What isolated the parts of the trials from each other and from the machine, and what was missing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tolok_model::{GroupWeights, Isolation, RunRecord, TrialRecord};

use crate::findings::{FallbackFinding, IsolationFinding, SysctlFinding, WeightsFinding};

pub(crate) fn isolation(run: &RunRecord, trials: &[TrialRecord]) -> IsolationFinding {
    let found: Vec<&Isolation> = trials.iter().filter_map(|trial| trial.isolation.as_ref()).collect();
    let in_all = |of: fn(&Isolation) -> &Vec<String>| -> Vec<String> {
        let Some(first) = found.first() else { return Vec::new() };
        of(first).iter().filter(|word| found.iter().all(|it| of(it).contains(word))).cloned().collect()
    };
    let distinct = |of: &dyn Fn(&Isolation) -> String| -> Vec<String> {
        found.iter().map(|it| of(it)).collect::<BTreeSet<String>>().into_iter().collect()
    };
    let mut namespaces = in_all(|it| &it.namespaces);
    let mut controllers = in_all(|it| &it.controllers);
    // Sorted, so the order of the trials does not matter.
    namespaces.sort_unstable();
    controllers.sort_unstable();
    IsolationFinding {
        trials: found.len() as u32,
        namespaces,
        groups: distinct(&|it| it.groups.clone().unwrap_or_else(|| "none".to_owned())),
        controllers,
        weights: weights(&found),
        networks: distinct(&|it| it.network.clone()),
        sysctls: sysctls(&found, &run.fingerprint),
        autogroup: autogroup(&run.fingerprint),
        fallbacks: fallbacks(&found),
    }
}

fn weights(found: &[&Isolation]) -> Option<WeightsFinding> {
    let told: Vec<&GroupWeights> = found.iter().filter_map(|isolation| isolation.weights.as_ref()).collect();
    let distinct = |of: &dyn Fn(&GroupWeights) -> Option<u32>| -> Vec<u32> {
        told.iter().filter_map(|weights| of(weights)).collect::<BTreeSet<u32>>().into_iter().collect()
    };
    let parts: BTreeSet<&String> = told.iter().flat_map(|weights| weights.parts.keys()).collect();
    let of_part = |part: &String| distinct(&|weights| weights.parts.get(part).copied());
    let finding = WeightsFinding {
        trials: told.len() as u32,
        own_group: distinct(&|weights| weights.own_group),
        whole: distinct(&|weights| weights.trial),
        parts: parts.into_iter().map(|part| (part.clone(), of_part(part))).collect(),
    };
    (!told.is_empty()).then_some(finding)
}

fn fallbacks(found: &[&Isolation]) -> Vec<FallbackFinding> {
    let mut trials: BTreeMap<&str, u32> = BTreeMap::new();
    for isolation in found {
        for text in isolation.fallbacks.iter().collect::<BTreeSet<_>>() {
            *trials.entry(text).or_default() += 1;
        }
    }
    let mut fallbacks: Vec<FallbackFinding> =
        trials.into_iter().map(|(text, trials)| FallbackFinding { text: text.to_owned(), trials }).collect();
    fallbacks.sort_by_key(|fallback| std::cmp::Reverse(fallback.trials));
    fallbacks
}

fn sysctls(found: &[&Isolation], fingerprint: &Value) -> Vec<SysctlFinding> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in found.iter().flat_map(|isolation| &isolation.sysctls) {
        values.entry(name).or_default().insert(value);
    }
    let finding = |(name, values): (&str, BTreeSet<&str>)| SysctlFinding {
        name: name.to_owned(),
        values: values.into_iter().map(str::to_owned).collect(),
        machine: on_machine(name, fingerprint),
    };
    values.into_iter().map(finding).collect()
}

/// The machine's own value. The fingerprint names its fields like the last part of the setting, sometimes with a unit.
fn on_machine(name: &str, fingerprint: &Value) -> Option<String> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let network = fingerprint.get("network").unwrap_or(fingerprint);
    let names = [last.to_owned(), format!("{last}_s"), last.trim_start_matches("tcp_").to_owned()];
    match names.iter().find_map(|name| network.get(name))? {
        Value::Bool(is_on) => Some(u8::from(*is_on).to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

/// Older records have a plain switch, others one among the scheduler's switches.
fn autogroup(fingerprint: &Value) -> Option<bool> {
    let found = fingerprint.pointer("/scheduler/autogroup").or_else(|| fingerprint.get("autogroup"))?;
    found.as_bool().or_else(|| found.get("enabled")?.as_bool())
}
