//! Subjects with a version of a program that is not the one of this machine: `bun/serve@1.0.0`.
//!
//! Such a subject needs the program `bun@1.0.0`, which the toolbox fetches beside its own. Its templates know it as `bun`.

use std::path::Path;

use tolok_model::{Subject, SubjectFolder};

use super::{FolderError, local_subject};
use crate::toolbox::at_version;

/// A subject of the catalogue whose files are in `sources`, run with this version of one of its programs.
pub fn with_version(subject: &Subject, sources: &Path, program: &str, version: &str) -> Result<Subject, FolderError> {
    let mut versioned = local_subject(sources)?;
    if let Some(folder) = &mut versioned.folder {
        folder.versions.insert(program.to_owned(), version.to_owned());
    }
    let (id, title) = (format!("{}@{version}", subject.id), format!("{} {version}", subject.title));
    Ok(called(versioned, &id, Some(title)))
}

/// A subject of a folder under another title.
pub fn titled(subject: Subject, title: String) -> Subject {
    let id = subject.id.clone();
    called(subject, &id, Some(title))
}

/// Reads a subject again from its folder, under the name and with the versions that it had.
pub fn again(brought: &SubjectFolder) -> Result<Subject, FolderError> {
    let mut subject = local_subject(brought.folder.as_ref())?;
    if let Some(folder) = &mut subject.folder {
        folder.versions.clone_from(&brought.versions);
    }
    Ok(called(subject, &brought.subject, brought.title.clone()))
}

/// A subject of a folder under another name, with its versions in the stead of the programs that it names.
fn called(mut subject: Subject, id: &str, title: Option<String>) -> Subject {
    let Some(folder) = &mut subject.folder else { return subject };
    id.clone_into(&mut folder.subject);
    folder.title.clone_from(&title);
    let versions = folder.versions.clone();
    let own = [&mut subject.needs, &mut subject.database_needs];
    let of_variants = subject.variants.values_mut().flat_map(|it| [&mut it.needs, &mut it.database_needs]);
    for need in own.into_iter().chain(of_variants).flatten() {
        if let Some(version) = versions.get(need.as_str()) {
            *need = at_version(need, version);
        }
    }
    id.clone_into(&mut subject.id);
    subject.title = title.unwrap_or(subject.title);
    subject
}
