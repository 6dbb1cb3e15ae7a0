//! Freezing a control group.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::job::FreezerFiles;

/// A group freezes within a millisecond, unless one of its processes hangs in the kernel. After this time the run goes on.
const LIMIT: Duration = Duration::from_millis(250);
/// After this time, a group that is not frozen is thawed and frozen again.
const TELL_AGAIN: Duration = Duration::from_millis(5);
/// How often to check whether it is frozen.
const LOOK: Duration = Duration::from_micros(50);

/// A group that can be frozen. Dropping this thaws it.
#[derive(Debug)]
pub(super) struct Freezer {
    files: FreezerFiles,
}

impl Freezer {
    pub fn new(files: FreezerFiles) -> Self {
        Self { files }
    }

    /// Freezes the group. Returns whether it is frozen.
    pub fn freeze(&self) -> io::Result<bool> {
        self.tell()?;
        let (deadline, mut again) = (Instant::now() + LIMIT, Instant::now() + TELL_AGAIN);
        let stands_still = || {
            let is_so = self.stands_still()?;
            if !is_so && Instant::now() >= again {
                // Version 1 misses a process that forks at this moment; freezing again includes it.
                self.thaw()?;
                self.tell()?;
                again = Instant::now() + TELL_AGAIN;
            }
            Ok(is_so)
        };
        wait_until(stands_still, || Instant::now() < deadline)
    }

    fn tell(&self) -> io::Result<()> {
        match &self.files {
            FreezerFiles::V1 { state } => write(state, "FROZEN"),
            FreezerFiles::V2 { freeze, .. } => write(freeze, "1"),
        }
    }

    /// Thaws the group.
    pub fn thaw(&self) -> io::Result<()> {
        match &self.files {
            FreezerFiles::V1 { state } => write(state, "THAWED"),
            FreezerFiles::V2 { freeze, .. } => write(freeze, "0"),
        }
    }

    fn stands_still(&self) -> io::Result<bool> {
        Ok(match &self.files {
            FreezerFiles::V1 { state } => read(state)?.trim() == "FROZEN",
            FreezerFiles::V2 { events, .. } => read(events)?.lines().any(|line| line == "frozen 1"),
        })
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        // A group that no longer exists needs no thawing.
        let _ = self.thaw();
    }
}

/// Polls until `is_so` holds or time is up. Returns whether it holds.
fn wait_until(mut is_so: impl FnMut() -> io::Result<bool>, mut has_time: impl FnMut() -> bool) -> io::Result<bool> {
    loop {
        if is_so()? {
            return Ok(true);
        }
        if !has_time() {
            return Ok(false);
        }
        thread::sleep(LOOK);
    }
}

fn write(file: &Path, value: &str) -> io::Result<()> {
    fs::write(file, value).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

fn read(file: &Path) -> io::Result<String> {
    fs::read_to_string(file).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_version_1_is_frozen_and_thawed_by_its_state() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("freezer.state");
        fs::write(&state, "THAWED\n").unwrap();
        let freezer = Freezer::new(FreezerFiles::V1 { state: state.clone() });
        assert!(freezer.freeze().unwrap());
        assert_eq!(read(&state).unwrap(), "FROZEN");
        drop(freezer);
        assert_eq!(read(&state).unwrap(), "THAWED", "a dropped freezer leaves nothing frozen");
    }

    #[test]
    fn a_group_of_version_2_stands_still_once_its_events_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let (freeze, events) = (folder.path().join("cgroup.freeze"), folder.path().join("cgroup.events"));
        fs::write(&events, "populated 1\nfrozen 1\n").unwrap();
        let freezer = Freezer::new(FreezerFiles::V2 { freeze: freeze.clone(), events: events.clone() });
        assert!(freezer.freeze().unwrap());
        assert_eq!(read(&freeze).unwrap(), "1");
        fs::write(&events, "populated 1\nfrozen 0\n").unwrap();
        assert!(!freezer.stands_still().unwrap());
    }

    #[test]
    fn a_group_that_does_not_stand_still_is_waited_for_while_there_is_time() {
        let (mut looks, mut turns) = (0, 5);
        let is_so = || {
            looks += 1;
            Ok(false)
        };
        let has_time = || {
            turns -= 1;
            turns > 0
        };
        assert!(!wait_until(is_so, has_time).unwrap());
        assert_eq!(looks, 5);
    }

    #[test]
    fn a_group_that_cannot_be_written_is_named() {
        let freezer = Freezer::new(FreezerFiles::V1 { state: "/nonexistent/freezer.state".into() });
        assert!(freezer.freeze().unwrap_err().to_string().starts_with("/nonexistent/freezer.state: "));
    }
}
