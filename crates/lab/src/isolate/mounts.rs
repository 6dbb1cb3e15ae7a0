//! What a box mounts for itself: a `/proc` that shows its own processes only, and a private folder in memory.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::chown;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};

use super::spec::RunFolder;

/// Lets no mount of this mount namespace show in the machine's, nor the other way round.
pub(super) fn keep_mounts_private() -> io::Result<()> {
    Ok(mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// A `/proc` of the pid namespace that this process is in.
pub(super) fn mount_own_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount(c"proc", c"/proc", c"proc", flags, None)?)
}

/// A tmpfs over the run folder, which others may look into. It is gone with the mount namespace.
pub(super) fn mount_run_folder(folder: &RunFolder) -> io::Result<()> {
    let options = CString::new(options(folder))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount(c"tolok", &folder.path, c"tmpfs", flags, Some(options.as_c_str()))?)
}

fn options(folder: &RunFolder) -> String {
    let (user, group) = folder.owner.unwrap_or((geteuid().as_raw(), getegid().as_raw()));
    format!("size={},mode=0755,uid={user},gid={group}", folder.size_bytes)
}

/// Where nothing can be mounted, the folder itself serves, and its owner must be set all the same.
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
