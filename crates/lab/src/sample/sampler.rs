//! Follows the subject's and the generator's processes through a trial.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tolok_model::Resources;

use super::host::HostTimes;
use super::process::{ProcessTree, ProcessUsage, pss_bytes};

/// Whom a sample is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The server under test, all its processes.
    Subject,
    /// The load tool.
    Generator,
}

/// One reading of one part: a line of `samples.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the trial's clock began.
    pub at_s: f64,
    /// Whom it is about.
    pub part: Part,
    /// CPU time of its processes so far, those that have ended included, in seconds.
    pub cpu_s: f64,
    /// Time its threads were ready to run and had no CPU so far, in seconds.
    pub run_queue_wait_s: f64,
    /// Resident sets summed.
    pub rss_sum_bytes: u64,
    /// Processes.
    pub processes: u32,
    /// Threads.
    pub threads: u32,
}

/// What the window used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowUsage {
    /// The server under test.
    pub subject: Resources,
    /// The load tool.
    pub generator: Resources,
    /// Work of the whole machine.
    pub host: HostTimes,
}

/// Follows processes. The caller says when to read; the sampler keeps no time and starts no thread.
#[derive(Debug)]
pub struct Sampler {
    proc_folder: PathBuf,
    subject: Tracked,
    generator: Tracked,
    samples: Vec<Sample>,
    window_start: Option<(Reading, HostTimes)>,
}

/// Both parts at one moment.
#[derive(Debug, Clone)]
struct Reading {
    subject: Sample,
    generator: Sample,
}

/// The processes of one part, those that have ended included.
#[derive(Debug)]
struct Tracked {
    part: Part,
    /// The processes below this one are the part.
    root: Option<u32>,
    /// Whether `root` itself belongs to the part.
    with_root: bool,
    /// Last reading of every thread ever seen, so that what has ended is not lost.
    seen: BTreeMap<ThreadKey, Spent>,
}

/// A pid alone is not enough: it is given out again when its process has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ThreadKey {
    pid: u32,
    process_start_ticks: u64,
    tid: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    cpu_ns: u64,
    run_queue_wait_ns: u64,
}

impl Sampler {
    /// A sampler of a subject whose processes are all those below `init`, the first process of its box.
    pub fn new(proc_folder: impl Into<PathBuf>, init: u32) -> Self {
        let tracked = |part, root, with_root| Tracked { part, root, with_root, seen: BTreeMap::new() };
        Self {
            proc_folder: proc_folder.into(),
            subject: tracked(Part::Subject, Some(init), false),
            generator: tracked(Part::Generator, None, true),
            samples: Vec::new(),
            window_start: None,
        }
    }

    /// Names the load tool's process.
    pub fn follow_generator(&mut self, pid: u32) {
        self.generator.root = Some(pid);
    }

    /// Reads both parts; `at_s` is the caller's time.
    pub fn read(&mut self, at_s: f64) {
        self.take(at_s);
    }

    /// Reads both parts as the window opens.
    pub fn window_starts(&mut self, at_s: f64) {
        let host = HostTimes::read(&self.proc_folder);
        self.window_start = Some((self.take(at_s), host));
    }

    /// Reads both parts as the window closes, and says what was used since it opened; nothing if it never did.
    pub fn window_ends(&mut self, at_s: f64) -> Option<WindowUsage> {
        let last = self.take(at_s);
        let host_now = HostTimes::read(&self.proc_folder);
        let (first, host_then) = self.window_start.take()?;
        let subject_pids = self.subject.pids(&ProcessTree::read(&self.proc_folder));
        Some(WindowUsage {
            subject: Resources {
                pss_bytes: pss_bytes(&self.proc_folder, &subject_pids),
                ..self.used(&first.subject, &last.subject)
            },
            generator: self.used(&first.generator, &last.generator),
            host: HostTimes {
                busy_s: host_now.busy_s - host_then.busy_s,
                steal_s: host_now.steal_s - host_then.steal_s,
            },
        })
    }

    /// All readings so far.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    fn take(&mut self, at_s: f64) -> Reading {
        let tree = ProcessTree::read(&self.proc_folder);
        let subject = self.subject.read(&self.proc_folder, &tree, at_s);
        let generator = self.generator.read(&self.proc_folder, &tree, at_s);
        self.samples.extend([subject.clone(), generator.clone()]);
        Reading { subject, generator }
    }

    /// What one part used from its first sample to its last, and the most it held in between.
    fn used(&self, first: &Sample, last: &Sample) -> Resources {
        let inside = self
            .samples
            .iter()
            .filter(|sample| sample.part == last.part && sample.at_s >= first.at_s && sample.at_s <= last.at_s);
        let mut resources = Resources {
            cpu_s: last.cpu_s - first.cpu_s,
            run_queue_wait_s: last.run_queue_wait_s - first.run_queue_wait_s,
            ..Resources::default()
        };
        for sample in inside {
            resources.processes_max = resources.processes_max.max(sample.processes);
            resources.threads_max = resources.threads_max.max(sample.threads);
            resources.rss_sum_bytes_max = resources.rss_sum_bytes_max.max(sample.rss_sum_bytes);
        }
        resources
    }
}

impl Tracked {
    fn pids(&self, tree: &ProcessTree) -> Vec<u32> {
        let Some(root) = self.root else { return Vec::new() };
        let mut pids = tree.below(root);
        if self.with_root {
            pids.push(root);
        }
        pids
    }

    fn read(&mut self, proc_folder: &Path, tree: &ProcessTree, at_s: f64) -> Sample {
        let (mut processes, mut threads, mut rss_sum_bytes) = (0, 0, 0);
        for pid in self.pids(tree) {
            let Some(usage) = ProcessUsage::read(proc_folder, pid) else { continue };
            processes += 1;
            threads += usage.threads.len() as u32;
            rss_sum_bytes += usage.rss_bytes;
            for thread in usage.threads {
                let key = ThreadKey { pid, process_start_ticks: usage.start_ticks, tid: thread.tid };
                let spent = self.seen.entry(key).or_default();
                // Never less than before, should a thread have the number of one that has ended.
                spent.cpu_ns = spent.cpu_ns.max(thread.cpu_ns);
                spent.run_queue_wait_ns = spent.run_queue_wait_ns.max(thread.run_queue_wait_ns);
            }
        }
        let sum_s = |of: fn(&Spent) -> u64| self.seen.values().map(of).sum::<u64>() as f64 / 1e9;
        Sample {
            at_s,
            part: self.part,
            cpu_s: sum_s(|spent| spent.cpu_ns),
            run_queue_wait_s: sum_s(|spent| spent.run_queue_wait_ns),
            rss_sum_bytes,
            processes,
            threads,
        }
    }
}

#[cfg(test)]
mod tests;
