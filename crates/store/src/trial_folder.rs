//! The folder of one trial, from its beginning to its record.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::FileType;
use serde::Serialize;
use tolok_model::manifest::ManifestEntry;
use tolok_model::{DiagnosisRecord, Outcome, TrialRecord};

use super::error::StoreError;
use super::file;
use super::folder::{Durability, Folder};
use super::manifest::{About, ManifestFile};

/// The file whose presence means that a trial is finished.
pub(super) const RECORD: &str = "trial.json";

/// The file whose presence means that an unscored trial is finished.
pub(super) const DIAGNOSIS: &str = "diagnosis.json";

/// The output of the subject's processes.
pub const SUBJECT_LOG: &str = "subject.log";

/// The folder of an active trial. It was newly created without links, so the programs of the trial may write their logs and
/// output into it by its path.
#[derive(Debug)]
pub struct TrialFolder {
    folder: Folder,
    /// The run's folder.
    run: Folder,
    /// Its name, relative to the run's folder.
    name: String,
    /// The manifest to enter it in when it is finished.
    manifest: Option<Arc<Mutex<ManifestFile>>>,
}

impl TrialFolder {
    /// Creates the folder, without remains of an interrupted attempt.
    pub(super) fn begin(
        run: &Folder,
        name: String,
        manifest: Option<Arc<Mutex<ManifestFile>>>,
    ) -> Result<Self, StoreError> {
        let made = run.remove(&name).and_then(|()| run.make(&name));
        made.map_err(|source| StoreError::Write { path: run.path().join(&name), source })?;
        Ok(Self { folder: run.folder(&name), run: run.clone(), name, manifest })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its contents.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The path of the log with the output of the subject's processes.
    pub fn subject_log(&self) -> PathBuf {
        self.path().join(SUBJECT_LOG)
    }

    /// The output so far.
    pub fn subject_said(&self) -> io::Result<String> {
        self.folder.lossy(SUBJECT_LOG)
    }

    /// Copies that output into the folder of another trial.
    pub fn share_subject_log(&self, other: &Self) -> Result<(), StoreError> {
        let copy = |mut from: File| io::copy(&mut from, &mut other.folder.create_file(SUBJECT_LOG)?);
        let copied = self.folder.open(SUBJECT_LOG).and_then(copy);
        copied.map(drop).map_err(|source| StoreError::Write { path: other.subject_log(), source })
    }

    /// Writes a file of the trial. The write need not be atomic, because files only count once the record exists.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let written = self.folder.create_file(name).and_then(|mut file| file.write_all(content));
        written.map_err(|source| StoreError::Write { path: self.path().join(name), source })
    }

    /// Writes one JSON line for each row.
    pub fn write_lines<T: Serialize>(&self, name: &str, rows: &[T]) -> Result<(), StoreError> {
        self.write(name, &file::lines(&self.path().join(name), rows)?)
    }

    /// Writes a value as readable JSON.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        self.write(name, &file::pretty(&self.path().join(name), value)?)
    }

    /// Moves the files of an attempt into a separate folder, so the next one begins in an empty folder. No measurement is lost,
    /// however it was judged.
    pub fn set_aside(&self, attempt: u32) -> Result<(), StoreError> {
        let aside = format!("disturbed-{attempt}");
        let moved = self.folder.make(&aside).and_then(|()| {
            self.files()?.iter().try_for_each(|name| self.folder.rename(name, &format!("{aside}/{name}")))
        });
        moved.map_err(|source| StoreError::Write { path: self.path().join(aside), source })
    }

    /// Writes the record after everything else is on the disk. This makes the trial finished.
    pub fn finish(self, record: &TrialRecord) -> Result<(), StoreError> {
        self.finish_with(RECORD, record)?;
        self.enter(ManifestEntry::Trial, Some(&record.outcome))
    }

    /// Writes the counters of an unscored trial.
    pub fn finish_diagnosis(self, record: &DiagnosisRecord) -> Result<(), StoreError> {
        self.finish_with(DIAGNOSIS, record)?;
        self.enter(ManifestEntry::Diagnosis, None)
    }

    fn enter(&self, entry: ManifestEntry, outcome: Option<&Outcome>) -> Result<(), StoreError> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let about = About { entry, folder: &self.name, outcome, late: false };
        manifest.lock().unwrap_or_else(PoisonError::into_inner).enter(about)
    }

    fn finish_with<T: Serialize>(&self, name: &str, record: &T) -> Result<(), StoreError> {
        self.sync_files().map_err(|source| StoreError::Write { path: self.path().to_owned(), source })?;
        let content = file::pretty(&self.path().join(name), record)?;
        file::write(&self.folder, name, &content, Durability::WholeAndOnDisk)
    }

    /// Whether the file system is full.
    pub fn disk_is_full(&self) -> bool {
        self.folder.disk_is_full()
    }

    /// The error for a full file system.
    pub fn full(&self) -> StoreError {
        StoreError::Write { path: self.path().to_owned(), source: io::ErrorKind::StorageFull.into() }
    }

    /// Removes everything, as if the trial had never begun.
    pub fn abandon(self) -> Result<(), StoreError> {
        self.run.remove(&self.name).map_err(|source| StoreError::Write { path: self.path().to_owned(), source })
    }

    fn sync_files(&self) -> io::Result<()> {
        self.files()?.iter().try_for_each(|name| self.folder.open(name)?.sync_all())
    }

    /// The names of its files, without the folders of attempts that were set aside.
    fn files(&self) -> io::Result<Vec<String>> {
        let entries = self.folder.entries()?.into_iter().filter(|entry| entry.kind == FileType::RegularFile);
        Ok(entries.map(|entry| entry.name).collect())
    }
}
