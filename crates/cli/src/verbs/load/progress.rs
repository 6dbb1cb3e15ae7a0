//! What is told while a load runs: one line that changes, on a terminal, or JSON lines for the laboratory.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tolok_lab::tools::ToolEvent;
use tolok_load::event::Event;
use tolok_load::options::{Executor, Options};
use tolok_load::record::SecondRow;
use tolok_load::schedule::Phase;

use super::figures::{count, number, seconds, time};
use crate::output::say;

/// Who listens.
pub enum Progress {
    /// A person at a terminal.
    Terminal(Line),
    /// The laboratory. It needs to know where the window ends.
    Laboratory {
        /// Length of the window.
        window_s: f64,
    },
    /// Nobody.
    Silent,
}

/// One line at a terminal.
pub struct Line {
    bar: ProgressBar,
    /// Iterations to do, if their number ends the run.
    iterations: Option<u64>,
    window_s: f64,
    good: u64,
    failed: u64,
    sent: u64,
}

impl Progress {
    /// A line if standard error is a terminal that can redraw one.
    pub fn new(options: &Options, for_laboratory: bool) -> Progress {
        let window_s = options.executor.window().as_secs_f64();
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if for_laboratory {
            Progress::Laboratory { window_s }
        } else if std::io::stderr().is_terminal() && !dumb {
            Progress::Terminal(Line::new(options, window_s))
        } else {
            Progress::Silent
        }
    }

    /// Tells one event.
    pub fn tell(&mut self, event: &Event) {
        match self {
            Progress::Terminal(line) => line.show(event),
            Progress::Laboratory { window_s } => tell_laboratory(event, *window_s),
            Progress::Silent => {}
        }
    }

    /// Clears the line: the result takes its place.
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
                    None => format!("{} of {}", end_s.round(), seconds(self.window_s)),
                });
            }
        }
        if row.duration_s > 0.0 {
            parts.push(format!("{}/s", number(row.good as f64 / row.duration_s)));
        }
        parts.extend(row.p99_s.map(|p99_s| format!("p99 {}", time(p99_s))));
        if self.failed > 0 {
            parts.push(format!("{} failed", count(self.failed)));
        }
        if row.queued > 0 {
            parts.push(format!("{} waiting", count(row.queued)));
        }
        self.bar.set_message(parts.join(" · "));
    }
}

/// One JSON line for each moment that the laboratory acts on.
fn tell_laboratory(event: &Event, window_s: f64) {
    let told = match event {
        Event::WarmupStarted => return,
        // When it was reached and not when it was planned: an engine without a CPU at the border put on no load meanwhile.
        Event::WindowStarted { reached_monotonic_ns, .. } => {
            ToolEvent::WindowStarted { monotonic_ns: *reached_monotonic_ns }
        }
        // The laboratory reads every process at each line. A second that ends where the window begins or ends would make
        // it do so twice in a row, and late for the border.
        Event::Second(row) if ends_at_border(row, window_s) => return,
        Event::Second(_) => ToolEvent::Second,
        Event::WindowEnded { monotonic_ns } => ToolEvent::WindowEnded { monotonic_ns: *monotonic_ns },
    };
    if let Ok(line) = serde_json::to_string(&told) {
        say(line);
    }
}

fn ends_at_border(row: &SecondRow, window_s: f64) -> bool {
    let end_s = row.start_s + row.duration_s;
    [0.0, window_s].iter().any(|border_s| (end_s - border_s).abs() < 1e-6)
}
