//! How a run behaves on a machine that is busy: it lets another tolok end first, and asks the user what to do when it discards
//! trial after trial.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tolok_host::machine::{OtherRun, Processes, ThisHost, WaitEnd, busiest, busy_words, wait_until_quiet};
use tolok_lab::run::{RunEvent, Stop, TrialEvent};

use crate::args::{IfOtherRun, SharingArgs};
use crate::exit::{CliError, Exit};
use crate::output::say;

/// This many discarded trials are no longer an accident.
const MOST_DISCARDED: u32 = 10;
/// How often to check whether another tolok has ended, and whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(200);
/// How long to observe which programs use the CPU.
pub const LOOKED_OVER: Duration = Duration::from_millis(500);
/// How long to wait for a quiet machine when the user chose to wait.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

/// How a run shares the machine.
#[derive(Debug, Clone, Copy)]
pub struct Sharing {
    if_other_run: IfOtherRun,
    /// Whether many discarded trials end the run.
    strict: bool,
    /// Whether this machine measures. A run on other machines does not wait for an answer, so tolok does not ask.
    is_here: bool,
}

impl Sharing {
    pub fn of(args: &SharingArgs, strict: bool) -> Self {
        Self { if_other_run: args.if_other_run, strict, is_here: true }
    }

    /// For a run whose rounds run on other machines.
    pub fn elsewhere(strict: bool) -> Self {
        Self { if_other_run: IfOtherRun::Ignore, strict, is_here: false }
    }

    /// Waits for other toloks that measure here, or refuses to measure beside them: they would disturb each other.
    pub fn let_others_end(self, stop: &Stop) -> Result<(), CliError> {
        let others = || Processes::default().other_runs(std::process::id());
        let pause = || std::thread::sleep(LOOK);
        match self.if_other_run {
            IfOtherRun::Ignore => Ok(()),
            IfOtherRun::Refuse => refuse(&others()),
            IfOtherRun::Wait => wait(others, pause, stop),
        }
    }

    /// Tracks the discarded trials of a run.
    pub fn losses(self) -> Losses {
        let is_attended = self.is_here && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let rule = match (self.strict, is_attended) {
            (true, _) => Rule::Stop,
            (false, true) => Rule::Ask,
            (false, false) => Rule::GoOn,
        };
        Losses { rule, discarded: BTreeMap::new(), reason: String::new(), has_given_up: false }
    }
}

fn refuse(others: &[OtherRun]) -> Result<(), CliError> {
    let Some(first) = others.first() else { return Ok(()) };
    let message = format!(
        "{} measures here, and both would disturb each other. To wait for its end: --if-other-run wait; to measure beside it: \
         --if-other-run ignore",
        named(first)
    );
    Err(CliError::new(Exit::GateFailed, message))
}

fn wait(others: impl Fn() -> Vec<OtherRun>, pause: impl Fn(), stop: &Stop) -> Result<(), CliError> {
    let mut told = None;
    while let Some(other) = others().into_iter().next() {
        if stop.is_asked() {
            return Err(CliError::new(Exit::Interrupted, "stopped before anything was measured"));
        }
        if told.as_ref() != Some(&other) {
            say(format!("Waiting for {} to end. Ctrl-C stops waiting.", named(&other)));
            told = Some(other);
        }
        pause();
    }
    Ok(())
}

fn named(OtherRun { pid, run }: &OtherRun) -> String {
    format!("another tolok (pid {pid}, {run})")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Ask,
    Stop,
    GoOn,
}

/// The trials that a run discarded because other programs used the CPU.
#[derive(Debug)]
pub struct Losses {
    rule: Rule,
    /// Counts by round.
    discarded: BTreeMap<u32, u32>,
    /// Why the last one was discarded.
    reason: String,
    /// Whether the run was ended because of them.
    pub has_given_up: bool,
}

/// What to do at the tenth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    GoOn,
    /// Wait, then ask again after ten more.
    Wait,
    Stop,
}

