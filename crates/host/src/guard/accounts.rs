//! Accounts without rights, which exist only as numbers.
//!
//! `nobody` is unsuitable: files of other machines may belong to it, and services that run as `nobody` could read each
//! other's memory and kill each other. The numbers come from the range that systemd reserves for the same purpose. They
//! are below 65,536, so containers and user namespaces of the usual size have them as well.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// systemd's `DynamicUser=` uses these. No distribution assigns them.
const RANGE: std::ops::RangeInclusive<u32> = 61_184..=65_519;
/// The number of fields of [`Accounts`].
const EACH: u32 = 3;

/// The accounts of a run. Each part has its own, so no part can reach another's processes and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    pub subject: u32,
    pub database: u32,
    pub generator: u32,
}

impl Accounts {
    /// Accounts that are unused on this machine now, or `None` if there are none. Two runs at once get different ones.
    pub fn free() -> Option<Self> {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let mut taken = numbers_in(&read("/etc/passwd"));
        taken.extend(numbers_in(&read("/etc/group")));
        taken.extend(owners_of_processes(Path::new("/proc")));
        let maps = ["/proc/self/uid_map", "/proc/self/gid_map"].map(read);
        let is_mapped = |number: u32| maps.iter().all(|map| is_in_map(number, map));
        Self::among(std::process::id(), &|number| !taken.contains(&number) && is_mapped(number))
    }

    /// The first free accounts, starting at a number that depends on the process.
    fn among(process: u32, is_free: &dyn Fn(u32) -> bool) -> Option<Self> {
        let many = (RANGE.end() - RANGE.start() + 1) / EACH;
        let tries = (0..many).map(|step| RANGE.start() + (process.wrapping_add(step) % many) * EACH);
        let first = tries.into_iter().find(|first| (0..EACH).all(|number| is_free(first + number)))?;
        Some(Self { subject: first, database: first + 1, generator: first + 2 })
    }

    /// The account of a part of a box; the part may be one of several servers.
    pub(crate) fn of_part(self, part: &str) -> u32 {
        match part.split('/').next() {
            Some("database") => self.database,
            Some("generator") => self.generator,
            _ => self.subject,
        }
    }
}

/// The third fields of lines like those of `/etc/passwd`.
fn numbers_in(text: &str) -> BTreeSet<u32> {
    text.lines().filter_map(|line| line.split(':').nth(2)?.parse().ok()).collect()
}

fn owners_of_processes(proc: &Path) -> BTreeSet<u32> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let of_process = entries.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    of_process.filter_map(|entry| Some(entry.metadata().ok()?.uid())).collect()
}

/// Whether a number is mapped in this user namespace, given lines of `inside outside length`.
fn is_in_map(number: u32, map: &str) -> bool {
    map.lines().any(|line| {
        let fields: Vec<u64> = line.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        matches!(fields[..], [inside, _, length] if (inside..inside + length).contains(&u64::from(number)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_free_each_has_its_own_and_runs_differ() {
        let all = |_| true;
        let (one, other) = (Accounts::among(100, &all).unwrap(), Accounts::among(101, &all).unwrap());
        let of = |accounts: Accounts| BTreeSet::from([accounts.subject, accounts.database, accounts.generator]);
        assert_eq!((of(one).len(), of(one).intersection(&of(other)).count()), (3, 0));
        assert!(of(one).iter().all(|number| RANGE.contains(number)));
        let next = Accounts::among(100, &|number| number != one.database).unwrap();
        assert_eq!(next, other, "if one account is taken, the whole next set is used");
        assert_eq!(Accounts::among(100, &|_| false), None);
        assert_eq!((one.of_part("subject/2"), one.of_part("database")), (one.subject, one.database));
    }

    #[test]
    fn what_is_taken_and_what_is_mapped_is_read() {
        assert_eq!(numbers_in("root:x:0:0:root:/root:/bin/sh\nx\nann:x:61184:100::/:/bin/sh\n"), [0, 61_184].into());
        assert!(is_in_map(61_184, "         0          0 4294967295\n"));
        assert!(is_in_map(61_184, "0 1000 1\n1 100000 65536\n"));
        assert!(!is_in_map(61_184, "0 1000 1\n"), "the only account there is root");
        assert!(owners_of_processes(Path::new("/proc")).contains(&rustix::process::geteuid().as_raw()));
    }
}
