//! Trees like those of control groups, in a temporary folder, so that tests can inspect what is written and control what is
//! read.
//!
//! Only this much of the kernel is imitated: the two files of `/proc/self` that lead to the own group, the initial files of
//! the own group, the formats of the counter files, and a refusal. Files are plain ones that keep
//! every value that was appended to them, a line each. So nothing is enforced, a new group begins without files, no
//! process moves, and a folder with files in it cannot be removed.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The usage of a group, written in the format of the tree's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FakeUsage {
    /// CPU time in user mode.
    pub user_us: u64,
    /// CPU time in the kernel.
    pub system_us: u64,
    /// Number of periods, of throttled periods, and the throttled time.
    pub throttling: (u64, u64, u64),
    /// All memory: current and peak.
    pub memory_bytes: (u64, u64),
    /// The anonymous part of it.
    pub anonymous_bytes: u64,
    /// The kernel's part of it.
    pub kernel_bytes: u64,
    /// Processes killed for lack of memory.
    pub oom_kills: u64,
    pub tasks: u64,
    /// Tasks refused because of the limit.
    pub refused_tasks: u64,
    /// Bytes read and written, per disk.
    pub disks: Vec<(u64, u64)>,
}

/// A folder in which `proc/self` and `sys/fs/cgroup` look like those of a process; removed on drop.
#[derive(Debug)]
pub struct FakeGroups {
    folder: TempDir,
    own: String,
    v1: bool,
    v2: Option<&'static str>,
}

/// The hierarchies of version 1: the folder, and the controllers as in the mount options. Two controllers share one, as on
/// most systems.
const V1: [(&str, &str); 6] = [
    ("cpu,cpuacct", "cpu,cpuacct"),
    ("cpuset", "cpuset"),
    ("memory", "memory"),
    ("pids", "pids"),
    ("freezer", "freezer"),
    ("blkio", "blkio"),
];

impl FakeGroups {
    /// Only version 1; the process is in the group `own` (a path from `/`) of each hierarchy.
    pub fn v1(own: &str) -> Self {
        Self::new(own, true, None)
    }

    /// Version 1 beside a version 2 tree without controllers.
    pub fn hybrid(own: &str) -> Self {
        Self::new(own, true, Some("sys/fs/cgroup/unified"))
    }

    /// Only version 2, with the controllers that systemd gives to a scope of root's.
    pub fn v2(own: &str) -> Self {
        let groups = Self::new(own, false, Some("sys/fs/cgroup"));
        groups.file("core", "", "cgroup.controllers", "cpuset cpu io memory pids\n");
        groups
    }

    fn new(own: &str, v1: bool, v2: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let groups = Self { folder, own: own.to_owned(), v1, v2 };
        let (mut mountinfo, mut cgroup) = (String::new(), String::new());
        for (number, (name, controllers)) in V1.iter().enumerate().filter(|_| v1) {
            mountinfo +=
                &format!("{} 31 0:{number} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{controllers}\n", number + 40);
            cgroup += &format!("{}:{controllers}:{own}\n", number + 1);
        }
        if let Some(mount) = v2 {
            mountinfo += &format!("60 31 0:60 / /{mount} rw - cgroup2 cgroup2 rw,nsdelegate\n");
            cgroup += &format!("0::{own}\n");
        }
        groups.root_file("proc/self/mountinfo", &mountinfo).root_file("proc/self/cgroup", &cgroup);
        let procs = format!("{}\n", std::process::id());
        if v1 {
            for (name, _) in V1 {
                groups.file(name, "", "cgroup.procs", &procs);
            }
            groups.file("cpuset", "", "cpuset.cpus", "0-3\n").file("cpuset", "", "cpuset.mems", "0\n");
            groups.file("memory", "", "memory.use_hierarchy", "1\n");
        }
        if v2.is_some() {
            groups.file("core", "", "cgroup.procs", &procs).file("core", "", "cgroup.controllers", "\n");
            groups.file("core", "", "cgroup.type", "domain\n").file("core", "", "cgroup.subtree_control", "\n");
        }
        groups
    }

    /// The folder that represents `/`.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes any file, given by its path from `/`.
    pub fn root_file(&self, path: &str, content: &str) -> &Self {
        write(&self.path().join(path), content);
        self
    }

    /// The folder of a group below the own one (the empty name is the own one), in the hierarchy of a version 1 controller,
    /// or of version 2 if that is `core` or there is no other.
    pub fn folder(&self, controller: &str, group: &str) -> PathBuf {
        let hierarchy =
            V1.iter().find(|(_, names)| self.v1 && (*names == controller || names.split(',').any(|n| n == controller)));
        let mount = match hierarchy {
            Some((name, _)) => format!("sys/fs/cgroup/{name}"),
            None => self.v2.expect("the tree has this controller").to_owned(),
        };
        let own = self.path().join(mount).join(self.own.trim_start_matches('/'));
        // Without a trailing slash, so that folders can be compared.
        own.components().chain(Path::new(group).components()).collect()
    }

    /// Writes a file of a group.
    pub fn file(&self, controller: &str, group: &str, name: &str, content: &str) -> &Self {
        write(&self.folder(controller, group).join(name), content);
        self
    }

