//! Progress of a run on standard error: a bar on a terminal, plain lines elsewhere.

mod rates;
mod screen;

use std::time::{Duration, Instant};

use tolok_analysis::figures::{self, Quantity};
use tolok_lab::run::{Phase, Preparation, RunEvent, TrialEvent};
use tolok_lab::subject::telling_line;
use tolok_model::{Node, Outcome, ProgramTiming, duration_words};

use rates::Rates;
pub use screen::Screen;

/// Shows the events of one run.
pub struct Progress {
    screen: Screen,
    trials: u32,
    finished: u32,
    /// The current trial, and what it does.
    at: String,
    phase: &'static str,
    rates: Rates,
    left: Left,
}

/// The latest estimate of the remaining time.
struct Left {
    told_s: f64,
    /// When the current trial began to use up that time.
    since: Instant,
    /// Remaining trials, including the current ones.
    trials: u32,
    /// Number of current trials: one, or all of a launch.
    at_hand: u32,
}

impl Left {
    fn now(told_s: f64, trials: u32) -> Self {
        Self { told_s, since: Instant::now(), trials, at_hand: 1 }
    }

    fn goes_on(&mut self, at_hand: u32) {
        (self.since, self.at_hand) = (Instant::now(), at_hand);
    }

    fn words(&self) -> String {
        rough(self.after(self.since.elapsed().as_secs_f64()))
    }

    /// The remaining time after the current trials took `took_s`. However long they take, the later ones still need their own time.
    fn after(&self, took_s: f64) -> f64 {
        let others_s =
            self.told_s * f64::from(self.trials.saturating_sub(self.at_hand)) / f64::from(self.trials.max(1));
        (self.told_s - took_s).max(others_s)
    }
}

impl Progress {
    pub fn new(screen: Screen) -> Self {
        let (at, rates, left) = (String::new(), Rates::default(), Left::now(0.0, 0));
        Self { screen, trials: 0, finished: 0, at, phase: "", rates, left }
    }

