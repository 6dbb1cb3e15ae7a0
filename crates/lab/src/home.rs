//! Where things are: the checkout with its subjects, workloads and studies, and the folders for runs and builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tolok_model::{Catalogue, Problem, Study, Subject, Workload};

/// Names the folder that holds `subjects/`, `workloads/` and `studies/`, when it cannot be found from where one stands.
pub const HOME_VARIABLE: &str = "TOLOK_HOME";

/// The folder that holds `subjects/`, `workloads/` and `studies/`.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
}

/// Why the catalogue or a study cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Neither the variable, nor the working folder or one above it, nor the program's own place leads to one.
    #[error(
        "no folder with subjects/ and workloads/ here or above; run tolok from its checkout, or set {HOME_VARIABLE} to it"
    )]
    NotFound,
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// What was read.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A file says something wrong; all of it is listed.
    #[error("{} has {} problem(s)", path.display(), problems.len())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// What is wrong in it.
        problems: Vec<Problem>,
    },
    /// No study has this name.
    #[error("there is no study `{name}`: neither a file of that name nor one of {}", known.join(", "))]
    NoStudy {
        /// As it was asked for.
        name: String,
        /// The studies there are.
        known: Vec<String>,
    },
}

impl Home {
    /// Finds the folder: the variable, then the working folder and those above it, then those above the program.
    pub fn find() -> Result<Self, HomeError> {
        let named = std::env::var_os(HOME_VARIABLE).map(PathBuf::from);
        let here = std::env::current_dir().ok();
        let program = std::env::current_exe().ok();
        let above = [here, program].into_iter().flatten().flat_map(|start| {
            start.ancestors().map(Path::to_path_buf).collect::<Vec<_>>()
        });
        let mut candidates = named.into_iter().chain(above);
        let root = candidates.find(|folder| folder.join("subjects").is_dir() && folder.join("workloads").is_dir());
        root.map(|root| Self { root }).ok_or(HomeError::NotFound)
    }

    /// A home at a known place, for tests and tools.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a subject's sources.
    pub fn subject_folder(&self, id: &str) -> PathBuf {
        self.root.join("subjects").join(id)
    }

    /// The folder of a workload's files.
    pub fn workload_folder(&self, name: &str) -> PathBuf {
        self.root.join("workloads").join(name)
    }

    /// Where runs are kept: beside the subjects in a checkout that can be written, else in the user's data folder.
    pub fn runs_folder(&self) -> PathBuf {
        let beside = self.root.join("runs");
        let writable = rustix::fs::access(&self.root, rustix::fs::Access::WRITE_OK).is_ok();
        if beside.is_dir() || writable {
            return beside;
        }
        user_folder("XDG_DATA_HOME", ".local/share").join("runs")
    }

    /// Every subject and workload.
    pub fn catalogue(&self) -> Result<Catalogue, HomeError> {
        let mut subjects = Vec::new();
        for runtime in sorted_folders(&self.root.join("subjects"))? {
            for folder in sorted_folders(&runtime)? {
                let file = folder.join("subject.toml");
                if file.is_file() {
                    let id = format!("{}/{}", file_name(&runtime), file_name(&folder));
                    subjects.push(read_with(&file, |text| Subject::read(&id, text))?);
                }
            }
        }
        let mut workloads = Vec::new();
        for folder in sorted_folders(&self.root.join("workloads"))? {
            let file = folder.join("workload.toml");
            if file.is_file() {
                workloads.push(read_with(&file, |text| Workload::read(&file_name(&folder), text))?);
            }
        }
        Ok(Catalogue { subjects, workloads })
    }

    /// Names of the studies that come with tolok.
    pub fn studies(&self) -> Result<Vec<String>, HomeError> {
        let folder = self.root.join("studies");
        let mut names: Vec<String> = entries(&folder)?
            .iter()
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Reads a study: `name` is a file, or the name of one that comes with tolok. Returns its text as well.
    pub fn study(&self, name: &str, catalogue: &Catalogue) -> Result<(PathBuf, String, Study), HomeError> {
        let own = self.root.join("studies").join(format!("{name}.toml"));
        let path = if Path::new(name).is_file() {
            PathBuf::from(name)
        } else if own.is_file() {
            own
        } else {
            return Err(HomeError::NoStudy { name: name.to_owned(), known: self.studies().unwrap_or_default() });
        };
        let text = read(&path)?;
        match Study::read(&text, catalogue) {
            Ok(study) => Ok((path, text, study)),
            Err(problems) => Err(HomeError::Wrong { path, text, problems }),
        }
    }
}

/// tolok's folder under one of the XDG base folders.
pub fn user_folder(variable: &str, below_home: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = set.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(below_home)));
    base.unwrap_or_else(std::env::temp_dir).join("tolok")
}

/// Commit of the checkout at `root`, with a mark if it was changed; nothing where there is no git or no checkout.
pub fn git_state(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
    Some(if changed { format!("{commit}, changed") } else { commit })
}

fn read_with<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, Vec<Problem>>) -> Result<T, HomeError> {
    let text = read(path)?;
    parse(&text).map_err(|problems| HomeError::Wrong { path: path.to_owned(), text, problems })
}

fn read(path: &Path) -> Result<String, HomeError> {
    fs::read_to_string(path).map_err(|source| HomeError::Unreadable { path: path.to_owned(), source })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, HomeError> {
    let unreadable = |source| HomeError::Unreadable { path: folder.to_owned(), source };
    let listed = fs::read_dir(folder).map_err(unreadable)?;
    listed.map(|entry| entry.map(|entry| entry.path()).map_err(unreadable)).collect()
}

fn sorted_folders(folder: &Path) -> Result<Vec<PathBuf>, HomeError> {
    let mut folders: Vec<PathBuf> = entries(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
