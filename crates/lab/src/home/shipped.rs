//! The subjects, workloads, studies and published tables that are built into the program, for machines without a checkout.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tolok_host::guard::{make_open_folder, open_to_accounts};

/// Every file, with its path in the checkout.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Lays the files out below `cache`, in a folder named by a hash of their content, and returns that folder. An intact file
/// stays as it is.
pub(super) fn lay_out(cache: &Path) -> io::Result<PathBuf> {
    let folder = cache.join(digest(FILES));
    FILES.iter().try_for_each(|(path, content)| keep(&folder.join(path), content))?;
    Ok(folder)
}

/// Any change of a path or a byte gives another folder name.
fn digest(files: &[(&str, &[u8])]) -> String {
    let mut hash = Sha256::new();
    for part in files.iter().flat_map(|(path, content)| [path.as_bytes(), content]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file that is missing or changed. It appears atomically, so another tolok never reads half of it. It is
/// world-readable, because servers read it under other accounts.
fn keep(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == content) {
        return open_to_accounts(path);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    make_open_folder(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    open_to_accounts(file.path())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;

    #[test]
    fn what_is_built_in_is_the_checkout_without_its_readmes() {
        let cache = tempfile::tempdir().unwrap();
        let built_in = Home::at(lay_out(cache.path()).unwrap());
        let checkout = Home::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let ids = |home: &Home| {
            let catalogue = home.catalogue().unwrap();
            let subjects = catalogue.subjects.into_iter().map(|subject| subject.id);
            let workloads = catalogue.workloads.into_iter().map(|workload| workload.name);
            subjects.chain(workloads).collect::<Vec<_>>()
        };
        assert_eq!(ids(&built_in), ids(&checkout));
        assert_eq!(built_in.studies().unwrap(), checkout.studies().unwrap());
        assert_eq!(built_in.sources(), checkout.sources());
        assert_eq!(built_in.published().unwrap(), checkout.published().unwrap());
        for (path, content) in FILES {
            assert!(fs::read(checkout.root().join(path)).unwrap() == *content, "{path}");
        }
        assert!(FILES.iter().all(|(path, _)| !path.ends_with(".md")));
    }

    #[test]
    fn what_was_changed_in_the_cache_is_written_again_and_the_rest_stays() {
        let cache = tempfile::tempdir().unwrap();
        let folder = lay_out(cache.path()).unwrap();
        let (study, workload) = (folder.join("studies/quick.toml"), folder.join("workloads/hello/workload.toml"));
        let (whole, age) = (fs::read(&study).unwrap(), fs::metadata(&workload).unwrap().modified().unwrap());
        fs::write(&study, "title = 'other'").unwrap();
        assert_eq!(lay_out(cache.path()).unwrap(), folder);
        assert_eq!(fs::read(&study).unwrap(), whole);
        assert_eq!(fs::metadata(&workload).unwrap().modified().unwrap(), age);
    }

    #[test]
    fn another_content_has_another_folder() {
        let names = [digest(&[("a", b"bc")]), digest(&[("ab", b"c")]), digest(&[("a", b"bd")]), digest(&[])];
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }
}