impl Losses {
    /// Counts the discarded trials that an event reports. At the tenth, it asks, stops, or reports that the run continues. The run
    /// waits meanwhile: no trial begins before its event was handled.
    pub fn hear(&mut self, event: &RunEvent, stop: &Stop, ask: impl FnOnce(&str, &Stop) -> Verdict) {
        match event {
            RunEvent::InTrial { event: TrialEvent::Disturbed { reasons, .. }, .. } => self.reason = reasons.join("; "),
            RunEvent::TrialFinished { outcome, trial, .. } if !outcome.disturbances().is_empty() => {
                *self.discarded.entry(trial.block).or_default() += 1;
            }
            // The whole round runs again.
            RunEvent::BlockLost { block, .. } => drop(self.discarded.remove(block)),
            _ => return,
        }
        let discarded: u32 = self.discarded.values().sum();
        if discarded == MOST_DISCARDED && matches!(event, RunEvent::TrialFinished { .. }) {
            let what = format!("{MOST_DISCARDED} trials were discarded; of the last one: {}", self.reason);
            self.decide(&what, stop, ask);
        }
    }

    fn decide(&mut self, what: &str, stop: &Stop, ask: impl FnOnce(&str, &Stop) -> Verdict) {
        match self.rule {
            Rule::GoOn => say(format!("{what}. The run goes on; with --strict it ends here.")),
            Rule::Stop => {
                say(format!("{what}. --strict ends the run here."));
                self.has_given_up = true;
                stop.ask();
            }
            Rule::Ask => match ask(what, stop) {
                Verdict::GoOn => {}
                // A machine that became quiet may get busy again.
                Verdict::Wait => self.discarded.clear(),
                Verdict::Stop => stop.ask(),
            },
        }
    }
}

/// Asks on the terminal how to continue, and waits for a quiet machine if the user chooses that.
pub fn ask_how_to_go_on(what: &str, stop: &Stop) -> Verdict {
    let programs = busiest_now().map(|words| format!(", {words}")).unwrap_or_default();
    say(format!("\n  {what}{programs}."));
    loop {
        anstream::eprint!("  Go on? y: yes · w: wait until the machine is quiet · n: stop here and report [y] ");
        match answer(stop).as_deref().map(str::trim) {
            Some("" | "y" | "Y" | "yes") => return Verdict::GoOn,
            Some("n" | "N" | "no") | None => return Verdict::Stop,
            Some("w" | "W" | "wait") => {
                say(format!("  Waiting for a quiet machine, at most {} minutes.", PATIENCE.as_secs() / 60));
                let keep_waiting = || !stop.is_asked();
                let waited = wait_until_quiet(PATIENCE, &mut ThisHost::default(), &keep_waiting);
                if waited.end != WaitEnd::PatienceOver {
                    return Verdict::Wait;
                }
            }
            Some(_) => {}
        }
    }
}

/// The programs that use the CPU while nothing is measured.
fn busiest_now() -> Option<String> {
    let (processes, began) = (Processes::default(), Instant::now());
    let before = processes.cpu_times();
    std::thread::sleep(LOOKED_OVER);
    let over_s = began.elapsed().as_secs_f64();
    busy_words(&busiest(&before, &processes.cpu_times(), over_s, std::process::id()))
}

