//! The folder of one trial, from its beginning to its record.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tolok_model::TrialRecord;

use super::error::StoreError;
use super::file::{self, Durability};

/// The file that makes a trial finished.
const RECORD: &str = "trial.json";

/// The folder of a trial at work. The logs and the tool's output in it are written by the programs themselves.
#[derive(Debug)]
pub struct TrialFolder {
    path: PathBuf,
}

impl TrialFolder {
    /// Makes the folder, without what an interrupted attempt may have left in it.
    pub(super) fn begin(path: PathBuf) -> Result<Self, StoreError> {
        let folder = Self { path };
        let made = folder.remove().and_then(|()| fs::create_dir_all(&folder.path));
        made.map_err(|source| StoreError::Write { path: folder.path.clone(), source })?;
        Ok(folder)
    }

    /// The record of the trial in the folder `path`, which need not be there.
    pub(super) fn record_in(path: &Path) -> PathBuf {
        path.join(RECORD)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the subject's processes print.
    pub fn subject_log(&self) -> PathBuf {
        self.path.join("subject.log")
    }

    /// Writes a file of the trial. It need not be whole at every moment, as it counts from the record on only.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let path = self.path.join(name);
        fs::write(&path, content).map_err(|source| StoreError::Write { path, source })
    }

    /// Writes one JSON line for each row.
    pub fn write_lines<T: Serialize>(&self, name: &str, rows: &[T]) -> Result<(), StoreError> {
        self.write(name, &file::lines(&self.path.join(name), rows)?)
    }

    /// Writes the record, after all else is on the disk; from then on the trial is finished.
    pub fn finish(self, record: &TrialRecord) -> Result<(), StoreError> {
        self.sync_files().map_err(|source| StoreError::Write { path: self.path.clone(), source })?;
        let path = Self::record_in(&self.path);
        file::write(&path, &file::pretty(&path, record)?, Durability::WholeAndOnDisk)
    }

    /// Whether its file system has no room left.
    pub fn disk_is_full(&self) -> bool {
        rustix::fs::statvfs(&self.path).is_ok_and(|system| system.f_bavail == 0)
    }

    /// The error that says so.
    pub fn full(&self) -> StoreError {
        StoreError::Write { path: self.path.clone(), source: io::ErrorKind::StorageFull.into() }
    }

    /// Takes everything away again, as if the trial had never begun.
    pub fn abandon(self) -> Result<(), StoreError> {
        self.remove().map_err(|source| StoreError::Write { path: self.path.clone(), source })
    }

    fn sync_files(&self) -> io::Result<()> {
        fs::read_dir(&self.path)?.try_for_each(|entry| file::sync(&entry?.path()))
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
