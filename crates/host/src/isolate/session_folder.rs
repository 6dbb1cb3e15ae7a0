//! The private folders of sessions. A process may remove a folder if nothing holds its lock.
//!
//! A session removes its own. If the lab was killed with `kill -9`, the keeper of its box removes the folder once all
//! processes that worked in it are gone. If the lab was killed between two boxes, or together with its keeper, the next
//! start of tolok does.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The beginning of private folders' names, which identifies leftovers.
pub const PREFIX: &str = "tolok-session-";
/// The file in a private folder that its session keeps locked while it lives.
pub const LOCK: &str = "lock";

/// How often to retry a lock.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Removes the private folders of sessions that ended without doing so.
pub fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    entries.flatten().for_each(|entry| remove_if_dead(&entry.path()));
}

/// The same for the folder of a session whose lab has died. A child that the lab was starting, and that has not yet
/// reached exec, may hold the lock for a moment longer.
pub(super) fn remove_when_free(folder: &Path, deadline: Instant) -> io::Result<()> {
    remove_if_dead(folder);
    while folder.try_exists()? && Instant::now() < deadline {
        std::thread::sleep(LOOK_AGAIN);
        remove_if_dead(folder);
    }
    Ok(())
}

/// Removes a folder only if it belongs to a session that has ended.
fn remove_if_dead(folder: &Path) {
    let is_named = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    if !is_named || !is_ours(folder) {
        return;
    }
    let Ok(lock) = File::open(folder.join(LOCK)) else { return };
    if lock.try_lock().is_ok() {
        // The next session retries what cannot be removed now.
        let _ = fs::remove_dir_all(folder);
    }
}

/// In a shared folder, other users can leave files of any name and kind.
fn is_ours(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == own)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// What a killed session leaves: its folder, with a lock that no process holds.
    fn leave_behind(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(format!("{PREFIX}{name}"));
        fs::create_dir_all(folder.join("trial-x")).unwrap();
        File::create(folder.join(LOCK)).unwrap();
        folder
    }

    #[test]
    fn a_sweep_removes_what_dead_sessions_left_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let (alive, dead) = (leave_behind(parent.path(), "alive"), leave_behind(parent.path(), "dead"));
        let held = File::open(alive.join(LOCK)).unwrap();
        held.lock().unwrap();
        // One whose session has not created its lock yet, and one that is not a session's.
        let unborn = parent.path().join(format!("{PREFIX}unborn"));
        let foreign = parent.path().join("other");
        fs::create_dir_all(unborn.join("assets")).unwrap();
        fs::create_dir(&foreign).unwrap();
        File::create(foreign.join(LOCK)).unwrap();

        sweep(parent.path());
        remove_if_dead(&foreign);
        assert!(!dead.exists());
        assert!(alive.join(LOCK).exists() && unborn.exists() && foreign.exists());
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
