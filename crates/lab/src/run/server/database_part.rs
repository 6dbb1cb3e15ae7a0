//! A trial's use of its database: how it is started, and what runs beside the load.

use std::path::Path;

use tolok_model::DataBody;

use crate::run::check::counter::Tally;
use crate::run::database::trial_database::{self, Launch, TrialDatabase};
use crate::run::database::watch::DatabaseWatch;
use crate::run::server::probe_queue::Server;
use crate::run::server::trial::{Trial, TrialError};
use tolok_host::isolate::TrialBox;

impl Trial<'_> {
    /// Starts the workload's database, if it has one.
    pub(in crate::run) fn start_database(
        &self,
        trial_box: &mut TrialBox,
        run: &Path,
    ) -> Result<Option<TrialDatabase>, TrialError> {
        let Some((asked, prepared)) = self.database else { return Ok(None) };
        let log = trial_database::log(self.folder.path());
        let (cpus, stop) = (trial_database::own_cpus(self.cpus), self.stop);
        TrialDatabase::start(Launch { prepared, asked, cpus, run, log: &log, stop }, trial_box).map(Some)
    }

    /// What must run beside the load.
    pub(in crate::run) fn beside<'a>(
        &'a self,
        database: Option<&'a mut TrialDatabase>,
        server: Server<'a>,
    ) -> Option<DatabaseWatch<'a>> {
        let (asked, _) = self.database?;
        let question = (self.session.assets.path(&self.workload), self.workload.status);
        Some(DatabaseWatch::new(database?, asked, question, server))
    }

    /// The number that the workload adds to, if it does, so that the sum can be checked.
    pub(in crate::run) fn tally<'a>(&'a self, database: Option<&'a TrialDatabase>) -> Option<Tally<'a>> {
        let path = &self.workload.path;
        match self.workload.body.data()? {
            DataBody::Counter => Some(Tally::Counter { path }),
            DataBody::Updates => Some(Tally::Updates { path, n: *self.workload.values.get("n")?, database: database? }),
            _ => None,
        }
    }
}
