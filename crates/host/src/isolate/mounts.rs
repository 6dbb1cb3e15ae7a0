//! What a box mounts for itself: a `/proc` that shows only its own processes, and private folders in memory.

use std::ffi::CString;
use std::fs::{self, DirEntry, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{getegid, geteuid};

use super::spec::RunFolder;

/// How much servers may put into each of `/dev/shm` and `/tmp`. It counts as memory of the writer.
const TEMPORARY_BYTES: u64 = 1 << 30;
/// Each entry of `/tmp` that stays visible in a box takes a mount.
const MOST_ENTRIES: usize = 4096;

/// Isolates the mounts of this mount namespace from the machine's, in both directions.
pub(super) fn keep_mounts_private() -> io::Result<()> {
    Ok(mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Mounts a `/proc` of this process's pid namespace.
pub(super) fn mount_own_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount(c"proc", c"/proc", c"proc", flags, None)?)
}

/// Mounts a tmpfs over the run folder, which others may read. It goes with the mount namespace.
pub(super) fn mount_run_folder(folder: &RunFolder) -> io::Result<()> {
    let options = CString::new(options(folder))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount(c"tolok", &folder.path, c"tmpfs", flags, Some(options.as_c_str()))?)
}

/// Named shared memory is a file in this folder, whatever the IPC namespace.
pub(super) fn mount_own_shared_memory() -> io::Result<()> {
    let folder = Path::new("/dev/shm");
    if folder.is_dir() { mount_for_everybody(folder) } else { Ok(()) }
}

/// Mounts a folder for temporary files. Everything already there (sockets, the run folder, programs and sources) stays
/// reachable. New files go with the mount namespace.
pub(super) fn mount_own_temporary_folder(folder: &Path) -> io::Result<()> {
    // Keeps the entries reachable when the new folder hides them.
    let hidden = open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let entries: Vec<DirEntry> = fs::read_dir(folder)?.flatten().take(MOST_ENTRIES + 1).collect();
    if entries.len() > MOST_ENTRIES {
        return Err(io::Error::other(format!("there are more than {MOST_ENTRIES} files in it")));
    }
    mount_for_everybody(folder)?;
    let hidden = PathBuf::from(format!("/proc/self/fd/{}", hidden.as_raw_fd()));
    for entry in entries {
        // Temporary files may be gone by now.
        let _ = show(&hidden.join(entry.file_name()), &folder.join(entry.file_name()));
    }
    Ok(())
}

/// Makes an entry visible at another path: the same file or folder, or a copy of the link.
fn show(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_dir() {
        fs::create_dir(to)?
    } else {
        drop(File::create(to)?)
    }
    Ok(mount_bind_recursive(from, to)?)
}

/// A tmpfs where every user may create files, and remove only their own.
fn mount_for_everybody(folder: &Path) -> io::Result<()> {
    let options = CString::new(format!("size={TEMPORARY_BYTES},mode=1777"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount(c"tolok", folder, c"tmpfs", flags, Some(options.as_c_str()))?)
}

fn options(folder: &RunFolder) -> String {
    let (user, group) = folder.owner.unwrap_or((geteuid().as_raw(), getegid().as_raw()));
    format!("size={},mode=0755,uid={user},gid={group}", folder.size_bytes)
}

/// Where nothing can be mounted, the plain folder serves, but still needs its owner.
pub(super) fn own_run_folder(folder: &RunFolder) -> io::Result<()> {
    folder.owner.map_or(Ok(()), |(user, group)| chown(&folder.path, Some(user), Some(group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_folder_has_a_size_a_mode_and_an_owner() {
        let folder = RunFolder { path: "/run/folder".into(), size_bytes: 4096, owner: Some((65_534, 33)) };
        assert_eq!(options(&folder), "size=4096,mode=0755,uid=65534,gid=33");
    }
}
