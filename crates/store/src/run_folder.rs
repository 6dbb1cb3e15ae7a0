//! A run's folder. Only this module writes below it, apart from the programs of a trial, which write their logs.
//!
//! ```text
//! runs/<date>-<study>-<id>/
//!   run.json  study.toml  plan.json  names.json
//!   manifest.jsonl                           a line for each of the folders below, with the hashes of its files
//!   trials/0001-<case>-b1/{trial.json, timeline.jsonl, samples.jsonl, link.jsonl, tool.json, subject.log, tool.log, command.txt}
//!   trials/0001-<case>-b1/disturbed-1/…      what was measured when others disturbed it
//!   diagnosis/<case>/{diagnosis.json, …}     unscored
//!   blocks/b1/block.json                     where and when a process ran trials of a block
//!   attempts/b1-1/{trials, blocks}           a block at work on a machine of a pool, or one that was lost; in no figure
//!   events.jsonl                             what happened; no figure rests on it
//!   report.html  report.md  report.csv  report.json  share.svg  share.png
//! ```
//! A trial is finished when its `trial.json` exists. This file is written last, under another name, and then renamed, so a
//! half-written record is never visible. Finished files are never changed, except for the reports, which can be rebuilt from the
//! rest. The manifest line of a record follows immediately and never changes.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tolok_model::manifest::{FileSum, Manifest, ManifestEntry};
use tolok_model::shown::quotable;
use tolok_model::wording::nearest;
use tolok_model::{
    BlockRecord, CaseId, Diagnosis, DiagnosisRecord, Outcome, Plan, PlannedTrial, RECORD_FORMAT, RunRecord, TrialRecord,
};

use crate::error::{NEAREST, StoreError};
use crate::events::EventLog;
use crate::file::{self, read_json};
use crate::folder::{Durability, Folder};
use crate::manifest::{About, MANIFEST, ManifestFile, sum_of, sums_in};
use crate::trial_folder::{DIAGNOSIS, RECORD, TrialFolder};

/// Titles of subjects and workloads at the time of the run.
const NAMES: &str = "names.json";

/// The records of blocks, each in its own folder.
const BLOCKS: &str = "blocks";
const BLOCK_RECORD: &str = "block.json";

/// Locked by the process that writes into the folder.
const LOCK: &str = ".lock";
/// How often to try a held lock, and the wait in between.
const LOCK_TRIES: u32 = 3;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// The files that are fixed before the first trial, in writing order.
const OWN: [&str; 4] = ["study.toml", "plan.json", NAMES, "run.json"];

#[derive(Debug)]
pub struct RunFolder {
    folder: Folder,
    /// Held while this process writes into the folder; closed on exec, so no child inherits the lock.
    _lock: Option<File>,
    /// Written only by the holder of the lock.
    manifest: Option<Arc<Mutex<ManifestFile>>>,
}

/// The contents of a run's folder after reading.
#[derive(Debug)]
pub struct StoredRun {
    /// The run's record, with the machine according to its blocks.
    pub run: RunRecord,
    /// Where and when its blocks ran, in chronological order. Runs made before blocks were recorded have none.
    pub blocks: Vec<BlockRecord>,
    pub plan: Plan,
    /// The finished trials, in the order of the plan.
    pub trials: Vec<TrialRecord>,
    /// The unscored trials, in the order of the plan's cases.
    pub diagnoses: Vec<DiagnosisRecord>,
    /// The fingerprint of everything in the manifest, or `None` without a manifest.
    pub records_sha256: Option<String>,
}

