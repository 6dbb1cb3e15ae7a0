//! The system call filter. It refuses what no program of a trial needs, as if the program lacked the right.
//!
//! Everything else passes. The kernel determines once which calls pass whatever their arguments, and does not run the
//! filter for those again.

use std::io;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

/// Mounts and namespaces, other processes' memory, BPF and kernel modules, keys, and the machine as a whole.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
];

/// x86-64 has a second way to call the kernel (x32): the same numbers with this bit.
#[cfg(target_arch = "x86_64")]
const WAYS: [i64; 2] = [0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const WAYS: [i64; 1] = [0];

/// The filter as the kernel accepts it. Fails on processors for which there is none.
pub(super) fn program() -> io::Result<BpfProgram> {
    let unknown = |error: seccompiler::BackendError| io::Error::other(error.to_string());
    let arch: TargetArch = std::env::consts::ARCH.try_into().map_err(unknown)?;
    let numbers = REFUSED.iter().flat_map(|number| WAYS.map(|way| number | way));
    let rules = numbers.map(|number| (number, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(unknown)?;
    filter.try_into().map_err(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_short_and_names_each_call_once() {
        let mut numbers = REFUSED.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), REFUSED.len());
        // The kernel skips it for calls that always pass, but it should still be short.
        assert!(program().unwrap().len() < 500);
    }
}
