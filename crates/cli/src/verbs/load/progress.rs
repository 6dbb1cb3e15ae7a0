//! Progress while a load runs: a redrawn line on a terminal, or JSON lines for the lab.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tolok_analysis::figures::{Quantity, amount, count};
use tolok_load::event::Event;
use tolok_load::options::{Executor, Options};
use tolok_load::record::SecondRow;
use tolok_load::schedule::Phase;
use tolok_tools::{LoadPhase, LoadSecond, ToolEvent};

use super::plan_words::{duration, rate};
use crate::output::{can_redraw, say};

pub enum Progress {
    /// A user at a terminal.
    Terminal(Line),
    Laboratory(ForLaboratory),
    Silent,
}

/// One redrawn line on a terminal.
pub struct Line {
    bar: ProgressBar,
    /// Requests to send, if their number ends the run.
    iterations: Option<u64>,
    window_s: f64,
    good: u64,
    failed: u64,
    sent: u64,
}

impl Progress {
    /// For the lab if it started this load; else a line if standard error is a terminal that can redraw one.
    pub fn new(options: &Options, for_laboratory: bool) -> Progress {
        let window_s = options.executor.window().as_secs_f64();
        if for_laboratory {
            Progress::Laboratory(ForLaboratory::new(window_s))
        } else if can_redraw() {
            Progress::Terminal(Line::new(options, window_s))
        } else {
            Progress::Silent
        }
    }

    pub fn tell(&mut self, event: &Event) {
        match self {
            Progress::Terminal(line) => line.show(event),
            Progress::Laboratory(laboratory) => laboratory.tell(event).iter().for_each(print),
            Progress::Silent => {}
        }
    }

    /// Tells the lab that a machine that generated load is gone.
    pub fn tell_of_loss(&self, generator: &str, reason: &str) {
        if let Progress::Laboratory(_) = self {
            print(&ToolEvent::GeneratorLost { generator: generator.to_owned(), reason: reason.to_owned() });
        }
    }

    /// Clears the line, because the result follows.
    pub fn end(self) {
        if let Progress::Terminal(line) = self {
            line.bar.finish_and_clear();
        }
    }
}

impl Line {
    fn new(options: &Options, window_s: f64) -> Line {
        let iterations = match options.executor {
            Executor::SharedIterations { iterations, .. } => Some(iterations),
            Executor::PerVuIterations { vus, iterations, .. } => Some(iterations.saturating_mul(u64::from(vus))),
            _ => None,
        };
        let per_iteration = match options.mix {
            tolok_load::options::Mix::Weighted => 1,
            tolok_load::options::Mix::Sequence => options.requests.iter().map(|one| u64::from(one.weight)).sum(),
        };
        let iterations = iterations.map(|number| number.saturating_mul(per_iteration));
        let length = iterations.unwrap_or((window_s * 10.0).round() as u64);
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(5));
        let style = ProgressStyle::with_template("{bar:20.cyan/dim} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
        Line { bar, iterations, window_s, good: 0, failed: 0, sent: 0 }
    }

    fn show(&mut self, event: &Event) {
        match event {
            Event::WarmupStarted => self.bar.set_message("warming up"),
            Event::WindowStarted { .. } => self.bar.set_message("measuring"),
            Event::Second(row) => self.second(row),
            Event::WindowEnded { .. } => self.bar.set_message("waiting for the last answers"),
        }
    }

    fn second(&mut self, row: &SecondRow) {
        let mut parts = Vec::new();
        match row.phase {
            Phase::WarmUp => parts.push("warming up".to_owned()),
            Phase::Measure => {
                self.good += row.good;
                self.failed += row.failed;
                self.sent += row.sent;
                let end_s = row.start_s + row.duration_s;
                self.bar.set_position(self.iterations.map_or((end_s * 10.0).round() as u64, |_| self.sent));
                parts.push(match self.iterations {
                    Some(iterations) => format!("{} of {}", count(self.sent), count(iterations)),
                    None => format!("{} of {}", end_s.round(), duration(self.window_s)),
                });
            }
        }
        if row.duration_s > 0.0 {
            parts.push(rate(row.good as f64 / row.duration_s));
        }
        parts.extend(row.p99_s.map(|p99_s| format!("p99 {}", amount(Quantity::Seconds, p99_s))));
        if self.failed > 0 {
            parts.push(format!("{} failed", count(self.failed)));
        }
        if row.queued > 0 {
            parts.push(format!("{} waiting", count(row.queued)));
        }
        self.bar.set_message(parts.join(" · "));
    }
}

