//! Finds the real cause of a failed trial: the part that reports an error first is often not to blame.

use tolok_model::{Failure, FailureKind, Limits, Link, bit_rate_words, bytes_words};

use crate::run::database::trial_database::{self, DATABASE_LOG, PART, TrialDatabase, database_failed};
use crate::run::server::trial::{Trial, TrialError};
use crate::run::stop::Stop;
use crate::subject::log_tail_in;
use tolok_host::isolate::TrialBox;
use tolok_store::{SUBJECT_LOG, StoreError, TrialFolder};

/// Lines of a log that a failure keeps.
const LOG_LINES: usize = 20;

impl Trial<'_> {
    /// A [`TrialError`] as a failure of the trial, or `None` if the trial was stopped.
    pub(in crate::run) fn failure(&self, trial_error: TrialError) -> Result<Option<Failure>, StoreError> {
        failure(trial_error, self.folder, self.stop, &|reason| match reason {
            FailureKind::DatabaseFailed => DATABASE_LOG,
            _ => SUBJECT_LOG,
        })
    }

    /// Fails if a process of the subject has ended before its stop signal.
    pub(in crate::run) fn nothing_has_ended(&self, trial_box: &mut TrialBox, when: &str) -> Result<(), TrialError> {
        match trial_box.exits()?.iter().find(|exit| exit.part != trial_database::PART) {
            None => Ok(()),
            Some(exit) => {
                let message = format!("process {} ended with {} {when}", exit.name, exit.how);
                Err(TrialError::Failed(FailureKind::Crashed, message))
            }
        }
    }

    /// An apparent fault of the subject may come from a limit of the study; then that limit is the reason.
    pub(in crate::run) fn explained(&self, trial_error: TrialError, trial_box: &TrialBox) -> TrialError {
        let TrialError::Failed(reason, message) = trial_error else { return trial_error };
        let limits = AtLimits::of(&self.environment.subject, (trial_box, "subject"));
        if let Some(killed) = limits.killed {
            return TrialError::Failed(FailureKind::OutOfMemory, format!("{killed}; the lab saw: {message}"));
        }
        if let (FailureKind::Hung, Some(too_slow)) = (reason, self.link_too_slow()) {
            return TrialError::Failed(FailureKind::LinkTooSlow, format!("{too_slow}; the lab saw: {message}"));
        }
        if let Some(limit) = self.database_out_of_memory(trial_box).filter(|_| reason == FailureKind::DatabaseFailed) {
            return TrialError::Failed(
                reason,
                format!(
                    "the kernel killed some of the database at its memory limit of {limit}; raise `database.memory`; the lab saw: {message}"
                ),
            );
        }
        TrialError::Failed(reason, message + &limits.refused.unwrap_or_default())
    }

    /// The database's memory limit in words, if the kernel killed one of its processes for exceeding it.
    fn database_out_of_memory(&self, trial_box: &TrialBox) -> Option<String> {
        let (asked, _) = self.database?;
        let killed = trial_box.group(PART)?.reader().read().memory?.oom_kills;
        asked.memory_bytes.filter(|_| killed > 0).map(bytes_words)
    }

    /// In words, if a link needs longer than the window for one response to each user.
    fn link_too_slow(&self) -> Option<String> {
        let users = self.scenario.load.connections_max().unwrap_or(1);
        let body = self.session.assets.body(&self.workload).len();
        let (environment, window_s) = (self.environment, self.scenario.load.duration_s);
        let of_database = self.database.map(|(asked, _)| asked);
        too_slow("the link", &environment.link, (body, users), window_s).or_else(|| {
            let asked = of_database?;
            // The pool bounds the responses under way at once.
            too_slow("the link to the database", &asked.link, (body, users.min(asked.pool)), window_s)
        })
    }

    /// Whether another program took the trial's port after tolok found it free and before the server started.
    pub(in crate::run) fn lost_its_port<T>(&self, measured: &Result<T, TrialError>) -> bool {
        let Err(TrialError::Failed(reason, _)) = measured else { return false };
        let log = match reason {
            // The program that holds the port may have answered in the subject's place, most likely against the contract.
            FailureKind::DidNotStart | FailureKind::WrongAnswer => SUBJECT_LOG,
            FailureKind::DatabaseFailed => DATABASE_LOG,
            _ => return false,
        };
        says_port_is_taken(&log_tail_in(self.folder.folder(), log, LOG_LINES))
    }
}

/// A [`TrialError`] as a failure of a trial, with the end of the log that `log` names, or `None` if the trial was stopped.
pub(in crate::run) fn failure(
    trial_error: TrialError,
    folder: &TrialFolder,
    stop: &Stop,
    log: &dyn Fn(FailureKind) -> &'static str,
) -> Result<Option<Failure>, StoreError> {
    match trial_error {
        TrialError::Store(error) => Err(error),
        TrialError::Stopped => Ok(None),
        // A failure during an immediate stop may be caused by the stop.
        TrialError::Failed(..) if stop.is_immediate() => Ok(None),
        // On a full disk, programs fail in many ways; the cause is the lack of space.
        TrialError::Failed(..) if folder.disk_is_full() => Err(folder.full()),
        TrialError::Failed(reason, message) => {
            let log_tail = log_tail_in(folder.folder(), log(reason), LOG_LINES);
            Ok(Some(Failure { reason, message, log_tail }))
        }
    }
}

