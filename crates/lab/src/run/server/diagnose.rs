//! The unscored trial of a case: what its subject does for each response, counted by means that are too expensive for a scored trial.

use std::time::Duration;

use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_model::{Diagnosis, GarbageCollection};

use crate::diagnose::collections;
use crate::run::server::measure::scopes;
use crate::run::server::trial::Trial;
use tolok_host::isolate::TrialBox;
use tolok_host::sample::{DiagnosticCount, DiagnosticCounters, DiagnosticReading, Window};
use tolok_tools::ToolReport;

/// Attached counters and their readings.
#[derive(Debug)]
pub(in crate::run) struct Counters {
    counters: DiagnosticCounters,
    /// When the counters were attached, just before the subject was started.
    since: MonotonicNs,
    readings: Vec<(MonotonicNs, DiagnosticReading)>,
}

/// The counts of a window.
#[derive(Debug)]
pub(in crate::run) struct Counted {
    window: Window,
    since: MonotonicNs,
    first: Option<DiagnosticReading>,
    last: Option<DiagnosticReading>,
    /// Length of the window relative to the counted time, as a factor.
    scale: f64,
    unavailable: Vec<String>,
}

impl Counters {
    /// Attaches to a box in which nothing was started yet.
    pub(in crate::run) fn attach(trial_box: &TrialBox) -> Self {
        let counters = DiagnosticCounters::attach(&scopes(trial_box));
        Self { counters, since: SystemClock.now(), readings: Vec::new() }
    }

    pub(in crate::run) fn read(&mut self) {
        self.readings.push((SystemClock.now(), self.counters.read()));
    }

    /// The difference between the readings nearest to the borders of the window. Load is steady in it, so a small offset is corrected
    /// by the ratio of the times.
    pub(in crate::run) fn counted(self, window: Window) -> Counted {
        let nearest = |border: MonotonicNs| {
            let distance = |at: MonotonicNs| at.since(border).max(border.since(at));
            self.readings.iter().min_by_key(|(at, _)| distance(*at)).cloned()
        };
        let (first, last) = (nearest(window.began), nearest(window.ended));
        let over = match (&first, &last) {
            (Some((from, _)), Some((to, _))) => to.since(*from),
            _ => Duration::ZERO,
        };
        let length = window.ended.since(window.began);
        Counted {
            window,
            since: self.since,
            scale: if over.is_zero() { 1.0 } else { length.as_secs_f64() / over.as_secs_f64() },
            unavailable: self.counters.unavailable().to_vec(),
            first: first.map(|(_, reading)| reading),
            last: last.map(|(_, reading)| reading),
        }
    }
}

impl Trial<'_> {
    /// What the subject did for the responses of the window.
    pub(in crate::run) fn diagnosis(&self, counted: Counted, report: &ToolReport) -> Diagnosis {
        let counts = counted.last.as_ref().zip(counted.first.as_ref()).map(|(last, first)| last.since(first));
        let counts = counts.unwrap_or_default();
        let mut unavailable = counted.unavailable;
        let mut count = |name: &str, found: Option<DiagnosticCount>| {
            let found = found?;
            if found.user_mode_only {
                unavailable.push(format!("{name} of the kernel: this user may count what happens in programs only"));
            }
            if found.scaled {
                unavailable
                    .push(format!("{name} all of the time: the counters had to take turns, the rest is extrapolated"));
            }
            Some((found.value as f64 * counted.scale).round() as u64)
        };
        Diagnosis {
            answers: (report.goodput_rps * report.window_s).round() as u64,
            window_s: report.window_s,
            goodput_rps: report.goodput_rps,
            cycles: count("cycles", counts.cycles),
            instructions: count("instructions", counts.instructions),
            branch_misses: count("branch misses", counts.branch_misses),
            cache_misses: count("cache misses", counts.cache_misses),
            syscalls: count("system calls", counts.syscalls),
            garbage_collection: self.garbage_collection(counted.window, counted.since),
            unavailable,
        }
    }

    /// What the runtime logged of its garbage collector in the window, if it supports that.
    fn garbage_collection(&self, window: Window, since: MonotonicNs) -> Option<GarbageCollection> {
        let format = self.launch.subject.diagnosis.gc_log?;
        let log = self.folder.subject_said().ok()?;
        let at = |border: MonotonicNs| border.since(since).as_secs_f64();
        Some(collections(&log, format, at(window.began)..at(window.ended)))
    }
}
