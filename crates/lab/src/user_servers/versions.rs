//! Subjects with another version of a program than this machine's: `bun/serve@1.0.0`.
//!
//! Such a subject needs the program `bun@1.0.0`, which the toolbox fetches beside its own. Its templates refer to it as `bun`.

use std::path::Path;

use tolok_model::{Catalogue, Subject, SubjectFolder};

use super::{FolderError, local_subject};
use crate::home::Home;
use crate::toolbox::at_version;

/// A subject of the catalogue, with files in `sources`, run with this version of one of its programs.
pub fn with_version(subject: &Subject, sources: &Path, program: &str, version: &str) -> Result<Subject, FolderError> {
    let mut versioned = local_subject(sources)?;
    if let Some(folder) = &mut versioned.folder {
        folder.versions.insert(program.to_owned(), version.to_owned());
    }
    let (id, title) = (format!("{}@{version}", subject.id), format!("{} {version}", subject.title));
    Ok(called(versioned, &id, Some(title)))
}

/// The subjects that the text of a study names with a version, each once. Invalid names are reported when the study is read.
pub fn versions_of_study(text: &str, catalogue: &Catalogue, home: &Home) -> Result<Vec<Subject>, FolderError> {
    let study = toml::from_str::<toml::Table>(text).unwrap_or_default();
    let named = study.get("subjects").and_then(toml::Value::as_array).into_iter().flatten();
    let mut found: Vec<Subject> = Vec::new();
    for name in named.filter_map(toml::Value::as_str) {
        let id = name.split([':', '?']).next().unwrap_or_default();
        let (base, version) = id.split_once('@').unwrap_or_default();
        let known = catalogue.subject(base).filter(|_| found.iter().all(|other| other.id != id));
        if let Some((subject, program)) = known.and_then(|subject| Some((subject, subject.needs.first()?))) {
            found.push(with_version(subject, &home.sources_of(subject), program, version)?);
        }
    }
    Ok(found)
}

/// The same subject under another title.
pub fn titled(subject: Subject, title: String) -> Subject {
    let id = subject.id.clone();
    called(subject, &id, Some(title))
}

/// Reads a subject again from its folder, with its former name and versions.
pub fn again(brought: &SubjectFolder) -> Result<Subject, FolderError> {
    let mut subject = local_subject(brought.folder.as_ref())?;
    if let Some(folder) = &mut subject.folder {
        folder.versions.clone_from(&brought.versions);
    }
    Ok(called(subject, &brought.subject, brought.title.clone()))
}

/// A folder's subject under another name, with its program versions in place of the programs that it names.
fn called(mut subject: Subject, id: &str, title: Option<String>) -> Subject {
    let Some(folder) = &mut subject.folder else { return subject };
    id.clone_into(&mut folder.subject);
    folder.title.clone_from(&title);
    let versions = folder.versions.clone();
    let own = [&mut subject.needs, &mut subject.database_needs, &mut subject.postgres_needs];
    let of_variants =
        subject.variants.values_mut().flat_map(|it| [&mut it.needs, &mut it.database_needs, &mut it.postgres_needs]);
    for need in own.into_iter().chain(of_variants).flatten() {
        if let Some(version) = versions.get(need.as_str()) {
            *need = at_version(need, version);
        }
    }
    id.clone_into(&mut subject.id);
    subject.title = title.unwrap_or(subject.title);
    subject
}
