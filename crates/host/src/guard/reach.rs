//! What another account can reach, judged by file modes.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Whether others may list and enter a folder, or read a file, and enter every folder above it.
pub fn others_reach(path: &Path) -> bool {
    closed_above(path).is_none() && may(path, 0o004) && (!path.is_dir() || may(path, 0o001))
}

/// The first obstacle to others on the way to a needed file: the outermost path that they may not read. Folders of
/// `shown` themselves do not count, since others get mounts of them.
pub fn closed_inside(shown: &[PathBuf], needed: &[PathBuf]) -> Option<PathBuf> {
    let closed = |path: &PathBuf| {
        let top = shown.iter().find(|top| path.starts_with(top))?;
        let mut inside: Vec<&Path> = path.ancestors().take_while(|above| above != top).collect();
        inside.reverse();
        inside.into_iter().find(|path| !may(path, if path.is_dir() { 0o005 } else { 0o004 })).map(Path::to_owned)
    };
    needed.iter().find_map(closed)
}

/// Creates a folder for programs, with its missing parents.
pub fn make_open_folder(path: &Path) -> io::Result<()> {
    let made = path.ancestors().take_while(|folder| !folder.exists()).last();
    fs::create_dir_all(path)?;
    made.map_or(Ok(()), open_to_accounts)
}

/// Lets others read what root made for programs and enter its folders, whatever the umask was. Does nothing unless this
/// process is root.
pub fn open_to_accounts(path: &Path) -> io::Result<()> {
    if rustix::process::geteuid().is_root() { open_to_others(path) } else { Ok(()) }
}

fn open_to_others(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return Ok(());
    }
    let mode = found.permissions().mode();
    let entered = if found.is_dir() || mode & 0o100 != 0 { 0o011 } else { 0 };
    let open = mode | 0o044 | entered;
    if open != mode {
        fs::set_permissions(path, Permissions::from_mode(open))?;
    }
    if !found.is_dir() {
        return Ok(());
    }
    fs::read_dir(path)?.try_for_each(|entry| open_to_others(&entry?.path()))
}

/// The topmost folder above `path` that others may not enter.
pub(super) fn closed_above(path: &Path) -> Option<PathBuf> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    above.into_iter().find(|folder| !may(folder, 0o001)).map(Path::to_owned)
}

/// Whether others have these rights. True for a missing path, since it is not an obstacle.
pub(super) fn may(path: &Path, rights: u32) -> bool {
    fs::metadata(path).map_or(true, |found| found.permissions().mode() & rights == rights)
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    #[test]
    fn what_a_strict_umask_closed_is_found_and_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (tool, program) = (folder.path().join("tool"), folder.path().join("tool/bin/program"));
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "").unwrap();
        fs::write(tool.join("notes"), "").unwrap();
        std::os::unix::fs::symlink("/nowhere", tool.join("link")).unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let all = [(&*program, 0o700), (&tool.join("bin"), 0o700), (&tool.join("notes"), 0o600), (&*tool, 0o700)];
        all.iter().for_each(|(path, closed)| mode(path, *closed));
        let closed = || closed_inside(&[folder.path().to_owned()], slice::from_ref(&program));
        assert_eq!(closed(), Some(tool.clone()), "the path inside it shows that the folder is closed");
        open_to_others(&tool).unwrap();
        assert_eq!(closed(), None);
        let modes = all.map(|(path, _)| fs::metadata(path).unwrap().permissions().mode() & 0o777);
        assert_eq!(modes, [0o755, 0o755, 0o644, 0o755]);
    }

    #[test]
    fn a_closed_folder_closes_what_is_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for open in [folder.path(), &folder.path().join("a"), &inner] {
            mode(open, 0o755);
        }
        assert!(others_reach(&inner) || closed_above(folder.path()).is_some());
        mode(&inner, 0o711);
        assert!(!others_reach(&inner), "it cannot be listed");
        mode(folder.path(), 0o700);
        let closed = closed_above(&inner).unwrap();
        assert!(closed == folder.path() || folder.path().starts_with(&closed));
    }
}
