//! What a subject used for each good answer, apart from the headline figures.
//!
//! Every figure is the median over the scored trials, and is absent if one of them lacks it. Maxima and counts are over all
//! scored trials.

use tolok_model::{CpuSource, Measurement, MemoryUse, Resources, SchedulerCounts};

use crate::estimate::middle;
use crate::findings::{MemorySource, ResourcesFinding, ThrottlingFinding};
use crate::observations::{Observations, answers};

impl MemorySource {
    /// A few words for a heading.
    pub fn words(self) -> &'static str {
        match self {
            Self::Group => "anonymous + kernel",
            Self::Pss => "PSS",
        }
    }

    /// What one trial has of it.
    pub(crate) fn bytes(self, trial: &Measurement) -> Option<f64> {
        match self {
            Self::Group => anonymous_and_kernel(trial),
            Self::Pss => pss(trial),
        }
    }

    /// The control groups', if every scored trial of every case has it: one column never holds two kinds of memory.
    pub(crate) fn of<'a>(cases: impl Iterator<Item = &'a Observations<'a>>) -> Option<Self> {
        // Of a server that tolok did not start no memory is known at all, whatever is taken of the others.
        let of_ours = |trial: &&Measurement| !trial.subject.is_unknown();
        let mut trials = cases.flat_map(|case| &case.scored).map(|(_, trial)| *trial).filter(of_ours).peekable();
        trials.peek()?;
        Some(if trials.all(|trial| anonymous_and_kernel(trial).is_some()) { Self::Group } else { Self::Pss })
    }
}

/// What the trials of a case say; `limit_bytes` is the limit of the subject's memory.
pub(crate) fn resources(observations: &Observations, limit_bytes: Option<u64>) -> ResourcesFinding {
    let each = |figure: &dyn Fn(&Measurement) -> Option<f64>| middle(&observations.every(figure));
    let per_good = |amount: &dyn Fn(&Resources) -> Option<f64>| {
        each(&|trial| Some(amount(trial.subject.known()?)? / answers(trial)?))
    };
    let counts = |count: fn(&SchedulerCounts) -> Option<u64>| {
        per_good(&move |part| part.scheduler.as_ref().and_then(count).map(|count| count as f64))
    };
    let bytes = |bytes: fn(&Resources) -> Option<u64>| per_good(&move |part| bytes(part).map(|bytes| bytes as f64));
    let peak_bytes = observations.each(peak).into_iter().reduce(f64::max);
    ResourcesFinding {
        cpu_source: cpu_source(observations),
        user_s_per_good: per_good(&|part| part.user_s),
        system_s_per_good: per_good(&|part| part.system_s),
        run_queue_wait_s_per_good: per_good(&|part| Some(part.run_queue_wait_s)),
        timeslices_per_good: counts(|counts| Some(counts.timeslices)),
        context_switches_per_good: counts(|counts| counts.context_switches),
        migrations_per_good: counts(|counts| counts.migrations),
        page_faults_per_good: counts(|counts| counts.page_faults),
        received_bytes_per_good: bytes(|part| part.network.map(|network| network.received_bytes)),
        sent_bytes_per_good: bytes(|part| part.network.map(|network| network.sent_bytes)),
        disk_read_bytes_per_good: bytes(|part| part.disk_read_bytes),
        disk_written_bytes_per_good: bytes(|part| part.disk_written_bytes),
        throttling: throttling(observations),
        anonymous_and_kernel_bytes: each(&anonymous_and_kernel),
        pss_bytes: each(&pss),
        // A sum of no process is not a memory of nothing: it was not read.
        rss_sum_bytes: each(&|trial| Some(trial.subject.rss_sum_bytes_max as f64).filter(|bytes| *bytes > 0.0)),
        peak_bytes,
        peak_of_limit: peak_bytes.zip(limit_bytes).map(|(peak, limit)| peak / limit as f64),
        oom_kills: observations.scored.iter().map(|(_, trial)| oom_kills(trial)).sum(),
        threads_max: observations.scored.iter().map(|(_, trial)| trial.subject.threads_max).max().unwrap_or(0),
        cpu_pressure: each(&|trial| trial.host.cpu_pressure),
        memory_pressure: each(&|trial| trial.host.memory_pressure),
        io_pressure: each(&|trial| trial.host.io_pressure),
        runnable_max: each(&|trial| trial.host.runnable_max.map(|tasks| tasks as f64)),
        frequency_hz_min: observations.each(|trial| trial.host.frequency_hz_min).into_iter().reduce(f64::min),
        frequency_hz_max: observations.each(|trial| trial.host.frequency_hz_max).into_iter().reduce(f64::max),
    }
}

/// Processes of the subject that the kernel killed for want of memory.
pub(crate) fn oom_kills(trial: &Measurement) -> u64 {
    trial.subject.memory.map_or(0, |memory| memory.oom_kills)
}

fn anonymous_and_kernel(trial: &Measurement) -> Option<f64> {
    trial.subject.memory.map(|memory| memory.anonymous_and_kernel_bytes_max as f64)
}

fn pss(trial: &Measurement) -> Option<f64> {
    trial.subject.pss_bytes.map(|bytes| bytes as f64)
}

fn peak(trial: &Measurement) -> Option<f64> {
    trial.subject.memory.map(highest)
}

/// The highest usage of a control group, page cache included, since its start where the kernel keeps that.
pub(crate) fn highest(memory: MemoryUse) -> f64 {
    memory.usage_bytes_max.max(memory.peak_bytes.unwrap_or(0)) as f64
}

fn cpu_source(observations: &Observations) -> Option<String> {
    let known = || observations.scored.iter().filter_map(|(_, trial)| trial.subject.known());
    let of_groups = known().filter(|subject| subject.cpu_source == CpuSource::Group).count();
    let word = match of_groups {
        _ if known().next().is_none() => return None,
        0 => "threads",
        all if all == known().count() => "group",
        _ => "both",
    };
    Some(word.to_owned())
}

fn throttling(observations: &Observations) -> Option<ThrottlingFinding> {
    let of_trials = observations.scored.iter().filter_map(|(_, trial)| trial.subject.throttling);
    let sum = of_trials.reduce(|sum, next| tolok_model::Throttling {
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
