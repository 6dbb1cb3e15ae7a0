//! A run's folder. Only this module writes below it, and, into their logs, the programs of a trial.
//!
//! ```text
//! runs/<date>-<study>-<id>/
//!   run.json  study.toml  plan.json  names.json
//!   trials/0001-<case>-b1/{trial.json, timeline.jsonl, samples.jsonl, link.jsonl, tool.json, subject.log, tool.log, command.txt}
//!   trials/0001-<case>-b1/disturbed-1/…      what was measured when others disturbed it
//!   diagnosis/<case>/{diagnosis.json, …}     unscored
//!   report.html  report.md  report.csv  report.json
//! ```
//! A trial is finished when its `trial.json` is there: it is written last, under another name first, and then renamed,
//! so a half-written record is never seen. Nothing finished is ever written again, but for the reports, which can be
//! rebuilt from the rest.

mod error;
mod file;
mod trial_folder;

#[cfg(test)]
mod tests;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tolok_model::{Case, CaseId, DiagnosisRecord, Plan, PlannedTrial, RECORD_FORMAT, RunRecord, TrialRecord};

use self::file::{Durability, read_json};

pub use error::StoreError;
pub use trial_folder::TrialFolder;

/// Titles of subjects and workloads as they were when the run was made.
const NAMES: &str = "names.json";

/// A run's folder.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held while this tolok writes into the folder; closed on exec, so no child inherits the lock.
    _lock: Option<File>,
}

/// What a run's folder holds when it is read back.
#[derive(Debug)]
pub struct StoredRun {
    /// What the run was.
    pub run: RunRecord,
    /// Its plan.
    pub plan: Plan,
    /// The trials that are finished, in the order of the plan.
    pub trials: Vec<TrialRecord>,
    /// What was counted in unscored trials, in the order of the plan's cases.
    pub diagnoses: Vec<DiagnosisRecord>,
}

impl RunFolder {
    /// Makes the folder of a new run and writes what is known before the first trial; `names` is a value of a crate that
    /// the lab does not know. `run.json` comes last: it is what makes the folder a run.
    pub fn create<T: Serialize>(
        runs: &Path,
        run: &RunRecord,
        plan: &Plan,
        study_text: &str,
        names: &T,
    ) -> Result<Self, StoreError> {
        let path = runs.join(&run.id);
        let failed = |source| StoreError::Write { path: path.clone(), source };
        fs::create_dir_all(runs).map_err(failed)?;
        // Not with those above it: a folder that is there already is another run's.
        fs::create_dir(&path).map_err(failed)?;
        let folder = Self { _lock: Some(lock(&path)?), path };
        folder.write_durably("study.toml", study_text.as_bytes())?;
        folder.write_json("plan.json", plan)?;
        folder.write_json(NAMES, &serde_json::json!({ "format": RECORD_FORMAT, "content": names }))?;
        folder.write_json("run.json", run)?;
        Ok(folder)
    }

    /// Opens the folder of a run to go on with it.
    pub fn open_to_write(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { _lock: Some(lock(path)?), path: path.to_owned() })
    }

    /// Opens the folder of a run to read it, or to write reports into it.
    pub fn open(path: &Path) -> Self {
        Self { path: path.to_owned(), _lock: None }
    }

    /// Finds a run by its folder, by its name among `runs`, or by the word `latest`.
    pub fn find(runs: &Path, name: &str) -> Result<PathBuf, StoreError> {
        let named = [PathBuf::from(name), runs.join(name)].into_iter().find(|path| is_run(path));
        let found = named.or_else(|| if name == "latest" { latest(runs) } else { None });
        found.ok_or_else(|| StoreError::NoRun { name: name.to_owned(), runs: runs.to_owned() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder of a trial, without what an interrupted attempt may have left in it.
    pub fn begin_trial(&self, trial: &PlannedTrial) -> Result<TrialFolder, StoreError> {
        TrialFolder::begin(self.trial_path(trial))
    }

    /// Makes the folder of the unscored trial of a case, without what an interrupted attempt may have left in it.
    pub fn begin_diagnosis(&self, case: &CaseId) -> Result<TrialFolder, StoreError> {
        TrialFolder::begin(self.diagnosis_path(case))
    }

    /// Whether the unscored trial of a case is finished.
    pub fn is_diagnosed(&self, case: &CaseId) -> bool {
        TrialFolder::diagnosis_in(&self.diagnosis_path(case)).is_file()
    }

    /// Whether the record of a trial is there.
    pub fn is_finished(&self, trial: &PlannedTrial) -> bool {
        TrialFolder::record_in(&self.trial_path(trial)).is_file()
    }

    /// Writes a report, which can be made again from the records.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        file::write(&path, content, Durability::Whole)?;
        Ok(path)
    }

    /// Reads back the names that [`RunFolder::create`] was given.
    pub fn names<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        #[derive(serde::Deserialize)]
        struct Named<T> {
            content: T,
        }
        read_json::<Named<T>>(&self.path.join(NAMES), "list of names").map(|named| named.content)
    }

    /// Reads everything that is finished.
    pub fn read(&self) -> Result<StoredRun, StoreError> {
        let run: RunRecord = read_json(&self.path.join("run.json"), "run")?;
        let plan: Plan = read_json(&self.path.join("plan.json"), "plan")?;
        let finished = plan.trials.iter().filter(|trial| self.is_finished(trial));
        let records = finished.map(|trial| read_json(&TrialFolder::record_in(&self.trial_path(trial)), "trial record"));
        let trials = records.collect::<Result<Vec<TrialRecord>, StoreError>>()?;
        let diagnosed = plan.cases.iter().filter(|case| self.is_diagnosed(&case.id));
        let diagnosis = |case: &Case| TrialFolder::diagnosis_in(&self.diagnosis_path(&case.id));
        let diagnoses = diagnosed.map(|case| read_json(&diagnosis(case), "diagnosis"));
        let diagnoses = diagnoses.collect::<Result<Vec<DiagnosisRecord>, StoreError>>()?;
        Ok(StoredRun { run, plan, trials, diagnoses })
    }

    fn diagnosis_path(&self, case: &CaseId) -> PathBuf {
        self.path.join("diagnosis").join(case)
    }

    fn trial_path(&self, trial: &PlannedTrial) -> PathBuf {
        self.path.join("trials").join(format!("{:04}-{}-b{}", trial.number, trial.case, trial.block))
    }

    fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        self.write_durably(name, &file::pretty(&self.path.join(name), value)?)
    }

    fn write_durably(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        file::write(&self.path.join(name), content, Durability::WholeAndOnDisk)
    }
}

fn is_run(path: &Path) -> bool {
    path.join("run.json").is_file()
}

/// The run that was begun last: its `run.json` is written once, at its beginning.
fn latest(runs: &Path) -> Option<PathBuf> {
    let begun = |path: &PathBuf| fs::metadata(path.join("run.json")).and_then(|file| file.modified()).ok();
    let folders = fs::read_dir(runs).ok()?.flatten().map(|entry| entry.path());
    folders.filter(|path| is_run(path)).max_by_key(begun)
}

/// Locks a run's folder for this process; the lock ends with the process, however that ends.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(".lock");
    let taken = File::create(&path).map_err(TryLockError::Error).and_then(|file| file.try_lock().map(|()| file));
    taken.map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Busy { path: folder.to_owned() },
        TryLockError::Error(source) => StoreError::Write { path, source },
    })
}
