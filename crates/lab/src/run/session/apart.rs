//! What the programs of a trial need of this machine, and what is hidden from them.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::thread::{CapabilitySet, capabilities};
use tolok_host::guard::{Accounts, Facts, closed_inside, others_reach};
use tolok_host::isolate::{can_separate, session_folder};
use tolok_store::is_run;

use crate::home::user_folder;
use crate::run::session::Laboratory;
use crate::toolbox::Program;

/// Sources, builds, the toolbox, and tolok itself.
pub(super) fn shown(laboratory: &Laboratory) -> Vec<PathBuf> {
    let Laboratory { home, catalogue, programs, tolok, .. } = laboratory;
    let mut shown = vec![home.root().to_owned()];
    shown.extend(user_folder("XDG_CACHE_HOME", ".cache").ok());
    shown.extend(tolok.parent().map(Path::to_owned));
    // On its own, in case its folder is a home or the temporary folder.
    shown.push(tolok.clone());
    shown.extend(catalogue.subjects.iter().map(|subject| home.sources_of(subject)));
    shown.extend(programs.values().flat_map(parts_of));
    let commands = catalogue.subjects.iter().flat_map(|subject| &subject.processes).filter_map(|it| it.command.first());
    shown.extend(commands.filter(|word| word.starts_with('/') && !word.contains('{')).map(PathBuf::from));
    let mut shown: Vec<PathBuf> = shown.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    shown.sort();
    shown.dedup();
    let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter().chain([std::env::temp_dir()]);
    in_parts(shown, &homes().into_iter().chain(temporary).collect::<Vec<_>>())
}

/// Folders that many use are not shown as a whole. What is inside a shown folder needs no entry.
fn in_parts(mut shown: Vec<PathBuf>, shared: &[PathBuf]) -> Vec<PathBuf> {
    shown.retain(|path| path != Path::new("/") && !shared.contains(path));
    let all = shown.clone();
    let is_within = |path: &PathBuf| all.iter().any(|other| path != other && path.starts_with(other));
    shown.retain(|path| !is_within(path));
    shown
}

/// The installation tree of a program: what a version manager keeps in a home, or the folder above its `bin`, unless
/// that holds more than programs.
fn parts_of(program: &Program) -> Vec<PathBuf> {
    let path = fs::canonicalize(&program.path).unwrap_or_else(|_| program.path.clone());
    let extras = program.extras.values().filter(|value| value.starts_with('/')).map(PathBuf::from);
    extras.chain([tree_of(&path), tree_of(&program.path)]).collect()
}

fn tree_of(path: &Path) -> PathBuf {
    let in_home = homes().into_iter().find_map(|home| Some((path.strip_prefix(&home).ok()?.to_owned(), home)));
    if let Some((inside, home)) = in_home {
        let managed =
            inside.iter().next().filter(|first| *first != ".local" && first.as_encoded_bytes().starts_with(b"."));
        if let Some(manager) = managed {
            return home.join(manager);
        }
    }
    let bin = path.parent().filter(|folder| folder.ends_with("bin") || folder.ends_with("sbin"));
    let tree = bin.and_then(Path::parent).filter(|tree| !tree.ends_with(".local") && !is_home(tree));
    tree.or(bin).unwrap_or(path).to_owned()
}

/// Home folders: the usual ones, and this user's.
pub(super) fn homes() -> Vec<PathBuf> {
    let own = std::env::var_os("HOME").map(PathBuf::from);
    let own = own.filter(|home| home.is_absolute() && home != Path::new("/"));
    ["/root", "/home", "/run/user"].map(PathBuf::from).into_iter().chain(own).collect()
}

fn is_home(folder: &Path) -> bool {
    folder.parent() == Some(Path::new("/home")) || homes().iter().any(|home| home == folder)
}

/// Private folders of other sessions.
pub(super) fn other_sessions(own: &Path) -> Vec<PathBuf> {
    let entries = own.parent().and_then(|parent| fs::read_dir(parent).ok()).into_iter().flatten().flatten();
    let is_session = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(session_folder::PREFIX))
    };
    entries.map(|entry| entry.path()).filter(|path| is_session(path) && path != own).collect()
}

/// Whether a folder holds only runs: users may keep a run anywhere.
pub(super) fn is_for_runs_alone(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).all(|path| is_run(&path) || path.is_symlink() || path.is_file())
}

/// The accounts of the parts, if they get any.
pub(super) fn accounts(laboratory: &Laboratory) -> Option<Accounts> {
    let free = Accounts::free();
    facts(laboratory, free).gives_accounts().then_some(free).flatten()
}

/// The facts that decide how programs are isolated here.
pub fn protection_facts(laboratory: &Laboratory) -> Facts {
    facts(laboratory, Accounts::free())
}

fn facts(laboratory: &Laboratory, free: Option<Accounts>) -> Facts {
    let Laboratory { home, catalogue, programs, tolok, builds, .. } = laboratory;
    let shown = shown(laboratory);
    let sources = catalogue.subjects.iter().map(|subject| home.sources_of(subject));
    let needed = sources
        .chain(programs.values().map(|program| program.path.clone()))
        .chain([tolok.clone(), builds.place().to_owned()]);
    let needed: Vec<PathBuf> = needed.filter_map(|path| fs::canonicalize(path).ok()).collect();
    let rights = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::CHOWN;
    let held = capabilities(None).map_or(CapabilitySet::empty(), |own| own.effective);
    Facts {
        root: rustix::process::geteuid().is_root(),
        other_accounts: free.is_some() && held.contains(rights),
        mounts: can_separate(),
        reachable: shown.iter().all(|path| others_reach(path)),
        readable: closed_inside(&shown, &needed).is_none(),
        filter: tolok_host::guard::has_filter(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shown_with_what_it_was_installed_with() {
        let check = |path: &str, tree: &str| assert_eq!(tree_of(Path::new(path)), Path::new(tree), "{path}");
        check("/root/.nvm/versions/node/v24/bin/node", "/root/.nvm");
        check("/root/.pyenv/shims/python3", "/root/.pyenv");
        check("/root/.local/bin/hey", "/root/.local/bin");
        check("/opt/go/bin/go", "/opt/go");
        check("/home/ann/bin/wrk", "/home/ann/bin");
        check("/srv/tool", "/srv/tool");
    }

    #[test]
    fn a_program_that_lies_in_a_home_itself_is_shown_without_the_home() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let shown = paths(&["/", "/home/ann", "/home/ann/tolok", "/opt/tolok", "/opt/tolok/tolok"]);
        assert_eq!(in_parts(shown, &paths(&["/home", "/home/ann"])), paths(&["/home/ann/tolok", "/opt/tolok"]));
    }
}
