//! What keeps the programs of a trial away from the rest of the machine: an account without rights, no new privileges, a
//! filter of system calls, and a view of the files in which nothing can be written and little can be seen.
//!
//! [`policy`] says which of them a machine lets tolok have, and looks at nothing. The others act, in a child before its
//! program: [`Guard`] on itself, [`view`] on mounts.

mod accounts;
mod capabilities;
mod filter;
mod own_hand;
mod policy;
mod reach;
mod view;

use std::io;
use std::sync::Arc;

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

/// Whether the kernel takes filters of system calls, on this processor.
pub fn has_filter() -> bool {
    filter::program().is_ok() && std::path::Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

/// What a server that must stay root may do: make files its own, read and write them, change to another account, listen.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// What a process gives up before it becomes a program of others. Made before the fork, applied after it.
#[derive(Debug, Clone)]
pub struct Guard {
    /// User and group that it changes to.
    account: Option<u32>,
    /// The rights that it keeps where it stays who it is.
    kept: CapabilitySet,
    /// Nothing where the kernel has none.
    filter: Option<Arc<BpfProgram>>,
}

impl Guard {
    /// For a program of others: under an account, or without.
    pub fn of(account: Option<u32>) -> Self {
        Self { account, kept: OF_ROOT, filter: filter::program().ok().map(Arc::new) }
    }

    /// For a process of tolok's whose programs are the others: nothing is left to them.
    fn of_own(account: Option<u32>) -> Self {
        Self { kept: CapabilitySet::empty(), ..Self::of(account) }
    }

    /// For tolok's own load engine, which writes its files, and raises its limit of connections: only the rest is taken.
    pub fn of_engine() -> Self {
        Self { account: None, kept: CapabilitySet::SYS_RESOURCE.union(CapabilitySet::DAC_OVERRIDE), ..Self::of(None) }
    }

    /// Gives up what is to be given up. It makes system calls only, and so may stand between fork and exec.
    pub(crate) fn apply(&self) -> io::Result<()> {
        match self.account {
            Some(number) => {
                let (user, group) = (Uid::from_raw(number), Gid::from_raw(number));
                set_thread_groups(&[])?;
                set_thread_res_gid(group, group, group)?;
                // All rights go with it.
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
            // Without a filter in the kernel, everything else holds.
            Some(filter) => seccompiler::apply_filter(filter).map_err(|_| io::ErrorKind::PermissionDenied.into()),
            None => Ok(()),
        }
    }
}
