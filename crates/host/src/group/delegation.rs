//! How to get a group that this process may divide.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::{CgroupMode, Controller, Hierarchies};

/// Set in a process that was restarted in a group of its own, so that it does not restart again.
pub const DELEGATED: &str = "TOLOK_DELEGATED";

/// The controllers that limits need.
const NEEDED: [Controller; 4] = [Controller::Cpu, Controller::CpuSet, Controller::Memory, Controller::Pids];

/// What to do to get groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delegation {
    /// Nothing: all that is possible is available already.
    Have,
    /// Restart the same command behind these words, which set [`DELEGATED`] for it.
    ReexecUnder(Vec<String>),
    /// There is no way, for this reason.
    None(String),
}

/// What decides the delegation, besides the groups themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub root: bool,
    /// The program that requests a group from systemd.
    pub systemd_run: Option<PathBuf>,
    /// Whether systemd manages this machine.
    pub system_manager: bool,
    /// Whether this user's own systemd manager answers.
    pub user_manager: bool,
    /// Whether this process was already restarted in a group of its own.
    pub delegated: bool,
}

impl Surroundings {
    /// The surroundings of this process.
    pub fn find() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut candidates = std::env::split_paths(&path).map(|folder| folder.join("systemd-run"));
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let answers = |folder: PathBuf| {
            // The socket remains when a manager ends, so only a connection counts.
            ["bus", "systemd/private"].iter().any(|socket| UnixStream::connect(folder.join(socket)).is_ok())
        };
        Self {
            root: rustix::process::geteuid().is_root(),
            systemd_run: candidates.find(|file| rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()),
            system_manager: Path::new("/run/systemd/system").is_dir(),
            user_manager: runtime.is_some_and(answers),
            delegated: std::env::var_os(DELEGATED).is_some(),
        }
    }
}

/// How to get groups. Call it after [`LeafCgroup::settle`](super::LeafCgroup::settle) has made what room it can.
pub fn delegation(hierarchies: &Hierarchies, surroundings: &Surroundings) -> Delegation {
    decide(hierarchies.layout(), &hierarchies.usable(), surroundings)
}

fn decide(layout: CgroupMode, usable: &BTreeSet<Controller>, surroundings: &Surroundings) -> Delegation {
    let missing: Vec<&Controller> = NEEDED.iter().filter(|controller| !usable.contains(controller)).collect();
    if missing.is_empty() {
        return Delegation::Have;
    }
    match ask_systemd(layout, surroundings) {
        Ok(command) => Delegation::ReexecUnder(command),
        // Some are better than none. For example, systemd gives users no cpuset.
        Err(_) if missing.len() < NEEDED.len() => Delegation::Have,
        Err(reason) => Delegation::None(reason.to_owned()),
    }
}

