//! The unprivileged account that servers switch to when they must be started as root.

use std::fs;

/// An account that owns nothing, and its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::run) struct Account {
    pub(in crate::run) user: String,
    pub(in crate::run) group: String,
    uid: u32,
    gid: u32,
}

/// The number that the kernel shows for unknown accounts, and that distributions give to `nobody`.
const OVERFLOW_ID: u32 = 65_534;

impl Account {
    /// `nobody` of this machine and its group, which Debian calls `nogroup` and others `nobody`.
    pub(in crate::run) fn unprivileged() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self::among(&read("/etc/passwd"), &read("/etc/group"))
    }

    fn among(passwd: &str, groups: &str) -> Self {
        let nogroup = id_of("nogroup", groups).map(|gid| ("nogroup", gid));
        let (group, gid) = nogroup.unwrap_or(("nobody", id_of("nobody", groups).unwrap_or(OVERFLOW_ID)));
        let uid = id_of("nobody", passwd).unwrap_or(OVERFLOW_ID);
        Self { user: "nobody".to_owned(), group: group.to_owned(), uid, gid }
    }

    /// Its number and that of its group.
    pub(in crate::run) fn ids(&self) -> (u32, u32) {
        (self.uid, self.gid)
    }
}

/// The number of a name in `/etc/passwd` or `/etc/group`, where it is the third field.
fn id_of(name: &str, text: &str) -> Option<u32> {
    let fields = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    fields.filter(|fields| fields.first() == Some(&name)).find_map(|fields| fields.get(2)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_and_numbers_are_those_of_the_machine() {
        let check = |passwd, groups, expect: (&str, u32, u32)| {
            let (group, uid, gid) = expect;
            let expect = Account { user: "nobody".to_owned(), group: group.to_owned(), uid, gid };
            assert_eq!(Account::among(passwd, groups), expect);
        };
        let debian = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n";
        check(debian, "root:x:0:\nnogroup:x:65533:\n", ("nogroup", 65_534, 65_533));
        check("nobody:x:99:99::/:/sbin/nologin\n", "nobody:x:98:\n", ("nobody", 99, 98));
        check("", "not a group file\n\n", ("nobody", 65_534, 65_534));
    }
}
