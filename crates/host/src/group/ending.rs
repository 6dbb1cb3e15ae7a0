//! The end of a group: first its processes, then its folders.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::folder::{children, is_gone, write};
use super::{Controller, Group, GroupError, Version};

/// How long killed processes may take to disappear. Hundreds take a tenth of a second; a large one must first free its
/// memory.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// How long a folder may stay busy after its last process has ended.
const REMOVE_LIMIT: Duration = Duration::from_secs(5);
/// How long to wait for processes to end before listing the members again: some may have forked.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Kills until no process is left in any hierarchy. Processes may fork faster than single kills, so this stops the
/// group as a whole, with `cgroup.kill` (since Linux 5.14) or by freezing.
pub(super) fn kill(group: &Group) -> Result<(), GroupError> {
    let at_once = group.folder(Controller::Core, Version::V2).map(|folder| folder.join("cgroup.kill"));
    kill_by(group, at_once.filter(|file| file.exists()).as_deref())
}

pub(super) fn kill_by(group: &Group, at_once: Option<&Path>) -> Result<(), GroupError> {
    let deadline = Instant::now() + KILL_LIMIT;
    loop {
        // In version 1 a frozen process cannot end, and a group below may be frozen separately.
        thaw(group);
        let there = everyone(group)?;
        if there.is_empty() {
            return Ok(());
        }
        let folder = || group.folders().first().map(|folder| folder.to_path_buf()).unwrap_or_default();
        if there.contains(&std::process::id()) {
            return Err(GroupError::OwnProcess { folder: folder() });
        }
        if Instant::now() > deadline {
            return Err(GroupError::StillThere { folder: folder(), pids: there.into_iter().collect() });
        }
        // If it fails, the next list of members shows it.
        let _ = at_once.map(|file| write(file, "1"));
        let dying = one_by_one(group, &there)?;
        wait_for_an_end(&dying);
    }
}

/// Thaws a group and all groups below it.
pub(super) fn thaw(group: &Group) {
    let v1 = group.folder(Controller::Freezer, Version::V1).map(|folder| (folder, "freezer.state", "THAWED"));
    let v2 = || group.folder(Controller::Core, Version::V2).map(|folder| (folder, "cgroup.freeze", "0"));
    if let Some((folder, file, word)) = v1.or_else(v2) {
        thaw_below(folder, file, word);
    }
}

fn thaw_below(folder: &Path, file: &str, word: &str) {
    let file_here = folder.join(file);
    if file_here.exists() {
        // If it fails, the processes remain and the caller reports them.
        let _ = write(&file_here, word);
    }
    children(folder).unwrap_or_default().iter().for_each(|child| thaw_below(child, file, word));
}

/// Kills the members of the group while it is frozen, so that none forks or ends and frees its pid.
fn one_by_one(group: &Group, there: &BTreeSet<u32>) -> Result<Vec<OwnedFd>, GroupError> {
    let frozen = Frozen::freeze(group);
    let open =
        |pid: &u32| Some((*pid, pidfd_open(Pid::from_raw(i32::try_from(*pid).ok()?)?, PidfdFlags::empty()).ok()?));
    let opened: Vec<(u32, OwnedFd)> = there.iter().filter_map(open).collect();
    // A pid may have been reused between listing and opening. Only a process that is still listed is a member.
    let still = everyone(group)?;
    let listed = opened.into_iter().filter(|(pid, _)| still.contains(pid));
    let dying: Vec<OwnedFd> = listed
        .map(|(_, process)| {
            let _ = pidfd_send_signal(&process, Signal::KILL);
            process
        })
        .collect();
    drop(frozen);
    Ok(dying)
}

/// Waits until each of these has ended, but only briefly, since others may have started by then.
fn wait_for_an_end(dying: &[OwnedFd]) {
    let until = Instant::now() + LOOK_AGAIN;
    let mut waiting: Vec<PollFd> =
        dying.iter().map(|process| PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)).collect();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut waiting, Some(&timeout)) {
            Ok(0) => return,
            Ok(_) => waiting.retain(|process| process.revents().is_empty()),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
        // With nothing left to wait for, the list of members is about to change. A short sleep avoids a tight loop.
        if waiting.is_empty() {
            return thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A frozen group, where the kernel can freeze it. Dropping this thaws it, so that killed members can end.
struct Frozen {
    thaw: Option<(PathBuf, &'static str)>,
}

impl Frozen {
    fn freeze(group: &Group) -> Self {
        let v1 =
            group.folder(Controller::Freezer, Version::V1).map(|folder| (folder, "freezer.state", "FROZEN", "THAWED"));
        let v2 = || group.folder(Controller::Core, Version::V2).map(|folder| (folder, "cgroup.freeze", "1", "0"));
        let thaw = v1.or_else(v2).map(|(folder, file, freeze, thaw)| {
            let file = folder.join(file);
            // Without freezing, the loop only takes longer.
            let _ = write(&file, freeze);
            (file, thaw)
        });
        Self { thaw }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        if let Some((file, thaw)) = &self.thaw {
            let _ = write(file, thaw);
        }
    }
}

/// Removes the folders of a group in every hierarchy, even if one of them cannot be removed.
pub(super) fn remove(group: &Group) -> Result<(), GroupError> {
    remove_within(group, REMOVE_LIMIT)
}

pub(super) fn remove_within(group: &Group, limit: Duration) -> Result<(), GroupError> {
    let deadline = Instant::now() + limit;
    let mut result = Ok(());
    for folder in group.folders() {
        result = result.and(remove_below(folder, deadline));
    }
    result
}

fn remove_below(folder: &Path, deadline: Instant) -> Result<(), GroupError> {
    let failed = |folder: &Path, source| GroupError::Remove { folder: folder.to_owned(), source };
    match children(folder) {
        Ok(children) => children.iter().try_for_each(|child| remove_below(child, deadline))?,
        Err(error) if is_gone(&error) => return Ok(()),
        Err(error) => return Err(failed(folder, error)),
    }
    let mut pause = Duration::from_micros(200);
    loop {
        match fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if is_gone(&error) => return Ok(()),
            // A process that has ended disappears from the list a moment before it frees the folder.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::BUSY) && is_emptying(folder, deadline) => {
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
            Err(error) => return Err(failed(folder, error)),
        }
    }
}

/// Whether to try again.
fn is_emptying(folder: &Path, deadline: Instant) -> bool {
    Instant::now() < deadline && folder.exists()
}

fn everyone(group: &Group) -> Result<BTreeSet<u32>, GroupError> {
    let failed = |source: io::Error| {
        let file = group.entrances().into_iter().next().unwrap_or_default();
        GroupError::Read { file, source }
    };
    group.everyone().map_err(failed)
}
