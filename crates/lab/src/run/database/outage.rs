//! An outage: the database is killed and restarted in the middle of the window, as the study says, and a probe records how the
//! subject reacts.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use tolok_load::clock::{Clock, MonotonicNs, SystemClock};
use tolok_model::{Outage, OutageRecord};

use crate::run::database::login::Login;
use crate::run::database::trial_database::TrialDatabase;
use crate::run::server::probe_queue::{Asker, no_thread};
use crate::run::server::trial::TrialError;
use tolok_host::isolate::TrialBox;

/// Every subject must answer within this time, with or without its database.
const DEADLINE: Duration = Duration::from_secs(5);
/// Pause between two probes.
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(in crate::run) struct OutageAtWork {
    asked: Outage,
    state: State,
    began: Option<MonotonicNs>,
    ended: Option<MonotonicNs>,
    /// The probe's results so far.
    answers: Vec<ProbeResult>,
    probe: Probe,
}

#[derive(Debug)]
enum State {
    Ahead,
    Gone,
    ComingBack(Login),
    Over,
}

impl OutageAtWork {
    /// Begins to probe the subject; the database is killed later.
    pub(in crate::run) fn begin(asked: Outage, asker: &Asker, (path, owed): (&str, u16)) -> Result<Self, TrialError> {
        Ok(Self {
            asked,
            state: State::Ahead,
            began: None,
            ended: None,
            answers: Vec::new(),
            probe: Probe::begin(asker.clone(), path.to_owned(), owed).map_err(|error| no_thread(&error))?,
        })
    }

    /// Takes the step that is due, and returns whether the database was restarted. Call it repeatedly from the beginning of the window.
    pub(in crate::run) fn step(
        &mut self,
        window_began: MonotonicNs,
        database: &mut TrialDatabase,
        trial_box: &mut TrialBox,
    ) -> Result<bool, TrialError> {
        let seconds_since = |at: MonotonicNs| SystemClock.now().since(at).as_secs_f64();
        match std::mem::replace(&mut self.state, State::Over) {
            State::Ahead if seconds_since(window_began) >= self.asked.at_s => {
                self.began = Some(SystemClock.now());
                database.kill(trial_box)?;
                self.state = State::Gone;
            }
            // Counted from the actual kill: if that was late, the outage still lasts as long as planned.
            State::Gone if self.began.is_none_or(|began| seconds_since(began) >= self.asked.for_s) => {
                if let Some(login) = database.start_again(trial_box)? {
                    self.state = State::ComingBack(login);
                    return Ok(true);
                }
            }
            State::ComingBack(login) if login.is_over() => {
                self.ended = Some(database.watch_again(login.client()?));
            }
            same => self.state = same,
        }
        Ok(false)
    }

    /// Whether the database was restarted and has not accepted a login yet.
    pub(in crate::run) fn is_coming_back(&self) -> bool {
        matches!(self.state, State::ComingBack(_))
    }

    /// Whether there is still something to observe: the database is restarting, or the subject has not recovered and its deadline is not
    /// over.
    pub(in crate::run) fn goes_on(&mut self) -> bool {
        self.answers.extend(self.probe.answers.try_iter());
        let may_recover = self.ended.is_some_and(|ended| {
            let has_recovered = self.answers.iter().any(|asked| recovers(asked, ended));
            !has_recovered && SystemClock.now().since(ended) < DEADLINE
        });
        self.is_coming_back() || may_recover
    }

    /// Stops the probe. Its last request may still wait for an answer.
    pub(in crate::run) fn stop_asking(&self) {
        self.probe.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Whether no probe is under way.
    pub(in crate::run) fn has_stopped_asking(&self) -> bool {
        self.probe.thread.is_finished()
    }

    /// The record of the outage. Its times count from `window_began`.
    pub(in crate::run) fn record(mut self, window_began: MonotonicNs) -> Option<OutageRecord> {
        self.answers.extend(self.probe.answers.try_iter());
        Some(found(window_began, self.began?, self.ended, &self.answers))
    }
}

/// The result of one probe.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ProbeResult {
    at: MonotonicNs,
    answered: MonotonicNs,
    /// The status, if an answer came.
    status: Option<u16>,
    /// Whether it is the status that the workload owes.
    good: bool,
}

/// Probes the subject, one request after the other. Its thread ends when stopped, or when no receiver is left. If the trial is
/// aborted, it ends after the current request, at the latest with the trial's box.
#[derive(Debug)]
struct Probe {
    is_wanted: Arc<AtomicBool>,
    answers: Receiver<ProbeResult>,
    thread: JoinHandle<()>,
}

