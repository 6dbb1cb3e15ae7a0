//! Files below a root folder: `/` in production, an invented machine in tests. What cannot be read is `None`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The files below a root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files<'a> {
    root: &'a Path,
}

impl<'a> Files<'a> {
    pub(super) fn below(root: &'a Path) -> Self {
        Self { root }
    }

    /// The path of a file of the machine. `path` may begin with `/`.
    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(super) fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        std::fs::read(self.path(path)).ok()
    }

    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok()
    }

    /// The trimmed contents, or `None` for an empty file.
    pub(super) fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        self.text(path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    pub(super) fn number<T: FromStr>(&self, path: impl AsRef<Path>) -> Option<T> {
        self.word(path)?.parse().ok()
    }

    /// A switch: 0 is off, any other number is on.
    pub(super) fn switch(&self, path: impl AsRef<Path>) -> Option<bool> {
        self.number::<i64>(path).map(|value| value != 0)
    }

    pub(super) fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// The names in a folder, sorted. Empty if there is no such folder.
    pub(super) fn names(&self, folder: impl AsRef<Path>) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }
}
