//! The processor: what it is, what it may do by itself, and which mitigations are on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cpus::{format_cpu_list, parse_cpu_list};
use super::files::Files;
use super::parse;

/// The processor as the kernel describes it. All CPUs are assumed to be like the first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// The name that it reports.
    pub model: Option<String>,
    /// The vendor that it reports.
    pub vendor: Option<String>,
    /// Its family.
    pub family: Option<u32>,
    /// The model within the family.
    pub model_number: Option<u32>,
    /// The revision of the model.
    pub stepping: Option<u32>,
    /// The version of its microcode.
    pub microcode: Option<String>,
    /// SHA-256 of its features in alphabetical order. It is equal where programs find the same instructions.
    pub features_sha256: Option<String>,
    /// The frequency when this was read. Under a hypervisor, the nominal one.
    pub frequency_mhz: Option<f64>,
    /// The kernel's state of simultaneous multithreading: `on`, `off`, `notsupported` and others.
    pub smt: Option<String>,
    /// The caches of its first CPU.
    pub caches: Vec<Cache>,
    /// The number of memory nodes.
    pub memory_nodes: Option<usize>,
    /// The frequency governor of the first CPU that has one.
    pub governor: Option<String>,
    pub frequency_driver: Option<String>,
    /// Whether it may run above its nominal frequency.
    pub boost: Option<bool>,
    /// Known vulnerabilities of the processor, and what the kernel does about each.
    pub vulnerabilities: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub holds: String,
    /// Its size.
    pub size_bytes: u64,
    /// The CPUs that share it, as a list in the kernel's format.
    pub shared_by: Option<String>,
}

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn read(files: Files) -> Processor {
    let cpuinfo = files.text("proc/cpuinfo").unwrap_or_default();
    let online = files.text(format!("{CPUS}/online")).and_then(|list| parse_cpu_list(&list)).unwrap_or_default();
    let value = |name: &str| parse::field(&cpuinfo, name).filter(|value| !value.is_empty()).map(str::to_owned);
    let number = |name: &str| value(name).and_then(|value| value.parse().ok());
    // Virtual machines have no cpufreq folder, and some CPUs of a real machine may have none.
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

/// The two drivers express this in opposite ways.
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
