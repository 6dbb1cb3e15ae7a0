//! Names of groups: which names are valid, and which identify the owner.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use super::GroupError;
use crate::procfs;

/// The group name of one tolok process, `tolok-<boot>-<pid>-<start>`. Unless the pid counts in the machine's first pid
/// namespace, `-ns<inode>` of its namespace follows. A later session can thus tell whether the owner is alive, even if
/// the pid was reused or the machine rebooted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupName {
    /// The first 8 digits of the boot id.
    boot: String,
    pid: u32,
    /// When the process started, in clock ticks after boot.
    start_ticks: u64,
    /// The pid namespace, if it is not the machine's first.
    namespace: Option<u64>,
}

impl GroupName {
    pub fn own() -> io::Result<Self> {
        Self::of(Path::new("/proc"), std::process::id())
    }

    /// The name of a living process, given a folder like `/proc`.
    pub fn of(proc: &Path, pid: u32) -> io::Result<Self> {
        let unknown = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("no {what} of process {pid}"));
        let boot = boot(proc).ok_or_else(|| unknown("boot id"))?;
        let start_ticks = start_ticks(proc, pid).ok_or_else(|| unknown("start time"))?;
        Ok(Self { boot, pid, start_ticks, namespace: later_namespace(proc) })
    }

    /// Parses a name, or returns `None` unless it has exactly the form that [`GroupName`] writes.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix("tolok-")?.split('-');
        let read = Self {
            boot: parts.next().filter(|boot| is_boot(boot))?.to_owned(),
            pid: parts.next()?.parse().ok()?,
            start_ticks: parts.next()?.parse().ok()?,
            namespace: parts.next().and_then(|part| part.strip_prefix("ns")?.parse().ok()),
        };
        // Signs, leading zeros and extra parts all fail here.
        (read.to_string() == name).then_some(read)
    }

    /// Whether the owner is alive, given a folder like `/proc`. In doubt it returns true, since a living owner's group
    /// must not be touched.
    pub fn is_alive(&self, proc: &Path) -> bool {
        let Some(boot) = boot(proc) else { return true };
        if boot != self.boot {
            return false;
        }
        // From another pid namespace the owner may be invisible or have another pid.
        if later_namespace(proc) != self.namespace {
            return true;
        }
        start_ticks(proc, self.pid) == Some(self.start_ticks)
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tolok-{}-{}-{}", self.boot, self.pid, self.start_ticks)?;
        self.namespace.map_or(Ok(()), |inode| write!(f, "-ns{inode}"))
    }
}

fn boot(proc: &Path) -> Option<String> {
    let id = fs::read_to_string(proc.join("sys/kernel/random/boot_id")).ok()?;
    id.get(..8).filter(|boot| is_boot(boot)).map(str::to_owned)
}

/// The inode of this process's pid namespace; `None` if it is unknown or the machine's first.
fn later_namespace(proc: &Path) -> Option<u64> {
    procfs::pid_namespace(proc).filter(|inode| *inode != procfs::FIRST_PID_NAMESPACE)
}

