//! What this process may do, as far as that is readable without trying it.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;

/// What this process may do. `None` means that only trying can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// It has administrator capabilities, at least in its own user namespace.
    pub administrator: Option<bool>,
    /// It may take any priority.
    pub priorities: Option<bool>,
    /// It may use perf events whatever the setting.
    pub perf_events: Option<bool>,
    /// It may make user namespaces.
    pub user_namespaces: Option<bool>,
    /// It may make network namespaces, even if only within a user namespace.
    pub network_namespaces: Option<bool>,
    /// It may open `/dev/net/tun`, which emulated links need.
    pub tun: Option<bool>,
}

// Capability numbers, from `capability.h`.
const SYS_ADMIN: u32 = 21;
const SYS_NICE: u32 = 23;
const PERFMON: u32 = 38;

pub(super) fn read(files: Files) -> Rights {
    let status = files.text("proc/self/status").unwrap_or_default();
    let capabilities = parse::capabilities(&status);
    let holds = |number: u32| capabilities.map(|set| set >> number & 1 == 1);
    // Root's capabilities inside a user namespace do not apply to the whole machine.
    let whole_machine = files.text("proc/self/uid_map").is_none_or(|map| parse::is_whole_uid_map(&map));
    let administrator = holds(SYS_ADMIN);
    let user_namespaces = user_namespaces(files, &status, administrator);
    let network_namespaces = match (files.exists("proc/self/ns/net"), administrator) {
        (false, _) => files.exists("proc/self").then_some(false),
        (true, Some(true)) => Some(true),
        (true, _) => user_namespaces,
    };
    Rights {
        administrator,
        priorities: holds(SYS_NICE).map(|held| held && whole_machine),
        perf_events: holds(PERFMON).map(|held| (held || administrator == Some(true)) && whole_machine),
        user_namespaces,
        network_namespaces,
        tun: tun(files),
    }
}

/// Opening it does not yet create a device.
fn tun(files: Files) -> Option<bool> {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(files.path("dev/net/tun"));
    files.exists("dev").then_some(opened.is_ok())
}

/// Three switches can forbid them: the kernel's for everyone, Debian's and Ubuntu's for unprivileged processes.
fn user_namespaces(files: Files, status: &str, administrator: Option<bool>) -> Option<bool> {
    if !files.exists("proc/self/ns/user") {
        return files.exists("proc/self").then_some(false);
    }
    if files.number("proc/sys/user/max_user_namespaces") == Some(0_u64) {
        return Some(false);
    }
    if administrator == Some(true) {
        return Some(true);
    }
    let forbidden = files.switch("proc/sys/kernel/unprivileged_userns_clone") == Some(false)
        || files.switch("proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(true);
    // A system call filter, as in containers, forbids them without a trace.
    let filtered = parse::field(status, "Seccomp").is_some_and(|mode| mode == "2");
    if forbidden { Some(false) } else { (!filtered).then_some(true) }
}
