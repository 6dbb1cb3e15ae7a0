//! Tests the sources: only `store/src/folder.rs` opens files in the folder of a run.

use std::fs;
use std::path::{Path, PathBuf};

/// Sources that read and write run folders.
const SOURCES: [&str; 8] = [
    "crates/store/src",
    "crates/serve/src",
    "crates/lab/src/run",
    "crates/lab/src/tools",
    "crates/tools/src",
    "crates/analysis/src",
    "crates/report/src",
    "crates/cli/src",
];

/// Modules among these that open files, and which files.
const OTHERS: [(&str, &str); 23] = [
    ("store/src/folder.rs", "the module itself"),
    ("store/src/run_folder.rs", "the folder that holds the runs"),
    ("serve/src/library.rs", "the folder that holds the runs"),
    ("lab/src/run/run_record.rs", "programs, to hash them"),
    ("lab/src/run/slices/load.rs", "the lab's private folder"),
    ("lab/src/run/server/external.rs", "the lab's private folder"),
    ("lab/src/run/server/launch.rs", "templates of a subject"),
    ("lab/src/run/server/trial.rs", "/proc"),
    ("lab/src/run/program/turn_taker.rs", "the lab's private folder"),
    ("lab/src/run/session/affinity.rs", "/proc"),
    ("lab/src/run/session/account.rs", "/etc"),
    ("lab/src/run/session/apart.rs", "names in the folder for temporary files, and in that of runs"),
    ("lab/src/run/session/certificate.rs", "the lab's private folder"),
    ("lab/src/run/session/scratch.rs", "the lab's private folder"),
    ("cli/src/output.rs", "what -o names"),
    ("cli/src/json_lines.rs", "what -o names"),
    ("cli/src/mistaken.rs", "what the command line names"),
    ("cli/src/trust.rs", "the user's cache"),
    ("cli/src/scaffold/mod.rs", "what `new` makes"),
    ("cli/src/args/reference.rs", "docs/reference"),
    ("cli/src/verbs/", "what the command line names; see below for the exceptions"),
    ("cli/src/verbs/report/pdf.rs", "a folder of its own"),
    ("cli/src/verbs/report.rs", "makes the folder that --output names"),
];

/// Verbs that read runs, and so must not open files themselves.
const READERS: [&str; 6] = ["verify", "list", "forecast", "compare", "serve", "run"];

#[test]
fn one_module_opens_what_lies_in_the_folder_of_a_run() {
    let mut wrong = Vec::new();
    for file in SOURCES.iter().flat_map(|folder| rust_files(&root().join(folder))) {
        let shown = file.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        let calls =
            product.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with("use "));
        let opening: Vec<&str> = calls.filter(|line| opens(line)).collect();
        let is_reader = READERS.iter().any(|verb| shown.contains(&format!("cli/src/verbs/{verb}")));
        let is_other = OTHERS.iter().any(|(path, _)| shown.contains(path)) && !is_reader;
        wrong.extend(opening.iter().filter(|_| !is_other).map(|line| format!("{shown}: {line}")));
    }
    assert_eq!(wrong, Vec::<String>::new(), "open it by tolok_store::Folder");
}

#[test]
fn every_exception_is_still_one() {
    let is_there = |path: &str| root().join("crates").join(path).exists();
    let gone: Vec<&str> = OTHERS.iter().map(|(path, _)| *path).filter(|path| !is_there(path)).collect();
    assert_eq!(gone, [""; 0]);
}

/// Whether a line contains a call that opens, creates, moves or removes a file.
fn opens(line: &str) -> bool {
    const FUNCTIONS: [&str; 7] = ["read", "write", "copy", "rename", "remove", "create", "hard_link"];
    const TYPES: [&str; 4] = ["File::open(", "File::create", "File::options(", "OpenOptions::"];
    let begins_word = |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    let named = |word: &str| line.match_indices(word).any(|(at, _)| begins_word(at));
    FUNCTIONS.iter().any(|function| named(&format!("fs::{function}"))) || TYPES.iter().any(|word| named(word))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("tests"));
    entries
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false if path.extension().is_some_and(|ending| ending == "rs") && !is_test(&path) => vec![path],
            false => Vec::new(),
        })
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
