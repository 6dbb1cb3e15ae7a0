//! Follows the parts of a trial: reads them on request, and computes what a window used.
//!
//! The window is the load tool's. Its borders arrive through a pipe, so the lab learns of them late, and they never
//! coincide with a reading. Counters are therefore interpolated at the borders (see [`super::series`] for why, and for
//! the possible error). There is no usage of a window that never began. There is none either if a third of the window
//! or more lies between a border and the nearest reading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_load::process_cpu::ProcessClocks;

use super::counters::SoftwareCounters;
use super::host::{Host, HostReading};
use super::kept::Room;
use super::line::{Reading, Sample};
use super::network::NetworkBytes;
use super::part::{Followed, NetOf, Part, Source};
use super::process::{ProcessTree, pss_bytes};
use super::series::{Series, Window};
use super::tasks::Tasks;
use super::usage::{NoUsage, Readings, WindowUsage, window_usage};

/// How often to read what costs more than the few files of a control group.
const SLOW: Duration = Duration::from_secs(1);
/// A tick that comes at most this much before a second is over counts as the one at its end.
const EARLY: Duration = Duration::from_millis(50);

/// The kernel's folders.
#[derive(Debug, Clone)]
pub struct Folders {
    /// `/proc`, or its replacement in a test.
    pub proc: PathBuf,
    /// `/sys`, or its replacement in a test.
    pub sys: PathBuf,
}

impl Default for Folders {
    fn default() -> Self {
        Self { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }
}

/// Follows parts. The caller decides when to read: every 100 ms, and at events. The sampler starts no thread, and reads
/// the clock only to time its readings.
#[derive(Debug)]
pub struct Sampler<C = SystemClock> {
    clock: C,
    proc: PathBuf,
    parts: Vec<Tracked>,
    host: Host,
    host_readings: Series<HostReading>,
    room: Room,
    /// An instant, and the caller's time then.
    epoch: Option<(MonotonicNs, f64)>,
    next_slow: Option<MonotonicNs>,
    began: Option<MonotonicNs>,
}

/// A part with all its readings.
#[derive(Debug)]
struct Tracked {
    part: Part,
    source: Source,
    net_of: Option<NetOf>,
    counters: Option<SoftwareCounters>,
    tasks: Tasks,
    readings: Readings,
}

/// The process tree, read at most once for all parts, and only if one needs it.
struct LazyTree<'a> {
    proc: &'a Path,
    /// The processes whose trees belong to parts of their own.
    roots: Vec<u32>,
    tree: Option<ProcessTree>,
}

impl<'a> LazyTree<'a> {
    fn of(proc: &'a Path, parts: &[Tracked]) -> Self {
        let roots = parts.iter().flat_map(|tracked| match &tracked.source {
            Source::Trees(roots) => roots.clone(),
            Source::Group(_) | Source::Below(_) | Source::Process(_) => Vec::new(),
        });
        Self { proc, roots: roots.collect(), tree: None }
    }

    /// All descendants of a process, without itself, that are in none of the trees.
    fn below(&mut self, pid: u32) -> Vec<u32> {
        let others = if self.roots.is_empty() { Vec::new() } else { self.trees(&self.roots.clone()) };
        self.read().below(pid).into_iter().filter(|pid| others.binary_search(pid).is_err()).collect()
    }

