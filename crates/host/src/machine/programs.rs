//! Which programs take CPU time that a measurement needs, and which other toloks are measuring here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::files::Files;
use crate::procfs::{TICKS_PER_S, name_and_fields};

/// Below this share of one CPU, a program causes no noticeable disturbance.
const WORTH_NAMING: f64 = 0.05;
/// More names than this do not help.
const MOST_NAMED: usize = 3;

/// The processes of a machine.
#[derive(Debug, Clone)]
pub struct Processes {
    root: PathBuf,
}

/// Each process's CPU time so far, in kernel ticks, with its name.
pub type CpuTimes = BTreeMap<u32, (String, u64)>;

/// A process that used CPU time.
#[derive(Debug, Clone, PartialEq)]
pub struct BusyProgram {
    pub pid: u32,
    /// The kernel's name for it: at most 15 characters.
    pub name: String,
    /// How many CPUs it used.
    pub cpus: f64,
}

/// Another tolok that is measuring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherRun {
    /// The process of its run, not of its block.
    pub pid: u32,
    /// The name of its run folder.
    pub run: String,
}

impl Default for Processes {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

impl Processes {
    /// The CPU times of all visible processes. Leaves out a process that ends meanwhile.
    pub fn cpu_times(&self) -> CpuTimes {
        let files = Files::below(&self.root);
        let read = |pid: u32| Some((pid, name_and_ticks(&files.text(format!("proc/{pid}/stat"))?)?));
        self.pids(files).filter_map(read).collect()
    }

    /// Runs of other toloks: each run is the parent of its block's process.
    pub fn other_runs(&self, own: u32) -> Vec<OtherRun> {
        let files = Files::below(&self.root);
        let run = |pid: u32| {
            let words = files.text(format!("proc/{pid}/cmdline"))?;
            let words: Vec<&str> = words.split('\0').collect();
            let [program, "block", folder, ..] = words.as_slice() else { return None };
            let stat = files.text(format!("proc/{pid}/stat"))?;
            let parent = name_and_fields(&stat)?.1.nth(1)?.parse().ok()?;
            let is_tolok = program.rsplit('/').next() == Some("tolok");
            let run = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            (is_tolok && pid != own && parent != own).then_some(OtherRun { pid: parent, run })
        };
        self.pids(files).filter_map(run).collect()
    }

    fn pids(&self, files: Files<'_>) -> impl Iterator<Item = u32> {
        files.names("proc").into_iter().filter_map(|name| name.parse().ok())
    }
}

/// The programs that used most CPU time between two readings, the greatest first. `own` is this process, which is left
/// out.
pub fn busiest(before: &CpuTimes, after: &CpuTimes, over_s: f64, own: u32) -> Vec<BusyProgram> {
    let used = after.iter().filter(|(pid, _)| **pid != own).map(|(pid, (name, ticks))| {
        // A process that began meanwhile had used nothing before.
        let earlier = before.get(pid).filter(|(earlier, _)| earlier == name).map_or(0, |(_, ticks)| *ticks);
        BusyProgram {
            pid: *pid,
            name: name.clone(),
            cpus: ticks.saturating_sub(earlier) as f64 / f64::from(TICKS_PER_S) / over_s,
        }
    });
    let mut busy: Vec<BusyProgram> = used.filter(|program| program.cpus >= WORTH_NAMING).collect();
    busy.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    busy.truncate(MOST_NAMED);
    busy
}

/// `most of it by rustc (pid 7213, 0.98 CPUs) and node (pid 99, 0.51 CPUs)`
pub fn busy_words(busy: &[BusyProgram]) -> Option<String> {
    let words = busy.iter().map(|one| format!("{} (pid {}, {:.2} CPUs)", one.name, one.pid, one.cpus));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("most of it by {}", words.join(", ")))
}

/// User and system time are at indices 11 and 12, counted from the state.
fn name_and_ticks(stat: &str) -> Option<(String, u64)> {
    let (name, fields) = name_and_fields(stat)?;
    let mut times = fields.skip(11).map(|ticks| ticks.parse::<u64>().ok());
    Some((name.to_owned(), times.next()?? + times.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: u32, name: &str, parent: u32, user: u64, system: u64) -> String {
        format!("{pid} ({name}) S {parent} 1 1 0 -1 4194304 100 0 0 0 {user} {system} 0 0 20 0 1 0 5000 1000 10")
    }

    fn processes(files: &[(u32, String, &str)]) -> (tempfile::TempDir, Processes) {
        let root = tempfile::tempdir().unwrap();
        for (pid, stat, cmdline) in files {
            let folder = root.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("stat"), stat).unwrap();
            std::fs::write(folder.join("cmdline"), cmdline).unwrap();
        }
        let processes = Processes { root: root.path().to_owned() };
        (root, processes)
    }

    #[test]
    fn cpu_times_are_read_whatever_a_process_is_called() {
        let (_root, processes) = processes(&[(7, stat(7, "a) b (c", 1, 40, 2), ""), (8, "8 (ended".to_owned(), "")]);
        assert_eq!(processes.cpu_times(), BTreeMap::from([(7, ("a) b (c".to_owned(), 42))]));
    }

    #[test]
    fn the_busiest_are_named_with_what_they_used_and_never_this_one() {
        let times = |all: &[(u32, &str, u64)]| -> CpuTimes {
            all.iter().map(|(pid, name, ticks)| (*pid, ((*name).to_owned(), *ticks))).collect()
        };
        let before = times(&[(1, "init", 100), (2, "rustc", 1_000), (3, "tolok", 50)]);
        let after = times(&[(1, "init", 101), (2, "rustc", 1_196), (3, "tolok", 150), (4, "node", 100)]);
        let busy = busiest(&before, &after, 2.0, 3);
        let names: Vec<(&str, f64)> = busy.iter().map(|one| (one.name.as_str(), one.cpus)).collect();
        assert_eq!(names, [("rustc", 0.98), ("node", 0.5)]);
        let words = "most of it by rustc (pid 2, 0.98 CPUs), node (pid 4, 0.50 CPUs)";
        assert_eq!(busy_words(&busy).as_deref(), Some(words));
        assert_eq!(busy_words(&[]), None);
    }

    #[test]
    fn another_run_is_known_by_the_process_of_its_block() {
        let (_root, processes) = processes(&[
            (10, stat(10, "tolok", 1, 0, 0), "tolok\0run\0core\0"),
            (11, stat(11, "tolok", 10, 0, 0), "/usr/bin/tolok\0block\0/home/me/runs/2026-core\0"),
            (20, stat(20, "tolok", 1, 0, 0), "tolok\0quick\0"),
            (21, stat(21, "tolok", 20, 0, 0), "tolok\0block\0/home/me/runs/own\0"),
            (30, stat(30, "less", 1, 0, 0), "less\0block\0file\0"),
        ]);
        assert_eq!(processes.other_runs(20), [OtherRun { pid: 10, run: "2026-core".to_owned() }]);
    }
}
