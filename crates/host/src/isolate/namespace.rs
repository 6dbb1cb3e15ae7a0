//! Namespaces: which may be made here, and making them.
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

/// A switch for tests: while it is set, to whatever value, boxes do without a namespace, as they must on machines that
/// allow none.
pub(super) const WITHOUT_VARIABLE: &str = "TOLOK_NO_NAMESPACE";

/// What the programs of a box must be allowed to: mounts and namespaces (to enter one of mounts takes two rights), and
/// network devices.
const NEEDED: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::SYS_CHROOT).union(CapabilitySet::NET_ADMIN);

/// Which namespaces a box wants of the keeper. Those for mounts and IPC come with them, as the init makes them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kinds {
    pub(super) pid: bool,
    pub(super) net: bool,
}

/// What gives a process the right to make namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Right {
    /// It is root, or as good as.
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

/// Whether mounts of a box's own can be made, as far as can be told without a try.
pub fn can_separate() -> bool {
    if std::env::var_os(WITHOUT_VARIABLE).is_some() {
        return false;
    }
    let is_able = capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_ADMIN));
    is_able || Machine::read_rights().user_namespaces == Some(true)
}

/// Makes all these namespaces at once, in whichever way is allowed.
///
/// After an error the process may be half inside a namespace, and no way leads back: some kernels let every user make a
/// user namespace and then refuse what makes it usable, as Ubuntu's AppArmor does. So this is for throw-away processes.
pub(super) fn try_all(kinds: Kinds) -> io::Result<Right> {
    if std::env::var_os(WITHOUT_VARIABLE).is_some() {
        return Err(io::Error::other(format!("{WITHOUT_VARIABLE} is set")));
    }
    let Err(refused) = unshare(kinds.flags()) else { return Ok(Right::Own) };
    // Of the accounts of this machine only the own one exists in the user namespace, but servers of root's change to
    // another one.
    if geteuid().is_root() {
        return Err(refused);
    }
    enter_user_namespace()?;
    unshare(kinds.flags()).map(|()| Right::UserNamespace)
}

/// Enters a user namespace in which the user keeps the own name and may do what root may.
pub(super) fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    keep_rights_for_programs()
}

/// A program that another user than root starts has no rights, even in a user namespace, unless it inherits
/// them: the init, which mounts, and those that make network devices.
fn keep_rights_for_programs() -> io::Result<()> {
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: own.inheritable | NEEDED, ..own })?;
    for right in NEEDED.iter() {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// Lets the next program of this process have what this one has left of these rights, after they were dropped for all
/// others. It makes system calls only.
pub(super) fn hand_rights_to_next_program() -> io::Result<()> {
    let own = capabilities(None)?;
    for right in (own.inheritable & own.permitted & NEEDED).iter() {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// Undoes that for the programs of others.
pub(super) fn drop_rights_of_programs() -> io::Result<()> {
    Ok(clear_ambient_capability_set()?)
}

/// Makes the next child process 1 of a pid namespace, and all others that come after it members of it.
pub(super) fn new_pid_namespace_for_children() -> io::Result<()> {
    unshare(UnshareFlags::NEWPID)
}

/// Enters a new network namespace and returns the file by which it can be entered again. It has no name that would
/// outlive its processes.
pub(super) fn enter_new_network() -> io::Result<File> {
    unshare(UnshareFlags::NEWNET)?;
    File::open("/proc/self/ns/net")
}

/// Enters a network namespace that was made before.
pub(super) fn enter_network(file: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Enters a new mount namespace.
pub(super) fn separate_mounts() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)
}

/// Enters a mount namespace that was made before, and goes back to the working folder.
pub(crate) fn enter_mounts(file: &File, folder: impl AsFd) -> io::Result<()> {
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Mount))?;
    Ok(fchdir(folder)?)
}

/// Enters a new namespace for shared memory, message queues and semaphores.
pub(super) fn separate_ipc() -> io::Result<()> {
    unshare(UnshareFlags::NEWIPC)
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: none of the flags used here shares file descriptors or working folders again, and the keeper, the init and
    // the probe, which alone come here, have one thread.
    Ok(unsafe { unshare_unsafe(flags) }?)
}
