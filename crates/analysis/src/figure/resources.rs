//! What a subject used for each correct response, besides the main figures.

use serde::Serialize;
use tolok_model::{CpuSource, Measurement, MemoryUse, Resources, SchedulerCounts, Throttling};

use super::table::{Column, Figure, HasValue, Readings, Rows, TrialFigure, Unit, figures, row};
use crate::JsonSchema;
use crate::findings::estimate::Better;
use crate::findings::resources::{MemorySource, ThrottlingFinding};
use crate::observations::{Observations, answers};

figures! {
    /// The subject's use of resources. "Per good" means for each correct response.
    pub struct ResourcesFinding of Measurement, RESOURCES, RESOURCES_OF_TRIALS;

    /// Source of its CPU time: `group`, `threads`, or `both` if trials differ; absent without a scored trial.
    cpu_source: Option<String> = whole(cpu_source);
    /// CPU time in user mode.
    user_s_per_good: Option<f64> = middle(|it, _| per_good(it, |part| part.user_s)) [Seconds Lower] csv "user_s_per_good";
    /// CPU time in the kernel.
    system_s_per_good: Option<f64> = middle(|it, _| per_good(it, |part| part.system_s)) [Seconds Lower] csv "system_s_per_good";
    /// Time that its threads waited for a CPU.
    run_queue_wait_s_per_good: Option<f64> = middle(|it, _| per_good(it, |part| Some(part.run_queue_wait_s)).filter(|_| it.slices.is_none()))
        [Seconds Lower] csv "run_queue_wait_s_per_good";
    /// How often one of its threads got a CPU.
    timeslices_per_good: Option<f64> = middle(|it, _| scheduled(it, |counts| Some(counts.timeslices)))
        [Count] csv "timeslices_per_good";
    /// Context switches.
    context_switches_per_good: Option<f64> = middle(|it, _| scheduled(it, |counts| counts.context_switches))
        [Count] csv "context_switches_per_good";
    /// Moves of a thread from one CPU to another.
    migrations_per_good: Option<f64> = middle(|it, _| scheduled(it, |counts| counts.migrations))
        [Count] csv "migrations_per_good";
    /// Page faults.
    page_faults_per_good: Option<f64> = middle(|it, _| scheduled(it, |counts| counts.page_faults))
        [Count] csv "page_faults_per_good";
    /// Bytes received through the interfaces of its network namespace.
    received_bytes_per_good: Option<f64> = middle(|it, _| bytes(it, |part| part.network.map(|network| network.received_bytes)))
        [Bytes Lower] csv "received_bytes_per_good";
    /// Bytes sent.
    sent_bytes_per_good: Option<f64> = middle(|it, _| bytes(it, |part| part.network.map(|network| network.sent_bytes)))
        [Bytes Lower] csv "sent_bytes_per_good";
    /// Bytes read from disks.
    disk_read_bytes_per_good: Option<f64> = middle(|it, _| bytes(it, |part| part.disk_read_bytes))
        [Bytes Lower] csv "disk_read_bytes_per_good";
    /// Bytes written to disks.
    disk_written_bytes_per_good: Option<f64> = middle(|it, _| bytes(it, |part| part.disk_written_bytes))
        [Bytes Lower] csv "disk_written_bytes_per_good";
    /// Throttling by its quota; absent without a quota.
    throttling: Option<ThrottlingFinding> = whole(throttling);
    + "quota_periods" [Count] "Periods of its quota." = |it| it.throttling.map(|found| found.periods);
    + "throttled_periods" [Count Lower] "Periods in which its quota stopped it." = |it| it.throttling.map(|found| found.throttled_periods);
    + "throttled_s" [Seconds Lower] "How long its quota stopped its CPUs, summed over them." = |it| it.throttling.map(|found| found.throttled_s);
    /// Highest anonymous and kernel memory of its control group.
    anonymous_and_kernel_bytes: Option<f64> = middle(|it, _| MemorySource::Group.bytes(it)) [Bytes Lower] csv "anonymous_and_kernel_bytes";
    /// Proportional set sizes when the window ended.
    pss_bytes: Option<f64> = middle(|it, _| MemorySource::Pss.bytes(it)) [Bytes Lower] csv "pss_bytes";
    /// Largest sum of resident sets, which counts shared pages once per process.
    rss_sum_bytes: Option<f64> = middle(|it, _| rss_sum(it)) [Bytes Lower] csv "rss_sum_bytes";
    /// The highest usage of its control group in any trial, page cache included. It counts from the trial's start if the kernel
    /// records that. Compare it with the limit.
    peak_bytes: Option<f64> = highest(|it, _| peak(it)) [Bytes Lower] csv "peak_bytes";
    /// That peak as a share of the limit; absent without a limit.
    peak_of_limit: Option<f64> = highest(|it, around| Some(peak(it)? / around.memory_limit_bytes? as f64))
        [Share Lower] csv "peak_of_limit";
    /// Processes that the kernel killed because the limit was reached.
    oom_kills: u64 = sum(oom_kills);
    /// The most threads at once.
    threads_max: u32 = whole(|it| it.trials.used().map(|used| used.threads_max).max().unwrap_or(0));
    + "threads_max" [Count] "Most threads seen at once." = threads_seen;
    /// Share of the window in which some task of the machine waited for a CPU.
    cpu_pressure: Option<f64> = middle(|it, _| it.host.cpu_pressure) [Share Lower] csv "cpu_pressure";
    /// Share of the window in which some task of the machine waited for memory.
    memory_pressure: Option<f64> = middle(|it, _| it.host.memory_pressure) [Share Lower] csv "memory_pressure";
    /// Share of the window in which some task of the machine waited for a disk.
    io_pressure: Option<f64> = middle(|it, _| it.host.io_pressure) [Share Lower] csv "io_pressure";
    /// The most runnable tasks of the machine at once, in the median trial.
    runnable_max: Option<f64> = middle(|it, _| it.host.runnable_max.map(|tasks| tasks as f64)) [Count] csv "runnable_max";
    /// Lowest frequency of any CPU of the machine.
    frequency_hz_min: Option<f64> = lowest(|it, _| it.host.frequency_hz_min) [Hertz] csv "frequency_hz_min";
    /// Highest frequency of any CPU of the machine.
    frequency_hz_max: Option<f64> = highest(|it, _| it.host.frequency_hz_max) [Hertz] csv "frequency_hz_max";
}

