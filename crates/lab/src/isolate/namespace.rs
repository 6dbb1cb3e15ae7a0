//! A pid namespace for the processes of a box, and a /proc that shows them only.
#![allow(unsafe_code, reason = "unshare and Command::pre_exec are unsafe; each use says why it is sound")]

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getgid, getuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Makes the next child process 1 of a pid namespace: directly as root, else inside a user namespace in which every user
/// keeps the own name. False where neither is allowed, as in many containers; an error leaves the process half inside a
/// namespace, where nothing should be started.
pub fn enter_for_children() -> io::Result<bool> {
    // SAFETY: these flags share neither file descriptors nor working folders anew; the calling process has one thread.
    if unsafe { unshare_unsafe(UnshareFlags::NEWPID) }.is_ok() {
        return Ok(true);
    }
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: as above.
    if unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWPID) }.is_err() {
        return Ok(false);
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    Ok(true)
}

/// Gives the process that `command` starts a mount namespace with a /proc of its pid namespace. Servers that look
/// themselves up there find themselves; where mounting is refused they find nothing, which none of them needs.
pub fn mount_own_proc(command: &mut Command) {
    let before_exec = || {
        // SAFETY: NEWNS separates the mount table only, and the child that runs this has one thread.
        if unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.is_ok() {
            // Without this the mount below would show in the whole machine.
            let private = mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC);
            if private.is_ok() {
                let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
                let _ = mount(c"proc", c"/proc", c"proc", flags, None);
            }
        }
        Ok(())
    };
    // SAFETY: the closure makes direct system calls only and allocates nothing.
    unsafe { command.pre_exec(before_exec) };
}
