//! What can go wrong with a group: which file, which value, why, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Controller;

/// Why a group could not be created, limited or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    #[error(
        "make a control group called {name:?}: a name is 1 to 64 letters, digits, `-`, `_` or `.`, and begins with none \
         of the marks"
    )]
    Name { name: String },
    #[error("make a control group: {reason}; {advice}")]
    NoGroups { reason: String, advice: &'static str },
    /// The error names the parent folder: the folder's own name differs by trial, and one error should appear once for
    /// many trials.
    #[error("make a control group in {}: {source}; {advice}", above.display())]
    Make { above: PathBuf, source: io::Error, advice: String },
    #[error("write {value:?} to {}: {source}; {advice}", file.display())]
    Write { file: PathBuf, value: String, source: io::Error, advice: &'static str },
    #[error(
        "have {wanted:?} in force: {} says {found:?}, as the groups above allow no more; ask for what they allow",
        file.display()
    )]
    NotInForce { file: PathBuf, wanted: String, found: String },
    #[error("read {}: {source}", file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error("limit {what} to {value}: there is no {controller} controller here; {advice}")]
    NoController { what: &'static str, value: String, controller: Controller, advice: &'static str },
    #[error("limit {what} to {value}: {reason}")]
    Limit { what: &'static str, value: String, reason: &'static str },
    #[error(
        "make room in {}: {processes} processes are in it, and version 2 gives controllers only to groups below one \
         without processes; {ALONE}",
        folder.display()
    )]
    Crowded { folder: PathBuf, processes: usize },
    #[error(
        "make the control group {}: no process could join it, as the one above is a threaded group; {ALONE}",
        folder.display()
    )]
    Threaded { folder: PathBuf },
    #[error("end the processes in {}: this process is in it; leave the group first", folder.display())]
    OwnProcess { folder: PathBuf },
    #[error("end the processes in {}: {} of them are still there, {pids:?}; see what the kernel does with them", folder.display(), pids.len())]
    StillThere {
        folder: PathBuf,
        /// The processes. 0 is one outside this process's pid namespace.
        pids: Vec<u32>,
    },
    #[error("remove the control group {}: {source}; see which processes its cgroup.procs names", folder.display())]
    Remove { folder: PathBuf, source: io::Error },
}

const RIGHTS: &str =
    "start tolok as root, or on a system with version 2 under `systemd-run --user --scope -p Delegate=yes`";
const ALONE: &str = "start tolok under `systemd-run --scope -p Delegate=yes` (with `--user` if not as root)";
const RANGE: &str = "the value must be one that the groups above allow";
const OFFERED: &str = "start tolok in a group that has it, such as under `systemd-run --scope -p Delegate=yes` (with `--user` \
                       if not as root), or do without the limit";

impl GroupError {
    pub(super) fn make(folder: &Path, source: io::Error) -> Self {
        let name = folder.file_name().unwrap_or_default().display();
        let advice = match source.kind() {
            io::ErrorKind::AlreadyExists => format!("a group called {name} is left over there; remove its folder"),
            _ => advice(&source).to_owned(),
        };
        Self::Make { above: folder.parent().unwrap_or(folder).to_owned(), source, advice }
    }

    pub(super) fn write(file: PathBuf, value: &str, source: io::Error) -> Self {
        let advice = advice(&source);
        Self::Write { file, value: value.to_owned(), source, advice }
    }

    pub(super) fn no_groups(reason: String) -> Self {
        Self::NoGroups { reason, advice: OFFERED }
    }

    pub(super) fn no_controller(what: &'static str, value: String, controller: Controller) -> Self {
        Self::NoController { what, value, controller, advice: OFFERED }
    }
}

/// What the user can do about an error from the kernel.
fn advice(source: &io::Error) -> &'static str {
    match Errno::from_io_error(source) {
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => RIGHTS,
        // Version 2 gives no controllers to the groups below one that itself has processes.
        Some(Errno::BUSY) => ALONE,
        Some(Errno::NOENT | Errno::NODEV) => OFFERED,
        _ => RANGE,
    }
}
