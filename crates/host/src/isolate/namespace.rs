//! Namespaces: finds out which are allowed here, and makes them.
#![allow(unsafe_code, reason = "unshare is unsafe; each use says why it is sound")]

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;

use rustix::process::{fchdir, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, LinkNameSpaceType, UnshareFlags, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, move_into_link_name_space, set_capabilities, unshare_unsafe,
};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;

/// A switch for tests. While it is set, to any value, boxes do without namespaces, as on machines that allow none.
pub(super) const WITHOUT_VARIABLE: &str = "TOLOK_NO_NAMESPACE";

/// What the programs of a box need: mounts, namespaces and network devices. Entering a mount namespace takes two
/// capabilities.
const NEEDED: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::SYS_CHROOT).union(CapabilitySet::NET_ADMIN);

/// The namespaces that a box wants from the keeper. The init makes those for mounts and IPC itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kinds {
    pub(super) pid: bool,
    pub(super) net: bool,
}

/// What lets a process make namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Right {
    /// It is root, or has root's capabilities.
    Own,
    /// It is root in a user namespace.
    UserNamespace,
}

impl Kinds {
    fn flags(self) -> UnshareFlags {
        let when = |wanted: bool, flag| if wanted { flag } else { UnshareFlags::empty() };
        when(self.pid, UnshareFlags::NEWPID) | when(self.net, UnshareFlags::NEWNET)
    }
}

/// Whether the box can have its own mounts, as far as this can be known without trying.
pub fn can_separate() -> bool {
    if std::env::var_os(WITHOUT_VARIABLE).is_some() {
        return false;
    }
    let is_able = capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_ADMIN));
    is_able || Machine::read_rights().user_namespaces == Some(true)
}

/// Makes all these namespaces at once, in whichever way is allowed.
///
/// After an error the process may be partly inside a namespace and cannot go back. Some kernels let every user make a
/// user namespace but refuse what makes it usable, as Ubuntu's AppArmor does. So call this only in throw-away
/// processes.
pub(super) fn try_all(kinds: Kinds) -> io::Result<Right> {
    if std::env::var_os(WITHOUT_VARIABLE).is_some() {
        return Err(io::Error::other(format!("{WITHOUT_VARIABLE} is set")));
    }
    let Err(refused) = unshare(kinds.flags()) else { return Ok(Right::Own) };
    // The user namespace has only this process's account, but servers started by root change to another one.
    if geteuid().is_root() {
        return Err(refused);
    }
    enter_user_namespace()?;
    unshare(kinds.flags()).map(|()| Right::UserNamespace)
}

/// Enters a user namespace in which the user keeps their name but has root's capabilities.
pub(super) fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    keep_rights_for_programs()
}

/// Without root, a program has no capabilities, even in a user namespace, unless it inherits them. The init needs them
/// to mount, and other programs to make network devices.
fn keep_rights_for_programs() -> io::Result<()> {
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: own.inheritable | NEEDED, ..own })?;
    for right in NEEDED.iter() {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// Gives the next program of this process what is left of these capabilities, after they were dropped for all others.
/// It makes system calls only.
pub(super) fn hand_rights_to_next_program() -> io::Result<()> {
    let own = capabilities(None)?;
    for right in (own.inheritable & own.permitted & NEEDED).iter() {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// Undoes that for third-party programs.
pub(super) fn drop_rights_of_programs() -> io::Result<()> {
    Ok(clear_ambient_capability_set()?)
}

/// Makes the next child process 1 of a new pid namespace, and later children its members.
pub(super) fn new_pid_namespace_for_children() -> io::Result<()> {
    unshare(UnshareFlags::NEWPID)
}

/// Enters a new network namespace and returns a file for entering it again. It has no name that would outlive its
/// processes.
pub(super) fn enter_new_network() -> io::Result<File> {
    unshare(UnshareFlags::NEWNET)?;
    File::open("/proc/self/ns/net")
}

/// Enters an existing network namespace.
pub(super) fn enter_network(file: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Enters a new mount namespace.
pub(super) fn separate_mounts() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)
}

/// Enters an existing mount namespace, and returns to the working folder.
pub(crate) fn enter_mounts(file: &File, folder: impl AsFd) -> io::Result<()> {
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Mount))?;
    Ok(fchdir(folder)?)
}

/// Enters a new namespace for shared memory, message queues and semaphores.
pub(super) fn separate_ipc() -> io::Result<()> {
    unshare(UnshareFlags::NEWIPC)
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: no flag used here affects file descriptors or working folders that threads share. The callers (keeper,
    // init and probe) have one thread.
    Ok(unsafe { unshare_unsafe(flags) }?)
}
