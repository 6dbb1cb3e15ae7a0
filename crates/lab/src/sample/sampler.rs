//! Follows the subject's and the generator's processes through a trial.
//!
//! The window that is read is not quite the window that was measured. The load tool tells its borders through a pipe, and
//! the lab hears of them when it gets a CPU, which it shares with a generator that leaves little of it; then it walks
//! `/proc`. So both readings are late. At the end that adds next to nothing: the load has stopped, and what is left to the
//! subject is one answer a connection at most. At the start it takes away: what was used between the border and the
//! reading is in the window's answers and not in its resources, and all subjects would look cheaper than they are, the
//! more so the shorter the window. Load is steady once the warm-up is over, so what was used in the part of the window
//! that was seen stands for the whole: times are multiplied by `window / (window - late)`. The window counts from when the
//! load tool came to its start: a tool that got no CPU at that instant put on no load until it did, and nothing is missing.
//! Where a third of the window was not seen, this would be invention, and there is no usage at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
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

/// Why there is no usage of a window.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoUsage {
    /// Its start was never told.
    #[error("the window ended without having begun")]
    NeverBegan,
    /// Too much of it was over when it was first read.
    #[error(
        "the lab first read what the processes had used {late_s:.3} s after the window of {window_s:.3} s had begun, too late \
         to stand for the whole: make the window longer, or keep the machine free of other work"
    )]
    TooLate {
        /// From the start of the window to the reading.
        late_s: f64,
        /// The window.
        window_s: f64,
    },
}

/// Follows processes. The caller says when to read; the sampler starts no thread, and looks at the clock only to know how
/// late a reading is.
#[derive(Debug)]
pub struct Sampler<C = SystemClock> {
    clock: C,
    proc_folder: PathBuf,
    subject: Tracked,
    generator: Tracked,
    samples: Vec<Sample>,
    window_start: Option<(MonotonicNs, Border)>,
}

/// Something that was read, and when.
#[derive(Debug, Clone)]
struct Read<T> {
    what: T,
    at: MonotonicNs,
}

/// All that is read at a border of the window.
#[derive(Debug, Clone)]
struct Border {
    host: Read<HostTimes>,
    subject: Read<Sample>,
    generator: Read<Sample>,
}

impl Border {
    /// How long after the window's start the last of it was read.
    fn late(&self, began: MonotonicNs) -> Duration {
        self.host.at.max(self.subject.at).max(self.generator.at).since(began)
    }
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
        Self::with_clock(SystemClock, proc_folder, init)
    }
}

impl<C: Clock> Sampler<C> {
    fn with_clock(clock: C, proc_folder: impl Into<PathBuf>, init: u32) -> Self {
        let tracked = |part, root, with_root| Tracked { part, root, with_root, seen: BTreeMap::new() };
        Self {
            clock,
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

    /// Reads everything as the window opens, to whose start the load tool came at `began`.
    pub fn window_starts(&mut self, at_s: f64, began: MonotonicNs) {
        self.window_start = Some((began, self.border(at_s)));
    }

    /// Reads everything as the window closes, which it did at `ended`, and says what was used in it.
    pub fn window_ends(&mut self, at_s: f64, ended: MonotonicNs) -> Result<WindowUsage, NoUsage> {
        let last = self.border(at_s);
        let (began, first) = self.window_start.take().ok_or(NoUsage::NeverBegan)?;
        let (window, late) = (ended.since(began), first.late(began));
        if late * 3 >= window {
            return Err(NoUsage::TooLate { late_s: late.as_secs_f64(), window_s: window.as_secs_f64() });
        }
        // What a time seen since the first reading is for the whole window.
        let whole = |first_at: MonotonicNs| window.as_secs_f64() / (window - first_at.since(began)).as_secs_f64();
        let subject_pids = self.subject.pids(&ProcessTree::read(&self.proc_folder));
        let host = whole(first.host.at);
        Ok(WindowUsage {
            subject: Resources {
                pss_bytes: pss_bytes(&self.proc_folder, &subject_pids),
                ..self.used(&first.subject.what, &last.subject.what, whole(first.subject.at))
            },
            generator: self.used(&first.generator.what, &last.generator.what, whole(first.generator.at)),
            // Scaled like the parts, which are subtracted from it to find what others used.
            host: HostTimes {
                busy_s: (last.host.what.busy_s - first.host.what.busy_s) * host,
                steal_s: (last.host.what.steal_s - first.host.what.steal_s) * host,
            },
        })
    }

    /// All readings so far.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The machine is read first at both borders: the lab's own walk over the processes is work of neither part, and
    /// only that of the start, which takes place while the load is on, is in between.
    fn border(&mut self, at_s: f64) -> Border {
        let host = Self::timed(&self.clock, || HostTimes::read(&self.proc_folder));
        let (subject, generator) = self.take(at_s);
        Border { host, subject, generator }
    }

    fn take(&mut self, at_s: f64) -> (Read<Sample>, Read<Sample>) {
        let tree = ProcessTree::read(&self.proc_folder);
        let subject = Self::timed(&self.clock, || self.subject.read(&self.proc_folder, &tree, at_s));
        let generator = Self::timed(&self.clock, || self.generator.read(&self.proc_folder, &tree, at_s));
        self.samples.extend([subject.what.clone(), generator.what.clone()]);
        (subject, generator)
    }

    /// Reading hundreds of processes takes a while, and each is read at its own instant: the middle stands for all.
    fn timed<T>(clock: &C, read: impl FnOnce() -> T) -> Read<T> {
        let before = clock.now();
        let what = read();
        Read { what, at: before + clock.now().since(before) / 2 }
    }

    /// What one part used from its first sample to its last, for the whole window by the factor `whole`, and the most it
    /// held in between.
    fn used(&self, first: &Sample, last: &Sample, whole: f64) -> Resources {
        let inside = self
            .samples
            .iter()
            .filter(|sample| sample.part == last.part && sample.at_s >= first.at_s && sample.at_s <= last.at_s);
        let mut resources = Resources {
            cpu_s: (last.cpu_s - first.cpu_s) * whole,
            run_queue_wait_s: (last.run_queue_wait_s - first.run_queue_wait_s) * whole,
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