    /// These processes and all their descendants, ordered by pid.
    fn trees(&mut self, roots: &[u32]) -> Vec<u32> {
        let tree = self.read();
        let mut found: Vec<u32> = roots.iter().flat_map(|root| [vec![*root], tree.below(*root)].concat()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn read(&mut self) -> &ProcessTree {
        self.tree.get_or_insert_with(|| ProcessTree::read(self.proc))
    }
}

impl<C: Clock> Sampler<C> {
    /// A sampler of these parts. It reads them at once, so work that begins now is between two readings.
    pub fn new(clock: C, folders: Folders, followed: Vec<Followed>) -> Self {
        let host = Host::new(folders.proc.clone(), folders.sys);
        let room = Room::of_this_process();
        let mut sampler = Self {
            clock,
            proc: folders.proc,
            parts: Vec::new(),
            room: Room(room.0.saturating_sub(host.files())),
            host,
            host_readings: Series::default(),
            epoch: None,
            next_slow: None,
            began: None,
        };
        for part in followed {
            sampler.follow(part);
        }
        sampler.read_host();
        sampler
    }

    /// Follows one more part, and reads it at once. Drops what was known of the same part.
    pub fn follow(&mut self, followed: Followed) {
        let Followed { part, members, net_of } = followed;
        self.follow_source(part, members.into(), net_of);
    }

    /// Adds a process and all that it starts to a part followed as [`Members::Trees`], and reads the part at once. What
    /// ended processes have used stays counted.
    pub fn add_process(&mut self, part: Part, pid: u32) {
        let Some(place) = self.parts.iter().position(|tracked| tracked.part == part) else { return };
        if let Source::Trees(roots) = &mut self.parts[place].source {
            roots.push(pid);
            self.read_processes(place..place + 1);
        }
    }

    fn follow_source(&mut self, part: Part, source: Source, net_of: Option<NetOf>) {
        self.parts.retain(|known| known.part != part);
        // Only processes of the machine's own /proc have clocks, and a control group counts for itself.
        let has_clocks = self.proc == Path::new("/proc") && !matches!(source, Source::Group(_));
        let tasks = if has_clocks { Tasks::with_clocks(ProcessClocks::default()) } else { Tasks::default() };
        let readings = Readings::default();
        self.parts.push(Tracked { part, source, net_of, counters: None, tasks, readings });
        let only = self.parts.len() - 1..self.parts.len();
        self.read_groups(only.clone());
        self.read_processes(only);
    }

    /// Reads these counters too, for a part that is already followed.
    pub fn count_events(&mut self, part: Part, counters: SoftwareCounters) {
        if let Some(tracked) = self.parts.iter_mut().find(|tracked| tracked.part == part) {
            let at = self.clock.now();
            tracked.readings.events.push(at, counters.read());
            tracked.counters = Some(counters);
        }
    }

    /// Reads the control groups and, once a second has passed, everything else. `at_s` is the caller's time.
    pub fn tick(&mut self, at_s: f64) {
        let now = self.set_epoch(at_s);
        self.read_groups(0..self.parts.len());
        if self.next_slow.is_none_or(|next| now + EARLY >= next) {
            // Counts from the planned second, not from a late reading.
            let next = self.next_slow.map_or(now + SLOW, |next| next + SLOW);
            self.next_slow = Some(if next <= now { now + SLOW } else { next });
            self.read_host();
            self.read_processes(0..self.parts.len());
        }
    }

    /// Reads everything when the caller learns that the window began. It began at `began`.
    pub fn window_starts(&mut self, at_s: f64, began: MonotonicNs) {
        self.read_all(at_s);
        self.began = Some(began);
    }

    /// Reads everything when the caller learns that the window ended, and returns what it used. It ended at `ended`.
    pub fn window_ends(&mut self, at_s: f64, ended: MonotonicNs) -> Result<WindowUsage, NoUsage> {
        self.read_all(at_s);
        let window = Window { began: self.began.take().ok_or(NoUsage::NeverBegan)?, ended };
        let parts: Vec<(Part, &Readings)> =
            self.parts.iter().map(|tracked| (tracked.part, &tracked.readings)).collect();
        window_usage(&self.host_readings, &parts, window, window.length().as_secs_f64())
    }

    /// The origin of the times in [`Sampler::samples`], in nanoseconds of the monotonic clock.
    pub fn clock_zero_ns(&self) -> i64 {
        let (epoch, epoch_s) = self.epoch.unwrap_or_default();
        epoch.0 as i64 - (epoch_s * 1e9).round() as i64
    }

    /// The proportional set sizes of the parts. Call it after the load: the kernel locks a process's memory map while
    /// it walks the pages, so a server would wait for the sampler. Parts that may not be read are left out.
    pub fn after_load(&self) -> BTreeMap<Part, u64> {
        let mut tree = LazyTree::of(&self.proc, &self.parts);
        let pss = |tracked: &Tracked| Some((tracked.part, pss_bytes(&self.proc, &tracked.pids(&mut tree)?)?));
        self.parts.iter().filter_map(pss).collect()
    }

    /// All readings so far, ordered by time.
    pub fn samples(&self) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut add = |part, at: MonotonicNs, reading| samples.push(Sample { at_s: self.at_s(at), part, reading });
        for (at, host) in self.host_readings.iter() {
            add(None, *at, Reading::Host(*host));
        }
        for Tracked { part, readings, .. } in &self.parts {
            let part = Some(*part);
            readings.group.iter().for_each(|(at, group)| add(part, *at, Reading::Group(group.clone())));
            readings.tasks.iter().for_each(|(at, tasks)| add(part, *at, Reading::Processes(*tasks)));
            readings.network.iter().for_each(|(at, network)| add(part, *at, Reading::Network(*network)));
            readings.events.iter().for_each(|(at, events)| add(part, *at, Reading::Events(*events)));
        }
        samples.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        samples
    }

    /// Reads the machine first, because the lab's own walk over the processes belongs to no scored part. So only the
    /// walk at the start, during the load, is between the two readings of the machine.
    fn read_all(&mut self, at_s: f64) {
        self.set_epoch(at_s);
        self.read_host();
        self.read_groups(0..self.parts.len());
        self.read_processes(0..self.parts.len());
    }

    fn read_host(&mut self) {
        let (at, reading) = timed(&self.clock, || self.host.read());
        self.host_readings.push(at, reading);
    }

    fn read_groups(&mut self, which: std::ops::Range<usize>) {
        for tracked in &mut self.parts[which] {
            let Source::Group(group) = &tracked.source else { continue };
            let (at, reading) = timed(&self.clock, || group.read());
            tracked.readings.group.push(at, reading);
        }
    }

    /// Reads processes, network and events of parts.
    fn read_processes(&mut self, which: std::ops::Range<usize>) {
        let open: usize = self.parts.iter().map(|tracked| tracked.tasks.open_files()).sum();
        for tracked in &mut self.parts {
            if let Source::Trees(roots) = &mut tracked.source {
                // The kernel may reuse the pid of one that has ended.
                roots.retain(|root| self.proc.join(root.to_string()).exists());
            }
        }
        let mut tree = LazyTree::of(&self.proc, &self.parts);
        for tracked in &mut self.parts[which] {
            // Only what this part opens from here on is not in `open`, so each may have its share of the rest.
            let room = Room(self.room.0.saturating_sub(open) / Part::ALL.len());
            tracked.read_processes(&self.clock, &self.proc, &mut tree, room);
        }
    }

    /// Records the caller's time at this moment.
    fn set_epoch(&mut self, at_s: f64) -> MonotonicNs {
        let now = self.clock.now();
        self.epoch.get_or_insert((now, at_s));
        now
    }

    fn at_s(&self, at: MonotonicNs) -> f64 {
        let (epoch, epoch_s) = self.epoch.unwrap_or_default();
        let at_s = epoch_s + at.since(epoch).as_secs_f64() - epoch.since(at).as_secs_f64();
        // No digits beyond the clock's nanoseconds.
        (at_s * 1e9).round() / 1e9
    }
}

impl Tracked {
    /// The current processes, or `None` if unknown.
    fn pids(&self, tree: &mut LazyTree<'_>) -> Option<Vec<u32>> {
        match &self.source {
            Source::Group(group) => group.members().ok(),
            Source::Below(ancestor) => Some(tree.below(*ancestor)),
            Source::Process(pid) => Some(vec![*pid]),
            Source::Trees(roots) => Some(tree.trees(roots)),
        }
    }

