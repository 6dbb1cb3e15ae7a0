//! Why a run's folder cannot be read or written, and what users can do.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// The most similar names of runs that are shown.
pub const NEAREST: usize = 3;

/// Why a run's folder cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot write {}: {}", path.display(), explain(source))]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {}: {}", path.display(), unreadable(source))]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not a {what} of this version of tolok: {reason}", path.display())]
    Content { path: PathBuf, what: &'static str, reason: String },
    #[error("another tolok is working in {}; wait until it has ended", path.display())]
    Busy { path: PathBuf },
    #[error("there is no run `{name}`: neither in a folder of that name nor in {}{}", runs.display(), nearest(near))]
    NoRun {
        name: String,
        runs: PathBuf,
        /// Names of runs that may be meant, the most likely first.
        near: Vec<String>,
    },
    #[error("`{name}` matches {} runs in {}, such as {}; type more of the name", names.len(), runs.display(), names.iter().rev().take(NEAREST).cloned().collect::<Vec<_>>().join(", "))]
    Ambiguous {
        name: String,
        runs: PathBuf,
        /// Their names, sorted.
        names: Vec<String>,
    },
}

impl StoreError {
    /// Whether the named folder is to blame, and not the machine.
    pub fn is_of_the_folder(&self) -> bool {
        match self {
            Self::Write { source, .. } | Self::Read { source, .. } => is_of_the_place(source),
            Self::Busy { .. } => false,
            Self::Content { .. } | Self::NoRun { .. } | Self::Ambiguous { .. } => true,
        }
    }

    /// The file or folder that caused it.
    pub fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. } | Self::Read { path, .. } | Self::Content { path, .. } | Self::Busy { path } => {
                path
            }
            Self::NoRun { runs, .. } | Self::Ambiguous { runs, .. } => runs,
        }
    }
}

fn nearest(near: &[String]) -> String {
    if near.is_empty() {
        return ", which holds no run yet; `tolok quick` makes the first, and --runs DIR names another folder"
            .to_owned();
    }
    let are = if near.len() == 1 { "is" } else { "are" };
    format!("; the nearest {are} {}; `tolok list runs` shows all, and --runs DIR names another folder", near.join(", "))
}

fn unreadable(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => {
            format!("{source}; the run is incomplete without this file: restore it from a copy, or choose another run")
        }
        io::ErrorKind::PermissionDenied => {
            format!("{source}; read it as the user who made the run, or copy the run's folder")
        }
        io::ErrorKind::InvalidData => format!("{source}; `tolok verify` lists everything in the run that was changed"),
        _ => format!("{source}; take a copy of the run from elsewhere if the disk is failing"),
    }
}

/// Whether the named file or folder is to blame for an error, and not the machine.
pub fn is_of_the_place(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidFilename
    )
}

fn explain(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; make room and go on with `tolok resume` (finished trials are kept)".to_owned()
        }
        io::ErrorKind::NotFound
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory => {
            format!("{source}; choose a folder that you may write with --runs DIR")
        }
        io::ErrorKind::AlreadyExists => {
            "it exists already; move it away, or choose another folder with --runs DIR".to_owned()
        }
        _ if source.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            format!("{source}; allow more (`ulimit -n 1024`), and go on with `tolok resume`")
        }
        _ => source.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    #[test]
    fn too_few_descriptors_say_how_to_allow_more() {
        let refused = StoreError::Write { path: "runs/a".into(), source: Errno::MFILE.into() }.to_string();
        assert!(refused.contains("ulimit -n") && refused.contains("tolok resume"), "{refused}");
    }

    #[test]
    fn a_name_that_is_taken_says_how_to_choose_another() {
        let refused = StoreError::Write { path: "runs".into(), source: io::ErrorKind::AlreadyExists.into() };
        let expect = "cannot write runs: it exists already; move it away, or choose another folder with --runs DIR";
        assert_eq!(refused.to_string(), expect);
    }

    #[test]
    fn a_full_disk_says_how_to_go_on() {
        let mut full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let source = full.write_all(b"x").unwrap_err();
        let error = StoreError::Write { path: "runs/1/trial.json".into(), source };
        let expect = "cannot write runs/1/trial.json: the disk is full; make room and go on with `tolok resume` \
                      (finished trials are kept)";
        assert_eq!(error.to_string(), expect);
    }

    #[test]
    fn a_folder_that_may_not_be_written_says_how_to_choose_another() {
        let source = io::Error::from(rustix::io::Errno::ROFS);
        let error = StoreError::Write { path: "runs".into(), source };
        let expect = "cannot write runs: Read-only file system (os error 30); choose a folder that you may write with \
                      --runs DIR";
        assert_eq!(error.to_string(), expect);
    }
}
