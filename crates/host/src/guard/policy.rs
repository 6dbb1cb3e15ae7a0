//! Which protections the programs of a trial get, given what the machine has. Does no I/O.

/// What decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// tolok runs as root, even in a container.
    pub root: bool,
    /// It may change to unused accounts.
    pub other_accounts: bool,
    /// It may create mounts of its own.
    pub mounts: bool,
    /// Every account can reach what programs need.
    pub reachable: bool,
    /// Every account can read it too, once it can reach it.
    pub readable: bool,
    /// The kernel accepts system call filters.
    pub filter: bool,
}

/// How far a protection applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Wholly(&'static str),
    Partly(&'static str),
    Not(&'static str),
}

impl Facts {
    /// Whether programs run under accounts without rights. This requires that the account can reach the program.
    pub fn gives_accounts(self) -> bool {
        self.root && self.other_accounts && self.readable && (self.mounts || self.reachable)
    }
}

/// Each protection by name, with how far it applies and why.
pub fn held(facts: Facts) -> [(&'static str, Held); 6] {
    [
        ("account without rights", account(facts)),
        ("no new privileges", Held::Wholly("sudo and the like have no effect")),
        ("filter of system calls", filter(facts)),
        ("read-only view", view(facts)),
        ("homes and other runs hidden", hidden(facts)),
        ("rights of tolok itself", own(facts)),
    ]
}

fn account(facts: Facts) -> Held {
    match facts {
        Facts { root: false, .. } => Held::Partly("programs run as you: only root can give them another account"),
        Facts { other_accounts: false, .. } => {
            Held::Not("programs run as root: this container has no other account, or refuses to change to one")
        }
        Facts { readable: false, .. } => Held::Not(
            "programs run as root: others may not read what they need, as after a umask of 077; `chmod -R go+rX` the \
             checkout and tolok's cache folder",
        ),
        _ if facts.gives_accounts() => {
            Held::Wholly("subject, database and load tools have one each; tolok's own engine has none")
        }
        _ => Held::Not(
            "programs run as root: others cannot enter the folders of what they need, and no mount can lead there; put \
             the checkout and XDG_CACHE_HOME where all may read",
        ),
    }
}

fn filter(facts: Facts) -> Held {
    if facts.filter {
        return Held::Wholly("mounts, ptrace, bpf, modules, keys and the like are refused");
    }
    Held::Not("this kernel has no seccomp filters for this processor")
}

fn view(facts: Facts) -> Held {
    match facts {
        Facts { mounts: true, .. } => Held::Wholly("programs write only below their own folder, /tmp and /dev/shm"),
        _ if facts.gives_accounts() => Held::Partly("no mounts here: the account may write where everybody may"),
        _ => Held::Not("no mounts here: programs may write where tolok may"),
    }
}

fn hidden(facts: Facts) -> Held {
    match facts {
        Facts { mounts: true, .. } => {
            Held::Wholly("programs see their sources, builds and toolbox, and no home beside")
        }
        _ if facts.gives_accounts() => Held::Partly("no mounts here: the account reads what everybody may read"),
        _ => Held::Not("no mounts here: programs read what tolok may read"),
    }
}

fn own(facts: Facts) -> Held {
    if facts.root {
        return Held::Wholly("those that measuring uses; none for modules, devices, clocks or reboots");
    }
    Held::Wholly("those of an ordinary user")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: Facts =
        Facts { root: true, other_accounts: true, mounts: true, reachable: false, readable: true, filter: true };

    /// A letter for each protection: held wholly, partly or not.
    fn letters(facts: Facts) -> String {
        let letter = |(_, held)| match held {
            Held::Wholly(_) => 'w',
            Held::Partly(_) => 'p',
            Held::Not(_) => 'n',
        };
        held(facts).map(letter).iter().collect()
    }

    #[test]
    fn every_machine_holds_what_it_can() {
        assert_eq!(letters(ROOT), "wwwwww");
        let user = Facts { root: false, other_accounts: false, ..ROOT };
        assert_eq!(letters(user), "pwwwww");
        let no_namespaces = Facts { mounts: false, ..user };
        assert_eq!(letters(no_namespaces), "pwwnnw");
        // A container without privileges whose programs are in root's home, and one where all accounts can read them.
        let container = Facts { mounts: false, ..ROOT };
        assert_eq!(letters(container), "nwwnnw");
        assert_eq!(letters(Facts { reachable: true, ..container }), "wwwppw");
        assert_eq!(letters(Facts { readable: false, ..ROOT }), "nwwwww");
        let single = Facts { other_accounts: false, ..ROOT };
        assert_eq!(letters(Facts { filter: false, ..single }), "nwnwww");
    }

    #[test]
    fn no_account_is_given_that_cannot_reach_its_program() {
        assert!(ROOT.gives_accounts());
        assert!(!Facts { mounts: false, ..ROOT }.gives_accounts());
        assert!(!Facts { readable: false, ..ROOT }.gives_accounts());
        assert!(!Facts { root: false, reachable: true, ..ROOT }.gives_accounts());
    }
}
