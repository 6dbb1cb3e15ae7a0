//! A user's folder that contains a subject.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tolok_model::limits::STUDY;
use tolok_model::{LOCAL, Subject, SubjectFolder};

use crate::bounded;
use crate::home::HomeError;
use crate::subject::{BuildError, fingerprint};

/// Why a folder is not a subject.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("there is no folder {}{}", path.display(), hint(path))]
    NoFolder { path: PathBuf },
    #[error(
        "{} has no subject.toml, which says how its server is started; these lines do for one that listens on $PORT:\n\n    \
         title     = \"My server\"\n    runtime   = \"mine\"\n    workloads = [\"hello\", \"json\"]\n    [[process]]\n    \
         name      = \"server\"\n    command   = [\"/path/of/the/server\"]\n    env       = {{ PORT = \"{{{{ port }}}}\" }}\n\n\
         `tolok new subject` writes one that is ready to run", path.display()
    )]
    NoSubject { path: PathBuf },
    #[error("the folder {} cannot name a subject: its name has other characters than letters, digits, `-`, `_` and `.`; give it another one", path.display())]
    NoName { path: PathBuf },
    /// Its file is wrong or cannot be read.
    #[error(transparent)]
    Wrong(#[from] HomeError),
    /// Its files cannot be read.
    #[error(transparent)]
    Files(#[from] BuildError),
}

/// Somebody who names a subject of the checkout means another option.
fn hint(path: &Path) -> String {
    format!("; --subject takes a folder; to choose among the study's subjects: --subjects {}", path.display())
}

/// The subject in a folder, named `local/` and the folder's name.
pub fn local_subject(path: &Path) -> Result<Subject, FolderError> {
    let folder = fs::canonicalize(path).ok().filter(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| FolderError::NoFolder { path: path.to_owned() })?;
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(FolderError::NoName { path: folder });
    }
    let file = folder.join("subject.toml");
    if !file.is_file() {
        return Err(FolderError::NoSubject { path: folder });
    }
    let text = bounded::text(&file, &STUDY).map_err(|source| HomeError::Unreadable { path: file.clone(), source })?;
    let id = format!("{LOCAL}/{name}");
    let mut subject = Subject::read(&id, &text).map_err(|problems| HomeError::Wrong { path: file, text, problems })?;
    let sha256 = fingerprint(&folder)?;
    let folder = folder.display().to_string();
    subject.folder = Some(SubjectFolder { subject: id, folder, sha256, title: None, versions: BTreeMap::new() });
    Ok(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: &str =
        "title = 'Mine'\nruntime = 'node'\nworkloads = ['hello']\n[[process]]\nname = 'server'\ncommand = ['server']\n";

    fn folder(name: &str, subject: Option<&str>) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(name);
        fs::create_dir(&folder).unwrap();
        subject.iter().for_each(|text| fs::write(folder.join("subject.toml"), text).unwrap());
        (root, folder)
    }

    #[test]
    fn a_folder_is_a_subject_by_its_file_and_its_name() {
        let (_root, path) = folder("mine", Some(SUBJECT));
        let subject = local_subject(&path).unwrap();
        assert_eq!((subject.id.as_str(), subject.runtime.as_str()), ("local/mine", "node"));
        let brought = subject.folder.unwrap();
        assert_eq!(Path::new(&brought.folder), fs::canonicalize(&path).unwrap());
        fs::write(path.join("server.js"), "changed").unwrap();
        assert_ne!(local_subject(&path).unwrap().folder.unwrap().sha256, brought.sha256);
    }

    #[test]
    fn what_is_no_subject_is_refused_with_what_to_do() {
        let said = |path: &Path| local_subject(path).unwrap_err().to_string();
        assert!(said(Path::new("go/nethttp")).contains("--subjects go/nethttp"));
        let (_root, empty) = folder("empty", None);
        let said_of_empty = said(&empty);
        assert!(
            said_of_empty.contains("workloads = [") && said_of_empty.contains("`tolok new subject`"),
            "{said_of_empty}"
        );
        let (_root, odd) = folder("a:b", Some(SUBJECT));
        assert!(said(&odd).contains("cannot name a subject"));
        let (_root, wrong) = folder("wrong", Some("titel = 'Mine'\n"));
        assert!(matches!(local_subject(&wrong), Err(FolderError::Wrong(HomeError::Wrong { .. }))));
    }
}
