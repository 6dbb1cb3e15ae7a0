//! What others did to the window of a trial, and what its links did.

use std::fmt::Display;

use tolok_model::{CpuMap, CpuMode, DatabaseWindow, Disturbance, Environment, LinkWindow};

use super::link_window::{lateness, link_window};
use super::trial::{Setback, Trial};
use crate::machine::{WindowFacts, disturbances};
use crate::sample::{Part, Window, WindowUsage};

/// What others did to a window, judged by what they took of the CPUs.
pub(super) fn by_others(
    (environment, cpus): (&Environment, &CpuMap),
    machine_cpus: usize,
    window_s: f64,
    usage: &WindowUsage,
) -> Vec<Disturbance> {
    let subject = &environment.subject;
    let facts = WindowFacts {
        window_s,
        machine_cpus: machine_cpus as f64,
        subject_cpus: match subject.mode {
            CpuMode::Dedicated => cpus.subject.len() as f64,
            CpuMode::Quota => subject.cpus,
        },
        foreign_cpu_s: usage.host.foreign_cpu_s,
        steal_s: usage.host.steal_s,
        subject_cpu_s: usage.part(Part::Subject).cpu_s,
        subject_wait_s: usage.part(Part::Subject).run_queue_wait_s,
    };
    let found = disturbances(&facts).into_iter();
    found
        .map(|found| Disturbance { kind: found.kind.word().to_owned(), value: found.share, text: found.sentence })
        .collect()
}

impl Trial<'_> {
    /// What others did to the window.
    pub(super) fn disturbances(
        &self,
        window_s: f64,
        usage: &WindowUsage,
        link: Option<&LinkWindow>,
        database: Option<&DatabaseWindow>,
    ) -> Vec<Disturbance> {
        let by_others = by_others((self.environment, self.cpus), self.session.logical_cpus, window_s, usage);
        let late = link.and_then(|link| lateness("the link", link, self.environment.link.rtt_s));
        by_others.into_iter().chain(late).chain(self.database_link_lateness(database)).collect()
    }

    /// What an emulated link did. One whose report cannot be read may have been late, so its trial tells nothing.
    pub(super) fn link_report(
        &self,
        (report, part): (&str, Part),
        window: Window,
        usage: &WindowUsage,
    ) -> Result<LinkWindow, Setback> {
        let path = self.folder.path().join(report);
        let unknown = |why: &dyn Display| Setback::lab(format!("the link's report {}: {why}", path.display()));
        let rows = tolok_link::read_report(&path).map_err(|error| unknown(&error))?;
        let cpu_s = usage.part(part).cpu_s.unwrap_or_default();
        let found = link_window(&rows, window.began.0, window.ended.0, cpu_s);
        found.ok_or_else(|| unknown(&"it has no row of the window"))
    }
}