impl RunFolder {
    /// Creates the folder of a new run and writes what is known before the first trial. The type of `names` belongs to a crate on
    /// which the lab does not depend. `run.json` comes last, because it makes the folder a run.
    pub fn create<T: Serialize>(
        runs: &Path,
        run: &RunRecord,
        plan: &Plan,
        study_text: &str,
        names: &T,
    ) -> Result<Self, StoreError> {
        let path = runs.join(&run.id);
        let failed = |source| StoreError::Write { path: path.clone(), source };
        std::fs::create_dir_all(runs).map_err(failed)?;
        // This fails if the folder exists, because it then belongs to another run.
        let made = Folder::create(&path).map_err(failed)?;
        let lock = Some(lock(&made)?);
        let mut folder = Self { _lock: lock, folder: made, manifest: None };
        let names = serde_json::json!({ "format": RECORD_FORMAT, "content": names });
        let contents = [
            study_text.as_bytes().to_vec(),
            file::pretty(&path.join("plan.json"), plan)?,
            file::pretty(&path.join(NAMES), &names)?,
            file::pretty(&path.join("run.json"), run)?,
        ];
        let files: Vec<(&str, &[u8])> = OWN.into_iter().zip(contents.iter().map(Vec::as_slice)).collect();
        files[..3].iter().try_for_each(|(name, content)| folder.write_durably(name, content))?;
        folder.manifest = Some(Arc::new(Mutex::new(ManifestFile::begin(&folder.folder, &files)?)));
        folder.write_durably(files[3].0, files[3].1)?;
        Ok(folder)
    }

    /// Checks whether a folder can hold runs, before a measurement would be wasted. It leaves nothing there.
    pub fn try_place(runs: &Path) -> Result<(), StoreError> {
        let failed = |source| StoreError::Write { path: runs.to_owned(), source };
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<&Path> = runs.ancestors().take_while(is_missing).collect();
        std::fs::create_dir_all(runs).map_err(failed)?;
        let tried = tempfile::tempdir_in(runs).and_then(tempfile::TempDir::close).map_err(failed);
        missing.iter().take_while(|path| std::fs::remove_dir(path).is_ok()).for_each(drop);
        tried
    }

    /// Opens the folder of a run to continue it. It enters finished parts that are missing in the manifest because tolok was
    /// killed too early.
    pub fn open_to_write(path: &Path) -> Result<Self, StoreError> {
        let opened = Folder::at(path);
        let mut folder = Self { _lock: Some(lock(&opened)?), folder: opened, manifest: None };
        if is_run(path) {
            let mut manifest = ManifestFile::open(&folder.folder, &OWN)?;
            folder.enter_late(&mut manifest)?;
            folder.manifest = Some(Arc::new(Mutex::new(manifest)));
            folder.finish_adoptions()?;
        }
        Ok(folder)
    }

    fn enter_late(&self, manifest: &mut ManifestFile) -> Result<(), StoreError> {
        let stored = self.read()?;
        for record in &stored.trials {
            let planned =
                PlannedTrial { number: record.number, block: record.block, case: record.case.clone(), launch: None };
            let (folder, outcome) = (trial_name(&planned), Some(&record.outcome));
            if !manifest.has(&folder) {
                manifest.enter(About { entry: ManifestEntry::Trial, folder: &folder, outcome, late: true })?;
            }
        }
        for record in &stored.diagnoses {
            let folder = diagnosis_name(&record.case);
            if !manifest.has(&folder) {
                let entry = ManifestEntry::Diagnosis;
                manifest.enter(About { entry, folder: &folder, outcome: None, late: true })?;
            }
        }
        for folder in self.blocks().into_iter().filter(|folder| !manifest.has(folder)).collect::<Vec<_>>() {
            manifest.enter(About { entry: ManifestEntry::Block, folder: &folder, outcome: None, late: true })?;
        }
        Ok(())
    }

    /// Opens the folder of a run for reading, or for writing reports into it.
    pub fn open(path: &Path) -> Self {
        Self { folder: Folder::at(path), _lock: None, manifest: None }
    }

    /// Finds a run by its folder, by its name in `runs` or a unique prefix of it, by the name of its study (the newest run), or
    /// by the word `latest`.
    pub fn find(runs: &Path, name: &str) -> Result<PathBuf, StoreError> {
        let named = [PathBuf::from(name), runs.join(name)].into_iter().find(|path| is_run(path));
        if let Some(found) = named.or_else(|| if name == "latest" { latest(runs) } else { None }) {
            return Ok(found);
        }
        let known = names(runs);
        let mut begin_so: Vec<&String> =
            known.iter().filter(|known| !name.is_empty() && known.starts_with(name)).collect();
        let (name, folder) = (name.to_owned(), runs.to_owned());
        if begin_so.len() != 1
            && let Some(newest) = Self::newest_of(&folder, &name)
        {
            return Ok(newest);
        }
        match begin_so.len() {
            0 => {
                let all: Vec<&str> = known.iter().map(String::as_str).collect();
                let near = nearest(&name, &all, NEAREST).into_iter().map(str::to_owned).collect();
                Err(StoreError::NoRun { name, runs: folder, near })
            }
            1 => Ok(runs.join(begin_so.remove(0))),
            _ => Err(StoreError::Ambiguous { name, runs: folder, names: begin_so.into_iter().cloned().collect() }),
        }
    }

