//! CPUs: how they hang together, and who gets which.
//!
//! [`assign_cpus`] is a pure function of a topology. The subject and the generator never get the same CPU unless there is
//! only one, and they get siblings of one core only when the cores do not suffice: a sibling shares the core's units and
//! caches, so the load of one would be measured as the slowness of the other.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The CPUs that are online, in the order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// One entry a logical CPU.
    pub cpus: Vec<Cpu>,
}

/// One logical CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The number the kernel gives it.
    pub id: u32,
    /// The core, named by the lowest CPU on it; CPUs of one core are siblings.
    pub core: u32,
    /// The socket.
    pub package: u32,
    /// The memory node.
    pub node: u32,
}

/// Who runs on which CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuMap {
    /// The CPUs of the subject.
    pub subject: Vec<u32>,
    /// The CPUs of the generator.
    pub generator: Vec<u32>,
    /// Whether both run on the same CPU, so that neither can be measured apart.
    pub shared: bool,
    /// What falls short of what was asked, in one sentence.
    pub note: Option<String>,
}

impl Topology {
    /// The ids of all CPUs.
    pub fn ids(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }
}

/// Gives the subject and the generator the CPUs they asked for, as far as `allowed` has them.
///
/// Preferred in this order: every CPU alone on its core; whole cores for each side; different CPUs of shared cores; and on
/// one CPU, the same for both. Each side gets at least one CPU; where there are too few, the generator shrinks first, as the
/// subject's number of CPUs is part of the question that the study asks.
pub fn assign_cpus(topology: &Topology, allowed: &[u32], subject_cpus: usize, generator_cpus: usize) -> CpuMap {
    let cores = allowed_cores(topology, allowed);
    let available: usize = cores.iter().map(Vec::len).sum();
    let (asked_subject, asked_generator) = (subject_cpus.max(1), generator_cpus.max(1));
    if available <= 1 {
        let only = cores.into_iter().next().unwrap_or_else(|| vec![0]);
        let note =
            "one CPU only: subject and generator share it, so no figure can be told from the generator's own cost";
        return CpuMap { subject: only.clone(), generator: only, shared: true, note: Some(note.to_owned()) };
    }
    let generator_count = asked_generator.min(available.saturating_sub(asked_subject).max(1));
    let subject_count = asked_subject.min(available - generator_count);
    let (mut subject, mut generator, siblings) = deal(&cores, subject_count, generator_count);
    subject.sort_unstable();
    generator.sort_unstable();
    let mut notes = Vec::new();
    if (subject_count, generator_count) != (asked_subject, asked_generator) {
        notes.push(format!(
            "asked for {asked_subject} + {asked_generator} CPUs, {available} may be used: \
             {subject_count} for the subject, {generator_count} for the generator"
        ));
    }
    if siblings {
        notes.push("too few cores: subject and generator run on siblings of one core and slow each other".to_owned());
    }
    CpuMap { subject, generator, shared: false, note: (!notes.is_empty()).then(|| notes.join("; ")) }
}

/// The CPUs of the subject and of the generator, and whether a core is split between them.
fn deal(cores: &[Vec<u32>], subject_count: usize, generator_count: usize) -> (Vec<u32>, Vec<u32>, bool) {
    if cores.len() >= subject_count + generator_count {
        let first_of = |cores: &[Vec<u32>]| cores.iter().map(|core| core[0]).collect();
        let (subject, rest) = cores.split_at(subject_count);
        return (first_of(subject), first_of(&rest[..generator_count]), false);
    }
    // Whole cores: the subject fills its own from the front, the generator takes the cores behind.
    let mut held = 0;
    let subject_cores = cores.iter().position(|core| {
        held += core.len();
        held >= subject_count
    });
    let (subject_cores, generator_cores) = cores.split_at(subject_cores.map_or(cores.len(), |last| last + 1));
    if generator_cores.iter().map(Vec::len).sum::<usize>() >= generator_count {
        let take = |cores: &[Vec<u32>], count| cores.iter().flatten().copied().take(count).collect();
        return (take(subject_cores, subject_count), take(generator_cores, generator_count), false);
    }
    let mut all = cores.iter().flatten().copied();
    let subject: Vec<u32> = all.by_ref().take(subject_count).collect();
    let generator: Vec<u32> = all.take(generator_count).collect();
    (subject, generator, true)
}

