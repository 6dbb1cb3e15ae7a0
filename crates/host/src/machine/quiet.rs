//! Are other programs at work? Judged before a run begins, and for every window.
//!
//! The judgements are functions of readings. Only [`ThisHost`] reads a machine; [`wait_until_quiet`] gets a host to
//! read and to wait with.

use std::path::PathBuf;
use std::time::Duration;
use tolok_model::figures::small_share;
pub use tolok_model::{FOREIGN_TOLERATED, STEAL_TOLERATED};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;
use crate::procfs::{TICKS_PER_S, pressure_some_total_us};

/// Other programs may take this share of the subject's own CPUs. The known value is an upper bound, so the limit is
/// higher than for the machine.
pub const TAKEN_TOLERATED: f64 = 0.10;
/// Some task may wait for a CPU for this share of the time before a run begins. During a trial its own tasks wait for
/// each other, so then the figure is meaningless.
pub const PRESSURE_TOLERATED: f64 = 0.10;
/// How long a judgement before a run observes. The kernel counts in hundredths of a second, and 1% of one CPU must be
/// more than one of them.
pub const JUDGED_OVER: Duration = Duration::from_secs(2);
/// The longest delay until a wait reacts to Ctrl-C.
const PAUSE: Duration = Duration::from_millis(200);

/// What the machine had done up to an instant, over all CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuReading {
    /// The instant, on the monotonic clock.
    pub at_s: f64,
    /// Time that CPUs were busy.
    pub busy_s: f64,
    /// Time that CPUs were idle, or waited for a disk.
    pub idle_s: f64,
    /// Time that the hypervisor gave to others.
    pub steal_s: f64,
    /// This process's CPU time, which does not count as other programs'.
    pub own_s: f64,
    /// Time in which some task waited for a CPU.
    pub waiting_s: Option<f64>,
    /// Runnable tasks, including this one.
    pub running: Option<u32>,
}

/// What prevents a good figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    pub kind: DisturbanceKind,
    /// How much, as a share from 0 to 1 of what the sentence names.
    pub share: f64,
    /// The figure in words, with the limit.
    pub sentence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DisturbanceKind {
    /// The hypervisor took CPU time.
    Steal,
    /// Other programs used CPU time.
    ForeignCpu,
    /// Other programs used CPU time of the subject's own CPUs while it had work.
    TakenFromSubject,
    /// Tasks waited for CPUs before a run began.
    Pressure,
}

impl DisturbanceKind {
    /// The word used in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Steal => "steal",
            Self::ForeignCpu => "foreign-cpu",
            Self::TakenFromSubject => "taken-from-subject",
            Self::Pressure => "pressure",
        }
    }

    /// The disturbance, if its share exceeds the limit.
    fn judged(self, share: f64) -> Option<Disturbance> {
        let (tolerated, took, of) = match self {
            Self::Steal => (STEAL_TOLERATED, "the hypervisor took", "of the CPU time"),
            Self::ForeignCpu => (FOREIGN_TOLERATED, "other programs used", "of the CPUs"),
            Self::TakenFromSubject => (TAKEN_TOLERATED, "other programs took up to", "of the subject's CPUs"),
            Self::Pressure => (PRESSURE_TOLERATED, "tasks waited for a CPU", "of the time"),
        };
        let sentence = format!("{took} {} {of} (limit {})", small_share(share), small_share(tolerated));
        (share > tolerated).then_some(Disturbance { kind: self, share, sentence })
    }
}

/// How quiet a machine was between two readings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stillness {
    /// How long the observation took.
    pub over_s: f64,
    /// Share of the machine's CPU time that other programs used.
    pub foreign: f64,
    /// Share of the machine's CPU time that the hypervisor took.
    pub stolen: f64,
    /// Share of the machine's CPU time that no one used.
    pub idle: f64,
    /// Share of the time in which some task waited for a CPU.
    pub waiting: Option<f64>,
    /// Runnable tasks at the end, except this one.
    pub running: Option<u32>,
    /// What exceeds its limit. Empty on a quiet machine.
    pub disturbances: Vec<Disturbance>,
}

impl Stillness {
    /// Whether a measurement may begin.
    pub fn is_quiet(&self) -> bool {
        self.disturbances.is_empty()
    }
}

impl CpuReading {
    /// Parses `/proc/stat`, `/proc/pressure/cpu` and `/proc/loadavg`. `None` if the first cannot be parsed.
    pub fn parse(at_s: f64, own_s: f64, stat: &str, pressure: Option<&str>, loadavg: Option<&str>) -> Option<Self> {
        let times = parse::cpu_ticks(stat)?.map(|ticks| ticks as f64 / f64::from(TICKS_PER_S));
        Some(Self {
            at_s,
            own_s,
            // user, nice, system, (idle, iowait,) irq, softirq; then steal. Guest time is already part of user time.
            busy_s: times[0] + times[1] + times[2] + times[5] + times[6],
            idle_s: times[3] + times[4],
            steal_s: times[7],
            waiting_s: pressure.and_then(pressure_some_total_us).map(|total_us| total_us as f64 / 1e6),
            running: loadavg.and_then(parse::running_tasks),
        })
    }
}