    pub fn show(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { trials, finished, estimate_s, .. } => {
                (self.trials, self.finished) = (*trials, *finished);
                self.left = Left::now(*estimate_s, trials - finished);
                self.screen.position(self.finished, self.trials);
            }
            RunEvent::PreparationStarted { what, number, of } => self.screen.step_begins(&doing(what, *number, *of)),
            RunEvent::PreparationEnded { what, took_s, failure } => {
                self.screen.step_ends();
                self.screen.line(&done(what, *took_s, failure.as_deref()));
            }
            RunEvent::Waiting { reasons, at_most_s } => {
                let reasons = reasons.join("; ");
                self.screen.line(&format!("the machine is busy, waiting up to {at_most_s:.0} s: {reasons}"));
            }
            RunEvent::TrialStarted { trial, subject, scenario } => {
                self.begin(format!("{subject} · {scenario} · round {}", trial.block), 1);
            }
            RunEvent::LaunchStarted { launch, of, cases, .. } => {
                self.begin(
                    format!("launch {launch} of {of} · {}", figures::counted(u64::from(*cases), "case")),
                    *cases,
                );
            }
            RunEvent::LaunchFinished { launch, of, cases, failed, took_s, left_s } => {
                self.left = Left::now(*left_s, self.trials.saturating_sub(self.finished));
                self.screen.log(&launch_line((*launch, *of), (*cases, *failed), *took_s, &self.left.words()));
            }
            RunEvent::Diagnosing { subject, scenario } => {
                self.begin(format!("{subject} · {scenario} · diagnosis, unscored"), 1);
            }
            // The line of the trial reports this.
            RunEvent::InTrial { trial: Some(_), event: TrialEvent::Disturbed { again: false, .. } } => {}
            RunEvent::InTrial { event, .. } => self.in_trial(event),
            RunEvent::Diagnosed { subject, scenario, failure } => match failure {
                Some(reason) => self.screen.line(&format!("diagnosis of {subject} · {scenario}: {reason}")),
                None => self.screen.log(&format!("diagnosis of {subject} · {scenario}")),
            },
            RunEvent::TrialFinished { outcome, left_s, subject, scenario, trial } => {
                self.finished += 1;
                self.left = Left::now(*left_s, self.trials.saturating_sub(self.finished));
                self.screen.position(self.finished, self.trials);
                if trial.launch.is_none() || matches!(outcome, Outcome::Failed(_)) {
                    self.finished_line(&format!("{subject} · {scenario} · round {}", trial.block), outcome);
                }
            }
            RunEvent::Settled { blocks, at_most } => {
                let of = figures::counted(u64::from(*at_most), "round");
                self.screen.line(&format!("ended after {blocks} of at most {of}, as planned"));
            }
            RunEvent::BlockPlaced { block, node } => {
                self.screen.log(&format!("round {block} began{}", on(node.as_ref())))
            }
            RunEvent::BlockRefused { block, why, at_most_s } => {
                let limit = rough(*at_most_s);
                self.screen.line(&format!("round {block} cannot begin: {why}; trying again for up to {limit}"));
            }
            RunEvent::BlockLost { block, node, why, again } => {
                let again = if *again { "; it runs again elsewhere" } else { "" };
                self.screen.line(&format!("round {block} was lost{}: {why}{again}", on(node.as_ref())));
            }
            RunEvent::Standing { words } => self.screen.line(words),
            RunEvent::RunEnded { .. } => self.screen.end(),
        }
    }

    /// Hides the bar while `act` uses the terminal.
    pub fn pause<T>(&self, act: impl FnOnce() -> T) -> T {
        self.screen.pause(act)
    }

    fn in_trial(&mut self, event: &TrialEvent) {
        match event {
            TrialEvent::Phase { phase } => {
                if *phase == Phase::Starting {
                    self.rates.clear();
                }
                self.phase = phase_words(*phase);
                self.message();
            }
            TrialEvent::Second(second) => {
                self.rates.push(second);
                self.message();
            }
            TrialEvent::Slices { done, of } => self.part_of_launch("slice", *done, *of),
            TrialEvent::Turns { done, of } => self.part_of_launch("turn", *done, *of),
            TrialEvent::Disturbed { reasons, again } => {
                let what = if *again { "repeating" } else { "discarded" };
                self.screen.line(&format!("{}: CPU busy, {what}: {}", self.at, reasons.join("; ")));
            }
        }
    }

    fn begin(&mut self, at: String, trials: u32) {
        (self.at, self.phase) = (at, "");
        self.rates.clear();
        self.left.goes_on(trials);
        self.message();
    }

    /// A terminal shows a line only for lost trials. A log has a line for every trial; for a launch only for failures, because it
    /// has its own line.
    fn finished_line(&self, place: &str, outcome: &Outcome) {
        let counted = format!("{:>3}/{}", self.finished, self.trials);
        let left = self.left.words();
        let reasons: Vec<&str> = outcome.disturbances().iter().map(|it| it.text.as_str()).collect();
        match outcome {
            _ if !reasons.is_empty() => {
                let reasons = reasons.join("; ");
                self.screen.line(&format!("{counted} {place}: CPU busy, discarded: {reasons} · {left} left"));
            }
            Outcome::Failed(failure) => {
                let log = telling_line(&failure.log_tail);
                let log = log.map(|line| format!("; its log says: {line}")).unwrap_or_default();
                self.screen.line(&format!("{counted} {place}: {}: {}{log}", failure.reason.word(), failure.message));
            }
            Outcome::Timed(timed) => {
                self.screen.log(&format!("{counted} {place}: {} · {left} left", timed_words(timed)));
            }
            Outcome::Completed(measured) => {
                let goodput = figures::amount(Quantity::Number, measured.goodput_rps);
                self.screen.log(&format!("{counted} {place}: {goodput} correct responses/s · {left} left"));
            }
        }
    }

    /// The current activity, beside the bar. What changes comes first; a narrow terminal cuts off the long rest.
    fn message(&self) {
        let (at, phase, rates) = (&self.at, self.phase, self.rates.words());
        let doing = if phase.is_empty() { String::new() } else { format!(" · {phase}{rates}") };
        self.screen.message(|| format!("{} left{doing} · {at}", self.left.words()));
    }

    /// Progress of a launch, in slices or turns.
    fn part_of_launch(&self, what: &str, done: u32, of: u32) {
        let (at, phase, left) = (&self.at, phase_words(Phase::Measuring), self.left.words());
        self.screen.message(|| format!("{left} left · {phase} · {what} {done} of {of} · {at}"));
    }
}

/// ` on n2 (job 17)`
fn on(node: Option<&Node>) -> String {
    node.map(|Node { name, job }| format!(" on {name} (job {job})")).unwrap_or_default()
}

/// `launch 2 of 5: 18 cases in 21s, 1 failed · 1m 10s left`
fn launch_line((launch, of): (u32, u32), (cases, failed): (u32, u32), took_s: f64, left: &str) -> String {
    let (cases, took) = (figures::counted(u64::from(cases), "case"), rough(took_s));
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!("launch {launch} of {of}: {cases} in {took}{failed} · {left} left")
}

fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Starting => "starting",
        Phase::WarmingUp => "warming up",
        Phase::Measuring => "measuring",
        Phase::Stopping => "stopping",
    }
}

