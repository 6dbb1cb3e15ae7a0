//! The TOML that the documents show is sound: each block after a `<!-- check: … -->` is read as what it is said to be.

#![allow(clippy::unwrap_used, reason = "a test may, and so may what a test calls")]

use std::fs;
use std::path::{Path, PathBuf};

use tolok_model::{Catalogue, Problem, ProgramWorkload, Study, Subject, Workload};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders in a folder, sorted, each with its name.
fn folders(path: &Path) -> Vec<(String, PathBuf)> {
    let paths = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let mut named: Vec<_> =
        paths.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect();
    named.sort();
    named
}

fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (name, folder) in folders(&root().join("workloads")) {
        let text = fs::read_to_string(folder.join("workload.toml")).unwrap();
        if ProgramWorkload::is_meant(&text) {
            catalogue.programs.push(ProgramWorkload::read(&name, &text).unwrap());
        } else {
            catalogue.workloads.push(Workload::read(&name, &text).unwrap());
        }
    }
    for (runtime, folder) in folders(&root().join("subjects")) {
        for (name, folder) in folders(&folder) {
            let text = fs::read_to_string(folder.join("subject.toml")).unwrap();
            catalogue.subjects.push(Subject::read(&format!("{runtime}/{name}"), &text).unwrap());
        }
    }
    catalogue
}

/// What each marked block of a document is, and its text.
fn marked(document: &str) -> Vec<(&str, &str)> {
    let parts = document.split("<!-- check: ").skip(1);
    parts
        .map(|part| part.split_once(" -->\n```toml\n").expect("a marked block begins on the next line"))
        .map(|(kind, rest)| (kind, rest.split_once("```").unwrap().0))
        .collect()
}

#[test]
fn what_the_documents_show_can_be_read() {
    let catalogue = catalogue();
    let documents = [
        ("CONTRIBUTING.md", 5),
        ("docs/database.md", 1),
        ("docs/environment.md", 1),
        ("docs/guide.md", 4),
        ("docs/k6.md", 1),
        ("docs/tools.md", 1),
    ];
    for (document, blocks) in documents {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let found = marked(&text);
        assert_eq!(found.len(), blocks, "{document}");
        for (kind, block) in found {
            let problems: Vec<Problem> = match kind.split_once(' ') {
                Some(("workload", name)) if ProgramWorkload::is_meant(block) => {
                    ProgramWorkload::read(name, block).err()
                }
                Some(("workload", name)) => Workload::read(name, block).err(),
                Some(("subject", id)) => Subject::read(id, block).err(),
                _ => Study::read(block, &catalogue).err(),
            }
            .unwrap_or_default();
            assert_eq!(problems, [], "{document}: {kind}");
        }
    }
}