    /// The newest run of a study.
    pub fn newest_of(runs: &Path, study: &str) -> Option<PathBuf> {
        Self::all_of(runs, study).pop()
    }

    /// All runs of a study, in the order in which they began.
    pub fn all_of(runs: &Path, study: &str) -> Vec<PathBuf> {
        let is_of = |path: &PathBuf| Self::open(path).run().is_ok_and(|run| run.study == study);
        let mut found: Vec<PathBuf> = runs_in(runs).into_iter().filter(is_of).collect();
        found.sort_by_key(|path| begun(path));
        found
    }

    /// Whether a process is writing into a run's folder now. The lock is tried for an instant and never kept, and its file is
    /// only read. A process that needs the lock at that instant tries again.
    pub fn is_at_work(path: &Path) -> bool {
        let tried = Folder::at(path).open(LOCK).map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its contents.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Creates the folder of a trial, without remains of an interrupted attempt.
    pub fn begin_trial(&self, trial: &PlannedTrial) -> Result<TrialFolder, StoreError> {
        self.begin(trial_name(trial))
    }

    /// Creates the folder of the unscored trial of a case, without remains of an interrupted attempt.
    pub fn begin_diagnosis(&self, case: &CaseId) -> Result<TrialFolder, StoreError> {
        self.begin(diagnosis_name(case))
    }

    fn begin(&self, name: String) -> Result<TrialFolder, StoreError> {
        if let Some(manifest) = &self.manifest {
            manifest.lock().unwrap_or_else(PoisonError::into_inner).withdraw(&name)?;
        }
        TrialFolder::begin(&self.folder, name, self.manifest.clone())
    }

    /// Records where and when trials of a block run, before the first of them. Returns the folder of the record, relative to the
    /// run's.
    pub fn begin_block(&self, record: &BlockRecord) -> Result<String, StoreError> {
        let name = self.free_block(&match record.block {
            0 => format!("{BLOCKS}/diagnosis"),
            block => format!("{BLOCKS}/b{block}"),
        });
        let path = self.path().join(&name);
        self.folder.make(&name).map_err(|source| StoreError::Write { path: path.clone(), source })?;
        let content = file::pretty(&path.join(BLOCK_RECORD), record)?;
        file::write(&self.folder.folder(&name), BLOCK_RECORD, &content, Durability::WholeAndOnDisk)?;
        Ok(name)
    }

    /// The name for the record of a block, with a number for every later session.
    pub(crate) fn free_block(&self, base: &str) -> String {
        let again = (2..).map(|session| format!("{base}-{session}"));
        let is_free = |name: &String| !self.folder.has(name);
        std::iter::once(base.to_owned()).chain(again).find(is_free).unwrap_or_default()
    }

    /// Removes the record of a trial that is about to be measured again, after noting this in the manifest.
    pub fn withdraw_trial(&self, trial: &PlannedTrial) -> Result<(), StoreError> {
        self.begin_trial(trial)?.abandon()
    }

    /// Enters in the manifest a trial that another process has finished. Returns its outcome.
    pub fn enter_trial(&self, trial: &PlannedTrial) -> Result<Outcome, StoreError> {
        let record: TrialRecord = self.json(&record_of(trial), "trial record")?;
        self.enter(ManifestEntry::Trial, &trial_name(trial), Some(&record.outcome))?;
        Ok(record.outcome)
    }

    /// Enters the unscored trial of a case in the manifest.
    pub fn enter_diagnosis(&self, case: &CaseId) -> Result<Result<Diagnosis, String>, StoreError> {
        let record: DiagnosisRecord = self.json(&diagnosis_of(case), "diagnosis")?;
        self.enter(ManifestEntry::Diagnosis, &diagnosis_name(case), None)?;
        Ok(record.outcome)
    }

    /// Enters in the manifest the record of the block in this folder.
    pub fn enter_block(&self, folder: &str) -> Result<(), StoreError> {
        self.enter(ManifestEntry::Block, folder, None)
    }

    pub(crate) fn enter(
        &self,
        entry: ManifestEntry,
        folder: &str,
        outcome: Option<&Outcome>,
    ) -> Result<(), StoreError> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let about = About { entry, folder, outcome, late: false };
        manifest.lock().unwrap_or_else(PoisonError::into_inner).enter(about)
    }