/// `building go/nethttp (1 of 3)`
fn doing(what: &Preparation, number: u32, of: u32) -> String {
    let of = if of > 1 { format!(" ({number} of {of})") } else { String::new() };
    match what {
        Preparation::Build(subject) => format!("building {subject}{of}"),
        Preparation::Data(database) => format!("loading data into {database}, once{of}"),
    }
}

/// `built go/nethttp in 12 s`
fn done(what: &Preparation, took_s: f64, failure: Option<&str>) -> String {
    let took = rough(took_s);
    match (what, failure) {
        (Preparation::Build(subject), None) => format!("built {subject} in {took}"),
        (Preparation::Data(database), None) => format!("loaded data into {database} in {took}"),
        // Each trial that fails because of this gives the reason.
        (Preparation::Build(subject), Some(_)) => format!("could not build {subject}, after {took}"),
        (Preparation::Data(database), Some(_)) => format!("could not load data into {database}, after {took}"),
    }
}

/// `2.66 ms a run (20 runs)`: the median of the runs that count.
fn timed_words(timed: &ProgramTiming) -> String {
    let runs = figures::counted(timed.runs.len() as u64, "run");
    match timed.median_wall_s() {
        Some(median_s) if median_s < timed.resolution_s => {
            format!("<{} a run ({runs})", figures::amount(Quantity::Seconds, timed.resolution_s))
        }
        Some(median_s) => format!("{} a run ({runs})", figures::amount(Quantity::Seconds, median_s)),
        None => runs,
    }
}

/// A duration rounded to the second, or to ten seconds above 100 s: estimates are not more precise.
pub fn rough(seconds: f64) -> String {
    let step = if seconds > 100.0 { 10.0 } else { 1.0 };
    duration_words(Duration::from_secs_f64(((seconds / step).round() * step).max(0.0)).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use tolok_model::ProgramRun;

    use super::*;

    fn words(walls: &[f64]) -> String {
        let runs = walls.iter().map(|wall_s| ProgramRun { wall_s: *wall_s, ..ProgramRun::default() }).collect();
        timed_words(&ProgramTiming { runs, ..ProgramTiming::default() })
    }

    #[test]
    fn runs_of_a_program_are_told_by_their_median() {
        assert_eq!(words(&[0.0031, 0.00266, 0.0021]), "2.66\u{a0}ms a run (3 runs)");
        assert_eq!(words(&[1.0, 3.0]), "2.00\u{a0}s a run (2 runs)");
        assert_eq!(words(&[0.9]), "900\u{a0}ms a run (1 run)");
        assert_eq!(words(&[]), "0 runs");
        let coarse = ProgramTiming {
            runs: vec![ProgramRun { wall_s: 0.0, ..ProgramRun::default() }],
            resolution_s: 0.01,
            ..ProgramTiming::default()
        };
        assert_eq!(timed_words(&coarse), "<10.0\u{a0}ms a run (1 run)");
    }

    #[test]
    fn a_launch_has_one_line() {
        assert_eq!(
            launch_line((2, 5), (18, 1), 21.2, "1m 10s"),
            "launch 2 of 5: 18 cases in 21 s, 1 failed · 1m 10s left"
        );
        assert_eq!(launch_line((5, 5), (1, 0), 4.0, "0s"), "launch 5 of 5: 1 case in 4 s · 0s left");
    }

    #[test]
    fn what_is_made_ready_is_counted_where_there_are_several() {
        let build = Preparation::Build("go/nethttp".to_owned());
        assert_eq!(doing(&build, 1, 1), "building go/nethttp");
        assert_eq!(doing(&build, 2, 3), "building go/nethttp (2 of 3)");
        assert_eq!(done(&build, 12.4, None), "built go/nethttp in 12 s");
        let data = Preparation::Data("MariaDB".to_owned());
        assert_eq!(doing(&data, 1, 1), "loading data into MariaDB, once");
        assert_eq!(done(&data, 3.0, Some("no room")), "could not load data into MariaDB, after 3 s");
    }

    #[test]
    fn what_is_left_is_never_less_than_what_the_other_trials_take() {
        let left = Left::now(40.0, 4);
        assert_eq!([0.0, 6.0, 10.0, 90.0].map(|took_s| left.after(took_s)), [40.0, 34.0, 30.0, 30.0]);
        let of_a_launch = Left { at_hand: 3, ..Left::now(40.0, 4) };
        assert_eq!([0.0, 20.0, 90.0].map(|took_s| of_a_launch.after(took_s)), [40.0, 20.0, 10.0]);
        assert_eq!(Left::now(10.0, 1).after(11.0), 0.0);
        assert_eq!(Left::now(0.0, 0).after(1.0), 0.0);
    }
}