fn ask_systemd(layout: CgroupMode, surroundings: &Surroundings) -> Result<Vec<String>, &'static str> {
    match layout {
        CgroupMode::None => return Err("no control groups are mounted"),
        // systemd delegates no version 1 controllers.
        CgroupMode::V1 | CgroupMode::Hybrid if surroundings.root => {
            return Err("the control groups of version 1 are not writable here, as in many containers");
        }
        CgroupMode::V1 | CgroupMode::Hybrid => {
            return Err("only root may divide the control groups of version 1; start tolok as root");
        }
        CgroupMode::V2 => {}
    }
    if surroundings.delegated {
        return Err("systemd gave a group, but none of the controllers in it may be used");
    }
    let Some(program) = &surroundings.systemd_run else {
        return Err(
            "tolok may not divide the control group it is in, and there is no systemd-run to ask for one of its own",
        );
    };
    let managed = if surroundings.root { surroundings.system_manager } else { surroundings.user_manager };
    if !managed {
        return Err(
            "tolok may not divide the control group it is in, and no systemd answers that could give it one of its own",
        );
    }
    let whose = (!surroundings.root).then_some("--user");
    let options = ["--scope", "--quiet", "--collect", "-p", "Delegate=yes"].into_iter();
    let program = program.to_string_lossy().into_owned();
    let words = whose.into_iter().chain(options).map(str::to_owned);
    Ok(std::iter::once(program).chain(words).chain([format!("--setenv={DELEGATED}=1"), "--".to_owned()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[Controller] = &Controller::ALL;
    const CORE: &[Controller] = &[Controller::Core, Controller::CpuAccounting, Controller::Freezer];
    /// What systemd offers in an ordinary service, and to users.
    const FEW: &[Controller] = &[Controller::Core, Controller::Memory, Controller::Pids];
    const USER: &[Controller] = &[Controller::Core, Controller::Cpu, Controller::Memory, Controller::Pids];

    fn root() -> Surroundings {
        Surroundings { root: true, systemd_run: Some("/usr/bin/systemd-run".into()), system_manager: true, ..user() }
    }

    fn user() -> Surroundings {
        let systemd_run = Some("/usr/bin/systemd-run".into());
        Surroundings { systemd_run, system_manager: true, user_manager: true, ..Surroundings::default() }
    }

    /// The decision as one word or text.
    fn decided(layout: CgroupMode, usable: &[Controller], surroundings: &Surroundings) -> String {
        match decide(layout, &usable.iter().copied().collect(), surroundings) {
            Delegation::Have => "have".into(),
            Delegation::None(reason) => reason,
            Delegation::ReexecUnder(command) => command.join(" "),
        }
    }

    #[test]
    fn each_situation_has_its_way() {
        const BY_ROOT: &str =
            "/usr/bin/systemd-run --scope --quiet --collect -p Delegate=yes --setenv=TOLOK_DELEGATED=1 --";
        const BY_USER: &str =
            "/usr/bin/systemd-run --user --scope --quiet --collect -p Delegate=yes --setenv=TOLOK_DELEGATED=1 --";
        let delegated = |surroundings: Surroundings| Surroundings { delegated: true, ..surroundings };
        let no_program = |surroundings: Surroundings| Surroundings { systemd_run: None, ..surroundings };
        let unmanaged = |one: Surroundings| Surroundings { system_manager: false, user_manager: false, ..one };
        use CgroupMode::{Hybrid, V1, V2};
        for (layout, usable, surroundings, expected) in [
            (V1, ALL, root(), "have"),
            (Hybrid, ALL, root(), "have"),
            (V2, ALL, root(), "have"),
            (V2, ALL, user(), "have"),
            (V2, FEW, root(), BY_ROOT),
            (V2, CORE, root(), BY_ROOT),
            (V2, CORE, user(), BY_USER),
            (V2, &[], user(), BY_USER),
            (V2, USER, user(), BY_USER),
            (V2, USER, delegated(user()), "have"),
            (V2, FEW, unmanaged(root()), "have"),
            (V2, CORE, delegated(user()), "none of the controllers"),
            (V2, &[], no_program(user()), "no systemd-run"),
            (V2, &[], unmanaged(user()), "no systemd answers"),
            (V2, &[], unmanaged(root()), "no systemd answers"),
            (V1, &[], root(), "containers"),
            (V1, &[], user(), "start tolok as root"),
            (Hybrid, &[Controller::Memory], user(), "have"),
            (CgroupMode::None, &[], root(), "no control groups are mounted"),
        ] {
            let decided = decided(layout, usable, &surroundings);
            assert!(decided.contains(expected), "{layout} {usable:?} {surroundings:?}: {decided}");
            assert!(expected.starts_with('/') == decided.starts_with('/'), "{layout} {usable:?}: {decided}");
        }
    }

    #[test]
    fn a_process_that_was_started_again_is_never_started_again() {
        for layout in [CgroupMode::None, CgroupMode::V1, CgroupMode::Hybrid, CgroupMode::V2] {
            for usable in [ALL, CORE, FEW, USER, &[]] {
                for surroundings in [root(), user()] {
                    let again = Surroundings { delegated: true, ..surroundings };
                    let decided = decide(layout, &usable.iter().copied().collect(), &again);
                    assert!(!matches!(decided, Delegation::ReexecUnder(_)), "{layout} {usable:?}: {decided:?}");
                }
            }
        }
    }
}
