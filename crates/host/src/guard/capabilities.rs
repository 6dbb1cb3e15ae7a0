//! The capabilities that the lab itself keeps.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

/// For namespaces, mounts and network devices; packets and counters; other processes' groups, accounts and priorities;
/// and files of all owners, because tolok builds and stores in other users' folders.
const USED: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::PERFMON)
    .union(CapabilitySet::SYS_PTRACE)
    .union(CapabilitySet::SYS_NICE)
    .union(CapabilitySet::SYS_RESOURCE)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::IPC_LOCK);

/// Drops all other capabilities, for this process and all that it starts: modules, clocks, devices, reboots. The
/// process must have one thread. Without any capabilities this does nothing, and what cannot be dropped stays.
pub fn keep_only_what_is_used() {
    let Ok(own) = capabilities(None) else { return };
    if own.permitted.is_empty() {
        return;
    }
    for right in (CapabilitySet::all() & !USED).iter() {
        let _ = remove_capability_from_bounding_set(right);
    }
    let CapabilitySets { effective, permitted, inheritable } = own;
    let sets =
        CapabilitySets { effective: effective & USED, permitted: permitted & USED, inheritable: inheritable & USED };
    let _ = set_capabilities(None, sets);
}
