//! Whether limits leave room for a run at all. Otherwise some part of it would fail later, with an error that names no
//! limit.

use std::io;
use std::path::Path;

use super::files::Files;
use super::group_folders::GroupFolders;
use super::{limits, parse};

/// The processes and threads that a run of the smallest server has at once: 16 were too few, 20 were enough.
const TASKS: u64 = 20;
/// The files that one process of such a run has open: 64 were too few, 96 were enough.
const OPEN_FILES: u64 = 96;

/// The limit that is too low for any run, and what to do about it.
pub fn too_little_room() -> Option<String> {
    lack(Files::below(Path::new("/")))
}

/// Why the system did not start a process or thread, and what to do if a limit is the reason.
pub fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock => format!(
            "{error}: the account or the control group has all the processes and threads that it may have; raise `ulimit -u` or \
             `pids.max`"
        ),
        _ => error.to_string(),
    }
}

pub(super) fn lack(files: Files) -> Option<String> {
    let found = limits::read(files, &GroupFolders::read(files));
    let open_files = found.nofile.and_then(|limit| limit.soft).filter(|most| *most < OPEN_FILES);
    let open_files = open_files.map(|most| {
        format!("a process may open {most} files here, and a run needs {OPEN_FILES} or more: raise `ulimit -n`, such as to 1024")
    });
    let of_account = || {
        let most = found.nproc?.soft?;
        let has = tasks_of_account(files)?;
        too_few("this account", most, has, "`ulimit -u`")
    };
    let of_group = || {
        let folder = GroupFolders::read(files).of("pids")?;
        let mut groups = folder.upwards();
        groups.find_map(|group| {
            let (most, has) = (files.number(group.join("pids.max"))?, files.number(group.join("pids.current"))?);
            too_few("this control group", most, has, &format!("`pids.max` in {}", group.display()))
        })
    };
    open_files.or_else(of_account).or_else(of_group)
}

fn too_few(who: &str, most: u64, has: u64, limit: &str) -> Option<String> {
    (most < has + TASKS).then(|| {
        format!(
            "{who} may have {most} processes and threads and has {has}, and a run needs about {TASKS} more: raise {limit}"
        )
    })
}

/// Tasks that count towards the limit of this process's account. `None` if the limit does not apply to it, as for root.
fn tasks_of_account(files: Files) -> Option<u64> {
    let own = files.text("proc/self/status")?;
    let account = account_of(&own).filter(|account| *account != 0)?;
    // SYS_ADMIN and SYS_RESOURCE, for the whole machine.
    let whole_machine = files.text("proc/self/uid_map").is_none_or(|map| parse::is_whole_uid_map(&map));
    if whole_machine && parse::capabilities(&own).is_some_and(|set| set & (1 << 21 | 1 << 24) != 0) {
        return None;
    }
    let processes = files.names("proc").into_iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    let statuses = processes.filter_map(|process| files.text(format!("proc/{process}/status")));
    Some(
        statuses
            .filter(|status| account_of(status) == Some(account))
            .filter_map(|status| field(&status, "Threads:"))
            .sum(),
    )
}

fn account_of(status: &str) -> Option<u64> {
    field(status, "Uid:")
}

/// The first number in a line of a `status` file.
fn field(status: &str, name: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}
