//! A login to a trial's database, in a thread of its own, that retries until the server accepts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tolok_load::clock::{Clock, MonotonicNs, SystemClock};

use crate::database::{Client, DatabaseError, Target};
use crate::run::database::trial_database::{PART, database_failed};
use crate::run::server::trial::TrialError;
use crate::run::stop::Stop;
use crate::toolbox::Program;
use tolok_host::isolate::TrialBox;

/// A server takes a second until its first login, and a few seconds on a busy machine.
pub(in crate::run) const LOGIN_LIMIT: Duration = Duration::from_secs(60);
/// How often to check the box and the login.
const POLL: Duration = Duration::from_millis(1);

/// A pending login. Dropping it gives the login up and joins its thread.
#[derive(Debug)]
pub(in crate::run) struct Login {
    thread: Option<JoinHandle<Result<LetIn, DatabaseError>>>,
    is_wanted: Arc<AtomicBool>,
}

/// A client, and when its login succeeded.
pub(in crate::run) type LetIn = (Client, MonotonicNs);

impl Login {
    pub(in crate::run) fn begin(program: &Program, target: &Target) -> Self {
        let is_wanted = Arc::new(AtomicBool::new(true));
        let (program, target, wanted) = (program.clone(), target.clone(), Arc::clone(&is_wanted));
        let thread = std::thread::Builder::new().spawn(move || {
            let client = Client::login(&program, &target, LOGIN_LIMIT, &|| wanted.load(Ordering::Relaxed))?;
            Ok((client, SystemClock.now()))
        });
        Self { thread: thread.ok(), is_wanted }
    }

    /// Whether it has succeeded or failed.
    pub(in crate::run) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The logged-in client, or why the login failed.
    pub(in crate::run) fn client(mut self) -> Result<LetIn, TrialError> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(client)) => client.map_err(database_failed),
            Some(Err(_)) | None => Err(database_failed("the login broke off")),
        }
    }

    /// Waits for the login. Fails if the server ends or the trial is stopped. `ended` of its processes have ended before.
    pub(in crate::run) fn wait(self, trial_box: &mut TrialBox, ended: usize, stop: &Stop) -> Result<LetIn, TrialError> {
        while !self.is_over() {
            let exits = trial_box.exits()?;
            if let Some(exit) = exits.iter().filter(|exit| exit.part == PART).nth(ended) {
                return Err(database_failed(format!("the database ended with {} before its first login", exit.how)));
            }
            if stop.is_immediate() {
                return Err(TrialError::Stopped);
            }
            std::thread::sleep(POLL);
        }
        self.client()
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        // Nobody needs the result any more.
        drop(self.thread.take().map(JoinHandle::join));
    }
}
