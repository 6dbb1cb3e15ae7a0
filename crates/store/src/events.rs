//! `events.jsonl`: what happened in a run, a line each, on its way to the disk as it happens.

use std::path::PathBuf;

use serde::Serialize;

use super::error::StoreError;
use super::file;
use super::folder::{Folder, whole_lines_bytes};
use super::line_writer::LineWriter;

/// The file of a run's folder that has its events. No figure rests on it, and it is not in the manifest.
pub const EVENTS: &str = "events.jsonl";

/// The events of one session of a run: from its start, or from where it was gone on with.
#[derive(Debug)]
pub struct EventLog {
    path: PathBuf,
    lines: LineWriter,
}

impl EventLog {
    /// Goes on after what is there. A line that was being written when tolok was killed is cut off.
    pub(super) fn open(run: &Folder) -> Result<Self, StoreError> {
        let path = run.path().join(EVENTS);
        let failed = |source| StoreError::Write { path: path.clone(), source };
        let mut file = run.append(EVENTS).map_err(failed)?;
        let whole = whole_lines_bytes(&mut file).map_err(failed)?;
        file.set_len(whole).map_err(failed)?;
        let lines = LineWriter::new(file).map_err(failed)?;
        Ok(Self { path, lines })
    }

    /// Appends a line. No one waits for the disk: an error belongs to an earlier line, and is returned once. What waits is written when
    /// the log is dropped, at the latest.
    pub fn append<T: Serialize>(&mut self, line: &T) -> Result<(), StoreError> {
        let text = file::lines(&self.path, std::slice::from_ref(line))?;
        self.lines.push(&text).map_err(|source| StoreError::Write { path: self.path.clone(), source })
    }

    /// Time since the session began, in seconds.
    pub fn t_s(&self) -> f64 {
        self.lines.t_s()
    }
}
