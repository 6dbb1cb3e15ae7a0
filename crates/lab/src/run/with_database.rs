//! The part of a trial that its database has: what it is started with, and what is recorded of it.

use std::path::Path;

use tolok_model::{Body, DataBody, DatabaseWindow, Disturbance, OutageRecord};

use super::beside::Beside;
use super::link_window::lateness;
use super::questions::Server;
use super::record::resources;
use super::trial::{Setback, Trial};
use super::trial_database::{self, Launch, TrialDatabase};
use crate::isolate::TrialBox;
use crate::sample::{Part, Window, WindowUsage};

/// The file in which an emulated link to the database says what it did.
pub(super) const DATABASE_LINK_REPORT: &str = "database-link.jsonl";

impl Trial<'_> {
    /// Starts the database that the workload asks, if it asks one.
    pub(super) fn start_database(
        &self,
        trial_box: &mut TrialBox,
        run: &Path,
    ) -> Result<Option<TrialDatabase>, Setback> {
        let Some((asked, prepared)) = self.database else { return Ok(None) };
        let log = trial_database::log(self.folder.path());
        let (cpus, stop) = (trial_database::own_cpus(self.cpus), self.stop);
        TrialDatabase::start(Launch { prepared, asked, cpus, run, log: &log, stop }, trial_box).map(Some)
    }

    /// What is to go on beside the load.
    pub(super) fn beside<'a>(
        &'a self,
        database: Option<&'a mut TrialDatabase>,
        server: Server<'a>,
    ) -> Option<Beside<'a>> {
        let (asked, _) = self.database?;
        let question = (self.session.assets.path(&self.workload), self.workload.status);
        Some(Beside::new(database?, asked, question, server))
    }

    /// Whether the workload counts, so that its number can be checked.
    pub(super) fn counts(&self) -> bool {
        self.workload.body == Body::Data { data: DataBody::Counter }
    }

    /// Whether the link to the database held packets up for longer than the study asks.
    pub(super) fn database_link_lateness(&self, found: Option<&DatabaseWindow>) -> Option<Disturbance> {
        let (asked, _) = self.database?;
        lateness("the link to the database", found?.link.as_ref()?, asked.link.rtt_s)
    }

    /// What is recorded of the database in the window.
    pub(super) fn database_window(
        &self,
        found: DatabaseWindow,
        outage: Option<OutageRecord>,
        window: Window,
        usage: &WindowUsage,
    ) -> Result<DatabaseWindow, Setback> {
        let is_ours = self.database.is_some_and(|(asked, _)| asked.is_private());
        let is_emulated = self.isolation.as_ref().is_some_and(|it| it.database_network.as_deref() == Some("emulator"));
        let link = match is_emulated {
            true => self.link_report((DATABASE_LINK_REPORT, Part::DatabaseLink), window, usage).map(Some)?,
            false => None,
        };
        let used = usage.part(Part::Database);
        // What was not read is not nought.
        let resources = (is_ours && used.cpu_s.is_some()).then(|| resources(&used));
        Ok(DatabaseWindow { resources, link, outage, ..found })
    }
}
