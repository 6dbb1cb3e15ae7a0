//! CPU time of processes that no control group counts. It comes from the kernel's clock of each process, which includes ended threads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub use crate::sys::process_cpu_ns;

/// The clocks of some processes, including those that have ended.
#[derive(Debug)]
pub struct ProcessClocks {
    clock: fn(u32) -> Option<u64>,
    last_ns: BTreeMap<u32, u64>,
    /// CPU time of the ended processes when they were last seen.
    ended_ns: u64,
}

impl Default for ProcessClocks {
    fn default() -> Self {
        Self::with(process_cpu_ns)
    }
}

impl ProcessClocks {
    /// With a function that reads the clock of a process by its pid.
    pub fn with(clock: fn(u32) -> Option<u64>) -> Self {
        Self { clock, last_ns: BTreeMap::new(), ended_ns: 0 }
    }

    /// CPU time of these processes and of those that have ended, in nanoseconds.
    pub fn read(&mut self, pids: &[u32]) -> u64 {
        let mut sorted = pids.to_vec();
        sorted.sort_unstable();
        let ended_ns = &mut self.ended_ns;
        self.last_ns.retain(|pid, last_ns| {
            let stays = sorted.binary_search(pid).is_ok();
            *ended_ns += if stays { 0 } else { *last_ns };
            stays
        });
        for pid in pids {
            let Some(now_ns) = (self.clock)(*pid) else { continue };
            let last_ns = self.last_ns.insert(*pid, now_ns).unwrap_or_default();
            if now_ns < last_ns {
                // The kernel gave this pid to a new process, whose clock started at zero.
                self.ended_ns += last_ns;
            }
        }
        self.ended_ns + self.last_ns.values().sum::<u64>()
    }
}

/// These processes and all their descendants, in ascending order of pid, or `None` where the kernel does not list children. Much cheaper
/// than scanning all processes of the machine.
pub fn tree(proc_folder: &Path, roots: &[u32]) -> Option<Vec<u32>> {
    let (mut found, mut open) = (Vec::new(), roots.to_vec());
    let mut are_listed = false;
    while let Some(pid) = open.pop() {
        let Ok(threads) = fs::read_dir(proc_folder.join(format!("{pid}/task"))) else { continue };
        found.push(pid);
        for thread in threads.flatten() {
            let Ok(children) = fs::read_to_string(thread.path().join("children")) else { continue };
            are_listed = true;
            open.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    found.sort_unstable();
    found.dedup();
    are_listed.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_processes_used_stays_counted() {
        let mut clocks = ProcessClocks::with(|pid| (pid < 20).then_some(u64::from(pid) * 100));
        assert_eq!(clocks.read(&[3, 4, 99]), 700);
        assert_eq!(clocks.read(&[4]), 700);
        assert_eq!(clocks.read(&[4, 5]), 1200);
    }

    #[test]
    fn a_clock_that_fell_is_that_of_another_process() {
        let mut clocks = ProcessClocks { clock: |_| Some(5), last_ns: BTreeMap::from([(11, 9)]), ended_ns: 0 };
        assert_eq!((clocks.read(&[11]), clocks.read(&[11]), clocks.read(&[])), (14, 14, 14));
    }

    #[test]
    fn a_tree_holds_children_of_all_threads_at_any_depth() {
        let proc = tempfile::tempdir().unwrap();
        for (thread, children) in [("7/task/7", "8 "), ("7/task/9", ""), ("8/task/8", ""), ("8/task/10", "12 11 ")] {
            fs::create_dir_all(proc.path().join(thread)).unwrap();
            fs::write(proc.path().join(thread).join("children"), children).unwrap();
        }
        fs::create_dir_all(proc.path().join("11/task/11")).unwrap();
        // 12 has ended, and 11 is about to.
        assert_eq!(tree(proc.path(), &[7]), Some(vec![7, 8, 11]));
        assert_eq!(tree(proc.path(), &[11]), None, "a kernel that lists no children");
    }

    #[test]
    fn this_machines_kernel_is_read_as_well() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pids = tree(Path::new("/proc"), &[own]).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(pids.contains(&own) && pids.contains(&child.id()), "{pids:?}");
        assert!(ProcessClocks::default().read(&[own]) > 0);
        assert_eq!(process_cpu_ns(child.id()), None, "it is gone");
    }

    #[test]
    fn threads_that_have_ended_are_counted() {
        let own = std::process::id();
        let before = process_cpu_ns(own).unwrap();
        let spent = std::thread::spawn(|| {
            let began = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            let busy_ns = || {
                let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
                (now.tv_sec - began.tv_sec) as u64 * 1_000_000_000 + now.tv_nsec as u64 - began.tv_nsec as u64
            };
            while busy_ns() < 5_000_000 {}
            busy_ns()
        });
        let spent = spent.join().unwrap();
        assert!(process_cpu_ns(own).unwrap() - before >= spent);
    }
}
