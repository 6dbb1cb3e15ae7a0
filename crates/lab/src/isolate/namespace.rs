//! A pid namespace for the processes of a box, and a /proc that shows them only.
#![allow(unsafe_code, reason = "unshare and Command::pre_exec are unsafe; each use says why it is sound")]

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// A switch for tests: while it is set, to whatever value, boxes do without a namespace, as they must on machines that
/// allow none.
const WITHOUT_VARIABLE: &str = "TOLOK_NO_NAMESPACE";

/// Makes the next child process 1 of a pid namespace: directly where that is allowed, else inside a user namespace in
/// which the user keeps the own name.
///
/// After an error the process may be half inside a namespace, and no way leads back: some kernels let everybody make a
/// user namespace and then refuse what makes it usable, as Ubuntu's AppArmor does. So a process that has to go on
/// without one must let another try before it.
pub fn enter_for_children() -> io::Result<()> {
    if std::env::var_os(WITHOUT_VARIABLE).is_some() {
        return Err(io::Error::other(format!("{WITHOUT_VARIABLE} is set")));
    }
    // SAFETY: these flags share neither file descriptors nor working folders anew; the calling process has one thread.
    let Err(refused) = (unsafe { unshare_unsafe(UnshareFlags::NEWPID) }) else { return Ok(()) };
    let (user, group) = (geteuid(), getegid());
    // Of the accounts of this machine only the own one exists in the user namespace, but servers of root's change to
    // another one.
    if user.is_root() {
        return Err(refused.into());
    }
    // SAFETY: as above.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWPID) }?;
    let (user, group) = (user.as_raw(), group.as_raw());
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Gives the process that `command` starts a mount namespace with a /proc of its pid namespace. Where mounting is
/// refused, as in many containers, the servers see the /proc of outside: `/proc/self` is right there, too, but under the
/// number that a server knows itself by stands another process, or none.
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