    fn read_processes(&mut self, clock: &impl Clock, proc: &Path, tree: &mut LazyTree<'_>, room: Room) {
        let pids = self.pids(tree);
        if let Some(pids) = &pids {
            let tids = match &self.source {
                Source::Group(group) => group.threads().ok(),
                Source::Below(_) | Source::Process(_) | Source::Trees(_) => None,
            };
            let (at, reading) = timed(clock, || self.tasks.read(proc, pids, tids, room));
            self.readings.tasks.push(at, reading);
        }
        let (at, network) = timed(clock, || match self.net_of? {
            NetOf::Process(pid) => NetworkBytes::read(proc, pid),
            // A process may end while it is read.
            NetOf::Members => pids.iter().flatten().find_map(|pid| NetworkBytes::read(proc, *pid)),
        });
        self.readings.network.extend(at, network);
        let (at, events) = timed(clock, || Some(self.counters.as_ref()?.read()));
        self.readings.events.extend(at, events);
    }
}

/// Reading hundreds of processes takes a while, each at its own instant. The middle represents them all.
fn timed<T>(clock: &impl Clock, read: impl FnOnce() -> T) -> (MonotonicNs, T) {
    let before = clock.now();
    let read = read();
    (before + clock.now().since(before) / 2, read)
}

#[cfg(test)]
mod tests;
