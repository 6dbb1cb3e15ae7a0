//! What another account can reach, by the modes of folders.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Whether others may list and enter a folder, or read a file, and enter every folder above it.
pub fn others_reach(path: &Path) -> bool {
    closed_above(path).is_none() && may(path, 0o004) && (!path.is_dir() || may(path, 0o001))
}

/// The topmost folder above it that others may not enter.
pub(super) fn closed_above(path: &Path) -> Option<PathBuf> {
    let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
    above.reverse();
    above.into_iter().find(|folder| !may(folder, 0o001)).map(Path::to_owned)
}

/// Whether others have these rights; what is not there stands in nobody's way.
pub(super) fn may(path: &Path, rights: u32) -> bool {
    fs::metadata(path).map_or(true, |found| found.permissions().mode() & rights == rights)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

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
