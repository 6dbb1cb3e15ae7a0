//! Reads `/proc`: which processes descend from another, and their proportional memory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::procfs;

/// The parent of every process, at one moment.
#[derive(Debug, Default)]
pub struct ProcessTree {
    children: BTreeMap<u32, Vec<u32>>,
}

impl ProcessTree {
    /// Reads the parent of every process.
    pub fn read(proc_folder: &Path) -> Self {
        let mut tree = Self::default();
        let entries = fs::read_dir(proc_folder).into_iter().flatten().flatten();
        for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            // A process that has ended meanwhile has no parent.
            if let Some(parent) = procfs::stat(proc_folder, pid).and_then(|stat| parent_of(&stat)) {
                tree.children.entry(parent).or_default().push(pid);
            }
        }
        tree
    }

    /// All descendants of `ancestor`, without itself, ordered by pid.
    pub fn below(&self, ancestor: u32) -> Vec<u32> {
        let (mut found, mut open) = (Vec::new(), vec![ancestor]);
        while let Some(pid) = open.pop() {
            let children = self.children.get(&pid).map(Vec::as_slice).unwrap_or_default();
            found.extend(children);
            open.extend(children);
        }
        found.sort_unstable();
        found
    }
}

/// All current descendants of `ancestor`, without itself.
pub fn descendants(proc_folder: &Path, ancestor: u32) -> Vec<u32> {
    ProcessTree::read(proc_folder).below(ancestor)
}

/// The summed proportional set sizes of several processes: private pages, plus shared ones divided by the number of
/// sharers.
///
/// The kernel walks all pages of a process for this, which takes a millisecond and more each. Meanwhile it holds the
/// lock of the process's memory map (`mmap_lock`), so the process cannot map, unmap or grow memory. So call it after
/// the load, never in a window.
///
/// Processes that have ended are left out. `None` if no process can be read, or if access to one is denied: a partial
/// sum would look like the whole.
pub fn pss_bytes(proc_folder: &Path, pids: &[u32]) -> Option<u64> {
    let mut sum = None;
    for pid in pids {
        match fs::read_to_string(proc_folder.join(pid.to_string()).join("smaps_rollup")) {
            Ok(rollup) => sum = Some(sum.unwrap_or(0) + pss_in(&rollup)?),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return None,
            Err(_) => {}
        }
    }
    sum
}

fn pss_in(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn parent_of(stat: &str) -> Option<u32> {
    procfs::name_and_fields(stat)?.1.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use tolok_testkit::{FakeProc, FakeProcess};

    use super::*;

    fn child(pid: u32, ppid: u32) -> FakeProcess {
        FakeProcess { pid, ppid, ..FakeProcess::default() }
    }

    #[test]
    fn a_name_full_of_brackets_and_blanks_does_not_shift_the_fields() {
        let proc = FakeProc::new();
        let name = "php) R 1 (fpm: pool (www".to_owned();
        proc.process(&FakeProcess { name, ppid: 7, ..child(42, 7) });
        assert_eq!(descendants(proc.path(), 7), [42]);
    }

    #[test]
    fn names_need_not_be_text() {
        // A name is any bytes, and some servers use that. The numbers behind it are still text.
        let proc = FakeProc::new();
        proc.process(&child(42, 7));
        let stat = fs::read(proc.path().join("42/stat")).unwrap();
        let odd: Vec<u8> = stat.iter().map(|byte| if *byte == b's' { 0xFF } else { *byte }).collect();
        proc.file("42/stat", odd);
        assert_eq!(descendants(proc.path(), 7), [42]);
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_an_orphan_with_its_new_parent() {
        let proc = FakeProc::new();
        // init 10 ── master 11 ── worker 12 ── helper 13, and an unrelated process.
        for process in [child(10, 1), child(11, 10), child(12, 11), child(13, 12), child(99, 1)] {
            proc.process(&process);
        }
        assert_eq!(descendants(proc.path(), 10), [11, 12, 13]);
        assert_eq!(descendants(proc.path(), 12), [13]);
        // The worker ends, and the init adopts its helper.
        proc.ended(12).process(&child(13, 10));
        assert_eq!(descendants(proc.path(), 10), [11, 13]);
        assert_eq!(descendants(proc.path(), 11), [0; 0]);
    }

    #[test]
    fn a_process_that_goes_while_it_is_looked_at_is_skipped() {
        let proc = FakeProc::new();
        proc.process(&child(11, 10)).process(&child(12, 10));
        fs::remove_file(proc.path().join("12/stat")).unwrap();
        assert_eq!(descendants(proc.path(), 10), [11]);
        assert_eq!(descendants(Path::new("/nonexistent"), 10), [0; 0]);
    }

    #[test]
    fn proportional_sizes_are_summed_without_those_who_are_gone() {
        let proc = FakeProc::new();
        proc.process(&FakeProcess { pss_kib: 100, ..child(11, 10) });
        proc.process(&FakeProcess { pss_kib: 20, ..child(12, 10) });
        assert_eq!(pss_bytes(proc.path(), &[11, 12, 13]), Some(120 * 1024));
        assert_eq!(pss_bytes(proc.path(), &[13]), None);
        // A value that cannot be parsed is not zero.
        proc.file("12/smaps_rollup", "Pss: a lot\n");
        assert_eq!(pss_bytes(proc.path(), &[11, 12]), None);
    }

    #[test]
    fn the_kernel_of_this_machine_is_read_as_well() {
        let own = std::process::id();
        assert!(descendants(Path::new("/proc"), std::os::unix::process::parent_id()).contains(&own));
        let pss = pss_bytes(Path::new("/proc"), &[own]).unwrap();
        assert!(pss > 100 * 1024, "{pss}");
    }
}
