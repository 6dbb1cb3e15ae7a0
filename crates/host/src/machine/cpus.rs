//! The topology of CPUs, and the kernel's format for lists of them.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The online CPUs, ordered by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// One entry for each logical CPU.
    pub cpus: Vec<Cpu>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// The kernel's number for it.
    pub id: u32,
    /// The core, identified by its lowest CPU. CPUs of one core are siblings.
    pub core: u32,
    pub package: u32,
    /// The memory node.
    pub node: u32,
}

impl Topology {
    pub fn ids(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }
}

/// The ids in a list in the kernel's format, such as `0-3,8`. `None` if it is not such a list.
pub fn parse_cpu_list(list: &str) -> Option<Vec<u32>> {
    let mut ids = Vec::new();
    for part in list.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        // A kernel supports at most 8192 CPUs, so larger numbers do not come from a CPU list.
        if last < first || last > 8192 {
            return None;
        }
        ids.extend(first..=last);
    }
    Some(ids)
}

/// The list in the kernel's format, the reverse of [`parse_cpu_list`]: `[0, 1, 2, 8]` is `0-2,8`.
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

/// The topology below that root. CPUs with unknown place count as cores of their own.
pub(super) fn read_topology(root: &Path) -> Topology {
    let base = root.join("sys/devices/system/cpu");
    let text = |path: &Path| std::fs::read_to_string(path).ok();
    let online = text(&base.join("online")).and_then(|list| parse_cpu_list(&list)).unwrap_or_default();
    let nodes = nodes(root);
    let cpus = online.iter().map(|&id| {
        let fact = |name: &str| text(&base.join(format!("cpu{id}/topology/{name}")));
        // `core_id` is unique only within a die, and not every kernel shows the numbers of dies.
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