/// What happened between two readings. `None` if no time passed.
pub fn judge(before: &CpuReading, after: &CpuReading) -> Option<Stillness> {
    let over_s = after.at_s - before.at_s;
    // On some kernels, counters of idle time step back a little.
    let passed = |before: f64, after: f64| (after - before).max(0.0);
    let (busy_s, steal_s) = (passed(before.busy_s, after.busy_s), passed(before.steal_s, after.steal_s));
    let whole_s = busy_s + steal_s + passed(before.idle_s, after.idle_s);
    if over_s <= 0.0 || whole_s <= 0.0 {
        return None;
    }
    let foreign = (busy_s - passed(before.own_s, after.own_s)).max(0.0) / whole_s;
    let stolen = steal_s / whole_s;
    let idle = 1.0 - (busy_s + steal_s) / whole_s;
    let waiting =
        before.waiting_s.zip(after.waiting_s).map(|(before, after)| (passed(before, after) / over_s).min(1.0));
    let pressure = waiting.and_then(|share| DisturbanceKind::Pressure.judged(share));
    let found = [DisturbanceKind::Steal.judged(stolen), DisturbanceKind::ForeignCpu.judged(foreign), pressure];
    let disturbances = found.into_iter().flatten().collect();
    let running = after.running.map(|running| running.saturating_sub(1));
    Some(Stillness { over_s, foreign, stolen, idle, waiting, running, disturbances })
}

/// The facts for judging a window. An unknown figure is 0 and disturbs nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WindowFacts {
    /// Its length.
    pub window_s: f64,
    pub machine_cpus: f64,
    /// CPUs of the subject, or its quota.
    pub subject_cpus: f64,
    /// CPU time that none of the trial's parts used.
    pub foreign_cpu_s: f64,
    /// CPU time that the hypervisor took.
    pub steal_s: f64,
    pub subject_cpu_s: f64,
    /// Time that the subject's threads waited for a CPU, added up.
    pub subject_wait_s: f64,
}

/// What disturbed a window, by the same criteria as for every other window.
pub fn disturbances(window: &WindowFacts) -> Vec<Disturbance> {
    let machine_s = window.machine_cpus * window.window_s;
    let stolen = share(window.steal_s, machine_s);
    let foreign = share(window.foreign_cpu_s, machine_s);
    let found = [
        stolen.and_then(|share| DisturbanceKind::Steal.judged(share)),
        foreign.and_then(|share| DisturbanceKind::ForeignCpu.judged(share)),
        taken_from_subject(window),
    ];
    found.into_iter().flatten().collect()
}

/// A subject's threads wait for each other, so a long wait alone proves nothing. But the time that others took is time
/// that the subject waited, that it did not use, and that others used. So it is at most the smallest of the three.
fn taken_from_subject(window: &WindowFacts) -> Option<Disturbance> {
    let own_s = window.subject_cpus * window.window_s;
    let unused_s = own_s - window.subject_cpu_s;
    let taken_s = window.subject_wait_s.min(unused_s).min(window.foreign_cpu_s);
    DisturbanceKind::TakenFromSubject.judged(share(taken_s, own_s)?)
}

/// CPU time and the window are measured by different clocks, so a part can come out slightly larger than the whole.
fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0 && part.is_finite()).then(|| (part / whole).clamp(0.0, 1.0))
}

/// A host that can be read, and a way to let time pass.
pub trait WatchedHost {
    /// What it has done so far. `None` if it cannot be read.
    fn reading(&mut self) -> Option<CpuReading>;
    /// Waits.
    fn pause(&mut self, time: Duration);
}

/// How a wait for quiet ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    /// The machine is quiet.
    Quiet,
    /// It did not become quiet in time.
    PatienceOver,
    /// The wait was cancelled.
    CalledAway,
    /// The machine's state cannot be read.
    Unknown,
}

/// What a wait for quiet observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Waited {
    pub end: WaitEnd,
    pub took_s: f64,
    pub last: Option<Stillness>,
}

/// Observes the host for [`JUDGED_OVER`] at a time until it is quiet, `patience` is over, or `keep_waiting` returns
/// false.
///
/// It observes at least once, so zero patience means one observation.
pub fn wait_until_quiet(patience: Duration, host: &mut impl WatchedHost, keep_waiting: &dyn Fn() -> bool) -> Waited {
    let mut last = None;
    let Some(first) = host.reading() else { return Waited { end: WaitEnd::Unknown, took_s: 0.0, last } };
    let mut before = first;
    loop {
        let mut looked = Duration::ZERO;
        while looked < JUDGED_OVER {
            if !keep_waiting() {
                return Waited { end: WaitEnd::CalledAway, took_s: before.at_s - first.at_s, last };
            }
            host.pause(PAUSE);
            looked += PAUSE;
        }
        let after = host.reading();
        let Some((after, seen)) = after.and_then(|after| Some((after, judge(&before, &after)?))) else {
            return Waited { end: WaitEnd::Unknown, took_s: before.at_s - first.at_s, last };
        };
        let took_s = after.at_s - first.at_s;
        let quiet = seen.is_quiet();
        last = Some(seen);
        before = after;
        if quiet {
            return Waited { end: WaitEnd::Quiet, took_s, last };
        }
        if took_s >= patience.as_secs_f64() {
            return Waited { end: WaitEnd::PatienceOver, took_s, last };
        }
    }
}

/// The machine that this runs on.
#[derive(Debug, Clone)]
pub struct ThisHost {
    root: PathBuf,
}

impl Default for ThisHost {
    fn default() -> Self {
        Self { root: PathBuf::from("/") }
    }
}

impl WatchedHost for ThisHost {
    fn reading(&mut self) -> Option<CpuReading> {
        let files = Files::below(&self.root);
        let seconds = |clock| {
            let time = clock_gettime(clock);
            time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
        };
        let (stat, pressure, loadavg) =
            (files.text("proc/stat")?, files.text("proc/pressure/cpu"), files.text("proc/loadavg"));
        let (at_s, own_s) = (seconds(ClockId::Monotonic), seconds(ClockId::ProcessCPUTime));
        CpuReading::parse(at_s, own_s, &stat, pressure.as_deref(), loadavg.as_deref())
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}
