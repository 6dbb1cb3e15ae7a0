//! What this process may do, as far as that can be read without trying it.

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::parse;

/// What this process may do. `None` is only known once it is tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// It holds the rights of an administrator, at least in its own user namespace.
    pub administrator: Option<bool>,
    /// It may take any priority.
    pub priorities: Option<bool>,
    /// It may measure with perf events at any setting.
    pub perf_events: Option<bool>,
    /// It may make user namespaces.
    pub user_namespaces: Option<bool>,
    /// It may make network namespaces, be it within a user namespace.
    pub network_namespaces: Option<bool>,
    /// It may open `/dev/net/tun`, which an emulated link is made of.
    pub tun: Option<bool>,
}

// Numbers of capabilities, from `capability.h`.
const SYS_ADMIN: u32 = 21;
const SYS_NICE: u32 = 23;
const PERFMON: u32 = 38;

pub(super) fn read(files: Files) -> Rights {
    let status = files.text("proc/self/status").unwrap_or_default();
    let capabilities = parse::capabilities(&status);
    let holds = |number: u32| capabilities.map(|set| set >> number & 1 == 1);
    // The rights of root inside a user namespace do not reach the whole machine.
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

/// Opening it makes no device yet.
fn tun(files: Files) -> Option<bool> {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(files.path("dev/net/tun"));
    files.exists("dev").then_some(opened.is_ok())
}

/// Three switches forbid them, each to other people: the kernel's to all, Debian's and Ubuntu's to those without rights.
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
    // A filter of system calls, as containers have, forbids them without a trace.
    let filtered = parse::field(status, "Seccomp").is_some_and(|mode| mode == "2");
    if forbidden { Some(false) } else { (!filtered).then_some(true) }
}
