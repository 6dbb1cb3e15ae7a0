//! `events.jsonl`: the events of a run, one per line, written as they happen.

use std::path::PathBuf;

use serde::Serialize;

use super::error::StoreError;
use super::file;
use super::folder::{Folder, whole_lines_bytes};
use super::line_writer::LineWriter;

/// The file of a run's folder with its events. No figure uses it, and the manifest does not include it.
pub const EVENTS: &str = "events.jsonl";

/// The events of one session of a run: from its start, or from its continuation.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    lines: LineWriter,
}

impl EventLog {
    /// Appends to the existing events. A line that was incomplete when tolok was killed is cut off.
    pub(super) fn open(run: &Folder) -> Result<Self, StoreError> {
        let path = run.path().join(EVENTS);
        let failed = |source| StoreError::Write { path: path.clone(), source };
        let mut file = run.append(EVENTS).map_err(failed)?;
        let whole = whole_lines_bytes(&mut file).map_err(failed)?;
        file.set_len(whole).map_err(failed)?;
        let lines = LineWriter::new(file).map_err(failed)?;
        Ok(Self { path, lines })
    }

    /// Appends a line without waiting for the disk. An error belongs to an earlier line, and is returned once. Dropping the log
    /// writes the remaining lines.
    pub fn append<T: Serialize>(&mut self, line: &T) -> Result<(), StoreError> {
        let text = file::lines(&self.path, std::slice::from_ref(line))?;
        self.lines.push(&text).map_err(|source| StoreError::Write { path: self.path.clone(), source })
    }

    /// Time since the session began, in seconds.
    pub fn t_s(&self) -> f64 {
        self.lines.t_s()
    }
}
