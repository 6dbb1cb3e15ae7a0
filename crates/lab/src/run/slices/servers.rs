//! The servers of a launch: which cases share one, how it is started, and how it ended.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use tolok_host::isolate::TrialBox;
use tolok_model::{Case, FailureKind};

use super::{Launch, LaunchCase};
use crate::run::database::trial_database::TrialDatabase;
use crate::run::server::trial::{TrialError, commands, free_port};
use crate::run::session::Place;
use crate::run::session::capabilities::server_part;

/// In a network of their own, servers get ports from this one on.
const FIRST_PORT: u16 = 8080;

/// A server shared by the cases of a launch with the same subject, variant and parameters. The noise check's second entry has its own.
pub(super) struct Server {
    /// Its part of the box.
    pub(super) part: String,
    /// Places of its cases.
    pub(super) cases: Vec<usize>,
    /// Where it listens, once it runs.
    pub(super) address: Option<SocketAddr>,
    /// Why some or all of its cases failed, by place.
    failures: Vec<(usize, FailureKind, String)>,
}

impl Server {
    /// Why one of its cases cannot be loaded.
    pub(super) fn failure(&self, place: usize) -> Option<(FailureKind, String)> {
        let found = self.failures.iter().find(|(failed, ..)| *failed == place)?;
        Some((found.1, found.2.clone()))
    }

    /// How one of its processes ended before its stop, in a sentence.
    pub(super) fn crash(&self, trial_box: &mut TrialBox) -> Result<Option<String>, TrialError> {
        let exit = trial_box.exits()?.iter().find(|exit| exit.part == self.part);
        Ok(exit.map(|exit| format!("process {} ended with {} while it was measured", exit.name, exit.how)))
    }

    fn fail(&mut self, places: &[usize], reason: FailureKind, message: &str) {
        self.failures.extend(places.iter().map(|place| (*place, reason, message.to_owned())));
    }
}

/// The servers that the cases of a launch need.
pub(super) fn of(cases: &[LaunchCase<'_>]) -> Vec<Server> {
    let mut servers: Vec<(&Case, Server)> = Vec::new();
    for (place, case) in cases.iter().enumerate().filter(|(_, case)| case.trial.is_ok()) {
        match servers.iter_mut().find(|(first, _)| first.shares_server(case.case)) {
            Some((_, server)) => server.cases.push(place),
            None => {
                let part = server_part(servers.len() + 1);
                let server = Server { part, cases: vec![place], address: None, failures: Vec::new() };
                servers.push((case.case, server));
            }
        }
    }
    servers.into_iter().map(|(_, server)| server).collect()
}

impl Launch<'_> {
    /// Starts all servers, one after the other, and requests every workload of its cases from each. A server that fails is killed,
    /// and the others continue.
    pub(super) fn start_servers(
        &mut self,
        servers: &mut [Server],
        trial_box: &mut TrialBox,
        (database, upstream): (Option<&TrialDatabase>, Option<SocketAddr>),
        run: &Path,
    ) -> Result<(), TrialError> {
        for (number, server) in servers.iter_mut().enumerate() {
            let own = run.join(format!("server-{}", number + 1));
            trial_box.make_folder(&own, "subject")?;
            match self.start(server, number, trial_box, (database, upstream), &own) {
                Ok(()) => {}
                Err(TrialError::Failed(reason, message)) => {
                    let all = server.cases.clone();
                    server.fail(&all, reason, &message);
                    server.address = None;
                    // The box ends the processes that remain.
                    let _ = trial_box.end_part(&server.part, Signal::KILL);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn start(
        &mut self,
        server: &mut Server,
        number: usize,
        trial_box: &mut TrialBox,
        (database, upstream): (Option<&TrialDatabase>, Option<SocketAddr>),
        run: &Path,
    ) -> Result<(), TrialError> {
        let has_own_network = trial_box.isolation().network != "host";
        let port = if has_own_network { FIRST_PORT + number as u16 } else { free_port().map_err(TrialError::lab)? };
        let address = SocketAddr::from((trial_box.subject_address(), port));
        let names = database.map(|database| database.names.clone()).unwrap_or_default();
        for (nth, place) in server.cases.clone().into_iter().enumerate() {
            let Ok(trial) = &mut self.cases[place].trial else { continue };
            let (protocol, cpus, names) = (trial.scenario.protocol, &trial.cpus.subject, names.clone());
            let at = Place { address, protocol, run, cpus, diagnosing: false, database: names, upstream };
            let mut specs = if nth == 0 { trial.launch.prepare(trial_box, &at)? } else { Vec::new() };
            specs.iter_mut().for_each(|spec| spec.part.clone_from(&server.part));
            if nth == 0 {
                trial.commands = commands(&specs, database);
                // Other servers run beside it, so this time is not a cold start.
                trial.launch.first_good_answer(trial_box, &specs, address, &trial.workload)?;
                server.address = Some(address);
                continue;
            }
            let limit = Duration::from_secs_f64(trial.launch.subject.start_timeout_s);
            match trial.launch.still_answers(trial_box, address, &trial.workload, limit) {
                Ok(()) => {}
                Err(TrialError::Failed(reason, message)) => server.fail(&[place], reason, &message),
                Err(error) => return Err(error),
            }
        }
        let first = server.cases.first().and_then(|place| self.cases[*place].trial.as_ref().ok());
        let typed = first.map(|trial| trial.commands.clone()).unwrap_or_default();
        for place in server.cases.iter().skip(1) {
            if let Ok(trial) = &mut self.cases[*place].trial {
                trial.commands.clone_from(&typed);
            }
        }
        Ok(())
    }
}
