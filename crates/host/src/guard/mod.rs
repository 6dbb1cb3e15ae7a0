//! Keeps the programs of a trial away from the rest of the machine. They get an account without rights, no new
//! privileges, a system call filter, and a view of the files that is mostly read-only and hides much.
//!
//! [`policy`] decides which of them a machine allows, and does no I/O. The others act in a child before its program:
//! [`Guard`] on the child itself, [`view`] on mounts.

mod accounts;
mod capabilities;
mod filter;
mod own_hand;
mod policy;
mod reach;
mod view;

use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities as own_capabilities, clear_ambient_capability_set, set_capabilities,
    set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};
use seccompiler::BpfProgram;

pub use accounts::Accounts;
pub use capabilities::keep_only_what_is_used;
pub(crate) use own_hand::SelfGuard;
pub use policy::{Facts, Held, held};
pub use reach::{closed_inside, make_open_folder, open_to_accounts, others_reach};
pub(crate) use view::View;

/// Whether the kernel accepts system call filters on this processor.
pub fn has_filter() -> bool {
    filter_program().is_some()
}

/// The system call filter, compiled once. `None` where the kernel or the processor has no filter.
fn filter_program() -> Option<Arc<BpfProgram>> {
    static PROGRAM: LazyLock<Option<Arc<BpfProgram>>> = LazyLock::new(|| {
        let has_filters = Path::new("/proc/sys/kernel/seccomp/actions_avail").exists();
        has_filters.then(filter::program)?.ok().map(Arc::new)
    });
    PROGRAM.clone()
}

/// What a server that must stay root may do: take ownership of files, read and write them, change to another account,
/// listen.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// What a process gives up before it executes a third-party program. Made before the fork, applied after it.
#[derive(Debug, Clone)]
pub struct Guard {
    /// The user and group to change to.
    account: Option<u32>,
    /// The capabilities to keep when the account stays the same.
    kept: CapabilitySet,
    /// `None` where the kernel or the processor has no filter.
    filter: Option<Arc<BpfProgram>>,
}

impl Guard {
    /// For a third-party program, with or without an account of its own.
    pub fn of(account: Option<u32>) -> Self {
        Self { account, kept: OF_ROOT, filter: filter_program() }
    }

    /// For a process of tolok that runs third-party programs. Those keep no capabilities.
    fn of_own(account: Option<u32>) -> Self {
        Self { kept: CapabilitySet::empty(), ..Self::of(account) }
    }

    /// For tolok's own load engine. It keeps only what it needs to write its files and raise its limit of connections.
    pub fn of_engine() -> Self {
        Self { account: None, kept: CapabilitySet::SYS_RESOURCE.union(CapabilitySet::DAC_OVERRIDE), ..Self::of(None) }
    }

    /// Gives up the rights. It only makes system calls, so it may run between fork and exec.
    pub(crate) fn apply(&self) -> io::Result<()> {
        match self.account {
            Some(number) => {
                let (user, group) = (Uid::from_raw(number), Gid::from_raw(number));
                set_thread_groups(&[])?;
                set_thread_res_gid(group, group, group)?;
                // Changing the user drops all capabilities.
                set_thread_res_uid(user, user, user)?;
            }
            None => {
                let own = own_capabilities(None)?;
                let kept = own.permitted & self.kept;
                clear_ambient_capability_set()?;
                set_capabilities(
                    None,
                    CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() },
                )?;
            }
        }
        set_no_new_privs(true)?;
        match &self.filter {
            // Without a filter, everything else still applies.
            Some(filter) => seccompiler::apply_filter(filter).map_err(|_| io::ErrorKind::PermissionDenied.into()),
            None => Ok(()),
        }
    }
}
