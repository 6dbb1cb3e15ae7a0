//! Everyone who watches a run: the file of its events, programs that read JSON lines, and a person.

use std::path::Path;

use tolok_analysis::Findings;
use tolok_lab::run::{EventLine, RunEvent};
use tolok_store::{EventLog, RunFolder};

use crate::args::{Format, ResultArgs};
use crate::exit::CliError;
use crate::json_lines::{FindingsLine, JsonLines};
use crate::output::say;
use crate::progress::{Progress, Screen};

/// Whom events are handed to.
pub struct Watching {
    log: EventLog,
    /// Whether an event could not be kept. It warns once, and the run goes on, because no figure rests on events.
    log_is_broken: bool,
    lines: Option<JsonLines>,
    progress: Progress,
}

impl Watching {
    /// Of the run in this folder, shown as it was asked for.
    pub fn new(folder: &RunFolder, result: &ResultArgs) -> Result<Self, CliError> {
        let is_asked = result.format == Format::Jsonl;
        let lines = is_asked.then(|| JsonLines::to(result.output.as_deref())).transpose()?;
        // On one terminal with the lines a bar would tear them, and they say all that it does.
        let is_told = lines.as_ref().is_some_and(JsonLines::is_terminal);
        let screen = if is_told { Screen::Silent } else { Screen::new() };
        Ok(Self { log: folder.events()?, log_is_broken: false, lines, progress: Progress::new(screen) })
    }

    pub fn tell(&mut self, event: &RunEvent) {
        let line = EventLine::of(event, self.log.t_s());
        if !self.log_is_broken
            && let Err(error) = self.log.append(&line)
        {
            self.log_is_broken = true;
            say(format!("warning: {error}; the run goes on without its events"));
        }
        if let Some(lines) = &mut self.lines {
            lines.write(&line);
        }
        self.progress.show(event);
    }

    /// Does something that needs the terminal.
    pub fn pause<T>(&self, act: impl FnOnce() -> T) -> T {
        self.progress.pause(act)
    }

    /// Ends with what was found, for those who read lines.
    pub fn finish(self, findings: &Findings, folder: &Path) {
        if let Some(mut lines) = self.lines {
            lines.write(&FindingsLine::of(findings, folder, self.log.t_s()));
        }
    }
}