/// Which of the study's limits the subject hit.
struct AtLimits {
    /// In words, if the kernel killed one of its processes for lack of memory.
    killed: Option<String>,
    /// The end of a sentence, if it could not start a process or thread.
    refused: Option<String>,
}

impl AtLimits {
    /// Call it while the subject's control group exists.
    fn of(limits: &Limits, (trial_box, part): (&TrialBox, &str)) -> Self {
        let reading = trial_box.group(part).map(|group| group.reader().read()).unwrap_or_default();
        let killed = reading.memory.map_or(0, |memory| memory.oom_kills);
        let killed_at = |limit: u64| {
            let plural = if killed == 1 { "" } else { "es" };
            let limit = bytes_words(limit);
            format!("the kernel killed {killed} process{plural} of it at its memory limit of {limit}")
        };
        let refused = reading.refused_tasks.filter(|refused| *refused > 0).zip(limits.pids);
        let refused_at = |(refused, limit): (u64, _)| {
            format!("; {refused} times it could not start a process or thread, as it may have {limit} at most")
        };
        Self { killed: limits.memory_bytes.filter(|_| killed > 0).map(killed_at), refused: refused.map(refused_at) }
    }
}

/// The same for a program, which has neither link nor database. `part` is its part of the box.
pub(in crate::run) fn because_of_a_limit(
    trial_error: TrialError,
    limits: &Limits,
    (trial_box, part): (&TrialBox, &str),
) -> TrialError {
    let TrialError::Failed(reason, message) = trial_error else { return trial_error };
    let AtLimits { killed, refused } = AtLimits::of(limits, (trial_box, part));
    match killed {
        Some(killed) => TrialError::Failed(FailureKind::OutOfMemory, format!("{killed}; the lab saw: {message}")),
        None => TrialError::Failed(reason, message + &refused.unwrap_or_default()),
    }
}

/// Blames the database for an apparent fault of the subject, if the database has ended, does not answer, or has refused the
/// subject's connections.
pub(in crate::run) fn because_of_the_database(
    trial_error: TrialError,
    database: &mut TrialDatabase,
    trial_box: &mut TrialBox,
) -> TrialError {
    let TrialError::Failed(kind, message) = &trial_error else { return trial_error };
    let may_be = [FailureKind::DidNotStart, FailureKind::WrongAnswer, FailureKind::Hung, FailureKind::Crashed];
    if !may_be.contains(kind) {
        return trial_error;
    }
    match database.failure(trial_box) {
        Ok(Some(why)) => database_failed(format!("{why}; the lab saw of the subject: {message}")),
        Ok(None) => trial_error,
        Err(error) => error,
    }
}

/// Describes that `link` needs longer than the window to send one body to each user.
fn too_slow(name: &str, link: &Link, (body_bytes, users): (usize, u32), window_s: f64) -> Option<String> {
    let rate_bps = link.rate_bps?;
    let needed_s = body_bytes as f64 * 8.0 * f64::from(users) / rate_bps;
    (needed_s > window_s).then(|| {
        format!(
            "{name} of {} takes {needed_s:.1} s for one body of {} to each of {users} users, and the window is {window_s:.1} s: \
             make it longer, or have fewer users",
            bit_rate_words(rate_bps),
            bytes_words(body_bytes as u64),
        )
    })
}

/// Whether a server's log reports, in one of the known wordings, that its port is taken.
fn says_port_is_taken(log: &[String]) -> bool {
    let log = log.join("\n").to_ascii_lowercase();
    ["address already in use", "address in use", "eaddrinuse"].iter().any(|words| log.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_cannot_carry_one_answer_to_each_user_in_the_window_is_too_slow() {
        let link = Link { rate_bps: Some(8e6), ..Link::default() };
        assert_eq!(too_slow("the link", &link, (1_000_000, 4), 4.0), None);
        let words = too_slow("the link to the database", &link, (1_000_000, 5), 4.0).unwrap();
        assert!(words.starts_with("the link to the database of 8 Mbit/s takes 5.0 s for one body of "), "{words}");
        assert_eq!(too_slow("the link", &Link::default(), (1_000_000, 5), 4.0), None);
    }

    #[test]
    fn servers_say_in_their_own_ways_that_a_port_is_taken() {
        let says = |line: &str| says_port_is_taken(&["starting".to_owned(), line.to_owned(), "bye".to_owned()]);
        // Go, Node, nginx, Apache, Rust and MariaDB, in this order.
        assert!(says("listen tcp 127.0.0.1:8080: bind: address already in use"));
        assert!(says("Error: listen EADDRINUSE: address already in use 127.0.0.1:8080"));
        assert!(says("nginx: [emerg] bind() to 127.0.0.1:8080 failed (98: Address already in use)"));
        assert!(says("(98)Address already in use: AH00072: make_sock: could not bind to address 127.0.0.1:8080"));
        assert!(says("Error: Os { code: 98, kind: AddrInUse, message: \"Address already in use\" }"));
        assert!(says("[ERROR] Can't start server: Bind on TCP/IP port. Got error: 98: Address already in use"));
        assert!(!says("listen tcp 127.0.0.1:80: bind: permission denied"));
        assert!(!says_port_is_taken(&[]));
    }
}
