//! Keeps the lab's own threads off the CPUs of the subjects.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use tolok_model::CpuMap;

/// Confines this process's threads to some CPUs. Dropping it restores the CPUs that the calling thread had before.
#[must_use = "the threads go back when this is dropped"]
pub(in crate::run) struct AffinityGuard {
    before: Option<CpuSet>,
}

impl AffinityGuard {
    /// The lab reads clocks and files while a subject is measured, so it shares the generator's CPUs. If the machine refuses, only
    /// a little accuracy is lost.
    pub(in crate::run) fn off_the_subjects(cpus: &BTreeMap<String, CpuMap>) -> Self {
        let before = sched_getaffinity(None).ok();
        let mut own = CpuSet::new();
        let theirs: BTreeSet<u32> = cpus.values().flat_map(|cpus| cpus.subject.clone()).collect();
        let generators = cpus.values().flat_map(|cpus| cpus.of_lab());
        // If the parts share CPUs in one environment, every CPU may belong to a subject.
        let free: BTreeSet<u32> = generators.clone().filter(|cpu| !theirs.contains(cpu)).copied().collect();
        let chosen = if free.is_empty() { generators.copied().collect() } else { free };
        chosen.iter().for_each(|cpu| own.set(*cpu as usize));
        keep_threads_on(&own);
        Self { before }
    }

    /// The CPUs that this process could use before.
    pub(in crate::run) fn cpus_before(&self) -> Vec<u32> {
        self.before.as_ref().map(numbers).unwrap_or_default()
    }
}

/// The CPUs that this process may use.
pub(in crate::run) fn allowed_cpus() -> Vec<u32> {
    sched_getaffinity(None).as_ref().map(numbers).unwrap_or_default()
}

fn numbers(cpus: &CpuSet) -> Vec<u32> {
    (0..CpuSet::MAX_CPU).filter(|cpu| cpus.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

impl Drop for AffinityGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            keep_threads_on(before);
        }
    }
}

/// Moves every existing thread: those that wait for signals or write lines started earlier, and must not wake on a subject's CPU
/// either. A later thread inherits the CPUs of its creator.
fn keep_threads_on(cpus: &CpuSet) {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let ids = threads.filter_map(|thread| Pid::from_raw(thread.file_name().to_str()?.parse().ok()?));
    for id in ids {
        let _ = sched_setaffinity(Some(id), cpus);
    }
}
