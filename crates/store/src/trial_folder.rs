//! The folder of one trial, from its beginning to its record.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tolok_model::manifest::ManifestEntry;
use tolok_model::{DiagnosisRecord, Outcome, TrialRecord};

use super::error::StoreError;
use super::file::{self, Durability};
use super::manifest::{About, ManifestFile};

/// The file that makes a trial finished.
const RECORD: &str = "trial.json";

/// The file that makes an unscored trial finished.
const DIAGNOSIS: &str = "diagnosis.json";

/// The folder of a trial at work. The logs and the tool's output in it are written by the programs themselves.
#[derive(Debug)]
pub struct TrialFolder {
    path: PathBuf,
    /// Its name from the run's folder on.
    name: String,
    /// Where it is entered once it is finished.
    manifest: Option<Arc<Mutex<ManifestFile>>>,
}

impl TrialFolder {
    /// Makes the folder, without what an interrupted attempt may have left in it.
    pub(super) fn begin(
        run: &Path,
        name: String,
        manifest: Option<Arc<Mutex<ManifestFile>>>,
    ) -> Result<Self, StoreError> {
        let folder = Self { path: run.join(&name), name, manifest };
        let made = folder.remove().and_then(|()| fs::create_dir_all(&folder.path));
        made.map_err(|source| StoreError::Write { path: folder.path.clone(), source })?;
        Ok(folder)
    }

    /// The record of the trial in the folder `path`, which need not be there.
    pub(super) fn record_in(path: &Path) -> PathBuf {
        path.join(RECORD)
    }

    /// The record of the unscored trial in the folder `path`, which need not be there.
    pub(super) fn diagnosis_in(path: &Path) -> PathBuf {
        path.join(DIAGNOSIS)
    }

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

    /// Writes a value as JSON for people too.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        self.write(name, &file::pretty(&self.path.join(name), value)?)
    }

    /// Puts what an attempt has written into a folder of its own, so that the next one begins in an empty one. Nothing that
    /// was measured is lost, however it was judged.
    pub fn set_aside(&self, attempt: u32) -> Result<(), StoreError> {
        let aside = self.path.join(format!("disturbed-{attempt}"));
        let moved = fs::create_dir(&aside).and_then(|()| {
            self.files()?.iter().try_for_each(|file| fs::rename(file, aside.join(file.file_name().unwrap_or_default())))
        });
        moved.map_err(|source| StoreError::Write { path: aside, source })
    }

    /// Writes the record, after all else is on the disk; from then on the trial is finished.
    pub fn finish(self, record: &TrialRecord) -> Result<(), StoreError> {
        self.finish_with(&Self::record_in(&self.path), record)?;
        self.enter(ManifestEntry::Trial, Some(&record.outcome))
    }

    /// Writes what was counted in an unscored trial.
    pub fn finish_diagnosis(self, record: &DiagnosisRecord) -> Result<(), StoreError> {
        self.finish_with(&Self::diagnosis_in(&self.path), record)?;
        self.enter(ManifestEntry::Diagnosis, None)
    }

    fn enter(&self, entry: ManifestEntry, outcome: Option<&Outcome>) -> Result<(), StoreError> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let about = About { entry, folder: &self.name, outcome, late: false };
        manifest.lock().unwrap_or_else(PoisonError::into_inner).enter(about)
    }

    fn finish_with<T: Serialize>(&self, path: &Path, record: &T) -> Result<(), StoreError> {
        self.sync_files().map_err(|source| StoreError::Write { path: self.path.clone(), source })?;
        file::write(path, &file::pretty(path, record)?, Durability::WholeAndOnDisk)
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
        self.files()?.iter().try_for_each(|path| file::sync(path))
    }

    /// What lies in it, without the folders of attempts that were set aside.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.path)?.map(|entry| entry.map(|entry| entry.path()));
        let entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        Ok(entries.into_iter().filter(|path| path.is_file()).collect())
    }

    fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
