//! Checks who can write into folders whose content tolok runs.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::HomeError;

/// Write permission for everybody.
const OTHERS: u32 = 0o002;
const GROUP_AND_OTHERS: u32 = 0o077;

/// Users whose checkouts are trusted without being named: this user, root, the owner of the program, and the caller of sudo.
pub(super) fn trusted_owners(program: Option<&Path>) -> Vec<u32> {
    let own = rustix::process::geteuid().as_raw();
    let owner = program.and_then(|program| Some(fs::metadata(program).ok()?.uid()));
    let caller = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok()).filter(|_| own == 0);
    [Some(own), Some(0), owner, caller].into_iter().flatten().collect()
}

/// Whether a folder belongs to one of these users and is not writable for everybody.
pub(super) fn is_of(folder: &Path, owners: &[u32]) -> bool {
    fs::metadata(folder).is_ok_and(|found| owners.contains(&found.uid()) && found.mode() & OTHERS == 0)
}

/// This user's folder below a directory in which everybody can create one. A folder that somebody else created is refused.
pub(super) fn temporary_folder(parent: &Path) -> Result<PathBuf, HomeError> {
    let own = rustix::process::geteuid().as_raw();
    let folder = parent.join(format!("tolok-{own}"));
    let refused = |source| HomeError::NoFolder { path: folder.clone(), source };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(refused(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(&folder).map_err(refused)?;
    if !found.is_dir() || found.uid() != own || found.mode() & GROUP_AND_OTHERS != 0 {
        return Err(refused(io::Error::new(io::ErrorKind::PermissionDenied, "others may write there")));
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_folder_that_others_made_or_may_write_is_not_taken() {
        let parent = tempfile::tempdir().unwrap();
        let folder = temporary_folder(parent.path()).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        assert_eq!(temporary_folder(parent.path()).unwrap(), folder);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(temporary_folder(parent.path()).unwrap_err().to_string().contains("set HOME"));
        fs::remove_dir(&folder).unwrap();
        symlink(parent.path().join("elsewhere"), &folder).unwrap();
        assert!(temporary_folder(parent.path()).is_err());
    }

    #[test]
    fn a_checkout_that_everybody_may_write_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let own = [rustix::process::geteuid().as_raw()];
        assert!(is_of(folder.path(), &own));
        assert!(!is_of(folder.path(), &[own[0] + 1]));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_of(folder.path(), &own));
    }
}