/// A line of standard input; `None` at its end, or if the user wants to stop.
fn answer(stop: &Stop) -> Option<String> {
    let input = std::io::stdin();
    let look = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
    loop {
        let mut descriptors = [PollFd::new(&input, PollFlags::IN)];
        let found = poll(&mut descriptors, Some(&look));
        if stop.is_asked() {
            return None;
        }
        if found.is_ok_and(|ready| ready > 0) {
            let mut line = String::new();
            return input.read_line(&mut line).ok().filter(|length| *length > 0).map(|_| line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use tolok_model::{Disturbance, Outcome, PlannedTrial, ProgramTiming};

    use super::*;

    fn other(pid: u32) -> OtherRun {
        OtherRun { pid, run: format!("2026-11-25-core-{pid}") }
    }

    #[test]
    fn another_tolok_is_refused_by_its_name() {
        assert!(refuse(&[]).is_ok());
        let refused = refuse(&[other(7), other(8)]).unwrap_err();
        assert_eq!(refused.exit, Exit::GateFailed);
        assert!(refused.text.contains("pid 7, 2026-11-25-core-7") && refused.text.contains("--if-other-run wait"));
    }

    #[test]
    fn another_tolok_is_waited_for_until_it_ends_or_somebody_stops() {
        let seen = RefCell::new(vec![vec![], vec![other(8)], vec![other(7)], vec![other(7)]]);
        let others = || seen.borrow_mut().pop().unwrap();
        let pauses = Cell::new(0);
        assert!(wait(others, || pauses.set(pauses.get() + 1), &Stop::default()).is_ok());
        assert_eq!(pauses.get(), 3);
        let stop = Stop::default();
        let stopped = wait(|| vec![other(7)], || stop.ask(), &stop).unwrap_err();
        assert_eq!(stopped.exit, Exit::Interrupted);
    }

    fn finished(is_disturbed: bool) -> RunEvent {
        let disturbance = Disturbance { kind: "foreign-cpu".to_owned(), value: 0.6, text: "busy".to_owned() };
        let disturbances = if is_disturbed { vec![disturbance] } else { Vec::new() };
        RunEvent::TrialFinished {
            trial: PlannedTrial { number: 1, block: 1, case: "a".to_owned(), launch: None },
            subject: "a".to_owned(),
            scenario: "b".to_owned(),
            outcome: Outcome::Timed(Box::new(ProgramTiming { disturbances, ..ProgramTiming::default() })),
            left_s: 0.0,
        }
    }

    /// How often it asked, whether the run is to stop, and whether it gave up, after this many discarded trials among others.
    fn after(rule: Rule, discarded: u32, verdict: Verdict) -> (u32, bool, bool) {
        let (asked, stop) = (Cell::new(0), Stop::default());
        let mut losses = Losses { rule, discarded: BTreeMap::new(), reason: String::new(), has_given_up: false };
        for _ in 0..discarded {
            for is_disturbed in [false, true] {
                losses.hear(&finished(is_disturbed), &stop, |_, _| {
                    asked.set(asked.get() + 1);
                    verdict
                });
            }
        }
        (asked.get(), stop.is_asked(), losses.has_given_up)
    }

    #[test]
    fn trials_of_a_round_that_runs_again_do_not_count() {
        let stop = Stop::default();
        let mut losses =
            Losses { rule: Rule::Stop, discarded: BTreeMap::new(), reason: String::new(), has_given_up: false };
        let mut hear = |event: &RunEvent| losses.hear(event, &stop, |_, _| Verdict::GoOn);
        (1..MOST_DISCARDED).for_each(|_| hear(&finished(true)));
        hear(&RunEvent::BlockLost { block: 1, node: None, why: String::new(), again: true });
        (1..MOST_DISCARDED).for_each(|_| hear(&finished(true)));
        assert!(!stop.is_asked());
        hear(&finished(true));
        assert!(stop.is_asked());
    }

    #[test]
    fn the_tenth_discarded_trial_is_asked_about_or_ends_a_strict_run() {
        assert_eq!(after(Rule::Ask, 9, Verdict::Stop), (0, false, false));
        assert_eq!(after(Rule::Ask, 10, Verdict::Stop), (1, true, false));
        assert_eq!(after(Rule::Ask, 30, Verdict::GoOn), (1, false, false));
        assert_eq!(after(Rule::Ask, 30, Verdict::Wait), (3, false, false));
        assert_eq!(after(Rule::GoOn, 30, Verdict::Stop), (0, false, false));
        assert_eq!(after(Rule::Stop, 9, Verdict::GoOn), (0, false, false));
        assert_eq!(after(Rule::Stop, 10, Verdict::GoOn), (0, true, true));
    }
}