/// The lines for the lab, in the order in which it acts on them.
///
/// At each border of the window it reads the counters of every process, so nothing may delay a border's line. The second that ends
/// at a border is complete a moment earlier, and is held until the border's line is out.
#[derive(Debug)]
pub struct ForLaboratory {
    window_s: f64,
    held: Vec<ToolEvent>,
    /// The last border whose line was written, in seconds since the window began.
    told_s: f64,
}

impl ForLaboratory {
    fn new(window_s: f64) -> Self {
        Self { window_s, held: Vec::new(), told_s: f64::NEG_INFINITY }
    }

    /// The lines to write after this event.
    fn tell(&mut self, event: &Event) -> Vec<ToolEvent> {
        let (border, told_s) = match event {
            Event::WarmupStarted => return Vec::new(),
            Event::Second(row) => return self.second(row),
            // The time when the border was reached, not the planned one: an engine without a CPU at the border generated no load
            // meanwhile.
            Event::WindowStarted { reached_monotonic_ns, .. } => {
                (ToolEvent::WindowStarted { monotonic_ns: *reached_monotonic_ns }, 0.0)
            }
            Event::WindowEnded { monotonic_ns } => {
                (ToolEvent::WindowEnded { monotonic_ns: *monotonic_ns }, f64::INFINITY)
            }
        };
        self.told_s = told_s;
        [border].into_iter().chain(self.held.drain(..)).collect()
    }

    fn second(&mut self, row: &SecondRow) -> Vec<ToolEvent> {
        let end_s = row.start_s + row.duration_s;
        let at_border = [0.0, self.window_s].iter().any(|border_s| (end_s - border_s).abs() < 1e-6);
        let told = ToolEvent::Second { second: second_of(row), at_border };
        if at_border && end_s > self.told_s + 1e-6 {
            self.held.push(told);
            return Vec::new();
        }
        vec![told]
    }
}

fn second_of(row: &SecondRow) -> LoadSecond {
    LoadSecond {
        phase: match row.phase {
            Phase::WarmUp => LoadPhase::WarmingUp,
            Phase::Measure => LoadPhase::Measuring,
        },
        start_s: row.start_s,
        duration_s: row.duration_s,
        good: row.good,
        failed: row.failed,
        p50_s: row.p50_s,
        p99_s: row.p99_s,
    }
}

fn print(told: &ToolEvent) {
    if let Ok(line) = serde_json::to_string(told) {
        say(line);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::record;
    use super::*;

    /// A second of this phase that begins at `start_s`.
    fn second(phase: Phase, start_s: f64) -> Event {
        Event::Second(Box::new(SecondRow { phase, start_s, duration_s: 1.0, ..record().timeline[0].clone() }))
    }

    fn words(told: &[ToolEvent]) -> Vec<String> {
        let word = |event: &ToolEvent| match event {
            ToolEvent::Slices { .. } => "slices".to_owned(),
            ToolEvent::GeneratorLost { .. } => "generator lost".to_owned(),
            ToolEvent::WindowStarted { .. } => "window started".to_owned(),
            ToolEvent::WindowEnded { .. } => "window ended".to_owned(),
            ToolEvent::Second { second, at_border } => {
                format!("{}{}", second.start_s, if *at_border { " at a border" } else { "" })
            }
        };
        told.iter().map(word).collect()
    }

    #[test]
    fn the_laboratory_hears_of_a_border_before_the_second_that_ends_there() {
        let mut laboratory = ForLaboratory::new(2.0);
        let started = Event::WindowStarted { monotonic_ns: 7, reached_monotonic_ns: 8 };
        let events = [
            (Event::WarmupStarted, vec![]),
            (second(Phase::WarmUp, -2.0), vec!["-2"]),
            (second(Phase::WarmUp, -1.0), vec![]),
            (started, vec!["window started", "-1 at a border"]),
            (second(Phase::Measure, 0.0), vec!["0"]),
            (second(Phase::Measure, 1.0), vec![]),
            (Event::WindowEnded { monotonic_ns: 9 }, vec!["window ended", "1 at a border"]),
        ];
        for (event, expected) in events {
            assert_eq!(words(&laboratory.tell(&event)), expected, "{event:?}");
        }
    }

    #[test]
    fn a_second_that_comes_after_its_border_is_held_back_no_more() {
        let mut laboratory = ForLaboratory::new(2.0);
        laboratory.tell(&Event::WindowStarted { monotonic_ns: 7, reached_monotonic_ns: 8 });
        assert_eq!(words(&laboratory.tell(&second(Phase::WarmUp, -1.0))), ["-1 at a border"]);
        laboratory.tell(&Event::WindowEnded { monotonic_ns: 9 });
        assert_eq!(words(&laboratory.tell(&second(Phase::Measure, 1.0))), ["1 at a border"]);
    }
}