impl MemorySource {
    /// Its value in one trial.
    pub(crate) fn bytes(self, trial: &Measurement) -> Option<f64> {
        match self {
            Self::Group => Some(trial.subject.as_ref()?.memory?.anonymous_and_kernel_bytes_max as f64),
            Self::Pss => Some(trial.subject.as_ref()?.pss_bytes? as f64),
        }
    }

    /// The control groups' memory if every scored trial of every case has it, or else PSS: one column never mixes two kinds of
    /// memory.
    pub(crate) fn of<'a>(cases: impl Iterator<Item = &'a Observations<'a>>) -> Option<Self> {
        // The memory of an external server is unknown and must not decide for the others.
        let of_ours = |trial: &&Measurement| trial.subject.is_some();
        let mut trials = cases.flat_map(|case| &case.scored).map(|(_, trial)| *trial).filter(of_ours).peekable();
        trials.peek()?;
        Some(if trials.all(|trial| Self::Group.bytes(trial).is_some()) { Self::Group } else { Self::Pss })
    }
}

fn per_good(trial: &Measurement, amount: fn(&Resources) -> Option<f64>) -> Option<f64> {
    Some(amount(trial.subject.as_ref()?)? / answers(trial)?)
}

fn scheduled(trial: &Measurement, count: fn(&SchedulerCounts) -> Option<u64>) -> Option<f64> {
    Some(count(trial.subject.as_ref()?.scheduler.as_ref()?)? as f64 / answers(trial)?)
}

fn bytes(trial: &Measurement, bytes: fn(&Resources) -> Option<u64>) -> Option<f64> {
    Some(bytes(trial.subject.as_ref()?)? as f64 / answers(trial)?)
}

/// Processes of the subject that the kernel killed because memory ran out.
pub(crate) fn oom_kills(trial: &Measurement) -> u64 {
    trial.subject.as_ref().and_then(|it| it.memory).map_or(0, |memory| memory.oom_kills)
}

/// A sum over no processes means that memory was not read, not that it was 0.
fn rss_sum(trial: &Measurement) -> Option<f64> {
    Some(trial.subject.as_ref()?.rss_sum_bytes_max as f64).filter(|bytes| *bytes > 0.0)
}

fn peak(trial: &Measurement) -> Option<f64> {
    trial.subject.as_ref()?.memory.map(highest)
}

/// A server has at least one thread. An external server was not observed.
fn threads_seen(found: &ResourcesFinding) -> Option<f64> {
    Some(f64::from(found.threads_max)).filter(|_| found.cpu_source.is_some() || found.threads_max > 0)
}

/// The highest usage of a control group, page cache included, since its start if the kernel records that.
pub(crate) fn highest(memory: MemoryUse) -> f64 {
    memory.usage_bytes_max.max(memory.peak_bytes.unwrap_or(0)) as f64
}

fn cpu_source(readings: &Readings) -> Option<String> {
    let known = || readings.trials.used();
    let of_groups = known().filter(|subject| subject.cpu_source == CpuSource::Group).count();
    let word = match of_groups {
        _ if known().next().is_none() => return None,
        0 => "threads",
        all if all == known().count() => "group",
        _ => "both",
    };
    Some(word.to_owned())
}

fn throttling(readings: &Readings) -> Option<ThrottlingFinding> {
    let of_trials = readings.trials.used().filter_map(|used| used.throttling);
    let sum = of_trials.reduce(|sum, next| Throttling {
        periods: sum.periods + next.periods,
        throttled_periods: sum.throttled_periods + next.throttled_periods,
        throttled_s: sum.throttled_s + next.throttled_s,
    })?;
    Some(ThrottlingFinding {
        periods: sum.periods,
        throttled_periods: sum.throttled_periods,
        share: sum.throttled_periods as f64 / sum.periods.max(1) as f64,
        throttled_s: sum.throttled_s,
    })
}
