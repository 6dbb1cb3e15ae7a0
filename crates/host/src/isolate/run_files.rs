//! Files that the lab creates in the run folder, whose inside it cannot see.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use super::protocol::InitEvent;
use crate::guard::Accounts;

/// The run folder as the init sees it.
#[derive(Debug)]
pub(super) struct RunFiles {
    folder: Option<PathBuf>,
    accounts: Option<Accounts>,
}

impl RunFiles {
    pub(super) fn below(folder: Option<PathBuf>, accounts: Option<Accounts>) -> Self {
        Self { folder, accounts }
    }

    /// Writes a file, and makes missing folders on the way to it, which all users may read.
    pub(super) fn write(&self, path: &Path, content: &[u8], mode: u32) -> InitEvent {
        let written = self.checked(path).and_then(|folder| {
            make_folders(folder, path)?;
            fs::write(path, content)?;
            // Regardless of the umask: servers under another account must be able to read it.
            fs::set_permissions(path, Permissions::from_mode(mode))
        });
        written.map_or_else(|error| no_file(path, &error), |()| InitEvent::Written)
    }

    /// Makes a folder in which a part may write. Its owner is the part's account, or else the owner of the run folder.
    pub(super) fn folder(&self, path: &Path, part: &str) -> InitEvent {
        let made = self.checked(path).and_then(|folder| {
            let owner = fs::metadata(folder)?;
            let (user, group) = match self.accounts.map(|accounts| accounts.of_part(part)) {
                Some(account) => (account, account),
                None => (owner.uid(), owner.gid()),
            };
            fs::create_dir(path)?;
            std::os::unix::fs::chown(path, Some(user), Some(group))?;
            fs::set_permissions(path, Permissions::from_mode(0o755))
        });
        made.map_or_else(|error| no_file(path, &error), |()| InitEvent::Written)
    }

    /// The run folder, if `path` is inside it.
    fn checked(&self, path: &Path) -> io::Result<&Path> {
        let refused = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why);
        let folder = self.folder.as_deref().ok_or_else(|| refused("the box has no run folder"))?;
        let climbs = path.components().any(|part| part == Component::ParentDir);
        if climbs || !path.starts_with(folder) {
            return Err(refused("it is outside the run folder"));
        }
        Ok(folder)
    }
}

fn make_folders(folder: &Path, path: &Path) -> io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| *above != folder).collect();
    for made in above.into_iter().rev() {
        if !made.is_dir() {
            fs::create_dir(made)?;
            fs::set_permissions(made, Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

fn no_file(path: &Path, error: &io::Error) -> InitEvent {
    InitEvent::NoFile { reason: format!("{}: {error}", path.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_written_with_its_mode_and_its_folders() {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::below(Some(folder.path().to_owned()), None);
        let path = folder.path().join("a/b/c.sh");
        assert_eq!(files.write(&path, b"\0\xff\n", 0o750), InitEvent::Written);
        assert_eq!((mode_of(&path), mode_of(&folder.path().join("a"))), (0o750, 0o755));
        assert_eq!(fs::read(&path).unwrap(), b"\0\xff\n");
        // Again, with shorter content and another mode.
        assert_eq!(files.write(&path, b"", 0o600), InitEvent::Written);
        assert_eq!((fs::read(&path).unwrap(), mode_of(&path)), (Vec::new(), 0o600));
    }

    #[test]
    fn a_folder_is_made_for_whoever_owns_the_run_folder() {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::below(Some(folder.path().to_owned()), None);
        let path = folder.path().join("server-1");
        assert_eq!(files.folder(&path, "subject"), InitEvent::Written);
        let owner = |path: &Path| fs::metadata(path).map(|it| (it.uid(), it.gid())).unwrap();
        assert_eq!((owner(&path), mode_of(&path)), (owner(folder.path()), 0o755));
        assert!(matches!(files.folder(&path, "subject"), InitEvent::NoFile { .. }), "it is there already");
    }

    #[test]
    fn nothing_outside_the_run_folder_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::below(Some(folder.path().join("run")), None);
        let check = |files: &RunFiles, path: PathBuf, why: &str| match files.write(&path, b"", 0o644) {
            InitEvent::NoFile { reason } => assert_eq!(reason, format!("{}: {why}", path.display())),
            event => panic!("{event:?}"),
        };
        check(&files, folder.path().join("other"), "it is outside the run folder");
        check(&files, folder.path().join("run/../other"), "it is outside the run folder");
        check(&RunFiles::below(None, None), folder.path().join("other"), "the box has no run folder");
        assert!(!folder.path().join("other").exists());
    }
}