/// The allowed CPUs grouped by core; cores of one memory node and package stand together, so that neighbours share caches.
fn allowed_cores(topology: &Topology, allowed: &[u32]) -> Vec<Vec<u32>> {
    let mut cores: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
    for &id in allowed {
        // A CPU whose place is unknown counts as a core of its own.
        let cpu = topology.cpus.iter().find(|cpu| cpu.id == id);
        let cpu = cpu.copied().unwrap_or(Cpu { id, core: id, package: u32::MAX, node: 0 });
        let core = cores.entry((cpu.node, cpu.package, cpu.core)).or_default();
        if !core.contains(&id) {
            core.push(id);
        }
    }
    let mut cores: Vec<Vec<u32>> = cores.into_values().collect();
    cores.iter_mut().for_each(|core| core.sort_unstable());
    cores
}

/// The ids in a list of the kernel's kind, such as `0-3,8`; `None` when it is not one.
pub fn parse_cpu_list(list: &str) -> Option<Vec<u32>> {
    let mut ids = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        // A kernel is built for at most 8192 CPUs; anything beyond is not a CPU list.
        if last < first || last > 8192 {
            return None;
        }
        ids.extend(first..=last);
    }
    Some(ids)
}

/// The list in the kernel's form, the reverse of [`parse_cpu_list`]: `[0, 1, 2, 8]` is `0-2,8`.
pub fn format_cpu_list(ids: &[u32]) -> String {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let ranges = ids.chunk_by(|a, b| a + 1 == *b).map(|range| match range {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => unreachable!("chunk_by yields no empty chunk"),
    });
    ranges.collect::<Vec<_>>().join(",")
}

/// The topology below that root; CPUs whose place is not told count as cores of their own.
pub(super) fn read_topology(root: &Path) -> Topology {
    let base = root.join("sys/devices/system/cpu");
    let text = |path: &Path| std::fs::read_to_string(path).ok();
    let online = text(&base.join("online")).and_then(|list| parse_cpu_list(&list)).unwrap_or_default();
    let nodes = nodes(root);
    let cpus = online.iter().map(|&id| {
        let fact = |name: &str| text(&base.join(format!("cpu{id}/topology/{name}")));
        // `core_id` is unique within a die only, and the numbers of dies are not told by every kernel.
        let siblings = fact("thread_siblings_list").and_then(|list| parse_cpu_list(&list));
        let core = siblings.and_then(|siblings| siblings.into_iter().min()).unwrap_or(id);
        let package = fact("physical_package_id").and_then(|value| value.trim().parse().ok()).unwrap_or(0);
        let node = nodes.iter().find(|(_, ids)| ids.contains(&id)).map_or(0, |(node, _)| *node);
        Cpu { id, core, package, node }
    });
    Topology { cpus: cpus.collect() }
}

fn nodes(root: &Path) -> Vec<(u32, Vec<u32>)> {
    let Ok(entries) = std::fs::read_dir(root.join("sys/devices/system/node")) else { return Vec::new() };
    let node = |entry: std::fs::DirEntry| {
        let number = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, parse_cpu_list(&std::fs::read_to_string(entry.path().join("cpulist")).ok()?)?))
    };
    entries.flatten().filter_map(node).collect()
}

/// The governor of the first CPU that has one; virtual machines rarely do.
pub(super) fn first_governor(root: &Path) -> Option<String> {
    let base = root.join("sys/devices/system/cpu");
    let online = parse_cpu_list(&std::fs::read_to_string(base.join("online")).ok()?)?;
    let governor = |id: &u32| std::fs::read_to_string(base.join(format!("cpu{id}/cpufreq/scaling_governor"))).ok();
    online.iter().find_map(governor).map(|governor| governor.trim().to_owned())
}
