//! Where progress appears: on a terminal line that is redrawn, or as plain lines elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::{can_redraw, say};

/// How often the spinner is redrawn. It runs only while nothing is measured; the bar is redrawn on events.
const TURN: Duration = Duration::from_millis(120);

/// The kind of output on standard error.
#[derive(Debug)]
pub enum Screen {
    /// A terminal that can redraw a line.
    Terminal(ProgressBar),
    /// A log, a pipe, or a terminal that cannot.
    Lines,
    /// Nothing: the JSON lines go to the same terminal.
    Silent,
}

impl Screen {
    /// Detects the kind of standard error.
    pub fn new() -> Self {
        if !can_redraw() {
            return Self::Lines;
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(5));
        bar.set_style(of_bar());
        Self::Terminal(bar)
    }

    /// A line that stays, above the redrawn one.
    pub fn line(&self, text: &str) {
        match self {
            Self::Terminal(bar) => bar.println(format!("  {text}")),
            Self::Lines => say(text),
            Self::Silent => {}
        }
    }

    /// A line for logs only: on a terminal, the bar shows as much.
    pub fn log(&self, text: &str) {
        if let Self::Lines = self {
            say(text);
        }
    }

    /// Hides the bar while `act` uses the terminal.
    pub fn pause<T>(&self, act: impl FnOnce() -> T) -> T {
        match self {
            Self::Terminal(bar) => bar.suspend(act),
            Self::Lines | Self::Silent => act(),
        }
    }

    /// Sets how much is done, and of how much.
    pub fn position(&self, done: u32, of: u32) {
        if let Self::Terminal(bar) = self {
            bar.set_length(u64::from(of));
            bar.set_position(u64::from(done));
        }
    }

    /// Sets the text beside the bar.
    pub fn message(&self, text: impl FnOnce() -> String) {
        if let Self::Terminal(bar) = self {
            bar.set_message(text());
        }
    }

    /// Starts a step that takes a while: a spinner with the elapsed time, or a line.
    pub fn step_begins(&self, text: &str) {
        match self {
            Self::Terminal(bar) => {
                bar.set_style(of_spinner());
                bar.reset_elapsed();
                bar.set_message(text.to_owned());
                bar.enable_steady_tick(TURN);
            }
            Self::Lines => say(text),
            Self::Silent => {}
        }
    }

    pub fn step_ends(&self) {
        if let Self::Terminal(bar) = self {
            bar.disable_steady_tick();
            bar.set_style(of_bar());
            bar.set_message("");
        }
    }

    /// Removes the bar.
    pub fn end(&self) {
        if let Self::Terminal(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn of_bar() -> ProgressStyle {
    let template = if has_colours() {
        "  {bar:24.cyan/dim} {pos:>3}/{len} {wide_msg}"
    } else {
        "  {bar:24} {pos:>3}/{len} {wide_msg}"
    };
    style(template).progress_chars("━╸─")
}

fn of_spinner() -> ProgressStyle {
    style(if has_colours() { "  {spinner:.cyan} {msg} · {elapsed}" } else { "  {spinner} {msg} · {elapsed}" })
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Whether `--color`, `NO_COLOR` and the terminal allow colours.
fn has_colours() -> bool {
    anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never
}
