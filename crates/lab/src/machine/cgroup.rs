//! Which control groups this process finds itself in, and whether it may make groups below.
//!
//! Three layouts are met in the wild: version 1 (one hierarchy a controller), version 2 (one for all), and hybrid (version
//! 1 with a version 2 tree beside it that has few controllers or none).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The control groups of this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cgroup {
    /// Which layout the system has.
    pub mode: CgroupMode,
    /// The controllers that this process could use if it has the right.
    pub controllers: Vec<String>,
    /// Whether it may make a group below its own in the hierarchy of the cpu controller (of version 2, where there is no other).
    pub writable: bool,
}

/// The layouts of control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupMode {
    /// No control groups are mounted.
    None,
    /// One hierarchy a controller.
    V1,
    /// Version 1, and a version 2 tree beside it.
    Hybrid,
    /// One hierarchy for all controllers.
    V2,
}

/// A mounted hierarchy: its mount point, the part of it that is mounted, and its version 1 controllers.
#[derive(Debug, PartialEq, Eq)]
struct Hierarchy {
    mount: PathBuf,
    mounted_part: String,
    controllers: Option<Vec<String>>,
}

pub(super) fn read(root: &Path) -> Cgroup {
    let text = |path: PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let hierarchies = hierarchies(&text(root.join("proc/self/mountinfo")));
    let own = text(root.join("proc/self/cgroup"));
    let mut controllers = BTreeSet::new();
    let mut folder_of_cpu = None;
    let mut folder_of_v2 = None;
    for hierarchy in &hierarchies {
        let folder = root.join(own_folder(hierarchy, &own).strip_prefix("/").unwrap_or(Path::new("")));
        match &hierarchy.controllers {
            Some(names) => {
                if names.iter().any(|name| name == "cpu") {
                    folder_of_cpu = Some(folder);
                }
                controllers.extend(names.iter().cloned());
            }
            None => {
                controllers.extend(text(folder.join("cgroup.controllers")).split_whitespace().map(str::to_owned));
                folder_of_v2 = Some(folder);
            }
        }
    }
    let writable = folder_of_cpu.or(folder_of_v2).is_some_and(|folder| may_write(&folder));
    Cgroup { mode: mode(&hierarchies), controllers: controllers.into_iter().collect(), writable }
}

fn mode(hierarchies: &[Hierarchy]) -> CgroupMode {
    // A named hierarchy such as systemd's own has no controller, and alone does not make a system version 1.
    let v1 = hierarchies.iter().any(|hierarchy| hierarchy.controllers.as_ref().is_some_and(|names| !names.is_empty()));
    let v2 = hierarchies.iter().any(|hierarchy| hierarchy.controllers.is_none());
    match (v1, v2) {
        (true, true) => CgroupMode::Hybrid,
        (true, false) => CgroupMode::V1,
        (false, true) => CgroupMode::V2,
        (false, false) => CgroupMode::None,
    }
}

/// The control-group lines of mountinfo: `id parent dev root mount-point options … - type source super-options`.
fn hierarchies(mountinfo: &str) -> Vec<Hierarchy> {
    const CONTROLLERS: [&str; 14] = [
        "blkio",
        "cpu",
        "cpuacct",
        "cpuset",
        "devices",
        "freezer",
        "hugetlb",
        "memory",
        "misc",
        "net_cls",
        "net_prio",
        "perf_event",
        "pids",
        "rdma",
    ];
    let hierarchy = |line: &str| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split_whitespace().skip(3);
        let (mounted_part, mount) = (mount.next()?.to_owned(), PathBuf::from(mount.next()?));
        let mut filesystem = filesystem.split_whitespace();
        let controllers = match filesystem.next()? {
            "cgroup2" => None,
            "cgroup" => {
                let options = filesystem.nth(1)?.split(',');
                Some(options.filter(|option| CONTROLLERS.contains(option)).map(str::to_owned).collect())
            }
            _ => return None,
        };
        Some(Hierarchy { mount, mounted_part, controllers })
    };
    mountinfo.lines().filter_map(hierarchy).collect()
}

/// The folder of this process in a hierarchy, from the `id:controllers:path` lines of `/proc/self/cgroup`.
fn own_folder(hierarchy: &Hierarchy, own: &str) -> PathBuf {
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        let ours = match &hierarchy.controllers {
            None => names.is_empty(),
            Some(controllers) => names.split(',').any(|name| controllers.iter().any(|controller| controller == name)),
        };
        ours.then_some(path)
    });
    // In a container the mount shows a part of the hierarchy only, and the path starts above it.
    let path = path.unwrap_or("/");
    let below = Path::new(path).strip_prefix(&hierarchy.mounted_part).unwrap_or(Path::new(""));
    hierarchy.mount.join(below)
}

fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controllers(mountinfo: &str) -> Vec<Option<Vec<String>>> {
        hierarchies(mountinfo).into_iter().map(|hierarchy| hierarchy.controllers).collect()
    }

    const HYBRID: &str = "\
23 1 0:22 / /proc rw,relatime - proc proc rw
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/memory rw,relatime shared:4 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const V2: &str =
        "28 24 0:24 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate";

    #[test]
    fn each_layout_is_told_from_its_mounts() {
        let v1: String =
            HYBRID.lines().filter(|line| !line.contains("cgroup2")).map(|line| format!("{line}\n")).collect();
        for (mountinfo, expected) in
            [(HYBRID, CgroupMode::Hybrid), (v1.as_str(), CgroupMode::V1), (V2, CgroupMode::V2), ("", CgroupMode::None)]
        {
            assert_eq!(mode(&hierarchies(mountinfo)), expected, "{mountinfo}");
        }
    }

    #[test]
    fn systemds_named_hierarchy_beside_version_2_is_not_hybrid() {
        let mounts = format!("{V2}\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n");
        assert_eq!(mode(&hierarchies(&mounts)), CgroupMode::V2);
    }

    #[test]
    fn controllers_come_from_the_mount_options() {
        let joint = "1 2 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct";
        assert_eq!(controllers(joint), [Some(vec!["cpu".to_owned(), "cpuacct".to_owned()])]);
    }

    #[test]
    fn the_own_folder_is_found_below_a_partial_mount() {
        let hierarchy = |mounted_part: &str| Hierarchy {
            mount: PathBuf::from("/sys/fs/cgroup"),
            mounted_part: mounted_part.to_owned(),
            controllers: None,
        };
        for (mounted_part, own, expected) in [
            ("/", "0::/user.slice/tolok.scope\n", "/sys/fs/cgroup/user.slice/tolok.scope"),
            ("/docker/1", "0::/docker/1/inner\n", "/sys/fs/cgroup/inner"),
            ("/docker/1", "0::/elsewhere\n", "/sys/fs/cgroup/"),
            ("/", "", "/sys/fs/cgroup/"),
        ] {
            assert_eq!(own_folder(&hierarchy(mounted_part), own), PathBuf::from(expected), "{own:?}");
        }
    }
}
