//! Follows the subject's and the generator's processes through a trial.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use tolok_model::Resources;

use super::host::HostTimes;
use super::process::{ProcessUsage, descendants, pss_bytes};

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
    /// CPU time since the sampler began, in seconds.
    pub cpu_s: f64,
    /// Time ready to run without a CPU since the sampler began, in seconds.
    pub run_queue_wait_s: f64,
    /// Resident sets summed.
    pub rss_sum_bytes: u64,
    /// Processes.
    pub processes: u32,
    /// Threads.
    pub threads: u32,
}

/// What the window used.
#[derive(Debug, Clone, Default)]
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
    window_start: Option<(Vec<Sample>, HostTimes)>,
}

/// The processes of one part, those that have ended included.
#[derive(Debug)]
struct Tracked {
    part: Part,
    /// The processes below this one are the part.
    root: Option<u32>,
    /// Whether `root` itself belongs to the part.
    with_root: bool,
    /// Last reading of every process ever seen, by pid and start, so that what ended processes used is not lost.
    seen: BTreeMap<(u32, u64), (u64, u64)>,
}

impl Sampler {
    /// A sampler of a subject whose processes are the grandchildren and further descendants of `keeper`: the keeper's
    /// own child is the init of the box.
    pub fn new(proc_folder: impl Into<PathBuf>, keeper: u32) -> Self {
        let proc_folder = proc_folder.into();
        let init = descendants(&proc_folder, keeper).first().copied();
        let tracked = |part, root, with_root| Tracked { part, root, with_root, seen: BTreeMap::new() };
        Self {
            proc_folder,
            subject: tracked(Part::Subject, init, false),
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
    pub fn read(&mut self, at_s: f64) -> Vec<Sample> {
        let now = [self.subject.read(&self.proc_folder, at_s), self.generator.read(&self.proc_folder, at_s)];
        self.samples.extend(now.clone());
        now.to_vec()
    }

    /// Reads both parts as the window opens.
    pub fn window_starts(&mut self, at_s: f64) {
        let host = HostTimes::read(&self.proc_folder);
        self.window_start = Some((self.read(at_s), host));
    }

    /// Reads both parts as the window closes, and says what was used since it opened.
    pub fn window_ends(&mut self, at_s: f64) -> WindowUsage {
        let last = self.read(at_s);
        let host_now = HostTimes::read(&self.proc_folder);
        let Some((first, host_then)) = self.window_start.take() else { return WindowUsage::default() };
        let since = |index: usize| self.since(&first[index], &last[index]);
        let mut usage = WindowUsage {
            subject: since(0),
            generator: since(1),
            host: HostTimes {
                busy_s: host_now.busy_s - host_then.busy_s,
                steal_s: host_now.steal_s - host_then.steal_s,
            },
        };
        usage.subject.pss_bytes = self.subject.pss(&self.proc_folder);
        usage
    }

    /// All readings so far.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    fn since(&self, first: &Sample, last: &Sample) -> Resources {
        let inside = self.samples.iter().filter(|sample| {
            sample.part == last.part && sample.at_s >= first.at_s && sample.at_s <= last.at_s
        });
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
    fn pids(&self, proc_folder: &std::path::Path) -> Vec<u32> {
        let Some(root) = self.root else { return Vec::new() };
        let mut pids = descendants(proc_folder, root);
        if self.with_root {
            pids.push(root);
        }
        pids
    }

    fn read(&mut self, proc_folder: &std::path::Path, at_s: f64) -> Sample {
        let mut sample = Sample {
            at_s,
            part: self.part,
            cpu_s: 0.0,
            run_queue_wait_s: 0.0,
            rss_sum_bytes: 0,
            processes: 0,
            threads: 0,
        };
        for pid in self.pids(proc_folder) {
            let Some(usage) = ProcessUsage::read(proc_folder, pid) else { continue };
            let (cpu_ns, wait_ns) = self.seen.entry((pid, usage.start_ticks)).or_default();
            // A thread that ended takes its share out of the sum; the process has used it all the same.
            *cpu_ns = usage.cpu_ns.max(*cpu_ns);
            *wait_ns = usage.run_queue_wait_ns.max(*wait_ns);
            sample.rss_sum_bytes += usage.rss_bytes;
            sample.processes += 1;
            sample.threads += usage.threads;
        }
        sample.cpu_s = self.seen.values().map(|(cpu_ns, _)| *cpu_ns as f64 / 1e9).sum();
        sample.run_queue_wait_s = self.seen.values().map(|(_, wait_ns)| *wait_ns as f64 / 1e9).sum();
        sample
    }

    fn pss(&self, proc_folder: &std::path::Path) -> Option<u64> {
        let sizes: Vec<u64> = self.pids(proc_folder).into_iter().filter_map(|pid| pss_bytes(proc_folder, pid)).collect();
        if sizes.is_empty() { None } else { Some(sizes.iter().sum()) }
    }
}
