//! Readers of `/proc` that several modules share.

use std::fs;
use std::path::Path;

/// `/proc` gives CPU time in hundredths of a second (`USER_HZ`, fixed at 100 for programs on Linux).
pub(crate) const TICKS_PER_S: u32 = 100;
/// The inode of the machine's first pid namespace, the same on every kernel (`PROC_PID_INIT_INO`).
pub(crate) const FIRST_PID_NAMESPACE: u64 = 4_026_531_836;

/// The inode of this process's pid namespace, from the link `pid:[<inode>]`.
pub(crate) fn pid_namespace(proc: &Path) -> Option<u64> {
    let link = fs::read_link(proc.join("self/ns/pid")).ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

/// The `stat` of a process. It contains the program's name, which can be any bytes.
pub(crate) fn stat(proc: &Path, pid: u32) -> Option<String> {
    let stat = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
    Some(String::from_utf8_lossy(&stat).into_owned())
}

/// The name of a process and the fields after it in its `stat`: state, parent, … The name is in parentheses and may
/// itself contain spaces and parentheses.
pub(crate) fn name_and_fields(stat: &str) -> Option<(&str, impl Iterator<Item = &str>)> {
    let (head, fields) = stat.rsplit_once(')')?;
    Some((head.split_once('(')?.1, fields.split_whitespace()))
}

/// The microseconds after `total=` in the line `some avg10=… total=…`. The averages before it cover fixed periods, so
/// they are useless for a window.
pub(crate) fn pressure_some_total_us(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}
