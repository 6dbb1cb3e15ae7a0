//! The part of a trial that its database has: what it is started with, what it is blamed for, what is recorded of it.

use std::net::SocketAddr;
use std::path::Path;

use tolok_model::{Body, DataBody, DatabaseWindow, Disturbance, FailureKind, OutageRecord};

use super::beside::Beside;
use super::link_window::lateness;
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
        let (cpus, stop) = (self.cpus.database.as_slice(), self.stop);
        TrialDatabase::start(Launch { prepared, asked, cpus, run, log: &log, stop }, trial_box).map(Some)
    }

    /// What is to go on beside the load.
    pub(super) fn beside<'a>(
        &'a self,
        database: Option<&'a mut TrialDatabase>,
        address: SocketAddr,
    ) -> Option<Beside<'a>> {
        let (asked, _) = self.database?;
        let question = (self.session.assets.path(&self.workload), self.workload.status);
        Some(Beside::new(database?, asked, question, address))
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
        let is_ours = self.database.is_some_and(|(asked, _)| asked.engine.program().is_some());
        let is_emulated = self.isolation.as_ref().is_some_and(|it| it.database_network.as_deref() == Some("emulator"));
        let link = match is_emulated {
            true => self.link_report((DATABASE_LINK_REPORT, Part::DatabaseLink), window, usage).map(Some)?,
            false => None,
        };
        let resources = is_ours.then(|| resources(&usage.part(Part::Database)));
        Ok(DatabaseWindow { resources, link, outage, ..found })
    }
}

/// What looks like a fault of the subject is the database's if that has ended, or has refused the subject's connections.
pub(super) fn because_of_the_database(
    setback: Setback,
    database: Option<&mut TrialDatabase>,
    trial_box: &mut TrialBox,
) -> Setback {
    let (Setback::Failed(kind, message), Some(database)) = (&setback, database) else { return setback };
    let may_be = matches!(kind, FailureKind::DidNotStart | FailureKind::WrongAnswer | FailureKind::Hung);
    if !may_be {
        return setback;
    }
    let blamed = |why: String| trial_database::database_failed(format!("{why}; seen of the subject: {message}"));
    match database.has_ended(trial_box) {
        Ok(Some(how)) => return blamed(how),
        Err(error) => return error,
        Ok(None) => database.stop_watching(),
    }
    match database.refused_connections() {
        Some(refused) if refused > 0 => {
            let plural = if refused == 1 { "" } else { "s" };
            blamed(format!(
                "the database refused {refused} connection{plural}, because it had as many as it accepts; raise \
                 `database.max-connections`, or make `database.pool` smaller"
            ))
        }
        _ => setback,
    }
}
