//! The private folder of a session.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use tolok_host::isolate::session_folder::{LOCK, PREFIX};

/// A private folder that is removed on drop. While it exists, a lock in it is held.
#[derive(Debug)]
pub(in crate::run) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    pub(in crate::run) fn make(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        open_to_readers(folder.path())?;
        // The lock must be held before it gets its final name, or another session's sweep could remove the folder.
        let unheld = folder.path().join("new-lock");
        let lock = File::create(&unheld)?;
        lock.lock()?;
        fs::rename(unheld, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    pub(in crate::run) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A subfolder that others can read.
    pub(in crate::run) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.path().join(name);
        fs::create_dir(&folder)?;
        open_to_readers(&folder)?;
        Ok(folder)
    }

    /// A new folder for the servers of one trial, owned by `owner` if they do not run under the lab's account.
    pub(in crate::run) fn trial(&self, owner: Option<(u32, u32)>) -> io::Result<TempDir> {
        let folder = tempfile::Builder::new().prefix("trial-").tempdir_in(self.path())?;
        open_to_readers(folder.path())?;
        if let Some((user, group)) = owner {
            // If root may not give files away, as in some containers, servers cannot switch accounts either.
            let _ = chown(folder.path(), Some(user), Some(group));
        }
        Ok(folder)
    }
}

/// Servers that switch to another account must still reach their files.
fn open_to_readers(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_session_takes_its_folder_with_it() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(parent.path()).unwrap();
        let trial = scratch.trial(None).unwrap();
        let assets = scratch.folder("assets").unwrap();
        for folder in [scratch.path(), trial.path(), &assets] {
            assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o755);
        }
        drop((trial, scratch));
        assert_eq!(names_in(parent.path()), [""; 0]);
    }

    #[test]
    fn every_attempt_at_a_trial_works_in_a_folder_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(parent.path()).unwrap();
        let (first, second) = (scratch.trial(None).unwrap(), scratch.trial(None).unwrap());
        assert_ne!(first.path(), second.path());
    }
}
