//! The TOML in the documents is valid: each block is read as the kind that the line above it, `<!-- check: … -->`,
//! names.

#![allow(clippy::unwrap_used, reason = "tests and their helpers may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use tolok_model::transcription::Transcription;
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

/// The blocks of TOML in a document, each with its kind, from the line above.
fn marked(document: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut parts = document.split("```toml\n");
    let mut before = parts.next().unwrap_or_default();
    for part in parts {
        let (block, rest) = part.split_once("```").expect("every code block is closed");
        let kind = before.lines().last().and_then(|line| line.strip_prefix("<!-- check: ")?.strip_suffix(" -->"));
        blocks.push((kind.unwrap_or_else(|| panic!("the line above says what this is:\n{block}")), block));
        before = rest;
    }
    blocks
}

/// Completes a part of a file, as the words after the comma say.
fn whole(kind: &str, block: &str) -> String {
    match kind.split_once(", but for its ").map(|(_, lacking)| lacking) {
        None => block.to_owned(),
        Some("title and subjects") => format!("title = 'A study'\nsubjects = ['go/nethttp']\n{block}"),
        Some("workload and load") => format!(
            "title = 'A study'\nsubjects = ['go/nethttp']\n[[scenario]]\nworkload = 'hello'\n\
             load = {{ executor = 'constant-vus', vus = 4, duration = '1s' }}\n{block}"
        ),
        Some("rows") => format!("{block}[[row]]\nsubject = 'a'\nrequests = 1"),
        Some("title") => format!("title = 'A source'\n{block}"),
        Some("title and rows") => format!("title = 'A source'\n{block}[[row]]\nsubject = 'a'\nrequests = 1"),
        Some("title and the rows above") => format!(
            "title = 'A source'\n[[row]]\nsubject = 'alpha'\ntable = 'Table 1'\nthroughput_rps = 2\ncpu_percent = 2\n\
             [[row]]\nsubject = 'beta'\ntable = 'Table 1'\nthroughput_rps = 1\ncpu_percent = 1\n{block}"
        ),
        Some(other) => panic!("this test does not know how to add {other}"),
    }
}

/// Every document for people, by its path.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/reference"].map(|folder| root().join(folder));
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths
}

#[test]
fn what_the_documents_show_can_be_read() {
    let catalogue = catalogue();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for (kind, block) in marked(&text) {
            let block = &whole(kind, block);
            let kind = kind.split(',').next().unwrap_or(kind);
            let problems: Vec<Problem> = match kind.split_once(' ') {
                Some(("workload", name)) if ProgramWorkload::is_meant(block) => {
                    ProgramWorkload::read(name, block).err()
                }
                Some(("workload", name)) => Workload::read(name, block).err(),
                Some(("subject", id)) => Subject::read(id, block).err(),
                None if kind == "transcription" => Transcription::read(block, "source").err(),
                Some(("transcription", name)) => Transcription::read(block, name).err(),
                None if matches!(kind, "study" | "scenario") => Study::read(block, &catalogue).err(),
                _ => panic!("{}: {kind} is not a kind of file", document.display()),
            }
            .unwrap_or_default();
            assert_eq!(problems, [], "{}: {kind}\n{block}", document.display());
        }
    }
}
