//! The private folder of a session, and the removal of those whose session was killed.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::account::Account;

/// Private folders begin with this, so that leftovers can be told.
const PREFIX: &str = "tolok-session-";
/// The file in a private folder on which its session holds a lock while it lives.
const LOCK: &str = "lock";

/// A private folder that is removed at the end; while it lives, a lock in it says so.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    pub(super) fn make(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        open_to_readers(folder.path())?;
        // Under its name the lock is never seen free, or the sweep of another session could take the folder away.
        let unheld = folder.path().join("new-lock");
        let lock = File::create(&unheld)?;
        lock.lock()?;
        fs::rename(unheld, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A folder in it that others can read.
    pub(super) fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.path().join(name);
        fs::create_dir(&folder)?;
        open_to_readers(&folder)?;
        Ok(folder)
    }

    /// A new folder in which the servers of one trial work, under `account` if they are to give up their rights.
    pub(super) fn trial(&self, account: Option<&Account>) -> io::Result<TempDir> {
        let folder = tempfile::Builder::new().prefix("trial-").tempdir_in(self.path())?;
        open_to_readers(folder.path())?;
        if let Some(account) = account {
            // Where root may not give files away, as in some containers, servers cannot change accounts either.
            let _ = account.own(folder.path());
        }
        Ok(folder)
    }
}

/// Servers change to another account and have to find their files all the same.
fn open_to_readers(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// Removes the private folders of sessions that ended without doing so.
pub(super) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for folder in named.map(|entry| entry.path()).filter(|folder| is_ours(folder)) {
        let Ok(lock) = File::open(folder.join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            // What cannot be removed now is tried again by the next session.
            let _ = fs::remove_dir_all(&folder);
        }
    }
}

/// In a folder for everybody, others can leave things of any name and kind.
fn is_ours(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// What a killed session leaves: its folder, with a lock that nobody holds.
    fn leave_behind(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(format!("{PREFIX}{name}"));
        fs::create_dir(&folder).unwrap();
        File::create(folder.join(LOCK)).unwrap();
        folder
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

    #[test]
    fn a_sweep_removes_what_dead_sessions_left_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Scratch::make(parent.path()).unwrap();
        let dead = leave_behind(parent.path(), "dead");
        // One whose session has not come to its lock yet, and one that is not a session's.
        let unborn = parent.path().join(format!("{PREFIX}unborn"));
        let foreign = parent.path().join("other");
        fs::create_dir_all(unborn.join("assets")).unwrap();
        fs::create_dir(&foreign).unwrap();

        sweep(parent.path());
        assert!(!dead.exists());
        assert!(alive.path().join(LOCK).exists() && unborn.exists() && foreign.exists());
    }

    #[test]
    fn a_sweep_follows_no_link() {
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = parent.path().join("elsewhere");
        fs::rename(leave_behind(parent.path(), "dead"), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, parent.path().join(format!("{PREFIX}link"))).unwrap();
        sweep(parent.path());
        assert!(elsewhere.join(LOCK).exists());
    }
}
