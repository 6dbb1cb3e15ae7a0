//! Where hierarchies are mounted, and which group of each contains this process. Parses two files of `/proc/self`.

use std::path::{Component, Path, PathBuf};

use super::CgroupMode;

/// A mounted hierarchy: its mount point, the part of it that is mounted, and its version 1 controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mounted {
    pub mount: PathBuf,
    /// Not `/` in a container that sees only a part of the hierarchy.
    pub part: PathBuf,
    /// `None` for version 2; empty for a named hierarchy such as systemd's own.
    pub controllers: Option<Vec<String>>,
}

/// The words in the mount options of a version 1 hierarchy that are controllers.
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

/// The control-group lines of mountinfo: `id parent dev root mount-point options … - type source super-options`.
pub(crate) fn mounted(mountinfo: &str) -> Vec<Mounted> {
    let hierarchy = |line: &str| {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (part, mount) = (unescaped(mount.next()?), unescaped(mount.next()?));
        let mut filesystem = filesystem.split_whitespace();
        let controllers = match filesystem.next()? {
            "cgroup2" => None,
            "cgroup" => {
                let options = filesystem.nth(1)?.split(',');
                Some(options.filter(|option| CONTROLLERS.contains(option)).map(str::to_owned).collect())
            }
            _ => return None,
        };
        Some(Mounted { mount, part, controllers })
    };
    mountinfo.lines().filter_map(hierarchy).collect()
}

/// mountinfo writes blanks, line ends and backslashes in paths as a backslash and three octal digits.
fn unescaped(field: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

pub(super) fn layout(mounted: &[Mounted]) -> CgroupMode {
    // A named hierarchy has no controllers, so it does not make a system version 1.
    let v1 = mounted.iter().any(|hierarchy| hierarchy.controllers.as_ref().is_some_and(|names| !names.is_empty()));
    let v2 = mounted.iter().any(|hierarchy| hierarchy.controllers.is_none());
    match (v1, v2) {
        (true, true) => CgroupMode::Hybrid,
        (true, false) => CgroupMode::V1,
        (false, true) => CgroupMode::V2,
        (false, false) => CgroupMode::None,
    }
}

/// The folder of this process in a hierarchy, from the `id:controllers:path` lines of `/proc/self/cgroup`.
pub(crate) fn own_folder(hierarchy: &Mounted, own: &str) -> PathBuf {
    match below_mount(hierarchy, own) {
        Some(below) => hierarchy.mount.join(below),
        None => hierarchy.mount.clone(),
    }
}

/// Whether this process's group is the root of a hierarchy, as far as visible from here.
pub(crate) fn is_root(hierarchy: &Mounted, own: &str) -> bool {
    hierarchy.part == Path::new("/") && below_mount(hierarchy, own).is_some_and(|below| below == Path::new(""))
}

/// Picks the mount of a hierarchy that shows this process's group. Among equals, the last one wins, since it may hide
/// the others.
pub(crate) fn best<'a>(same: impl Iterator<Item = &'a Mounted>, own: &str) -> Option<&'a Mounted> {
    same.max_by_key(|hierarchy| below_mount(hierarchy, own).is_some())
}

/// The path of this process's group below the mount point, or `None` if the mount does not show it.
fn below_mount(hierarchy: &Mounted, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        let ours = match &hierarchy.controllers {
            None => names.is_empty(),
            Some(controllers) => names.split(',').any(|name| controllers.iter().any(|controller| controller == name)),
        };
        ours.then_some(Path::new(path))
    })?;
    // In a container the mount shows only a part of the hierarchy, and the path starts above it.
    let below = path.strip_prefix(&hierarchy.part).ok()?;
    // A group outside this process's cgroup namespace is written with `..`, which must not be followed.
    let plain = below.components().all(|component| matches!(component, Component::Normal(_)));
    plain.then(|| below.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(layout(&mounted(mountinfo)), expected, "{mountinfo}");
        }
    }

    #[test]
    fn systemds_named_hierarchy_beside_version_2_is_not_hybrid() {
        let mounts = format!("{V2}\n40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n");
        assert_eq!(layout(&mounted(&mounts)), CgroupMode::V2);
    }

    #[test]
    fn controllers_come_from_the_mount_options() {
        let joint = mounted("1 2 0:3 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct");
        assert_eq!(joint[0].controllers, Some(vec!["cpu".to_owned(), "cpuacct".to_owned()]));
    }

    #[test]
    fn blanks_in_paths_are_read_as_they_are_written() {
        let spaced = mounted(r"1 2 0:3 /a\040b /mnt/my\040groups\134x rw - cgroup2 cgroup2 rw");
        assert_eq!(
            (spaced[0].part.as_path(), spaced[0].mount.as_path()),
            (Path::new("/a b"), Path::new(r"/mnt/my groups\x"))
        );
    }

    #[test]
    fn the_own_folder_is_found_below_a_partial_mount() {
        let hierarchy = |part: &str| Mounted { mount: "/sys/fs/cgroup".into(), part: part.into(), controllers: None };
        for (part, own, expected) in [
            ("/", "0::/user.slice/tolok.scope\n", "/sys/fs/cgroup/user.slice/tolok.scope"),
            ("/docker/1", "0::/docker/1/inner\n", "/sys/fs/cgroup/inner"),
            ("/docker/1", "0::/docker/1\n", "/sys/fs/cgroup"),
            ("/docker/1", "0::/docker/11\n", "/sys/fs/cgroup"),
            ("/docker/1", "0::/elsewhere\n", "/sys/fs/cgroup"),
            // As seen from inside a cgroup namespace that the process has entered but was not born in.
            ("/", "0::/../../elsewhere\n", "/sys/fs/cgroup"),
            ("/", "", "/sys/fs/cgroup"),
        ] {
            assert_eq!(own_folder(&hierarchy(part), own), PathBuf::from(expected), "{own:?}");
        }
    }

    #[test]
    fn of_two_mounts_of_a_hierarchy_the_one_that_shows_the_own_group_counts() {
        let twice = mounted(
            "\
1 2 0:3 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw
4 2 0:3 /docker/2 /mnt rw - cgroup2 cgroup2 rw
",
        );
        for (own, expected) in [("0::/docker/1/x\n", "/sys/fs/cgroup"), ("0::/docker/2\n", "/mnt"), ("", "/mnt")] {
            assert_eq!(best(twice.iter(), own).unwrap().mount, Path::new(expected), "{own:?}");
        }
    }
}
