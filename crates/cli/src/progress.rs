//! Progress of a run on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tolok_analysis::figures::{self, Quantity};
use tolok_lab::run::{Phase, RunEvent};
use tolok_model::{Outcome, ProgramTiming, format_duration};

use crate::output::say;

/// Shows the events of one run.
pub struct Progress {
    bar: Option<ProgressBar>,
    trials: u32,
    finished: u32,
    at: String,
    left: String,
}

impl Progress {
    /// A bar if standard error is a terminal that can draw one, else lines.
    pub fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let bar = (std::io::stderr().is_terminal() && !dumb).then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(5));
            let style = ProgressStyle::with_template("  {bar:30.cyan/dim} {pos:>3}/{len} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
            bar
        });
        Self { bar, trials: 0, finished: 0, at: String::new(), left: String::new() }
    }

    /// Shows one event.
    pub fn show(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { trials, finished, estimate_s, .. } => {
                (self.trials, self.finished) = (*trials, *finished);
                self.left = rough(*estimate_s);
                if let Some(bar) = &self.bar {
                    bar.set_length(u64::from(*trials));
                    bar.set_position(u64::from(*finished));
                }
            }
            RunEvent::Building { subject } => self.line(&format!("building {subject}")),
            RunEvent::LoadingData { database } => self.line(&format!("loading data into {database}, once")),
            RunEvent::TrialStarted { trial, subject, scenario } => {
                self.at = format!("{subject} · {scenario} · block {}", trial.block);
                self.message("");
            }
            RunEvent::Phase { phase } => self.message(match phase {
                Phase::Starting => "starting",
                Phase::WarmingUp => "warming up",
                Phase::Measuring => "measuring",
                Phase::Stopping => "stopping",
            }),
            RunEvent::Waiting { reasons } => {
                self.line(&format!("the machine is busy, waiting: {}", reasons.join("; ")))
            }
            RunEvent::Disturbed { reasons, again } => {
                let what = if *again { "measured again" } else { "kept, and not scored" };
                self.line(&format!("disturbed, {what}: {}", reasons.join("; ")));
            }
            RunEvent::Diagnosing { subject, scenario } => {
                self.at = format!("{subject} · {scenario} · diagnosis, unscored");
                self.message("");
            }
            RunEvent::Diagnosed { subject, scenario, failure } => match failure {
                Some(reason) => self.line(&format!("diagnosis of {subject} · {scenario}: {reason}")),
                None if self.bar.is_some() => {}
                None => say(format!("diagnosis of {subject} · {scenario}")),
            },
            RunEvent::TrialFinished { outcome, left_s, subject, scenario, trial } => {
                self.finished += 1;
                self.left = rough(*left_s);
                if let Some(bar) = &self.bar {
                    bar.set_position(u64::from(self.finished));
                }
                self.finished_line(subject, scenario, trial.block, outcome);
            }
            RunEvent::Settled { blocks, at_most } => {
                let of = figures::counted(u64::from(*at_most), "block");
                self.line(&format!("sure enough after {blocks} of at most {of}: no further one is begun"));
            }
            RunEvent::RunEnded { .. } => {
                if let Some(bar) = &self.bar {
                    bar.finish_and_clear();
                }
            }
        }
    }

    /// A line for people, above the bar if there is one.
    pub fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(format!("  {text}")),
            None => say(text),
        }
    }

    /// On a terminal only failures are worth a line; in a log every trial is.
    fn finished_line(&self, subject: &str, scenario: &str, block: u32, outcome: &Outcome) {
        let place = format!("{subject} · {scenario} · block {block}");
        let counted = format!("{:>3}/{}", self.finished, self.trials);
        match outcome {
            Outcome::Failed(failure) => {
                self.line(&format!("{counted} {place}: {}: {}", failure.reason.word(), failure.message));
            }
            Outcome::Completed(_) | Outcome::Timed(_) if self.bar.is_some() => {}
            Outcome::Timed(timed) => {
                say(format!("{counted} {place}: {} · {} left", timed_words(timed), self.left));
            }
            Outcome::Completed(measured) => {
                say(format!("{counted} {place}: {:.0} good answers/s · {} left", measured.goodput_rps, self.left));
            }
        }
    }

    fn message(&self, phase: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{} · {} left · {phase}", self.at, self.left));
        }
    }
}

/// `2.66 ms a run (20 runs)`: the median of the runs that count.
fn timed_words(timed: &ProgramTiming) -> String {
    median_words(timed.runs.iter().map(|run| run.wall_s).collect())
}

fn median_words(mut walls: Vec<f64>) -> String {
    walls.sort_by(f64::total_cmp);
    let runs = figures::counted(walls.len() as u64, "run");
    let middle = walls.len() / 2;
    let median_s = match walls.get(middle) {
        None => return runs,
        Some(upper) if walls.len().is_multiple_of(2) => (walls[middle - 1] + upper) / 2.0,
        Some(only) => *only,
    };
    format!("{} a run ({runs})", figures::amount(Quantity::Seconds, median_s))
}

/// A time to the second, or to ten seconds where it is long: nobody believes more of an estimate.
pub fn rough(seconds: f64) -> String {
    let step = if seconds > 100.0 { 10.0 } else { 1.0 };
    format_duration(Duration::from_secs_f64(((seconds / step).round() * step).max(0.0)).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_program_are_told_by_their_median() {
        assert_eq!(median_words(vec![0.0031, 0.00266, 0.0021]), "2.66\u{a0}ms a run (3 runs)");
        assert_eq!(median_words(vec![1.0, 3.0]), "2.00\u{a0}s a run (2 runs)");
        assert_eq!(median_words(vec![0.9]), "900\u{a0}ms a run (1 run)");
        assert_eq!(median_words(Vec::new()), "0 runs");
    }
}
