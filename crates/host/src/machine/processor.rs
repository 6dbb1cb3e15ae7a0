//! The processor: what it is, what it is allowed to do by itself, and what was switched off in it for safety.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cpus::{format_cpu_list, parse_cpu_list};
use super::files::Files;
use super::parse;

/// The processor, as the kernel describes it. All CPUs are taken to be of the kind of the first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Its name as it gives it.
    pub model: Option<String>,
    /// Its maker as it gives it.
    pub vendor: Option<String>,
    /// The family that it belongs to.
    pub family: Option<u32>,
    /// The model within the family.
    pub model_number: Option<u32>,
    /// The revision of the model.
    pub stepping: Option<u32>,
    /// The version of its microcode.
    pub microcode: Option<String>,
    /// SHA-256 over its features in alphabetical order; equal where programs find the same instructions.
    pub features_sha256: Option<String>,
    /// The frequency when this was read; under a hypervisor the nominal one.
    pub frequency_mhz: Option<f64>,
    /// What the kernel says of siblings on a core: `on`, `off`, `notsupported` and the like.
    pub smt: Option<String>,
    /// The caches that its first CPU reaches.
    pub caches: Vec<Cache>,
    /// How many memory nodes there are.
    pub memory_nodes: Option<usize>,
    /// What chooses the frequency of the first CPU that has a governor.
    pub governor: Option<String>,
    pub frequency_driver: Option<String>,
    /// Whether it may run above its nominal frequency.
    pub boost: Option<bool>,
    /// Known weaknesses of the processor, and what the kernel does about each.
    pub vulnerabilities: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub holds: String,
    /// How much.
    pub size_bytes: u64,
    /// The CPUs that share it, as a list of the kernel's kind.
    pub shared_by: Option<String>,
}

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn read(files: Files) -> Processor {
    let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
    let online = files.text(format!("{CPUS}/online")).and_then(|list| parse_cpu_list(&list)).unwrap_or_default();
    let value = |name: &str| parse::field(&cpuinfo, name).filter(|value| !value.is_empty()).map(str::to_owned);
    let number = |name: &str| value(name).and_then(|value| value.parse().ok());
    // Virtual machines have no cpufreq folder at all, and some CPUs of a real one may have none.
    let frequency = |name: &str| online.iter().find_map(|id| files.word(format!("{CPUS}/cpu{id}/cpufreq/{name}")));
    let nodes = files.names("sys/devices/system/node");
    let nodes = nodes.iter().filter(|name| name.strip_prefix("node").is_some_and(|id| id.parse::<u32>().is_ok()));
    Processor {
        model: parse::cpu_model(&cpuinfo),
        vendor: value("vendor_id"),
        family: number("cpu family"),
        model_number: number("model"),
        stepping: number("stepping"),
        microcode: value("microcode"),
        features_sha256: parse::cpu_features_sha256(&cpuinfo),
        frequency_mhz: value("cpu MHz").and_then(|value| value.parse().ok()),
        smt: files.word(format!("{CPUS}/smt/control")),
        caches: online.first().map(|&id| caches(files, id)).unwrap_or_default(),
        memory_nodes: Some(nodes.count()).filter(|&nodes| nodes > 0),
        governor: frequency("scaling_governor"),
        frequency_driver: frequency("scaling_driver"),
        boost: boost(files),
        vulnerabilities: vulnerabilities(files),
    }
}

/// Two drivers say the same thing in opposite ways.
fn boost(files: Files) -> Option<bool> {
    let turbo_off = || files.switch(format!("{CPUS}/intel_pstate/no_turbo"));
    files.switch(format!("{CPUS}/cpufreq/boost")).or_else(|| turbo_off().map(|off| !off))
}

fn caches(files: Files, cpu: u32) -> Vec<Cache> {
    let folder = format!("{CPUS}/cpu{cpu}/cache");
    let cache = |name: &String| {
        let file = |fact: &str| format!("{folder}/{name}/{fact}");
        Some(Cache {
            level: files.number(file("level"))?,
            holds: files.word(file("type"))?,
            size_bytes: files.word(file("size")).and_then(|size| parse::cache_size_bytes(&size))?,
            shared_by: files
                .text(file("shared_cpu_list"))
                .and_then(|list| Some(format_cpu_list(&parse_cpu_list(&list)?))),
        })
    };
    files.names(&folder).iter().filter_map(cache).collect()
}

fn vulnerabilities(files: Files) -> BTreeMap<String, String> {
    let folder = format!("{CPUS}/vulnerabilities");
    let state = |name: String| files.word(format!("{folder}/{name}")).map(|state| (name, state));
    files.names(&folder).into_iter().filter_map(state).collect()
}
