//! Everything that follows a run: the event log, programs that read JSON lines, and the user.

use std::path::Path;

use tolok_analysis::Findings;
use tolok_lab::run::{EventLine, RunEvent};
use tolok_store::{EventLog, RunFolder};

use crate::args::{Format, ResultArgs};
use crate::exit::CliError;
use crate::json_lines::{FindingsLine, JsonLines};
use crate::output::say;
use crate::progress::{Progress, Screen};

/// The recipients of events.
pub struct Watching {
    log: EventLog,
    /// Whether an event could not be stored. It warns once and the run continues, because no figure depends on events.
    log_is_broken: bool,
    lines: Option<JsonLines>,
    progress: Progress,
}

impl Watching {
    /// For the run in this folder, in the requested format.
    pub fn new(folder: &RunFolder, result: &ResultArgs) -> Result<Self, CliError> {
        let is_asked = result.format == Format::Jsonl;
        let lines = is_asked.then(|| JsonLines::to(result.output.as_deref())).transpose()?;
        // On the same terminal as the lines, a bar would break them up, and they already report everything.
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

    /// Runs something that needs the terminal.
    pub fn pause<T>(&self, act: impl FnOnce() -> T) -> T {
        self.progress.pause(act)
    }

    /// Ends with the findings, for readers of lines.
    pub fn finish(self, findings: &Findings, folder: &Path) {
        if let Some(mut lines) = self.lines {
            lines.write(&FindingsLine::of(findings, folder, self.log.t_s()));
        }
    }
}