    /// The content of a group's file.
    pub fn text(&self, controller: &str, group: &str, name: &str) -> String {
        let file = self.folder(controller, group).join(name);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// Makes a file of a group refuse every value, by replacing it with a folder, which cannot be written to.
    pub fn refuse(&self, controller: &str, group: &str, name: &str) -> &Self {
        let file = self.folder(controller, group).join(name);
        let _ = fs::remove_file(&file);
        fs::create_dir(file).expect("the group is there");
        self
    }

    /// Makes a group with this usage.
    pub fn usage(&self, group: &str, usage: &FakeUsage) -> &Self {
        let (periods, throttled, throttled_us) = usage.throttling;
        let cpu_us = usage.user_us + usage.system_us;
        let times = format!("usage_usec {cpu_us}\nuser_usec {}\nsystem_usec {}\n", usage.user_us, usage.system_us);
        let counts = format!("nr_periods {periods}\nnr_throttled {throttled}\n");
        if self.v1 {
            self.v1_usage(group, usage);
            self.file("cpu", group, "cpu.stat", &format!("{counts}throttled_time {}\n", throttled_us * 1000));
        } else {
            self.v2_usage(group, usage);
        }
        if self.v2.is_some() {
            // Periods exist only with the cpu controller.
            let quota = if self.v1 { String::new() } else { format!("{counts}throttled_usec {throttled_us}\n") };
            self.file("core", group, "cpu.stat", &format!("{times}{quota}"));
        }
        self
    }

    fn v1_usage(&self, group: &str, usage: &FakeUsage) {
        let file = |controller, name, value: u64| self.file(controller, group, name, &format!("{value}\n"));
        file("cpuacct", "cpuacct.usage", (usage.user_us + usage.system_us) * 1000);
        file("cpuacct", "cpuacct.usage_user", usage.user_us * 1000);
        file("cpuacct", "cpuacct.usage_sys", usage.system_us * 1000);
        file("memory", "memory.usage_in_bytes", usage.memory_bytes.0);
        file("memory", "memory.max_usage_in_bytes", usage.memory_bytes.1);
        file("memory", "memory.kmem.usage_in_bytes", usage.kernel_bytes);
        file("pids", "pids.current", usage.tasks);
        write(&self.folder("pids", group).join("pids.events"), &format!("max {}\n", usage.refused_tasks));
        let anonymous = usage.anonymous_bytes;
        // The first lines are for the group alone, without those below it.
        let stat =
            format!("cache 4096\nrss 0\nrss_huge 0\ntotal_cache 8192\ntotal_rss {anonymous}\ntotal_rss_huge 0\n");
        self.file("memory", group, "memory.stat", &stat);
        let oom = format!("oom_kill_disable 0\nunder_oom 0\noom_kill {}\n", usage.oom_kills);
        self.file("memory", group, "memory.oom_control", &oom);
        let line = |(number, (read, written)): (usize, &(u64, u64))| {
            let disk = format!("254:{number}");
            format!("{disk} Read {read}\n{disk} Write {written}\n{disk} Sync 1\n{disk} Total {}\n", read + written)
        };
        let disks: String = usage.disks.iter().enumerate().map(line).collect();
        let total: u64 = usage.disks.iter().map(|(read, written)| read + written).sum();
        let disks = format!("{disks}Total {total}\n");
        self.file("blkio", group, "blkio.throttle.io_service_bytes_recursive", &disks);
    }

    fn v2_usage(&self, group: &str, usage: &FakeUsage) {
        let file = |name, text: &str| self.file("core", group, name, text);
        file("memory.current", &format!("{}\n", usage.memory_bytes.0));
        file("memory.peak", &format!("{}\n", usage.memory_bytes.1));
        let (anonymous, kernel) = (usage.anonymous_bytes, usage.kernel_bytes);
        file("memory.stat", &format!("anon {anonymous}\nfile 4096\nkernel {kernel}\nkernel_stack 1\nanon_thp 7\n"));
        file("memory.events", &format!("low 0\nhigh 0\nmax 9\noom 3\noom_kill {}\n", usage.oom_kills));
        file("pids.current", &format!("{}\n", usage.tasks));
        file("pids.events", &format!("max {}\n", usage.refused_tasks));
        let line = |(number, (read, written)): (usize, &(u64, u64))| {
            format!("254:{number} rbytes={read} wbytes={written} rios=1 wios=2 dbytes=3 dios=4\n")
        };
        file("io.stat", &usage.disks.iter().enumerate().map(line).collect::<String>());
    }
}

fn write(file: &Path, content: &str) {
    let written =
        fs::create_dir_all(file.parent().expect("a file is in a folder")).and_then(|()| fs::write(file, content));
    assert!(written.is_ok(), "{}: {written:?}", file.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_where_proc_says() {
        let v1 = FakeGroups::v1("/user");
        assert!(fs::read_to_string(v1.path().join("proc/self/cgroup")).unwrap().contains(":cpu,cpuacct:/user\n"));
        assert_eq!(v1.folder("cpuacct", "x"), v1.path().join("sys/fs/cgroup/cpu,cpuacct/user/x"));
        assert_eq!(v1.text("cpuset", "", "cpuset.cpus"), "0-3\n");
        let v2 = FakeGroups::v2("/");
        assert_eq!(v2.folder("memory", ""), v2.path().join("sys/fs/cgroup"));
        let hybrid = FakeGroups::hybrid("/");
        assert_eq!(hybrid.folder("core", "x"), hybrid.path().join("sys/fs/cgroup/unified/x"));
    }

    #[test]
    fn a_file_that_refuses_takes_nothing() {
        let groups = FakeGroups::v2("/");
        groups.refuse("core", "", "cgroup.subtree_control");
        assert!(fs::write(groups.folder("core", "").join("cgroup.subtree_control"), "+cpu").is_err());
    }
}
