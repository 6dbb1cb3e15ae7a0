//! Finds subjects, workloads and studies, in a checkout or built into the program, and the folders for runs and builds.

mod catalogue;
mod comparisons;
mod error;
mod git;
mod own;
mod shipped;
mod studies;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tolok_model::limits::STUDY;
use tolok_model::{Subject, Workload};

use crate::bounded;

pub use catalogue::own_workload;
pub use error::HomeError;

/// Names the folder that holds `subjects/`, `workloads/` and `studies/`, to use instead of the nearest one.
pub const HOME_VARIABLE: &str = "TOLOK_HOME";

/// The folder of workloads, in a checkout and in a working folder.
pub const WORKLOADS: &str = "workloads";

/// The folder that holds `subjects/`, `workloads/` and `studies/`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Home {
    root: PathBuf,
    /// Whether it holds what is built into the program, and is not a checkout.
    is_built_in: bool,
    /// The folder of the user's own workloads, outside any checkout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_workloads: Option<PathBuf>,
}

impl Home {
    /// The checkout. Without one, the files built into the program, laid out in the cache folder. Outside a checkout, `workloads`
    /// in the working folder adds the user's own.
    pub fn find() -> Result<Self, HomeError> {
        let own_workloads = Self::own_workloads();
        if let Some(checkout) = Self::checkout() {
            return Ok(Self { own_workloads, ..checkout });
        }
        let cache = user_folder("XDG_CACHE_HOME", ".cache")?.join("shipped");
        let root = shipped::lay_out(&cache).map_err(|source| HomeError::NotLaidOut { path: cache, source })?;
        Ok(Self { root, is_built_in: true, own_workloads })
    }

    /// `workloads` of the working folder, if that is not a checkout and its owner is trusted.
    fn own_workloads() -> Option<PathBuf> {
        let here = std::env::current_dir().ok().filter(|here| !is_home(here))?;
        let owners = own::trusted_owners(std::env::current_exe().as_deref().ok());
        Some(here.join(WORKLOADS)).filter(|folder| folder.is_dir() && own::is_of(folder, &owners))
    }

    /// The checkout: the folder in the variable, else the working folder or one above it, else one above the program.
    pub fn checkout() -> Option<Self> {
        // Use what the user names even if it is wrong: another folder would run other subjects than intended.
        if let Some(named) = std::env::var_os(HOME_VARIABLE).filter(|named| !named.is_empty()) {
            // An absolute path, because servers get paths below it and run in other folders.
            return Some(Self::at(std::path::absolute(&named).unwrap_or(named.into())));
        }
        let program = std::env::current_exe();
        let owners = own::trusted_owners(program.as_deref().ok());
        let starts = [std::env::current_dir(), program].into_iter().flatten();
        Self::above(starts, &|folder| own::is_of(folder, &owners))
    }

    /// The first checkout with a trusted owner, from each of `starts` upwards. Anybody can put such folders into
    /// the temporary directory, and their content would run.
    fn above(starts: impl IntoIterator<Item = PathBuf>, is_trusted: &dyn Fn(&Path) -> bool) -> Option<Self> {
        let is_meant = |folder: &&Path| {
            let parts = ["subjects", WORKLOADS].map(|name| folder.join(name));
            is_home(folder) && is_trusted(folder) && parts.iter().all(|part| is_trusted(part))
        };
        starts.into_iter().find_map(|start| start.ancestors().find(is_meant).map(Self::at))
    }

    /// A home at a known place, for tests and tools.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), is_built_in: false, own_workloads: None }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a subject's sources.
    pub fn subject_folder(&self, id: &str) -> PathBuf {
        self.root.join("subjects").join(id)
    }

    /// The folder of a subject's sources, in the checkout or elsewhere.
    pub fn sources_of(&self, subject: &Subject) -> PathBuf {
        match &subject.folder {
            Some(brought) => PathBuf::from(&brought.folder),
            None => self.subject_folder(&subject.id),
        }
    }

    /// The folder of a workload's files, in the checkout or elsewhere.
    pub fn files_of(&self, workload: &Workload) -> PathBuf {
        match &workload.folder {
            Some(own) => PathBuf::from(&own.folder),
            None => self.root.join(WORKLOADS).join(workload.name.split('?').next().unwrap_or_default()),
        }
    }

    /// The commit of the checkout, with a mark if there are changes. Built-in files have the commit of the build, if that is known.
    pub fn git_state(&self) -> Option<String> {
        if self.is_built_in { option_env!("TOLOK_COMMIT").map(str::to_owned) } else { git::git_state(&self.root) }
    }

    /// The folder of runs: beside the subjects of a writable checkout, else in the user's data folder.
    fn own_runs(&self) -> PathBuf {
        let beside = self.root.join("runs");
        let writable = rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK).is_ok();
        if beside.is_dir() || writable {
            return beside;
        }
        // Without a home, the working folder is a place that the user knows.
        user_folder("XDG_DATA_HOME", ".local/share").map_or_else(|_| "runs".into(), |folder| folder.join("runs"))
    }
}

/// Whether it is a checkout. A user's folder may have subjects and workloads as well, but has no studies.
fn is_home(folder: &Path) -> bool {
    ["subjects", WORKLOADS, "studies"].iter().all(|name| folder.join(name).is_dir())
}

/// The folder of runs: in the checkout, or without one in the working folder.
pub fn runs_folder() -> PathBuf {
    let here = || std::env::current_dir().unwrap_or_default().join("runs");
    Home::checkout().map_or_else(here, |checkout| checkout.own_runs())
}

/// tolok's folder under one of the XDG base folders. Without a home it is a private folder below the temporary directory,
/// because what is built there is run later.
pub fn user_folder(variable: &str, below_home: &str) -> Result<PathBuf, HomeError> {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)));
    match base {
        Some(base) => Ok(base.join("tolok")),
        None => own::temporary_folder(&std::env::temp_dir()),
    }
}

fn read(path: &Path) -> Result<String, HomeError> {
    bounded::text(path, &STUDY).map_err(|source| HomeError::Unreadable { path: path.to_owned(), source })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, HomeError> {
    let unreadable = |source| HomeError::Unreadable { path: folder.to_owned(), source };
    let listed = fs::read_dir(folder).map_err(unreadable)?;
    listed.map(|entry| entry.map(|entry| entry.path()).map_err(unreadable)).collect()
}

#[cfg(test)]
mod tests;
