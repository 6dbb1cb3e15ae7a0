//! A run's folder. Only this module writes below it.
//!
//! ```text
//! runs/<date>-<study>-<id>/
//!   run.json  study.toml  plan.json
//!   trials/0001-<case>-b1/{trial.json, timeline.jsonl, samples.jsonl, tool.json, subject.log, tool.log, command.txt}
//!   report.html  report.md  report.csv  report.json
//! ```
//! A trial is finished when its `trial.json` is there: it is written last, under another name first, and then renamed,
//! so a half-written record is never seen. Nothing finished is ever written again, but for the reports, which can be
//! rebuilt from the rest.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tolok_model::{Plan, PlannedTrial, RECORD_FORMAT, RunRecord, TrialRecord};

/// Why a run's folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Writing failed.
    #[error("cannot write {}: {}", path.display(), explain(source))]
    Write {
        /// What was written.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// What was read.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{} is not a {what} of this version of tolok: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
        /// Why it is not.
        reason: String,
    },
    /// Another tolok works in the folder.
    #[error("another tolok is working in {}; wait until it has ended", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// No run has this name.
    #[error("there is no run `{name}`: neither a folder of that name nor one in {}", runs.display())]
    NoRun {
        /// As it was asked for.
        name: String,
        /// Where runs are kept.
        runs: PathBuf,
    },
}

fn explain(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; make room and go on with `tolok resume` (finished trials are kept)".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            format!("{source}; choose a folder that you may write with --runs DIR")
        }
        _ => source.to_string(),
    }
}

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
}

impl RunFolder {
    /// Makes the folder of a new run and writes what is known before the first trial.
    pub fn create(runs: &Path, run: &RunRecord, plan: &Plan, study_text: &str) -> Result<Self, StoreError> {
        let path = runs.join(&run.id);
        let trials = path.join("trials");
        fs::create_dir_all(&trials).map_err(|source| StoreError::Write { path: trials, source })?;
        let folder = Self { _lock: Some(lock(&path)?), path };
        folder.write("study.toml", study_text.as_bytes())?;
        folder.write_json("plan.json", plan)?;
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
        let is_run = |path: &Path| path.join("run.json").is_file();
        let named = [PathBuf::from(name), runs.join(name)].into_iter().find(|path| is_run(path));
        let latest = || {
            let entries = fs::read_dir(runs).ok()?.flatten().map(|entry| entry.path());
            entries.filter(|path| is_run(path)).max_by_key(|path| fs::metadata(path.join("run.json")).and_then(|meta| meta.modified()).ok())
        };
        let found = named.or_else(|| if name == "latest" { latest() } else { None });
        found.ok_or_else(|| StoreError::NoRun { name: name.to_owned(), runs: runs.to_owned() })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder of a trial, without what an interrupted attempt may have left in it.
    pub fn begin_trial(&self, trial: &PlannedTrial) -> Result<PathBuf, StoreError> {
        let path = self.trial_folder(trial);
        let made = match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::create_dir_all(&path),
        };
        made.map_err(|source| StoreError::Write { path: path.clone(), source })?;
        Ok(path)
    }

    /// Writes the record of a trial; from then on the trial is finished.
    pub fn finish_trial(&self, trial: &PlannedTrial, record: &TrialRecord) -> Result<(), StoreError> {
        write_json(&self.trial_folder(trial).join("trial.json"), record)
    }

    /// Whether the record of a trial is there.
    pub fn is_finished(&self, trial: &PlannedTrial) -> bool {
        self.trial_folder(trial).join("trial.json").is_file()
    }

    /// Writes a report or another file of the run as a whole.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.path.join(name);
        write(&path, content)?;
        Ok(path)
    }

    /// Writes a value of a crate that the lab does not know, under the run's format version.
    pub fn write_named<T: Serialize>(&self, name: &str, content: &T) -> Result<(), StoreError> {
        self.write_json(name, &serde_json::json!({ "format": RECORD_FORMAT, "content": content }))
    }

    /// Reads back what [`RunFolder::write_named`] wrote.
    pub fn read_named<T: DeserializeOwned>(&self, name: &str) -> Result<T, StoreError> {
        #[derive(serde::Deserialize)]
        struct Named<T> {
            content: T,
        }
        read_json::<Named<T>>(&self.path.join(name), "file of a run").map(|named| named.content)
    }

    /// Reads everything that is finished.
    pub fn read(&self) -> Result<StoredRun, StoreError> {
        let run: RunRecord = read_json(&self.path.join("run.json"), "run")?;
        let plan: Plan = read_json(&self.path.join("plan.json"), "plan")?;
        let finished = plan.trials.iter().filter(|trial| self.is_finished(trial));
        let records = finished.map(|trial| read_json(&self.trial_folder(trial).join("trial.json"), "trial record"));
        let trials = records.collect::<Result<Vec<TrialRecord>, StoreError>>()?;
        Ok(StoredRun { run, plan, trials })
    }

    fn trial_folder(&self, trial: &PlannedTrial) -> PathBuf {
        self.path.join("trials").join(format!("{:04}-{}-b{}", trial.number, trial.case, trial.block))
    }

    fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        write_json(&self.path.join(name), value)
    }
}

/// Writes a file so that it is there whole or not at all, even if the machine stops.
pub fn write(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let failed = |source| StoreError::Write { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    let file = file.persist(path).map_err(|error| failed(error.error))?;
    // The files of a run are there to be read by others, unlike the temporary file that they begin as.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    file.set_permissions(readable).map_err(failed)?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// Writes one JSON line for each row.
pub fn write_lines<T: Serialize>(path: &Path, rows: &[T]) -> Result<(), StoreError> {
    let mut text = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut text, row).map_err(|error| not_json(path, &error))?;
        text.push(b'\n');
    }
    write(path, &text)
}

fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), StoreError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| not_json(path, &error))?;
    text.push(b'\n');
    write(path, &text)
}

fn not_json(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::Content { path: path.to_owned(), what: "JSON value", reason: error.to_string() }
}

fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<T, StoreError> {
    let text = fs::read_to_string(path).map_err(|source| StoreError::Read { path: path.to_owned(), source })?;
    let wrong = |reason: String| StoreError::Content { path: path.to_owned(), what, reason };
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(format) if format == u64::from(RECORD_FORMAT) => {}
        Some(format) => return Err(wrong(format!("its format is {format}, and {RECORD_FORMAT} is known"))),
        None => return Err(wrong("it has no `format`".to_owned())),
    }
    serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
}

/// Locks a run's folder for this process; the lock ends with the process, however that ends.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(".lock");
    let file = File::create(&path).map_err(|source| StoreError::Write { path, source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(StoreError::Busy { path: folder.to_owned() }),
    }
}