    /// The event log of the run, which continues that of earlier sessions.
    pub fn events(&self) -> Result<EventLog, StoreError> {
        EventLog::open(&self.folder)
    }

    /// Whether the unscored trial of a case is finished.
    pub fn is_diagnosed(&self, case: &CaseId) -> bool {
        self.folder.has(&diagnosis_of(case))
    }

    /// Whether a trial has a record.
    pub fn is_finished(&self, trial: &PlannedTrial) -> bool {
        self.folder.has(&record_of(trial))
    }

    /// Writes a report, which can be rebuilt from the records.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, StoreError> {
        file::write(&self.folder, name, content, Durability::Whole)?;
        Ok(self.path().join(name))
    }

    /// Reads the names that [`RunFolder::create`] stored.
    pub fn names<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        #[derive(serde::Deserialize)]
        struct Named<T> {
            content: T,
        }
        self.json::<Named<T>>(NAMES, "list of names").map(|named| named.content)
    }

    /// Reads everything that is finished.
    pub fn read(&self) -> Result<StoredRun, StoreError> {
        let (run, plan) = (self.run()?, self.plan()?);
        let finished = plan.trials.iter().filter(|trial| self.is_finished(trial));
        let trials = finished.map(|trial| self.json(&record_of(trial), "trial record"));
        let trials = trials.collect::<Result<Vec<TrialRecord>, StoreError>>()?;
        let diagnosed = plan.cases.iter().filter(|case| self.is_diagnosed(&case.id));
        let diagnoses = diagnosed.map(|case| self.json(&diagnosis_of(&case.id), "diagnosis"));
        let diagnoses = diagnoses.collect::<Result<Vec<DiagnosisRecord>, StoreError>>()?;
        let blocks = self.blocks().into_iter().map(|folder| self.json(&format!("{folder}/{BLOCK_RECORD}"), "block"));
        let mut blocks = blocks.collect::<Result<Vec<BlockRecord>, StoreError>>()?;
        blocks.sort_by(|one, other| one.started_at.cmp(&other.started_at));
        let run = run.on_machines_of(&blocks);
        let records_sha256 = self.manifest()?.and_then(|manifest| manifest.fingerprint().map(str::to_owned));
        Ok(StoredRun { run, blocks, plan, trials, diagnoses, records_sha256 })
    }

    pub fn run(&self) -> Result<RunRecord, StoreError> {
        self.json("run.json", "run")
    }

    pub fn plan(&self) -> Result<Plan, StoreError> {
        let plan: Plan = self.json("plan.json", "plan")?;
        let wrong = |reason| StoreError::Content { path: self.path().join("plan.json"), what: "plan", reason };
        plan.is_bounded().map_err(wrong)?;
        let named = plan.cases.iter().map(|case| &case.id).chain(plan.trials.iter().map(|trial| &trial.case));
        // Folders are named after cases, so a case's name must not lead out of its folder.
        match named.into_iter().find(|id| id.is_empty() || id.contains('/') || id.chars().any(char::is_control)) {
            None => Ok(plan),
            Some(id) => Err(wrong(format!("the name of its case `{}` leads out of its folder", quotable(id)))),
        }
    }

    /// The record of a trial as stored in its file, or `None` if the trial is not finished.
    pub fn trial_value(&self, trial: &PlannedTrial) -> Result<Option<serde_json::Value>, StoreError> {
        self.is_finished(trial).then(|| self.json(&record_of(trial), "trial record")).transpose()
    }

    /// The record of the unscored trial of a case.
    pub fn diagnosis_value(&self, case: &CaseId) -> Result<Option<serde_json::Value>, StoreError> {
        self.is_diagnosed(case).then(|| self.json(&diagnosis_of(case), "diagnosis")).transpose()
    }

    fn json<T: DeserializeOwned>(&self, name: &str, what: &'static str) -> Result<T, StoreError> {
        read_json(&self.folder, name, what)
    }

    /// The names of the folders of all finished trials, scored or unscored, whether or not the plan has them.
    pub fn finished(&self) -> Vec<String> {
        let mut names = self.below("trials", RECORD);
        names.extend(self.below("diagnosis", DIAGNOSIS));
        names.sort();
        names
    }

    /// The names of the folders with records of blocks.
    pub fn blocks(&self) -> Vec<String> {
        let mut names = self.below(BLOCKS, BLOCK_RECORD);
        names.sort();
        names
    }

    /// The folders below `parent` that contain a record.
    fn below(&self, parent: &str, record: &str) -> Vec<String> {
        let entries = self.folder.folder(parent).entries().unwrap_or_default();
        let names = entries.into_iter().map(|entry| format!("{parent}/{}", entry.name));
        names.filter(|name| self.folder.has(&format!("{name}/{record}"))).collect()
    }

    /// The manifest, or `None` for a run of a tolok without manifests.
    pub fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        match self.folder.lossy(MANIFEST) {
            Ok(text) => Ok(Some(Manifest::read(&text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Read { path: self.path().join(MANIFEST), source }),
        }
    }

    /// Current name, length and hash of every file in a trial's folder, or `None` if the folder is missing.
    pub fn sums(&self, folder: &str) -> Result<Option<Vec<FileSum>>, StoreError> {
        self.folder.has(folder).then(|| sums_in(&self.folder.folder(folder))).transpose()
    }

    /// The same for a file of the run's own folder, or `None` if it is missing.
    pub fn sum(&self, name: &str) -> Result<Option<FileSum>, StoreError> {
        self.folder.has(name).then(|| sum_of(&self.folder, name)).transpose()
    }

    /// The name of the folder of a trial, relative to the run's folder.
    pub fn trial_name(trial: &PlannedTrial) -> String {
        trial_name(trial)
    }

    /// The name of the folder of the unscored trial of a case.
    pub fn diagnosis_name(case: &CaseId) -> String {
        diagnosis_name(case)
    }

    fn write_durably(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        file::write(&self.folder, name, content, Durability::WholeAndOnDisk)
    }
}