fn is_boot(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The start time of a living process: field 22 of `stat`. Field 3 marks zombies, which
/// some containers never reap.
fn start_ticks(proc: &Path, pid: u32) -> Option<u64> {
    let stat = procfs::stat(proc, pid)?;
    let mut fields = procfs::name_and_fields(&stat)?.1;
    let lives = !matches!(fields.next()?, "Z" | "X");
    lives.then(|| fields.nth(18)?.parse().ok()).flatten()
}

/// Checks that a name is a single folder directly below its parent.
pub(super) fn check(name: &str) -> Result<(), GroupError> {
    let mark = |byte| matches!(byte, b'-' | b'_' | b'.');
    let allowed = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || mark(byte));
    if allowed && (1..=64).contains(&name.len()) && !name.bytes().next().is_some_and(mark) {
        return Ok(());
    }
    Err(GroupError::Name { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use tolok_testkit::{FakeProc, FakeProcess};

    use super::*;

    fn proc() -> FakeProc {
        let proc = FakeProc::new();
        proc.file("sys/kernel/random/boot_id", "752d3df0-07ff-4c65-a060-0c79137cf4a5\n");
        proc.process(&FakeProcess { pid: 42, name: "a) (b".into(), start_ticks: 777, ..FakeProcess::default() });
        proc
    }

    #[test]
    fn a_name_is_read_back_as_it_is_written() {
        let name = GroupName::of(proc().path(), 42).unwrap();
        assert_eq!(name.to_string(), "tolok-752d3df0-42-777");
        assert_eq!(GroupName::parse("tolok-752d3df0-42-777"), Some(name));
    }

    #[test]
    fn only_the_exact_form_is_a_name() {
        for name in [
            "",
            "tolok-",
            "tolok-self",
            "tolok-752d3df0-42",
            "tolok-752d3df0-42-777-1",
            "tolok-752d3df0-42-777-ns",
            "tolok-752d3df0-42-777-ns01",
            "tolok-752d3df0-42-777-ns1-2",
            "tolok-752d3df0-42-777.scope",
            "tolok-752d3df0-+42-777",
            "tolok-752d3df0-042-777",
            "tolok-752D3DF0-42-777",
            "tolok-752d3df-42-777",
            "tolok-752d3df0x-42-777",
            "Tolok-752d3df0-42-777",
            " tolok-752d3df0-42-777",
            "tolok-752d3df0-42-99999999999999999999",
        ] {
            assert_eq!(GroupName::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn an_owner_lives_if_number_start_and_boot_agree() {
        let proc = proc();
        for (name, alive) in [
            ("tolok-752d3df0-42-777", true),
            ("tolok-752d3df0-42-778", false),
            ("tolok-752d3df0-43-777", false),
            ("tolok-00000000-42-777", false),
        ] {
            assert_eq!(GroupName::parse(name).unwrap().is_alive(proc.path()), alive, "{name}");
        }
    }

    #[test]
    fn an_owner_that_has_ended_is_dead_before_its_parent_asks_after_it() {
        let proc = proc();
        let name = GroupName::of(proc.path(), 42).unwrap();
        proc.process(&FakeProcess { pid: 42, state: 'Z', start_ticks: 777, ..FakeProcess::default() });
        assert!(!name.is_alive(proc.path()));
    }

    #[test]
    fn an_owner_that_cannot_be_checked_counts_as_alive() {
        let gone = GroupName::parse("tolok-752d3df0-43-777").unwrap();
        assert!(gone.is_alive(FakeProc::new().path()), "without a boot id");
        let proc = proc();
        fs::create_dir_all(proc.path().join("self/ns")).unwrap();
        std::os::unix::fs::symlink("pid:[4026532600]", proc.path().join("self/ns/pid")).unwrap();
        assert!(gone.is_alive(proc.path()), "in a pid namespace");
        let earlier = GroupName::parse("tolok-00000000-43-777").unwrap();
        assert!(!earlier.is_alive(proc.path()), "nothing lives on from another boot");
    }

    #[test]
    fn in_a_pid_namespace_numbers_count_for_those_who_are_in_it() {
        let proc = proc();
        fs::create_dir_all(proc.path().join("self/ns")).unwrap();
        std::os::unix::fs::symlink("pid:[4026532600]", proc.path().join("self/ns/pid")).unwrap();
        let name = GroupName::of(proc.path(), 42).unwrap();
        assert_eq!(name.to_string(), "tolok-752d3df0-42-777-ns4026532600");
        assert_eq!(GroupName::parse(&name.to_string()), Some(name.clone()));
        let gone = GroupName { pid: 43, ..name.clone() };
        assert_eq!((name.is_alive(proc.path()), gone.is_alive(proc.path())), (true, false));
        let neighbour = GroupName { namespace: Some(4_026_532_601), ..gone.clone() };
        assert!(neighbour.is_alive(proc.path()), "processes of another pid namespace are not visible");
        assert!(gone.is_alive(self::proc().path()), "not even from the initial namespace");
    }

    #[test]
    fn this_process_is_alive() {
        let own = GroupName::own().unwrap();
        assert!(own.is_alive(Path::new("/proc")), "{own}");
        assert_eq!(GroupName::parse(&own.to_string()), Some(own));
    }

    #[test]
    fn no_name_leads_out_of_its_parent() {
        for name in ["subject", "lab", "a.b_c-1", "tolok-752d3df0-42-777"] {
            assert!(check(name).is_ok(), "{name}");
        }
        let long = "x".repeat(65);
        for name in ["", ".", "..", "../x", "a/b", "/x", ".hidden", "-x", "a b", "a\nb", "ä", "a\0", &long] {
            assert!(matches!(check(name), Err(GroupError::Name { .. })), "{name:?}");
        }
    }
}
