//! A login to a trial's database that goes on in a thread of its own until the server lets it in.

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

/// A server takes a second to its first login, and a few on a machine that is busy.
pub(in crate::run) const LOGIN_LIMIT: Duration = Duration::from_secs(60);
/// How often is looked for what the box or a login brings.
const POLL: Duration = Duration::from_millis(1);

/// The login. It is given up, and its thread has ended, when this is dropped.
#[derive(Debug)]
pub(in crate::run) struct Login {
    thread: Option<JoinHandle<Result<LetIn, DatabaseError>>>,
    is_wanted: Arc<AtomicBool>,
}

/// A client, and when it was let in.
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

    /// Whether it came to an end, good or bad.
    pub(in crate::run) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The client that was let in, or why none was.
    pub(in crate::run) fn client(mut self) -> Result<LetIn, TrialError> {
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(client)) => client.map_err(database_failed),
            Some(Err(_)) | None => Err(database_failed("the login broke off")),
        }
    }

    /// Waits, unless the server ends, or the trial is stopped. `ended` of its processes have ended before.
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
        // The result is no longer needed.
        drop(self.thread.take().map(JoinHandle::join));
    }
}