pub(crate) fn trial_name(trial: &PlannedTrial) -> String {
    format!("trials/{:04}-{}-b{}", trial.number, trial.case, trial.block)
}

fn diagnosis_name(case: &CaseId) -> String {
    format!("diagnosis/{case}")
}

pub(crate) fn record_of(trial: &PlannedTrial) -> String {
    format!("{}/{RECORD}", trial_name(trial))
}

fn diagnosis_of(case: &CaseId) -> String {
    format!("{}/{DIAGNOSIS}", diagnosis_name(case))
}

/// The runs in a folder, in no particular order.
fn runs_in(runs: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| is_run(path)).collect()
}

/// Whether a folder contains a run.
pub fn is_run(path: &Path) -> bool {
    Folder::at(path).is_file("run.json")
}

/// Names of the runs in a folder, sorted.
fn names(runs: &Path) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = runs_in(runs).into_iter().filter_map(name).collect();
    names.sort();
    names
}

/// The newest run, by its `run.json`, which is written once, at the beginning.
fn latest(runs: &Path) -> Option<PathBuf> {
    runs_in(runs).into_iter().max_by_key(|path| begun(path))
}

fn begun(path: &Path) -> Option<std::time::SystemTime> {
    Folder::at(path).changed("run.json").map(|(time, _)| time)
}

/// Locks a run's folder for this process. The lock ends with the process, even after a crash.
fn lock(folder: &Folder) -> Result<File, StoreError> {
    let path = folder.path().join(LOCK);
    let file = folder.lock_file(LOCK).map_err(|source| StoreError::Write { path: path.clone(), source })?;
    for _ in 1..LOCK_TRIES {
        if file.try_lock().is_ok() {
            return Ok(file);
        }
        // A process that only checks the lock also holds it for an instant.
        std::thread::sleep(BETWEEN_TRIES);
    }
    file.try_lock().map(|()| file).map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Busy { path: folder.path().to_owned() },
        TryLockError::Error(source) => StoreError::Write { path, source },
    })
}

#[cfg(test)]
mod tests;