impl Probe {
    fn begin(asker: Asker, path: String, owed: u16) -> io::Result<Self> {
        let (is_wanted, (sender, answers)) = (Arc::new(AtomicBool::new(true)), channel());
        let wanted = Arc::clone(&is_wanted);
        let thread = Builder::new().spawn(move || {
            while wanted.load(Ordering::Relaxed) && ask(&asker, &path, owed, &sender) {
                std::thread::sleep(PAUSE);
            }
        })?;
        Ok(Self { is_wanted, answers, thread })
    }
}

/// Sends one probe. Returns whether a receiver is left.
fn ask(asker: &Asker, path: &str, owed: u16, answers: &Sender<ProbeResult>) -> bool {
    let at = SystemClock.now();
    // GET, because it changes nothing.
    let status = asker.ask("GET", path, DEADLINE).ok().map(|answer| answer.status);
    answers.send(ProbeResult { at, answered: SystemClock.now(), status, good: status == Some(owed) }).is_ok()
}

/// A correct response to a request sent before the database was back proves nothing about the subject.
fn recovers(asked: &ProbeResult, ended: MonotonicNs) -> bool {
    asked.good && asked.at >= ended
}

fn found(
    window_began: MonotonicNs,
    began: MonotonicNs,
    ended: Option<MonotonicNs>,
    answers: &[ProbeResult],
) -> OutageRecord {
    let in_window_s = |at: MonotonicNs| at.since(window_began).as_secs_f64();
    let later: Vec<&ProbeResult> = answers.iter().filter(|asked| asked.answered >= began).collect();
    let recovered = ended.and_then(|ended| later.iter().find(|asked| recovers(asked, ended)));
    let until = recovered.map(|asked| asked.answered);
    // Failures after the recovery do not belong to the outage.
    let unrecovered = || later.iter().filter(|asked| until.is_none_or(|until| asked.answered <= until));
    let error = unrecovered().find(|asked| asked.status.is_some_and(|status| status >= 500));
    let silences = unrecovered().map(|asked| asked.answered.since(asked.at.max(began)).as_secs_f64());
    OutageRecord {
        began_s: in_window_s(began),
        ended_s: ended.map(in_window_s),
        first_error_s: error.map(|asked| in_window_s(asked.answered)),
        error_status: error.and_then(|asked| asked.status),
        longest_silence_s: silences.fold(0.0, f64::max),
        recovered_s: until.map(in_window_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> MonotonicNs {
        MonotonicNs(1_000_000_000_000 + millis * 1_000_000)
    }

    fn asked(from: u64, to: u64, status: Option<u16>) -> ProbeResult {
        ProbeResult { at: at(from), answered: at(to), status, good: status == Some(200) }
    }

    #[test]
    fn both_moments_and_the_longest_silence_are_found() {
        let answers = [
            asked(1_000, 1_010, Some(200)),
            // Under way when the database was killed.
            asked(1_990, 2_400, Some(503)),
            asked(2_410, 2_420, Some(503)),
            // Sent before the database was back.
            asked(2_950, 3_050, Some(200)),
            asked(3_060, 3_070, Some(503)),
            asked(3_080, 3_100, Some(200)),
            asked(3_110, 9_000, Some(200)),
        ];
        let found = found(at(0), at(2_000), Some(at(3_000)), &answers);
        assert_eq!((found.began_s, found.ended_s), (2.0, Some(3.0)));
        assert_eq!((found.first_error_s, found.error_status), (Some(2.4), Some(503)));
        assert_eq!((found.longest_silence_s, found.recovered_s), (0.4, Some(3.1)));
    }

    #[test]
    fn a_subject_that_never_answers_is_silent_to_the_deadline() {
        let found = found(at(0), at(500), Some(at(600)), &[asked(490, 5_490, None), asked(5_500, 10_500, None)]);
        assert_eq!((found.first_error_s, found.recovered_s, found.longest_silence_s), (None, None, 5.0));
    }

    #[test]
    fn an_error_after_the_recovery_is_none_of_the_outage() {
        let answers = [asked(490, 700, Some(200)), asked(710, 720, Some(200)), asked(800, 810, Some(500))];
        let found = found(at(0), at(500), Some(at(600)), &answers);
        assert_eq!((found.first_error_s, found.recovered_s), (None, Some(0.72)));
    }

    #[test]
    fn a_database_that_never_comes_back_leaves_nobody_recovered() {
        let found = found(at(0), at(500), None, &[asked(510, 520, Some(503)), asked(530, 540, Some(200))]);
        assert_eq!((found.ended_s, found.recovered_s, found.first_error_s), (None, None, Some(0.52)));
    }
}
